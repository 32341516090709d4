"""Worked example 15: the curve that turns, with one call."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression

import treewright
from treewright import C45Classifier, CARTClassifier, CARTRegressor
from treewright.errors import ParameterError


@pytest.fixture(scope="module")
def rings():
    data = treewright.datasets.two_rings(1000, noise=0.1, random_state=0)
    return data.data, data.target


def test_on_the_two_rings_training_error_falls_while_test_error_turns_up(rings):
    curve = treewright.pruning_curve(CARTClassifier(), *rings)
    assert np.all(np.diff(curve.n_leaves) > 0)
    assert np.all(np.diff(curve.training) <= 1e-12)
    assert curve.training[-1] == pytest.approx(0.0, abs=1e-12)
    assert curve.turns
    assert curve.validation[-1] > curve.validation.min() + 0.03
    assert 4 <= curve.best_size < curve.n_leaves[-1] / 2
    near = np.argmin(curve.cross_validated)
    assert curve.cross_validated[-1] > curve.cross_validated[near]
    assert len(curve.frame()) == len(curve)
    assert list(curve.frame().columns)[-1] == "standard_error"


def test_the_curve_is_a_figure_against_size_or_alpha(rings):
    curve = treewright.pruning_curve(CARTClassifier(min_samples_leaf=5), *rings, cv=None)
    assert curve.cross_validated is None
    assert curve.plot().get_xlabel() == "leaves"
    assert curve.plot(against="alpha").get_xlabel() == "alpha"
    with pytest.raises(ParameterError, match="against must be"):
        curve.plot(against="time")
    assert str(curve).startswith("error of ")
    assert curve._repr_html_().count("<table>") == 1


def test_other_learners_and_numbers_have_a_curve(rings):
    assert treewright.pruning_curve(C45Classifier(), *rings, cv=3).training[-1] < 0.2
    X, y = load_diabetes(return_X_y=True)
    curve = treewright.pruning_curve(CARTRegressor(), X, y, cv=3)
    assert curve.unit == "squared error"
    assert curve.turns
    assert curve.cross_validated[0] == pytest.approx(np.var(y), rel=0.25)


def test_what_fits_no_tree_is_refused():
    with pytest.raises(ParameterError, match="needs an estimator that fits one tree, got Logistic"):
        treewright.pruning_curve(LogisticRegression(), [[1.0]], [1])
