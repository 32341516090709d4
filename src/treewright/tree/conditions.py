"""What a row must satisfy to take a branch.

One small class per kind of test. A condition knows its feature, whether a gap satisfies it,
and how to merge with another condition on the same subject, so that the tests on a way from
the root become one condition per feature. Ordinal features are held in code space.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from treewright.data.schema import Feature
from treewright.tree.split import SplitKind, Splits

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

__all__ = [
    "Bounds",
    "Condition",
    "Interval",
    "Linear",
    "Members",
    "branch_conditions",
    "merge_conditions",
    "surrogate_conditions",
]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Numbers from ``low`` to ``high``, each end inside or not."""

    low: float = -math.inf
    high: float = math.inf
    includes_low: bool = False
    includes_high: bool = False

    @property
    def is_unbounded(self) -> bool:
        """Whether every number is inside."""
        return self.low == -math.inf and self.high == math.inf

    @property
    def is_empty(self) -> bool:
        """Whether no finite number is inside."""
        if self.low == math.inf or self.low > self.high:
            return True
        return self.low == self.high and not (self.includes_low and self.includes_high)

    def intersect(self, other: Bounds) -> Bounds:
        """The numbers inside both."""
        # at equal ends the one that leaves its end out is the tighter
        low = max(self, other, key=lambda b: (b.low, not b.includes_low))
        high = min(self, other, key=lambda b: (b.high, b.includes_high))
        return Bounds(low.low, high.high, low.includes_low, high.includes_high)

    def contains(self, x: float) -> bool:
        """Whether ``x`` is inside."""
        above = x >= self.low if self.includes_low else x > self.low
        below = x <= self.high if self.includes_high else x < self.high
        return above and below


@dataclass(frozen=True, slots=True)
class Interval:
    """A continuous or ordinal feature lies between bounds (codes, if ordinal)."""

    feature: Feature
    bounds: Bounds
    gap: bool = False

    @property
    def subject(self) -> tuple[Any, ...]:
        """What the condition is about; equal subjects merge."""
        return ("interval", self.feature.name)

    @property
    def is_gap_only(self) -> bool:
        """Whether only a gap satisfies it."""
        return self.gap and self.bounds.is_empty

    @property
    def is_trivial(self) -> bool:
        """Whether every row satisfies it."""
        return self.gap and self.bounds.is_unbounded

    def merge(self, other: Interval) -> Interval:
        """Both at once."""
        return Interval(self.feature, self.bounds.intersect(other.bounds), self.gap and other.gap)


@dataclass(frozen=True, slots=True)
class Members:
    """A feature is one of some categories.

    ``codes`` are those a node sends this way, ``excluded`` those it sends elsewhere. A code
    in neither was not seen at the node and counts as a gap there.
    """

    feature: Feature
    codes: tuple[int, ...]
    excluded: tuple[int, ...] = ()
    gap: bool = False

    @property
    def subject(self) -> tuple[Any, ...]:
        """What the condition is about; equal subjects merge."""
        return ("members", self.feature.name)

    @property
    def is_gap_only(self) -> bool:
        """Whether only a gap satisfies it."""
        return self.gap and not self.codes

    @property
    def is_trivial(self) -> bool:
        """Whether every row satisfies it."""
        return self.gap and not self.excluded

    def merge(self, other: Members) -> Members:
        """Both at once."""
        if self.gap and other.gap:
            excluded = {*self.excluded, *other.excluded}
            codes = {*self.codes, *other.codes} - excluded
            return Members(self.feature, tuple(sorted(codes)), tuple(sorted(excluded)), True)
        if self.gap:
            return other.merge(self)
        if other.gap:
            out = set(other.excluded)
            return Members(self.feature, tuple(c for c in self.codes if c not in out))
        both = set(other.codes)
        return Members(self.feature, tuple(c for c in self.codes if c in both))


