"""CHAID beside recorded runs of the PyPI package CHAID 5.5.1, node by node.

That package follows Kass' merging without a Bonferroni correction (``adjust=False`` here), with
rules of its own that are checked for wherever the two differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.oracle.recorded import load_runs
from tests.twins.merge import Merger, Rules
from treewright import CHAIDClassifier
from treewright.tree.growing.choosing import GrowingNode, ProposedSplit

EQUAL = "equal"
ABOVE_ALPHA = "split above alpha"
NOT_CONSECUTIVE = "values not consecutive"
PURE = "pure pair"
SMALL = "small group"
UNEXPLAINED = "unexplained"

# The package compares the groups of a continuous target by a test of equal variances, and its
# exhaustive search always ends at two groups: neither is what Kass or Biggs et al. describe.
COMPARED = ("default", "alpha05_min5", "split_threshold")


@dataclass(frozen=True, eq=False)
class PyStudy:
    """A recorded run and the data it was made from."""

    X: pd.DataFrame
    y: np.ndarray
    run: Mapping[str, Any]

    @classmethod
    def all_of(
        cls, folder: Path, name: str, X: pd.DataFrame, y: np.ndarray
    ) -> Iterator[tuple[str, PyStudy]]:
        """The runs on a data set that can be compared."""
        recorded = load_runs(folder, "chaid_py", name)
        frame = pd.DataFrame(
            {
                f: _levels(X[f], kind, (recorded["bins"] or {}).get(f))
                for f, kind in recorded["types"].items()
            }
        )
        for key in COMPARED:
            run = recorded["runs"][key]
            if run["node_of_row"] is not None:
                yield key, cls(frame, y, run)

    def estimator(self) -> CHAIDClassifier:
        """Ours with the settings of the run."""
        options = self.run["options"]
        return CHAIDClassifier(
            adjust=False,
            alpha_merge=options["alpha_merge"],
            alpha_split=options["alpha_merge"],
            min_samples_split=options["min_parent_node_size"],
            min_samples_leaf=options["min_child_node_size"],
        )

    def outcomes(self) -> Iterator[tuple[int, str]]:
        """What becomes of each recorded node."""
        estimator = self.estimator()
        recipe = estimator._recipe(estimator._encode(self.X, self.y, None))
        for node in self.run["nodes"]:
            reason, column = node["split"]["invalid_reason"], node["split"]["column"]
            if reason == "the max depth has been reached" and column is None:
                continue
            rows = self._rows(node["id"])
            answer = recipe.choose(GrowingNode(rows, None, 0, 0))
            yield node["id"], self._outcome(rows, answer, node["split"])

    def _rows(self, node: int) -> np.ndarray:
        parent = {n["id"]: n["parent"] for n in self.run["nodes"]}
        at = np.array(self.run["node_of_row"])
        found = np.zeros(len(at), bool)
        for leaf in np.unique(at):
            above: int | None = int(leaf)
            while above is not None and above != node:
                above = parent[above]
            found |= (at == leaf) & (above == node)
        return np.flatnonzero(found)

    def _outcome(self, rows: np.ndarray, answer: Any, split: Mapping[str, Any]) -> str:
        names = list(self.X)
        ours = names[answer.feature] if isinstance(answer, ProposedSplit) else None
        if ours == split["column"]:
            if ours is None:
                return EQUAL
            at = answer.tests.feature.tolist().index(answer.feature)
            same = np.isclose(answer.tests.statistic[at], split["score_chi2_or_F"], rtol=1e-9)
            if same and answer.tests.df[at] == split["dof"]:
                return EQUAL
        if split["p_value"] is not None and split["p_value"] > 0.05:
            return ABOVE_ALPHA
        return self._reason(rows, [c for c in (split["column"], ours) if c is not None])

    def _reason(self, rows: np.ndarray, columns: list[str]) -> str:
        """Which of the package's own rules applies to one of the columns."""
        found = {reason for column in columns for reason in self._reasons(rows, column)}
        for reason in (NOT_CONSECUTIVE, PURE, SMALL):
            if reason in found:
                return reason
        return UNEXPLAINED

    def _reasons(self, rows: np.ndarray, column: str) -> Iterator[str]:
        values = self.X[column].cat
        table = pd.crosstab(values.codes.to_numpy()[rows], self.y[rows])
        known = table.index[table.index >= 0]
        if values.ordered and np.any(np.diff(known) > 1):
            yield NOT_CONSECUTIVE
        counts = table.to_numpy(float)
        only = [row.argmax() for row in counts if np.count_nonzero(row) == 1]
        if len(only) > len(set(only)):
            yield PURE
        if len(counts) > 1:
            merger = Merger(counts, Rules("pearson", bool(values.ordered)), -1)
            merger.merge({})
            weights = merger.sums(merger.groups).sum(axis=1)
            if weights.min() < self.run["options"]["min_child_node_size"]:
                yield SMALL


def _levels(column: pd.Series, kind: str, bins: list[float] | None) -> pd.Categorical:
    """A column as the recorder gave it to the package."""
    if bins is None:
        return pd.Categorical.from_codes(
            column.cat.codes, column.cat.categories, ordered=kind == "ordinal"
        )
    codes = np.where(column.isna(), -1, np.searchsorted(bins[1:-1], column, side="left"))
    return pd.Categorical.from_codes(codes, range(len(bins) - 1), ordered=True)
