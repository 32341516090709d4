"""What the compiled predictor refuses: rows that do not fit, damaged trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.predict_cases import (
    ALL_KINDS,
    CONTINUOUS,
    MIXED,
    arguments,
    grow,
    make,
    random_columns,
    stump,
)
from tests.tree.builders import N, Test, make_tree
from treewright.kernels import Predictor
from treewright.tree.split import SPLIT_DTYPES
from treewright.tree.tree import Tree

ROWS = (np.zeros(4), np.zeros(4, np.float32), np.zeros(4))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (ROWS[:2], "3 columns, got 2"),
        ((np.zeros(4), np.zeros(5), np.zeros(4)), "one length"),
        ((np.zeros((4, 1)), *ROWS[1:]), "1-d arrays"),
        ((np.zeros(4, np.int32), *ROWS[1:]), "Column 0 must be aligned float32 or float64"),
        ((np.frombuffer(bytes(33), np.float64, 4, offset=1), *ROWS[1:]), "aligned"),
        ((np.zeros(4, np.float16), *ROWS[1:]), "Column 0 must be aligned float32 or float64"),
        (("text", *ROWS[1:]), "1-d arrays"),
        (np.zeros((4, 2)), "3 features, got 2"),
        (np.zeros((4, 3), np.int32), "float32 or float64"),
        (np.zeros(3), "2-d float array"),
        ("text", "2-d float array"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows, words):
    root = N([1, 1, 1], Test(terms={0: 1.0, 1: 1.0, 2: 1.0}, breaks=[0.0]), [N([1, 0, 0])] * 2)
    with pytest.raises(ValueError, match=words):
        make(make_tree(CONTINUOUS, root)).apply(rows)


def test_a_block_cannot_hold_codes():
    tree = stump(Test(4, codes={0: 0, 1: 1}), 0, MIXED)
    with pytest.raises(ValueError, match="continuous features only"):
        make(tree).apply(np.zeros((2, len(MIXED))))
    with pytest.raises(ValueError, match="Column 4 must be aligned int32 codes"):
        make(tree).apply((np.zeros(2),) * len(MIXED))


def test_arguments_of_the_wrong_size_are_refused():
    tree = stump(Test(0, [0.0]))
    predictor = make(tree)
    with pytest.raises(ValueError, match="n_threads must be at least 1, got 0"):
        predictor.apply(ROWS, 0)
    with pytest.raises(ValueError, match="each of the tree's 3 nodes, got 2"):
        predictor.values(ROWS, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="each of the tree's 3 nodes, got 4"):
        predictor.reach(ROWS, np.zeros(4), np.zeros(1))
    for alphas in ([1.0, 0.0], [np.nan], [0.0, np.nan]):
        with pytest.raises(ValueError, match="ascend"):
            predictor.reach(ROWS, np.zeros(3), np.array(alphas))


def damaged(tree: Tree, where: str, index: Any, value: Any) -> dict[str, Any]:
    """Arguments with one entry changed; ``where`` may name an array of the splits."""
    given = arguments(tree)
    room, _, name = where.rpartition(".")
    if not room:
        given[name] = given[name].copy()
        given[name][index] = value
        return given
    at = list(SPLIT_DTYPES).index(name)
    arrays = list(given[room])
    arrays[at] = arrays[at].copy()
    # bytes, since a file may hold a bool that is neither 0 nor 1
    (arrays[at].view(np.uint8) if arrays[at].dtype == np.bool_ else arrays[at])[index] = value
    given[room] = tuple(arrays)
    return given


def example() -> Tree:
    """Node 0 breaks, 1 codes, 2 linear; two surrogates at the root."""
    codes = N([2, 0, 0], Test(5, codes={1: 0, 2: 1}), [N([1, 0, 0])] * 2)
    linear = N([2, 0, 0], Test(terms={0: 1.0, 2: 2.0}, breaks=[1.0]), [N([1, 0, 0])] * 2)
    surrogates = [(Test(3, [1.5], reversed=True), 1.0, 1.0), (Test(4, codes={0: 1}), 1.0, 1.0)]
    test = Test(0, [0.0, 1.0, 2.0])
    children = [codes, linear, N([1, 0, 0]), N([0, 1, 0])]
    return make_tree(MIXED, N([6, 1, 0], test, children, 0, surrogates))


@pytest.mark.parametrize(
    ("where", "index", "value"),
    [
        ("first_child", 0, 0),
        ("first_child", 0, 6),
        ("first_child", 0, 2**31 - 1),
        ("first_child", 0, -1),
        ("first_child", 1, 7),
        ("first_child", 8, 3),
        ("first_child", 2, 5),
        ("n_children", 0, 2**31 - 1),
        ("n_children", 0, 3),
        ("n_children", 1, 3),
        ("n_children", 0, 0),
        ("n_children", 8, 1),
        ("n_children", 1, -1),
        ("default", 0, 4),
        ("default", 0, -3),
        ("weight", 3, np.nan),
        ("weight", 3, -1.0),
        ("weight", 3, np.inf),
        ("surrogate_offset", 1, 3),
        ("surrogate_offset", 0, -1),
        ("surrogate_offset", -1, 3),
        ("surrogate_offset", 2, 1),
        ("splits.kind", 0, 4),
        ("splits.kind", 0, 0),
        ("splits.kind", 8, 1),
        ("splits.kind", 0, 2),
        ("splits.feature", 0, -1),
        ("splits.feature", 0, 8),
        ("splits.feature", 1, 0),
        ("splits.feature", 1, 2**31 - 1),
        ("splits.reversed", 0, True),
        ("splits.reversed", 1, True),
        ("splits.break_offset", 1, 2**62),
        ("splits.break_offset", 0, -(2**63)),
        ("splits.break_offset", -1, 5),
        ("splits.breaks", 0, np.nan),
        ("splits.breaks", 1, 0.0),
        ("splits.breaks", 0, -np.inf),
        ("splits.code_offset", -1, 3),
        ("splits.codes", 0, -1),
        ("splits.codes", 0, 2),
        ("splits.codes", 1, 64),
        ("splits.branches", 0, 2),
        ("splits.branches", 0, -1),
        ("splits.term_offset", -1, 3),
        ("splits.term_feature", 0, 8),
        ("splits.term_feature", 0, -1),
        ("splits.term_weight", 0, np.inf),
        ("surrogates.kind", 0, 0),
        ("surrogates.feature", 0, 8),
        ("surrogates.branches", 0, 4),
        ("surrogates.breaks", 0, np.nan),
        ("surrogates.break_offset", 1, 0),
    ],
)
def test_a_damaged_tree_is_refused(where, index, value):
    make(example())
    with pytest.raises(ValueError, match=r"^A tree must have .*; grow or load it again\.$"):
        Predictor(**damaged(example(), where, index, value))


def test_arrays_of_the_wrong_length_or_type_are_refused():
    good = arguments(example())
    for name in ("first_child", "n_children", "default", "weight", "surrogate_offset"):
        with pytest.raises(ValueError, match="A tree must have"):
            Predictor(**(good | {name: good[name][:-1].copy()}))
        with pytest.raises(TypeError):
            Predictor(**(good | {name: good[name].astype(np.float32)}))
    for at in range(len(SPLIT_DTYPES)):
        arrays = list(good["splits"])
        arrays[at] = arrays[at][:-1].copy()
        with pytest.raises(ValueError, match="A tree must have"):
            Predictor(**(good | {"splits": tuple(arrays)}))
        arrays[at] = arrays[at].astype(np.complex128)
        with pytest.raises(TypeError):
            Predictor(**(good | {"splits": tuple(arrays)}))
    with pytest.raises(TypeError):
        Predictor(**(good | {"splits": good["splits"][:-1]}))


@given(st.integers(0, 10**6), st.data())
def test_no_damage_to_a_tree_crashes(seed, data):
    rng = np.random.default_rng(seed)
    tree = grow(rng, MIXED, ALL_KINDS, {"branch", "fraction", "surrogate"}, 8)
    names = ["first_child", "n_children", "default", "weight", "surrogate_offset"]
    names += [f"{room}.{name}" for room in ("splits", "surrogates") for name in SPLIT_DTYPES]
    where = data.draw(st.sampled_from(names))
    room, _, name = where.rpartition(".")
    whole = arguments(tree)
    array = whole[room][list(SPLIT_DTYPES).index(name)] if room else whole[name]
    if not len(array):
        return
    index = data.draw(st.integers(0, len(array) - 1))
    if array.dtype.kind == "f":
        value = data.draw(st.floats(width=64))
    else:
        info = np.iinfo(np.uint8 if array.dtype == np.bool_ else array.dtype)
        near = st.integers(max(info.min, -3), min(info.max, 40))
        value = data.draw(near | st.integers(info.min, info.max))
    try:
        predictor = Predictor(**damaged(tree, where, index, value))
    except ValueError:
        return
    found = predictor.apply(random_columns(rng, MIXED, 20))
    assert ((found >= 0) & (found < tree.n_nodes)).all()
