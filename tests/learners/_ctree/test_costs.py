"""Importances of conditional inference trees with costs."""

from __future__ import annotations

import numpy as np

from treewright import CTreeClassifier


def test_splits_never_raise_the_impurity_that_costs_make():
    random = np.random.default_rng(0)
    for _ in range(5):
        X = random.normal(size=(80, 3))
        y = (X[:, 0] + 0.7 * random.normal(size=80) > 0).astype(int)
        model = CTreeClassifier(costs=[[0, 10], [1, 0]]).fit(X, y)
        assert model.tree_.n_leaves > 1
        assert np.all(model.tree_.gain >= 0)
        assert model.feature_importances_.sum() > 0
