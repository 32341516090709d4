"""to_sklearn rounds values to single precision; values at a cut go where the model sends them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import treewright as tw


@pytest.mark.parametrize(
    "model",
    [
        tw.CTreeRegressor(),
        tw.RandomForestRegressor(10, max_depth=4, random_state=0),
        tw.CARTRegressor(min_samples_leaf=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_values_of_two_decimals_keep_their_side_of_the_cuts(model):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(300, 3)).round(2), columns=list("abc"))
    model.fit(X, X["a"] * 2 + np.where(X["b"] > 0, 3, 0) + random.normal(0, 0.1, 300))
    assert_allclose(tw.to_sklearn(model).predict(X), model.predict(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("closed", ["at_most", "below"])
def test_neighbours_of_single_precision_stay_apart(closed):
    first = np.float32(0.1)
    x = np.array([first, np.nextafter(first, np.float32(1))], np.float64)
    model = tw.CARTClassifier(min_samples_split=2, continuous_split=closed)
    model.fit(x[:, None], ["a", "b"])
    assert tw.to_sklearn(model).predict(x[:, None]).tolist() == ["a", "b"]
