"""The compiled predictor against its twin, on random trees, hostile numbers and damaged arrays."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tree.builders import EXAMPLES, N, Test, make_tree, random_tree
from treewright.data.schema import Feature, Schema, Target
from treewright.kernels import Predictor
from treewright.kernels.reference import predict as reference
from treewright.tree.split import GAP_FRACTION, GAP_STOP, SPLIT_DTYPES
from treewright.tree.tree import Tree

TARGET = Target("y", ("a", "b", "c"))
CONTINUOUS = Schema(tuple(Feature(name, "continuous") for name in "abc"), target=TARGET)
# Codes up to 4, 64, 90 and 1000: masks, and bitsets, ranges and lists of codes.
MIXED = Schema(
    (
        *CONTINUOUS.features,
        Feature("size", "ordinal", tuple(range(5))),
        *(Feature(f"n{k}", "nominal", tuple(range(k))) for k in (4, 64, 90, 1000)),
    ),
    target=TARGET,
)
NUMBERS = [-1.0, -0.0, 0.0, 5e-324, 0.1, float(np.float32(0.1)), 1.0, 2.0, 3.0, 16777217.0]
HUGE = [-1.7e308, 1.7e308]
ALL_KINDS = frozenset({"break", "breaks", "codes", "many_codes", "linear"})


def random_test(rng: np.random.Generator, schema: Schema, kinds: Any, width: int) -> Test:
    """A test with at most ``width`` branches."""
    kind = rng.choice(sorted(kinds))
    closed = bool(rng.integers(2))
    cuttable = [i for i, f in enumerate(schema.features) if f.kind != "nominal"]
    nominal = [i for i, f in enumerate(schema.features) if f.kind == "nominal"]
    if kind == "linear":
        terms = rng.choice(cuttable, rng.integers(1, 4), replace=False)
        weights = {int(f): float(rng.choice([-2, 0, 0.5, 1, 1e-3])) for f in terms}
        return Test(terms=weights, breaks=[float(rng.choice(NUMBERS))], closed=closed,
                    reversed=bool(rng.integers(2)))  # fmt: skip
    if kind in ("codes", "many_codes") and nominal:
        feature = int(rng.choice(nominal))
        n = len(schema.features[feature].categories)
        listed = rng.choice(n, rng.integers(1, min(n, 90) + 1), replace=False)
        if rng.integers(2):
            start = rng.integers(0, n)
            listed = np.arange(start, min(n, start + 1 + rng.integers(90)))
        most = width if kind == "many_codes" else 2
        return Test(feature, codes={int(c): int(rng.integers(most)) for c in listed})
    feature = int(rng.choice(cuttable))
    pool = [0.0, 0.5, 1.0, 2.0, 3.5] if schema.features[feature].categories else NUMBERS + HUGE
    n_breaks = int(rng.integers(1, width)) if kind == "breaks" else 1
    breaks = sorted(set(rng.choice([*pool, np.inf], n_breaks).tolist()))
    one = len(breaks) == 1
    return Test(feature, breaks, closed=closed, reversed=one and bool(rng.integers(2)))


def grow(rng: np.random.Generator, schema: Schema, kinds: Any, gaps: Any, n_inner: int) -> Tree:
    """Split some leaf, again and again."""
    root = N(rng.integers(0, 5, 3).tolist())
    leaves = [root]
    for _ in range(n_inner):
        node = leaves.pop(rng.integers(len(leaves)))
        width = 2 if kinds == {"break"} else int(rng.integers(2, 6))
        node.test = random_test(rng, schema, kinds, width)
        policy = rng.choice(sorted(gaps))
        node.default = {"stop": GAP_STOP, "fraction": GAP_FRACTION}.get(
            policy, int(rng.integers(width))
        )
        if "surrogate" in gaps:
            node.surrogates = [
                (random_test(rng, schema, kinds, width), 1.0, 1.0)
                for _ in range(rng.integers(0, 4))
            ]
        node.children = [N((rng.integers(0, 5, 3) * rng.integers(2)).tolist()) for _ in range(width)]
        leaves.extend(node.children)
    return make_tree(schema, root)


def random_columns(rng: np.random.Generator, schema: Schema, n_rows: int) -> tuple[Any, ...]:
    """Columns of hostile values, with a third of gaps."""
    columns = []
    for i, feature in enumerate(schema.features):
        if feature.is_categorical:
            n = len(feature.categories)
            codes = rng.integers(-1, n + 1, n_rows)
            codes[rng.random(n_rows) < 0.1] = rng.choice([-1, -7, n, 2**31 - 1, -(2**31)])
            columns.append(codes.astype(np.int32))
        else:
            values = rng.choice([*NUMBERS, *HUGE, np.nan, np.nan, np.nan], n_rows)
            if i == 1:
                values = np.clip(values, -3e38, 3e38).astype(np.float32)
            columns.append(values)
    return tuple(columns)


@st.composite
def cases(
    draw: st.DrawFn, schema: Schema = MIXED, kinds: Any = ALL_KINDS, n_rows: int = 12
) -> tuple[Tree, tuple[Any, ...]]:
    """A tree and columns for it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.sets(st.sampled_from(sorted(kinds)), min_size=1))
    gaps = draw(st.sets(st.sampled_from(["branch", "fraction", "stop", "surrogate"]), min_size=1))
    tree = grow(rng, schema, kinds, gaps, draw(st.integers(0, 12)))
    return tree, random_columns(rng, schema, n_rows)


