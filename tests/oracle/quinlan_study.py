"""One recorded run of C4.5 or J48 and the same fit of ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.oracle.quinlan_compare import (
    TIE,
    Difference,
    NodeRows,
    branches_by_ours,
    branches_by_theirs,
    differences,
)
from tests.oracle.recorded import (
    SMALL,
    Recorded,
    load_data,
    load_runs,
    load_small,
    recorded_datasets,
)
from tests.twins.quinlan import Test
from treewright import C45Classifier
from treewright.data.encode import encode
from treewright.tree.tree import Tree

EQUAL, TIED, EDGE, DIFFERENT = "equal", "tied", "at the least weight", "different"

SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "c45": {
        "default": {},
        "gain": {"criterion": "gain"},
        "m5_c10": {"min_samples_leaf": 5, "confidence": 0.1},
        "m1_c100": {"min_samples_leaf": 1, "confidence": 1.0},
        "probthresh": {},  # the tree before its thresholds are softened
        "subset": {"subset": True},
    },
    "weka": {
        "j48_default": {},
        "j48_unpruned": {"pruning": None},
        "j48_laplace": {},  # the same tree; its probabilities are not compared
        "j48_noraising": {"subtree_raising": False},
        "j48_C05_M5": {"min_samples_leaf": 5, "confidence": 0.05},
    },
}
VARIANT = {"c45": "release8", "weka": "j48"}
TOLERANCE = {"c45": 1e-4, "weka": 1e-9}  # release 8 keeps its weights in single precision


@dataclass(frozen=True, eq=False)
class Study:
    """A recorded run; classes are their numbers, in the recorded order."""

    program: str
    name: str
    key: str
    X: Any
    y: np.ndarray
    fold: np.ndarray
    classes: list[str]
    run: dict[str, Any]

    def model(self, **parameters: Any) -> C45Classifier:
        """Our estimator with the settings of the run."""
        given = SETTINGS[self.program][self.key] | parameters
        return C45Classifier(variant=VARIANT[self.program], **given)

    @cached_property
    def fitted(self) -> C45Classifier:
        """Fitted to all rows."""
        return self.model().fit(self.X, self.y)

    @cached_property
    def trees(self) -> dict[str, tuple[Tree, dict[str, Any]]]:
        """Our trees and the recorded ones, by name."""
        if self.program == "weka":
            return {"tree": (self.fitted.tree_, self.run["tree"])}
        grown = self.model(pruning=None).fit(self.X, self.y).tree_
        return {
            "unpruned": (grown, self.run["unpruned"]["tree"]),
            "pruned": (self.fitted.tree_, self.run["pruned"]["tree"]),
        }

    def differences(self, which: str) -> list[Difference]:
        """Where our tree and the recorded one part."""
        tree, recorded = self.trees[which]
        return list(differences(tree, recorded, self.classes, TOLERANCE[self.program]))

    def outcome(self, which: str) -> str:
        """Equal, or what lies behind the differences; the first that none explains counts."""
        found = [self.reason(which, difference) for difference in self.differences(which)]
        for reason in (DIFFERENT, EDGE, TIED):
            if reason in found:
                return reason
        return EQUAL

    def reason(self, which: str, difference: Difference) -> str:
        """Why two nodes have other tests: equal scores, or a branch of just the least weight."""
        tree = self.trees[which][0]
        ours_ends, theirs_ends = tree.is_leaf[difference.node], difference.theirs["leaf"]
        if ours_ends and not theirs_ends:
            return self._reason_before_collapse(which)
        rows = self.rows_at(tree, difference.node)
        names = [tree.schema.features[tree.splits.feature[difference.node]].name]
        if not theirs_ends:
            names.append(difference.theirs["attribute"])
            ours, theirs = self.scores(which, difference)
            if abs(self.worth(ours) - self.worth(theirs)) < TIE:
                return TIED
        return EDGE if any(map(rows.is_on_the_edge, names)) else DIFFERENT

    def _reason_before_collapse(self, which: str) -> str:
        """Where ours is a leaf because its subtree was collapsed, the trees part further below."""
        whole = self.model(pruning=None, collapse=False).fit(self.X, self.y).tree_
        recorded = self.trees[which][1]
        for part in differences(whole, recorded, self.classes, TOLERANCE[self.program]):
            if not part.theirs["leaf"] and whole.is_leaf[part.node]:
                rows = self.rows_at(whole, part.node)
                return EDGE if rows.is_on_the_edge(part.theirs["attribute"]) else DIFFERENT
        return DIFFERENT

    def rows_at(self, tree: Tree, node: int) -> NodeRows:
        """The rows of a node of ours."""
        least = float(self.model().min_samples_leaf)
        return NodeRows.at(tree, node, encode(self.X), self.y, len(self.classes), least)

    def scores(self, which: str, difference: Difference) -> tuple[Test, Test]:
        """Our test and the recorded one by the definition, in double precision."""
        tree, node = self.trees[which][0], difference.node
        rows = self.rows_at(tree, node)
        name = tree.schema.features[tree.splits.feature[node]].name
        return (
            rows.score(name, branches_by_ours(tree, node, rows.table)),
            rows.score(
                difference.theirs["attribute"], branches_by_theirs(difference.theirs, rows.table)
            ),
        )

    def worth(self, test: Test) -> float:
        """What tests are compared by."""
        return test.gain if self.model().criterion == "gain" else test.gain / test.split_info

    @property
    def predictions(self) -> np.ndarray | None:
        """Recorded predictions of all rows by the pruned tree."""
        found = (self.run if self.program == "weka" else self.run["pruned"]).get("predictions")
        return None if found is None else np.array(found)

    @property
    def out_of_fold(self) -> np.ndarray | None:
        """Recorded predictions of rows that were left out."""
        found = self.run.get("cv", {}).get("oof" if self.program == "weka" else "oof_pruned")
        return None if found is None else np.array(found)

    def our_out_of_fold(self) -> np.ndarray:
        """Our predictions on the recorded folds."""
        predicted = np.empty(len(self.y), int)
        for fold in np.unique(self.fold):
            train, test = self.fold != fold, self.fold == fold
            model = self.model().fit(self.X[train], self.y[train])
            predicted[test] = model.predict(self.X[test])
        return predicted


def studies(shared: Path, program: str, name: str) -> Iterator[Study]:
    """The runs of a program on a data set that did not fail and that ours can repeat."""
    raw = load_runs(shared, program, name)
    X, y, fold = load_data(shared, name)
    for key, run in raw["runs"].items():
        if key in SETTINGS[program] and "error" not in run:
            codes = np.array([raw["classes"].index(v) for v in y])
            yield Study(program, name, key, X, codes, fold, raw["classes"], run)


def small_studies(program: str, name: str) -> Iterator[Study]:
    """The runs that are kept in the repository, on a bundled data set."""
    data = load_small(program, name)
    classes = load_runs(SMALL, program, name)["classes"]
    codes = np.array([classes.index(v) for v in data.y])
    for key, run in data.runs.items():
        yield Study(program, name, key, _as_categories(data), codes, data.fold, classes, run)


def _as_categories(data: Recorded) -> Any:
    """A bundled frame with the kinds of its columns declared, as the shared data have them."""
    frame = data.X.copy()
    for name in data.hints.get("categorical_features", ()):
        frame[name] = frame[name].astype("category")
    for name, order in (data.hints.get("ordinal_features") or {}).items():
        frame[name] = pd.Categorical(frame[name], categories=order, ordered=True)
    return frame


def class_datasets(shared: Path, program: str) -> list[str]:
    """Data sets with runs of a tree."""
    keys = SETTINGS[program].keys()
    return [
        name
        for name in recorded_datasets(shared, program)
        if keys & load_runs(shared, program, name)["runs"].keys()
    ]
