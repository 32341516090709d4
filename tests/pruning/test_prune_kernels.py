"""The compiled pruning kernels against their twins, closed forms and hostile shapes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression

from tests.pruning.arbitrary_trees import chain, risky_shapes, shapes
from tests.twins import prune as reference
from treewright.errors import DataError
from treewright.kernels import prune as compiled

LINKS = ("weakest_link", "one_level_link")


def assert_twins_agree(first, count, risk, tolerance):
    for link in LINKS:
        fast = getattr(compiled, link)(first, count, risk, tolerance)
        slow = getattr(reference, link)(first, count, risk, tolerance)
        np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-10)
        for ours, twins in zip(
            compiled.pruning_steps(first, count, risk, fast, tolerance),
            reference.pruning_steps(first, count, risk, slow, tolerance),
            strict=True,
        ):
            np.testing.assert_allclose(ours, twins, rtol=0, atol=1e-10)


@given(risky_shapes(max_inner=12, max_children=5), st.sampled_from([1.0, 1 / 3, 1e-7]))
def test_kernels_equal_their_twins_on_equal_zero_and_negative_gains(tree, scale):
    first, count, risk = tree
    risk = risk * scale
    assert_twins_agree(first, count, risk, 1e-12 * max(1e-300, np.abs(risk).max()))


@given(shapes(max_inner=15, max_children=3), st.integers(0, 2**32 - 1))
def test_kernels_equal_their_twins_on_risks_without_ties(shape, seed):
    first, count = shape
    rng = np.random.default_rng(seed)
    risk = rng.random(len(first))
    assert_twins_agree(first, count, risk, 1e-12)


@given(shapes(max_inner=12, max_children=4), st.integers(0, 2**32 - 1), st.booleans())
def test_the_cheapest_pruning_equals_its_twin(shape, seed, some_are_left):
    first, count = shape
    rng = np.random.default_rng(seed)
    as_leaf, of_test, as_left = rng.integers(0, 6, (3, len(first))).astype(float)
    arguments = (first, count, as_leaf, of_test, as_left if some_are_left else None, 0.25)
    for ours, twins in zip(
        compiled.cheapest_pruning(*arguments), reference.cheapest_pruning(*arguments), strict=True
    ):
        np.testing.assert_array_equal(ours, twins)


@given(shapes(max_inner=12, max_children=4), st.integers(1, 3))
def test_sums_over_subtrees_equal_their_twin(shape, width):
    first, count = shape
    own = np.arange(len(first) * width, dtype=float).reshape(-1, width)
    ours = compiled.subtree_sums(first, count, own)
    np.testing.assert_array_equal(ours, reference.subtree_sums(first, count, own))


@given(risky_shapes(max_inner=12))
def test_complexities_do_not_decrease_towards_the_root(tree):
    first, count, risk = tree
    for link in LINKS:
        alpha = getattr(compiled, link)(first, count, risk, 1e-12)
        for t in np.flatnonzero(count):
            children = np.arange(first[t], first[t] + count[t])
            assert np.all(alpha[children[count[children] > 0]] <= alpha[t])


def test_a_deep_chain_collapses_where_isotonic_regression_pools():
    gains = np.random.default_rng(0).random(10_000) + 0.1
    first, count, risk = chain(gains)
    alpha = compiled.weakest_link(first, count, risk, 1e-12)
    pooled = isotonic_regression(gains, increasing=False)
    np.testing.assert_allclose(alpha[::2][:-1], pooled, rtol=1e-9)


def test_a_deep_chain_has_the_complexities_of_the_one_level_twin():
    first, count, risk = chain(np.random.default_rng(1).random(10_000))
    np.testing.assert_allclose(
        compiled.one_level_link(first, count, risk, 1e-12),
        reference.one_level_link(first, count, risk, 1e-12),
        rtol=1e-9,
    )


def test_equal_gains_collapse_in_one_step():
    first, count, risk = chain(np.full(10_000, 0.1))
    alpha = compiled.weakest_link(first, count, risk, 1e-9)
    steps, n_leaves, risks, _ = compiled.pruning_steps(first, count, risk, alpha, 1e-9)
    np.testing.assert_allclose(steps, [0, 0.1])
    assert n_leaves.tolist() == [10_001, 1]
    np.testing.assert_allclose(risks, [0, 1000], atol=1e-8)


def test_close_complexities_merge_with_neighbours_and_not_with_the_whole_chain():
    tolerance = 1.5e-6
    first, count, risk = chain(1 + 1e-6 * np.arange(2000)[::-1])
    alpha = compiled.weakest_link(first, count, risk, tolerance)
    merged = compiled.pruning_steps(first, count, risk, alpha, tolerance)[3]
    exact = compiled.weakest_link(first, count, risk)
    assert len(np.unique(merged)) < len(np.unique(exact))
    assert np.abs(merged - exact).max() < 3 * tolerance


def test_a_single_leaf_has_one_step():
    alpha = compiled.weakest_link([-1], [0], [0.3], 1e-12)
    steps, n_leaves, risks, equal = compiled.pruning_steps([-1], [0], [0.3], alpha, 1e-12)
    assert (steps.tolist(), n_leaves.tolist(), risks.tolist()) == ([0.0], [1], [0.3])
    assert equal.tolist() == [0.0]


@pytest.mark.parametrize(
    ("first", "count"),
    [
        ([1, -1], [1, 0]),  # one child only
        ([0, -1, -1], [2, 0, 0]),  # its own child
        ([1, -1, -1], [3, 0, 0]),  # past the end
        ([1, 1, -1, -1, -1], [2, 2, 0, 0, 0]),  # two parents
        ([-1, -1], [0, 0]),  # two roots
        ([], []),
    ],
)
def test_arrays_that_are_no_tree_are_refused(first, count):
    with pytest.raises(DataError, match=r"rebuild the tree|arrays of one tree"):
        compiled.weakest_link(first, count, np.zeros(len(first)))


def test_risks_that_are_not_finite_are_refused():
    with pytest.raises(DataError, match="risk must hold one finite number per node"):
        compiled.one_level_link([1, -1, -1], [2, 0, 0], [1.0, np.nan, 0.0])
