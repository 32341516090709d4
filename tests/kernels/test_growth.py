"""The compiled growth loop against its twin, and on sizes that take its other paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.search_problems import (
    CLASS_CRITERIA,
    NUMBER_CRITERIA,
    SearchProblem,
    close,
    is_complete,
    make_table,
    search_problems,
)
from tests.twins import growth
from tests.twins.predict import branch, read_row
from tests.twins.split_search import gain
from treewright.data.schema import Target
from treewright.tree.growing.grow import grow
from treewright.tree.growing.recipe import Recipe
from treewright.tree.predict import decision_path
from treewright.tree.split import SPLIT_DTYPES
from treewright.tree.tree import TREE_DTYPES

TWO = Target("y", (0, 1))
NUMBER = Target("y")


# -- against the twin ----------------------------------------------------------------------


def way_at(tree, node, problem, index):
    """The branch of each row of ``index`` at a node, −1 for a gap that takes no part."""
    takes_part = problem.recipe.missing in ("learned", "own_branch")
    gap = int(tree.default[node]) if takes_part else -1
    rows = [read_row(tree.schema, problem.table.columns, row) for row in index]
    to = [branch(tree.splits, node, row) for row in rows]
    return np.array([gap if b is None else b for b in to])


def same_branches(ours, theirs):
    """The twin's branch of each of ours if both divide the rows alike, or None."""
    pairs = sorted(set(zip(ours.tolist(), theirs.tolist(), strict=True)) - {(-1, -1)})
    match = dict(pairs)
    is_one_to_one = len(match) == len(pairs) == len(set(match.values()))
    return match if is_one_to_one and -1 not in match and -1 not in match.values() else None


def check_value(value, twin):
    """A node's value is the twin's; a median may be another one where there are several."""
    if twin.rows.recipe.criterion != "absolute_error":
        np.testing.assert_allclose(value, twin.value, rtol=1e-9)
        return
    y, weight = twin.rows.y, twin.rows.weight
    ours, theirs = ((weight @ np.abs(y - centre)) for centre in (value, twin.value))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def check_same_tree(tree, twin, problem):
    """Every node is the twin's, down to ties that the twin's scores show."""
    # Sums are integers on a grid that the root fixes.
    scale = twin.rows.scale() / twin.rows.root_weight()
    pending = [(0, twin)]
    while pending:
        node, other = pending.pop()
        assert tree.n_samples[node] == len(other.rows)
        check_value(tree.value[node], other)
        best = other.best
        if best is None:
            assert tree.first_child[node] < 0
            continue
        assert tree.first_child[node] >= 0, f"the twin gains {best.gain} of {best.scale}"
        assert close(tree.gain[node], best.gain, scale)
        ours = way_at(tree, node, problem, other.index)
        match = same_branches(ours, best.way)
        if match is None or tree.splits.feature[node] != other.feature:
            score = gain(other.rows, ours)
            assert close(score, best.gain, scale), "another split, and not a tie"
            continue
        for child, to in match.items():
            pending.append((int(tree.first_child[node]) + child, other.children[to]))


@pytest.mark.parametrize("criterion", [*CLASS_CRITERIA, "generalized_gini", *NUMBER_CRITERIA])
@settings(max_examples=60)
@given(data=st.data())
def test_a_tree_is_the_one_its_twin_grows(criterion, data):
    problem: SearchProblem = data.draw(search_problems(criterion, max_rows=16))
    if problem.recipe.missing == "surrogate":
        problem = problem.change(missing="fractional")
    if not all(is_complete(problem, feature) for feature in problem.table.schema.features):
        problem = problem.change(nominal_split="multiway")
    problem = problem.change(
        max_depth=data.draw(st.sampled_from([None, None, 2])),
        zero_gain=data.draw(st.booleans()),
        min_gain=data.draw(st.sampled_from([0.0, 0.0, 0.02])),
    )
    tree = grow(problem.table, problem.y, problem.recipe, **problem.keywords())
    twin = growth.grow(problem.table, problem.y, problem.recipe, **problem.keywords())
    check_same_tree(tree, twin, problem)


# -- sizes that take other paths -----------------------------------------------------------


def tree_bytes(tree):
    """Every array of a tree."""
    arrays = {name: getattr(tree, name) for name in TREE_DTYPES}
    arrays |= {f"splits.{name}": getattr(tree.splits, name) for name in SPLIT_DTYPES}
    arrays |= {f"surrogates.{name}": getattr(tree.surrogates, name) for name in SPLIT_DTYPES}
    return {name: array.tobytes() for name, array in arrays.items()}


