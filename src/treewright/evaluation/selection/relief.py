"""Relief: a column is good if near rows of other classes differ in it, and near rows of one do not.

ReliefF for classes, RReliefF for numbers. Unlike scores of single columns it sees columns that tell
something only together. A gap differs from a value by what it is expected to, over the known values
of the column.

Which columns to keep: rows of other classes lie farther away than rows of the same class, in noise
too, so that a weight of noise is not 0 on average. What noise gets is measured: copies of all
columns with their values shuffled join the distances, and a column is kept if its weight beats its
own copies' beyond their spread; as many columns are asked, the p-values are Holm's. With the limit
at 0, noise beside good columns was nearly always kept.

References: Kononenko (1994), *Estimating attributes: analysis and extensions of RELIEF*;
Robnik-Šikonja and Kononenko (2003), *Theoretical and empirical analysis of ReliefF and RReliefF*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.evaluation._tests import adjust
from treewright.evaluation.selection.problem import Problem, Scored

__all__ = ["relief"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

MOST_ROWS = 1000
"""Rows whose neighbours are looked at; more are sampled."""

CELLS = 2_000_000
"""Distances held at a time, so that memory does not grow with the square of the rows."""

RANK_SCALE = 20.0
"""RReliefF: how fast the influence of a neighbour falls with its rank."""


N_SHUFFLED = 6
"""Shuffled copies of each column that tell what noise gets."""


class _Column(NamedTuple):
    """A column scaled so that differences lie in 0…1; ``to_gap`` is the expected one to a gap."""

    values: Floats
    gap: NDArray[np.bool_]
    to_gap: Floats
    between_gaps: float
    is_nominal: bool

    def shuffled(self, order: Places) -> _Column:
        """With the values of other rows."""
        return self._replace(
            values=self.values[order], gap=self.gap[order], to_gap=self.to_gap[order]
        )

    def differences(self, a: Places, b: Places) -> Floats:
        """Between rows ``a`` and ``b``, of any shapes that fit together."""
        x, y = self.values[a], self.values[b]
        d = (x != y).astype(np.float64) if self.is_nominal else np.abs(x - y)
        if not self.gap.any():
            return d
        gap_a, gap_b = self.gap[a], self.gap[b]
        d = np.where(gap_a, self.to_gap[b], np.where(gap_b, self.to_gap[a], d))
        return np.where(gap_a & gap_b, self.between_gaps, d)


def relief(problem: Problem) -> Scored:
    """Weights of all columns, with standard errors over the rows looked at."""
    from scipy import stats

    columns = _scaled(problem.table)
    n = problem.table.n_rows
    asked = np.arange(n)
    if n > MOST_ROWS:
        asked = np.sort(problem.random.choice(n, MOST_ROWS, replace=False))
    each = _shares(problem, columns, asked, 0)
    weights, errors = _weights(problem, each)
    # the random numbers of a sampled table come before these, so that weights stay the same
    lead = _lead_on_noise(problem, columns, asked)
    p_values = stats.t.sf(lead, N_SHUFFLED - 1)
    kept = adjust(p_values, "holm") < problem.alpha
    return Scored(weights, kept, "Relief weight", errors=errors)


def _shares(problem: Problem, columns: list[_Column], asked: Places, done: int) -> Floats:
    """What every row that is asked adds to the weights; ``done`` passes went before."""
    use = _for_classes if problem.n_classes else _for_numbers
    n = problem.table.n_rows
    parts, step = [], max(CELLS // n, 1)
    for start in range(0, len(asked), step):
        rows = asked[start : start + step]
        parts.append(use(problem, columns, rows, _distances(columns, rows, n)))
        if problem.tell is not None:
            asked_before = done * len(asked) + min(start + step, len(asked))
            problem.tell(asked_before, (N_SHUFFLED + 1) * len(asked))
    return np.concatenate(parts)


def _weights(problem: Problem, each: Floats) -> tuple[Floats, Floats]:
    return _mean(each) if problem.n_classes else _ratio(each)


def _lead_on_noise(problem: Problem, columns: list[_Column], asked: Places) -> Floats:
    """How far each weight lies above those of its shuffled copies, in their standard deviations."""
    k = len(columns)
    found = np.empty((N_SHUFFLED, 2 * k))
    for turn in range(N_SHUFFLED):
        copies = [
            column.shuffled(problem.random.permutation(problem.table.n_rows)) for column in columns
        ]
        found[turn] = _weights(problem, _shares(problem, [*columns, *copies], asked, turn + 1))[0]
    own, noise = found[:, :k], found[:, k:]
    # the column is one more draw beside the copies if it is noise
    spread = noise.std(axis=0, ddof=1) * np.sqrt(1 + 1 / N_SHUFFLED)
    lead = own.mean(axis=0) - noise.mean(axis=0)
    return np.asarray(np.where(lead > 0, lead / np.maximum(spread, 1e-300), 0.0))


def _scaled(table: Table) -> list[_Column]:
    found = []
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        is_nominal = feature.kind == "nominal"
        gap = np.isnan(column) if feature.kind == "continuous" else column < 0
        values = np.where(gap, 0.0, column.astype(np.float64))
        known = values[~gap]
        if not is_nominal and known.size:
            span = float(np.ptp(known)) or 1.0
            values, known = (values - known.min()) / span, (known - known.min()) / span
        to_gap, between = _expected(values, known, is_nominal)
        found.append(_Column(np.where(gap, 0.0, values), gap, to_gap, between, is_nominal))
    return found


def _expected(values: Floats, known: Floats, is_nominal: bool) -> tuple[Floats, float]:
    """Expected difference of each value to one drawn from the known, and of two such."""
    if not known.size:
        return np.zeros(len(values)), 0.0
    distinct, counts = np.unique(known, return_counts=True)
    share = counts / len(known)
    if is_nominal:
        at = np.searchsorted(distinct, values).clip(0, len(distinct) - 1)
        same = np.where(distinct[at] == values, share[at], 0.0)
        return 1 - same, float(1 - (share**2).sum())
    # mean |x - v|, from sums of what lies below and above
    below, mass = np.cumsum(share), np.cumsum(share * distinct)
    at = np.searchsorted(distinct, values, side="right") - 1
    low = np.where(at >= 0, below[at], 0.0)
    low_mass = np.where(at >= 0, mass[at], 0.0)
    to_gap = values * low - low_mass + (mass[-1] - low_mass) - values * (1 - low)
    places = np.searchsorted(distinct, distinct, side="right") - 1
    own = distinct * below[places] - mass[places]
    own += (mass[-1] - mass[places]) - distinct * (1 - below[places])
    return to_gap, float((share * own).sum())


def _distances(columns: list[_Column], rows: Places, n: int) -> Floats:
    """Sum of the differences over all columns; a row is infinitely far from itself."""
    everyone = np.arange(n)
    total = np.zeros((len(rows), n))
    for column in columns:
        total += column.differences(rows[:, None], everyone[None, :])
    total[np.arange(len(rows)), rows] = np.inf
    return total


def _nearest(distance: Floats, among: Places, k: int) -> Places:
    """The ``k`` nearest of some rows, nearest first."""
    part = distance[:, among]
    k = min(k, part.shape[1])
    first = np.argpartition(part, k - 1, axis=1)[:, :k]
    order = np.argsort(np.take_along_axis(part, first, axis=1), axis=1, kind="stable")
    return among[np.take_along_axis(first, order, axis=1)]


def _for_classes(
    problem: Problem, columns: list[_Column], rows: Places, distance: Floats
) -> Floats:
    """What every row adds to the weight of every column."""
    truth = problem.target
    counts = np.bincount(truth, minlength=problem.n_classes)
    prior = counts / len(truth)
    each = np.zeros((len(rows), len(columns)))
    for code in np.flatnonzero(counts):
        near = _nearest(distance, np.flatnonzero(truth == code), problem.n_neighbors)
        is_hit = truth[rows] == code
        # a row whose class has no other row has no hit
        usable = np.isfinite(np.take_along_axis(distance, near, axis=1))
        factor = np.where(is_hit, -1.0, prior[code] / np.maximum(1 - prior[truth[rows]], 1e-300))
        weight = factor[:, None] * usable / np.maximum(usable.sum(axis=1, keepdims=True), 1)
        for f, column in enumerate(columns):
            each[:, f] += (weight * column.differences(rows[:, None], near)).sum(axis=1)
    return each


def _for_numbers(
    problem: Problem, columns: list[_Column], rows: Places, distance: Floats
) -> Floats:
    """Sums of every row: its target's differences, then per column differences alone and joint."""
    truth = problem.target
    span = float(np.ptp(truth)) or 1.0
    near = _nearest(distance, np.arange(len(truth)), min(problem.n_neighbors, len(truth) - 1))
    influence = np.exp(-((np.arange(near.shape[1]) / RANK_SCALE) ** 2))
    influence /= influence.sum()
    off = np.abs(truth[rows][:, None] - truth[near]) / span
    found = [(influence * off).sum(axis=1)]
    for column in columns:
        d = column.differences(rows[:, None], near)
        found += [(influence * d).sum(axis=1), (influence * d * off).sum(axis=1)]
    return np.column_stack(found)


def _mean(each: Floats) -> tuple[Floats, Floats]:
    return each.mean(axis=0), each.std(axis=0, ddof=1) / np.sqrt(len(each))


def _ratio(each: Floats) -> tuple[Floats, Floats]:
    """RReliefF's weights of the sums over rows, and their jackknife errors."""
    total, m = each.sum(axis=0), len(each)

    def weights(sums: Floats, m: int) -> Floats:
        off, alone, joint = sums[..., :1], sums[..., 1::2], sums[..., 2::2]
        tiny = 1e-300
        return np.asarray(
            joint / np.maximum(off, tiny) - (alone - joint) / np.maximum(m - off, tiny)
        )

    without = weights(total - each, m - 1)
    spread = ((without - without.mean(axis=0)) ** 2).sum(axis=0) * (m - 1) / m
    return weights(total, m), np.sqrt(spread)
