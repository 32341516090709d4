"""Oblique trees beside the recorded runs of OC1 3.0; docs/learners/oblique.md has the figures.

Both draw at random, so that trees differ: accuracy on the recorded folds, size and the gain at the
root are compared. OC1 was given the columns of numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import SHARED
from tests.oracle.recorded import Recorded, load_recorded, load_small, recorded_datasets
from treewright import CARTClassifier, ObliqueTreeClassifier

HERE = [name for name in ("crabs", "wdbc") if name in recorded_datasets(SHARED, "oc1")]


def on_folds(model, recorded: Recorded) -> tuple[float, float]:
    """Cross-validated accuracy and mean number of leaves."""
    right, leaves = [], []
    for train, test in recorded.splits:
        model.fit(recorded.X.iloc[train], recorded.y[train])
        right.extend(model.predict(recorded.X.iloc[test]) == recorded.y[test])
        leaves.append(model.get_n_leaves())
    return float(np.mean(right)), float(np.mean(leaves))


@pytest.fixture(scope="module", params=["iris in repository", *HERE])
def recorded(request) -> Recorded:
    name, *small = request.param.split()
    found = load_small("oc1", name) if small else load_recorded(SHARED, "oc1", name)
    return replace(found, X=found.X.select_dtypes("number"))


def test_the_recorded_runs_are_all_here(shared_dir):
    assert recorded_datasets(shared_dir, "oc1") == [
        "crabs",
        "glass",
        "haberman",
        "iris",
        "pima",
        "wdbc",
    ]


def test_accuracy_is_within_a_standard_error_of_oc1_and_leaves_are_fewer_than_those_of_cart(
    recorded,
):
    accuracy, leaves = on_folds(ObliqueTreeClassifier(random_state=0), recorded)
    for key in ("nopruning_gini", "nopruning_twoing"):
        theirs = recorded.runs[key]["cv"]
        error = np.std(theirs["per_fold"], ddof=1) / np.sqrt(len(theirs["per_fold"]))
        assert accuracy >= theirs["accuracy"] - error
    assert leaves < on_folds(CARTClassifier(), recorded)[1]


def test_a_test_of_oc1_gains_no_more_than_ours_at_the_root(recorded):
    theirs = recorded.runs["nopruning_gini"]["nodes"][""]
    X = recorded.X.to_numpy(float)
    *weight, shift = theirs["coefficients"]
    model = ObliqueTreeClassifier(random_state=0, max_depth=1, deletion=0.0)
    ours = model.fit(recorded.X, recorded.y).apply(recorded.X) == 1
    assert gini(ours, recorded.y) <= gini(X @ weight + shift < 0, recorded.y) + 1e-9


def gini(left, y) -> float:
    """Gini's index after a division, weighted by rows."""
    sides = [np.unique(y[side], return_counts=True)[1] for side in (left, ~left)]
    return sum(n.sum() - (n**2).sum() / n.sum() for n in sides if len(n)) / len(y)
