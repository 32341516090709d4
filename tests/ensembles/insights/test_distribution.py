"""Quantile forests and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes

import treewright as tw
from treewright.errors import FewTreesWarning, ParameterError


@pytest.fixture
def diabetes():
    return load_diabetes(return_X_y=True)


def weights_of(model, X_train, row):
    """Weight of every training row in the prediction of a new one, from the definition."""
    weights = np.zeros(len(X_train))
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        same = member.apply(X_train[rows]) == member.apply(row[None])[0]
        np.add.at(weights, rows[same], 1 / (same.sum() * len(model.estimators_)))
    return weights


@pytest.mark.parametrize("kind", [tw.RandomForestRegressor, tw.ExtraTreesRegressor])
def test_quantiles_are_those_of_the_weights_of_the_training_rows(diabetes, kind):
    X, y = diabetes
    model = kind(15, min_samples_leaf=4, keep_targets=True, random_state=0).fit(X[:300], y[:300])
    levels = [0.0, 0.1, 0.5, 0.9, 1.0]
    found = model.predict_quantiles(X[300:310], levels)
    order = np.argsort(y[:300], kind="stable")
    for row, quantiles in zip(X[300:310], found, strict=True):
        weights = weights_of(model, X[:300], row)
        assert weights @ y[:300] == pytest.approx(model.predict(row[None])[0])
        running = np.cumsum(weights[order])
        for level, value in zip(levels, quantiles, strict=True):
            first = np.flatnonzero((running >= level - 1e-9) & (weights[order] > 0))[0]
            assert value == y[:300][order][first]


def test_quantiles_cover_what_they_promise():
    rng = np.random.default_rng(0)
    X = rng.random((1500, 2))
    y = 3 * X[:, 0] + rng.normal(size=1500) * (0.2 + X[:, 0])  # the noise grows
    model = tw.RandomForestRegressor(
        100, min_samples_leaf=15, keep_targets=True, random_state=0
    ).fit(X[:1000], y[:1000])
    low, high = model.predict_quantiles(X[1000:], [0.05, 0.95]).T
    inside = (y[1000:] >= low) & (y[1000:] <= high)
    assert inside.mean() == pytest.approx(0.9, abs=0.05)
    wide = high - low
    right = X[1000:, 0] > 0.7
    left = X[1000:, 0] < 0.3
    assert wide[right].mean() > 1.5 * wide[left].mean()
    single = model.predict_quantiles(X[1000:], 0.5)
    assert single.shape == (500,)


def test_weights_count_where_all_rows_are_used(diabetes):
    X, y = diabetes
    weight = np.random.default_rng(0).integers(1, 4, 442)
    where = np.repeat(np.arange(442), weight)
    fit = {"n_estimators": 5, "max_depth": 4, "keep_targets": True, "random_state": 0}
    weighted = tw.ExtraTreesRegressor(**fit).fit(X, y, sample_weight=weight)
    repeated = tw.ExtraTreesRegressor(**fit).fit(X[where], y[where])
    assert_array_equal(weighted.predict_quantiles(X[:20]), repeated.predict_quantiles(X[:20]))


def test_quantiles_need_what_fit_did_not_keep(diabetes):
    model = tw.RandomForestRegressor(3).fit(*diabetes)
    with pytest.raises(ParameterError, match="keep_targets=True"):
        model.predict_quantiles(diabetes[0])
    model.set_params(keep_targets=True).fit(*diabetes)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        model.predict_quantiles(diabetes[0], [0.5, 1.5])


def test_intervals_from_residuals_cover_new_observations():
    rng = np.random.default_rng(1)
    X = rng.random((1200, 3))
    y = np.sin(6 * X[:, 0]) + rng.normal(scale=0.5, size=1200)
    model = tw.RandomForestRegressor(100, min_samples_leaf=5, oob_score=True, random_state=0).fit(
        X[:700], y[:700]
    )
    for level in (0.8, 0.95):
        low, high = model.predict_interval(X[700:], level).T
        inside = (y[700:] >= low) & (y[700:] <= high)
        assert inside.mean() == pytest.approx(level, abs=0.05)


def test_the_jackknife_sees_how_much_a_forest_varies():
    def sample(seed):
        rng = np.random.default_rng(seed)
        X = rng.random((150, 2))
        return X, 2 * X[:, 0] + rng.normal(scale=0.3, size=150)

    points = np.array([[0.3, 0.5], [0.6, 0.2], [0.8, 0.8]])
    shape = {"n_estimators": 400, "min_samples_leaf": 5}
    said, variances = [], []
    for seed in range(12):
        model = tw.RandomForestRegressor(**shape, random_state=seed).fit(*sample(seed))
        said.append(model.predict(points))
        low, high = model.predict_interval(points, 0.95, method="jackknife").T
        assert_allclose((low + high) / 2, said[-1])
        variances.append(((high - low) / 2 / 1.959964) ** 2)
    true = np.var(said, axis=0, ddof=1).mean()
    assert 0.4 < np.mean(variances) / true < 2.5


@pytest.mark.filterwarnings("ignore::treewright.errors.FewTreesWarning")
def test_the_bias_of_few_trees_is_taken_off(diabetes):
    X, y = diabetes
    few, many = (
        tw.RandomForestRegressor(n, min_samples_leaf=5, random_state=0).fit(X, y) for n in (50, 600)
    )
    wide = [np.diff(m.predict_interval(X[:40], method="jackknife")).mean() for m in (few, many)]
    # without the correction the first would be 442/50 against 442/600 times the spread wider
    assert wide[0] < 2.0 * wide[1]


def test_too_few_trees_for_the_jackknife_are_said(diabetes):
    X, y = diabetes
    model = tw.RandomForestRegressor(20, random_state=0).fit(X, y)
    said = r"20 trees do not tell how much \d+ of 442 predictions vary"
    with pytest.warns(FewTreesWarning, match=said) as caught:
        low, high = model.predict_interval(X, method="jackknife").T
    assert f" {np.count_nonzero(low == high)} of" in str(caught[0].message)


def test_intervals_say_what_they_need(diabetes):
    X, y = diabetes
    model = tw.RandomForestRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="oob_score=True"):
        model.predict_interval(X)
    with pytest.raises(ParameterError, match="level"):
        model.predict_interval(X, 95)
    with pytest.raises(ParameterError, match="method"):
        model.predict_interval(X, method="magic")
    both = tw.RandomForestRegressor(5, keep_targets=True).fit(X, np.column_stack([y, y]))
    with pytest.raises(ParameterError, match="single output"):
        both.predict_interval(X)
    with pytest.raises(ParameterError, match="needs rows"):
        tw.ExtraTreesRegressor(5).fit(X, y).predict_interval(X, method="jackknife")
