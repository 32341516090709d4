"""Weights of rows: which are taken, and which rows they leave."""

from __future__ import annotations

import numpy as np
import pytest

from treewright import (
    CARTClassifier,
    ExtraTreesClassifier,
    MARSRegressor,
    ObliqueTreeClassifier,
    RandomForestClassifier,
    load,
    save,
)
from treewright.data.weights import counting_weights, read_weights
from treewright.errors import DataError


def test_weights_may_be_two_hundred_orders_apart_and_less_is_nothing():
    weight, rows = read_weights(np.array([1e-320, 1e-101, 1e-100, 1.0, 1e100]), 5)
    assert weight.tolist() == [1e-100, 1.0, 1e100]
    assert rows.tolist() == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        ([1.0, 1e101], "must be at most 1e"),
        ([1.0, np.inf], "must be finite"),
        ([1.0, -1e-300], "at least 0"),
        ([1e-300, 0.0], "in at least one row"),
    ],
)
def test_weights_that_cannot_be_computed_with_are_refused(weight, sentence):
    with pytest.raises(DataError, match=sentence):
        read_weights(weight, 2)


def test_weights_so_far_apart_that_all_would_be_whole_multiples_are_no_counts():
    assert counting_weights(np.array([1e-13, 0.3, 0.7, 1.1])).sum() == pytest.approx(4)
    assert counting_weights(np.array([1.0, 2.0**31])).tolist() == [1, 2**31]


@pytest.mark.parametrize(
    "model",
    [
        CARTClassifier(),
        RandomForestClassifier(n_estimators=3, bootstrap=False, random_state=0),
        ExtraTreesClassifier(n_estimators=3, tree_method="exact", random_state=0),
        ObliqueTreeClassifier(method="lda"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_nodes_of_rows_that_hardly_weigh_have_weight_and_classes(model, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = (X[:, 0] + X[:, 1] ** 2 + random.normal(size=200) > 0.5).astype(int)
    model.fit(X, y, sample_weight=10.0 ** random.uniform(-30, 0, 200))
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    save(model, tmp_path / "m.tw")
    np.testing.assert_array_equal(load(tmp_path / "m.tw").predict_proba(X), probability)


def test_splines_take_no_time_for_copies_of_a_row():
    x = np.linspace(0, 10, 100)
    weight = np.ones(100)
    weight[40] = 2.0**31  # a step of one row at a time would take seconds
    found = MARSRegressor(minspan=1).fit(x[:, None], np.abs(x - x[40]), weight)
    knots = {factor.knot for term in found.basis_.terms for factor in term}
    assert x[40] in knots
