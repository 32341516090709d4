"""The weakest link: worked example 13, and scikit-learn's path."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.pruning.arbitrary_trees import (
    CLASSES,
    NUMBER,
    all_prunings,
    make_tree,
    risky_shapes,
)
from treewright.errors import ParameterError
from treewright.pruning import cost_complexity, cost_complexity_path, pruning_sequence


def smallest_minimiser(prunings, risk, alpha):
    """The smallest of the subtrees that minimise risk + alpha * leaves."""
    cost = {leaves: risk[list(leaves)].sum() + alpha * len(leaves) for leaves in prunings}
    least = min(cost.values())
    best = [leaves for leaves, c in cost.items() if c <= least + 1e-9]
    return min(best, key=len)


def leaves_at(sequence, first, count, alpha):
    collapsed = sequence.collapsed(alpha)
    leaves, stack = [], [0]
    while stack:
        t = stack.pop()
        if collapsed[t] or not count[t]:
            leaves.append(t)
        else:
            stack.extend(range(first[t], first[t] + count[t]))
    return frozenset(leaves)


@given(risky_shapes(max_inner=6, max_children=3))
def test_every_alpha_gives_the_smallest_of_the_best_prunings(arrays):
    first, count, risk = arrays
    prunings = list(all_prunings(first, count))
    sequence = pruning_sequence(make_tree(*arrays))
    middles = [(a + b) / 2 for a, b in pairwise(sequence.alphas)]
    for alpha in [*sequence.alphas, *middles, sequence.alphas[-1] + 1]:
        expected = smallest_minimiser(prunings, risk, alpha)
        assert leaves_at(sequence, first, count, alpha) == expected


@given(risky_shapes(max_inner=8, least_gain=0))
def test_alpha_zero_gives_the_smallest_subtree_with_the_risk_of_the_whole(arrays):
    first, count, risk = arrays
    tree = make_tree(*arrays)
    pruned = cost_complexity(tree, ccp_alpha=0.0)
    full_risk = risk[count == 0].sum()
    assert pruned.risk[pruned.n_children == 0].sum() == pytest.approx(full_risk)
    gain_below = {t: risk[t] - risk[leaves_below(first, count, t)].sum() for t in range(len(first))}
    n_free = sum(gain_below[t] == 0 and count[t] > 0 for t in range(len(first)))
    assert (pruned.n_nodes < tree.n_nodes) == (n_free > 0)


def leaves_below(first, count, node):
    stack, leaves = [node], []
    while stack:
        t = stack.pop()
        if count[t]:
            stack.extend(range(first[t], first[t] + count[t]))
        else:
            leaves.append(t)
    return leaves


@given(risky_shapes(max_inner=8))
def test_subtrees_are_nested_and_end_with_the_root(arrays):
    tree = make_tree(*arrays)
    path = cost_complexity_path(tree)
    assert path.alphas[0] == 0
    assert np.all(np.diff(path.alphas) > 0)
    assert np.all(np.diff(path.n_leaves) < 0)
    assert np.all(np.diff(path.risks) >= -1e-12)
    assert path.n_leaves[-1] == 1
    assert cost_complexity(tree, ccp_alpha=np.inf).n_nodes == 1


@given(risky_shapes(max_inner=8))
def test_pruning_at_an_alpha_of_the_path_gives_the_leaves_and_risk_of_its_row(arrays):
    tree = make_tree(*arrays)
    path = cost_complexity_path(tree)
    for alpha, n_leaves, risk in zip(path.alphas, path.n_leaves, path.risks, strict=True):
        pruned = cost_complexity(tree, ccp_alpha=alpha)
        assert pruned.n_leaves == n_leaves
        assert pruned.risk[pruned.n_children == 0].sum() == pytest.approx(risk)


def test_the_weakest_link_of_a_small_tree_worked_by_hand():
    # root 10 → (5 → 1, 1) and (3 → 1, 1): g = 3, 1, and for the root 6/3 = 2, then 4/2 = 2.5
    tree = make_tree([1, 3, 5, -1, -1, -1, -1], [2, 2, 2, 0, 0, 0, 0], [10, 5, 3, 1, 1, 1, 1])
    path = cost_complexity_path(tree)
    assert path.alphas.tolist() == [0, 1, 2.5]
    assert path.n_leaves.tolist() == [4, 3, 1]
    assert path.risks.tolist() == [4, 5, 10]


def test_risk_impurity_weighs_the_impurity_of_each_node_by_its_share():
    tree = make_tree(
        [1, -1, -1],
        [2, 0, 0],
        [0.1, 0.1, 0.0],
        impurity=np.array([0.5, 0.4, 0.0]),
        weight=np.array([10.0, 6.0, 4.0]),
    )
    assert cost_complexity_path(tree, risk="error").alphas.tolist() == [0]
    path = cost_complexity_path(tree, risk="impurity")
    np.testing.assert_allclose(path.alphas, [0, 0.26])
    np.testing.assert_allclose(path.risks, [0.24, 0.5])


def convert(model, target):
    """A scikit-learn tree, numbered so that siblings are adjacent."""
    fitted = model.tree_
    order, first, count = [0], [], []
    for node in order:
        is_leaf = fitted.children_left[node] < 0
        first.append(-1 if is_leaf else len(order))
        count.append(0 if is_leaf else 2)
        if not is_leaf:
            order += [fitted.children_left[node], fitted.children_right[node]]
    return make_tree(
        first,
        count,
        np.zeros(len(order)),
        target,
        impurity=fitted.impurity[order],
        weight=fitted.weighted_n_node_samples[order],
    )


SKLEARN_CASES = [
    (load_iris, DecisionTreeClassifier(random_state=0), CLASSES),
    (load_breast_cancer, DecisionTreeClassifier(random_state=0, criterion="entropy"), CLASSES),
    (load_diabetes, DecisionTreeRegressor(random_state=0), NUMBER),
    (load_diabetes, DecisionTreeRegressor(random_state=0, min_samples_leaf=7), NUMBER),
]


@pytest.mark.parametrize(("load", "model", "target"), SKLEARN_CASES)
def test_the_impurity_path_equals_scikit_learns(load, model, target):
    X, y = load(return_X_y=True)
    theirs = model.cost_complexity_pruning_path(X, y)
    ours = cost_complexity_path(convert(model.fit(X, y), target), risk="impurity")
    # they collapse one node at a time; of rows with equal alphas the last is the subtree
    scale = theirs.impurities[-1]
    last = np.append(np.diff(theirs.ccp_alphas) > 1e-11 * scale, True)
    np.testing.assert_allclose(ours.ccp_alphas, theirs.ccp_alphas[last], atol=1e-11 * scale)
    np.testing.assert_allclose(ours.impurities, theirs.impurities[last], atol=1e-11 * scale)


@pytest.mark.parametrize(("load", "model", "target"), SKLEARN_CASES)
def test_pruned_trees_have_as_many_leaves_as_scikit_learns(load, model, target):
    X, y = load(return_X_y=True)
    tree = convert(model.fit(X, y), target)
    alphas = cost_complexity_path(tree, risk="impurity").alphas
    for alpha in np.sqrt(alphas[1:-1] * alphas[2:])[:: max(1, len(alphas) // 7)]:
        theirs = type(model)(**model.get_params() | {"ccp_alpha": alpha}).fit(X, y)
        assert cost_complexity(tree, alpha, risk="impurity").n_leaves == theirs.get_n_leaves()


def test_a_price_below_zero_is_refused():
    tree = make_tree([-1], [0], [0.5])
    with pytest.raises(ParameterError, match="ccp_alpha must be a number not below 0, got -1"):
        cost_complexity(tree, ccp_alpha=-1)
    with pytest.raises(ParameterError, match="cp must be a number not below 0, got nan"):
        cost_complexity(tree, cp=float("nan"))


def test_two_prices_or_none_are_refused():
    tree = make_tree([-1], [0], [0.5])
    with pytest.raises(ParameterError, match="either ccp_alpha or cp"):
        cost_complexity(tree, ccp_alpha=0.1, cp=0.1)
    with pytest.raises(ParameterError, match="either ccp_alpha or cp"):
        cost_complexity(tree)


def test_an_unknown_risk_is_refused():
    with pytest.raises(ParameterError, match='risk must be "error" or "impurity", got \'gini\''):
        cost_complexity_path(make_tree([-1], [0], [0.5]), risk="gini")
