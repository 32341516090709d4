"""Bootstrap intervals for functions of sums over rows: BCa, and studentized for a root of a mean.

The one idea: a resample is how often each row was drawn. Rows that contribute alike are one
pattern, so that draws are multinomial counts of patterns and the jackknife leaves out one row of
each pattern. scipy.stats.bootstrap gives the same interval, but makes every resample row by row
and leaves out each of n rows in turn, which takes n² steps.

Efron (1987), *Better bootstrap confidence intervals*, JASA 82; Hall (1988),
*Theoretical comparison of bootstrap confidence intervals*, Annals of Statistics 16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.evaluation._intervals import Interval

__all__ = ["bca_intervals", "root_mean_interval"]

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]

N_RESAMPLES = 2000
BLOCK = 1 << 22
"""Numbers made at a time."""
MOST_DRAWS = 200_000_000
"""Above this the interval is made of the jackknife's standard error: so many rows need no BCa."""


def bca_intervals(
    patterns: Any, counts: NDArray[np.int64], statistic: Statistic, confidence: float
) -> list[Interval]:
    """An interval for each figure that ``statistic`` makes of sums.

    Parameters
    ----------
    patterns
        What a row adds to the sums, of shape (n_patterns, n_sums), dense or sparse.
    counts
        Rows of each pattern.
    statistic
        From sums of shape (m, n_sums) to figures of shape (m, n_figures); NaN where a figure
        is not defined.
    confidence
        Of the intervals.
    """
    n = int(counts.sum())
    sums = np.asarray(patterns.T @ counts, np.float64)
    observed = statistic(sums[None])[0]
    # one row less of each pattern, scaled back to n rows where totals are figures too
    scale = n / max(n - 1, 1)
    jackknife = np.concatenate(
        [
            statistic((sums - _dense(patterns[start:stop])) * scale)
            for start, stop in _blocks(len(counts), len(sums))
        ]
    )
    if N_RESAMPLES * len(counts) > MOST_DRAWS:
        return [
            _normal(observed[k], jackknife[:, k], counts, confidence) for k in range(len(observed))
        ]
    drawn = _resampled(patterns, counts, statistic, np.random.default_rng(0))
    return [
        _bca(observed[k], drawn[:, k], jackknife[:, k], counts, confidence)
        for k in range(len(observed))
    ]


def root_mean_interval(values: Floats, confidence: float) -> Interval | None:
    """Studentized interval of the root of a mean; None for more rows than are resampled.

    Squares of errors are skewed, and their spread grows with their mean: a resample with a small
    mean has a small error, too. Dividing by each resample's own error allows for that. It holds
    the RMSE of 50 normal errors in 93.5 % of samples where BCa does in 91.7 (95 asked; also tried:
    BCa of the mean 91.7, BCa with t quantiles 92.4, on the scale of the logarithm 91.9 to 93.1).
    """
    n = len(values)
    if N_RESAMPLES * n > MOST_DRAWS or n < 2:
        return None
    sums = np.column_stack([values, values**2])
    drawn = _resampled(sums, np.ones(n, np.int64), lambda s: s, np.random.default_rng(0)) / n
    mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(n))
    errors = np.sqrt(np.maximum(drawn[:, 1] - drawn[:, 0] ** 2, 0.0) / (n - 1))
    usable = errors > 1e-12 * mean
    if not usable.any():
        return Interval(float(np.sqrt(mean)), float(np.sqrt(mean)), "bootstrap-t")
    t = (drawn[usable, 0] - mean) / errors[usable]
    high, low = np.quantile(t, [0.5 - confidence / 2, 0.5 + confidence / 2])
    ends = np.sqrt(np.maximum(mean - error * np.array([low, high]), 0.0))
    return Interval(float(ends[0]), float(ends[1]), "bootstrap-t")


def _blocks(n: int, width: int) -> Iterator[tuple[int, int]]:
    step = max(1, BLOCK // width)
    yield from ((start, min(start + step, n)) for start in range(0, n, step))


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


def _resampled(
    patterns: Any,
    counts: NDArray[np.int64],
    statistic: Statistic,
    random: np.random.Generator,
) -> Floats:
    n, n_patterns = int(counts.sum()), len(counts)
    parts = []
    for start, stop in _blocks(N_RESAMPLES, max(patterns.shape)):
        m = stop - start
        if n_patterns == n:  # all rows differ: drawing them is quicker than a multinomial
            rows = random.integers(n, size=(m, n)) + n * np.arange(m)[:, None]
            draws = np.bincount(rows.ravel(), minlength=m * n).reshape(m, n)
        else:
            draws = random.multinomial(n, counts / n, size=m)
        parts.append(statistic(np.asarray((patterns.T @ draws.T.astype(np.float64)).T)))
    return np.concatenate(parts)


def _moments(jackknife: Floats, counts: NDArray[np.int64]) -> tuple[float, float]:
    """Sums of squares and cubes of what each row does to the figure."""
    known = np.isfinite(jackknife)
    if not known.any():
        return 0.0, 0.0
    weight = counts[known]
    centred = np.average(jackknife[known], weights=weight) - jackknife[known]
    return float(weight @ centred**2), float(weight @ centred**3)


def _normal(
    observed: float, jackknife: Floats, counts: NDArray[np.int64], confidence: float
) -> Interval:
    from scipy.special import ndtri

    n = int(counts.sum())
    # without the scale of totals: leaving a row out moves a mean by 1 / (n - 1) of its deviation
    error = np.sqrt(_moments(jackknife, counts)[0] * (n - 1) / n)
    half = float(ndtri(0.5 + confidence / 2)) * error
    return Interval(float(observed - half), float(observed + half), "jackknife")


def _bca(
    observed: float,
    drawn: Floats,
    jackknife: Floats,
    counts: NDArray[np.int64],
    confidence: float,
) -> Interval:
    """The percentiles that correct for bias and skewness."""
    from scipy.special import ndtr, ndtri

    drawn = np.sort(drawn[np.isfinite(drawn)])
    if not np.isfinite(observed) or not len(drawn):
        return Interval(np.nan, np.nan, "bootstrap")
    if drawn[0] == drawn[-1]:
        return Interval(float(drawn[0]), float(drawn[0]), "bootstrap")
    slack = 1e-12 * max(1.0, abs(observed))
    below = np.mean(drawn < observed - slack) + 0.5 * np.mean(np.abs(drawn - observed) <= slack)
    squares, cubes = _moments(jackknife, counts)
    skew = cubes / (6 * squares**1.5) if squares > 0 else 0.0
    shift = ndtri(np.clip(below, 1 / len(drawn), 1 - 1 / len(drawn)))
    z = shift + ndtri([0.5 - confidence / 2, 0.5 + confidence / 2])
    low, high = np.quantile(drawn, ndtr(shift + z / (1 - skew * z)))
    return Interval(float(low), float(high), "bootstrap")
