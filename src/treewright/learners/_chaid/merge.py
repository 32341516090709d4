"""Merging the categories of one predictor at one node: Kass' steps 2 and 3.

Only small tables are seen here, one row per category; the rows of the data were counted before.
A group is known by its first category. ``log_p`` holds the test of every pair that may merge,
so that a merge costs one call of the measure for the pairs of the new group.

Merging ends at two groups at the latest: the test of the last two is the test of the predictor,
and alpha_split decides about it.

References: Kass (1980), section 2; Biggs, de Ville and Suen (1991) for the exhaustive search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.learners._chaid.measures import Measure
from treewright.learners._chaid.multipliers import (
    PredictorType,
    exhaustive_multiplier,
    log_multiplier,
)

__all__ = ["Grouping", "MergeRules", "merge_categories"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_DIVIDED = 10
"""Most categories of a group of which every division into two is tried."""
MAX_RESPLITS = 100
LEAST = -1e300
"""Stands for the logarithm of a p-value of zero; −inf marks pairs that may not merge."""


@dataclass(frozen=True, slots=True)
class MergeRules:
    """When categories merge and merged ones part again."""

    alpha_merge: float = 0.05
    alpha_resplit: float | None = None
    exhaustive: bool = False
    adjust: bool = True


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups of categories and their test; ``log_adjusted`` is the logarithm of p × multiplier."""

    groups: list[list[int]]
    tables: Floats
    statistic: float
    df: float
    log_p: float
    log_adjusted: float


def merge_categories(
    table: Floats, kind: PredictorType, measure: Measure, rules: MergeRules, least: float = 0.0
) -> Grouping | None:
    """Merge the rows of ``table`` into groups that differ; None where there are not two.

    Parameters
    ----------
    table
        One row per category that has weight; with ``kind="floating"`` the last is the gap.
    kind
        Which categories may join.
    measure, rules
        The test, and when categories merge.
    least
        Weight that every group needs.
    """
    if len(table) < 2:
        return None
    groups = _Groups(table, kind, measure)
    if rules.exhaustive:
        groups = _search_exhaustively(groups)
    else:
        _merge(groups, log(rules.alpha_merge))
        if rules.alpha_resplit is not None:
            _resplit(groups, log(rules.alpha_merge), log(rules.alpha_resplit))
    while groups.count > 1 and (small := groups.smallest(least)) is not None:
        groups.join(*groups.best_pair_of(small))
    if groups.count < 2:
        return None
    tested = groups.test()
    statistic, df, log_p = (float(x) for x in (tested.statistic, tested.df, tested.log_p))
    adjusted = log_p
    if rules.adjust and rules.exhaustive:
        adjusted += exhaustive_multiplier(kind, len(table))
    elif rules.adjust:
        adjusted += log_multiplier(kind, len(table), groups.count)
    return Grouping(groups.listed(), groups.tables(), statistic, df, log_p, adjusted)


def _merge(groups: _Groups, log_alpha: float) -> None:
    """Step 2: the most similar pair merges while it is not significantly different."""
    while groups.count > 2:
        log_p, i, j = groups.best_pair()
        if log_p <= log_alpha:
            break
        groups.join(i, j)


def _resplit(groups: _Groups, log_merge: float, log_resplit: float) -> None:
    """Step 3: merged groups of three or more part where they differ, and step 2 goes on."""
    for _ in range(MAX_RESPLITS):
        for key in groups.keys().tolist():
            part = groups.best_division(key, log_resplit)
            if part is not None:
                groups.divide(key, part)
                _merge(groups, log_merge)
                break
        else:
            return


def _search_exhaustively(groups: _Groups) -> _Groups:
    """Merge down to two groups; of all groupings on the way the most significant one."""
    best, best_log_p = groups.copy(), float(groups.test().log_p)
    while groups.count > 2:
        groups.join(*groups.best_pair()[1:])
        log_p = float(groups.test().log_p)
        if log_p < best_log_p:
            best, best_log_p = groups.copy(), log_p
    return best


