"""Recorded runs of partykit's ctree beside our trees, node by node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.oracle.recorded import Recorded
from treewright import CTreeClassifier, CTreeRegressor
from treewright.tree.split import SplitKind
from treewright.tree.tree import Tree

OPTIONS: dict[str, dict[str, Any]] = {
    "quad_bonferroni": {},
    "quad_univariate": {"adjust": "univariate"},
    "max_bonferroni": {"test_statistic": "maximum"},
    "quad_bonferroni_alpha20": {"alpha": 0.2, "min_samples_split": 10, "min_samples_leaf": 5},
    "teststat_none": {"adjust": None},
    "quad_montecarlo": {"adjust": "monte_carlo", "random_state": 0},
    "maxsurrogate3": {"missing": "surrogate", "max_surrogates": 3},
    "majority": {"missing": "majority"},
    "multiway": {"nominal_split": "multiway"},
}
"""Parameters that ask for what each recorded run did."""


@dataclass(frozen=True, eq=False)
class Case:
    """One recorded run."""

    data: Recorded
    key: str

    @property
    def run(self) -> dict[str, Any]:
        return self.data.runs[self.key]

    @property
    def is_classification(self) -> bool:
        return self.data.y.dtype != float

    @property
    def is_free_of_chance(self) -> bool:
        """Whether no gap was sent at random; Monte-Carlo p-values are another matter."""
        return self.key in ("majority", "maxsurrogate3") or not self.data.X.isna().any(axis=None)

    def estimator(self) -> Any:
        make = CTreeClassifier if self.is_classification else CTreeRegressor
        return make(**OPTIONS[self.key], **self.data.hints)

    def fit(self) -> Any:
        return self.estimator().fit(self.data.X, self.data.y)


@dataclass
class Comparison:
    """What differs, node by node; ``n_nodes`` and ``n_tests`` were found equal."""

    differences: list[str] = field(default_factory=list)
    n_nodes: int = 0
    n_tests: int = 0

    def check(self, holds: bool, what: str) -> bool:
        if not holds:
            self.differences.append(what)
        return holds


def compare(tree: Tree, run: dict[str, Any], *, p_values: bool = True) -> Comparison:
    """Walk both trees at once, down to the first difference on each way."""
    found = Comparison()
    recorded = {node["id"]: node for node in run["nodes"]}
    stack = [(recorded[1], 0)]
    while stack:
        record, node = stack.pop()
        if not _same_node(tree, record, node, found, p_values):
            continue
        found.n_nodes += 1
        children = record.get("children") or []
        stack.extend(zip((recorded[i] for i in children), tree.children(node), strict=True))
    return found


def _same_node(
    tree: Tree, record: dict[str, Any], node: int, found: Comparison, p_values: bool
) -> bool:
    where = f"node {record['id']}"
    if not found.check(record["n"] == tree.n_samples[node], f"{where}: n {tree.n_samples[node]}"):
        return False
    for what in _test_differences(tree, record, node, p_values):
        found.check(False, f"{where}: {what}")
    found.n_tests += len(record.get("tests") or [])
    if not found.check(record["leaf"] == bool(tree.is_leaf[node]), f"{where}: leaf"):
        return False
    if record["leaf"]:
        return True
    ours, theirs = split_of(tree, node), recorded_split(record["split"])
    if len(record["children"]) > 2:  # only the first two branches are recorded by name
        if not found.check(len(ours) - 1 == len(record["children"]), f"{where}: {ours}"):
            return False
        ours = ours[:3]
    return found.check(ours == theirs, f"{where}: {ours} is not {theirs}")


def _test_differences(
    tree: Tree, record: dict[str, Any], node: int, p_values: bool
) -> Iterator[str]:
    at = tree.tests.node == node if tree.tests is not None else np.zeros(0, bool)
    names = tree.schema.names
    ours = {names[tree.tests.feature[i]]: i for i in np.flatnonzero(at)}
    theirs = {test["var"]: test for test in record.get("tests") or []}
    if ours.keys() != theirs.keys():
        # a node that cannot be split is not tested here; partykit tests some of them
        yield f"tested {sorted(ours)} and not {sorted(theirs)}"
        return
    for name, test in theirs.items():
        statistic = tree.tests.statistic[ours[name]]
        if not np.isclose(statistic, test["statistic"], rtol=1e-6, atol=1e-9):
            yield f"{name}: {statistic} is not {test['statistic']}"
        p = test["p_value_adjusted"]
        if p_values and p is not None:
            log_p = tree.tests.log_adjusted_p[ours[name]]
            close = np.isclose(np.exp(log_p), p, rtol=1e-6, atol=1e-12)
            close &= p == 0 or np.isclose(log_p, np.log(p), rtol=1e-6, atol=1e-6)
            if not close:
                yield f"{name}: p {np.exp(log_p)} is not {p}"


def split_of(tree: Tree, node: int) -> tuple[Any, ...]:
    """Our split as (name, threshold) or (name, categories of each branch)."""
    splits, feature = tree.splits, tree.schema.features[tree.splits.feature[node]]
    if splits.kind[node] == SplitKind.BREAKS:
        value = float(splits.node_breaks(node)[0])
        return feature.name, float(np.float32(value)) if feature.kind == "continuous" else value
    start, stop = splits.code_offset[node : node + 2]
    sides: list[list[Any]] = [[] for _ in tree.children(node)]
    for code, branch in zip(splits.codes[start:stop], splits.branches[start:stop], strict=True):
        sides[branch].append(feature.categories[code])
    return feature.name, *map(tuple, sides)


def recorded_split(split: dict[str, Any]) -> tuple[Any, ...]:
    """A recorded split in the same form; thresholds of ordinal ones count levels from 1."""
    if split["type"] == "nominal":
        return split["var"], tuple(split["left_levels"]), tuple(split["right_levels"])
    if split["type"] == "ordinal":
        return split["var"], split["threshold"] - 1.0
    return split["var"], float(np.float32(split["threshold"]))
