"""Prediction by forests of cuts: the kernel against its numpy twin, on trees made by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.twins import forest as reference
from treewright.kernels import forest as kernels
from treewright.tree.split import SplitKind

# Ties are frequent, and zeros of both signs and infinities occur.
LEVELS = np.array([-np.inf, -1e300, -2.5, -1.0, -0.0, 0.0, 1e-320, 0.1, 1.0, 1.5, 3.0, np.inf])


@dataclass
class Made:
    """Trees as the core takes them: the arrays of each, and all of them in a predictor."""

    n_features: int
    trees: list[tuple[NDArray[Any], ...]]

    def predictor(self, leaf_codes: NDArray[np.uint8] | None = None) -> kernels.ForestPredictor:
        n_children, feature, breaks, closed = (
            np.concatenate(a) for a in zip(*self.trees, strict=True)
        )
        offset = np.cumsum([0] + [len(tree[0]) for tree in self.trees])
        n = len(feature)
        none = np.zeros(0, np.int32)
        zeros = np.zeros(n, np.int32)
        return kernels.ForestPredictor(
            np.full(self.n_features, -1, np.int32),
            offset.astype(np.int64),
            n_children,
            feature,
            zeros,
            np.full(n, SplitKind.BREAKS, np.uint8),
            closed,
            np.ones(n, np.int32),
            zeros,
            breaks,
            none,
            none,
            none,
            none,
            np.zeros(0),
            none,
            leaf_codes,
        )

    def apply(self, X: NDArray[Any]) -> NDArray[np.int32]:
        return np.column_stack([reference.apply_cuts(*tree, X) for tree in self.trees])

    def leaves(self, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Numbers of leaves among those of the forest."""
        n_leaves = [int(np.sum(tree[0] == 0)) for tree in self.trees]
        start = np.cumsum([0, *n_leaves])
        number = [np.cumsum(tree[0] == 0) - 1 for tree in self.trees]
        return np.column_stack([start[t] + number[t][nodes[:, t]] for t in range(len(number))])


def grown(
    rng: np.random.Generator, n_inner: int, n_features: int, cuts: NDArray[np.float64]
) -> tuple[NDArray[Any], ...]:
    """A tree of random shape: an inner node takes a share of what is left for its children."""
    n_children = np.zeros(2 * n_inner + 1, np.int32)
    stack, following = [(0, n_inner)], 1
    while stack:
        at, budget = stack.pop()
        if budget:
            n_children[at] = 2
            share = int(rng.beta(2, 2) * budget)
            stack += [(following + 1, budget - 1 - min(share, budget - 1))]
            stack += [(following, min(share, budget - 1))]
            following += 2
    return (
        n_children,
        rng.integers(0, n_features, n_inner, dtype=np.int32),
        rng.choice(cuts, n_inner),
        rng.integers(0, 2, n_inner, dtype=np.uint8),
    )


def values_like(
    rng: np.random.Generator, shape: tuple[int, int], cuts: NDArray[np.float64], dtype: Any
) -> NDArray[Any]:
    """Values half of which are cuts, and others beside them."""
    with np.errstate(over="ignore"):
        exact = rng.choice(cuts, shape).astype(dtype)
        beside = np.nextafter(exact, rng.choice([-np.inf, np.inf], shape).astype(dtype))
        return np.where(rng.random(shape) < 0.5, exact, beside).astype(dtype)


