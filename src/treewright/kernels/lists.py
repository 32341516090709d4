"""Attribute lists behind their checks; see ``core/lists``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

import treewright.kernels._core as _compiled

__all__ = [
    "ClassList",
    "Divider",
    "RowBits",
    "divide_chunk",
    "found",
    "make_divider",
    "make_search",
    "open_entries",
    "row_branches",
    "trim_heap",
]

_core = cast(Any, _compiled)

if TYPE_CHECKING:
    ClassList: TypeAlias = Any
    Divider: TypeAlias = Any
    RowBits: TypeAlias = Any
else:
    ClassList, Divider, RowBits = _core.ClassList, _core.Divider, _core.RowBits
row_branches = _core.row_branches
divide_chunk = _core.divide_chunk
open_entries = _core.open_entries
trim_heap = _core.trim_heap

Ints = NDArray[np.int64]


def make_search(
    n_codes: int, totals: Ints, rows: Ints, first: int, options: tuple[int, int, bool]
) -> Any:
    """A search of one attribute at slots from ``first`` on.

    Parameters
    ----------
    n_codes
        Categories of a nominal attribute, 0 of an ordered one.
    totals, rows
        Scaled class weights and rows of these slots.
    options
        Least rows of a leaf, most categories that are searched exhaustively, and whether all
        weights are one.
    """
    min_leaf, max_exhaustive, is_unit = options
    if len(totals) != len(rows) or totals.shape[1] < 1:
        raise ValueError("every slot needs class weights and a number of rows")
    if n_codes == 0:
        return _core.CutSearch(np.ascontiguousarray(totals), rows, first, min_leaf, is_unit)
    return _core.SubsetSearch(
        len(rows), first, n_codes, totals.shape[1], min_leaf, max_exhaustive, is_unit
    )


def found(search: Any, totals: Ints, rows: Ints) -> dict[str, Any]:
    """The best test of each slot, by the names of its columns."""
    shared = ("kind", "gain", "scale", "gaps_left", "n_gaps")
    if isinstance(search, _core.CutSearch):
        return dict(zip((*shared, "below", "above"), search.found(), strict=True))
    subsets = search.found(np.ascontiguousarray(totals), rows)
    return dict(zip((*shared, "code_offset", "codes", "branches"), subsets, strict=True))


def make_divider(tests: Any, first_child: NDArray[np.int32], n_classes: int) -> Any:
    """What carries out the tests of a level."""
    return _core.Divider(
        tests.feature,
        tests.threshold,
        tests.closed,
        tests.gap_branch,
        tests.code_offset,
        tests.codes,
        tests.branches,
        first_child,
        n_classes,
    )
