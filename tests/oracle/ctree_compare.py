"""Recorded runs of partykit's ctree beside our trees, node by node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tests.oracle.recorded import Recorded
from treewright import CTreeClassifier, CTreeRegressor
from treewright.data.encode import encode
from treewright.data.schema import Feature
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

INTEGRATION_ERROR = 1e-3
"""partykit's own error of the distribution of a multivariate maximum (mvtnorm's default)."""


@dataclass(frozen=True, eq=False)
class Case:
    """One recorded run."""

    data: Recorded
    key: str

    @property
    def run(self) -> dict[str, Any]:
        return self.data.runs[self.key]

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        return encode(self.data.X, **self.data.hints).schema.features

    @property
    def is_classification(self) -> bool:
        return self.data.y.dtype != float

    @property
    def is_routed_by_chance(self) -> bool:
        """Whether gaps went to a side at random."""
        has_gaps = bool(self.data.X.isna().any(axis=None))
        return has_gaps and self.key not in ("majority", "maxsurrogate3")

    def estimator(self) -> Any:
        make = CTreeClassifier if self.is_classification else CTreeRegressor
        return make(**OPTIONS[self.key], **self.data.hints)

    def fit(self) -> Any:
        return self.estimator().fit(self.data.X, self.data.y)


@dataclass(frozen=True)
class TestPair:
    """One test in both trees: p-values are adjusted ones."""

    __test__ = False

    where: str
    n_tests: int
    statistic: float
    log_p: float
    recorded_statistic: float
    recorded_p: float | None


@dataclass
class Comparison:
    """Differences of structure, and the pairs of tests at nodes that both trees have."""

    differences: list[str] = field(default_factory=list)
    pairs: list[TestPair] = field(default_factory=list)
    n_nodes: int = 0

    def check(self, holds: bool, what: str) -> bool:
        if not holds:
            self.differences.append(what)
        return holds


def compare(tree: Tree, run: dict[str, Any], *, root_only: bool = False) -> Comparison:
    """Walk both trees at once, down to the first difference on each way."""
    found = Comparison()
    recorded = {node["id"]: node for node in run["nodes"]}
    stack = [(recorded[1], 0)]
    while stack:
        record, node = stack.pop()
        if not _same_rows_and_tests(tree, record, node, found) or root_only:
            continue
        if _same_split(tree, record, node, found):
            found.n_nodes += 1
            children = record.get("children") or []
            stack.extend(zip((recorded[i] for i in children), tree.children(node), strict=True))
    return found


def _same_rows_and_tests(tree: Tree, record: dict[str, Any], node: int, found: Comparison) -> bool:
    where = f"node {record['id']}"
    if not found.check(record["n"] == tree.n_samples[node], f"{where}: n {tree.n_samples[node]}"):
        return False
    ours = our_tests(tree, node)
    theirs = {test["var"]: test for test in record.get("tests") or []}
    if not found.check(ours.keys() == theirs.keys(), f"{where}: tested {sorted(ours)}"):
        return False
    found.pairs.extend(
        TestPair(
            f"{where}, {name}",
            len(theirs),
            *ours[name],
            test["statistic"],
            test["p_value_adjusted"],
        )
        for name, test in theirs.items()
    )
    return True


def our_tests(tree: Tree, node: int) -> dict[str, tuple[float, float]]:
    """Statistic and log of the adjusted p-value by feature."""
    if tree.tests is None:
        return {}
    return {
        tree.schema.names[tree.tests.feature[i]]: (
            float(tree.tests.statistic[i]),
            float(tree.tests.log_adjusted_p[i]),
        )
        for i in np.flatnonzero(tree.tests.node == node)
    }


def _same_split(tree: Tree, record: dict[str, Any], node: int, found: Comparison) -> bool:
    where = f"node {record['id']}"
    if not found.check(record["leaf"] == bool(tree.is_leaf[node]), f"{where}: leaf"):
        return False
    if record["leaf"]:
        return True
    ours, theirs = split_of(tree, node), recorded_split(record["split"])
    n_branches = len(record["children"])
    if n_branches > 2:  # only the first two branches are recorded by name
        if not found.check(tree.n_children[node] == n_branches, f"{where}: {ours}"):
            return False
        ours = ours[:3]
    return found.check(ours == theirs, f"{where}: {ours} is not {theirs}")


def split_of(tree: Tree, node: int) -> tuple[Any, ...]:
    """Our split as (name, threshold) or (name, categories of each branch)."""
    splits, feature = tree.splits, tree.schema.features[tree.splits.feature[node]]
    if splits.kind[node] == SplitKind.BREAKS:
        return feature.name, _rounded(splits.node_breaks(node)[0])
    start, stop = splits.code_offset[node : node + 2]
    sides: list[list[Any]] = [[] for _ in tree.children(node)]
    for code, branch in zip(splits.codes[start:stop], splits.branches[start:stop], strict=True):
        sides[branch].append(feature.categories[code])
    return feature.name, *map(tuple, sides)


def recorded_split(split: dict[str, Any]) -> tuple[Any, ...]:
    """A recorded split in the same form; thresholds of ordinal ones count levels from 1."""
    if split["type"] == "nominal":
        return split["var"], tuple(split["left_levels"]), tuple(split["right_levels"])
    threshold = split["threshold"] - (1.0 if split["type"] == "ordinal" else 0.0)
    return split["var"], _rounded(threshold)


def _rounded(threshold: float) -> float:
    """Recorded thresholds have 15 digits."""
    return float(f"{threshold:.12g}")


def statistic_differences(found: Comparison) -> Iterator[str]:
    for pair in found.pairs:
        if not np.isclose(pair.statistic, pair.recorded_statistic, rtol=1e-6, atol=1e-9):
            yield f"{pair.where}: {pair.statistic} is not {pair.recorded_statistic}"


def p_differences(found: Comparison) -> Iterator[str]:
    """P-values that differ by more than 1e-6, as numbers and as logarithms."""
    for pair in found.pairs:
        p, ours = pair.recorded_p, float(np.exp(pair.log_p))
        if p is None:
            continue
        if not np.isclose(ours, p, rtol=1e-6, atol=1e-12) or (
            p > 0 and not np.isclose(pair.log_p, np.log(p), rtol=1e-6, atol=1e-6)
        ):
            yield f"{pair.where}: p {ours} is not {p}"


def is_among_best(model: Any, X: Any, labels: np.ndarray) -> np.ndarray:
    """Whether each label is the commonest, or one of several, in the leaf of its row."""
    value = model.tree_.value[model.apply(X)]
    place = {label: k for k, label in enumerate(model.classes_.astype(str))}
    own = value[np.arange(len(value)), [place[label] for label in labels.astype(str)]]
    return own >= value.max(axis=1) - 1e-9
