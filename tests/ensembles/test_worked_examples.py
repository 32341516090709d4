"""Worked examples 22, 23 and 26: samples, forests as bagging, bias and variance."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

import treewright as tw
from tests.contract.estimators import mixed_columns, target_for


def test_bootstrap_samples_leave_out_about_a_third_of_the_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 2)), rng.normal(size=1000)
    model = tw.BaggingRegressor(tw.CARTRegressor(max_depth=1), 200, random_state=0).fit(X, y)
    out = [1000 - len(np.unique(rows)) for rows in model.estimators_samples_]
    assert np.mean(out) / 1000 == pytest.approx(np.exp(-1), abs=0.003)
    assert np.std(out) < 20


def test_the_out_of_bag_error_of_a_large_bag_is_close_to_its_leave_one_out_error():
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)[:75]
    X, y = X[rows], y[rows]
    bag = tw.BaggingClassifier(n_estimators=300, oob_score=True, random_state=0).fit(X, y)
    wrong = 0
    for row in range(75):
        others = np.arange(75) != row
        model = tw.BaggingClassifier(n_estimators=60, random_state=0).fit(X[others], y[others])
        wrong += int(model.predict(X[[row]])[0] != y[row])
    assert 1 - bag.oob_score_ == pytest.approx(wrong / 75, abs=2 / 75)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_random_forest_with_all_features_at_every_node_is_bagging(seed):
    columns = mixed_columns(200)
    for forest, bagging in (
        (tw.RandomForestClassifier, tw.BaggingClassifier),
        (tw.RandomForestRegressor, tw.BaggingRegressor),
    ):
        y = target_for(forest(), columns)
        bag = bagging(n_estimators=8, random_state=seed).fit(columns, y)
        for every in (None, 4, 1.0):
            trees = forest(8, max_features=every, tree_method="exact", random_state=seed)
            trees.fit(columns, y)
            for one, other in zip(trees.estimators_, bag.estimators_, strict=True):
                assert one.tree_.to_dict() == other.tree_.to_dict()
            assert_array_equal(trees.predict(columns), bag.predict(columns))


def test_bagging_leaves_bias_and_lowers_variance():
    """Trees and bags on many samples of a known function, with noise of variance 0.25."""

    def function(x):
        return np.sin(4 * x) + x

    grid = np.linspace(0.05, 0.95, 30)[:, None]
    truth = function(grid[:, 0])
    single, bagged = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.random((100, 1))
        y = function(X[:, 0]) + rng.normal(scale=0.5, size=100)
        single.append(tw.CARTRegressor().fit(X, y).predict(grid))
        bagged.append(
            tw.BaggingRegressor(n_estimators=50, random_state=seed).fit(X, y).predict(grid)
        )
    bias, variance = (
        [float(np.mean((np.mean(said, axis=0) - truth) ** 2)) for said in (single, bagged)],
        [float(np.mean(np.var(said, axis=0))) for said in (single, bagged)],
    )
    assert variance[1] < 0.7 * variance[0]
    assert abs(bias[1] - bias[0]) < 0.1 * (variance[0] - variance[1])
    error = [b + v for b, v in zip(bias, variance, strict=True)]
    assert error[1] < 0.75 * error[0]
