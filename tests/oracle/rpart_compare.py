"""A fitted tree beside a recorded rpart tree, node by node.

Two different splits are a tie only if their scores on the rows at hand, computed here from the
definition, agree to 1e-9 relative. Below a tie nothing is compared. Another column that makes
the very same partition ties by itself; the nodes below it are compared all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from tests.oracle.recorded import Recorded
from treewright import CARTClassifier, CARTRegressor
from treewright.data.encode import encode
from treewright.tree.predict import decision_path
from treewright.tree.split import GAP_STOP, SplitKind

TOLERANCE = 1e-9
"""Relative difference of two scores that makes them a tie."""

RPART = {
    "min_samples_split": 20,
    "min_samples_leaf": 7,
    "max_depth": 30,
    "cp": 0.01,
    "missing": "surrogate",
    "pruning_risk": "error",
}

GROWN_OUT = {
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "cp": 0.0,
    "max_surrogates": 0,
    "surrogate_fallback": "stop",
}

OPTIONS: dict[str, dict[str, Any]] = {
    "gini_default": {},
    "information_default": {"criterion": "entropy"},
    "gini_full": GROWN_OUT,
    "information_full": GROWN_OUT | {"criterion": "entropy"},
    "anova_default": {},
    "anova_cp001": {"cp": 0.001},
    "anova_full": GROWN_OUT,
    "loss_1_4": {"costs": [[0, 1], [4, 0]]},
    "loss_1_4_information": {"costs": [[0, 1], [4, 0]], "criterion": "entropy"},
    "loss3": {"costs": [[0, 1, 2], [3, 0, 1], [1, 5, 0]]},
    "prior_65_35": {"priors": [0.65, 0.35]},
    "prior_2_3_5": {"priors": [0.2, 0.3, 0.5]},
    "usesurrogate0": {"max_surrogates": 0, "surrogate_fallback": "stop"},
    "usesurrogate1": {"surrogate_fallback": "stop"},
    "surrogatestyle1": {"surrogate_style": "share"},
}
"""What the recorded runs differ in. Under ``usesurrogate0`` rpart lists surrogates that it does
not use, here there are none."""


@dataclass(frozen=True, eq=False)
class Case:
    """One recorded run of rpart."""

    data: Recorded
    key: str

    @property
    def run(self) -> dict[str, Any]:
        return self.data.runs[self.key]

    @property
    def classes(self) -> list[str]:
        return self.run["classes"] or []

    @cached_property
    def y(self) -> np.ndarray:
        """Numbers, or places in ``classes``: a tied label is the first, as in rpart."""
        if not self.classes:
            return self.data.y
        return self.codes(self.data.y)

    def codes(self, labels) -> np.ndarray:
        place = {label: i for i, label in enumerate(self.classes)}
        return np.array([place[label] for label in labels])

    def recorded(self, values) -> np.ndarray:
        """Recorded predictions in the terms of ``y``."""
        return self.codes(values) if self.classes else np.array(values)

    @property
    def parameters(self) -> dict[str, Any]:
        # rpart tries every subset; vowel has a nominal column of 15 categories and 11 classes.
        exhaustive = {"max_exhaustive": 15} if self.classes else {}
        return RPART | exhaustive | OPTIONS[self.key]

    @property
    def min_leaf(self) -> int:
        return self.parameters["min_samples_leaf"]

    @property
    def is_grown_out(self) -> bool:
        return self.key.endswith("_full")

    @cached_property
    def stops(self) -> bool:
        """Whether rows with a gap end at inner nodes."""
        return "surrogate_fallback" in OPTIONS[self.key] and bool(self.data.X.isna().any(axis=None))

    def estimator(self, **more: Any):
        make = CARTClassifier if self.classes else CARTRegressor
        return make(**self.parameters, **self.data.hints, **more)

    @property
    def bits(self) -> float:
        """rpart's unit of entropy in ours."""
        return float(np.log(2)) if "information" in self.key else 1.0

    @cached_property
    def factor(self) -> np.ndarray | None:
        """Of each class in the scores: altered priors over shares."""
        if not self.classes:
            return None
        count = np.bincount(self.y, minlength=len(self.classes))
        prior = np.array(self.parameters.get("priors", count / count.sum()))
        if "costs" in self.parameters:
            prior = prior * np.sum(self.parameters["costs"], axis=1)
        return prior / prior.sum() / (count / count.sum())