@dataclass(frozen=True, slots=True)
class Linear:
    """A weighted sum lies between bounds; a term with a code counts where that is the category."""

    terms: tuple[tuple[Feature, float, int], ...]
    bounds: Bounds
    gap: bool = False

    @property
    def subject(self) -> tuple[Any, ...]:
        """What the condition is about; equal subjects merge."""
        return ("linear", *((feature.name, *rest) for feature, *rest in self.terms))

    @property
    def is_gap_only(self) -> bool:
        """Whether only a gap satisfies it."""
        return self.gap and self.bounds.is_empty

    @property
    def is_trivial(self) -> bool:
        """Whether every row satisfies it."""
        return self.gap and self.bounds.is_unbounded

    def merge(self, other: Linear) -> Linear:
        """Both at once."""
        return Linear(self.terms, self.bounds.intersect(other.bounds), self.gap and other.gap)


Condition = Interval | Members | Linear


def merge_conditions(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """One condition per subject, in the order in which subjects first came."""
    merged: dict[tuple[Any, ...], Any] = {}
    for condition in conditions:
        known = merged.get(condition.subject)
        merged[condition.subject] = condition if known is None else known.merge(condition)
    return tuple(condition for condition in merged.values() if not condition.is_trivial)


def branch_conditions(tree: Tree, node: int) -> list[Condition]:
    """The condition of each branch of ``node``; none at a leaf."""
    return _conditions(
        tree.splits, node, tree.schema.features, int(tree.n_children[node]), int(tree.default[node])
    )


def surrogate_conditions(tree: Tree, surrogate: int, n_branches: int) -> list[Condition]:
    """The condition of each branch of a surrogate split."""
    return _conditions(tree.surrogates, surrogate, tree.schema.features, n_branches, -2)


def _conditions(
    splits: Splits, i: int, features: tuple[Feature, ...], n_branches: int, default: int
) -> list[Condition]:
    kind = int(splits.kind[i])
    gap = [branch == default for branch in range(n_branches)]
    if kind == SplitKind.CODES:
        return _member_conditions(splits, i, features[splits.feature[i]], gap)
    if kind == SplitKind.BREAKS:
        feature = features[splits.feature[i]]
        bounds = _bounds(splits, i, n_branches)
        return [Interval(feature, b, g) for b, g in zip(bounds, gap, strict=True)]
    if kind == SplitKind.LINEAR:
        terms = tuple((features[f], weight, code) for f, weight, code in splits.node_terms(i))
        bounds = _bounds(splits, i, n_branches)
        return [Linear(terms, b, g) for b, g in zip(bounds, gap, strict=True)]
    return []


def _bounds(splits: Splits, i: int, n_branches: int) -> list[Bounds]:
    """Bounds of each branch; a branch beyond the breaks is for gaps alone and empty."""
    closed = bool(splits.closed[i])
    breaks = splits.node_breaks(i).tolist()
    ends = [-math.inf, *breaks, math.inf]
    bounds = [
        Bounds(low, high, not closed and low > -math.inf, closed and high < math.inf)
        for low, high in pairwise(ends)
    ]
    if splits.reversed[i]:
        bounds.reverse()
    nothing = Bounds(math.inf, math.inf)
    return [*bounds, *[nothing] * (n_branches - len(bounds))][:n_branches]


def _member_conditions(
    splits: Splits, i: int, feature: Feature, gap: list[bool]
) -> list[Condition]:
    codes = splits.node_codes(i).tolist()
    branches = splits.node_branches(i).tolist()
    here: list[list[int]] = [[] for _ in gap]
    for code, branch in zip(codes, branches, strict=True):
        here[branch].append(code)
    return [
        Members(
            feature,
            tuple(mine),
            tuple(c for c, b in zip(codes, branches, strict=True) if b != branch)
            if gap[branch]
            else (),
            gap[branch],
        )
        for branch, mine in enumerate(here)
    ]
