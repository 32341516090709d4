"""Integers that the core cannot hold: limits mean none, everything else is refused in words."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import treewright as tw
from treewright.errors import ParameterError

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("value", [2**31, sys.maxsize, 10**30])
@pytest.mark.parametrize(
    "model",
    [tw.CARTClassifier(), tw.GradientBoostingClassifier(n_estimators=2), tw.ID3Classifier()],
    ids=lambda model: type(model).__name__,
)
def test_a_depth_beyond_all_trees_is_no_limit(model, value):
    if "max_depth" in model.get_params():
        model.set_params(max_depth=value)
    assert model.fit(X, Y).score(X, Y) > 0.9


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (tw.MARSRegressor(degree=2**40), "degree"),
        (tw.CHAIDClassifier(n_bins=10**30), "n_bins"),
        (tw.RandomForestClassifier(10**30), "n_estimators"),
        (tw.BaggingClassifier(max_samples=2**63 - 1), "max_samples"),
        (tw.RandomForestClassifier(max_samples=2**63 - 1), "max_samples"),
    ],
)
def test_other_integers_beyond_the_core_are_refused_in_words(model, name):
    with pytest.raises(ParameterError, match=f"{name} must be .*at most"):
        model.fit(X, Y)


def test_integers_of_128_bits_are_numbers():
    frame = pl.DataFrame({"a": pl.Series(range(20), dtype=pl.Int128)})
    y = [0] * 10 + [1] * 10
    assert tw.CARTClassifier().fit(frame, y).score(frame, y) == 1.0


def test_surrogates_of_ctree_need_no_number():
    gappy = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    model = tw.CTreeClassifier(missing="surrogate").fit(gappy, Y)
    assert model.score(gappy, Y) > 0.7
