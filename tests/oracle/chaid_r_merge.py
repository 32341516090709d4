"""How R's CHAID 0.1-2 merges categories, as it follows from the recorded runs.

It keeps the p-values of pairs in a triangle, a row for each group but the last and a column for
each but the first, and computes what is not there. When groups i < j merge, the new group takes
the place of i among the groups. In the triangle, however, row i and column j are taken out, and
row j and column i are computed anew. If j = i + 1 that is right. Otherwise the rows of the groups
from i to j - 1 hold the p-values of the groups that follow them, and a pair merges because
another one is alike. Of neighbours only, as in ordered predictors, j is always i + 1.

The other rules are that

- a pair of which one has no rows, or both lie in one class, has p = 1, and is never drawn,
- of equal p-values that with the smallest j, then the smallest i, counts,
- while a group is too small the pair with the largest p-value merges, however small that is,
- the predictor is given up if a group is too small in the end,
- a group of three or more is divided again just after it has been made.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.twins.measures import compare_groups, p_value
from tests.twins.merge import MAX_RESPLITS, Merger, Rules

__all__ = ["RMerger"]

Floats = NDArray[np.float64]


class RMerger(Merger):
    """R's groups of the levels of a factor, those without rows included.

    With ``is_tidy`` the rows of the triangle stay with their groups; all else is R's.
    """

    is_drawn = False
    has_divided = False

    def __init__(self, table: Floats, rules: Rules, *, is_tidy: bool = False) -> None:
        super().__init__(table, rules, -1)
        self.is_tidy = is_tidy
        self.triangle = self._empty()

    def run(self) -> RMerger:
        self._p(self.groups)
        for _ in range(len(self.table) + MAX_RESPLITS):
            if len(self.groups) <= 2 or not self._merge_once():
                break
        if self._smallest() < self.rules.least:
            self.groups = [list(range(len(self.table)))]
        self.groups = [group for group in self.groups if self.table[group].any()]
        self._p(self.groups)
        return self

    def _merge_once(self) -> bool:
        """Merge a pair, and divide its group again; whether to go on."""
        self._fill()
        # columns first; the largest p-value, the first of equal ones
        j, i = divmod(int(np.nanargmax(self.triangle.T)), len(self.triangle))
        similarity, j = self.triangle[i, j], j + 1
        if similarity <= self.rules.alpha_merge and self._smallest() >= self.rules.least:
            return False
        self.join(i, j)
        self._forget(i, j)
        is_last = len(self.groups) == 2
        self._divide(i)
        return not is_last

    def _empty(self) -> Floats:
        side = len(self.groups) - 1
        return np.full((side, side), np.nan)

    def _fill(self) -> None:
        for i, j in self.pairs():
            if np.isnan(self.triangle[i, j - 1]):
                self.triangle[i, j - 1] = self._p([self.groups[i], self.groups[j]])
        self.triangle[np.tril_indices(len(self.triangle), -1)] = np.nan

    def _forget(self, i: int, j: int) -> None:
        """Take the pair (i, j) out of the triangle."""
        if self.is_tidy:
            self.triangle = self._empty()
            return
        if j < len(self.triangle):
            self.triangle[j] = np.nan
        if i > 0:
            self.triangle[:, i - 1] = np.nan
        self.triangle = np.delete(np.delete(self.triangle, i, axis=0), j - 1, axis=1)

    def _divide(self, at: int) -> None:
        group = self.groups[at]
        if len(group) < 3 or self.rules.alpha_resplit < 0:
            return
        seen = [k for k in group if self.table[k].any()]
        parts = [[[k for k in group if k not in part], part] for part in self.divisions(seen)]
        similarities = [self._p(pair) for pair in parts]
        if min(similarities, default=1.0) <= self.rules.alpha_resplit:
            self.groups[at], part = parts[int(np.argmin(similarities))]
            self.groups.append(part)
            if self.rules.is_ordered:
                self.groups.sort()
            self.triangle = self._empty()
            self.has_divided = True

    def _smallest(self) -> float:
        return float(self.sums(self.groups).sum(axis=1).min())

    def _p(self, groups: list[list[int]]) -> float:
        sums = self.sums(groups)
        seen = sums[sums.any(axis=1)][:, sums.any(axis=0)]
        if min(seen.shape) < 2:
            return 1.0
        # R draws the p-value of a table of less than a hundred with a cell below ten
        self.is_drawn = self.is_drawn or bool(sums.sum() < 100 and sums.min() < 10)
        return p_value("pearson", compare_groups("pearson", seen, np.empty(0)))