def cases(data: Recorded) -> Iterator[Case]:
    """All recorded runs on a data set."""
    return (Case(data, key) for key in data.runs)


class Score:
    """Impurity times weight by its definition, of sets of rows given by their statistics."""

    def __init__(self, case: Case) -> None:
        if case.factor is None:
            # Around the mean: the same variances, fewer lost digits.
            y = case.y - case.y.mean()
            self.rows = np.column_stack([np.ones(len(y)), y, y * y])
        else:
            self.rows = np.eye(len(case.factor))[case.y] * case.factor
        self._kind = "sse" if case.factor is None else "information" if case.bits != 1 else "gini"

    def impurity(self, total):
        """Of each row of ``total``, sums of ``rows``."""
        if self._kind == "sse":
            weight = np.maximum(total[..., 0], 1e-300)
            return total[..., 2] - total[..., 1] ** 2 / weight
        weight = np.maximum(total.sum(axis=-1), 1e-300)
        share = total / weight[..., None]
        if self._kind == "gini":
            return weight * (1 - np.square(share).sum(axis=-1))
        return -weight * (share * np.log(np.where(share > 0, share, 1))).sum(axis=-1)

    def gain(self, left, right):
        """Of two sets of statistics, or of arrays of them."""
        return self.impurity(left + right) - self.impurity(left) - self.impurity(right)

    def gain_of(self, rows, sides):
        """Of a partition of the rows with a side."""
        left, right = (self.rows[rows[sides == side]].sum(axis=0) for side in (0, 1))
        return float(self.gain(left, right))


def is_tie(a: float, b: float) -> bool:
    return abs(a - b) <= TOLERANCE * max(abs(a), abs(b))


@dataclass(frozen=True)
class Match:
    """A node of ours and the same node of rpart's."""

    ours: int
    record: dict[str, Any]
    rows: np.ndarray
    is_straight: bool = True
    is_same_column: bool = True


@dataclass
class Comparison:
    """What came of comparing two trees."""

    matches: list[Match] = field(default_factory=list)
    ties: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    tied_nodes: list[int] = field(default_factory=list)

    @property
    def is_same_columns(self) -> bool:
        return all(match.is_same_column for match in self.matches)


class Routes:
    """Rows and splits of a fitted tree, over a table."""

    def __init__(self, tree, X) -> None:
        self.tree = tree
        self.table = encode(X, schema=replace(tree.schema, target=None))
        self._path = decision_path(tree, self.table)
        self._rows = self._path.tocsc()

    def rows(self, node: int) -> np.ndarray:
        """Rows that visit a node."""
        start, stop = self._rows.indptr[node : node + 2]
        return np.sort(self._rows.indices[start:stop])

    def path(self, row: int) -> np.ndarray:
        """Nodes that a row visits, from the root."""
        start, stop = self._path.indptr[row : row + 2]
        return np.sort(self._path.indices[start:stop])

    def sides(self, node: int, rows) -> np.ndarray:
        """Branch of each row by the split of a node alone, −1 for a gap."""
        return self._sides(self.tree.splits, node, rows)

    def surrogate_sides(self, surrogate: int, rows) -> np.ndarray:
        return self._sides(self.tree.surrogates, surrogate, rows)

    def recorded_sides(self, split: dict[str, Any], rows) -> np.ndarray:
        """Branch of each row by a recorded split, −1 for a gap."""
        feature = self.table.schema.index(split["var"])
        values = self.table.columns[feature][rows]
        if split["type"] == "continuous":
            side = np.where((values < split["threshold"]) == (split["left"] == "<"), 0, 1)
            return np.where(np.isnan(values), -1, side)
        categories = [str(c) for c in self.table.schema.features[feature].categories]
        side = np.full(len(categories) + 1, -1)
        for branch, levels in enumerate((split["left_levels"], split["right_levels"])):
            side[[categories.index(level) for level in levels]] = branch
        return side[values]

    def _sides(self, splits, i, rows):
        feature = int(splits.feature[i])
        values = self.table.columns[feature][rows]
        if splits.kind[i] == SplitKind.BREAKS:
            side = (values >= splits.node_breaks(i)[0]) != splits.reversed[i]
            gap = values < 0 if values.dtype == np.int32 else np.isnan(values)
            return np.where(gap, -1, side.astype(int))
        side = np.full(len(self.table.schema.features[feature].categories) + 1, -1)
        side[splits.node_codes(i)] = splits.node_branches(i)
        return side[values]


