"""Numpy twins of ``core/ctree/association.hpp``: by the book, with full matrices.

The linear statistic T of scores g of a feature and scores h of the response, its mean and
covariance over all permutations (Strasser and Weber 1999, as in Hothorn, Hornik and Zeileis
2006, equation 2), and the statistics made of them. Rows are repeated by whole weights.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_split", "indicators", "statistics", "two_sample"]

Floats = NDArray[np.float64]


def indicators(codes: NDArray[Any], n: int) -> Floats:
    """One column per code."""
    return np.asarray(codes[:, None] == np.arange(n), np.float64)


def statistics(g: Floats, h: Floats, weights: Floats) -> tuple[float, int, float]:
    """Quadratic statistic, rank of the covariance, maximum statistic."""
    total = weights.sum()
    statistic = (weights[:, None] * g).T @ h
    sum_g = weights @ g
    mean_h = weights @ h / total
    centred = h - mean_h
    cov_h = (weights[:, None] * centred).T @ centred / total
    cross = (weights[:, None] * g).T @ g
    cov_g = (total * cross - np.outer(sum_g, sum_g)) / (total - 1)
    covariance = np.kron(cov_h, cov_g)
    difference = (statistic - np.outer(sum_g, mean_h)).T.ravel()
    tolerance = float(np.sqrt(np.finfo(float).eps))
    inverse = np.linalg.pinv(covariance, rcond=tolerance, hermitian=True)
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True, rtol=tolerance))
    variance = np.diag(covariance)
    varies = variance > tolerance * variance.max(initial=0.0)
    largest = np.abs(difference[varies]) / np.sqrt(variance[varies])
    return float(difference @ inverse @ difference), rank, float(largest.max(initial=0.0))


def two_sample(left: NDArray[np.bool_], h: Floats, weights: Floats, form: str) -> float:
    """The statistic of one split."""
    quadratic, _, maximum = statistics(left[:, None].astype(float), h, weights)
    return quadratic if form == "quadratic" else maximum


def best_split(
    x: NDArray[Any], is_nominal: bool, h: Floats, weights: Floats, form: str, least_weight: float
) -> tuple[float, tuple[Any, ...]]:
    """Largest two-sample statistic over all splits, and the values on the left of one with it.

    The first category is always on the left. (−inf, ()) where no split is admissible.
    """
    values = np.unique(x).tolist()
    if is_nominal:
        others = values[1:]
        lefts = [(values[0], *some) for k in range(len(others)) for some in combinations(others, k)]
    else:
        lefts = [tuple(values[: i + 1]) for i in range(len(values) - 1)]
    best: tuple[float, tuple[Any, ...]] = (-np.inf, ())
    for listed in lefts:
        left = np.isin(x, listed)
        if min(weights[left].sum(), weights[~left].sum()) >= least_weight:
            best = max(best, (two_sample(left, h, weights, form), listed), key=lambda b: b[0])
    return best
