"""Snapshots: a fit in progress in a file, from which it goes on to the same model.

Kept are the trees, the scores of all rows as they are (so that nothing is added up anew), and what
was said of the rounds. A fingerprint of data and parameters tells whose snapshot it is.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from functools import partial
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from treewright.data.sparse import SparseTable
from treewright.errors import DataError, ModelFileError
from treewright.tree.forest.arrays import Forest

__all__ = ["Snapshots", "fingerprint"]

_FREE = ("snapshot", "every", "verbose", "n_jobs", "n_estimators", "warm_start", "random_state")
"""Parameters that do not change the rounds done; the seed that was drawn is told apart."""


def fingerprint(estimator: Any, seed: int, rate: float, learn: Any, aside: Any) -> str:
    """A digest of the data and of the parameters that decide the trees."""
    digest = hashlib.sha256()
    params = estimator.get_params(deep=False)
    digest.update(repr([(k, _told(params[k])) for k in sorted(params) if k not in _FREE]).encode())
    digest.update(repr((seed, learn.table.schema, rate)).encode())
    for rows in (learn, aside):
        if rows is None:
            continue
        for column in (*_columns(rows.table), rows.y, rows.weight):
            if column is not None:
                digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


_FIXED = (FunctionType, partial, int, float, str, bytes, tuple, frozenset)


def _told(value: Any, callers: tuple[Any, ...] = ()) -> str:
    """What tells a value from others, in every process: the code of functions, no addresses."""
    parts: Iterable[Any] = ()
    if isinstance(value, FunctionType):
        callers = (*callers, value)
        cells = [_held(cell) for cell in value.__closure__ or ()]
        # neither functions that call each other again, nor lists and objects that they fill
        around = [
            each
            for each in cells
            if isinstance(each, _FIXED) and not any(each is one for one in callers)
        ]
        parts = (value.__code__, value.__defaults__, value.__kwdefaults__, *around)
    elif isinstance(value, CodeType):
        parts, value = (value.co_code, value.co_names, *value.co_consts), value.co_name
    elif isinstance(value, partial):
        parts = (value.func, value.args, value.keywords)
    elif isinstance(value, frozenset):
        parts, value = sorted(_told(each, callers) for each in value), frozenset
    return re.sub(" at 0x[0-9a-fA-F]+", "", repr(value)) + repr(
        [_told(part, callers) for part in parts]
    )


def _held(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return None


def _columns(table: Any) -> tuple[Any, ...]:
    """Arrays that hold the table."""
    if isinstance(table, SparseTable):
        return table.matrix.indptr, table.matrix.indices, table.matrix.data
    found: tuple[Any, ...] = table.columns
    return found


class Snapshots:
    """Writes a run to ``path`` every few rounds, and takes one up that is there.

    Parameters
    ----------
    path
        The file.
    every
        Rounds between two writes.
    about
        The fingerprint of the fit.
    """

    def __init__(self, path: Any, every: int, about: str) -> None:
        self.path, self.every, self.about = os.fspath(path), every, about

    def keep(self, run: Any) -> None:
        """Write the run down if it is time."""
        if run.n_done % self.every:
            return
        from treewright.io._atomic import write_atomically
        from treewright.io._container import pack
        from treewright.io._structures import STRUCTURES
        from treewright.io._values import Encoder

        encoder = Encoder(STRUCTURES)
        body = encoder.encode({"about": self.about, **run.state()})
        write_atomically(self.path, pack({"snapshot": body}, encoder.arrays))

    def resume(self, run: Any) -> None:
        """Take up what the file holds, if there is one."""
        if not os.path.exists(self.path):
            self._check_folder()
            return
        state = self._read()
        if state.get("about") != self.about:
            raise DataError(
                f"snapshot={self.path!r} must be that of this fit, but was made with other data, "
                "weights or parameters; remove it, or name another file."
            )
        run.resume(state)

    def _check_folder(self) -> None:
        """Refuse a place that no round could be written to, before the first is grown."""
        folder = os.path.dirname(self.path) or os.curdir
        if not os.path.isdir(folder):
            raise DataError(
                f"snapshot={self.path!r} must lie in a folder that exists, but {folder!r} does "
                "not; make it, or name another file."
            )

    def _read(self) -> dict[str, Any]:
        from treewright.io._container import unpack
        from treewright.io._structures import STRUCTURES
        from treewright.io._values import Decoder

        try:
            header, arrays = unpack(np.fromfile(self.path, np.uint8))
            decoder = Decoder(arrays, STRUCTURES)
            state = decoder.decode(header["snapshot"])
            decoder.finish()
            _check(state)
        except (ModelFileError, KeyError, OSError) as error:
            raise DataError(
                f"snapshot={self.path!r} cannot be read ({error}); remove it, or name another file."
            ) from None
        found: dict[str, Any] = state
        return found

    def remove(self) -> None:
        """Remove the file."""
        if os.path.exists(self.path):
            os.remove(self.path)


def _check(state: Any) -> None:
    fits = (
        type(state) is dict
        and type(state.get("n_done")) is int
        and isinstance(state.get("forest"), Forest)
        and all(isinstance(state.get(n), np.ndarray) for n in ("train_score", "validation_score"))
        and type(state.get("scores")) is list
    )
    if not fits:
        raise ModelFileError("it is no snapshot")
