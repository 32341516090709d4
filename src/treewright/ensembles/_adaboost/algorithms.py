"""What one round of each AdaBoost does with the weights of the rows.

All of them add up scores ``F`` of shape (rows, classes) whose rows sum to zero, and raise the
weight of the rows that the newest member gets wrong. They differ in what a member says (one class
or probabilities), in its weight, and in when to stop; :data:`ALGORITHMS` has a row for each.

``weight`` below are the weights of the rows, with a sum of one. For two classes, and for
AdaBoost.M1 with any number, the product of the ``normalizer`` of the rounds is an upper bound of
the training error.

References: Freund and Schapire (1997), *A decision-theoretic generalization of on-line learning*
(M1); Zhu, Zou, Rosset and Hastie (2009), *Multi-class AdaBoost* (SAMME and its real form);
Friedman, Hastie and Tibshirani (2000), *Additive logistic regression* (Real and Gentle).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Round",
    "bounded_exp",
    "is_chance",
    "is_perfect",
    "normalized",
    "total",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

PERFECT = 1e-12
"""A weighted error below this is none, and one so near to that of chance is no better: rounding."""

LEAST_PROBABILITY = 1e-5
"""A pure leaf would decide alone for ever; this bounds what it adds to 5.8."""

MOST_EXPONENT = 600.0
"""Bounds the factors of one round, so that weights of all rows can be added up."""


class Round(NamedTuple):
    """What a round found: the member's weight, and the factor for the weight of each row."""

    member_weight: float
    factor: Floats
    normalizer: float


@dataclass(frozen=True)
class Algorithm:
    """One of the algorithms.

    Parameters
    ----------
    answer
        What is asked of the members: a class each, or probabilities.
    chance
        The weighted error, by number of classes, from which on a member is of no use.
    score
        What a member's answer, as a matrix of rows and classes, adds to the scores.
    step
        One round, from what the member adds, its error, the codes and weights of the rows and
        the learning rate.
    keeps_perfect
        Whether a member without an error, other than the first, is kept.
    """

    answer: Literal["vote", "probability"]
    chance: Callable[[int], float]
    score: Callable[[Floats], Floats]
    step: Callable[[Floats, float, Codes, Floats, float], Round]
    keeps_perfect: bool


def is_perfect(error: float) -> bool:
    """Whether a weighted error is zero but for rounding."""
    return error <= PERFECT


def is_chance(error: float, chance: float) -> bool:
    """Whether a weighted error is no better than that of chance, but for rounding."""
    return error >= chance - PERFECT


def normalized(weight: Floats) -> Floats:
    """Weights with a sum of one."""
    return np.asarray(weight / total(weight))


def bounded_exp(exponent: Any) -> Any:
    """``exp`` that neither overflows nor vanishes."""
    return np.exp(np.clip(exponent, -MOST_EXPONENT, MOST_EXPONENT))


def total(values: Floats) -> float:
    """The sum, rounded once, so that the order of the rows does not matter."""
    return math.fsum(values)


def _vote_score(vote: Floats) -> Floats:
    """One for the class named, and what brings the sum to zero for each other."""
    n_classes = vote.shape[1]
    return np.asarray((vote * n_classes - 1.0) / (n_classes - 1.0))


def _log_score(probability: Floats) -> Floats:
    """Half of the log odds for two classes; centred logarithms for more."""
    logarithm = np.log(np.maximum(probability, LEAST_PROBABILITY))
    centred = logarithm - logarithm.mean(axis=1, keepdims=True)
    return np.asarray((probability.shape[1] - 1.0) * centred)


def _difference_score(probability: Floats) -> Floats:
    """The difference of the two probabilities, which is the weighted mean of -1 and 1."""
    return np.asarray(probability - probability[:, ::-1])


def _vote_step(member_weight: float, half: float, error: float, wrong: NDArray[np.bool_]) -> Round:
    """Wrong rows weigh ``exp(2 * half)`` times as much, compared with the right ones."""
    normalizer = (1.0 - error) * bounded_exp(-half) + error * bounded_exp(half)
    return Round(member_weight, np.where(wrong, bounded_exp(2.0 * half), 1.0), float(normalizer))


def _m1(score: Floats, error: float, y: Codes, weight: Floats, rate: float) -> Round:
    half = rate * 0.5 * np.log(1.0 / error - 1.0)
    return _vote_step(half, half, error, score[np.arange(len(y)), y] < 0)


def _samme(score: Floats, error: float, y: Codes, weight: Floats, rate: float) -> Round:
    whole = rate * (np.log(1.0 / error - 1.0) + np.log(score.shape[1] - 1.0))
    return _vote_step(whole, 0.5 * whole, error, score[np.arange(len(y)), y] < 0)


def _exponential(score: Floats, error: float, y: Codes, weight: Floats, rate: float) -> Round:
    own = score[np.arange(len(y)), y]
    factor = bounded_exp(-rate * own / (score.shape[1] - 1.0))
    return Round(rate, factor, total(weight * factor))


ALGORITHMS: dict[str, Algorithm] = {
    "samme": Algorithm("vote", lambda k: 1.0 - 1.0 / k, _vote_score, _samme, True),
    "m1": Algorithm("vote", lambda k: 0.5, _vote_score, _m1, False),
    "real": Algorithm("probability", lambda k: 1.0, _log_score, _exponential, True),
    "gentle": Algorithm("probability", lambda k: 1.0, _difference_score, _exponential, True),
}