def compare(tree, case: Case) -> Comparison:
    """Walk both trees from the root."""
    recorded = {node["id"]: node for node in case.run["nodes"]}
    where = np.array(case.run["where"])
    routes, score = Routes(tree, case.data.X), Score(case)
    out = Comparison()
    pending = [(0, 1)]
    while pending:
        ours, number = pending.pop()
        node, rows = recorded[number], routes.rows(ours)
        if not np.array_equal(rows, _rows_below(where, number)) or len(rows) != node["n"]:
            out.different.append(f"node {number}: {len(rows)} rows, rpart {node['n']}")
            continue
        is_leaf = bool(tree.first_child[ours] < 0)
        if is_leaf != node["leaf"]:
            out.different.append(f"node {number}: {'a leaf here' if is_leaf else 'a leaf there'}")
            continue
        if is_leaf:
            out.matches.append(Match(ours, node, rows))
            continue
        sides = routes.sides(ours, rows), routes.recorded_sides(node["primary"], rows)
        direction = _same_partition(*sides)
        if direction is None:
            gains = [score.gain_of(rows, side) for side in sides]
            name = tree.schema.names[tree.splits.feature[ours]]
            text = (
                f"node {number}: {name} {gains[0]!r}, rpart {node['primary']['var']} {gains[1]!r}"
            )
            (out.ties if is_tie(*gains) else out.different).append(text)
            out.tied_nodes.append(ours)
            continue
        column = tree.splits.feature[ours] == tree.schema.index(node["primary"]["var"])
        out.matches.append(Match(ours, node, rows, direction, bool(column)))
        first = int(tree.first_child[ours])
        left, right = (first, first + 1) if direction else (first + 1, first)
        pending += [(left, 2 * number), (right, 2 * number + 1)]
    return out


