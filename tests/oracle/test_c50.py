"""C50Classifier against the recorded runs of C5.0 (R package C50 0.2.0)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.oracle.c50_compare import (
    compare,
    fit,
    is_same,
    outcomes,
    paired,
    r_names,
    size,
    sizes,
)
from tests.oracle.recorded import load_recorded, load_small

DIFFERENT = {
    "tree": {"adult_train", "satellite", "soybean", "titanic_2201"},
    "tree_noglobal": {"adult_train", "satellite"},
    "CF05_M5": {"credit_g", "titanic_2201", "vowel"},
    "fuzzy": {"adult_train", "satellite", "soybean", "titanic_2201"},
}
"""Data sets on which a tree is not C5.0's; docs/comparisons/c50.md says what is known of each."""


@pytest.mark.parametrize("run", DIFFERENT)
def test_trees_are_those_of_c50_on_all_but_the_named_data_sets(run: str, shared_dir: Path) -> None:
    assert {o.dataset for o in outcomes(shared_dir, run) if not o.same} <= DIFFERENT[run]


@pytest.mark.parametrize("run", ["tree", "rules", "boost10"])
def test_errors_on_the_folds_are_not_higher_than_those_of_c50(run: str, shared_dir: Path) -> None:
    mean, error = paired(outcomes(shared_dir, run))
    assert mean <= error  # ties: within one standard error


@pytest.mark.parametrize("run", ["tree", "rules", "boost10"])
def test_models_are_at_most_a_tenth_larger_than_those_of_c50(run: str, shared_dir: Path) -> None:
    ours, theirs = sizes(outcomes(shared_dir, run))
    assert ours <= 1.1 * theirs


@pytest.mark.parametrize(
    "dataset", ["birthwt", "cheat", "glass", "ionosphere", "iris", "labor", "wdbc"]
)
def test_all_ten_boosted_trees_come_out(dataset: str, shared_dir: Path) -> None:
    found = compare(load_recorded(shared_dir, "c50", dataset), "boost10_noearly")
    assert found.n_equal == found.n_models == 10
    assert found.training_errors == found.their_training_errors


@pytest.mark.parametrize("run", ["tree_subset", "winnow", "costs_1_4"])
def test_other_runs_make_hardly_more_errors_on_the_folds(run: str, shared_dir: Path) -> None:
    mean, error = paired(outcomes(shared_dir, run))
    assert mean <= 2 * error


def test_the_recorded_tree_of_iris_comes_out() -> None:
    data = load_small("c50", "iris")
    names = r_names(data.runs["tree"]["columns"])
    for run in ("tree", "tree_noglobal"):
        recorded = data.runs[run]
        model = fit(data, run)
        assert is_same(model.tree_, recorded["trees"][0], names)
        np.testing.assert_allclose(
            model.predict_proba(data.X), recorded["probabilities"], atol=1e-6
        )


def test_every_boosted_tree_of_iris_and_its_votes_come_out() -> None:
    data = load_small("c50", "iris")
    recorded = data.runs["boost10"]
    model = fit(data, "boost10")
    names = r_names(data.runs["tree"]["columns"])
    assert [size(tree, "boost10") for tree in model.estimators_] == recorded["size"]
    for tree, other in zip(model.estimators_, recorded["trees"], strict=True):
        assert is_same(tree, other, names)
        np.testing.assert_allclose(tree.value[0], other["freq"], rtol=1e-4)
    np.testing.assert_allclose(model.predict_proba(data.X), recorded["probabilities"], atol=1e-6)


def test_the_recorded_rules_of_iris_come_out() -> None:
    data = load_small("c50", "iris")
    printed = data.runs["rules"]["output"]
    rules = fit(data, "rules").rules_
    assert len(rules) == data.runs["rules"]["size"][0]
    for rule in rules:
        errors = f"/{rule.errors:g}" if rule.errors else ""
        assert f"({rule.weight:g}{errors}, lift {rule.lift:.1f})" in printed
        assert f"[{rule.confidence:.3f}]" in printed