@dataclass
class _Groups:
    """The groups while they merge. ``sums[g]`` is the table row of the group known as g."""

    categories: Floats
    kind: PredictorType
    measure: Measure
    sums: Floats = field(init=False)
    members: dict[int, list[int]] = field(init=False)
    log_p: Floats = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.categories)
        self.sums = self.categories.copy()
        self.members = {k: [k] for k in range(n)}
        self.log_p = np.full((n, n), -np.inf)
        if self.kind == "nominal":
            first, second = np.triu_indices(n, 1)
        else:
            n_known = n - (self.kind == "floating")
            first, second = np.arange(n_known - 1), np.arange(1, n_known)
            if n_known < n:
                first = np.concatenate([first, np.arange(n_known)])
                second = np.concatenate([second, np.full(n_known, n_known)])
        self._test_pairs(first, second)

    def copy(self) -> _Groups:
        """These groups as they stand, for reading."""
        other = object.__new__(_Groups)
        other.__dict__.update(
            self.__dict__,
            sums=self.sums.copy(),
            members={k: list(v) for k, v in self.members.items()},
            log_p=self.log_p.copy(),
        )
        return other

    @property
    def count(self) -> int:
        """Number of groups."""
        return len(self.members)

    def keys(self) -> Ints:
        """The first category of each group, ascending."""
        return np.fromiter(sorted(self.members), np.int64, len(self.members))

    def listed(self) -> list[list[int]]:
        """The categories of each group, groups in the order of their first."""
        return [self.members[key] for key in sorted(self.members)]

    def tables(self) -> Floats:
        """The table with a row per group."""
        return self.sums[self.keys()]

    def test(self) -> Any:
        """Whether the groups differ."""
        return self.measure.test(self.tables())

    def best_pair(self) -> tuple[float, int, int]:
        """The pair with the largest p-value; of equal ones the first."""
        at = int(self.log_p.argmax())
        i, j = divmod(at, len(self.log_p))
        return float(self.log_p[i, j]), i, j

    def best_pair_of(self, key: int) -> tuple[int, int]:
        """The group that is most similar to one, and that one, in order."""
        with_key = np.maximum(self.log_p[key], self.log_p[:, key])
        other = int(with_key.argmax())
        return min(key, other), max(key, other)

    def smallest(self, least: float) -> int | None:
        """The group of least weight, if that is below ``least``."""
        keys = self.keys()
        weight = self.measure.weight(self.sums[keys])
        at = int(weight.argmin())
        return int(keys[at]) if weight[at] < least else None

    def join(self, i: int, j: int) -> None:
        """Merge group j into group i < j."""
        self.sums[i] += self.sums[j]
        self.members[i] = sorted(self.members[i] + self.members.pop(j))
        for key in (i, j):
            self.log_p[key] = self.log_p[:, key] = -np.inf
        self._test_partners(i)

    def divide(self, key: int, part: list[int]) -> None:
        """Take the categories ``part`` out of a group."""
        rest = [k for k in self.members.pop(key) if k not in part]
        self.log_p[key] = self.log_p[:, key] = -np.inf
        for members in (rest, part):
            self.members[members[0]] = members
            self.sums[members[0]] = self.categories[members].sum(axis=0)
        if self.kind != "nominal":  # old neighbours are neighbours no more
            self.log_p[self.log_p > -np.inf] = -np.inf
            for group in self.keys().tolist():
                self._test_partners(group)
        else:
            self._test_partners(rest[0])
            self._test_partners(part[0])

    def best_division(self, key: int, log_alpha: float) -> list[int] | None:
        """The part of a group of three or more that differs most from its rest."""
        members = self.members[key]
        if len(members) < 3:
            return None
        sides = self._divisions(members)
        tables = self.categories[members]
        pairs = np.stack([sides @ tables, ~sides @ tables], axis=1)
        log_p = self.measure.test(pairs).log_p
        best = int(log_p.argmin())
        if log_p[best] > log_alpha:
            return None
        return [k for k, aside in zip(members, sides[best], strict=True) if aside]

    def _divisions(self, members: list[int]) -> NDArray[np.bool_]:
        """Divisions of a group into two that are allowed and worth a test, a row for each."""
        n = len(members)
        if self.kind == "nominal":
            ordered = self.categories.shape[1] == 2 or self.measure.name == "F"
            if not ordered and n <= MAX_DIVIDED:
                bits = np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n)
                return (bits & 1).astype(np.bool_)
            rank = np.argsort(np.argsort(self.measure.order(self.categories[members])))
            return np.asarray(rank >= np.arange(1, n)[:, None])
        has_gap = self.kind == "floating" and members[-1] == len(self.categories) - 1
        above = np.arange(n - has_gap) >= np.arange(1, n - has_gap)[:, None]
        if not has_gap:
            return above
        with_gap, without = (
            np.column_stack([above, np.full(len(above), g)]) for g in (True, False)
        )
        alone = np.arange(n) == n - 1
        return np.concatenate([with_gap, without, alone[None]])

    def _test_partners(self, key: int) -> None:
        partners = self._partners(key)
        self._test_pairs(np.minimum(key, partners), np.maximum(key, partners))

    def _partners(self, key: int) -> Ints:
        """Groups that may merge with one."""
        keys = self.keys()
        if self.kind == "nominal":
            return np.asarray(keys[keys != key])
        gap = len(self.categories) - 1 if self.kind == "floating" else -1
        if gap not in self.members:  # it has joined a group
            gap = -1
        known = np.asarray(keys[keys != gap])
        if key == gap:
            return known
        at = int(np.searchsorted(known, key))
        near = [known[k] for k in (at - 1, at + 1) if 0 <= k < len(known)]
        return np.array(near if gap < 0 else [*near, gap], np.int64)

    def _test_pairs(self, first: Ints, second: Ints) -> None:
        for start in range(0, len(first), 65536):  # bounds the memory of many categories
            i, j = first[start : start + 65536], second[start : start + 65536]
            pairs = np.stack([self.sums[i], self.sums[j]], axis=1)
            self.log_p[i, j] = np.maximum(self.measure.test(pairs).log_p, LEAST)
