"""Contingency tables behind their checks: codes and labels once per fit, then the core.

The tables of all features are stacked: those of feature ``f`` are rows
``offset[f]:offset[f + 1]``, one row per category and a last one for the gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels import _core

__all__ = ["NodeTables", "bin_codes"]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]


def bin_codes(column: NDArray[np.floating[Any]], breaks: NDArray[np.float64]) -> Codes:
    """Number of breaks below each value, −1 for a gap."""
    if column.dtype not in (np.float32, np.float64) or column.ndim != 1:
        raise ValueError("the column must be a vector of floats")
    return _core.bin_codes(column, np.ascontiguousarray(breaks, np.float64))


class NodeTables:
    """Tables of any node of one table of coded columns.

    Parameters
    ----------
    columns
        Codes of each feature, −1 for a gap.
    sizes
        Number of categories of each feature.
    label, n_classes
        Class of each row; leave out for sums.
    values
        Integers to sum, one row per row: the weight alone for classes (or None where every
        row counts once), any number of columns otherwise.
    """

    def __init__(
        self,
        columns: Sequence[Codes],
        sizes: Sequence[int],
        *,
        label: Codes | None = None,
        n_classes: int = 0,
        values: Ints | None = None,
    ) -> None:
        n_rows = len(columns[0]) if columns else 0
        for column, size in zip(columns, sizes, strict=True):
            if column.dtype != np.int32 or column.shape != (n_rows,):
                raise ValueError("columns must be int32 vectors of equal length")
            if n_rows and (column.min() < -1 or column.max() >= size):
                raise ValueError("a category code is out of range")
        if label is None:
            if values is None or values.dtype != np.int64 or values.ndim != 2:
                raise ValueError("values must be an int64 matrix where there are no classes")
        elif label.dtype != np.int32 or label.shape != (n_rows,):
            raise ValueError("labels must be an int32 vector with one entry per row")
        elif n_rows and (label.min() < 0 or label.max() >= n_classes):
            raise ValueError("a class code is out of range")
        if values is not None and len(values) != n_rows:
            raise ValueError("values must have one entry per row")
        self._columns, self._sizes = list(columns), [int(size) for size in sizes]
        self._label = None if label is None else np.ascontiguousarray(label)
        self._n_classes = int(n_classes)
        self._values = None if values is None else np.ascontiguousarray(values)
        self._n_rows = n_rows
        self.offset = np.concatenate([[0], np.cumsum(np.asarray(self._sizes, np.int64) + 1)])

    def only(self, feature: int, rows: Ints) -> NodeTables:
        """The tables of one feature, over some of the rows."""
        return NodeTables(
            [self._columns[feature][rows]],
            [self._sizes[feature]],
            label=None if self._label is None else self._label[rows],
            n_classes=self._n_classes,
            values=None if self._values is None else self._values[rows],
        )

    def of(self, rows: Ints, n_threads: int = 1) -> Ints:
        """The stacked tables of the node that holds ``rows``."""
        if len(rows) and (rows.min() < 0 or rows.max() >= self._n_rows):
            raise ValueError("a row is out of range")
        if self._label is None:
            assert self._values is not None
            return _core.sum_tables(self._columns, self._sizes, rows, self._values, n_threads)
        return _core.class_tables(
            self._columns, self._sizes, rows, self._label, self._n_classes, self._values, n_threads
        )
