"""Twin of the boosted trees: sums of bins, the search of splits and the growth of one tree.

Nothing here is quick: every candidate looks at the rows of its node again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.twins.boosting_rows import whole_units

__all__ = ["Node", "Problem", "grow_tree", "leaves_of"]

Floats = NDArray[np.float64]
Range = tuple[float, float]
TIE = 1e-12


class Moments(NamedTuple):
    """Sums over rows, in the user's units."""

    gradient: float
    hessian: float
    n_rows: int


@dataclass(eq=False)
class Node:
    """A node of the twin's tree."""

    rows: NDArray[np.int64]
    depth: int = 0
    between: Range = (-np.inf, np.inf)
    above: tuple[int, ...] = ()
    value: float = 0.0
    gain: float = 0.0
    feature: int = -1
    left_bins: frozenset[int] = frozenset()
    gap_left: bool = False
    children: list[Node] = field(default_factory=list)


class Candidate(NamedTuple):
    """Bins that may go left, the side of gaps, and the l2 that judges them."""

    left: list[int]
    gap_left: bool
    l2: float


@dataclass(frozen=True, eq=False)
class Problem:
    """What trees are grown from: bins, sums of whole units, and parameters as the core has them."""

    bins: NDArray[np.uint8]  # a row for each feature
    n_bins: Sequence[int]
    nominal: Sequence[bool]
    gradient: NDArray[np.int64]
    hessian: NDArray[np.int64]
    count: NDArray[np.int64]
    units: tuple[float, float]
    params: Mapping[str, Any]

    def moments(self, rows: NDArray[Any]) -> Moments:
        return Moments(
            float(self.gradient[rows].sum()) * self.units[0],
            float(self.hessian[rows].sum()) * self.units[1],
            int(self.count[rows].sum()),
        )

    def value(self, m: Moments, between: Range, l2: float | None = None) -> float:
        """What a leaf predicts."""
        below = m.hessian + (self.params["l2"] if l2 is None else l2)
        g = float(np.sign(m.gradient)) * max(abs(m.gradient) - self.params["l1"], 0.0)
        v = -g / below if below > 0 else 0.0
        step = self.params["max_step"]
        v = min(max(v, -step), step) if step > 0 else v
        return min(max(v, between[0]), between[1])

    def worth(self, m: Moments, between: Range, l2: float) -> float:
        """What a leaf lowers the loss by."""
        if len(self.params["monotonic"]) or self.params["max_step"] > 0:
            v = self.value(m, between, l2)
            lost = m.gradient * v + 0.5 * (m.hessian + l2) * v * v + self.params["l1"] * abs(v)
            return -float(lost)
        g = max(abs(m.gradient) - self.params["l1"], 0.0)
        return float(0.5 * g * g / (m.hessian + l2)) if m.hessian + l2 > 0 else 0.0

    def is_allowed(self, m: Moments) -> bool:
        p = self.params
        return bool(m.n_rows >= p["min_rows"] and m.hessian >= p["min_hessian"])

    def sign(self, feature: int, test: Candidate) -> int:
        """How a constraint orders the sides of a test; known values and gaps have no order."""
        signs = self.params["monotonic"]
        if self.nominal[feature] or not len(signs) or test.left == [*range(self.n_bins[feature])]:
            return 0
        return int(signs[feature])

    def keeps_order(
        self, feature: int, test: Candidate, a: Moments, b: Moments, between: Range
    ) -> bool:
        sign = self.sign(feature, test)
        return sign == 0 or sign * (self.value(b, between) - self.value(a, between)) >= 0

    def may_join(self, feature: int, above: Sequence[int]) -> bool:
        """Whether interaction groups let a feature act below others."""
        groups = self.params["interactions"]
        if not groups:
            return True
        if any(feature in g and all(f in g for f in above) for g in groups):
            return True
        return all(f == feature for f in above) and not any(feature in g for g in groups)

    def candidates(self, rows: NDArray[np.int64], f: int) -> list[Candidate]:
        """Tests of a feature, in the order they are compared."""
        own, n, l2 = self.bins[f][rows], self.n_bins[f], self.params["l2"]
        seen = [int(b) for b in np.unique(own)]
        total = int(self.count[rows].sum())
        if not self.nominal[f]:
            found = []
            for cut in range(n - 1):
                below = list(range(cut + 1))
                if n in seen:
                    found += [Candidate([*below, n], True, l2), Candidate(below, False, l2)]
                else:
                    heavier = 2 * int(self.count[rows[own <= cut]].sum()) >= total
                    found.append(Candidate([*below, n] if heavier else below, heavier, l2))
            if n in seen:  # known values against gaps
                found.append(Candidate(list(range(n)), False, l2))
            return found
        rates = []
        for b in seen:
            m = self.moments(rows[own == b])
            rates.append(m.gradient / (m.hessian + self.params["nominal_smoothing"]))
        order = [seen[i] for i in np.argsort(rates, kind="stable")]
        l2 += self.params["nominal_l2"] if len(order) > 2 else 0.0
        found = []
        for i in range(len(order) - 1):
            below = order[: i + 1]
            n_left = int(self.count[rows[np.isin(own, below)]].sum())
            gap_left = n in below if n in seen else 2 * n_left >= total
            unseen = [b for b in range(n + 1) if b not in order] if gap_left else []
            found.append(Candidate([*below, *unseen], gap_left, l2))
        return found

    def has_rows(self, node: Node) -> bool:
        n_counted = int(self.count[node.rows].sum())
        return len(node.rows) > 1 and n_counted >= 2 * max(self.params["min_rows"], 1)

    def gain(self, node: Node, f: int, test: Candidate) -> float | None:
        """What a test gains at a node: None if it may not be, −∞ if it breaks a constraint."""
        goes = np.isin(self.bins[f][node.rows], test.left)
        a, b = self.moments(node.rows[goes]), self.moments(node.rows[~goes])
        if not (self.is_allowed(a) and self.is_allowed(b)):
            return None
        if not self.keeps_order(f, test, a, b, node.between):
            return -np.inf
        parent = self.worth(self.moments(node.rows), node.between, self.params["l2"])
        pair = self.worth(a, node.between, test.l2) + self.worth(b, node.between, test.l2)
        return pair - parent

    def divide(self, node: Node, f: int, test: Candidate) -> list[Node]:
        """Give a node its two children."""
        node.feature, node.gap_left = f, test.gap_left
        node.left_bins = frozenset(test.left)
        goes = np.isin(self.bins[f][node.rows], test.left)
        low, high = node.between
        left, right = (low, high), (low, high)
        sign = self.sign(f, test)
        if sign:
            a = self.value(self.moments(node.rows[goes]), node.between)
            b = self.value(self.moments(node.rows[~goes]), node.between)
            middle = a + (b - a) / 2
            left, right = ((low, middle), (middle, high))[::sign]
        above = (*node.above, f)
        node.children = [
            Node(node.rows[goes], node.depth + 1, left, above),
            Node(node.rows[~goes], node.depth + 1, right, above),
        ]
        return node.children


