"""ID3 against the recorded runs of Weka's Id3 (3.6.14).

Weka leaves a row in an empty branch without a class, where ours takes the parent's majority.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import SHARED
from tests.oracle.id3_compare import (
    BUNDLED,
    compare_trees,
    datasets_with_id3,
    load_bundled,
    load_shared,
)
from treewright import ID3Classifier


@pytest.fixture(
    scope="module",
    params=[f"{name} in repository" for name in BUNDLED] + datasets_with_id3(SHARED),
)
def study(request):
    """A data set, its recorded run and the order of the classes in it."""
    name, *bundled = request.param.split()
    recorded, classes = load_bundled(name) if bundled else load_shared(SHARED, name)
    return recorded, recorded.runs["id3"], [*classes, None]


def test_the_recorded_runs_are_all_here(shared_dir):
    assert datasets_with_id3(shared_dir) == [
        "contact_lenses",
        "kr_vs_kp",
        "play_tennis",
        "titanic_2201",
    ]


def test_the_tree_has_wekas_tests_and_classes(study):
    recorded, run, _ = study
    model = ID3Classifier(discretize=None).fit(recorded.X, recorded.y)
    found = compare_trees(model, run["tree"])
    assert found.nodes == []
    assert found.ties == []
    assert found.n_nodes == model.tree_.n_nodes


def test_training_rows_have_wekas_class(study):
    recorded, run, classes = study
    model = ID3Classifier().fit(recorded.X, recorded.y)
    theirs = [classes[-1 if p is None else p] for p in run["predictions"]]
    assert model.predict(recorded.X).tolist() == theirs


def test_every_fold_has_wekas_accuracy_and_predictions(study):
    recorded, run, classes = study
    cv = run["cv"]
    oof = None
    if "oof" in cv:
        oof = np.array([classes[-1 if p is None else p] for p in cv["oof"]], object)
    for k, (train, test) in enumerate(recorded.splits):
        model = ID3Classifier().fit(recorded.X.iloc[train], recorded.y[train])
        held_out = recorded.X.iloc[test]
        is_empty = model.tree_.n_samples[model.apply(held_out)] == 0
        ours = np.where(is_empty, None, model.predict(held_out))
        assert np.mean(ours == recorded.y[test]) == pytest.approx(cv["per_fold_accuracy"][k])
        if oof is not None:
            assert ours.tolist() == oof[test].tolist()
