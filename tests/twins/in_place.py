"""Growth of release 8 of C4.5 on rows with gaps; twin of ``core/quinlan/in_place``.

One list of rows is reordered in place, and all sums are in single precision in the order of that
list. Thresholds are the largest training values up to the midpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["InPlaceGrowth", "Node", "quicksort"]

F = np.float32
ZERO = F(0)
APART = 1e-5
EPSILON = 1e-3


@dataclass
class Node:
    """A node: class weights, rows, and its test with the branches where it has one."""

    value: list[np.float32]
    n_samples: int
    feature: int = -1
    threshold: float = np.nan
    branches: list[Node | None] = field(default_factory=list)


@dataclass(frozen=True)
class Score:
    """What a feature offers."""

    gain: np.float32
    split_info: np.float32
    threshold: float = np.nan


def quicksort(rows: list[int], key: NDArray[np.float32]) -> list[int]:
    """Rows by their keys: divided by the last, what equals it gathered at the end of the lower."""
    if len(rows) < 2:
        return rows
    rows, pivot, above = list(rows), key[rows[-1]], 0
    for i in range(len(rows)):
        if key[rows[i]] <= pivot:
            rows[above], rows[i] = rows[i], rows[above]
            above += 1
    equal = above
    for i in reversed(range(above)):
        if key[rows[i]] == pivot:
            equal -= 1
            rows[equal], rows[i] = rows[i], rows[equal]
    return quicksort(rows[:equal], key) + rows[equal:above] + quicksort(rows[above:], key)


def added(values: Sequence[np.float32] | NDArray[np.float32]) -> np.float32:
    """The sum in single precision, in the order given."""
    total = ZERO
    for value in values:
        total = F(total + value)
    return total


def term(x: np.float32 | float) -> float:
    """x · log2(x)."""
    return float(x) * float(np.log2(float(x))) if x > 0 else 0.0


def information(weights: Sequence[np.float32] | NDArray[np.float32]) -> np.float32:
    """Σ w · log2(Σ w) − Σ w · log2 w, the terms added in single precision."""
    terms = ZERO
    for weight in weights:
        terms = F(float(terms) + term(weight))
    return F(term(added(weights)) - float(terms))


class InPlaceGrowth:
    """Grows one tree; continuous columns are floats, coded ones int32 with −1 for a gap."""

    def __init__(
        self,
        columns: Sequence[NDArray[np.float64] | NDArray[np.int32]],
        n_categories: Sequence[int],
        y: NDArray[np.int32],
        n_classes: int,
        *,
        min_items: float = 2.0,
        ratio: bool = True,
    ) -> None:
        self.columns, self.n_categories = columns, n_categories
        self.y, self.n_classes = y, n_classes
        self.min_items, self.ratio = min_items, ratio
        self.keys = [np.asarray(c, np.float32) for c in columns]
        kinds = zip(columns, n_categories, strict=True)
        self.gap = [column < 0 if coded else np.isnan(column) for column, coded in kinds]
        self.rows = list(range(len(y)))
        self.weight = np.ones(len(y), np.float32)
        self.used: set[int] = set()

    def grow(self) -> Node:
        """The tree of all rows."""
        return self._node(0, len(self.rows))

    def _classes(self, rows: Sequence[int]) -> NDArray[np.float32]:
        counts = np.zeros(self.n_classes, np.float32)
        for row in rows:
            counts[self.y[row]] += self.weight[row]
        return counts

    def _sum(self, begin: int, end: int) -> np.float32:
        return added(self.weight[self.rows[begin:end]])

    def _bring(self, begin: int, end: int, goes_first: Callable[[int], Any]) -> int:
        place = begin
        for i in range(begin, end):
            if goes_first(self.rows[i]):
                self.rows[place], self.rows[i] = self.rows[i], self.rows[place]
                place += 1
        return place

    def _node(self, begin: int, end: int) -> Node:
        counts, cases = self._classes(self.rows[begin:end]), self._sum(begin, end)
        node = Node(list(counts), end - begin)
        if counts.max() == cases or cases < F(2 * self.min_items):
            return node
        scores: dict[int, Score] = {}
        for feature in range(len(self.columns)):
            if feature in self.used:
                continue
            score = self._branches if self.n_categories[feature] else self._cut
            found = score(feature, begin, end)
            if found is not None:
                scores[feature] = found
        winner = self._pick(scores)
        if winner >= 0:
            node.feature, node.threshold = winner, scores[winner].threshold
            self._divide(node, begin, end, cases)
        return node

    def _cut(self, feature: int, begin: int, end: int) -> Score | None:
        key, total = self.keys[feature], self._sum(begin, end)
        first = self._bring(begin, end, self.gap[feature].__getitem__)
        gaps = added(self._classes(self.rows[begin:first]))
        cases = F(total - gaps)
        least = self.min_items
        side = F(min(max(0.1 * float(cases) / self.n_classes, least), max(least, 25.0)))
        if not cases >= F(2) * side:
            return None
        self.rows[first:end] = quicksort(self.rows[first:end], key)
        known = self.rows[first:end]
        left, right = np.zeros(self.n_classes, np.float32), self._classes(known)
        base, share = F(information(right) / cases), _share(gaps, total)
        below, best, tries = ZERO, (ZERO, ZERO, -1), 0
        for i, row in enumerate(known[:-1]):
            weight = self.weight[row]
            below = F(below + weight)
            left[self.y[row]] += weight
            right[self.y[row]] -= weight
            if below < side or not float(key[row]) < float(key[known[i + 1]]) - APART:
                continue
            if F(cases - below) < side:
                break
            inside = F(F(information(left) + information(right)) / cases)
            gain = F(share * F(base - inside))
            tries += 1
            if tries == 1 or gain > best[0]:
                best = (gain, below, i)
        if not tries:
            return None
        gain, below, at = best
        gain = F(gain - F(np.log2(float(tries)) / float(total)))
        if not gain > 0:
            return None
        middle = F(0.5 * (float(key[known[at]]) + float(key[known[at + 1]])))
        threshold = float(self.columns[feature][key <= middle].max())
        return Score(gain, F(information([below, F(cases - below), gaps]) / total), threshold)

    def _branches(self, feature: int, begin: int, end: int) -> Score | None:
        codes, here = self.columns[feature], self.rows[begin:end]
        total = self._sum(begin, end)
        parts = [
            self._classes([row for row in here if codes[row] == code])
            for code in range(-1, self.n_categories[feature])
        ]
        gaps, items = added(parts[0]), [added(part) for part in parts[1:]]
        if sum(item >= F(self.min_items) for item in items) < 2:
            return None
        cases = F(total - gaps)
        known = np.array([added([p[k] for p in parts[1:]]) for k in range(self.n_classes)], F)
        inside = added([information(part) for part in parts[1:]])
        gain = F(_share(gaps, total) * F(F(information(known) / cases) - F(inside / cases)))
        return Score(gain, F(information([*items, gaps]) / total))

    def _pick(self, scores: dict[int, Score]) -> int:
        """The best of the tests of at least average gain; many values do not count there."""
        counted = [
            s.gain for f, s in scores.items() if self.n_categories[f] < 0.3 * len(self.y)
        ] or [s.gain for s in scores.values() if min(self.n_categories) >= 0.3 * len(self.y)]
        average = F(added(counted) / F(len(counted))) if counted else F(np.inf)
        least = F(float(average) - EPSILON)
        winner, most = -1, F(-EPSILON)
        for feature, score in scores.items():
            worth = score.gain if score.split_info > 0 else F(-EPSILON)
            if self.ratio:
                fair = score.gain >= least and score.split_info > EPSILON
                worth = F(score.gain / score.split_info) if fair else F(-EPSILON)
            if worth > most:
                winner, most = feature, worth
        return winner

    def _divide(self, node: Node, begin: int, end: int, cases: np.float32) -> None:
        feature, column = node.feature, self.columns[node.feature]
        gap = self.gap[feature]
        coded = self.n_categories[feature] > 0
        branch = column if coded else (column > node.threshold).astype(np.int32)
        if coded:
            self.used.add(feature)
        known = self._bring(begin, end, gap.__getitem__)
        weight = F(cases - self._sum(begin, known))
        for b in range(self.n_categories[feature] or 2):
            goes = branch == b
            stop = self._bring(known, end, goes.__getitem__)
            if stop == known:
                node.branches.append(None)
                continue
            share = F(self._sum(known, stop) / weight)
            self.weight[self.rows[begin:known]] *= share
            node.branches.append(self._node(begin, stop))
            self._bring(begin, stop, gap.__getitem__)
            self.weight[self.rows[begin:known]] /= share
        self.used.discard(feature)


def _share(gaps: np.float32, total: np.float32) -> np.float32:
    """Share of the cases whose value is known."""
    return F(F(1) - F(float(gaps) / float(total)))
