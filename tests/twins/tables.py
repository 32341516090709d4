"""Numpy twin of ``core/chaid/tables.cpp``: sums over a node's rows per category."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["bin_codes", "class_tables", "sum_tables"]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]


def class_tables(
    columns: Sequence[Codes],
    sizes: Sequence[int],
    rows: Ints,
    label: Codes,
    n_classes: int,
    weight: Ints | None = None,
    n_threads: int = 1,
) -> Ints:
    """Weight of every class per category of each feature, the gap last; features stacked."""
    one_hot = np.zeros((len(label), n_classes), np.int64)
    one_hot[np.arange(len(label)), label] = 1 if weight is None else weight
    return sum_tables(columns, sizes, rows, one_hot, n_threads)


def sum_tables(
    columns: Sequence[Codes], sizes: Sequence[int], rows: Ints, values: Ints, n_threads: int = 1
) -> Ints:
    """Sums of the columns of ``values`` per category of each feature, the gap last."""
    parts = []
    for column, size in zip(columns, sizes, strict=True):
        part = np.zeros((size + 1, values.shape[1]), np.int64)
        codes = column[rows]
        np.add.at(part, np.where(codes < 0, size, codes), values[rows])
        parts.append(part)
    return np.concatenate(parts)


def bin_codes(column: NDArray[np.floating[Any]], breaks: NDArray[np.float64]) -> Codes:
    """Number of breaks below each value, −1 for a gap."""
    codes = np.searchsorted(breaks, column, side="left").astype(np.int32)
    codes[np.isnan(column)] = -1
    return codes