def finite_or_above(cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cuts that a test may have: nothing is below −inf."""
    return cuts[cuts > -np.inf]


def compare(made: Made, X: NDArray[Any], seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    predictor, expected = made.predictor(), made.apply(X)
    leaves = made.leaves(expected)
    n_leaves = sum(int(np.sum(tree[0] == 0)) for tree in made.trees)
    for n_threads in (1, 2):
        np.testing.assert_array_equal(predictor.apply(X, False, n_threads), expected)
    votes = np.eye(4)
    for distinct in (*(rng.random((5, width)) for width in (1, 2, 7)), votes, votes[[2, 0]]):
        codes = rng.integers(0, len(distinct), n_leaves, dtype=np.uint8)
        total = np.zeros((len(X), distinct.shape[1]))
        for t in range(len(made.trees)):
            total += distinct[codes][leaves[:, t]]
        mean = total / len(made.trees)
        np.testing.assert_array_equal(predictor.means(X, distinct, codes, False, 2), mean)
        np.testing.assert_array_equal(predictor.means(X, distinct[codes], None, False, 1), mean)
        knows = made.predictor(codes)
        np.testing.assert_array_equal(knows.means(X, distinct, codes, False, 2), mean)
        np.testing.assert_array_equal(knows.means(X, distinct, codes.copy(), False, 1), mean)
        np.testing.assert_array_equal(knows.means(X, distinct[codes], None, False, 2), mean)
        np.testing.assert_array_equal(knows.apply(X, False, 1), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n_rows", "n_features"),
    [(1, 16), (7, 15), (257, 9), (513, 2), (3000, 1), (3000, 31), (2100, 63), (2000, 70)],
)
def test_rows_end_where_the_twin_says(dtype: Any, n_rows: int, n_features: int) -> None:
    rng = np.random.default_rng(n_features + n_rows)
    sizes = (0, 1, 3, 200, 1022, 1023, 1100, 9000)
    cuts = finite_or_above(LEVELS)
    made = Made(n_features, [grown(rng, size, n_features, cuts) for size in sizes])
    compare(made, values_like(rng, (n_rows, n_features), LEVELS, dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gaps_and_infinities_are_met_on_the_way(dtype: Any) -> None:
    rng = np.random.default_rng(5)
    made = Made(9, [grown(rng, size, 9, rng.standard_normal(99)) for size in (3, 1500)])
    predictor = made.predictor()
    limits = np.finfo(dtype)
    for n_rows in (1, 40, 5000):
        X = rng.standard_normal((n_rows, 9)).astype(dtype)
        X[-1, :4] = [limits.max, limits.min, -0.0, limits.smallest_subnormal]
        np.testing.assert_array_equal(predictor.apply(X, None, 2), made.apply(X))
        for odd in (np.nan, -np.nan, np.inf, -np.inf):
            X[rng.integers(n_rows), rng.integers(9)] = odd
            assert predictor.apply(X, None, 2) is None
            assert predictor.means(X, np.ones((4 + 1501, 1)), None, None, 1) is None
            X[~np.isfinite(X)] = 0


def test_a_tree_may_be_one_long_way() -> None:
    """Most of its leaves lie above the part where rows are sorted, some in the first levels."""
    rng = np.random.default_rng(3)
    n_inner = 1500
    n_children = np.zeros(2 * n_inner + 1, np.int32)
    right = rng.integers(0, 2, n_inner, dtype=np.int32)  # the child that goes on
    goes_on = 0
    for i in range(n_inner):
        n_children[goes_on] = 2
        goes_on = 2 * i + 1 + right[i]
    tree = (
        n_children,
        rng.integers(0, 5, n_inner, dtype=np.int32),
        np.where(right, -1, 1) * rng.uniform(0.5, 3, n_inner),
        rng.integers(0, 2, n_inner, dtype=np.uint8),
    )
    for dtype in (np.float32, np.float64):
        X = (rng.standard_normal((4000, 5)) * rng.choice([0.1, 1], (4000, 1))).astype(dtype)
        compare(Made(5, [tree]), X)


def test_many_trees_and_blocks_are_as_one() -> None:
    rng = np.random.default_rng(9)
    cuts = rng.standard_normal(50)
    made = Made(6, [grown(rng, 1100 if t % 7 else 2, 6, cuts) for t in range(130)])
    X = values_like(rng, (5000, 6), cuts, np.float32)
    whole = made.predictor().apply(X, False, 2)
    np.testing.assert_array_equal(whole, made.apply(X))
    parts = [made.predictor().apply(X[k : k + 700], False, 1) for k in range(0, 5000, 700)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_feature_may_have_very_many_cuts(dtype: Any) -> None:
    rng = np.random.default_rng(3)
    cuts = rng.standard_normal(100_000)
    made = Made(1, [grown(rng, 90_000, 1, cuts)])
    compare(made, values_like(rng, (5000, 1), cuts, dtype))


def test_rows_of_all_layouts_are_the_same_rows() -> None:
    rng = np.random.default_rng(4)
    cuts = finite_or_above(LEVELS)
    made = Made(5, [grown(rng, size, 5, cuts) for size in (40, 3000)])
    X = values_like(rng, (2000, 5), LEVELS, np.float32)
    expected, predictor = made.apply(X), made.predictor()
    mixed = tuple(X[:, j].astype(np.float64 if j % 2 else np.float32) for j in range(5))
    for rows in (
        np.asfortranarray(X),
        X.astype(np.float64),
        tuple(X.T),
        mixed,
        X.repeat(2, 0)[::2],
    ):
        np.testing.assert_array_equal(predictor.apply(rows, False, 2), expected)


def chain(n_inner: int) -> tuple[NDArray[Any], ...]:
    """x <= -k leads on for k = 1, 2, …; each way out has a test of its own."""
    n_children = np.zeros(4 * n_inner + 1, np.int32)
    breaks, stack, following = {}, [(0, 1)], 1
    while stack:
        at, k = stack.pop()
        breaks[at] = float(-k)
        n_children[at] = 2
        if k > 0:
            stack.append((following + 1, 0))
            if k < n_inner:
                stack.append((following, k + 1))
        following += 2
    n_children = n_children[:following]
    n = int(np.sum(n_children > 0))
    cuts = np.array([breaks[at] for at in np.flatnonzero(n_children)])
    return n_children, np.zeros(n, np.int32), cuts, np.ones(n, np.uint8)


def test_trees_may_be_too_far_from_balance_or_too_wide_for_small_nodes() -> None:
    made = Made(1, [chain(20_000), chain(3)])
    X = -np.random.default_rng(5).integers(-3, 1000, (600, 1)).astype(np.float32)
    compare(made, X)
    rng = np.random.default_rng(6)
    wide = Made(
        70_000, [grown(rng, 500, 70_000, np.array([0.0])), grown(rng, 9, 70_000, LEVELS[4:])]
    )
    compare(wide, rng.standard_normal((20, 70_000), dtype=np.float32))


def test_codes_of_rows_are_those_of_the_twin() -> None:
    rng = np.random.default_rng(7)
    for n, width, n_distinct in ((1, 1, 1), (50, 2, 3), (5000, 3, 256), (5000, 1, 300)):
        values = rng.standard_normal((n_distinct, width))[rng.integers(0, n_distinct, n)]
        values[: n // 2] *= rng.choice([0.0, -0.0, 1.0], (n // 2, 1))
        ours, twin = kernels.code_rows(values), reference.code_rows(values)
        assert (ours is None) == (twin is None)
        if ours is not None and twin is not None:
            np.testing.assert_array_equal(ours[0], twin[0])
            assert ours[1].tobytes() == twin[1].tobytes()


def test_values_that_do_not_fit_the_leaves_are_refused() -> None:
    made = Made(1, [grown(np.random.default_rng(8), 2, 1, np.array([0.0]))])
    predictor, X = made.predictor(), np.zeros((2, 1))
    for values, codes in (
        (np.zeros((2, 1)), None),
        (np.zeros((2, 1)), np.zeros(4, np.uint8)),
        (np.zeros((2, 1)), np.array([0, 1, 2], np.uint8)),
    ):
        with pytest.raises(ValueError, match=r"[Ll]ea"):
            predictor.means(X, values, codes, False, 1)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("may_have_gaps", [False, True])
def test_an_interrupt_ends_the_work_between_two_trees(
    press_ctrl_c: Any, n_threads: int, may_have_gaps: bool
) -> None:
    made = Made(1, [chain(3000)] * 500)
    codes = np.zeros(500 * int(np.sum(made.trees[0][0] == 0)), np.uint8)
    X = np.broadcast_to(np.float32(-2900), (50_000, 1))  # a minute of work in each of two blocks
    predictor = made.predictor()
    values = np.zeros((1, 1))
    assert (
        press_ctrl_c(0.3, lambda: predictor.means(X, values, codes, may_have_gaps, n_threads)) < 10
    )