def _search(problem: Problem, node: Node) -> Candidate | None:
    """The best test of a node, whose gain and feature are noted."""
    p, best = problem.params, None
    node.gain = max(p["min_gain"], 0.0)
    if not problem.has_rows(node) or (p["max_depth"] and node.depth >= p["max_depth"]):
        return None
    for f in range(len(problem.bins)):
        if not problem.may_join(f, node.above):
            continue
        for test in problem.candidates(node.rows, f):
            gain = problem.gain(node, f, test)
            if gain is not None and gain > node.gain + TIE * abs(node.gain):
                node.gain, node.feature, best = gain, f, test
    return best


def _grow_leaves(problem: Problem, root: Node) -> None:
    """By leaf, or by depth."""
    p = problem.params
    tests: dict[int, Candidate | None] = {id(root): _search(problem, root)}
    open_nodes, n_leaves = [root], 1
    by_gain: Callable[[Node], float] = lambda node: node.gain  # noqa: E731
    while open_nodes and (not p["max_leaves"] or n_leaves < p["max_leaves"]):
        node = max(open_nodes, key=by_gain) if p["growth"] == "leaf" else open_nodes[0]
        open_nodes.remove(node)
        test = tests[id(node)]
        if test is None:
            continue
        n_leaves += 1
        for child in problem.divide(node, node.feature, test):
            tests[id(child)] = _search(problem, child)
            if tests[id(child)] is not None:
                open_nodes.append(child)


