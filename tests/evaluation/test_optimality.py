"""How far trees are from the best of their depth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from treewright.errors import ParameterError, TreewrightError
from treewright.evaluation import _optimality


@pytest.fixture
def titanic():
    data = tw.datasets.load_titanic()
    return data.data, data.target, data.schema_hints


@pytest.mark.parametrize(
    "model",
    [
        tw.CARTClassifier(max_depth=3),
        tw.CARTClassifier(max_depth=2, missing="surrogate"),
        tw.CHAIDClassifier(max_depth=2),
        tw.CTreeClassifier(max_depth=3),
        tw.C45Classifier(min_samples_leaf=100),
    ],
    ids=lambda model: type(model).__name__,
)
def test_errors_are_those_of_the_predictions(model, titanic):
    X, y, hints = titanic
    model.set_params(**hints).fit(X, y)
    gap = tw.optimality_gap(model, X, y)
    assert gap.error == np.count_nonzero(np.asarray(model.predict(X)) != np.asarray(y))
    assert gap.is_proven
    assert gap.best_error == gap.lower_bound
    assert gap.best_tree.depth <= gap.max_depth == model.get_depth()
    assert gap.gap == max(0.0, gap.error - gap.best_error)


def test_a_tree_of_cuts_and_subsets_is_never_better_than_the_best(titanic):
    X, y, hints = titanic
    for depth in (1, 2, 3):
        model = tw.CARTClassifier(max_depth=depth, **hints).fit(X, y)
        gap = tw.optimality_gap(model, X, y, max_cuts=2)
        assert gap.best_error <= gap.error


def test_an_optimal_tree_is_called_optimal(titanic):
    X, y, hints = titanic
    model = tw.OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0, **hints).fit(X, y)
    gap = tw.optimality_gap(model, X, y)
    assert gap.is_optimal
    assert gap.gap == 0.0
    assert "It is optimal: no tree of depth 2" in gap.words()


def test_words_say_how_many_errors_could_be_spared():
    X = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 0]])
    y = [0, 1, 1, 0, 1, 1]
    gap = tw.optimality_gap(tw.CARTClassifier(max_depth=1).fit(X, y), X, y, max_depth=2)
    assert str(gap).startswith(
        "This tree of depth 1 with 2 leaves makes 2 errors on 6 rows. The best tree of depth 2 "
        "over 3 tests makes 0 errors with "
    )
    assert gap.frame().shape == (3, 4)
    assert "<table>" in gap._repr_html_()
    assert gap.plot().get_xlabel() == "errors"


def test_a_search_that_ran_out_of_time_says_what_is_proven(titanic):
    X, y, hints = titanic
    model = tw.CARTClassifier(max_depth=5, **hints).fit(X, y)
    gap = tw.optimality_gap(model, X, y, time_limit=0.05)
    assert not gap.is_proven
    assert gap.lower_bound < gap.best_error
    assert gap.lower_bound == pytest.approx(round(gap.lower_bound))
    assert "and none makes less than" in gap.words()


@pytest.mark.parametrize(
    "column",
    [
        np.array([1.0, 2.0, 3.0, np.nan, np.nan, np.nan] * 4),
        np.array([1.0, 1.0, 1.0, np.nan, np.nan, np.nan] * 4),
        pd.Categorical(["a", "b", "c", None, None, None] * 4),
        pd.Categorical(["a", "a", "a", None, None, None] * 4),
        pd.Categorical(["a", "b", "c", None, None, None] * 4, ordered=True),
    ],
)
def test_known_against_gap_is_among_the_tests(column):
    X, y = pd.DataFrame({"x": column}), [0, 0, 0, 1, 1, 1] * 4
    gap = tw.optimality_gap(tw.CARTClassifier(max_depth=1).fit(X, y), X, y)
    assert (gap.error, gap.best_error, gap.lower_bound) == (0.0, 0.0, 0.0)
    assert tw.OptimalTreeClassifier(max_depth=1).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (tw.CARTClassifier(missing="surrogate"), "surrogates decide where rows with gaps go"),
        (tw.C45Classifier(), "rows with gaps end at a node or go down several branches"),
        (
            tw.ID3Classifier(missing="majority", discretize="equal_frequency"),
            "more than two branches",
        ),
        (tw.ObliqueTreeClassifier(random_state=0), "its tests are of several columns"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_tree_of_another_kind_is_said_to_be_outside_of_the_bound(model, reason):
    rng = np.random.default_rng(0)
    X = rng.random((80, 3))
    X[:, 2] = X[:, 0] + 0.1 * rng.random(80)
    y = X[:, 0] + X[:, 1] > 1
    X[::9, 0] = X[1::9, 1] = np.nan
    gap = tw.optimality_gap(model.fit(X, y), X, y, max_depth=model.get_depth(), time_limit=0.1)
    assert reason in gap.outside
    assert not gap.is_optimal
    assert f"It is none of the trees that are searched: {gap.outside}." in gap.words()


def test_a_tree_of_more_levels_is_outside_of_the_bound(titanic):
    X, y, hints = titanic
    gap = tw.optimality_gap(tw.CARTClassifier(max_depth=3, **hints).fit(X, y), X, y, max_depth=1)
    assert gap.error < gap.best_error
    assert not gap.is_optimal
    assert "it is 3 levels deep" in gap.words()


def test_a_better_tree_than_the_search_found_in_its_time_is_the_best(titanic):
    X, y, hints = titanic
    model = tw.OptimalTreeClassifier(max_depth=4, leaf_penalty=0.0, **hints).fit(X, y)
    gap = tw.optimality_gap(model, X, y, time_limit=1e-6)
    assert gap.best_error == gap.error
    assert gap.lower_bound < gap.best_error


def test_a_bound_that_the_given_tree_is_below_is_never_handed_out(titanic, monkeypatch):
    X, y, hints = titanic
    model = tw.CARTClassifier(max_depth=1, **hints).fit(X, y)
    right = _optimality._error
    monkeypatch.setattr(
        _optimality,
        "_error",
        lambda tree, training: right(tree, training) - 9.0 * (tree is model.tree_),
    )
    with pytest.raises(TreewrightError, match="please report this with the data"):
        tw.optimality_gap(model, X, y)


def test_costs_and_weights_count(titanic):
    X, y, hints = titanic
    costs = np.array([[0.0, 1.0], [3.0, 0.0]])
    weight = np.linspace(0.5, 2.0, len(y))
    model = tw.CARTClassifier(max_depth=2, costs=costs, **hints).fit(X, y, sample_weight=weight)
    gap = tw.optimality_gap(model, X, y, weight)
    said = np.asarray(model.predict(X), int)
    assert gap.error == pytest.approx((weight * costs[np.asarray(y, int), said]).sum())
    assert gap.best_error <= gap.error
    assert gap.is_proven


def test_numbers_have_squared_errors():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (80, 3))
    y = (X[:, 0] - 2.0) * (X[:, 1] - 2.0) + rng.normal(size=80)
    model = tw.CARTRegressor(max_depth=2).fit(X, y)
    gap = tw.optimality_gap(model, X, y)
    assert gap.error == pytest.approx(((model.predict(X) - y) ** 2).mean())
    assert gap.best_error < gap.error
    assert "a mean squared error of" in gap.words()
    assert gap.best_error == pytest.approx(
        tw.OptimalTreeRegressor(max_depth=2, max_cuts=None).fit(X, y).objective_
    )


def test_a_leaf_is_the_best_tree_of_its_depth():
    gap = tw.optimality_gap(tw.CARTClassifier().fit([[1.0], [1.0]], [0, 1]), [[1.0], [1.0]], [0, 1])
    assert gap.is_optimal


def test_a_forest_is_refused_in_one_sentence(titanic):
    X, y, hints = titanic
    with pytest.raises(ParameterError, match="take a member of estimators_"):
        tw.optimality_gap(tw.RandomForestClassifier(3, **hints).fit(X, y), X, y)
    with pytest.raises(ParameterError, match="max_depth must be an integer of 1 or more"):
        tw.optimality_gap(tw.CARTClassifier(**hints).fit(X, y), X, y, max_depth=0)
