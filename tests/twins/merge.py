"""Twin of ``core/chaid/merge.cpp``: merging the categories of one predictor at one node.

Kass' steps 2 and 3, written as they read: every step tests all pairs anew.

References: Kass (1980), section 2; Biggs, de Ville and Suen (1991) for the exhaustive search.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tests.twins.measures import (
    TIE,
    Tested,
    compare_groups,
    is_closer,
    order_of,
    p_value,
    weight_of,
)

__all__ = ["Merger", "Rules", "merge_table"]

Floats = NDArray[np.float64]
Groups = list[list[int]]

MAX_DIVIDED = 10
MAX_RESPLITS = 100


@dataclass(frozen=True)
class Rules:
    """The arguments of the kernel, for one feature."""

    measure: str
    is_ordered: bool = False
    alpha_merge: float = 0.05
    alpha_resplit: float = -1.0
    least: float = 0.0
    stop_at: int = 2
    scores: tuple[float, ...] = ()


def merge_table(table: Floats, rules: Rules) -> tuple[list[int], Tested, dict[int, Tested]]:
    """Group of each row (−1 without weight), the test of the groups, and the tests on the way.

    The last row of ``table`` is the gap; the tests are known by the number of groups.
    """
    seen = np.flatnonzero(weight_of(rules.measure, table) > 0)
    labels = np.full(len(table), -1)
    labels[seen] = 0
    if len(seen) < 2:
        return labels.tolist(), (0.0, 0.0, 0.0), {}
    has_gap = bool(seen[-1] == len(table) - 1)
    merger = Merger(table[seen], rules, len(seen) - 1 if rules.is_ordered and has_gap else -1)
    path = {len(seen): merger.test()}
    merger.merge(path)
    for _ in range(MAX_RESPLITS if rules.alpha_resplit >= 0 else 0):
        if not merger.resplit():
            break
        merger.merge({})
    merger.join_small()
    for label, group in enumerate(merger.groups):
        labels[seen[group]] = label
    return labels.tolist(), merger.test(), path


class Merger:
    """Groups of categories, in the order of their first; ``gap`` floats if it is not −1."""

    def __init__(self, table: Floats, rules: Rules, gap: int) -> None:
        self.table, self.rules, self.gap = table, rules, gap
        self.scores = np.asarray(rules.scores)
        self.groups: Groups = [[k] for k in range(len(table))]

    def sums(self, groups: Groups) -> Floats:
        return np.array([self.table[group].sum(axis=0) for group in groups])

    def test(self, groups: Groups | None = None) -> Tested:
        sums = self.sums(self.groups if groups is None else groups)
        return compare_groups(self.rules.measure, sums, self.scores)

    def pairs(self) -> list[tuple[int, int]]:
        """Positions of the groups that may merge."""
        everyone = list(combinations(range(len(self.groups)), 2))
        if not self.rules.is_ordered:
            return everyone
        floats = self.groups[-1] == [self.gap]
        last = len(self.groups) - 1
        return [(i, j) for i, j in everyone if j == i + 1 or (floats and j == last)]

    def most_similar(self, pairs: list[tuple[int, int]]) -> tuple[float, int, int]:
        """The p-value of the most similar pair, the first of equal ones, and that pair."""
        tested = [self.test([self.groups[i], self.groups[j]]) for i, j in pairs]
        best = 0
        for k in range(1, len(pairs)):
            if is_closer(self.rules.measure, tested[k], tested[best]):
                best = k
        return p_value(self.rules.measure, tested[best]), *pairs[best]

    def join(self, i: int, j: int) -> None:
        self.groups[i] = sorted(self.groups[i] + self.groups.pop(j))

    def merge(self, path: dict[int, Tested]) -> None:
        while len(self.groups) > max(2, self.rules.stop_at):
            similarity, i, j = self.most_similar(self.pairs())
            if self.rules.alpha_merge >= 0 and similarity <= self.rules.alpha_merge:
                break
            self.join(i, j)
            path[len(self.groups)] = self.test()

    def join_small(self) -> None:
        while len(self.groups) > 1:
            weights = weight_of(self.rules.measure, self.sums(self.groups))
            small = int(weights.argmin())
            if weights[small] >= self.rules.least:
                break
            own = [pair for pair in self.pairs() if small in pair]
            own.sort(key=lambda pair: pair[0] + pair[1])  # by the other one
            self.join(*self.most_similar(own)[1:])

    def resplit(self) -> bool:
        """Divide the first group whose best division is significant."""
        for at, group in enumerate(self.groups):
            if len(group) < 3:
                continue
            best, best_test = None, (0.0, 0.0, 0.0)
            for part in self.divisions(group):
                rest = [k for k in group if k not in part]
                tested = self.test([rest, part])
                if best is None or tested[0] > best_test[0] * (1 + TIE):
                    best, best_test = [rest, part], tested
            assert best is not None
            if p_value(self.rules.measure, best_test) <= self.rules.alpha_resplit:
                self.groups = sorted(self.groups[:at] + self.groups[at + 1 :] + best)
                return True
        return False

    def divisions(self, group: list[int]) -> list[list[int]]:
        """Parts that may be taken out of a group."""
        n = len(group)
        if self.rules.is_ordered:
            known = [k for k in group if k != self.gap]
            cuts = [known[cut:] for cut in range(1, len(known))]
            if len(known) == n:
                return cuts
            return [*([*cut, self.gap] for cut in cuts), *cuts, [self.gap]]
        measure, width = self.rules.measure, self.table.shape[1]
        is_exact = measure == "f" or (measure != "row_effects" and width == 2)
        if not is_exact and n <= MAX_DIVIDED:
            return [
                [group[k] for k in range(n) if bits >> k & 1] for bits in range(1, 2 ** (n - 1))
            ]
        rank = np.argsort(order_of(measure, self.table[group], self.scores), kind="stable")
        return [sorted(group[k] for k in rank[cut:]) for cut in range(1, n)]