def _level_candidates(problem: Problem, rows: NDArray[np.int64], f: int) -> list[Candidate]:
    """Tests of a feature for all leaves of a level; where there are gaps, those left first."""
    tests = problem.candidates(rows, f)
    has_gaps = problem.n_bins[f] in problem.bins[f][rows]
    if has_gaps and not problem.nominal[f]:
        return sorted(tests, key=lambda test: not test.gap_left)
    return tests


def _grow_levels(problem: Problem, root: Node) -> None:
    """All leaves of a level by one test."""
    p = problem.params
    levels = p["max_depth"] or 62
    if p["max_leaves"]:
        levels = min(levels, int(p["max_leaves"]).bit_length() - 1)
    above: tuple[int, ...] = ()
    for _ in range(levels):
        leaves = [leaf for leaf in leaves_of(root) if problem.has_rows(leaf)]
        if not leaves:
            return
        rows = np.concatenate([leaf.rows for leaf in leaves])
        best, at, top = None, -1, max(p["min_gain"], 0.0)
        for f in range(len(problem.bins)):
            if not problem.may_join(f, above):
                continue
            for test in _level_candidates(problem, rows, f):
                gains = [problem.gain(leaf, f, test) for leaf in leaves]
                gain = float(sum(g for g in gains if g is not None))
                if gain > top + TIE * abs(top):
                    best, at, top = test, f, gain
        if best is None:
            return
        above = (*above, at)
        for leaf in leaves:
            if problem.gain(leaf, at, best) is not None:
                problem.divide(leaf, at, best)


def leaves_of(node: Node) -> list[Node]:
    """The leaves below a node, from the left."""
    if not node.children:
        return [node]
    return [leaf for child in node.children for leaf in leaves_of(child)]


def grow_tree(
    bins: NDArray[np.uint8],
    n_bins: Sequence[int],
    nominal: Sequence[bool],
    gradient: Floats,
    hessian: Floats,
    params: Mapping[str, Any],
    count: NDArray[np.int64] | None = None,
    key: int | None = None,
    rows: NDArray[np.int64] | None = None,
    is_narrow: bool = False,
) -> Node:
    """Grow one tree.

    Parameters
    ----------
    bins
        A row of bins for each feature.
    n_bins, nominal
        Bins of values of each feature (gaps have the next number), and which are nominal.
    gradient, hessian
        Of each row, weights included but for ``count``.
    params
        As the core takes them.
    count
        How often each row counts; None for once.
    key
        Of the tree; decides how coarse units are rounded. None for fine units.
    rows
        Those to grow from; None for all.
    is_narrow
        Whether hessians are equal, so that gradients share their bits with the number of rows.
    """
    n = len(gradient)
    count = np.ones(n, np.int64) if count is None else count
    units = whole_units(gradient, hessian, int(count.sum()), key, is_narrow)
    problem = Problem(
        bins,
        n_bins,
        nominal,
        units.gradient * count,
        units.hessian * count,
        count,
        units.unit,
        params,
    )
    root = Node(np.arange(n) if rows is None else rows)
    (_grow_levels if params["growth"] == "symmetric" else _grow_leaves)(problem, root)
    for leaf in leaves_of(root):
        leaf.value = problem.value(problem.moments(leaf.rows), leaf.between)
    return root
