"""C45Classifier(variant="j48") against the recorded runs of J48 (Weka 3.6.14).

Trees, counts, predictions and out-of-fold predictions agree on every run; docs/comparisons/c45.md
has the numbers.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import SHARED
from tests.oracle.quinlan_study import EQUAL, Study, class_datasets, small_studies, studies

IN_REPOSITORY = ["iris", "titanic"]


@pytest.fixture(
    scope="module",
    params=[f"{name} in repository" for name in IN_REPOSITORY] + class_datasets(SHARED, "weka"),
)
def runs(request) -> list[Study]:
    """All runs of J48 on a data set that ours can repeat."""
    name, *small = request.param.split()
    return list(small_studies("weka", name) if small else studies(SHARED, "weka", name))


def test_the_recorded_runs_are_all_here(shared_dir):
    assert len(class_datasets(shared_dir, "weka")) == 34


def test_every_tree_is_j48s(runs):
    for run in runs:
        assert run.differences("tree") == [], run.key
        assert run.outcome("tree") == EQUAL


# Of the larger data sets the trees are recorded, but not what they say of each row.
WITHOUT_PREDICTIONS = {"adult_train", "letter", "mushroom", "pendigits", "satellite"}
WITHOUT_FOLDS = WITHOUT_PREDICTIONS | {
    "cmc",
    "digits",
    "kr_vs_kp",
    "oj",
    "spambase",
    "titanic_2201",
}


def test_the_rows_are_classified_as_j48_does(runs):
    recorded = [run for run in runs if run.predictions is not None]
    assert bool(recorded) == (runs[0].name not in WITHOUT_PREDICTIONS)
    for run in recorded:
        np.testing.assert_array_equal(run.fitted.predict(run.X), run.predictions)


def test_rows_left_out_are_classified_as_j48_does(runs):
    recorded = [run for run in runs if run.out_of_fold is not None]
    assert bool(recorded) == (runs[0].name not in WITHOUT_FOLDS)
    for run in recorded:
        np.testing.assert_array_equal(run.our_out_of_fold(), run.out_of_fold)


@pytest.mark.parametrize("name", IN_REPOSITORY)
def test_the_text_is_j48s(name):
    compared = 0
    for run in small_studies("weka", name):
        body = run.run["text"].split("------------------\n\n", 1)[1].split("\n\nNumber of", 1)[0]
        tree = run.model().fit(run.X, np.array(run.classes)[run.y]).tree_
        if list(tree.schema.target.classes) != run.classes:
            continue  # labels of another order would be another tree where classes tie
        assert tree.to_text(style="j48", digits=8) == body
        compared += 1
    assert compared > 0
