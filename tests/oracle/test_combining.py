"""Stacking and random subspaces beside recorded runs of Weka 3.6.14, on the same folds.

Members and draws are not the same to the last bit (Weka's random numbers are its own), so the
accuracy is compared: within one standard error of the recorded one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import treewright
from tests.oracle.recorded import Recorded, load_recorded, load_small
from tests.oracle.weka_members import NaiveBayes, Nearest

J48 = treewright.C45Classifier(variant="j48")
STACK = treewright.StackingClassifier(
    [("j48", J48), ("bayes", NaiveBayes()), ("nearest", Nearest())], J48, cv=10, random_state=0
)
# Weka's member is REPTree: entropy, a branch per category, two rows a leaf, reduced-error pruning
# by a third of the rows
REPTREE = treewright.HuntClassifier(
    criterion="entropy", nominal_split="multiway", min_samples_leaf=2, pruning="reduced_error"
)
SUBSPACES = treewright.BaggingClassifier(REPTREE, 10, method="subspaces")


def accuracy(model: Any, recorded: Recorded) -> float:
    right = np.zeros(len(recorded.y), bool)
    for train, test in recorded.splits:
        fitted = clone(model).fit(recorded.X.iloc[train], recorded.y[train])
        right[test] = fitted.predict(recorded.X.iloc[test]) == recorded.y[test]
    return float(right.mean())


def assert_within_one_standard_error(found: float, recorded: Recorded, run: str) -> None:
    theirs = recorded.runs[run]["cv"]["accuracy"]
    assert abs(found - theirs) <= np.sqrt(theirs * (1 - theirs) / len(recorded.y))


def test_stacking_on_iris_is_as_good_as_wekas() -> None:
    recorded = load_small("weka_ens", "iris")
    assert_within_one_standard_error(accuracy(STACK, recorded), recorded, "stacking")


@pytest.mark.parametrize("name", ["glass", "labor", "titanic"])
def test_stacking_is_as_good_as_wekas(shared_dir: Path, name: str) -> None:
    recorded = load_recorded(shared_dir, "weka_ens", name)
    assert_within_one_standard_error(accuracy(STACK, recorded), recorded, "stacking")


# means over seeds, because ten halves of the columns vary by up to 0.03 from seed to seed
@pytest.mark.parametrize(
    ("name", "n_seeds"),
    [
        ("breast_cancer_w", 3), ("credit_g", 2), ("glass", 3), ("ionosphere", 5), ("iris", 3),
        ("labor", 5), ("pima", 3), ("titanic", 3), ("wdbc", 2),
    ],
)  # fmt: skip
def test_random_subspaces_are_as_good_as_wekas(shared_dir: Path, name: str, n_seeds: int) -> None:
    recorded = load_recorded(shared_dir, "weka_ens", name)
    models = [clone(SUBSPACES).set_params(random_state=seed) for seed in range(n_seeds)]
    found = float(np.mean([accuracy(model, recorded) for model in models]))
    assert_within_one_standard_error(found, recorded, "randomsubspace_reptree")
