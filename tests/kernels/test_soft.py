"""Soft thresholds: the kernels against their twins."""

from __future__ import annotations

import numpy as np
import pytest

from tests.twins import soft as twin
from treewright import C50Classifier
from treewright.data.weights import counting_weights
from treewright.kernels import soft as compiled
from treewright.learners._c50.soft import soft_values
from treewright.learners._c50.votes import leaf_probability


def sample(seed: int, n: int = 260):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)).round(1)
    words = rng.choice(["a", "b", "c"], n).astype(object)
    signal = x[:, 0] + x[:, 1] * (words == "a") + rng.normal(0, 0.6, n)
    y = np.digitize(signal, [-0.4, 0.7])
    x[rng.random(x.shape) < 0.05] = np.nan
    words[rng.random(n) < 0.05] = None
    return {"x0": x[:, 0], "x1": x[:, 1], "x2": x[:, 2], "words": words}, y, rng.random(n) + 0.5


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_bounds_and_values_are_those_of_the_twins(seed, weighted):
    X, y, weight = sample(seed)
    model = C50Classifier(soft_thresholds=True).fit(X, y, weight if weighted else None)
    tree, table = model.tree_, model._table(X)
    assert tree.n_nodes > 1
    each = counting_weights(weight) if weighted else np.ones(len(y))
    bounds = twin.soft_bounds(tree, table, y.astype(np.int32), each)
    found = np.array([tree.extras[name] for name in compiled.BOUNDS])
    np.testing.assert_array_equal(found, bounds)
    values = leaf_probability(tree)
    expected = twin.soft_values(tree, table, bounds, values)
    for n_threads in (1, 3):
        got = soft_values(tree, table, values, n_threads)
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0)
    assert np.any(np.isfinite(bounds[0]) & (bounds[0] < bounds[2]))


def test_arrays_that_do_not_belong_together_are_refused():
    X, y, _ = sample(0)
    model = C50Classifier(soft_thresholds=True).fit(X, y)
    tree, table = model.tree_, model._table(X)
    nodes = {name: getattr(tree, name) for name in compiled.NODES}
    arrays = tree.splits.arrays()
    with pytest.raises(ValueError, match="one entry per row"):
        compiled.soft_bounds(table.columns, nodes, arrays, y.astype(np.int32), np.ones(3))
    cut = nodes | {"weight": tree.weight[:-1]}
    with pytest.raises(ValueError, match="do not belong together"):
        compiled.soft_bounds(table.columns, cut, arrays, y.astype(np.int32), np.ones(len(y)))
    short = [column[:-1] for column in table.columns]
    with pytest.raises(ValueError, match="equal length"):
        compiled.soft_bounds(short, nodes, arrays, y.astype(np.int32), np.ones(len(y)))