def large_table(n, seed=0):
    """Every kind of column, and more rows than a block of 16-bit ids holds."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3, n))
    gapped = np.where(rng.random(n) < 0.1, np.nan, x[2]).astype(np.float32)
    few = np.round(x[1]).astype(np.float32)
    ordinal = rng.integers(0, 6, n).astype(np.int32)
    nominal = rng.integers(-1, 300, n).astype(np.int32)
    columns = (x[0].astype(np.float32), x[1], gapped, few, ordinal, nominal)
    kinds = ("continuous",) * 4 + ("ordinal", "nominal")
    signal = x[0] * x[1] + np.nan_to_num(gapped) + (nominal % 7 == 0) + (ordinal > 2)
    return make_table(*columns, kinds=kinds), signal + rng.normal(size=n), rng


@pytest.fixture(scope="module")
def large():
    return large_table(75_000)


@pytest.mark.parametrize("missing", ["learned", "surrogate", "fractional", "own_branch"])
@pytest.mark.parametrize("task", ["classes", "weighted classes", "numbers"])
def test_the_number_of_threads_changes_no_byte_of_a_large_tree(large, task, missing):
    table, signal, _ = large
    weight = None
    if task == "numbers":
        y, target, criterion = signal, NUMBER, "squared_error"
    else:
        y, target, criterion = (signal > 0.5).astype(np.int32), TWO, "gini"
    if task == "weighted classes":
        weight = 0.5 + (np.arange(len(y)) % 13) / 7
    depth = 6 if missing in ("surrogate", "fractional") else None
    recipe = Recipe(criterion, missing=missing, max_depth=depth, min_samples_leaf=5)
    trees = [
        grow(table, y, recipe, target=target, sample_weight=weight, n_threads=n) for n in (1, 2)
    ]
    assert trees[0].n_nodes > 50
    assert tree_bytes(trees[0]) == tree_bytes(trees[1])


def cut_gain(x, y, n_root):
    """The best gain of squared error over all cuts of a column without gaps, from running sums."""
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order] - y.mean()
    left = np.arange(1, len(y))
    sums = np.cumsum(y)[:-1]
    gains = sums**2 * len(y) / (left * (len(y) - left)) / n_root
    return gains[x[1:] > x[:-1]].max(initial=0.0)


def test_every_node_of_a_large_tree_has_the_best_cut_of_its_rows(large):
    table, signal, _ = large
    columns = table.columns[:2]
    small = make_table(*columns)
    tree = grow(small, signal, Recipe("squared_error", min_samples_leaf=1), target=NUMBER)
    reached = {0: np.arange(len(signal))}
    checked = []
    for node in range(tree.n_nodes):
        rows = reached.pop(node)
        assert tree.n_samples[node] == len(rows)
        if tree.first_child[node] < 0:
            continue
        if len(rows) > 300:
            best = max(cut_gain(column[rows], signal[rows], len(signal)) for column in columns)
            assert tree.gain[node] == pytest.approx(best, rel=1e-9)
            checked.append(len(rows))
        values = columns[tree.splits.feature[node]][rows].astype(np.float64)
        is_left = values < tree.splits.node_breaks(node)[0]
        for child, part in zip(tree.children(node), (is_left, ~is_left), strict=True):
            reached[child] = rows[part]
    assert max(checked) > 65_535 > min(checked)  # both widths of ids
    assert len(checked) > 100


def test_a_hundred_thousand_categories_are_cut_in_the_order_of_their_means():
    rng = np.random.default_rng(3)
    n, n_categories = 150_000, 100_000
    codes = rng.integers(0, n_categories, n).astype(np.int32)
    codes[0] = n_categories - 1
    y = (codes % 10) + rng.normal(size=n)
    table = make_table(codes)
    recipe = Recipe("squared_error", max_depth=2)
    one, two = (grow(table, y, recipe, target=NUMBER, n_threads=k) for k in (1, 2))
    assert tree_bytes(one) == tree_bytes(two)
    seen, inverse = np.unique(codes, return_inverse=True)
    means = np.bincount(inverse, y) / np.bincount(inverse)
    assert one.gain[0] == pytest.approx(cut_gain(means[inverse], y, n), rel=1e-9)
    branch_of = dict(zip(one.splits.node_codes(0), one.splits.node_branches(0), strict=True))
    assert list(branch_of) == seen.tolist()
    goes_right = np.array([branch_of[code] for code in seen], bool)
    assert means[~goes_right].max() <= means[goes_right].min()


@pytest.mark.parametrize("missing", ["learned", "fractional", "own_branch", "majority"])
@pytest.mark.parametrize("n_categories", [253, 254, 255, 256, 1000])
def test_a_multiway_split_may_have_hundreds_of_branches(n_categories, missing):
    codes = np.repeat(np.arange(n_categories), 4)
    codes = np.concatenate([codes, np.full(7, -1)]).astype(np.int32)
    y = np.random.default_rng(0).integers(0, 2, len(codes)).astype(np.int32)
    other = np.arange(len(codes), dtype=np.float64)  # keeps the children splittable
    recipe = Recipe("entropy", nominal_split="multiway", missing=missing, max_depth=2)
    table = make_table(codes, np.where(codes < 0, 0.0, other % 2))
    tree = grow(table, y, recipe, target=TWO)
    assert tree.splits.feature[0] == 0
    assert tree.n_children[0] == n_categories + (missing == "own_branch")
    for to, child in enumerate(tree.children(0)):
        here = codes == to
        if missing == "fractional" or to == tree.default[0]:
            here |= codes < 0
        assert tree.n_samples[child] == here.sum()
        if missing != "fractional":
            np.testing.assert_array_equal(tree.value[child], np.bincount(y[here], minlength=2))


@pytest.mark.parametrize(
    "options",
    [{"max_features": 2}, {"splitter": "random"}, {"max_leaf_nodes": 300}],
    ids=lambda options: next(iter(options)),
)
def test_neither_chance_nor_the_order_of_growth_depends_on_threads(large, options):
    table, signal, _ = large
    recipe = Recipe("squared_error", min_samples_leaf=5, **options)
    one, two, other = (
        grow(table, signal, recipe, target=NUMBER, n_threads=threads, seed=seed)
        for threads, seed in ((1, 7), (2, 7), (2, 8))
    )
    assert tree_bytes(one) == tree_bytes(two)
    assert (tree_bytes(two) == tree_bytes(other)) == ("max_leaf_nodes" in options)


# -- counts and values ---------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["learned", "surrogate", "own_branch", "majority"])
@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("criterion", [*CLASS_CRITERIA, *NUMBER_CRITERIA])
def test_rows_are_counted_where_the_finished_tree_sends_them(criterion, splitter, missing):
    table, signal, _ = large_table(600)
    if criterion in NUMBER_CRITERIA:
        y, target = np.exp(signal / 4), NUMBER
    else:
        y, target = (signal > 0.5).astype(np.int32), TWO
    recipe = Recipe(criterion, splitter=splitter, missing=missing, max_depth=5)
    tree = grow(table, y, recipe, target=target, seed=2)
    assert tree.n_leaves > 8
    reached = decision_path(tree, table).sum(axis=0)
    np.testing.assert_array_equal(np.asarray(reached).ravel(), tree.n_samples)
    if missing != "surrogate":  # some rows may end at inner nodes there
        inner = tree.first_child >= 0
        below = [tree.n_samples[list(tree.children(node))].sum() for node in np.flatnonzero(inner)]
        np.testing.assert_array_equal(below, tree.n_samples[inner])


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-145, 1e150, 1e300])
@pytest.mark.parametrize("criterion", NUMBER_CRITERIA)
def test_extreme_numbers_keep_their_mean_or_median(criterion, scale):
    y = np.array([0.0, 1, 0, 1, 3, 4, 3, 4]) * scale
    tree = grow(make_table(np.arange(8.0)), y, Recipe(criterion, max_depth=1), target=NUMBER)
    assert tree.value[0, 0] == pytest.approx(2 * scale, rel=1e-9)
    is_square_finite = 1e-154 < scale < 1e154
    if criterion != "squared_error" or is_square_finite:
        assert tree.value[1:, 0] == pytest.approx([0.5 * scale, 3.5 * scale], rel=1e-9)
        power = 2 if criterion == "squared_error" else 1
        expected = {"squared_error": 2.25, "absolute_error": 1.0, "poisson": 0.6327540386070141}
        assert tree.gain[0] == pytest.approx(expected[criterion] * scale**power, rel=1e-9)
