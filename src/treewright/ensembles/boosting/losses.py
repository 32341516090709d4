"""The losses of gradient boosting: what they ask of the target, where they begin, what they say.

A loss is a row of :data:`LOSSES`. Its slope is worked out in the core (``core/boost/losses.hpp``);
here are its start, its link from scores to predictions, and twins of the slope in numpy.

References: Friedman (2001), *Greedy function approximation: a gradient boosting machine*.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, softmax

from treewright.errors import DataError

__all__ = ["LOSSES", "Loss", "weighted_quantile"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Loss:
    """One loss.

    Parameters
    ----------
    name
        What the core calls it.
    start
        ``start(y, weight, number)``: the best constant score.
    predict
        From scores to means, or to the probability of the second class.
    slope
        ``slope(score, y, number)``: gradient and hessian of each row's loss.
    loss
        ``loss(score, y, number)``: each row's loss.
    least
        Least value that the target may have; None for any.
    is_open
        Whether that least value itself is not allowed.
    """

    name: str
    start: Callable[[Floats, Floats | None, float], float]
    predict: Callable[[Floats], Floats]
    slope: Callable[[Floats, Floats, float], tuple[Floats, Floats]]
    loss: Callable[[Floats, Floats, float], Floats]
    least: float | None = None
    is_open: bool = False

    def check(self, y: Floats) -> None:
        """Refuse a target that the loss cannot have."""
        if self.least is None:
            return
        low = float(y.min())
        if low < self.least or (self.is_open and low == self.least):
            rule = "above 0" if self.is_open else "at least 0"
            raise DataError(
                f'loss="{self.name}" needs a target that is {rule} in every row, got {low:g}; '
                'use loss="squared_error".'
            )
        if not y.max() > 0:
            raise DataError(
                f'loss="{self.name}" needs a target that is above 0 in some row, got 0 everywhere; '
                'use loss="squared_error".'
            )


def weighted_quantile(values: Floats, weight: Floats | None, share: float) -> float:
    """The least value with that share of the weight up to it, or halfway to the next."""
    order = np.argsort(values, kind="stable")
    held = np.cumsum(np.ones(len(values)) if weight is None else weight[order])
    wanted = share * held[-1]
    at = int(np.searchsorted(held, wanted, side="left"))
    at = min(at, len(values) - 1)
    value = values[order[at]]
    if held[at] == wanted and at + 1 < len(values):
        return float(value + (values[order[at + 1]] - value) / 2)
    return float(value)


def order_free_sum(values: Floats) -> float:
    """The sum, whatever the order: of integers, on a scale that fits them all."""
    most = float(np.abs(values).max(initial=0.0))
    if most == 0:
        return 0.0
    unit = 2.0 ** (math.ceil(math.log2(most)) + math.ceil(math.log2(len(values) + 1)) - 62)
    return float(np.rint(values / unit).astype(np.int64).sum()) * unit


def _mean(y: Floats, weight: Floats | None, number: float) -> float:
    if weight is None:
        return order_free_sum(y) / len(y)
    return order_free_sum(y * weight) / order_free_sum(weight)


def _log_mean(y: Floats, weight: Floats | None, number: float) -> float:
    return float(np.log(_mean(y, weight, number)))


def _median(y: Floats, weight: Floats | None, number: float) -> float:
    return weighted_quantile(y, weight, 0.5)


def _quantile(y: Floats, weight: Floats | None, number: float) -> float:
    return weighted_quantile(y, weight, number)


def _log_odds(y: Floats, weight: Floats | None, number: float) -> float:
    share = _mean(y, weight, number)
    return float(np.log(share / (1 - share)))


def _half_log_odds(y: Floats, weight: Floats | None, number: float) -> float:
    return _log_odds(y, weight, number) / 2


def _same(score: Floats) -> Floats:
    return score


def _exp(score: Floats) -> Floats:
    return np.asarray(np.exp(score))


def _two_sided(score: Floats) -> Floats:
    return np.asarray(expit(2 * score))


def _deviance(y: Floats, score: Floats) -> Floats:
    ratio = np.where(y > 0, y * (np.log(np.where(y > 0, y, 1.0)) - score), 0.0)
    return np.asarray(2 * (ratio - y + np.exp(score)))


def _tweedie(s: Floats, y: Floats, p: float) -> Floats:
    own = np.where(y > 0, np.power(np.where(y > 0, y, 1.0), 2 - p), 0.0) / ((1 - p) * (2 - p))
    return np.asarray(2 * (own - y * np.exp((1 - p) * s) / (1 - p) + np.exp((2 - p) * s) / (2 - p)))


def _ones(s: Floats) -> Floats:
    return np.ones_like(s)


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        Loss(
            "squared_error",
            _mean,
            _same,
            lambda s, y, a: (s - y, _ones(s)),
            lambda s, y, a: np.asarray((s - y) ** 2),
        ),
        Loss(
            "absolute_error",
            _median,
            _same,
            lambda s, y, a: (np.sign(s - y), _ones(s)),
            lambda s, y, a: np.abs(s - y),
        ),
        Loss(
            "huber",
            _median,
            _same,
            lambda s, y, a: (np.clip(s - y, -a, a), _ones(s)),
            lambda s, y, a: np.where(
                np.abs(s - y) <= a, (s - y) ** 2 / 2, a * (np.abs(s - y) - a / 2)
            ),
        ),
        Loss(
            "quantile",
            _quantile,
            _same,
            lambda s, y, a: (np.where(s > y, 1 - a, np.where(s < y, -a, 0.0)), _ones(s)),
            lambda s, y, a: np.where(y > s, a * (y - s), (1 - a) * (s - y)),
        ),
        Loss(
            "poisson",
            _log_mean,
            _exp,
            lambda s, y, a: (np.exp(s) - y, np.exp(s)),
            lambda s, y, a: _deviance(y, s),
            least=0.0,
        ),
        Loss(
            "gamma",
            _log_mean,
            _exp,
            lambda s, y, a: (1 - y * np.exp(-s), y * np.exp(-s)),
            lambda s, y, a: 2 * (s - np.log(y) + y * np.exp(-s) - 1),
            least=0.0,
            is_open=True,
        ),
        Loss(
            "tweedie",
            _log_mean,
            _exp,
            lambda s, y, a: (
                np.exp((2 - a) * s) - y * np.exp((1 - a) * s),
                (2 - a) * np.exp((2 - a) * s) - (1 - a) * y * np.exp((1 - a) * s),
            ),
            _tweedie,
            least=0.0,
        ),
        Loss(
            "logistic",
            _log_odds,
            lambda s: np.asarray(expit(s)),
            lambda s, y, a: (expit(s) - y, expit(s) * (1 - expit(s))),
            lambda s, y, a: np.logaddexp(0, s) - y * s,
        ),
        Loss(
            "exponential",
            _half_log_odds,
            _two_sided,
            lambda s, y, a: (-(2 * y - 1) * np.exp(-(2 * y - 1) * s), np.exp(-(2 * y - 1) * s)),
            lambda s, y, a: np.exp(-(2 * y - 1) * s),
        ),
    )
}
"""Losses of one column of scores, by the name that the core has for them."""


def class_shares(codes: NDArray[Any], weight: Floats | None, n_classes: int) -> Floats:
    """Scores of all classes at the start: logarithms of their shares, of mean 0."""
    each = np.ones(len(codes)) if weight is None else weight
    share = np.array([order_free_sum(each[codes == k]) for k in range(n_classes)])
    log = np.log(share / share.sum())
    return np.asarray(log - log.mean())


def probabilities(score: Floats) -> Floats:
    """Class probabilities from scores, a row per row."""
    # row by row in memory: numpy's sum down columns has another order than that of a single row
    return np.asarray(softmax(np.ascontiguousarray(score), axis=1))


def multinomial_loss(score: Floats, codes: NDArray[Any]) -> Floats:
    """Each row's loss."""
    return -np.asarray(log_softmax(score, axis=1)[np.arange(len(codes)), codes])
