"""A table in memory as a source of one piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treewright.data.frames import feature_names, is_frame, read_frame
from treewright.data.sources.piece import Source
from treewright.errors import DataError

__all__ = ["FramePiece", "memory_source"]


@dataclass(frozen=True, eq=False)
class FramePiece:
    """Rows of a frame."""

    frame: Any
    n_rows: int

    def read(self, columns: Sequence[str] | None, most: int) -> Iterator[Any]:
        """Slices of the frame."""
        frame = self.frame
        for start in range(0, self.n_rows, most):
            part = _slice(frame, start, min(self.n_rows, start + most))
            yield part if columns is None else _select(part, columns)


def memory_source(X: Any) -> Source:
    """A source of one frame."""
    if not is_frame(X):
        raise DataError(
            "With target=, X must be a table with named columns, a file, a folder or a Dask "
            f"collection, got {type(X).__name__}; pass X and y, or a data frame."
        )
    if isinstance(X, Mapping):
        import pyarrow as pa

        X = pa.table({str(name): values for name, values in X.items()})
    names = feature_names(X)
    assert names is not None
    frame = read_frame(X)
    return Source(
        tuple(names.tolist()), (FramePiece(X, frame.n_rows),), row_bytes=8 * frame.n_columns
    )


def _slice(frame: Any, start: int, stop: int) -> Any:
    if hasattr(frame, "iloc"):
        return frame.iloc[start:stop]
    return frame.slice(start, stop - start)


def _select(frame: Any, columns: Sequence[str]) -> Any:
    if hasattr(frame, "iloc"):
        return frame[list(columns)]
    return frame.select(list(columns))
