"""Out-of-bag permutation importance beside its twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.kernels.forest_problems import (
    FOUR,
    NUMBER,
    TWO,
    laid_out,
    mixed_problem,
    plain_problem,
)
from tests.twins import importance as reference
from treewright.data.schema import Target
from treewright.data.table import Table
from treewright.kernels.forest import oob_importance, shuffled_order
from treewright.tree.forest.grow import Forest, ForestPlan, Sampling, grow_forest, leaf_values
from treewright.tree.growing.recipe import Recipe
from treewright.tree.predict import category_counts

SEED = 5


def grown(table: Table, y: Any, target: Target, sampling: Sampling, **options: Any) -> Forest:
    criterion = "gini" if target.is_classification else "squared_error"
    recipe = Recipe(criterion, max_features=2, min_samples_leaf=3, **options)
    plan = ForestPlan(4, seed=SEED, sampling=sampling)
    return grow_forest(table, y, recipe, plan, target=target).forest


def kernel(forest: Forest, table: Table, y: Any, sampling: Sampling, n_threads: int = 1) -> Any:
    assert forest.schema.target is not None
    what: Any = "probability" if forest.schema.target.is_classification else "value"
    trees, values = forest.core_trees(what)
    rows = table.columns if table.block is None else table.block
    plan = {"seed": SEED, **sampling.core_plan(table.n_rows)}
    return oob_importance(
        category_counts(forest.schema), trees, rows, y, values, plan, n_threads=n_threads
    )


def twin(forest: Forest, table: Table, y: Any, sampling: Sampling) -> Any:
    assert forest.schema.target is not None
    what: Any = "probability" if forest.schema.target.is_classification else "value"
    trees = [forest.tree(k) for k in range(len(forest))]
    return reference.oob_importance(
        trees,
        table.columns,
        y,
        [leaf_values(tree, what) for tree in trees],
        lambda k: sampling.counts(SEED, k, table.n_rows),
        SEED,
    )


@pytest.mark.parametrize("n", [0, 1, 2, 17, 1000])
def test_an_order_is_that_of_the_twin(n: int) -> None:
    for seed, tree, feature in [(0, 0, 0), (2**64 - 1, 10**6, 999)]:
        order = shuffled_order(seed, tree, feature, n)
        np.testing.assert_array_equal(order, reference.shuffled_order(seed, tree, feature, n))
        np.testing.assert_array_equal(np.sort(order), np.arange(n))


def test_orders_differ_between_trees_and_features() -> None:
    orders = {tuple(shuffled_order(1, t, f, 30)) for t in range(5) for f in range(5)}
    assert len(orders) == 25


@pytest.mark.parametrize("problem", [plain_problem, mixed_problem])
@pytest.mark.parametrize("target", [TWO, FOUR, NUMBER])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_losses_are_those_of_the_twin(problem: Any, target: Target, n_threads: int) -> None:
    table, y = problem(1, target, n=300)
    sampling = Sampling(table.n_rows)
    forest = grown(table, y, target, sampling)
    assert forest.arrays is not None
    ours = kernel(forest, table, y, sampling, n_threads)
    expected = twin(forest, table, y, sampling)
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-14)
    assert np.abs(expected).max() > 0.01


@pytest.mark.parametrize("target", [TWO, NUMBER])
@pytest.mark.parametrize(
    "gaps",
    [
        {"missing": "surrogate"},
        {"missing": "surrogate", "surrogate_fallback": "stop"},
        {"missing": "fractional"},
        {"missing": "own_branch"},
    ],
)
def test_trees_whose_gaps_divide_stop_or_ask_others_lose_the_same(
    target: Target, gaps: dict[str, Any]
) -> None:
    table, y = mixed_problem(2, target, n=300)
    sampling = Sampling(table.n_rows)
    forest = grown(table, y, target, sampling, **gaps)
    assert forest.arrays is None
    ours = kernel(forest, table, y, sampling)
    np.testing.assert_allclose(ours, twin(forest, table, y, sampling), rtol=1e-9, atol=1e-14)


def test_several_outputs_share_a_loss() -> None:
    table, y = plain_problem(3, NUMBER, n=300)
    both = np.column_stack([y, -2 * y + np.arange(300) % 3])
    target = Target("y", n_outputs=2)
    sampling = Sampling(200, replace=False)
    forest = grown(table, both, target, sampling)
    ours = kernel(forest, table, both, sampling)
    np.testing.assert_allclose(ours, twin(forest, table, both, sampling), rtol=1e-9, atol=1e-14)


def test_strata_and_chances_decide_who_is_left_out() -> None:
    table, y = mixed_problem(4, FOUR, n=300)
    weight = np.random.default_rng(0).random(300)
    sampling = Sampling([40] * 4, True, weight, np.ascontiguousarray(y))
    forest = grown(table, y, FOUR, sampling)
    ours = kernel(forest, table, y, sampling)
    np.testing.assert_allclose(ours, twin(forest, table, y, sampling), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("layout", ["C", "F", "columns"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_layout_of_rows_loses_the_same(layout: str, dtype: Any) -> None:
    table, y = plain_problem(5, TWO)
    sampling = Sampling(table.n_rows)
    forest = grown(table, y, TWO, sampling)
    other = laid_out(table, layout, dtype)
    np.testing.assert_array_equal(
        kernel(forest, other, y, sampling), kernel(forest, table, y, sampling)
    )


def test_threads_do_not_change_a_bit() -> None:
    table, y = mixed_problem(6, NUMBER, n=3000)
    sampling = Sampling(table.n_rows)
    forest = grown(table, y, NUMBER, sampling)
    one = kernel(forest, table, y, sampling)
    np.testing.assert_array_equal(one, kernel(forest, table, y, sampling, n_threads=4))


def test_a_tree_that_saw_all_has_no_answer() -> None:
    table, y = plain_problem(7, TWO, n=50)
    forest = grown(table, y, TWO, Sampling())
    assert np.isnan(kernel(forest, table, y, Sampling())).all()


def test_a_feature_that_no_tree_tests_costs_nothing() -> None:
    table, y = plain_problem(8, NUMBER, n=200)
    block = np.array(table.block)
    block[:, 3] = 1.0
    table = Table(table.schema, 200, table.has_gaps, block=block)
    sampling = Sampling(200)
    forest = grown(table, y, NUMBER, sampling)
    ours = kernel(forest, table, y, sampling)
    assert np.all(ours[:, 3] == 0.0)
    assert np.any(ours[:, 0] != 0.0)


def test_what_does_not_fit_the_forest_is_refused() -> None:
    table, y = plain_problem(9, TWO, n=100)
    sampling = Sampling(100)
    forest = grown(table, y, TWO, sampling)
    trees, values = forest.core_trees("probability")
    counts = category_counts(forest.schema)
    plan = {"seed": SEED, **sampling.core_plan(100)}
    with pytest.raises(ValueError, match="each of the forest's ends"):
        oob_importance(counts, trees, table.block, y, values[1:], plan)
    with pytest.raises(ValueError, match="one entry for each row"):
        oob_importance(counts, trees, table.block, y[1:], values, plan)
    with pytest.raises(ValueError, match="features"):
        oob_importance(counts, trees, np.zeros((100, 3)), y, values, plan)
    with pytest.raises(ValueError, match="n_threads"):
        oob_importance(counts, trees, table.block, y, values, plan, 0)
    with pytest.raises(ValueError, match="chance must have one entry"):
        oob_importance(counts, trees, table.block, y, values, {**plan, "chance": np.ones(7)})
