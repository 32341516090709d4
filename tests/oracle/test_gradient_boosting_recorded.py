"""Gradient boosting against recorded runs of scikit-learn 1.9.1 (HistGradientBoosting)."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

import treewright
from tests.oracle.recorded import load_small


def test_hist_gradient_boosting_of_scikit_learn_is_reproduced_on_the_folds_of_hitters() -> None:
    recorded = load_small("boosting", "hitters")
    run = recorded.runs["sklearn_hist_default"]
    model = treewright.GradientBoostingRegressor(
        n_estimators=100,
        learning_rate=0.1,
        max_leaf_nodes=31,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        early_stopping=False,
        **recorded.hints,
    )
    predicted = np.empty(len(recorded.y))
    for train, test in recorded.splits:
        model.fit(recorded.X.iloc[train], recorded.y[train])
        predicted[test] = model.predict(recorded.X.iloc[test])
    assert len(recorded.splits) == 10
    # the same trees; scikit-learn sums float32 slopes
    assert_allclose(predicted, run["oof"], rtol=2e-5, atol=1e-3)
