"""One recorded run of C4.5 or J48 and the same fit of ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracle.quinlan_compare import TIE, Difference, differences, scores
from tests.oracle.recorded import load_data, load_runs, recorded_datasets
from treewright import C45Classifier
from treewright.data.encode import encode
from treewright.tree.tree import Tree

EQUAL, TIED, DIFFERENT = "equal", "tied", "different"

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
        """Equal, tied (every difference is between tests of one score) or different."""
        found = self.differences(which)
        if not found:
            return EQUAL
        return TIED if all(self.is_tie(which, difference) for difference in found) else DIFFERENT

    def is_tie(self, which: str, difference: Difference) -> bool:
        """Whether two tests, one of them ours and one recorded, have the same score."""
        tree = self.trees[which][0]
        if tree.is_leaf[difference.node] or difference.theirs["leaf"]:
            return False
        ours, theirs = scores(tree, difference, encode(self.X), self.y, len(self.classes))
        if self.key == "gain":
            return abs(ours.gain - theirs.gain) < TIE
        return abs(ours.gain / ours.split_info - theirs.gain / theirs.split_info) < TIE

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


def class_datasets(shared: Path, program: str) -> list[str]:
    """Data sets with runs of a tree."""
    keys = SETTINGS[program].keys()
    return [
        name
        for name in recorded_datasets(shared, program)
        if keys & load_runs(shared, program, name)["runs"].keys()
    ]
