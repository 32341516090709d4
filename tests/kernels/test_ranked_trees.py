"""Forests of small trees, whose rows are ranks: the kernel against the twin of single trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.kernels.predict_cases import CONTINUOUS, HUGE, MIXED, NUMBERS, random_columns
from tests.tree.builders import N, Test, make_tree
from tests.twins import predict as reference
from treewright.data.schema import Feature, Schema
from treewright.kernels.forest import ForestPredictor
from treewright.tree.predict import category_counts
from treewright.tree.tree import Tree

N_ROWS = (1, 33, 127, 300)


def random_test(rng: np.random.Generator, schema: Schema) -> Test:
    """A cut, or a set of categories."""
    at = int(rng.integers(len(schema.features)))
    feature = schema.features[at]
    if feature.kind == "nominal":
        n = len(feature.categories)
        listed = rng.choice(min(n, 200), rng.integers(1, min(n, 50) + 1), replace=False)
        return Test(at, codes={int(c): int(rng.integers(2)) for c in listed})
    pool = [0.0, 0.5, 1.0, 2.0, 3.5] if feature.categories else [*NUMBERS, *HUGE, np.inf]
    return Test(at, [float(rng.choice(pool))], closed=bool(rng.integers(2)))


def grown(rng: np.random.Generator, schema: Schema, n_inner: int) -> Tree:
    root = N([1, 1, 1])
    leaves = [root]
    for _ in range(n_inner):
        node = leaves.pop(rng.integers(len(leaves)))
        node.test = random_test(rng, schema)
        node.default = int(rng.integers(2))
        node.children = [N([1, 0, 1]), N([0, 1, 1])]
        leaves.extend(node.children)
    return make_tree(schema, root)


def levels(
    rng: np.random.Generator, schema: Schema, tests: list[tuple[Test, int]], share: float
) -> Tree:
    """A tree with one test for each level, where a node is split by chance."""

    def node(at: int) -> N:
        if at == len(tests) or (at and rng.random() > share):
            return N([1, 1, 1])
        test, default = tests[at]
        return N([1, 1, 1], test, [node(at + 1), node(at + 1)], default=default)

    return make_tree(schema, node(0))


def numbers_in_forest(tree: Tree) -> np.ndarray:
    """Numbers that the nodes of a tree, which go level by level, have in a forest."""
    number, stack, following = np.zeros(tree.n_nodes, np.int32), [0], 1
    while stack:
        node = stack.pop()
        children = tree.first_child[node] + np.arange(tree.n_children[node])
        number[children] = following + np.arange(len(children))
        following += len(children)
        stack.extend(children[::-1])
    return number


def predictor(trees: list[Tree]) -> ForestPredictor:
    order = [np.argsort(numbers_in_forest(tree)) for tree in trees]

    def inner(values: list[np.ndarray], dtype: Any) -> np.ndarray:
        parts = [v[o][~t.is_leaf[o]] for v, o, t in zip(values, order, trees, strict=True)]
        return np.concatenate(parts).astype(dtype)

    def field(name: str, dtype: Any) -> np.ndarray:
        return inner([getattr(t.splits, name) for t in trees], dtype)

    def counts(name: str) -> np.ndarray:
        return inner([np.diff(getattr(t.splits, name)) for t in trees], np.int32)

    def pool(name: str, offset: str) -> np.ndarray:
        parts = []
        for t, o in zip(trees, order, strict=True):
            bounds = getattr(t.splits, offset)
            parts += [getattr(t.splits, name)[bounds[i] : bounds[i + 1]] for i in o]
        return np.concatenate(parts)

    none = np.zeros(0, np.int32)
    return ForestPredictor(
        category_counts(trees[0].schema),
        np.cumsum([0] + [t.n_nodes for t in trees]).astype(np.int64),
        np.concatenate([t.n_children[o] for t, o in zip(trees, order, strict=True)]),
        field("feature", np.int32),
        inner([t.default for t in trees], np.int32),
        field("kind", np.uint8),
        field("closed", np.uint8),
        counts("break_offset"),
        counts("code_offset"),
        pool("breaks", "break_offset"),
        pool("codes", "code_offset"),
        pool("branches", "code_offset"),
        none,
        none,
        np.zeros(0),
        none,
        None,
    )


def compare(trees: list[Tree], columns: tuple[Any, ...], finds_gaps: bool = True) -> None:
    forest = predictor(trees)
    assert forest.finds_gaps == finds_gaps
    ends = [numbers_in_forest(tree)[reference.apply(tree, columns)] for tree in trees]
    expected = np.column_stack(ends)
    n = len(columns[0])
    for n_threads in (1, 2):
        np.testing.assert_array_equal(forest.apply(columns, True, n_threads), expected)
    if finds_gaps and n >= 64:  # a few rows of numbers are not ranked
        np.testing.assert_array_equal(forest.apply(columns, None, 1), expected)
    rng = np.random.default_rng(0)
    total, of_leaves = np.zeros((n, 2)), []
    singles = np.zeros((n, 2), np.float32)
    for t, tree in enumerate(trees):
        values = rng.normal(size=tree.n_nodes)
        total[:, t % 2] += values[expected[:, t]]
        singles[:, t % 2] = singles[:, t % 2].astype(float) + values[expected[:, t]]
        order = np.argsort(numbers_in_forest(tree))
        of_leaves.append(values[tree.is_leaf[order]])
    leaf_values = np.concatenate(of_leaves)[:, None]
    for in_singles, sums in ((False, total), (True, singles)):
        found = forest.sums(columns, leaf_values, np.zeros((1, 2)), in_singles, True, 2)
        np.testing.assert_array_equal(found, sums)


@pytest.mark.parametrize("n_rows", N_ROWS)
@pytest.mark.parametrize("schema", [CONTINUOUS, MIXED])
def test_rows_with_gaps_and_categories_end_where_the_twin_says(schema: Schema, n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    trees = [grown(rng, schema, n) for n in (0, 1, 2, 9, 30, 64, 255)]
    compare(trees, random_columns(rng, schema, n_rows))


@pytest.mark.parametrize("share", [1.0, 0.8])
def test_trees_with_a_test_for_each_level_are_as_others(share: float) -> None:
    rng = np.random.default_rng(2)
    trees = []
    for depth in (1, 2, 5, 6, 8):
        tests = [(random_test(rng, MIXED), int(rng.integers(2))) for _ in range(depth)]
        trees.append(levels(rng, MIXED, tests, share))
    compare(trees, random_columns(rng, MIXED, 300))


@pytest.mark.parametrize("n_cuts", [1, 2, 127, 128, 255])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranks_reach_up_to_the_last_cut(n_cuts: int, dtype: Any) -> None:
    schema = Schema((Feature("a", "continuous"),), target=CONTINUOUS.target)
    rng = np.random.default_rng(n_cuts)
    cuts = np.sort(rng.normal(size=n_cuts))
    stumps = [
        make_tree(schema, N([1, 1, 1], Test(0, [float(c)], closed=k % 2 == 0),
                            [N([1, 0, 0]), N([0, 1, 0])], default=k % 3 % 2))
        for k, c in enumerate(cuts)
    ]  # fmt: skip
    near = np.concatenate([cuts, np.nextafter(cuts, 9), np.nextafter(cuts, -9), [np.nan, -9, 9]])
    compare(stumps, (rng.choice(near, 70).astype(dtype),))


def test_what_does_not_fit_a_byte_goes_the_general_way() -> None:
    rng = np.random.default_rng(4)
    schema = Schema((Feature("a", "continuous"),), target=CONTINUOUS.target)
    x = np.concatenate([rng.normal(size=69), [np.nan]])
    tests = [Test(0, [float(c)]) for c in rng.normal(size=256)]
    many_cuts = [
        make_tree(schema, N([1, 1, 1], t, [N([1, 0, 0]), N([0, 1, 0])], default=1)) for t in tests
    ]
    expected = np.column_stack([reference.apply(tree, (x,)) for tree in many_cuts])
    forest = predictor(many_cuts)
    np.testing.assert_array_equal(forest.apply((x,), True, 1), expected)
    assert forest.apply((x,), None, 1) is None
    codes = Test(7, codes={c: c % 2 for c in range(300)})
    trees = [make_tree(MIXED, N([1, 1, 1], codes, [N([1, 0, 0]), N([0, 1, 0])], default=0))]
    compare(trees, random_columns(rng, MIXED, 400), finds_gaps=False)
    large = [grown(rng, MIXED, 256), grown(rng, MIXED, 3)]
    compare(large, random_columns(rng, MIXED, 100), finds_gaps=False)


def test_infinities_are_found_even_where_no_tree_looks() -> None:
    rng = np.random.default_rng(5)
    trees = [
        make_tree(
            CONTINUOUS,
            N([1, 1, 1], Test(0, [0.5]), [N([1, 0, 0]), N([0, 1, 0])], default=1),
        )
    ]
    forest = predictor(trees)
    for dtype in (np.float32, np.float64):
        X = rng.normal(size=(400, 3)).astype(dtype)
        X[7, :] = np.nan
        expected = reference.apply(trees[0], tuple(X.T))[:, None]
        np.testing.assert_array_equal(forest.apply(X, True, 1), expected)
        X[300, 2] = -np.inf
        X[7, :] = 0
        assert forest.apply(X, None, 1) is None
