"""Boosting kernels behind their checks: bins of columns, and boosters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels import _core
from treewright.kernels._core import Bins, Booster

__all__ = [
    "MOST_BINS",
    "BinMap",
    "Bins",
    "Booster",
    "bin_maps",
    "bundle_columns",
    "distinct_values",
    "drawn_rows",
    "make_bins",
    "make_booster",
    "make_sparse_bins",
    "row_chances",
    "sparse_bin_maps",
    "split_weight",
    "summary_edges",
]

MOST_BINS = 255
"""Bins of values that a column may have; gaps have one more."""

DRAWN_ROWS = 200_000
"""Rows of which edges are made; of more rows as many are drawn."""


@dataclass(frozen=True, eq=False)
class BinMap:
    """How one column becomes bins.

    Parameters
    ----------
    edges
        Ordered columns: a value is in the first bin whose edge it does not exceed.
    codes
        Nominal columns: the code of each bin; other codes are in the bin of gaps.
    n_categories
        Codes that the column may hold; −1 for ordered columns.
    """

    edges: NDArray[np.float64] | None = None
    codes: NDArray[np.int32] | None = None
    n_categories: int = -1

    @property
    def n_bins(self) -> int:
        """Bins of values."""
        if self.codes is not None:
            return len(self.codes)
        assert self.edges is not None
        return len(self.edges) + 1


def bin_maps(
    columns: Sequence[NDArray[Any]],
    n_categories: Sequence[int],
    max_bins: int,
    n_threads: int = 1,
    weight: NDArray[np.float64] | None = None,
) -> list[BinMap]:
    """Bins for each column: of values for ordered ones, of categories for nominal ones.

    Parameters
    ----------
    columns
        Floats, or codes (int32).
    n_categories
        Categories of a nominal column, −1 for an ordered one.
    max_bins
        Most bins of a column, at most 255. Of a nominal column with more categories the most
        frequent ones get bins; the others count as gaps.
    n_threads
        Most threads to use; the bins do not depend on it.
    weight
        Weights of the rows, if they are not all one.
    """
    n_rows = len(columns[0])
    ordered = [c for c, n in zip(columns, n_categories, strict=True) if n < 0]
    edges = iter(_core.bin_edges(ordered, n_rows, weight, max_bins, DRAWN_ROWS, n_threads))
    maps = []
    for column, n in zip(columns, n_categories, strict=True):
        if n < 0:
            maps.append(BinMap(edges=next(edges)))
        else:
            known = column >= 0
            row_weight = None if weight is None else weight[known]
            count = np.bincount(column[known], row_weight, minlength=max(n, 1))
            frequent = np.argsort(-count, kind="stable")[:max_bins]
            codes = np.sort(frequent[count[frequent] > 0]).astype(np.int32)
            maps.append(BinMap(codes=codes, n_categories=n))
    return maps


def make_bins(columns: Sequence[NDArray[Any]], maps: Sequence[BinMap], n_threads: int = 1) -> Bins:
    """The columns as bins of one byte."""
    n_rows = len(columns[0])
    for column, m in zip(columns, maps, strict=True):
        if column.ndim != 1 or len(column) != n_rows:
            raise ValueError("columns must be one-dimensional and of equal length")
        if m.n_categories >= 0 and (
            column.dtype != np.int32 or (len(column) and column.max() >= m.n_categories)
        ):
            raise ValueError("a category code is out of range")
    pairs = [(m.edges if m.codes is None else m.codes, m.n_categories) for m in maps]
    return Bins(list(columns), pairs, n_rows, n_threads)


def sparse_bin_maps(
    matrix: Any, max_bins: int, n_threads: int = 1, weight: NDArray[np.float64] | None = None
) -> list[BinMap]:
    """Bins for each column of a CSC matrix, whose other cells are 0."""
    edges = _core.sparse_edges(*_csc(matrix), weight, max_bins, n_threads)
    return [BinMap(edges=each) for each in edges]


def bundle_columns(matrix: Any, maps: Sequence[BinMap]) -> NDArray[np.int32]:
    """Where the bins of each column are stored: columns that exclude each other share one.

    A row for each: stored column, the bin that others' bytes stand for (−1: it is alone), its first
    byte and how many it has.
    """
    return _core.bundle_columns(*_csc(matrix), [m.edges for m in maps])


def make_sparse_bins(matrix: Any, maps: Sequence[BinMap], stored: NDArray[np.int32]) -> Bins:
    """The columns of a CSC matrix as bins of one byte, stored as :func:`bundle_columns` says."""
    return _core.sparse_bins(*_csc(matrix), [m.edges for m in maps], stored)


def _csc(matrix: Any) -> tuple[Any, Any, Any, int]:
    return (
        np.ascontiguousarray(matrix.indptr, np.int64),
        np.ascontiguousarray(matrix.indices, np.int32),
        np.ascontiguousarray(matrix.data, np.float64),
        int(matrix.shape[0]),
    )


MOST_ROWS = 2**26 - 1
"""Rows up to which no sum of slopes overflows; ``Units`` in core/binned/slope_sums.hpp says why."""
MOST_TALL_ROWS = 2**40 - 1
"""The same for the tall sums that blocks take beyond."""
MOST_COUNTED = 2**22
"""Sum of weights below which rows of whole weights count as often as they weigh."""


def split_weight(
    weight: NDArray[np.float64] | None,
) -> tuple[NDArray[np.int32] | None, NDArray[np.float64] | None]:
    """Weights as counts, where they are whole numbers of a moderate sum, or as factors.

    The bits of a sum are shared by slopes and the number of rows, counted as often as they weigh.
    """
    if weight is None:
        return None, None
    if np.all(weight == np.floor(weight)) and weight.sum() < MOST_COUNTED:
        return np.ascontiguousarray(weight, np.int32), None
    return None, np.ascontiguousarray(weight, np.float64)


def distinct_values(column: NDArray[Any], most: int) -> NDArray[np.float64] | None:
    """Distinct values of an ordered column, ascending; None where there are more than ``most``."""
    return _core.distinct_values(column, len(column), most)


def drawn_rows(first: int, n: int, n_all: int, most: int) -> NDArray[np.int64]:
    """Of ``n`` rows from number ``first`` on those that edges are made of, counted from there.

    Of ``n_all`` rows ``most`` are drawn, one of each of as many equal parts; all if they are fewer.
    """
    return _core.drawn_rows(first, n, n_all, most)


def summary_edges(
    value: NDArray[np.float64], weight: NDArray[np.float64], max_bins: int
) -> NDArray[np.float64]:
    """Edges between at most ``max_bins`` bins of distinct values, ascending, with weights."""
    return _core.summary_edges(
        np.ascontiguousarray(value, np.float64), np.ascontiguousarray(weight, np.float64), max_bins
    )


def row_chances(seed: int, number: int, first: int, n: int) -> NDArray[np.float64]:
    """Numbers in [0, 1) of the rows ``first``, ``first + 1``, …; they depend on nothing else."""
    return np.asarray(_core.row_chances(seed & (2**64 - 1), number, first, n))


def make_booster(
    bins: Bins,
    params: dict[str, Any],
    y: NDArray[np.float64],
    score: NDArray[np.float64],
    count: NDArray[np.int32] | None = None,
    factor: NDArray[np.float64] | None = None,
    n_threads: int = 1,
) -> Booster:
    """A booster; ``y`` and ``score`` have a row for each column of scores.

    Rows count as often as ``count`` says, and with the weight ``factor`` each time.
    """
    n_classes = params["n_columns"]
    if params["loss"] == "multinomial" and (y.min() < 0 or y.max() >= n_classes):
        raise ValueError("a class code is out of range")
    return Booster(
        bins,
        params,
        np.ascontiguousarray(y, np.float64),
        count,
        factor,
        np.ascontiguousarray(score, np.float64),
        n_threads,
    )
