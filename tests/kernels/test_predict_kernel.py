"""The compiled predictor against its twin, on random trees and hostile numbers."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.predict_cases import (
    ALL_KINDS,
    CONTINUOUS,
    MIXED,
    TARGET,
    cases,
    chain,
    grow,
    make,
    random_columns,
    stump,
)
from tests.tree.builders import EXAMPLES, N, Test, make_tree, random_tree
from tests.twins import predict as reference
from treewright.data.schema import Feature, Schema
from treewright.kernels import Predictor
from treewright.tree.split import GAP_FRACTION, GAP_STOP
from treewright.tree.tree import Tree


def assert_twins_agree(tree: Tree, columns: Any, rows: Any, n_threads: int = 1) -> None:
    predictor = make(tree)
    np.testing.assert_array_equal(predictor.apply(rows, n_threads), reference.apply(tree, columns))
    values = tree.value + np.arange(tree.n_nodes)[:, None] / 3
    np.testing.assert_array_equal(
        predictor.values(rows, values, n_threads), reference.values(tree, columns, values)
    )
    for ours, twins in zip(
        (*predictor.path(rows, n_threads), *predictor.ends(rows, n_threads)),
        (*reference.path(tree, columns), *reference.ends(tree, columns)),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, twins)
        assert ours.dtype == twins.dtype
    node_alpha = np.array(
        [[0.5, 1.0, np.nan, np.inf, 0.0, 2.0][i % 6] for i in values[:, 0].astype(int)]
    )
    alphas = np.array([-1.0, 0.0, 0.25, 0.5, 0.5, 1.5, np.inf])
    np.testing.assert_array_equal(
        predictor.reach(rows, node_alpha, alphas, n_threads),
        reference.reach(tree, columns, node_alpha, alphas),
    )


@given(cases())
def test_every_kind_of_split_and_gap_agrees_with_the_twin(case):
    tree, columns = case
    assert_twins_agree(tree, columns, columns)


@given(cases(schema=CONTINUOUS, kinds=frozenset({"break"})))
def test_trees_of_single_breaks_agree_with_the_twin(case):
    tree, columns = case
    assert_twins_agree(tree, columns, columns)


@given(
    cases(schema=CONTINUOUS, kinds=ALL_KINDS - {"codes", "many_codes"}),
    st.sampled_from([np.float32, np.float64]),
)
def test_a_block_of_any_layout_agrees_with_the_twin(case, dtype):
    tree, columns = case
    with np.errstate(over="ignore"):
        block = np.column_stack(columns).astype(dtype)
    wide = np.zeros((2 * len(block), 9), dtype)
    wide[::2, 1:7:2] = block
    frozen = block.copy()
    frozen.flags.writeable = False
    layouts = [block, np.asfortranarray(block), wide[::2, 1:7:2], frozen, block[::-1][::-1]]
    for rows in layouts:
        assert_twins_agree(tree, tuple(block.T), rows)
    backwards = block[::-1]
    assert_twins_agree(tree, tuple(backwards.T), backwards)


@given(cases())
def test_strided_and_read_only_columns_agree_with_the_twin(case):
    tree, columns = case
    rows = tuple(np.repeat(column, 3)[::3] for column in columns)
    for column in rows:
        column.flags.writeable = False
    assert_twins_agree(tree, columns, rows)


@pytest.mark.parametrize("seed", range(30))
def test_the_shared_random_trees_agree_with_the_twin(seed):
    tree = random_tree(seed)
    rng = np.random.default_rng(seed)
    ages = rng.normal(30, 15, (2, 40))
    ages[rng.random((2, 40)) < 0.3] = np.nan
    codes = rng.integers(-1, 4, (2, 40)).astype(np.int32)
    assert_twins_agree(tree, (*ages, *codes), (*ages, *codes))


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_example_trees_can_be_read(name):
    tree = EXAMPLES[name]()
    predictor = make(tree)
    assert predictor.n_nodes == tree.n_nodes
    assert predictor.n_features == len(tree.schema)


@pytest.mark.parametrize("has_fractions", [False, True])
@pytest.mark.parametrize("is_block", [False, True])
def test_the_number_of_threads_changes_nothing(has_fractions, is_block):
    rng = np.random.default_rng(5)
    gaps = {"fraction"} if has_fractions else {"branch", "stop"}
    schema = CONTINUOUS if is_block else MIXED
    tree = grow(rng, schema, ALL_KINDS, gaps, 40)
    assert make(tree).divides == has_fractions
    columns = random_columns(rng, schema, 30_011)
    rows = np.column_stack(columns) if is_block else columns
    predictor = make(tree)
    values = rng.random((tree.n_nodes, 3))
    alphas = np.linspace(0, 1, 5)
    node_alpha = rng.random(tree.n_nodes)
    one = [
        predictor.apply(rows, 1),
        predictor.values(rows, values, 1),
        *predictor.path(rows, 1),
        predictor.reach(rows, node_alpha, alphas, 1),
    ]
    few = tuple(column[-300:] for column in columns)
    np.testing.assert_array_equal(one[0][-300:], reference.apply(tree, few))
    for n_threads in (2, 5):
        many = [
            predictor.apply(rows, n_threads),
            predictor.values(rows, values, n_threads),
            *predictor.path(rows, n_threads),
            predictor.reach(rows, node_alpha, alphas, n_threads),
        ]
        for a, b in zip(one, many, strict=True):
            np.testing.assert_array_equal(a, b)


def ends(tree: Tree, values: Any) -> list[int]:
    """Where rows with these values of the first feature end."""
    values = np.asarray(values)
    others = [np.zeros(len(values)) for _ in tree.schema.features[1:]]
    return make(tree).apply((values, *others)).tolist()


def test_a_float32_is_compared_as_the_double_that_it_is():
    tenth = np.array([0.1], np.float32)  # a little above 0.1
    assert ends(stump(Test(0, [0.1], closed=True)), tenth) == [2]
    assert ends(stump(Test(0, [float(tenth[0])], closed=True)), tenth) == [1]
    assert ends(stump(Test(0, [float(tenth[0])])), tenth) == [2]


@pytest.mark.parametrize(
    ("closed", "at", "above"),
    [(True, [1, 1], [2]), (False, [2, 2], [2])],
)
def test_the_closed_bit_decides_at_the_break_and_zeros_have_no_sign(closed, at, above):
    for zero in (0.0, -0.0):
        tree = stump(Test(0, [zero], closed=closed))
        assert ends(tree, [0.0, -0.0]) == at
        assert ends(tree, [5e-324]) == above
        assert ends(tree, [-5e-324]) == [1]


def test_breaks_at_the_largest_numbers_work():
    top = np.finfo(np.float64).max
    assert ends(stump(Test(0, [-top])), [-top, top]) == [2, 2]
    assert ends(stump(Test(0, [-top], closed=True)), [-top, top]) == [1, 2]
    assert ends(stump(Test(0, [np.inf]), default=1), [-top, top, np.nan]) == [1, 1, 2]


def test_a_hundred_thousand_categories_are_told_apart():
    n = 100_000
    schema = Schema((Feature("place", "nominal", tuple(range(n))),), target=TARGET)
    everything = np.arange(n, dtype=np.int32)
    full = {int(code): code % 2 for code in range(n)}
    few = {code: code // 7 % 2 for code in range(0, n, 997)}
    for codes in (full, few):
        tree = stump(Test(0, codes=codes), GAP_STOP, schema)
        expected = [1 + codes[c] if c in codes else 0 for c in range(n)]
        assert make(tree).apply((everything,)).tolist() == expected


def test_a_tree_of_one_leaf_takes_every_row():
    tree = make_tree(MIXED, N([1, 2, 3]))
    columns = random_columns(np.random.default_rng(0), MIXED, 7)
    assert_twins_agree(tree, columns, columns)


def test_no_rows_give_empty_results_of_the_right_shapes():
    tree = stump(Test(0, [0.0]))
    predictor = make(tree)
    for rows in (np.empty((0, 3)), (np.empty(0),) * 3):
        assert predictor.apply(rows).shape == (0,)
        assert predictor.values(rows, tree.value).shape == (0, 3)
        indptr, indices = predictor.path(rows)
        assert indptr.tolist() == [0]
        assert len(indices) == 0
        assert predictor.reach(rows, np.zeros(3), np.zeros(2)).shape == (0, 2)


def test_a_path_of_a_hundred_thousand_nodes_is_walked():
    n = 100_000
    predictor = Predictor(**chain(n, default=1))
    rows = np.array([[n + 1.0], [n - 1.5], [-1.0], [np.nan]])
    assert predictor.apply(rows).tolist() == [2 * n, 2 * n - 1, 1, 2 * n]
    indptr, _ = predictor.path(rows)
    assert np.diff(indptr).tolist() == [n + 1, n + 1, 2, n + 1]


def test_a_row_divided_until_shares_vanish_still_has_its_heaviest_leaf():
    n = 5_000
    predictor = Predictor(**chain(n, default=GAP_FRACTION))
    assert predictor.apply(np.array([[np.nan]])).tolist() == [1]
    total = predictor.values(np.array([[np.nan]]), np.ones((2 * n + 1, 1)))
    np.testing.assert_allclose(total, 1)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_interrupt_ends_the_work_soon(press_ctrl_c, n_threads):
    predictor = Predictor(**chain(2_000, default=GAP_FRACTION))
    gaps = np.broadcast_to(np.array([np.nan]), (3_000_000,))  # minutes of work
    assert press_ctrl_c(0.2, lambda: predictor.apply((gaps,), n_threads)) < 10


def test_other_threads_run_while_rows_are_predicted():
    predictor = Predictor(**chain(200, default=GAP_FRACTION))
    gaps = np.broadcast_to(np.array([np.nan]), (100_000,))
    work = threading.Thread(target=predictor.apply, args=((gaps,),))
    work.start()
    turns = 0
    while work.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 3