def _rows_below(where, number):
    """Rows that rpart left at a node or below it."""
    above = where.copy()
    while np.any(above > number):
        above = np.where(above > number, above // 2, above)
    return np.flatnonzero(above == number)


def _same_partition(ours, theirs):
    """True for the same sides, False for swapped ones, None for different partitions."""
    if np.array_equal(ours, theirs):
        return True
    if np.array_equal(_swapped(ours), theirs):
        return False
    return None


def _swapped(sides):
    return np.where(sides >= 0, 1 - sides, sides)


def node_differences(tree, case: Case, match: Match) -> list[str]:
    """Counts, label, risk and improvement of a node that are not rpart's."""
    node, i = match.record, match.ours
    total = len(case.y)
    pairs = {"dev": (tree.risk[i] * total, node["dev"])}
    if case.classes:
        pairs["counts"] = tree.value[i], node["counts"]
        pairs["prediction"] = tree.label[i], case.classes.index(node["prediction"])
        pairs["probs"] = tree.probability[i], node["probs"]
    else:
        pairs["prediction"] = tree.value[i, 0], node["prediction"]
    if not node["leaf"]:
        scale = case.bits if case.classes else 1 / node["dev"]
        pairs["improve"] = tree.gain[i] * total * scale, node["primary"]["improve_or_agree"]
    size = case.run["nodes"][0]["dev"]
    return [
        f"node {node['id']}: {name} {ours}, rpart {theirs}"
        for name, (ours, theirs) in pairs.items()
        if not np.allclose(ours, theirs, rtol=1e-9, atol=1e-12 * size if name == "dev" else 1e-12)
    ]


def surrogate_differences(routes: Routes, match: Match) -> list[str]:
    """How the surrogates of a node differ from rpart's: their order, sides, and use."""
    tree, start = routes.tree, routes.tree.surrogate_offset
    ours = range(start[match.ours], start[match.ours + 1])
    theirs = match.record["surrogates"]
    where = f"node {match.record['id']}"
    names = [tree.schema.names[tree.surrogates.feature[k]] for k in ours]
    if names != [s["var"] for s in theirs]:
        return [f"{where}: {names}, rpart {[s['var'] for s in theirs]}"]
    undecided = routes.sides(match.ours, match.rows) < 0
    out = []
    for k, s in zip(ours, theirs, strict=True):
        sides = routes.surrogate_sides(k, match.rows)
        expected = routes.recorded_sides(s, match.rows)
        expected = expected if match.is_straight else _swapped(expected)
        numbers = tree.surrogate_agreement[k], tree.surrogate_adjusted[k]
        if not np.allclose(numbers, (s["improve_or_agree"], s["adj"]), rtol=0, atol=1e-9):
            out.append(f"{where} {s['var']}: {numbers}, rpart {s['improve_or_agree'], s['adj']}")
        if not np.array_equal(sides, expected):
            out.append(f"{where} {s['var']}: other sides")
        n_decided = np.count_nonzero(undecided & (sides >= 0))
        if n_decided != s["n"]:
            out.append(f"{where} {s['var']}: decides {n_decided}, rpart {s['n']}")
        undecided &= sides < 0
    return out


def as_rpart_predicts(model):
    """The model with a gap that no surrogate decides sent to the larger child.

    rpart's ``predict`` does so, and stays at the node if both are of one size. In training it
    sent the row where most rows with a value went, or left it at the node.
    """
    tree = model.tree_
    inner = np.flatnonzero(tree.first_child >= 0)
    left = tree.first_child[inner]
    sizes = tree.n_samples[left], tree.n_samples[left + 1]
    default = tree.default.copy()
    default[inner] = np.where(sizes[0] == sizes[1], GAP_STOP, sizes[1] > sizes[0])
    model.tree_ = replace(tree, default=default)
    return model


def importance_of(case: Case, comparison: Comparison, names: list[str]) -> np.ndarray:
    """rpart's importances; without surrogates where we have none and rpart lists some."""
    if case.key != "usesurrogate0":
        recorded = case.run["variable_importance"] or {}
        return np.array([recorded.get(name, 0.0) for name in names])
    total = dict.fromkeys(names, 0.0)
    for node in (match.record for match in comparison.matches):
        if not node["leaf"]:
            scale = 1.0 if case.classes else node["dev"]
            total[node["primary"]["var"]] += node["primary"]["improve_or_agree"] * scale
    return np.array(list(total.values()))


def cp_rows(case: Case) -> dict[str, np.ndarray]:
    """Columns of the recorded cp table.

    rpart merges complexities only if they are equal to the last bit, which those of repeated
    squared errors are not; of such rows the first is the subtree.
    """
    rows = case.run["cptable"]
    kept = [row for i, row in enumerate(rows) if i == 0 or rows[i - 1]["CP"] - row["CP"] > 1e-12]
    return {name: np.array([row[name] for row in kept]) for name in rows[0]}
