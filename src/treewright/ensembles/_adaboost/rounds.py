"""The rounds of AdaBoost: fit a member to weighted rows, judge it, weigh the rows anew.

A *judge* says what a member is worth and how the weights change; everything else, the members,
the draws, the end by Ctrl-C, is the same for classes and numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from treewright.data.weights import Settled
from treewright.ensembles._adaboost.algorithms import normalized
from treewright.ensembles.members.bodies import take_rows
from treewright.errors import ParameterError
from treewright.estimator.base import TreeEstimator

__all__ = ["Boosted", "Judge", "Learner", "Verdict", "boost"]

Floats = NDArray[np.float64]

MOST_REDRAWS = 10
"""Samples drawn in a round, when members are no better than chance on all rows, before the end."""


class Verdict(NamedTuple):
    """What a judge says of a member.

    ``factor`` changes the weights of the rows; None ends the boosting. ``is_kept`` says whether
    the member stays.
    """

    error: float
    member_weight: float
    factor: Floats | None
    normalizer: float
    is_kept: bool = True


Judge = Callable[[Any, Floats, bool], Verdict]
"""Judges a member by the weights of the rows; the last argument says whether it is the first."""


@dataclass(eq=False)
class Boosted:
    """Members that were kept, with what was found in their rounds."""

    members: list[Any] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    normalizers: list[float] = field(default_factory=list)
    interrupt: BaseException | None = None

    def add(self, member: Any, verdict: Verdict) -> None:
        """Keep ``member``."""
        self.members.append(member)
        self.weights.append(verdict.member_weight)
        self.errors.append(verdict.error)
        self.normalizers.append(verdict.normalizer)


@dataclass(frozen=True, eq=False)
class Learner:
    """Fits members to rows.

    Parameters
    ----------
    base
        Not fitted.
    rows, y
        The training data, ``y`` as members get it.
    method
        Weigh rows, or draw them by their weights.
    seed
        Of the draws, and of members that leave something to chance.
    total_weight
        What the weights that members get add up to, so that limits on the weight of a leaf
        count rows.
    n_jobs
        Of the fits of trees that name none.
    """

    base: Any
    rows: Any
    y: NDArray[Any]
    method: Literal["reweight", "resample"]
    seed: int
    total_weight: float
    n_jobs: int | None

    def __post_init__(self) -> None:
        if self.method == "reweight" and not has_fit_parameter(self.base, "sample_weight"):
            raise ParameterError(
                f'method="reweight" needs an estimator whose fit takes sample_weight, got '
                f'{type(self.base).__name__}; use method="resample".'
            )

    def fit(self, weight: Floats, round_number: int, attempt: int) -> Any:
        """A member for rows of these weights."""
        random = np.random.Generator(np.random.Philox(key=[self.seed, round_number]))
        own_seed = int(random.integers(np.iinfo(np.int32).max))
        model = clone(self.base)
        seeds = [n for n in model.get_params(deep=True) if n.split("__")[-1] == "random_state"]
        model.set_params(**dict.fromkeys(seeds, own_seed))
        if not isinstance(model, TreeEstimator):
            self._fit(model, weight, random, attempt)
            return model
        own = model.n_jobs  # stays what it was: threads are not part of a model
        # nobody looks at the pictures of all members
        model.set_params(n_jobs=self.n_jobs if own is None else own, **model._as_member())
        self._fit(model, weight, random, attempt)
        model.n_jobs = own
        return model

    def _fit(self, model: Any, weight: Floats, random: np.random.Generator, attempt: int) -> None:
        if self.method == "reweight":
            settled = (weight * self.total_weight).view(Settled)
            model.fit(self.rows, self.y, sample_weight=settled)
            return
        for _ in range(attempt + 1):
            drawn = np.sort(random.choice(len(weight), len(weight), p=weight))
        model.fit(take_rows(self.rows, drawn), self.y[drawn])


def boost(
    learner: Learner,
    judge: Judge,
    weight: Floats,
    n_rounds: int,
    progress: Callable[[float], None] | None = None,
) -> Boosted:
    """Up to ``n_rounds`` members; those before an interrupt, where there was one."""
    done = Boosted()
    weight = normalized(weight)
    try:
        for k in range(n_rounds):
            member, verdict = _best_attempt(learner, judge, weight, k)
            if verdict.is_kept:
                done.add(member, verdict)
            if verdict.factor is None:
                break
            weight = normalized(weight * verdict.factor)
            if progress is not None:
                progress((k + 1) / n_rounds)
    except KeyboardInterrupt as interrupt:
        if not done.members:
            raise
        done.interrupt = interrupt
    return done


def _best_attempt(learner: Learner, judge: Judge, weight: Floats, k: int) -> tuple[Any, Verdict]:
    """A member better than chance, as soon as a sample gives one."""
    attempts = MOST_REDRAWS if learner.method == "resample" else 1
    for attempt in range(attempts):
        member = learner.fit(weight, k, attempt)
        verdict = judge(member, weight, k == 0)
        if verdict.factor is not None:
            break
    return member, verdict
