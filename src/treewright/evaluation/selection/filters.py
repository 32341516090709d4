"""Scores of one column at a time: chi-squared, information gain, gain ratio.

Continuous columns are cut into bins of about equally many rows, which do not look at the target, so
that p-values stay honest. Rows with a gap in a column take no part in its test; a gain counts by
the share of rows that are known, as in C4.5.

References: Quinlan (1993), *C4.5*, section 2.2; the likelihood-ratio statistic of a table is
2 N ln 2 times its information gain, which gives gains a p-value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treewright.data.binning import bin_table, table_edges
from treewright.evaluation._tests import adjust
from treewright.evaluation.selection.problem import Problem, Scored

__all__ = ["chi2", "gain_ratio", "information_gain"]

Floats = NDArray[np.float64]


def chi2(problem: Problem) -> Scored:
    """Pearson's statistic of every column against the classes; columns are ranked by p-value."""
    from scipy import stats

    found = []
    for counts in _tables(problem):
        n, dof = counts.sum(), _freedom(counts)
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / max(n, 1)
        statistic = float(((counts - expected) ** 2 / np.where(expected > 0, expected, 1)).sum())
        found.append((statistic, stats.chi2.logsf(statistic, dof) if dof else 0.0))
    scores, log_p = np.array(found).T
    order = np.lexsort((-scores, log_p))
    return _by_p_value(problem, scores, np.exp(log_p), "chi-squared", order)


def information_gain(problem: Problem) -> Scored:
    """Bits that a column tells about the class."""
    gains, _, p_values = _gains(problem)
    return _by_p_value(problem, gains, p_values, "information gain")


def gain_ratio(problem: Problem) -> Scored:
    """Information gain per bit that it takes to tell the values of the column apart."""
    gains, bits, p_values = _gains(problem)
    ratio = np.divide(gains, bits, out=np.zeros_like(gains), where=bits > 0)
    return _by_p_value(problem, ratio, p_values, "gain ratio")


def _by_p_value(
    problem: Problem,
    scores: Floats,
    p_values: Floats,
    what: str,
    order: NDArray[np.int64] | None = None,
) -> Scored:
    chosen = adjust(p_values, "holm") < problem.alpha
    return Scored(scores, chosen, what, p_values=p_values, order=order)


def _gains(problem: Problem) -> tuple[Floats, Floats, Floats]:
    """Gain, bits of the values, and p-value of every column."""
    from scipy import stats

    found = []
    for counts in _tables(problem):
        n = counts.sum()
        if n == 0:
            found.append((0.0, 0.0, 1.0))
            continue
        values = counts.sum(axis=1)
        gain = _entropy(counts.sum(axis=0)) - float(
            sum(v / n * _entropy(row) for v, row in zip(values, counts, strict=True) if v > 0)
        )
        dof = _freedom(counts)
        p_value = float(stats.chi2.sf(2 * n * np.log(2) * gain, dof)) if dof else 1.0
        found.append((max(gain, 0.0) * n / len(problem.target), _entropy(values), p_value))
    gains, bits, p_values = np.array(found).T
    return gains, bits, p_values


def _tables(problem: Problem) -> list[Floats]:
    """Counts of every value and class, rows with gaps left out."""
    binned = bin_table(
        problem.table, table_edges(problem.table, None, "equal_frequency", problem.n_bins)
    )
    k = problem.n_classes
    tables = []
    for feature, codes in zip(binned.schema.features, binned.columns, strict=True):
        known = codes >= 0
        cells = codes[known].astype(np.int64) * k + problem.target[known]
        counts = np.bincount(cells, minlength=len(feature.categories) * k)
        tables.append(counts.reshape(-1, k).astype(np.float64))
    return tables


def _freedom(counts: Floats) -> int:
    rows, columns = ((counts.sum(axis=axis) > 0).sum() for axis in (1, 0))
    return int(max(rows - 1, 0) * max(columns - 1, 0))


def _entropy(counts: Floats) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())