def arguments(tree: Tree) -> dict[str, Any]:
    """What a Predictor is made of."""
    features = tree.schema.features
    counts = [len(f.categories) if f.is_categorical else -1 for f in features]
    return {
        "n_categories": np.array(counts, np.int32),
        "first_child": tree.first_child,
        "n_children": tree.n_children,
        "default": tree.default,
        "weight": tree.weight,
        "surrogate_offset": tree.surrogate_offset,
        "splits": tuple(getattr(tree.splits, name) for name in SPLIT_DTYPES),
        "surrogates": tuple(getattr(tree.surrogates, name) for name in SPLIT_DTYPES),
    }


def make(tree: Tree) -> Predictor:
    return Predictor(**arguments(tree))


def assert_twins_agree(tree: Tree, columns: Any, rows: Any, n_threads: int = 1) -> None:
    predictor = make(tree)
    np.testing.assert_array_equal(predictor.apply(rows, n_threads), reference.apply(tree, columns))
    values = tree.value + np.arange(tree.n_nodes)[:, None] / 3
    np.testing.assert_array_equal(
        predictor.values(rows, values, n_threads), reference.values(tree, columns, values)
    )
    for ours, twins in zip(
        predictor.path(rows, n_threads), reference.path(tree, columns), strict=True
    ):
        np.testing.assert_array_equal(ours, twins)
        assert ours.dtype == twins.dtype
    node_alpha = np.array([[0.5, 1.0, np.nan, np.inf, 0.0, 2.0][i % 6] for i in values[:, 0].astype(int)])
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


def stump(test: Test, default: int = 0, schema: Schema = CONTINUOUS) -> Tree:
    return make_tree(schema, N([2, 2, 0], test, [N([2, 0, 0]), N([0, 2, 0])], default=default))


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


def chain(n: int, default: int) -> dict[str, Any]:
    """Arguments of a tree in which every right child is split again: x < 0, x < 1, ..."""
    inner = np.arange(2 * n + 1) % 2 == 0
    inner[-1] = False
    first = np.where(inner, np.arange(2 * n + 1) + 1, -1).astype(np.int32)
    size = len(first)
    none = np.zeros(size + 1, np.int64)
    codes = np.zeros(0, np.int32)
    splits = (
        inner.astype(np.uint8),
        np.where(inner, 0, -1).astype(np.int32),
        np.zeros(size, np.bool_),
        np.zeros(size, np.bool_),
        np.concatenate([[0], np.cumsum(inner)]),
        np.arange(n, dtype=np.float64),
        *(none, codes, codes),
        *(none, codes, np.zeros(0)),
    )
    return {
        "n_categories": np.full(1, -1, np.int32),
        "first_child": first,
        "n_children": np.where(inner, 2, 0).astype(np.int32),
        "default": np.where(inner, default, -2).astype(np.int32),
        "weight": np.ones(size),
        "surrogate_offset": none,
        "splits": splits,
        "surrogates": tuple(
            np.zeros(int(name.endswith("offset")), dtype) for name, dtype in SPLIT_DTYPES.items()
        ),
    }


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
def test_an_interrupt_ends_the_work_soon(n_threads):
    predictor = Predictor(**chain(2_000, default=GAP_FRACTION))
    gaps = np.broadcast_to(np.array([np.nan]), (3_000_000,))  # minutes of work
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    begin = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            predictor.apply((gaps,), n_threads)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert time.perf_counter() - begin < 10


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


# -- what is refused -----------------------------------------------------------------------


ROWS = (np.zeros(4), np.zeros(4, np.float32), np.zeros(4))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (ROWS[:2], "3 columns, got 2"),
        ((np.zeros(4), np.zeros(5), np.zeros(4)), "one length"),
        ((np.zeros((4, 1)), *ROWS[1:]), "1-d arrays"),
        ((np.zeros(4, np.int32), *ROWS[1:]), "Column 0 must be float32 or float64"),
        ((np.zeros(4, np.float16), *ROWS[1:]), "Column 0 must be float32 or float64"),
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
    with pytest.raises(ValueError, match="Column 4 must be int32 codes"):
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
    except ValueError as error:
        assert str(error).startswith("A tree must have")
    else:
        columns = random_columns(rng, MIXED, 20)
        found = predictor.apply(columns)
        assert ((found >= 0) & (found < tree.n_nodes)).all()
