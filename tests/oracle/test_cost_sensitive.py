"""Cost-sensitive J48 and MetaCost of Weka 3.6.14, on the same folds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.recorded import load_recorded, load_small
from treewright import C45Classifier, CostSensitiveClassifier, cross_validate


def accuracies(recorded, method, seeds):
    """Ours with Weka's costs, 1 and 4, on the recorded folds."""
    first, second = recorded.classes
    costs = {first: {second: 1}, second: {first: 4}}
    hints = dict(recorded.hints)
    for seed in range(seeds):
        model = C45Classifier(variant="j48", **hints)
        model = CostSensitiveClassifier(model, costs, method=method, random_state=seed)
        folds = recorded.splits
        yield cross_validate(model, recorded.X, recorded.y.astype(str), folds=folds).accuracy


def standard_error(accuracy, n):
    return np.sqrt(accuracy * (1 - accuracy) / n)


def compare(recorded, seeds):
    weka = recorded.runs["cost_sensitive_j48"]["cv"]["accuracy"]
    (ours,) = accuracies(recorded, "weights", 1)
    assert abs(ours - weka) <= 1.01 / len(recorded.y)  # one row of titanic, none elsewhere
    weka = recorded.runs["metacost_j48"]["cv"]["accuracy"]
    ours = np.mean(list(accuracies(recorded, "metacost", seeds)))
    assert abs(ours - weka) < standard_error(weka, len(recorded.y))


def test_bundled_titanic_costs_what_weka_makes_of_it():
    compare(load_small("weka_ens", "titanic"), seeds=3)


@pytest.mark.parametrize("name", ["breast_cancer_w", "ionosphere", "labor"])
def test_recorded_runs_of_weka_within_a_standard_error(shared_dir, name):
    compare(load_recorded(shared_dir, "weka_ens", name), seeds=3)
