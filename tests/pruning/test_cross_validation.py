"""Cross-validated errors of a pruning sequence."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pruning.arbitrary_trees import CLASSES, NUMBER, break_splits, make_tree
from treewright import CARTRegressor
from treewright.data.schema import Feature, Schema
from treewright.data.table import Table
from treewright.errors import ParameterError
from treewright.pruning import (
    _cross_validation,
    class_loss,
    cost_complexity,
    cross_validated_errors,
    pruning_sequence,
    squared_loss,
)

X = np.random.default_rng(3).permutation(60) / 60
Y = ((X > 0.5) ^ ((X > 0.125) & (X < 0.25)) ^ (X > 0.93)).astype(np.int32)
Y[::9] ^= 1
fold = np.arange(60) % 4
SPLITS = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
EIGHTHS = np.array([0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875])


def table_of(x):
    schema = Schema((Feature("x", "continuous"),))
    return Table(schema, len(x), np.zeros(1, np.bool_), (np.asarray(x, np.float64),))


def grow_eighths(rows, target=CLASSES):
    """A full tree of depth three with fixed thresholds, labelled by the given rows."""
    first = np.append(2 * np.arange(7) + 1, np.full(8, -1))
    low, high = np.zeros(15), np.ones(15)
    for t in range(7):
        low[2 * t + 1], high[2 * t + 1] = low[t], EIGHTHS[t]
        low[2 * t + 2], high[2 * t + 2] = EIGHTHS[t], high[t]
    inside = (X[rows] >= low[:, None]) & (X[rows] < high[:, None])
    ones, n = inside @ Y[rows], inside.sum(axis=1)
    mean = ones / np.maximum(n, 1)
    is_class = target is CLASSES
    error = np.minimum(ones, n - ones) if is_class else n * mean * (1 - mean)
    return make_tree(
        first,
        np.repeat([2, 0], [7, 8]),
        error / len(rows),
        target,
        break_splits(np.append(EIGHTHS, np.full(8, np.nan))),
        value=np.column_stack([n - ones, ones]).astype(float) if is_class else mean[:, None],
        label=(ones > n - ones).astype(np.int32) if is_class else np.zeros(0, np.int32),
    )


def leaf_of(tree, x):
    node = 0
    while tree.first_child[node] >= 0:
        node = tree.first_child[node] + int(x >= tree.splits.node_breaks(node)[0])
    return node


@pytest.mark.parametrize("rule", ["exact", "rpart"])
def test_errors_are_those_of_fold_trees_pruned_at_geometric_means(rule):
    everything = np.arange(60)
    sequence = pruning_sequence(grow_eighths(everything), rule=rule)
    assert len(sequence) > 2
    result = cross_validated_errors(sequence, table_of(X), SPLITS, grow_eighths, class_loss(Y))
    root_errors = min(Y.sum(), 60 - Y.sum())
    for k, alpha in enumerate(sequence.alphas):
        following = sequence.alphas[k + 1] if k + 1 < len(sequence) else 10 * root_errors / 60
        price = np.sqrt(alpha * following)
        losses = []
        for train, test in SPLITS:
            tree = grow_eighths(train)
            prune = {"ccp_alpha": price} if rule == "exact" else {"cp": price / tree.risk[0]}
            pruned = cost_complexity(tree, **prune)
            losses += [float(pruned.label[leaf_of(pruned, X[i])] != Y[i]) for i in test]
        wrong = sum(losses)
        assert result.error[k] == pytest.approx(wrong / root_errors)
        assert result.std[k] == pytest.approx(np.sqrt(wrong - wrong**2 / 60) / root_errors)


def test_an_integer_weight_counts_as_repeated_rows():
    sequence = pruning_sequence(grow_eighths(np.arange(60)))
    weight = 1 + np.arange(60) % 3
    repeated = np.repeat(np.arange(60), weight)
    doubled_splits = [
        (train, np.flatnonzero(fold[repeated] == k)) for k, (train, _) in enumerate(SPLITS)
    ]
    loss = class_loss(Y, costs=np.array([[0, 1.0], [4, 0]]))
    weighted = cross_validated_errors(
        sequence, table_of(X), SPLITS, grow_eighths, loss, weight.astype(float)
    )
    loss = class_loss(Y[repeated], costs=np.array([[0, 1.0], [4, 0]]))
    long = cross_validated_errors(
        sequence, table_of(X[repeated]), doubled_splits, grow_eighths, loss
    )
    np.testing.assert_allclose(weighted.error, long.error)
    np.testing.assert_allclose(weighted.std, long.std)


def test_looking_at_few_rows_at_a_time_changes_nothing(monkeypatch):
    sequence = pruning_sequence(grow_eighths(np.arange(60)))
    whole = cross_validated_errors(sequence, table_of(X), SPLITS, grow_eighths, class_loss(Y))
    monkeypatch.setattr(_cross_validation, "MOST_CELLS", 4 * len(sequence))
    parts = cross_validated_errors(sequence, table_of(X), SPLITS, grow_eighths, class_loss(Y))
    np.testing.assert_allclose(parts.error, whole.error)
    np.testing.assert_allclose(parts.std, whole.std)


def test_the_root_of_a_regression_has_an_error_a_little_above_one():
    def grow(rows):
        return grow_eighths(rows, NUMBER)

    y = Y.astype(float)
    sequence = pruning_sequence(grow(np.arange(60)))
    result = cross_validated_errors(sequence, table_of(X), SPLITS, grow, squared_loss(y))
    held_out = np.concatenate([(y[test] - y[train].mean()) ** 2 for train, test in SPLITS])
    total = np.sum((y - y.mean()) ** 2)
    assert result.error[-1] == pytest.approx(held_out.sum() / total)
    assert result.std[-1] == pytest.approx(held_out.std() * np.sqrt(60) / total)
    assert 1 < result.error[-1] < 1.2


@pytest.mark.parametrize("scale", [2.0**300, 2.0**-300])
def test_the_scale_of_a_target_changes_no_choice_and_no_relative_error(scale):
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] < 20, 1, 2) + np.random.default_rng(0).normal(size=40) * 0.4
    settings = {"ccp_alpha": "cv", "rule": "1se", "cv": 3, "random_state": 0}
    plain, moved = (CARTRegressor(**settings).fit(X, y * by) for by in (1.0, scale))
    assert moved.tree_.n_leaves == plain.tree_.n_leaves == 2
    np.testing.assert_array_equal(moved.cp_table_.xerror, plain.cp_table_.xerror)
    np.testing.assert_array_equal(moved.cp_table_.xstd, plain.cp_table_.xstd)


def test_class_losses_take_the_cost_of_the_true_row_and_the_predicted_column():
    tree = make_tree([1, -1, -1], [2, 0, 0], [1.0, 0.0, 0.0], label=np.array([0, 0, 1], np.int32))
    nodes = np.array([[1, 2], [1, 2]], np.int32)
    costs = np.array([[0.0, 1.0], [4.0, 0.0]])
    y = np.array([0, 1])
    rows = np.array([0, 1])
    assert class_loss(y)(tree, nodes, rows).tolist() == [[0, 1], [1, 0]]
    assert class_loss(y, costs)(tree, nodes, rows).tolist() == [[0, 1], [4, 0]]
    assert class_loss(y, costs, [10, 0.5])(tree, nodes, rows).tolist() == [[0, 10], [2, 0]]


def test_squared_losses_of_several_outputs_are_averaged():
    tree = make_tree([-1], [0], [1.0], NUMBER, value=np.array([[1.0, 5.0]]))
    loss = squared_loss(np.array([[1.0, 2.0], [3.0, 5.0]]))
    found = loss(tree, np.zeros((1, 1), np.int32), np.array([1]))
    assert found.tolist() == [[2.0]]


def test_splits_that_hold_out_nothing_are_refused():
    sequence = pruning_sequence(grow_eighths(np.arange(60)))
    with pytest.raises(ParameterError, match="splits must hold out at least one row"):
        cross_validated_errors(sequence, table_of(X), [], grow_eighths, class_loss(Y))
