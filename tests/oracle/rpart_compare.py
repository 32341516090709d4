"""A grown tree beside a recorded rpart tree, node by node.

Two different splits are a tie only if their scores on the rows at hand, computed here from the
definition, agree to 1e-9 relative.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from treewright.tree.split import SplitKind

RPART = {
    "min_samples_split": 20,
    "min_samples_leaf": 7,
    "max_depth": 30,
    "cp": 0.01,
    "missing": "surrogate",
    "pruning_risk": "error",
}


def rpart_parameters(name: str, n_classes: int) -> dict:
    """Our parameters for a recorded run."""
    parameters = dict(RPART)
    if name.endswith("_full"):
        parameters |= {"min_samples_split": 2, "min_samples_leaf": 1, "cp": 0.0}
        parameters |= {"max_surrogates": 0, "surrogate_fallback": "stop"}
    if name.endswith("cp001"):
        parameters["cp"] = 0.001
    if "information" in name:
        parameters["criterion"] = "entropy"
    if name.startswith("loss_1_4"):
        parameters["costs"] = np.array([[0.0, 1.0], [4.0, 0.0]])
    if name == "loss3":
        parameters["costs"] = np.array([[0.0, 1, 2], [3, 0, 1], [1, 5, 0]])
    if name == "prior_65_35":
        parameters["priors"] = [0.65, 0.35]
    if name == "prior_2_3_5":
        parameters["priors"] = [0.2, 0.3, 0.5]
    if name == "usesurrogate0":
        parameters |= {"max_surrogates": 0, "surrogate_fallback": "stop"}
    if name == "usesurrogate1":
        parameters["surrogate_fallback"] = "stop"
    if name == "surrogatestyle1":
        parameters["surrogate_style"] = "share"
    if n_classes:
        parameters["max_exhaustive"] = 16
    return parameters


@dataclass
class Comparison:
    """What came of comparing two trees."""

    equal: int = 0
    ties: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)


class Scores:
    """Improvement of a partition by its definition, for classes under factors or for numbers."""

    def __init__(self, y, factor=None, entropy=False):
        self.y, self.factor, self.entropy = y, factor, entropy

    def side(self, rows):
        if self.factor is None:
            return 0.0 if not len(rows) else -float(np.square(self.y[rows] - self.y[rows].mean()).sum())
        x = np.bincount(self.y[rows], minlength=len(self.factor)) * self.factor
        total = x.sum()
        if total <= 0:
            return 0.0
        p = x[x > 0] / total
        return total * float((p * np.log(p)).sum() if self.entropy else np.square(p).sum() - 1)

    def gain(self, left, right):
        return self.side(left) + self.side(right) - self.side(np.concatenate([left, right]))


def compare(tree, table, rows_of, run, scores) -> Comparison:
    """Walk both trees from the root."""
    recorded = {node["id"]: node for node in run["nodes"]}
    out = Comparison()
    pending = [(0, 1)]
    while pending:
        ours, number = pending.pop()
        node = recorded[number]
        is_leaf = tree.first_child[ours] < 0
        where = f"node {number}"
        if tree.n_samples[ours] != node["n"]:
            out.different.append(f"{where}: {tree.n_samples[ours]} rows, rpart {node['n']}")
            continue
        if is_leaf or node["leaf"]:
            if is_leaf != node["leaf"]:
                what = "leaf here" if is_leaf else "leaf there"
                out.different.append(f"{where}: {what}, n {node['n']}, {node.get('primary')}")
            else:
                out.equal += 1
            continue
        rows = rows_of(ours)
        our_sides = _our_sides(tree, table, ours, rows)
        their_sides = _their_sides(table, node["primary"], rows)
        direction = _same_partition(our_sides, their_sides)
        if direction is None:
            gains = [scores.gain(*(rows[s == side] for side in (0, 1))) for s in (our_sides, their_sides)]
            text = (
                f"{where}: n {node['n']} ours {tree.schema.names[tree.splits.feature[ours]]} "
                f"{gains[0]!r}, rpart {node['primary']['var']} {gains[1]!r}"
            )
            is_tie = abs(gains[0] - gains[1]) <= 1e-9 * max(abs(gains[0]), abs(gains[1]))
            (out.ties if is_tie else out.different).append(text)
            continue
        out.equal += 1
        first = int(tree.first_child[ours])
        left, right = (first, first + 1) if direction else (first + 1, first)
        pending += [(left, 2 * number), (right, 2 * number + 1)]
    return out


def _our_sides(tree, table, node, rows):
    """Branch of each row by the primary split alone, −1 for a gap."""
    feature = int(tree.splits.feature[node])
    values = table.columns[feature][rows]
    if tree.splits.kind[node] == SplitKind.BREAKS:
        threshold = tree.splits.node_breaks(node)[0]
        side = np.where(values < threshold, 0, 1)
        gap = values < 0 if values.dtype == np.int32 else np.isnan(values)
        return np.where(gap, -1, side)
    side = np.full(len(table.schema.features[feature].categories) + 1, -1)
    side[tree.splits.node_codes(node)] = tree.splits.node_branches(node)
    return side[values]


def _their_sides(table, primary, rows):
    """Branch of each row by a recorded split, −1 for a gap."""
    feature = table.schema.index(primary["var"])
    values = table.columns[feature][rows]
    if primary["type"] == "continuous":
        below = values < primary["threshold"]
        side = np.where(below == (primary["left"] == "<"), 0, 1)
        return np.where(np.isnan(values), -1, side)
    categories = [str(c) for c in table.schema.features[feature].categories]
    side = np.full(len(categories) + 1, -1)
    for branch, levels in enumerate((primary["left_levels"], primary["right_levels"])):
        side[[categories.index(level) for level in levels]] = branch
    return side[values]


def _same_partition(ours, theirs):
    """True for the same sides, False for swapped ones, None for different partitions."""
    if np.array_equal(ours, theirs):
        return True
    if np.array_equal(np.where(ours >= 0, 1 - ours, ours), theirs):
        return False
    return None
