"""Several models on several data sets: Friedman's test, then Nemenyi's.

Scores of different data sets have no common scale, so the models are ranked on each; the test asks
whether their mean ranks differ more than chance would have it.

References: Demšar (2006), *Statistical comparisons of classifiers over multiple data sets*; Iman
and Davenport (1980), *Approximations of the critical region of the Friedman statistic*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treewright.errors import DataError

__all__ = ["Friedman", "friedman", "groups_alike"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Friedman:
    """Mean ranks and what may be said of them.

    Parameters
    ----------
    ranks
        Mean rank of each model, 1 the best.
    statistic, p_value
        Friedman's chi-squared, with ties taken into account.
    f_statistic, f_p_value
        Iman and Davenport's form of it, which is less conservative.
    critical_difference
        Mean ranks further apart than this differ (Nemenyi).
    pair_p_values
        Nemenyi's p-value of each pair, a symmetric matrix.

    Examples
    --------
    >>> from treewright import CARTClassifier, compare, datasets
    >>> rings = [datasets.two_rings(100, random_state=seed) for seed in range(3)]
    >>> data = {f"rings {i}": (ring.data, ring.target) for i, ring in enumerate(rings)}
    >>> models = {f"depth {depth}": CARTClassifier(max_depth=depth) for depth in (1, 2, 4)}
    >>> result = compare(models, data, test="friedman", folds=3, random_state=0)
    >>> len(result.ranking.ranks), result.ranking.pair_p_values.shape
    (3, (3, 3))
    """

    ranks: Floats
    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    critical_difference: float
    pair_p_values: Floats


def friedman(
    scores: ArrayLike, confidence: float = 0.95, greater_is_better: bool = True
) -> Friedman:
    """Rank models on every data set and test whether their mean ranks differ.

    Parameters
    ----------
    scores
        Of shape (n_data_sets, n_models).
    confidence
        1 minus the level of the critical difference.
    greater_is_better
        False for errors.

    Returns
    -------
    Friedman

    Examples
    --------
    >>> found = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.8, 0.6], [0.9, 0.6, 0.5]])
    >>> found.ranks.tolist()
    [1.25, 1.75, 3.0]
    """
    from scipy import stats

    values = np.asarray(scores, np.float64)
    if values.ndim != 2 or values.shape[0] < 2 or values.shape[1] < 3:
        raise DataError(
            "Friedman's test needs two data sets and three models or more, got "
            f"{' × '.join(map(str, values.shape))}; use Wilcoxon's for two models."
        )
    n, k = values.shape
    each = stats.rankdata(-values if greater_is_better else values, axis=1)
    ranks = each.mean(axis=0)
    if np.all(each == each[0, 0]):
        chi_squared, p_value = 0.0, 1.0
    else:
        found = stats.friedmanchisquare(*values.T)
        chi_squared, p_value = float(found.statistic), float(found.pvalue)
    room = n * (k - 1) - chi_squared
    f = np.inf if room <= 0 else (n - 1) * chi_squared / room
    unit = np.sqrt(k * (k + 1) / (6 * n))
    apart = np.abs(ranks[:, None] - ranks[None, :]) / unit * np.sqrt(2)
    critical = stats.studentized_range.ppf(confidence, k, np.inf) / np.sqrt(2) * unit
    return Friedman(
        ranks,
        chi_squared,
        p_value,
        float(f),
        float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
        float(critical),
        np.asarray(stats.studentized_range.sf(apart, k, np.inf)),
    )


def groups_alike(order: NDArray[np.int64], differs: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Runs of neighbours in ``order`` of which no two differ, longest ones only.

    Parameters
    ----------
    order
        Models from best to worst.
    differs
        Whether two models differ, a symmetric matrix.

    Returns
    -------
    list of (first, last)
        Places in ``order``, both included.

    Examples
    --------
    >>> differs = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool)
    >>> groups_alike(np.array([0, 1, 2]), differs)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while (
            last + 1 < len(order)
            and not differs[np.ix_(order[first : last + 2], order[first : last + 2])].any()
        ):
            last += 1
        if last > first and not (found and found[-1][1] >= last):
            found.append((first, last))
    return found
