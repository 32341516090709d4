"""Fits on a cluster of dask.distributed: blocks stay on workers, histograms and splits travel.

Partitions of a Dask data frame are computed once and stay where they are; files are read by the
workers themselves. A worker holds one share of the blocks as an actor, which the driver asks over
a socket (``_wire.py``), or by way of Dask where there is none. When a worker is lost, its pieces
are binned again by the others, the trees grown so far are added to their scores, and the round is
done again: the model is the same.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.data.frames import is_collection
from treewright.data.sources import Source, is_path, open_source
from treewright.data.sources.memory import FramePiece
from treewright.data.sources.piece import require_same_columns
from treewright.errors import DataError, ParameterError
from treewright.scale._rounds import LostShareError
from treewright.scale._share import Placed
from treewright.scale._wire import TOKEN_BYTES, AnswerError, Answers, Line

__all__ = ["DaskEngine", "DaskPool", "predict_lazily"]

NOTICED_WITHIN = 30.0
"""Seconds in which a scheduler notices that a worker is gone."""


@dataclass(frozen=True, eq=False)
class Partition:
    """A partition of a collection, where it is."""

    future: Any
    n_rows: int

    def read(self, columns: Any, most: int) -> Any:
        """Partitions are read by workers alone."""
        raise NotImplementedError


def _given(data: Any, piece: Any) -> Any:
    """The piece on the worker that has its data."""
    return piece if data is None else FramePiece(data, len(data))


def _run(function: Callable[..., Any], data: Any, piece: Any, own: Any, rest: Any) -> Any:
    return function(_given(data, piece), *own, *rest)


class WorkerShare:
    """A share on a worker, asked by the names of its methods."""

    def __init__(self, fitting: Any, placed: Sequence[Placed], *datas: Any) -> None:
        pairs = zip(placed, datas, strict=True)
        self.share = fitting.make([replace(p, piece=_given(d, p.piece)) for p, d in pairs])
        self.answers: Answers | None = None
        self.lock = threading.Lock()

    def ask(self, method: str, *args: Any) -> Any:
        """What the share answers; a question that nobody awaits any more is finished first."""
        with self.lock:
            return getattr(self.share, method)(*args)

    def listen(self, address: str, token: bytes) -> tuple[str, int] | None:
        """Where a driver with this token may ask; None where there is no socket to be had."""
        try:
            self.answers = Answers(self.ask, address, token)
        except OSError:
            return None
        return self.answers.place

    def fail(self) -> None:
        """Raise what kept the share from answering on its socket."""
        assert self.answers is not None
        assert self.answers.error is not None
        raise self.answers.error


class DaskEngine:
    """Does what is asked of pieces on the workers of a cluster."""

    def __init__(self, client: Any = None) -> None:
        try:
            from distributed import default_client
        except ImportError:
            raise ParameterError(
                "client and collections of Dask need dask.distributed, which is not installed; "
                "pip install 'treewright[dask]'."
            ) from None
        try:
            self.client = client or default_client()
        except ValueError:
            raise ParameterError(
                "A collection of Dask needs a cluster, but there is no client; make one with "
                "dask.distributed.Client(), or pass client=."
            ) from None
        _check_workers(self.client)
        self._pool: DaskPool | None = None

    def source(self, X: Any) -> Source:
        """The source that X names; partitions of a collection are computed, and stay."""
        if is_path(X):
            return open_source(X)
        _require_frame(X)
        names = list(X.columns)
        found = self.client.compute(X.to_delayed())
        futures = self.client.map(_aligned, found, range(len(found)), names=names, pure=False)
        sizes = self.client.gather(self.client.map(len, futures, pure=False))
        pieces = tuple(Partition(f, n) for f, n in zip(futures, sizes, strict=True) if n)
        if not pieces:
            raise DataError("X must have rows, but all partitions are empty; check it.")
        return Source(tuple(map(str, names)), pieces, row_bytes=8 * len(names))

    def each(self, function: Callable[..., Any], pieces: Sequence[Any], *rest: Any) -> list[Any]:
        """``function(piece, *own, *rest)`` of every piece, on the workers."""
        futures = [
            self.client.submit(_run, function, *_split(piece), own, rest, pure=False)
            for piece, *own in pieces
        ]
        return list(self.client.gather(futures))

    def pool(self, fitting: Any, placed: Sequence[Placed]) -> DaskPool:
        """The shares of the fit, one on each worker."""
        self._pool = DaskPool(self.client, fitting, placed)
        return self._pool

    def close(self) -> None:
        """Let the shares go."""
        if self._pool is not None:
            self._pool.close()


def _require_frame(X: Any) -> None:
    """Refuse other collections of Dask, such as arrays."""
    if not is_collection(X) or type(X).__name__ != "DataFrame":
        raise DataError(
            "X must be a Dask data frame with named columns, a file or a folder where a cluster "
            f"is to read it, got {type(X).__name__}; make one with dask.dataframe, or call "
            "compute() first."
        )


def _aligned(frame: Any, number: int, names: list[Any]) -> Any:
    """A partition with its columns in the order of the collection."""
    own = list(frame.columns)
    if own == names:
        return frame
    this = f"partition {number}"
    require_same_columns(this, [str(name) for name in own], "the collection", list(map(str, names)))
    return frame[names]


def _split(piece: Any) -> tuple[Any, Any]:
    """Data and piece, one of them None."""
    return (piece.future, None) if isinstance(piece, Partition) else (None, piece)


def _check_workers(client: Any) -> None:
    """Refuse workers without this version of treewright."""
    import treewright

    # by value: a worker without treewright could not find a function of ours
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(
        "def look():\n"
        "    try:\n"
        "        import treewright\n"
        "    except ImportError:\n"
        "        return None\n"
        "    return treewright.__version__\n",
        space,
    )
    found = client.run(space["look"])
    if not found:
        raise ParameterError("The cluster must have workers, but has none; start some.")
    for address, version in found.items():
        if version != treewright.__version__:
            has = "none" if version is None else version
            raise ParameterError(
                f"Workers must have treewright {treewright.__version__}, but {address} has {has}; "
                "install it there."
            )


@dataclass(eq=False)
class Asked:
    """A share on a worker, and the ways to it.

    ``future`` keeps the actor alive. ``line`` is None where questions go by way of Dask.
    """

    worker: str
    pieces: list[Placed]
    future: Any
    actor: Any
    line: Line | None = None

    def ask(self, method: str, args: tuple[Any, ...]) -> Any:
        """Send a question; what ``answer`` needs, and the bytes of the question."""
        if self.line is None:
            return self.actor.ask(method, *args), _size(args)
        return None, self.line.ask(method, args)

    def answer(self, asked: Any) -> tuple[Any, int]:
        """The answer to the last question, and its bytes."""
        if self.line is None:
            answer = asked.result()
            return answer, _size(answer)
        try:
            return self.line.answer()
        except AnswerError:
            self.actor.fail().result()
            raise

    def close(self) -> None:
        """End the line."""
        if self.line is not None:
            self.line.close()
            self.line = None


class DaskPool:
    """Shares on workers."""

    nodes_at_once = 16

    def __init__(self, client: Any, fitting: Any, placed: Sequence[Placed]) -> None:
        self.client, self.fitting = client, fitting
        self.n_bytes = 0
        self.shares: list[Asked] = []
        self._make(placed)

    def _workers(self) -> list[str]:
        return list(self.client.scheduler_info(n_workers=-1)["workers"])

    def _make(self, placed: Sequence[Placed]) -> None:
        """Shares of these pieces, each where most of its data are, none much larger than others."""
        made = []
        for worker, pieces in self._groups(placed).items():
            datas = [_split(p.piece)[0] for p in pieces]
            elsewhere: Any = None
            plain = [
                replace(p, piece=elsewhere) if isinstance(p.piece, Partition) else p for p in pieces
            ]
            future = self.client.submit(
                WorkerShare, self.fitting, plain, *datas, actor=True, workers=[worker], pure=False
            )
            made.append((worker, pieces, future))
        new = [Asked(worker, pieces, f, f.result()) for worker, pieces, f in made]
        _connect(new)
        self.shares += new

    def _groups(self, placed: Sequence[Placed]) -> dict[str, list[Placed]]:
        """The pieces of each worker that gets some."""
        workers = self._workers()
        if not workers:
            raise DataError("The cluster must have workers, but all are gone; start some.")
        held = {p.piece.future.key for p in placed if isinstance(p.piece, Partition)}
        where = self.client.who_has() if held else {}
        groups: dict[str, list[Placed]] = {worker: [] for worker in workers}
        rows = dict.fromkeys(workers, 0)
        for each in placed:
            own = []
            if isinstance(each.piece, Partition):
                own = [w for w in where.get(each.piece.future.key, ()) if w in rows]
            worker = min(own or workers, key=lambda w: rows[w])
            groups[worker].append(each)
            rows[worker] += each.piece.n_rows
        return {worker: pieces for worker, pieces in groups.items() if pieces}

    def call(self, method: str, *args: Any) -> list[Any]:
        """What each share answers."""
        try:
            asked = [share.ask(method, args) for share in self.shares]
            answers = [share.answer(a) for share, (a, _) in zip(self.shares, asked, strict=True)]
        except (OSError, ValueError, RuntimeError) as error:
            self._replace_lost(error)
            raise LostShareError from error
        self.n_bytes += sum(n for _, n in asked) + sum(n for _, n in answers)
        return [answer for answer, _ in answers]

    def _replace_lost(self, error: Exception) -> None:
        """Make the shares of workers that are gone anew; any other error is no loss."""
        lost = self._lost()
        # The scheduler may learn of a dead worker after we do.
        end = time.monotonic() + (NOTICED_WITHIN if isinstance(error, OSError) else 0)
        while not lost and time.monotonic() < end:
            time.sleep(0.05)
            lost = self._lost()
        if not lost:
            raise error
        for share in self.shares:  # some lines hold answers to the question that failed
            share.close()
        self.shares = [share for share in self.shares if share not in lost]
        _connect(self.shares)
        self._make([piece for share in lost for piece in share.pieces])

    def _lost(self) -> list[Asked]:
        alive = set(self._workers())
        return [share for share in self.shares if share.worker not in alive]

    def close(self) -> None:
        """Let the shares go."""
        for share in self.shares:
            share.close()
        self.shares = []


def _connect(shares: Sequence[Asked]) -> None:
    """Sockets to shares on workers that Dask itself reaches by plain sockets.

    Where one of them cannot be reached, it and those behind it are asked by way of Dask: a wall
    between driver and workers is one for all of them. So are encrypted clusters, which a plain
    socket would lay open.
    """
    shares = [share for share in shares if share.worker.startswith("tcp://")]
    token = secrets.token_bytes(TOKEN_BYTES)
    places = [share.actor.listen(share.worker, token) for share in shares]
    for share, place in zip(shares, [each.result() for each in places], strict=True):
        try:
            share.line = None if place is None else Line(tuple(place), token)
        except (OSError, EOFError):
            return


def _size(value: Any) -> int:
    """Bytes of the arrays in a message."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, dict):
        return sum(_size(each) for each in value.values())
    if isinstance(value, list | tuple):
        return sum(_size(each) for each in value)
    return 8


# -- prediction ---------------------------------------------------------------------------------


def _predict_part(frame: Any, model: Any, method: str) -> Any:
    import pandas as pd

    found = getattr(model, method)(frame)
    if found.ndim == 1:
        return pd.Series(found, index=frame.index, name="prediction")
    names = model.classes_.tolist() if hasattr(model, "classes_") else None
    return pd.DataFrame(found, index=frame.index, columns=names)


def predict_lazily(model: Any, X: Any, method: str) -> Any:
    """A lazy collection of the predictions of a Dask data frame.

    Parameters
    ----------
    model
        A fitted estimator.
    X
        A Dask data frame; a target among its columns is left out.
    method
        ``"predict"`` or ``"predict_proba"``.
    """
    import pandas as pd

    _require_frame(X)
    names = list(getattr(model, "feature_names_in_", X.columns))
    if set(names) < set(X.columns):
        X = X[names]  # files are then read without the others
    if method == "predict":
        kind = model.classes_.dtype if hasattr(model, "classes_") else np.float64
        meta: Any = pd.Series([], dtype=kind, name="prediction")
    else:
        meta = pd.DataFrame({label: np.empty(0) for label in model.classes_.tolist()})
    return X.map_partitions(_predict_part, model, method, meta=meta)
