"""Which rows and features every member of an ensemble is grown from.

Nothing is kept but how to draw: member ``k`` of seed ``s`` has the same rows whenever it is asked
for, in any order, on any number of threads. So the rows that a member did not see (out of bag)
need no memory, and a forest that is grown further equals one grown at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.tree.forest.grow import Sampling

__all__ = [
    "ALL",
    "DISTINCT_SHARE",
    "Draws",
    "FeatureDraws",
    "member_seed",
    "permutation",
    "row_sampling",
]

ALL = Sampling()
"""Every row once."""
DISTINCT_SHARE = 0.632
"""Share of distinct rows in a bootstrap sample, 1 − 1/e: what is drawn without replacement."""


MOST_DRAWS = 1000
"""Most rows drawn for a member, as a multiple of the rows there are."""


@dataclass(frozen=True, eq=False)
class Draws:
    """How the rows of every member are drawn.

    Parameters
    ----------
    seed
        Of the ensemble.
    n_rows
        Rows of the training table.
    sampling
        How many are drawn for a member, with which chances.
    """

    seed: int
    n_rows: int
    sampling: Sampling = ALL

    @property
    def takes_all(self) -> bool:
        """Whether every member sees every row once."""
        return self.sampling.n_draws is None

    def counts(self, member: int) -> NDArray[np.int32]:
        """How often each row is in the sample of ``member``."""
        return self.sampling.counts(self.seed, member, self.n_rows)

    def rows(self, member: int) -> NDArray[np.int64]:
        """The rows of ``member``, ascending, repeated as often as they were drawn."""
        return np.repeat(np.arange(self.n_rows), self.counts(member))

    def left_out(self, member: int) -> NDArray[np.bool_]:
        """Whether each row is out of the bag of ``member``."""
        return np.asarray(self.counts(member) == 0)


def row_sampling(
    max_samples: float | None,
    replace: bool,
    weight: NDArray[np.float64] | None,
    n_rows: int,
) -> Sampling:
    """Rows drawn with the chances ``weight``: a count, a share, or the usual number.

    A share is one of the weight, or of the rows without replacement. The usual number is as
    many as there are rows with replacement, 63.2 % of them without.
    """
    if isinstance(max_samples, Integral):
        n_draws = int(max_samples)
    elif max_samples is None:
        n_draws = n_rows if replace else max(1, int(DISTINCT_SHARE * n_rows))
    else:
        # a row that weighs two may be drawn twice as often, but not without replacement
        total = n_rows if weight is None or not replace else float(weight.sum())
        share = max_samples * total * (1 + 1e-9)  # a sum of weights is rounded
        n_draws = max(1, int(min(share, np.iinfo(np.int64).max)))
    if not replace and n_draws > n_rows:
        raise ParameterError(
            f"max_samples must be at most the number of rows where rows are drawn without "
            f"replacement, got {max_samples} for {n_rows}; lower it, or draw with replacement."
        )
    if n_draws > MOST_DRAWS * n_rows:
        raise ParameterError(
            f"max_samples must be at most {MOST_DRAWS} times the number of rows, got {max_samples} "
            f"for {n_rows}; as many as there are rows, None, is usual."
        )
    return Sampling(n_draws, replace, weight)


@dataclass(frozen=True)
class FeatureDraws:
    """How the features of every member are drawn."""

    seed: int
    n_features: int
    n_drawn: int
    replace: bool

    @property
    def takes_all(self) -> bool:
        """Whether every member sees every feature once."""
        return not self.replace and self.n_drawn == self.n_features

    def features(self, member: int) -> NDArray[np.int64]:
        """The features of ``member``, ascending; one drawn twice is there twice."""
        if self.takes_all:
            return np.arange(self.n_features)
        random = _generator(self.seed, member, "features")
        return np.sort(random.choice(self.n_features, self.n_drawn, replace=self.replace))


def member_seed(seed: int, member: int) -> int:
    """An integer ``random_state`` for the estimator at place ``member``."""
    return int(_generator(seed, member, "seed").integers(2**31 - 1))


def permutation(seed: int, n: int, member: int | None = None) -> NDArray[np.int64]:
    """A permutation of ``n`` rows that belongs to ``member``, or to the ensemble."""
    purpose = "whole" if member is None else "permutation"
    return np.asarray(_generator(seed, member or 0, purpose).permutation(n))


_PURPOSES = {"features": 1, "seed": 2, "permutation": 3, "whole": 4}


def _generator(seed: int, member: int, purpose: str) -> Any:
    """Random numbers by counter: nothing drawn for one member or purpose moves another."""
    key = np.array([seed, member], np.uint64)
    counter = np.array([0, 0, 0, _PURPOSES[purpose]], np.uint64)
    return np.random.Generator(np.random.Philox(counter=counter, key=key))
