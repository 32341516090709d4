"""TreeSHAP against its twin, which plays every set of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.kernels.predict_cases import CONTINUOUS, TARGET, grow
from tests.twins import shap as twin
from tests.twins.predict import read_row
from treewright.data.schema import Feature, Schema
from treewright.explain._shap import raw_values
from treewright.kernels.explain import TreeExplainer
from treewright.tree.additive import Additive, Part, tree_sum
from treewright.tree.predict import category_counts, core_arrays

SCHEMA = Schema(
    (
        *CONTINUOUS.features,
        Feature("size", "ordinal", tuple(range(5))),
        Feature("kind", "nominal", tuple(range(4))),
    ),
    target=TARGET,
)
GAPS = ("branch", "fraction", "stop", "surrogate")


class Rows:
    """Columns that pass for a table."""

    def __init__(self, columns: tuple[Any, ...]) -> None:
        self.columns, self.block = columns, None
        self.n_rows, self.schema = len(columns[0]), SCHEMA
        self.has_gaps = np.ones(len(columns), bool)

    def row(self, i: int) -> list[float]:
        return read_row(SCHEMA, self.columns, i)


def draw_rows(rng: np.random.Generator, n: int) -> Rows:
    values = np.array([-1.0, 0.0, 0.1, 0.5, 1.0, 2.0, 3.0, np.nan])
    numbers = [rng.choice(values, n) for _ in CONTINUOUS.features]
    codes = [rng.integers(-1, len(f.categories) + 1, n) for f in SCHEMA.features[3:]]
    return Rows((*numbers, *(c.astype(np.int32) for c in codes)))


def make_sum(rng: np.random.Generator, kinds: set[str], gaps: set[str], n_inner: int) -> Additive:
    tree = grow(rng, SCHEMA, kinds, gaps, n_inner)
    return tree_sum(tree, rng.normal(size=(tree.n_nodes, 2)), "value", ("a", "b"))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    kinds=st.sets(
        st.sampled_from(["break", "breaks", "codes", "many_codes", "linear"]), min_size=1
    ),
    gaps=st.sets(st.sampled_from(GAPS), min_size=1),
    n_inner=st.integers(0, 6),
)
def test_values_and_pairs_of_any_tree_are_those_of_all_sets(seed, kinds, gaps, n_inner):
    rng = np.random.default_rng(seed)
    total = make_sum(rng, kinds, gaps, n_inner)
    part = total.parts[0]
    rows, others = draw_rows(rng, 2), draw_rows(rng, 3)
    other_rows = [others.row(i) for i in range(3)]
    for background in (None, others):
        values, base, pairs = raw_values(total, rows, background, pairs=True)  # type: ignore[arg-type]
        for i in range(2):
            if background is None:
                game = twin.path_game(part, rows.row(i))
            else:
                game = twin.interventional_game(part, rows.row(i), other_rows)
            assert_allclose(base, game[0], atol=1e-12)
            assert_allclose(values[i], twin.shapley(game), atol=1e-12)
            upper = np.triu_indices(len(SCHEMA), 1)
            assert_allclose(pairs[i][upper], twin.interactions(game)[upper], atol=1e-12)


@pytest.mark.parametrize("n_rows", [2, 200])  # without tables, and with
def test_a_background_is_walked_as_one_row_after_another(n_rows):
    rng = np.random.default_rng(n_rows)
    for _ in range(5):
        total = make_sum(rng, {"break", "codes"}, {"branch"}, 8)
        rows, others = draw_rows(rng, n_rows), draw_rows(rng, 70)
        values, _, _ = raw_values(total, rows, others)  # type: ignore[arg-type]
        each = [
            raw_values(total, rows, Rows(tuple(c[i : i + 1] for c in others.columns)), pairs=True)[
                0
            ]  # type: ignore[arg-type]
            for i in range(70)
        ]
        assert_allclose(values, np.mean(each, axis=0), atol=1e-12)


def test_threads_and_pieces_do_not_change_a_value():
    rng = np.random.default_rng(3)
    parts = [
        make_sum(rng, {"break", "codes"}, {"branch", "fraction"}, 9).parts[0] for _ in range(4)
    ]
    total = Additive(SCHEMA, tuple(parts), np.zeros(2), ("a", "b"), "value")
    rows, others = draw_rows(rng, 300), draw_rows(rng, 10)
    for background in (None, others):
        one = raw_values(total, rows, background, n_threads=1)[0]  # type: ignore[arg-type]
        two = raw_values(total, rows, background, n_threads=3)[0]  # type: ignore[arg-type]
        np.testing.assert_array_equal(one, two)
        few = Rows(tuple(c[100:103] for c in rows.columns))
        alone = raw_values(total, few, background)[0]  # type: ignore[arg-type]
        assert_allclose(alone, one[100:103], atol=1e-13)


@pytest.mark.parametrize("gaps", [{"branch"}, {"branch", "fraction"}])
def test_rows_that_walk_together_get_what_each_gets_alone(gaps):
    rng = np.random.default_rng(8)
    total = make_sum(rng, {"break", "breaks", "codes"}, gaps, 40)
    rows, others = draw_rows(rng, 12), draw_rows(rng, 300)  # three sets of background rows
    together = raw_values(total, rows, others)[0]  # type: ignore[arg-type]
    in_pairs = raw_values(total, rows, others, pairs=True)[0]  # type: ignore[arg-type]
    assert_allclose(together, in_pairs, atol=1e-12)
    for i in range(12):
        row = Rows(tuple(c[i : i + 1] for c in rows.columns))
        alone = raw_values(total, row, others, n_threads=2)[0]  # type: ignore[arg-type]
        np.testing.assert_array_equal(alone[0], together[i])


def test_a_path_of_a_hundred_features_adds_up():
    n = 100
    features = tuple(Feature(f"x{i}", "continuous") for i in range(n))
    schema = Schema(features, named=False, target=TARGET)
    from tests.tree.builders import N, Test, make_tree

    node = N([1, 0, 0])
    for i in reversed(range(n)):
        node = N([n - i + 1, 0, 0], Test(i, [0.0]), [N([1, 0, 0]), node], default=0)
    tree = make_tree(schema, node)
    rng = np.random.default_rng(0)
    total = tree_sum(tree, rng.normal(size=(tree.n_nodes, 1)), "value", ("y",))
    from treewright.data.encode import encode

    table = encode(rng.normal(0.8, 1, size=(20, n)), schema=schema)
    for background in (None, table):
        values, base, _ = raw_values(total, table, background)
        assert_allclose(values.sum(axis=1) + base, total.predict(table), atol=1e-9)


def test_a_malformed_tree_is_refused():
    rng = np.random.default_rng(0)
    part = make_sum(rng, {"break"}, {"branch"}, 3).parts[0]
    counts = category_counts(SCHEMA)

    def make(arrays: Any = None, values: Any = None, column: Any = 0, bounds: Any = None) -> None:
        tree = core_arrays(part.tree) if arrays is None else arrays
        TreeExplainer(
            counts, [(tree, part.values if values is None else values, column, bounds)], 2
        )

    make()
    first, *rest = core_arrays(part.tree)
    for wrong in (
        {"arrays": (first + 1000, *rest)},
        {"arrays": (first, *rest[:3])},
        {"values": part.values[:-1].copy()},
        {"column": 1},
        {"column": -1},
        {"bounds": (np.zeros(1),) * 3},
    ):
        with pytest.raises((ValueError, TypeError)):
            make(**wrong)


def test_bounds_of_soft_thresholds_divide_rows():
    rng = np.random.default_rng(5)
    tree = grow(rng, SCHEMA, {"break"}, {"branch"}, 5)
    one_break = np.diff(tree.splits.break_offset) == 1
    cut = np.full(tree.n_nodes, np.nan)
    is_number = np.isin(tree.splits.feature, [0, 1, 2])
    usable = one_break & is_number & ~tree.splits.reversed
    cut[usable] = tree.splits.breaks[tree.splits.break_offset[:-1][usable]]
    part = Part(tree, rng.normal(size=(tree.n_nodes, 2)), 0, (cut - 1.5, cut, cut + 0.7))
    total = Additive(SCHEMA, (part,), np.zeros(2), ("a", "b"), "value")
    rows, others = draw_rows(rng, 4), draw_rows(rng, 3)
    for background in (None, others):
        values, _, _ = raw_values(total, rows, background)  # type: ignore[arg-type]
        for i in range(4):
            if background is None:
                game = twin.path_game(part, rows.row(i))
            else:
                others_read = [others.row(k) for k in range(3)]
                game = twin.interventional_game(part, rows.row(i), others_read)
            assert_allclose(values[i], twin.shapley(game), atol=1e-12)
