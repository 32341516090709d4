"""CHAID beside recorded runs of R's CHAID package, node by node.

The recorder cut continuous columns at ``bins`` into ordered factors, and gave columns with gaps a
further level, which made them unordered. :class:`Study` puts the rows of a recorded tree through
the same columns and asks our chooser for the tests at each of its nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.oracle.chaid_r_merge import RMerger
from tests.oracle.recorded import load_runs
from tests.twins.measures import p_value
from tests.twins.merge import Merger, Rules
from treewright import CHAIDClassifier
from treewright.learners._chaid.multipliers import log_multiplier
from treewright.tree.growing.choosing import GrowingNode

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {"min_prob": 0.01},
    "alpha3": {"min_prob": 0.01, "alpha_resplit": 0.049},
    "small": {"min_prob": 0.0, "min_samples_split": 10, "min_samples_leaf": 3, "alpha_split": 0.1},
}
"""What the options of the recorded runs are called here; all else are our defaults."""

EQUAL = "equal"
DRAWN = "drawn"
SMALL = "small group"
WRONG_PAIR = "wrong pair"
DIVIDED = "divided"
UNEXPLAINED = "unexplained"


@dataclass(frozen=True, eq=False)
class Column:
    """A predictor as R saw it; a gap is a level of its own."""

    codes: np.ndarray
    n_levels: int
    is_ordered: bool


@dataclass(frozen=True)
class NodeTest:
    """The test of one predictor at one recorded node, by both programs."""

    node: int
    feature: str
    ours: float
    theirs: float
    outcome: str


@dataclass(frozen=True, eq=False)
class Study:
    """A recorded run and the data it was made from."""

    name: str
    key: str
    X: pd.DataFrame
    y: np.ndarray
    columns: Mapping[str, Column]
    run: Mapping[str, Any]

    @classmethod
    def all_of(cls, folder: Path, name: str, X: pd.DataFrame, y: np.ndarray) -> Iterator[Study]:
        """Every recorded run on a data set."""
        recorded = load_runs(folder, "rchaid", name)
        for key, run in recorded["runs"].items():
            tested = run["nodes"][0].get("adj_pvalues", X.columns)  # none at a root that is small
            columns = {f: as_factor(X[f], (recorded["bins"] or {}).get(f)) for f in tested}
            yield cls(name, key, as_frame(columns), y, columns, run)

    def estimator(self, **others: Any) -> CHAIDClassifier:
        """Ours with the settings of the run."""
        return CHAIDClassifier(**{**SETTINGS[self.key], **others})

    @cached_property
    def codes(self) -> np.ndarray:
        position = {label: k for k, label in enumerate(self.run["classes"])}
        return np.array([position[label] for label in self.y])

    @cached_property
    def rows(self) -> dict[int, np.ndarray]:
        """Rows of each recorded node."""
        found = {1: np.arange(len(self.y))}
        for node in self.run["nodes"]:
            if "split" in node:
                rows = found[node["id"]]
                branch = np.array(node["split"]["index"])[self._level(node["split"]["var"])[rows]]
                for k, child in enumerate(node["children"]):
                    found[child] = rows[branch == k + 1]
        return found

    def _level(self, feature: str) -> np.ndarray:
        column = self.columns[feature]
        return np.where(column.codes < 0, column.n_levels, column.codes)

    def tests(self) -> Iterator[NodeTest]:
        """Both programs' tests at every recorded node."""
        # a node that is too small to split is tested all the same
        estimator = self.estimator(min_samples_split=2)
        choose = estimator._recipe(estimator._encode(self.X, self.y, None))
        names = list(self.columns)
        for node in self.run["nodes"]:
            rows = self.rows[node["id"]]
            answer = choose.choose(GrowingNode(rows, None, 0, 0))
            found = {} if answer is None else _by_feature(answer.tests, names)
            for feature, theirs in node.get("adj_pvalues", {}).items():
                ours = found.get(feature, 1.0)
                outcome = self._outcome(rows, feature, ours, min(theirs, 1.0))
                yield NodeTest(node["id"], feature, ours, min(theirs, 1.0), outcome)

    def _outcome(self, rows: np.ndarray, feature: str, ours: float, theirs: float) -> str:
        # a recorded 0 is a number too small for R
        is_equal = is_same(ours, theirs) or (theirs == 0 and ours < 1e-300)
        by_r = self.merge_as_r(rows, feature)
        if by_r.is_drawn:
            return DRAWN
        if is_equal:
            return EQUAL
        if is_same(adjusted_p(self.merge_as_r(rows, feature, is_tidy=True)), theirs):
            return SMALL
        if is_same(adjusted_p(by_r), theirs):
            return WRONG_PAIR
        return DIVIDED if by_r.has_divided else UNEXPLAINED

    def table(self, rows: np.ndarray, feature: str) -> np.ndarray:
        """Classes by category; the gap last."""
        table = np.zeros((self.columns[feature].n_levels + 1, len(self.run["classes"])))
        np.add.at(table, (self._level(feature)[rows], self.codes[rows]), 1.0)
        return table

    def merge_as_r(self, rows: np.ndarray, feature: str, *, is_tidy: bool = False) -> RMerger:
        """R's merging of a predictor at a node."""
        column, setting = self.columns[feature], SETTINGS[self.key]
        least = min(setting.get("min_samples_leaf", 7), ceil(setting["min_prob"] * len(rows)))
        alpha_resplit = setting.get("alpha_resplit", -1.0)
        rules = Rules("pearson", column.is_ordered, alpha_resplit=alpha_resplit, least=least)
        n_levels = column.n_levels + bool((column.codes < 0).any())
        return RMerger(self.table(rows, feature)[:n_levels], rules, is_tidy=is_tidy).run()


