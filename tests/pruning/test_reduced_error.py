"""Reduced-error pruning: the best of all prunings on rows held out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pruning.arbitrary_trees import all_prunings
from treewright import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    HuntClassifier,
    ID3Classifier,
)
from treewright.data.encode import encode
from treewright.errors import DataError
from treewright.pruning import reduced_error
from treewright.pruning._rows import read_rows, refit
from treewright.tree.predict import node_values


def mixed(seed, n=60, gaps=0.0):
    """Small mixed data in which the target is half noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 3)).astype(float)
    true = X[:, 0] // 2 + (X[:, 1] > 2)
    y = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), true).astype(int)
    X[rng.random(X.shape) < gaps] = np.nan
    return X, y


def collapsed_at(tree, leaves):
    return tree.collapse(np.array(sorted(t for t in leaves if not tree.is_leaf[t]), np.int64))


def best_on(tree, loss):
    """The smallest of the prunings with the least loss."""
    trees = [collapsed_at(tree, ls) for ls in all_prunings(tree.first_child, tree.n_children)]
    losses = [loss(t) for t in trees]
    least = min(losses)
    return min(
        (t for t, value in zip(trees, losses, strict=True) if value <= least + 1e-9),
        key=lambda t: t.n_nodes,
    )


LEARNERS = {
    "binary": lambda: CARTClassifier(max_depth=3),
    "multiway": lambda: ID3Classifier(max_depth=2),
    "stopped": lambda: CARTClassifier(
        max_depth=3, missing="surrogate", surrogate_fallback="stop", max_surrogates=1
    ),
    "weighted": lambda: CARTClassifier(max_depth=3),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("seed", range(4))
def test_no_pruning_makes_fewer_errors_on_the_validation_rows(name, seed):
    X, y = mixed(seed, gaps=0.15 if name == "stopped" else 0.0)
    X_val, y_val = mixed(seed + 100, gaps=0.15 if name == "stopped" else 0.0)
    nominal = {"categorical_features": [0, 1, 2]} if name == "multiway" else {}
    model = LEARNERS[name]().set_params(**nominal).fit(X, y)
    tree = model.tree_
    weight = np.random.default_rng(seed).integers(1, 4, len(y_val)) if name == "weighted" else None
    table, codes, weights = read_rows(tree, X_val, y_val, weight, "the validation set")

    def loss(pruned):
        labels = np.eye(tree.value.shape[1])[pruned.label]
        said = node_values(pruned, table, np.ascontiguousarray(labels))
        wrong = 1 - said[np.arange(len(codes)), codes]
        return wrong.sum() if weights is None else wrong @ weights

    best = best_on(tree, loss)
    pruned = reduced_error(tree, X_val, y_val, weight)
    assert pruned.n_nodes == best.n_nodes
    assert loss(pruned) == pytest.approx(loss(best))


def test_parts_of_rows_count_by_their_shares_where_gaps_divide_them():
    X, y = mixed(5, 200, gaps=0.2)
    X_val, y_val = mixed(6, 200, gaps=0.2)
    tree = C45Classifier(pruning=None).fit(X, y).tree_
    assert tree.is_fractional
    pruned = reduced_error(tree, X_val, y_val)
    table = encode(X_val, schema=tree.schema)

    def loss(t):
        said = node_values(t, table, np.eye(3)[t.label])
        return (1 - said[np.arange(len(y_val)), y_val]).sum()

    assert loss(pruned) <= loss(tree) + 1e-9
    log = pruned.pruning_log
    last = log.rule == len(log.rules) - 1  # after those of C4.5 itself
    assert np.all(log.after[last] <= log.before[last] + 1e-9)
    whole = log.after[last & (log.node == 0)]
    if len(whole):
        assert whole[0] == pytest.approx((y_val != tree.label[0]).sum())


@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_judged_by_their_squared_error(seed):
    rng = np.random.default_rng(seed)
    X, X_val = rng.random((2, 80, 2))
    y, y_val = (np.sin(5 * x[:, 0]) + rng.normal(0, 0.7, 80) + 1000 for x in (X, X_val))
    tree = CARTRegressor(max_depth=3).fit(X, y).tree_
    table = encode(X_val, schema=tree.schema)
    best = best_on(tree, lambda t: ((node_values(t, table, t.value)[:, 0] - y_val) ** 2).sum())
    assert reduced_error(tree, X_val, y_val).n_nodes == best.n_nodes


def test_costs_decide_where_they_are_given():
    X, y = mixed(7, 120)
    X_val, y_val = mixed(8, 120)
    costs = np.array([[0, 9, 1], [1, 0, 1], [1, 5, 0]])
    tree = CARTClassifier(max_depth=3).fit(X, y).tree_
    table = encode(X_val, schema=tree.schema)
    codes = y_val

    def loss(t):
        label = node_values(t, table, t.label[:, None].astype(float))[:, 0].astype(int)
        return costs[codes, label].sum()

    best = best_on(tree, loss)
    assert reduced_error(tree, X_val, y_val, costs=costs).n_nodes == best.n_nodes
    with pytest.raises(DataError, match="costs must be a finite 3 × 3 matrix"):
        reduced_error(tree, X_val, y_val, costs=[[0, 1], [1, 0]])


def test_leaf_values_can_be_made_anew_from_all_rows():
    X, y = mixed(9, 150)
    half = HuntClassifier(max_depth=2).fit(X[:75], y[:75]).tree_
    table, codes, _ = read_rows(half, X, y, None, "rows")
    whole = refit(half, table, codes, None)
    assert whole.n_samples[0] == 150
    np.testing.assert_array_equal(whole.value[0], np.bincount(y, minlength=3))
    again = refit(half, *read_rows(half, X[:75], y[:75], None, "rows"))
    for name in ("value", "label", "weight", "n_samples"):
        np.testing.assert_array_equal(getattr(again, name), getattr(half, name))
    for name in ("impurity", "risk", "gain"):
        np.testing.assert_allclose(getattr(again, name), getattr(half, name), atol=1e-12)


def test_leaf_means_can_be_made_anew_from_all_rows():
    rng = np.random.default_rng(3)
    X, y = rng.random((90, 2)), rng.random(90)
    tree = CARTRegressor(max_depth=3).fit(X, y).tree_
    again = refit(tree, *read_rows(tree, X, y, None, "rows"))
    for name in ("value", "impurity", "risk", "gain", "weight"):
        np.testing.assert_allclose(getattr(again, name), getattr(tree, name), atol=1e-12)


def test_a_validation_set_without_rows_is_refused():
    X, y = mixed(0)
    tree = CARTClassifier(max_depth=1).fit(X, y).tree_
    with pytest.raises(DataError, match="the validation set must have at least one row, got none"):
        reduced_error(tree, X[:0], y[:0])


def test_classes_that_training_did_not_have_are_refused():
    X, y = mixed(0)
    tree = CARTClassifier(max_depth=1).fit(X, y).tree_
    with pytest.raises(DataError, match="y must hold classes of training only, but has 7"):
        reduced_error(tree, X, np.where(y == 0, 7, y))
