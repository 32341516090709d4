"""Boosting as C5.0 does it: a sequence of models, each on reweighted cases, that vote.

It is not AdaBoost. After each model the weight of its errors moves half-way to one half of all:
with K the weight of the cases it has right and E that of its errors, x = (K − E) / 4 goes from the
first, in proportion, to the second, in equal parts. A model votes for one class with the
confidence of the leaf or rules behind it. In the second half of the trials cases that could not be
won any more are left out. The sequence ends early with a model that is nearly perfect, hardly
better than a guess, or without structure; if fewer than three are left, the first stands alone.

References: Quinlan (1996), *Bagging, boosting, and C4.5*; C5.0's recorded runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.learners._c50.tree import Cases

__all__ = ["Sequence", "boost", "reweight"]

Floats = NDArray[np.float64]

FEWEST = 3
"""A sequence shorter than this is given up for its first model."""
ACCURATE = 0.1
"""Weight of errors below which a model is too accurate to go on from."""
INACCURATE = 0.49
"""Share of errors from which a model is no better than a guess."""


@dataclass(eq=False)
class Sequence:
    """Models that vote, and why there are no more of them."""

    models: list[Any] = field(default_factory=list)
    ended: str | None = None


def reweight(weight: Floats, wrong: NDArray[np.bool_], own: Floats) -> Floats:
    """Weights for the next trial; their sum stays, unless nothing was wrong.

    Parameters
    ----------
    weight
        Weight of each case in this trial.
    wrong
        Whether its model got the case wrong.
    own
        Weight of each case before boosting: a case of weight two is two cases.

    Examples
    --------
    >>> import numpy as np
    >>> reweight(np.ones(4), np.array([True, False, False, False]), np.ones(4))
    array([1.5       , 0.83333333, 0.83333333, 0.83333333])
    """
    errors = float(weight[wrong].sum())
    right = float(weight[~wrong].sum())
    moved = 0.25 * (right - errors)
    if not wrong.any():
        return 0.75 * weight
    part = own / own[wrong].sum()
    return np.where(wrong, weight + moved * part, weight * ((right - moved) / right))


def boost(
    cases: Cases,
    trials: int,
    build: Callable[[Cases, int], Any],
    vote: Callable[[Any, Cases], tuple[NDArray[np.intp], Floats]],
    has_structure: Callable[[Any], bool],
    early_stop: bool,
) -> Sequence:
    """Build up to ``trials`` models.

    Parameters
    ----------
    cases
        The training set.
    trials
        Most models.
    build
        From cases and the number of the trial to a model.
    vote
        From a model and cases to the classes it votes for and the strength of each vote.
    has_structure
        Whether a model is more than a default class.
    early_stop
        Whether the sequence may end before ``trials`` models.
    """
    n = len(cases.y)
    own = np.ones(n) if cases.weight is None else cases.weight
    weight, alive = own.copy(), np.ones(n, np.bool_)
    votes = np.zeros((n, len(cases.target.classes)))
    done = Sequence()
    for trial in range(trials):
        now = _weighted(cases, weight, alive)
        model = build(now, trial)
        if trials == 1:
            return Sequence([model])
        label, strength = vote(model, cases)
        wrong = (label != cases.y) & alive
        errors, total = float(weight[wrong].sum()), float(weight[alive].sum())
        end = _verdict(errors, total, has_structure(model))
        stops = end is not None and (early_stop or (trial == 0 and not has_structure(model)))
        # a model that is no better than a guess has no vote, unless there is no other
        if not (stops and end == "inaccurate" and trial):
            done.models.append(model)
        if stops:
            done.ended = end
            break
        if trial + 1 == trials:
            break
        votes[np.arange(n), label] += strength
        if 2 * (trial + 1) > trials:
            alive &= ~_hopeless(votes, cases.y, trials - trial - 1)
            if not alive.any():
                break
        weight = _next(weight, wrong & alive, alive, own)
    if len(done.models) < FEWEST and trials > 1:
        del done.models[1:]
    return done


def _weighted(cases: Cases, weight: Floats, alive: NDArray[np.bool_]) -> Cases:
    """The cases of a trial; those left out are dropped."""
    if alive.all():
        ones = bool(np.all(weight == 1.0))
        return Cases(cases.table, cases.y, cases.target, None if ones else weight)
    rows = np.flatnonzero(alive)
    return cases.take(rows, weight[rows])


def _verdict(errors: float, total: float, structured: bool) -> str | None:
    if errors < ACCURATE:
        return "accurate"
    return "inaccurate" if errors >= INACCURATE * total or not structured else None


def _hopeless(votes: Floats, y: NDArray[np.int32], left: int) -> NDArray[np.bool_]:
    """Cases that lose even if every model to come votes for their class."""
    rows = np.arange(len(y))
    own = votes[rows, y]
    others = votes.copy()
    others[rows, y] = -np.inf
    return np.asarray(own + left < others.max(axis=1))


def _next(
    weight: Floats, wrong: NDArray[np.bool_], alive: NDArray[np.bool_], own: Floats
) -> Floats:
    """Weights of the next trial, scaled as if the present ones had the total of the own weights."""
    out = weight.copy()
    if not wrong[alive].all():
        out[alive] = reweight(weight[alive], wrong[alive], own[alive])
    out[alive] *= own[alive].sum() / weight[alive].sum()
    return out
