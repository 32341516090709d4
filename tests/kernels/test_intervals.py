"""Cuts by description length: the kernel against its twin, through trees of one feature."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from tests.twins.intervals import mdl_cuts
from treewright import ID3Classifier


def grown_cuts(values, y, weight=None, **parameters):
    model = ID3Classifier(max_depth=1, **parameters)
    model.fit(np.asarray(values)[:, None], y, sample_weight=weight)
    return model.tree_.splits.breaks


def steps(n, rng, levels):
    """Values of a few levels whose class changes along them, with noise."""
    values = np.round(rng.normal(size=n), levels)
    wave = (np.sin(3 * values) > 0).astype(int) + (values > 1)
    return values, np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), wave).astype(np.int32)


@pytest.mark.parametrize("levels", [1, 2, 12])  # coded columns and sorted ones
@pytest.mark.parametrize("n", [5, 40, 300, 2000])
def test_a_continuous_feature_is_cut_where_the_twin_cuts_it(n, levels):
    rng = np.random.default_rng(n + levels)
    values, y = steps(n, rng, levels)
    if n == 2000:
        assert len(mdl_cuts(values, y)) > 3
    np.testing.assert_array_equal(grown_cuts(values, y), mdl_cuts(values, y))


@pytest.mark.parametrize("missing", ["fractional", "own_branch", "majority"])
def test_gaps_and_weights_count_as_the_twin_counts_them(missing):
    rng = np.random.default_rng(1)
    values, y = steps(1500, rng, 2)
    values[rng.random(1500) < 0.2] = np.nan
    weight = rng.integers(1, 4, 1500).astype(float)
    expected = mdl_cuts(values, y, weight)
    assert len(expected) > 2
    np.testing.assert_array_equal(grown_cuts(values, y, weight, missing=missing), expected)


def test_repeated_rows_and_weights_give_the_same_cuts():
    rng = np.random.default_rng(2)
    values, y = steps(400, rng, 3)
    weight = rng.integers(1, 5, 400)
    repeated = np.repeat(np.arange(400), weight)
    np.testing.assert_array_equal(
        grown_cuts(values, y, weight.astype(float)), grown_cuts(values[repeated], y[repeated])
    )


def test_petal_width_of_iris_is_cut_at_its_published_places():
    X, y = load_iris(return_X_y=True)
    assert grown_cuts(X[:, 3], y).tolist() == [0.8, 1.75]
    assert grown_cuts(X[:, 2], y).tolist() == [2.45, 4.75]


def test_random_classes_are_not_cut():
    rng = np.random.default_rng(3)
    assert len(grown_cuts(rng.normal(size=500), rng.integers(0, 2, 500))) == 0
