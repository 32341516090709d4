"""Predictions of a source, block by block, to Parquet files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from treewright.data.sources import open_source
from treewright.errors import DataError, ParameterError, SpaceError
from treewright.scale._memory import MOST_ROWS, make_budget

__all__ = ["Predicted", "predict_files", "predicted_columns"]

UNFINISHED = ".treewright-unfinished"
"""The name of the mark in a folder of predictions that are not all written."""
ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".json")
"""Endings of files, which no folder gets by mistake."""


@dataclass(frozen=True)
class Predicted:
    """Files of predictions, in the order of the source's rows.

    Parameters
    ----------
    n_rows
        Rows that were predicted.
    files
        Paths of the files.

    Examples
    --------
    >>> import tempfile
    >>> from treewright import CARTClassifier, datasets
    >>> from treewright.scale import predict_files
    >>> iris = datasets.load_iris()
    >>> model = CARTClassifier().fit(iris.data, iris.target)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = predict_files(model, iris.data, folder)
    >>> written.n_rows, len(written.files)
    (150, 1)
    >>> written.frame().columns.tolist()
    ['file']
    """

    n_rows: int
    files: tuple[str, ...]

    def frame(self) -> Any:
        """A row per file, as a pandas frame."""
        import pandas as pd

        return pd.DataFrame({"file": self.files})

    def __str__(self) -> str:
        files = "1 file" if len(self.files) == 1 else f"{len(self.files)} files"
        return f"{self.n_rows} predictions in {files}"


def predict_files(
    model: Any, source: Any, output: Any, *, proba: bool = False, memory_limit: Any = None
) -> Predicted:
    """Predict all rows of a source and write the predictions to Parquet files.

    Parameters
    ----------
    model : estimator
        Fitted; any estimator of treewright.
    source : path or data frame
        What ``fit`` takes with ``target``; a target among its columns is left out.
    output : path
        A folder, made if it is not there; it must hold no Parquet files, but for those of a
        call like this that did not come to its end, which are written again.
    proba : bool, default=False
        Add a column for the probability of each class.
    memory_limit : int or str, default=None
        Most memory of the process, such as ``"1GB"``.

    Returns
    -------
    predicted : Predicted
        How many rows, and which files: one for each piece of the source, in its order, with the
        column ``prediction`` and those of probabilities.

    Examples
    --------
    >>> import tempfile
    >>> from treewright import CARTClassifier, datasets
    >>> from treewright.scale import predict_files
    >>> iris = datasets.load_iris()
    >>> model = CARTClassifier().fit(iris.data, iris.target)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(predict_files(model, iris.data, folder))
    150 predictions in 1 file
    """
    found = open_source(source)
    if proba and not hasattr(model, "predict_proba"):
        raise ParameterError("proba=True needs a model of classes, got one that predicts numbers.")
    n_columns = len(found.names)
    rows = MOST_ROWS
    if memory_limit is not None:
        rows = make_budget(memory_limit, found.row_bytes, n_columns, 0, 1).rows
    folder = _output_folder(output)
    files: list[str] = []
    n_rows = 0
    with _unfinished(folder):
        for number, piece in enumerate(found.pieces):
            path = folder / f"part-{number:05d}.parquet"
            n_rows += _write(model, piece, path, rows, proba)
            files.append(str(path))
    return Predicted(n_rows, tuple(files))


def _output_folder(output: Any) -> Path:
    folder = Path(output)
    if not folder.exists() and "".join(folder.suffixes[-1:]).lower() in ENDINGS:
        raise ParameterError(
            f"output must be a folder, for predictions in blocks are several Parquet files, got "
            f"the name of a file, {str(folder)!r}; leave out the ending, or (on the command line) "
            "--memory to write one CSV file."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"{str(folder)!r} cannot be made ({reason}); choose another.") from None
    return folder


@contextlib.contextmanager
def _unfinished(folder: Path) -> Iterator[None]:
    """A mark in the folder until all is written; what an earlier call left unfinished goes."""
    from treewright.io._atomic import only_writer

    with contextlib.ExitStack() as stack:
        try:
            was_there = stack.enter_context(only_writer(folder / UNFINISHED))
        except BlockingIOError:
            raise ParameterError(
                f"output must be a folder that nobody else writes to, but another process writes "
                f"predictions to {str(folder)!r}; name another."
            ) from None
        except OSError as error:
            raise _cannot_write(folder, error) from None
        if was_there:
            for part in folder.glob("part-*.parquet"):
                part.unlink()
        if any(folder.glob("*.parquet")):
            (folder / UNFINISHED).unlink()
            raise ParameterError(
                f"output must be a folder without Parquet files, got {str(folder)!r}, which has "
                "some; name another."
            )
        yield


def _cannot_write(path: Path, error: OSError) -> DataError:
    return DataError(
        f"{str(path)!r} cannot be written ({(error.strerror or str(error)).lower()}); make room "
        "there, or name another output."
    )


def predicted_columns(model: Any, frame: Any, proba: bool) -> dict[str, Any]:
    """Predictions of a block, by the name of their column."""
    schema = model.tree_.schema if hasattr(model, "tree_") else model._schema
    target = schema.target.name
    names = frame.column_names if hasattr(frame, "column_names") else list(frame.columns)
    if target in names and target not in schema.names:
        keep = [name for name in names if name != target]
        frame = frame.select(keep) if hasattr(frame, "select") else frame[keep]
    columns: dict[str, Any] = {"prediction": np.asarray(model.predict(frame))}
    if proba:
        share = np.asarray(model.predict_proba(frame))
        for k, label in enumerate(model.classes_.tolist()):
            columns[f"probability({label})"] = share[:, k]
    return columns


def _write(model: Any, piece: Any, path: Path, rows: int, proba: bool) -> int:
    """The predictions of a piece, whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from treewright.io._atomic import replacing

    tables = (pa.table(predicted_columns(model, frame, proba)) for frame in piece.read(None, rows))
    first = next(tables, None)
    if first is None:
        return 0
    n_rows = 0
    try:
        with replacing(path) as file, pq.ParquetWriter(file, first.schema) as writer:
            for table in chain([first], tables):
                writer.write_table(table)
                n_rows += table.num_rows
    except SpaceError:
        raise
    except OSError as error:
        raise _cannot_write(path, error) from None
    return n_rows
