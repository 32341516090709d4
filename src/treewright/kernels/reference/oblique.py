"""Numpy twin of the cuts of linear tests; see ``core/oblique/search.hpp``."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_cut", "gain_of"]

Floats = NDArray[np.float64]


def gain_of(left: NDArray[np.bool_], targets: Floats, weight: Floats) -> float:
    """Decrease of Gini's index, or of the squared error, by dividing the rows."""

    def score(rows: NDArray[np.bool_]) -> float:
        total = weight[rows].sum()
        sums = (weight[rows, None] * targets[rows]).sum(axis=0)
        return float((sums**2).sum() / total) if total > 0 else 0.0

    whole = score(np.ones(len(left), np.bool_))
    return (score(left) + score(~left) - whole) / float(weight.sum())


def best_cut(
    columns: Floats, direction: Floats, targets: Floats, weight: Floats, min_leaf: int = 1
) -> tuple[float, float] | None:
    """Threshold and gain of the best cut of one direction; None if nothing can be cut."""
    value = direction @ columns
    apart = 1e-13 * float(np.abs(direction) @ np.abs(columns).max(axis=1))
    best = None
    for low, high in itertools.pairwise(np.unique(value).tolist()):
        if high - low <= apart:
            continue
        left = value <= low
        if min(left.sum(), (~left).sum()) < min_leaf:
            continue
        gain = gain_of(left, targets, weight)
        if best is None or gain > best[1] + 1e-9:
            best = (low / 2 + high / 2, gain)
    return best
