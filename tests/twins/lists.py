"""Attribute lists in numpy: what ``core/lists`` does chunk by chunk, on whole columns at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_cut", "divided"]

Floats = NDArray[np.float64]


def best_cut(
    values: Floats, label: NDArray[np.int32], n_classes: int, min_leaf: int = 1
) -> tuple[float, float, float] | None:
    """Gain of the best cut of one node's entries, and the values on both sides of it.

    ``values`` ascend and have no gaps. The gain is the fall of n times Gini's index; of equal
    cuts the first wins.
    """
    n = len(values)
    each = np.eye(n_classes, dtype=np.int64)[label]
    left = np.cumsum(each, axis=0)[:-1]
    right = each.sum(axis=0) - left
    n_left = np.arange(1, n)
    is_cut = (values[1:] != values[:-1]) & (n_left >= min_leaf) & (n - n_left >= min_leaf)
    if not is_cut.any():
        return None
    kept = (left**2).sum(axis=1) / n_left + (right**2).sum(axis=1) / (n - n_left)
    gain = np.where(is_cut, kept - (each.sum(axis=0) ** 2).sum() / n, -np.inf)
    at = int(np.flatnonzero(gain >= gain.max() - 1e-12 * abs(gain.max()))[0])
    return float(gain[at]), float(values[at]), float(values[at + 1])


def divided(
    branch: NDArray[np.uint8], offset: NDArray[np.int64], is_open: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Entries in the order of the next level: by node, then by branch, each in its old order.

    ``is_open`` says of the two children of each node whether they have a part there.
    """
    slot = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    child = 2 * slot + branch
    order = np.argsort(child, kind="stable")
    return np.asarray(order[is_open[child[order]]])
