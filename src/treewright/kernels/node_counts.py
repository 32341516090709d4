"""Counts and quantiles of what passed the nodes of a tree, behind their checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels import _core

__all__ = ["node_quantiles", "split_counts"]

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


def split_counts(
    columns: Sequence[NDArray[Any]],
    end: Ints,
    parent: Ints,
    slot: Ints,
    column: Ints,
    low: Floats,
    scale: Floats,
    code: Ints,
    weight: Floats | None,
    n_bins: int,
    n_codes: int,
) -> Floats:
    """Weight of the rows that passed each split, by bin of the tested value and code of the row.

    Parameters
    ----------
    columns
        Columns of the table that are tested: floats, or codes with −1 for a gap.
    end, parent
        Node where each row ends; parent of each node, −1 for the root.
    slot
        Place of each node among the splits that are counted, −1 for others; of a node with a
        place the parent has one too.
    column, low, scale
        Per split: the column, where its bins begin, and bins per unit. What lies outside counts
        in the first or last bin, gaps nowhere.
    code, weight
        Class of each row, or bin of its target; its weight, None for ones.
    n_bins, n_codes
        Numbers of bins and codes.

    Returns
    -------
    counts
        One row per split, bins before codes.
    """
    n_rows, n_slots = len(end), len(column)
    if any(array.ndim != 1 or len(array) != n_rows for array in (*columns, code)):
        raise ValueError("columns and codes must have one entry per row")
    if weight is not None and len(weight) != n_rows:
        raise ValueError("weights must have one entry per row")
    if len(low) != n_slots or len(scale) != n_slots or len(slot) != len(parent):
        raise ValueError("splits must have a column, a low end and a scale each")
    _check_range("a node", end, len(parent))
    _check_range("a code", code, n_codes)
    _check_range("a column", column, len(columns))
    if len(slot) and (slot.min() < -1 or slot.max() >= n_slots):
        raise ValueError("a place of a split is out of range")
    _check_parents(parent)
    if np.any((slot >= 0) & (parent >= 0) & (slot[np.maximum(parent, 0)] < 0)):
        raise ValueError("the parent of a split that is counted must be counted too")
    return _core.split_counts(
        list(columns), end, parent, slot, column, low, scale, code, weight, n_bins, n_codes
    )


def node_quantiles(
    order: NDArray[np.int64],
    end: Ints,
    parent: Ints,
    y: Floats,
    weight: Floats | None,
    share: Floats,
) -> Floats:
    """Quantiles of ``y`` at every node: the first value with enough weight at or below it.

    Parameters
    ----------
    order
        Rows by ascending ``y``.
    end, parent, weight
        As in :func:`split_counts`.
    share
        Which quantiles, ascending.

    Returns
    -------
    quantiles
        One row per node; NaN where no row came.
    """
    if not len(order) == len(end) == len(y) or (weight is not None and len(weight) != len(y)):
        raise ValueError("order, nodes, target and weights must have one entry per row")
    _check_range("a row", order, len(y))
    _check_range("a node", end, len(parent))
    _check_parents(parent)
    if len(share) > 255:
        raise ValueError("at most 255 quantiles are found at once")
    return _core.node_quantiles(order, end, parent, y, weight, share)


def _check_range(what: str, values: NDArray[Any], size: int) -> None:
    if len(values) and (values.min() < 0 or values.max() >= size):
        raise ValueError(f"{what} is out of range")


def _check_parents(parent: Ints) -> None:
    if len(parent) and (parent[0] != -1 or np.any(parent[1:] < 0)):
        raise ValueError("the first node must be the root, and the only one")
    if np.any(parent >= np.arange(len(parent))):
        raise ValueError("parents must come before their children")
