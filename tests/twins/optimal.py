"""Brute-force twin of the search for optimal trees; see ``core/optimal/search.hpp``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.optimal import SearchProblem

__all__ = ["leaf_cost", "least_cost", "passes"]


def passes(problem: SearchProblem) -> NDArray[np.bool_]:
    """Whether each row (rows) goes left by each test."""
    column, low, high = problem.tests[:, :3].T
    bins = problem.bins[:, column].astype(np.int64)
    return np.asarray((bins >= low) & (bins < high))


def leaf_cost(problem: SearchProblem, rows: NDArray[np.bool_]) -> int:
    """What a leaf of these rows costs, its penalty included."""
    sums = problem.values[rows].sum(axis=0)
    if not problem.squares:
        return int(sums.min()) + problem.penalty
    if sums[0] <= 0:
        return problem.penalty
    explained = sum(float(s) * float(s) for s in sums[2:])
    left = float(sums[1]) - explained * problem.square_unit / float(sums[0])
    return max(0, int(np.floor(left + 0.5))) + problem.penalty


def least_cost(problem: SearchProblem, max_depth: int) -> int:
    """The cost of the cheapest tree, by trying them all."""
    goes_left = passes(problem)

    def best(rows: NDArray[np.bool_], depth: int) -> int:
        least = leaf_cost(problem, rows)
        if depth == 0:
            return least
        for test in range(goes_left.shape[1]):
            left, right = rows & goes_left[:, test], rows & ~goes_left[:, test]
            if left.any() and right.any():
                least = min(least, best(left, depth - 1) + best(right, depth - 1))
        return least

    return best(np.ones(len(problem.bins), np.bool_), max_depth)
