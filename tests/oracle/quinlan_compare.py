"""Comparing our trees with recorded trees of C4.5 and J48, node by node.

Where a test differs, both are scored by the definition in double precision: a tie is shown, not
taken for granted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.twins.quinlan import Test, information
from treewright.data.table import Table
from treewright.tree.tree import Tree

TIE = 1e-6
"""Gain ratios that differ by less are equal in single precision."""


@dataclass(frozen=True)
class Difference:
    """Where two trees part: node of ours, the recorded node, and what differs in words."""

    node: int
    theirs: dict[str, Any]
    what: str


def differences(
    tree: Tree, recorded: dict[str, Any], classes: list[str], tolerance: float
) -> Iterator[Difference]:
    """Every node where the trees part, nearest the root first; what is below is not compared."""
    pending = deque([(0, recorded)])
    while pending:
        node, theirs = pending.popleft()
        # C4.5 gives an empty branch the counts of its parent, but no items.
        counts = np.array(theirs["counts"]) * (theirs.get("items", 1.0) > 0)
        label = theirs.get("class", theirs.get("majority"))
        if not np.allclose(tree.value[node], counts, rtol=tolerance, atol=tolerance):
            yield Difference(node, theirs, f"counts {tree.value[node]} against {counts}")
        elif classes[tree.label[node]] != label and not is_tied_label(theirs["counts"], tolerance):
            yield Difference(node, theirs, f"class {classes[tree.label[node]]} against {label}")
        elif not same_test(tree, node, theirs):
            yield Difference(node, theirs, f"{our_test(tree, node)} against {their_test(theirs)}")
        else:
            branches = theirs.get("branches", [])
            children = list(tree.children(node))[: len(branches)]
            pending.extend(zip(children, (b["child"] for b in branches), strict=True))


def is_tied_label(counts: Sequence[float], tolerance: float) -> bool:
    """Whether two classes share the largest count: the label is then a matter of order."""
    second, largest = np.sort(counts)[-2:]
    return largest - second <= tolerance * (1 + largest)


def same_test(tree: Tree, node: int, theirs: dict[str, Any]) -> bool:
    """Whether two nodes have one test, or none.

    C4.5 takes categories that no row can have any more out of the groups of a pruned tree; with us
    they share the last branch, which is empty.
    """
    ours, other = our_test(tree, node), their_test(theirs)
    if ours == other:
        return True
    is_grouped = any("values" in branch for branch in theirs.get("branches", []))
    if tree.is_leaf[node] or not is_grouped or tree.weight[tree.children(node)[-1]] > 0:
        return False
    return ours.rsplit(", [", 1)[0] + "]" == other


def our_test(tree: Tree, node: int) -> str:
    """The test of a node of ours as one short text."""
    if tree.is_leaf[node]:
        return "a leaf"
    name = tree.schema.features[tree.splits.feature[node]].name
    breaks = tree.splits.node_breaks(node)
    if len(breaks):
        return f"{name} <= {np.float32(breaks[0]):.6g}"
    groups: dict[int, list[str]] = {}
    categories = tree.schema.features[tree.splits.feature[node]].categories
    pairs = zip(tree.splits.node_codes(node), tree.splits.node_branches(node), strict=True)
    for code, branch in pairs:
        groups.setdefault(int(branch), []).append(str(categories[code]))
    return f"{name} in {[sorted(groups[b]) for b in sorted(groups)]}"


def their_test(node: dict[str, Any]) -> str:
    """The test of a recorded node in the same words."""
    if node["leaf"]:
        return "a leaf"
    cut = node.get("cut", node.get("split_point"))
    if cut is not None:
        return f"{node['attribute']} <= {np.float32(cut):.6g}"
    return f"{node['attribute']} in {[sorted(_values(branch)) for branch in node['branches']]}"


def _values(branch: dict[str, Any]) -> list[str]:
    if "values" in branch:
        return branch["values"]
    return [branch["value"] if "value" in branch else branch["test"].split(" = ", 1)[1]]


def branches_by_ours(tree: Tree, node: int, table: Table) -> np.ndarray:
    """Branch of every row at a node of ours, −1 for a gap."""
    column = np.asarray(table.columns[tree.splits.feature[node]])
    breaks = tree.splits.node_breaks(node)
    if len(breaks):
        return np.where(np.isnan(column), -1, column > breaks[0]).astype(int)
    branch = np.full(column.max() + 2, -1)  # the last one is for gaps
    codes = tree.splits.node_codes(node)
    seen = codes <= column.max()
    branch[codes[seen]] = tree.splits.node_branches(node)[seen]
    return branch[column]


def branches_by_theirs(theirs: dict[str, Any], table: Table) -> np.ndarray:
    """The same at a recorded node."""
    column = np.asarray(table.columns[table.schema.index(theirs["attribute"])])
    cut = theirs.get("cut", theirs.get("split_point"))
    if cut is not None:
        return np.where(np.isnan(column), -1, np.float32(column) > np.float32(cut)).astype(int)
    categories = table.schema.features[table.schema.index(theirs["attribute"])].categories
    of = {v: b for b, branch in enumerate(theirs["branches"]) for v in _values(branch)}
    return np.array([of.get(str(c), -1) for c in categories] + [-1])[column]


def weights_at(tree: Tree, node: int, table: Table) -> np.ndarray:
    """Share of every row that reaches a node of ours."""
    way = []
    while node:
        parent = int(tree.parent[node])
        way.append((parent, node - int(tree.first_child[parent])))
        node = parent
    weight = np.ones(table.n_rows)
    for parent, taken in reversed(way):
        branch = branches_by_ours(tree, parent, table)
        share = weight[branch == taken].sum() / weight[branch >= 0].sum()
        weight = weight * np.where(branch == taken, 1.0, np.where(branch < 0, share, 0.0))
    return weight


@dataclass(frozen=True, eq=False)
class NodeRows:
    """The rows of a node of ours, with the shares of them that reach it."""

    table: Table
    y: np.ndarray
    weight: np.ndarray
    n_classes: int
    min_items: float

    @classmethod
    def at(
        cls, tree: Tree, node: int, table: Table, y: np.ndarray, n_classes: int, min_items: float
    ) -> NodeRows:
        """Rows of a node."""
        weight = weights_at(tree, node, table)
        here = np.flatnonzero(weight > 0)
        return cls(table.take(here), y[here], weight[here], n_classes, min_items)

    def score(self, feature: str, branch: np.ndarray) -> Test:
        """A test by the definition: ``branch`` of each row, −1 for a gap."""
        known = branch >= 0
        everything = self.weight.sum()
        parts = [self._classes(branch == b) for b in np.unique(branch[known])]
        gain = (information(self._classes(known)) - sum(map(information, parts))) / everything
        items = np.array([*(part.sum() for part in parts), self.weight[~known].sum()])
        return Test(gain - self._charge(feature), information(items) / everything)

    def _classes(self, rows: np.ndarray) -> np.ndarray:
        return np.bincount(self.y[rows], self.weight[rows], self.n_classes)

    def _charge(self, feature: str) -> float:
        """What a cut of a feature is charged: the logarithm of the cuts tried."""
        column = np.asarray(self.table.columns[self.table.schema.index(feature)])
        if column.dtype.kind != "f":
            return 0.0
        return np.log2(max(len(self._admissible(column)), 1)) / self.weight.sum()

    def _sides(self, column: np.ndarray) -> np.ndarray:
        """Weight below each cut of a continuous feature, and above it."""
        known = ~np.isnan(column)
        values, place = np.unique(column[known], return_inverse=True)
        below = np.cumsum(np.bincount(place, self.weight[known], len(values)))
        return np.column_stack([below, below[-1] - below])[:-1] if len(values) else np.empty((0, 2))

    def _admissible(self, column: np.ndarray) -> np.ndarray:
        sides = self._sides(column)
        least = 0.1 * self.weight[~np.isnan(column)].sum() / self.n_classes
        least = min(max(least, self.min_items), max(self.min_items, 25.0))
        return sides[np.all(sides >= least - 1e-9, axis=1)]

    def is_on_the_edge(self, feature: str) -> bool:
        """Whether a branch of some test of a feature weighs the least weight, made of fractions.

        Then the last bit of a single-precision sum decides whether the test is allowed.
        """
        if np.all(self.weight == np.round(self.weight)):
            return False
        column = np.asarray(self.table.columns[self.table.schema.index(feature)])
        weights = (
            self._sides(column)
            if column.dtype.kind == "f"
            else np.bincount(column[column >= 0], self.weight[column >= 0])
        )
        return bool(np.any(np.abs(weights - self.min_items) < TIE))
