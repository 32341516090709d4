"""The forest kernels beside their twins, and forests beside trees grown one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.kernels.forest_problems import (
    FOUR,
    NUMBER,
    TWO,
    binary_problem,
    laid_out,
    mixed_problem,
    nominal_problem,
    plain_problem,
    table_of,
    whole_problem,
)
from tests.twins import forest as reference
from treewright.data.schema import Target
from treewright.data.table import Table
from treewright.errors import ParameterError
from treewright.kernels.forest import draw_sample
from treewright.tree.forest.grow import (
    ForestPlan,
    Sampling,
    _grow_in_core,
    _grow_one_by_one,
    grow_forest,
)
from treewright.tree.growing.recipe import Recipe
from treewright.tree.predict import apply as route

CRITERIA = [
    (TWO, "gini"),
    (TWO, "entropy"),
    (FOUR, "gini"),
    (FOUR, "entropy"),
    (NUMBER, "squared_error"),
]


def same_trees(a: Any, b: Any) -> None:
    assert len(a) == len(b)
    for i in range(len(a)):
        one, other = a.tree(i), b.tree(i)
        np.testing.assert_array_equal(one.first_child, other.first_child)
        np.testing.assert_array_equal(one.splits.feature, other.splits.feature)
        np.testing.assert_array_equal(one.splits.breaks, other.splits.breaks)
        np.testing.assert_array_equal(one.splits.codes, other.splits.codes)
        np.testing.assert_array_equal(one.splits.branches, other.splits.branches)
        np.testing.assert_array_equal(one.default, other.default)
        np.testing.assert_array_equal(one.n_samples, other.n_samples)
        np.testing.assert_allclose(one.weight, other.weight, rtol=1e-12)
        np.testing.assert_allclose(one.value, other.value, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(one.impurity, other.impurity, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(one.gain, other.gain, rtol=1e-6, atol=1e-9)
        np.testing.assert_array_equal(one.label, other.label)


def same_arrays(a: Any, b: Any) -> None:
    assert a.arrays.keys() == b.arrays.keys()
    for name, array in a.arrays.items():
        assert array.dtype == b.arrays[name].dtype, name
        np.testing.assert_array_equal(array, b.arrays[name], err_msg=name)


# Drawing


@pytest.mark.parametrize("replace_rows", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("stratified", [True, False])
def test_drawn_rows_are_those_of_the_twin(
    replace_rows: bool, weighted: bool, stratified: bool
) -> None:
    rng = np.random.default_rng(5)
    n = 503
    weight = rng.random(n) * (rng.random(n) < 0.8) if weighted else None
    strata = rng.integers(0, 3, n).astype(np.int32) if stratified else None
    draws = [60, 40, 0] if stratified else [150]
    for seed, tree in [(0, 0), (7, 3), (2**64 - 1, 10**6)]:
        ours = draw_sample(seed, tree, n, draws, replace=replace_rows, weight=weight, strata=strata)
        twin = reference.draw_sample(
            seed, tree, n, np.array(draws), replace=replace_rows, weight=weight, strata=strata
        )
        np.testing.assert_array_equal(ours, twin)
        assert ours.sum() == sum(draws)
        if not replace_rows:
            assert ours.max() == 1
        if weight is not None:
            assert not ours[weight == 0].any()


def test_rows_are_drawn_as_often_as_their_chances_say() -> None:
    n, rounds = 4, 4000
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    total = sum(draw_sample(1, t, n, 1, weight=weight) for t in range(rounds))
    np.testing.assert_allclose(total / rounds, weight / 10, atol=0.03)


def test_a_bootstrap_sample_leaves_out_a_third_of_the_rows() -> None:
    out = np.mean([np.mean(draw_sample(0, t, 2000, 2000) == 0) for t in range(20)])
    assert abs(out - np.exp(-1)) < 0.01


def test_more_rows_than_there_are_cannot_be_drawn_without_replacement() -> None:
    with pytest.raises(ParameterError, match="must not exceed"):
        draw_sample(0, 0, 10, 11, replace=False)


# Growing


def assert_grown_as_trees(
    table: Any, y: Any, recipe: Recipe, plan: ForestPlan, target: Target, weight: Any = None
) -> None:
    """The forest has the trees that are grown one by one."""
    fast = _grow_in_core(table, y, recipe, plan, target, weight, None).forest
    slow = _grow_one_by_one(table, y, recipe, plan, target, weight, None).forest
    same_trees(fast, slow)


@pytest.mark.parametrize("target", [TWO, FOUR, NUMBER])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"min_samples_leaf": 4}, {"max_features": 3}])
def test_an_exact_forest_has_the_trees_that_are_grown_one_by_one(
    target: Target, dtype: Any, options: dict[str, Any]
) -> None:
    table, y = plain_problem(3, target, dtype=dtype)
    recipe = Recipe("gini" if target.is_classification else "squared_error", **options)
    plan = ForestPlan(4, seed=11, sampling=Sampling(table.n_rows), tree_method="exact")
    assert_grown_as_trees(table, y, recipe, plan, target)


@pytest.mark.parametrize("target", [TWO, FOUR, NUMBER])
@pytest.mark.parametrize("problem", [plain_problem, mixed_problem, binary_problem])
def test_large_nodes_and_copied_rows_make_no_difference(problem: Any, target: Target) -> None:
    table, y = problem(4, target, n=30_000)
    recipe = Recipe("gini" if target.is_classification else "squared_error")
    plan = ForestPlan(2, seed=5, sampling=Sampling(table.n_rows), tree_method="exact")
    assert_grown_as_trees(table, y, recipe, plan, target)


@pytest.mark.parametrize(("target", "criterion"), CRITERIA)
@pytest.mark.parametrize("missing", ["learned", "majority"])
@pytest.mark.parametrize("weighted", [True, False])
def test_categories_gaps_and_weights_make_no_difference(
    target: Target, criterion: str, missing: Any, weighted: bool
) -> None:
    table, y = mixed_problem(4, target)
    weight = np.random.default_rng(1).random(table.n_rows) + 0.5 if weighted else None
    recipe = Recipe(criterion, missing=missing, min_samples_leaf=3)
    plan = ForestPlan(3, seed=2, sampling=Sampling(table.n_rows), tree_method="exact")
    assert_grown_as_trees(table, y, recipe, plan, target, weight)


@pytest.mark.parametrize(("target", "criterion"), CRITERIA)
@pytest.mark.parametrize(
    "options",
    [{}, {"min_samples_leaf": 4}, {"splitter": "random"}, {"max_features": 5, "redraw": False}],
)
def test_binary_columns_are_columns_like_others(
    target: Target, criterion: str, options: dict[str, Any]
) -> None:
    table, y = binary_problem(4, target)
    recipe = Recipe(criterion, **options)
    plan = ForestPlan(3, seed=2, sampling=Sampling(table.n_rows), tree_method="exact")
    assert_grown_as_trees(table, y, recipe, plan, target)


@pytest.mark.parametrize("missing", ["learned", "majority"])
def test_categories_of_few_rows_and_their_gaps_are_cut_as_in_trees(missing: Any) -> None:
    table, y = mixed_problem(12, TWO, n=3000)
    recipe = Recipe("gini", missing=missing)
    plan = ForestPlan(6, seed=2, sampling=Sampling(table.n_rows), tree_method="exact")
    assert_grown_as_trees(table, y, recipe, plan, TWO)


@pytest.mark.parametrize("missing", ["learned", "majority"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_features": 2, "redraw": False},
        {"max_depth": 7},
        {"min_samples_split": 9},
        {"min_gain": 1e-3},
        {"zero_gain": False},
    ],
)
def test_small_subtrees_with_categories_are_those_of_trees(
    missing: Any, options: dict[str, Any]
) -> None:
    table, y = nominal_problem(3)
    recipe = Recipe("gini", missing=missing, **options)
    plan = ForestPlan(4, seed=2, sampling=Sampling(table.n_rows), tree_method="exact")
    assert_grown_as_trees(table, y, recipe, plan, TWO)


@pytest.mark.parametrize("n_classes", [3, 7, 64, 65])
@pytest.mark.parametrize("n_rows", [3, 16, 17, 64, 65, 96, 97, 400])
@pytest.mark.parametrize("draws", [1, 12])
def test_small_subtrees_of_any_size(n_classes: int, n_rows: int, draws: int) -> None:
    # rows that are drawn often weigh more than sums of small nodes can hold
    target = Target("y", tuple(f"c{k}" for k in range(n_classes)))
    table, y = binary_problem(n_rows, target, n=n_rows)
    recipe = Recipe("gini", **({"max_features": 9} if draws > 1 else {}))
    plan = ForestPlan(4, seed=9, sampling=Sampling(draws * n_rows), tree_method="exact")
    assert_grown_as_trees(table, y, recipe, plan, target)


SEVEN = Target("y", tuple("abcdefg"))


@pytest.mark.parametrize("target", [TWO, FOUR, SEVEN, NUMBER])
@pytest.mark.parametrize("n_rows", [3, 17, 64, 65, 130, 193, 900])
def test_forests_of_whole_numbers_are_those_of_trees(target: Target, n_rows: int) -> None:
    table, y = whole_problem(n_rows, target, n=n_rows)
    recipe = Recipe("gini" if target.is_classification else "squared_error")
    plan = ForestPlan(4, seed=7, sampling=Sampling(n_rows), tree_method="exact")
    assert_grown_as_trees(table, y, recipe, plan, target)


@pytest.mark.parametrize("target", [TWO, FOUR, SEVEN, NUMBER])
@pytest.mark.parametrize("method", ["exact", "hist"])
@pytest.mark.parametrize("draws", [1, 12])
def test_short_keys_change_nothing(target: Target, method: Any, draws: int) -> None:
    # half a unit more, and the numbers are not whole any more
    recipe = Recipe("gini" if target.is_classification else "squared_error", max_features=4)
    oob: Any = "probability" if target.is_classification else "value"
    plan = ForestPlan(4, seed=2, sampling=Sampling(draws * 4000), tree_method=method, oob=oob)
    short, long = (
        grow_forest(table, y, recipe, plan, target=target)
        for table, y in (whole_problem(1, target, 4000, shift) for shift in (0, 0.5))
    )
    short.forest.arrays["breaks"] = short.forest.arrays["breaks"] + 0.5
    same_arrays(short.forest, long.forest)
    assert short.oob is not None
    assert long.oob is not None
    np.testing.assert_array_equal(short.oob.total, long.oob.total)


@pytest.mark.parametrize("layout", ["C", "F", "columns"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [0, 0.1])
def test_the_layout_of_a_table_does_not_change_a_forest(
    layout: str, dtype: Any, shift: float
) -> None:
    table, y = whole_problem(4, FOUR, 3000, shift)
    plan = ForestPlan(3, seed=1, sampling=Sampling(3000))
    recipe = Recipe("gini", max_features=3)
    one = grow_forest(table, y, recipe, plan, target=FOUR)
    other = grow_forest(laid_out(table, layout, dtype), y, recipe, plan, target=FOUR)
    same_arrays(one.forest, other.forest)


@pytest.mark.parametrize("target", [TWO, FOUR, NUMBER])
@pytest.mark.parametrize("method", ["exact", "hist"])
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_threads_do_not_change_a_forest(target: Target, method: Any, splitter: Any) -> None:
    table, y = plain_problem(5, target, n=3000)
    recipe = Recipe(
        "gini" if target.is_classification else "squared_error", max_features=2, splitter=splitter
    )
    oob: Any = "probability" if target.is_classification else "value"
    plan = ForestPlan(5, seed=3, sampling=Sampling(3000), tree_method=method, oob=oob)
    one = grow_forest(table, y, recipe, plan, target=target)
    two = grow_forest(table, y, recipe, replace(plan, n_threads=2), target=target)
    same_arrays(one.forest, two.forest)
    assert one.oob is not None
    assert two.oob is not None
    np.testing.assert_array_equal(one.oob.total, two.oob.total)
    np.testing.assert_array_equal(one.oob.errors, two.oob.errors)


@pytest.mark.parametrize("target", [TWO, FOUR, NUMBER])
def test_bins_only_coarsen_the_cuts_of_large_nodes(target: Target) -> None:
    table, y = plain_problem(6, target, n=4000)
    recipe = Recipe("gini" if target.is_classification else "squared_error")
    grown = [
        grow_forest(table, y, recipe, ForestPlan(1, tree_method=m), target=target).forest.tree(0)
        for m in ("exact", "hist")
    ]
    # purity is reached by either, with trees of about one size
    assert abs(grown[0].n_nodes - grown[1].n_nodes) < 0.1 * grown[0].n_nodes
    assert grown[1].impurity[grown[1].is_leaf].max() < 1e-12
    assert grown[0].gain[0] >= grown[1].gain[0] > 0.9 * grown[0].gain[0]


@pytest.mark.parametrize("target", [TWO, FOUR, NUMBER])
def test_cuts_of_large_nodes_are_between_the_bins_of_the_twin(target: Target) -> None:
    """A step between bins needs one cut, any other more."""
    n = 3000
    x = np.random.default_rng(8).permutation(n).astype(np.float32)
    table = table_of([x])
    ends = reference.bin_ends(n)
    assert len(ends) > 200
    assert (ends[0], ends[-1]) == (1, n - 1)
    recipe = Recipe("gini" if target.is_classification else "squared_error")
    for step in (*ends[::7], *ends[:3], *ends[-3:], 20, 500, 1501, 2800):
        y = (x >= step).astype(np.int32 if target.is_classification else np.float64)
        plan = ForestPlan(1, tree_method="hist")
        tree = grow_forest(table, y, recipe, plan, target=target).forest.tree(0)
        assert (tree.n_nodes == 3) == (step in ends), step
    assert not {20, 500, 1501, 2800} & set(ends.tolist())


def test_a_forest_grown_further_is_one_grown_at_once() -> None:
    table, y = plain_problem(7, TWO, n=1000)
    recipe = Recipe("gini", max_features=2)
    plan = ForestPlan(6, seed=1, sampling=Sampling(1000), oob="vote")
    whole = grow_forest(table, y, recipe, plan, target=TWO)
    begun = grow_forest(table, y, recipe, replace(plan, n_trees=2), target=TWO)
    more = replace(plan, n_trees=4, first_tree=2, oob_start=begun.oob)
    rest = grow_forest(table, y, recipe, more, target=TWO)
    joined = begun.forest.joined(rest.forest)
    same_arrays(joined, whole.forest)
    same_arrays(whole.forest.first(2), begun.forest)
    assert whole.oob is not None
    assert rest.oob is not None
    np.testing.assert_array_equal(rest.oob.total, whole.oob.total)
    np.testing.assert_array_equal(rest.oob.errors, whole.oob.errors[2:])


@pytest.mark.parametrize("problem", [plain_problem, mixed_problem, binary_problem])
@pytest.mark.parametrize("target", [TWO, FOUR, NUMBER])
@pytest.mark.parametrize("kind", ["probability", "vote"])
def test_out_of_bag_sums_are_those_of_trees_asked_one_by_one(
    problem: Any, target: Target, kind: Any
) -> None:
    table, y = problem(8, target)
    kind = kind if target.is_classification else "value"
    recipe = Recipe("gini" if target.is_classification else "squared_error", min_samples_leaf=3)
    sampling = Sampling(table.n_rows)
    plan = ForestPlan(5, seed=9, sampling=sampling, oob=kind, tree_method="exact")
    fast = _grow_in_core(table, y, recipe, plan, target, None, None).oob
    slow = _grow_one_by_one(table, y, recipe, plan, target, None, None).oob
    assert fast is not None
    assert slow is not None
    np.testing.assert_array_equal(fast.n_trees, slow.n_trees)
    np.testing.assert_allclose(fast.total, slow.total, rtol=1e-12)
    np.testing.assert_allclose(fast.errors, slow.errors, rtol=1e-12)


def test_an_interrupted_forest_keeps_its_first_trees() -> None:
    table, y = plain_problem(9, TWO, n=2000)
    recipe = Recipe("gini", max_features=2)

    def stop(done: int) -> None:
        if done >= 3:
            raise KeyboardInterrupt

    plan = ForestPlan(2000, seed=1, sampling=Sampling(2000), progress=stop, n_threads=2)
    grown = grow_forest(table, y, recipe, plan, target=TWO)
    assert isinstance(grown.interrupted, KeyboardInterrupt)
    assert 3 <= len(grown.forest) < 2000
    few = replace(plan, n_trees=len(grown.forest), progress=None)
    same_arrays(grown.forest, grow_forest(table, y, recipe, few, target=TWO).forest)


# Drawing features


def assert_split_if_drawn(table: Table, y: Any, only: int, recipe: Recipe) -> None:
    """Roots are split if the one feature that can be was drawn, as the twin knows, or always."""
    n_trees = 60
    plan = ForestPlan(n_trees, seed=21, tree_method="exact")
    grown = grow_forest(table, y, recipe, plan, target=TWO).forest
    is_split = np.array([grown.tree(k).n_nodes > 1 for k in range(n_trees)])
    assert recipe.max_features is not None
    size = len(table.columns), recipe.max_features
    drew = np.array(
        [
            only in reference.drawn_features(key, reference.root_path(key), *size)
            for key in (reference.tree_seed(21, k) for k in range(n_trees))
        ]
    )
    assert 0 < drew.sum() < n_trees
    np.testing.assert_array_equal(is_split, np.ones(n_trees, bool) if recipe.redraw else drew)


@pytest.mark.parametrize("store", [plain_problem, mixed_problem])
@pytest.mark.parametrize("redraw", [True, False])
def test_a_draw_that_cannot_be_split_is_a_leaf_or_goes_on(store: Any, redraw: bool) -> None:
    """One feature can be split, the others differ in one row."""
    table, y = store(13, TWO, n=200)
    columns = tuple(
        c if i == 1 else (np.arange(200) == 7).astype(c.dtype) for i, c in enumerate(table.columns)
    )
    table = Table(table.schema, 200, np.zeros(len(columns), bool), columns)
    recipe = Recipe("gini", max_features=2, redraw=redraw, min_samples_leaf=5)
    assert_split_if_drawn(table, y, 1, recipe)


@pytest.mark.parametrize("n_rows", [60, 2000])  # small nodes have a search of their own
@pytest.mark.parametrize("n_drawn", [1, 9, 33])
@pytest.mark.parametrize("redraw", [True, False])
def test_a_feature_that_does_not_vary_counts_as_drawn(
    n_rows: int, n_drawn: int, redraw: bool
) -> None:
    columns = [np.zeros(n_rows, np.float32) for _ in range(40)]
    columns[17] = np.arange(n_rows, dtype=np.float32)
    table = table_of(columns)
    y = (np.arange(n_rows) % 2).astype(np.int32)
    recipe = Recipe("gini", max_features=n_drawn, redraw=redraw, max_depth=1)
    assert_split_if_drawn(table, y, 17, recipe)


# Predicting


@pytest.mark.parametrize("problem", [plain_problem, mixed_problem])
@pytest.mark.parametrize("target", [TWO, FOUR, NUMBER])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_forest_predicts_as_its_trees_do(problem: Any, target: Target, n_threads: int) -> None:
    table, y = problem(10, target)
    recipe = Recipe("gini" if target.is_classification else "squared_error", max_features=2)
    plan = ForestPlan(7, sampling=Sampling(table.n_rows))
    forest = grow_forest(table, y, recipe, plan, target=target).forest
    trees = forest.from_trees([forest.tree(i) for i in range(len(forest))])
    np.testing.assert_array_equal(forest.apply(table, n_threads), trees.apply(table))
    for what in ("probability", "vote") if target.is_classification else ("value",):
        ours = forest.predict(table, what, n_threads)  # type: ignore[arg-type]
        np.testing.assert_array_equal(ours, trees.predict(table, what))  # type: ignore[arg-type]


@pytest.mark.parametrize("target", [TWO, FOUR, SEVEN])
@pytest.mark.parametrize("problem", [plain_problem, mixed_problem, whole_problem])
@pytest.mark.parametrize("n_trees", [1, 2, 20, 45])
@pytest.mark.parametrize("max_depth", [None, 4])  # leaves that are pure, and others
def test_the_winner_is_the_first_of_the_largest_means(
    target: Target, problem: Any, n_trees: int, max_depth: int | None
) -> None:
    table, y = problem(3, target, n=900)
    plan = ForestPlan(n_trees, sampling=Sampling(300), n_threads=2)
    recipe = Recipe("gini", max_features=2, max_depth=max_depth)
    # classes that leaves meet in the other order too
    for labels in (y, len(target.classes) - 1 - y):
        forest = grow_forest(table, labels, recipe, plan, target=target).forest
        for what in ("probability", "vote"):
            means = forest.predict(table, what)  # type: ignore[arg-type]
            for n_threads in (1, 2):
                found = forest.winners(table, what, n_threads)  # type: ignore[arg-type]
                np.testing.assert_array_equal(found, np.argmax(means, axis=1))
        trees = forest.from_trees([forest.tree(i) for i in range(len(forest))])
        np.testing.assert_array_equal(trees.winners(table, "vote"), found)


@pytest.mark.parametrize("target", [TWO, SEVEN])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [200, 70_001])
def test_rows_that_are_settled_leave_large_trees_alone(target: Target, dtype: Any, n: int) -> None:
    table, y = plain_problem(10, target, n=40_000, dtype=dtype)
    plan = ForestPlan(25, sampling=Sampling(table.n_rows), n_threads=2)
    recipe = Recipe("gini", max_features=2)
    forest = grow_forest(table, y, recipe, plan, target=target).forest
    assert forest.tree(0).n_nodes > 4000
    others, _ = plain_problem(13, target, n=n, dtype=dtype)
    means = forest.predict(others, "probability", 2)
    np.testing.assert_array_equal(forest.winners(others, "probability", 2), means.argmax(axis=1))


@pytest.mark.parametrize("n", [1, 5, 8, 9, 40_000])
def test_rows_that_go_down_large_trees_together(n: int) -> None:
    table, y = plain_problem(10, TWO, n=40_000)
    plan = ForestPlan(2, sampling=Sampling(table.n_rows))
    forest = grow_forest(table, y, Recipe("gini", max_features=2), plan, target=TWO).forest
    assert all(forest.tree(i).n_nodes > 4000 for i in range(2))
    some, _ = plain_problem(13, TWO, n=n)
    nodes = np.column_stack([route(forest.tree(i), some) for i in range(2)])
    np.testing.assert_array_equal(forest.apply(some, 2), nodes)


@pytest.mark.parametrize("layout", ["C", "F", "columns"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_layout_of_rows_gives_the_same_prediction(layout: str, dtype: Any) -> None:
    table, y = plain_problem(11, TWO, n=5000)
    plan = ForestPlan(3, sampling=Sampling(5000))
    forest = grow_forest(table, y, Recipe("gini", max_features=2), plan, target=TWO).forest
    other = laid_out(table, layout, dtype)
    expected = forest.predict(table, "probability")
    np.testing.assert_array_equal(forest.predict(other, "probability"), expected)


def test_a_pickled_forest_is_the_same() -> None:
    import pickle

    table, y = mixed_problem(12, FOUR)
    plan = ForestPlan(3, sampling=Sampling(table.n_rows))
    forest = grow_forest(table, y, Recipe("gini"), plan, target=FOUR).forest
    again = pickle.loads(pickle.dumps(forest))
    same_arrays(again, forest)
    np.testing.assert_array_equal(again.predict(table, "vote"), forest.predict(table, "vote"))