def is_same(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-6 * max(a, b)


def adjusted_p(merger: Merger) -> float:
    """Adjusted p-value of the groups of a merger, at most 1."""
    if len(merger.groups) < 2:
        return 1.0
    kind = "ordinal" if merger.rules.is_ordered else "nominal"
    n_seen = int(merger.table.any(axis=1).sum())
    multiplier = np.exp(log_multiplier(kind, n_seen, len(merger.groups)))
    return min(1.0, p_value(merger.rules.measure, merger.test()) * multiplier)


def as_factor(column: pd.Series, bins: list[float] | None) -> Column:
    """A column as the recorder gave it to R."""
    if bins is None:
        column = column.cat.remove_unused_categories()  # so did the recorder
        codes, n_levels = column.cat.codes.to_numpy(), len(column.cat.categories)
        is_ordered = bool(column.cat.ordered)
    else:
        # recorded with 15 digits: a value that is a break must not fall behind it
        inner = np.array(bins[1:-1]) + 1e-12 * np.abs(bins[1:-1])
        codes = np.where(column.isna(), -1, np.searchsorted(inner, column, side="left"))
        n_levels, is_ordered = len(bins) - 1, True
    return Column(codes, n_levels, is_ordered and not (codes < 0).any())


def as_frame(columns: Mapping[str, Column]) -> pd.DataFrame:
    """Columns for an estimator; their levels are numbers."""
    return pd.DataFrame(
        {
            name: pd.Categorical.from_codes(c.codes, range(c.n_levels), ordered=c.is_ordered)
            for name, c in columns.items()
        }
    )


def _by_feature(tests: Any, names: list[str]) -> dict[str, float]:
    p = np.exp(tests.log_adjusted_p)
    return dict(zip([names[f] for f in tests.feature], p.tolist(), strict=True))


@dataclass(frozen=True)
class TreeComparison:
    """Nodes of a recorded tree that ours has too, those where they part, and why they may."""

    same_splits: int
    same_leaves: int
    parted: list[tuple[int, set[str]]]
    rows: np.ndarray


def compare_trees(study: Study, outcomes: Mapping[int, set[str]]) -> TreeComparison:
    """Walk both trees from the root as far as they agree.

    ``outcomes`` are those of the tests at each recorded node; ``rows`` those that reach leaves
    which both trees have.
    """
    model = study.estimator().fit(study.X, study.y)
    tree = model.tree_
    path = model.decision_path(study.X).toarray().astype(bool)
    recorded = {node["id"]: node for node in study.run["nodes"]}
    same_splits = same_leaves = 0
    parted: list[tuple[int, set[str]]] = []
    rows: list[np.ndarray] = []
    stack = [(0, 1)]
    while stack:
        ours, theirs = stack.pop()
        record, leaf = recorded[theirs], tree.first_child[ours] < 0
        if leaf and record["leaf"]:
            same_leaves += 1
            rows.append(study.rows[theirs])
            continue
        pairs = None if leaf or record["leaf"] else _matched(study, tree, path, ours, record)
        if pairs is None:
            parted.append((theirs, outcomes.get(theirs, set())))
        else:
            same_splits += 1
            stack += pairs
    return TreeComparison(same_splits, same_leaves, parted, np.concatenate([[], *rows]).astype(int))


def _matched(study: Study, tree: Any, path: np.ndarray, ours: int, record: Any) -> Any:
    """Pairs of children that hold the same rows; None where the splits differ."""
    if tree.node(ours).feature != record["split"]["var"]:
        return None
    parts = {frozenset(np.flatnonzero(path[:, child])): child for child in tree.children(ours)}
    theirs = {frozenset(study.rows[child].tolist()): child for child in record["children"]}
    theirs = {rows: child for rows, child in theirs.items() if rows}
    if parts.keys() != theirs.keys():
        return None
    return [(parts[rows], theirs[rows]) for rows in parts]
