"""Proximities and outliers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_iris

import treewright as tw


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def model(iris):
    return tw.RandomForestClassifier(25, random_state=0).fit(*iris)


def test_proximity_is_the_share_of_trees_with_a_common_leaf(iris, model):
    leaves = model.apply(iris[0])
    shares = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    found = model.proximity(iris[0])
    assert_allclose(found.toarray(), shares)
    assert found.nnz < 150 * 150
    assert_allclose(model.proximity(iris[0][:5], iris[0][7:9]).toarray(), shares[:5, 7:9])


def test_out_of_bag_proximity_asks_trees_that_saw_neither_row(iris, model):
    X, y = iris
    leaves = model.apply(X)
    out = np.column_stack([~np.isin(np.arange(150), rows) for rows in model.estimators_samples_])
    both = out[:, None, :] & out[None, :, :]
    same = leaves[:, None, :] == leaves[None, :, :]
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num((same & both).sum(axis=2) / both.sum(axis=2))
    np.fill_diagonal(shares, 1.0)
    assert_allclose(model.proximity_oob(X, y).toarray(), shares)


def test_an_intruder_is_the_outlier_of_its_class(iris):
    X, y = iris
    wrong = y.copy()
    wrong[10] = 2  # a setosa that claims to be a virginica
    model = tw.RandomForestClassifier(100, min_samples_leaf=3, random_state=0).fit(X, wrong)
    found = model.outlier_measure(X, wrong)
    assert found.frame()["row"][0] == 10
    assert np.asarray(found)[10] > 10
    assert "outlier_measure" in str(found)
    assert "<table" in found._repr_html_()
    assert found.plot().get_ylabel() == "outlier measure"


def test_rows_of_numbers_are_compared_with_all_rows():
    X, y = load_diabetes(return_X_y=True)
    model = tw.RandomForestRegressor(20, min_samples_leaf=5, random_state=0).fit(X, y)
    found = model.outlier_measure(X, y)
    assert len(found) == 442
    assert np.median(found.values) == pytest.approx(0)
