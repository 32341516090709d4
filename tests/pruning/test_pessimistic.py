"""Worked examples 11 and 12, and pessimistic pruning as a pruner."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pruning.arbitrary_trees import NUMBER, make_tree, risky_shapes
from treewright.errors import ParameterError
from treewright.pruning import pessimistic, pessimistic_error


def count_tree(first, count, errors, n):
    """A tree with the given numbers of errors among ``n`` rows."""
    weight = np.full(len(first), float(n))
    return make_tree(first, count, np.asarray(errors) / n, weight=weight)


def test_thirty_leaves_with_ten_errors_in_a_thousand_rows_are_estimated_at_2_5_percent():
    assert pessimistic_error(errors=10, leaves=30, n=1000) == 0.025


def test_the_estimate_of_the_node_with_20_and_10_rises_from_10_5_to_11_in_30():
    assert pessimistic_error(errors=10, leaves=1, n=30) == 10.5 / 30
    assert pessimistic_error(errors=9, leaves=4, n=30) == 11 / 30


def test_the_node_with_20_and_10_and_four_leaves_with_9_errors_is_pruned():
    tree = count_tree([1, -1, -1, -1, -1], [4, 0, 0, 0, 0], [10, 4, 3, 1, 1], n=30)
    assert pessimistic(tree).n_nodes == 1
    assert pessimistic(tree, penalty=0.3).n_nodes == 5


def test_a_subtree_as_good_as_a_leaf_is_pruned_in_spite_of_rounding():
    tree = count_tree([1, -1, -1], [2, 0, 0], [0.3, 0.1, 0.2 - 0.1], n=3)
    assert pessimistic(tree, penalty=0.1).n_nodes == 1


def test_a_subtree_pruned_first_counts_with_its_reduced_size_above():
    # below node 1: 4 + .5 <= 3 + 2 * .5 is false, 3 errors in two leaves stay; node 2 collapses
    tree = count_tree([1, 3, 5, -1, -1, -1, -1], [2, 2, 2, 0, 0, 0, 0], [9, 4, 3, 1, 1, 2, 1], n=40)
    pruned = pessimistic(tree)
    assert pruned.first_child.tolist() == [1, 3, -1, -1, -1]


@given(risky_shapes(max_inner=8), st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_no_node_of_the_result_would_be_pruned_again(arrays, penalty):
    first, count, risk = arrays
    pruned = pessimistic(count_tree(first, count, risk, n=100), penalty=penalty)
    assert pessimistic(pruned, penalty=penalty).n_nodes == pruned.n_nodes


@given(risky_shapes(max_inner=8), st.sampled_from([0.5, 1.0, 3.0]))
def test_the_estimate_never_rises(arrays, penalty):
    first, count, risk = arrays
    tree = count_tree(first, count, risk, n=100)
    pruned = pessimistic(tree, penalty=penalty)

    def estimate(t):
        errors = 100 * t.risk[t.n_children == 0].sum()
        return pessimistic_error(errors, t.n_leaves, 100, penalty)

    assert estimate(pruned) <= estimate(tree) + 1e-12


def test_a_regression_tree_is_refused():
    with pytest.raises(ParameterError, match="needs a classification tree"):
        pessimistic(make_tree([-1], [0], [1.0], NUMBER))


def test_a_negative_penalty_is_refused():
    with pytest.raises(ParameterError, match=r"penalty must be a number not below 0, got -0.5"):
        pessimistic(make_tree([-1], [0], [1.0]), penalty=-0.5)


def test_an_estimate_over_no_rows_is_refused():
    with pytest.raises(ParameterError, match="n must be a positive number of rows, got 0"):
        pessimistic_error(errors=0, leaves=1, n=0)
