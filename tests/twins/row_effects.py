"""Goodman's row-effects model for tables whose columns are ordered.

Under independence m_ij = α_i β_j; with row effects m_ij = α_i β_j exp(γ_i s_j), where s_j are
the scores of the columns. The statistic is twice the difference of the two log likelihoods. Both
models keep row and column totals; row effects keep the mean score of every row as well.

For fixed β each row is a family with one parameter, so the fit alternates: γ of every row by
Newton's method, then β by the column totals. Each step raises the likelihood, and no starting
value or step length is to be chosen; a row that lies in an extreme column altogether has no
finite γ, but the likelihood converges all the same.

Reference: Goodman (1979), Simple models for the analysis of association in cross-classifications
having ordered categories.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["row_effects_deviance"]

Floats = NDArray[np.float64]

MAX_ROUNDS = 200
TOLERANCE = 1e-9
"""Rounds end when no statistic rises by more than this, relative to one plus itself."""
STEEPEST = 40.0
"""Bound of a slope over the whole range of scores: beyond it only zeros are fitted closer."""


def row_effects_deviance(tables: Floats, scores: Floats) -> Floats:
    """Likelihood-ratio statistic of each table of shape (…, groups, classes).

    Examples
    --------
    >>> table = np.array([[30.0, 10.0, 5.0], [10.0, 10.0, 25.0]])
    >>> row_effects_deviance(table, np.array([0.0, 1.0, 2.0])).round(3).tolist()
    24.797
    """
    shape = tables.shape[:-2]
    counts = tables.reshape(-1, *tables.shape[-2:])
    spread = np.ptp(scores)
    x = (scores - scores.mean()) / (spread if spread > 0 else 1.0)
    rows, columns = counts.sum(axis=2), counts.sum(axis=1)
    wanted = counts @ x  # sufficient for the row effects
    base = columns / np.maximum(columns.sum(axis=1, keepdims=True), 1e-300)
    slope = np.zeros_like(rows)
    before = _log_likelihood(counts, _shares(base, slope, x))
    statistic = np.zeros(len(counts))
    for _ in range(MAX_ROUNDS):
        slope = _fit_slopes(base, slope, x, rows, wanted)
        shares = _shares(base, slope, x)
        statistic_now = 2.0 * (_log_likelihood(counts, shares) - before)
        done = np.abs(statistic_now - statistic) <= TOLERANCE * (1.0 + statistic_now)
        statistic = np.maximum(statistic_now, statistic)
        if done.all():
            break
        fitted = (rows[:, :, None] * shares).sum(axis=1)
        base = base * np.divide(columns, fitted, out=np.zeros_like(base), where=fitted > 0)
        base /= np.maximum(base.sum(axis=1, keepdims=True), 1e-300)
    return np.maximum(statistic, 0.0).reshape(shape)


def _shares(base: Floats, slope: Floats, x: Floats) -> Floats:
    """Fitted class shares of every row."""
    with np.errstate(divide="ignore"):
        logits = np.log(base)[:, None, :] + slope[:, :, None] * x
    return np.asarray(special.softmax(logits, axis=2))


def _log_likelihood(counts: Floats, shares: Floats) -> Floats:
    return np.asarray(special.xlogy(counts, np.maximum(shares, 1e-300)).sum(axis=(1, 2)))


def _fit_slopes(base: Floats, slope: Floats, x: Floats, rows: Floats, wanted: Floats) -> Floats:
    """Newton's steps towards the mean score of each row, no longer than half the bound."""
    target = np.divide(wanted, rows, out=np.zeros_like(rows), where=rows > 0)
    for _ in range(4):
        shares = _shares(base, slope, x)
        mean = shares @ x
        variance = np.maximum(shares @ (x * x) - mean * mean, 1e-12)
        step = np.clip((target - mean) / variance, -STEEPEST / 8, STEEPEST / 8)
        slope = np.clip(slope + np.where(rows > 0, step, 0.0), -STEEPEST, STEEPEST)
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    return slope
