"""The compiled merging of categories against its twin, and what must hold of any grouping."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.twins.merge import Rules, merge_table
from tests.twins.row_effects import row_effects_deviance
from treewright.kernels.merge import merge_tables

WIDTHS = {"pearson": [2, 3], "likelihood": [2, 4], "row_effects": [3, 5], "f": [3]}


def random_table(rng, measure, n_categories, width, scale):
    """Counts that differ a little or a lot, some categories empty, the gap last."""
    rate = rng.dirichlet(np.ones(width), n_categories + 1)
    size = rng.integers(0, scale, n_categories + 1) * (rng.random(n_categories + 1) < 0.85)
    if measure == "f":
        values = [rng.normal(rng.normal(), 1.0, n).round(2) for n in size]
        return np.array([[len(v), v.sum(), (v * v).sum()] for v in values], float)
    return np.array([rng.multinomial(n, p) for n, p in zip(size, rate, strict=True)], float)


@pytest.mark.parametrize("measure", sorted(WIDTHS))
@pytest.mark.parametrize("is_ordered", [False, True])
@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"alpha_merge": 0.5, "least": 20.0},
        {"alpha_merge": 0.3, "alpha_resplit": 0.2},
        {"alpha_merge": -1.0},
        {"alpha_merge": -1.0, "stop_at": 4, "least": 5.0},
    ],
    ids=str,
)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 9), scale=st.sampled_from([3, 40, 400]))
def test_groups_and_tests_equal_those_of_the_twin(measure, is_ordered, rules, seed, n, scale):
    rng = np.random.default_rng(seed)
    width = int(rng.choice(WIDTHS[measure]))
    scores = tuple(range(width)) if measure == "row_effects" else ()
    tables = [random_table(rng, measure, size, width, scale) for size in (n, 3)]
    arguments = {k: v for k, v in rules.items() if k != "stop_at"}
    found = merge_tables(
        np.concatenate(tables),
        np.cumsum([0, n + 1, 4]),
        np.full(2, is_ordered, np.uint8),
        measure,
        scores=scores,
        stop_at=np.full(2, rules.get("stop_at", 2), np.int32),
        keep_path=True,
        **arguments,
    )
    start = 0
    for f, table in enumerate(tables):
        labels, tested, path = merge_table(
            table, Rules(measure, is_ordered, scores=scores, **{"alpha_merge": 0.05, **rules})
        )
        own = slice(start, start + len(table))
        assert found.label[own].tolist() == labels
        np.testing.assert_allclose(found.tested[f], tested, rtol=1e-7, atol=1e-7)
        for count, step in path.items():
            np.testing.assert_allclose(found.path[own][count - 1], step, rtol=1e-7, atol=1e-7)
        start += len(table)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads_change_nothing(n_threads):
    rng = np.random.default_rng(3)
    tables = np.concatenate([random_table(rng, "pearson", 8, 3, 60) for _ in range(20)])
    offset = np.arange(21) * 9
    ordered = (np.arange(20) % 2).astype(np.uint8)
    one = merge_tables(tables, offset, ordered, "pearson")
    many = merge_tables(tables, offset, ordered, "pearson", n_threads=n_threads)
    assert one.label.tobytes() == many.label.tobytes()
    assert one.tested.tobytes() == many.tested.tobytes()


def test_many_categories_merge_without_a_table_of_their_pairs():
    rng = np.random.default_rng(0)
    table = np.zeros((3001, 2))
    table[:-1, 0] = rng.integers(1, 30, 3000)
    table[:-1, 1] = rng.integers(1, 30, 3000)
    found = merge_tables(table, np.array([0, 3001]), np.zeros(1, np.uint8), "pearson")
    assert 2 <= found.n_groups[0] < 60
    sums = np.array([table[found.label == g].sum(axis=0) for g in range(found.n_groups[0])])
    assert sums.sum() == table.sum()


def test_a_floating_gap_joins_the_group_that_it_resembles():
    # low, low, high, high, and gaps like the low ones
    table = np.array([[90, 10], [88, 12], [20, 80], [22, 78], [180, 22]], float)
    found = merge_tables(table, np.array([0, 5]), np.ones(1, np.uint8), "pearson")
    assert found.label.tolist() == [0, 0, 1, 1, 0]


def test_ordered_categories_join_their_neighbours_only():
    table = np.array([[90, 10], [20, 80], [90, 10], [0, 0]], float)
    found = merge_tables(table, np.array([0, 4]), np.ones(1, np.uint8), "pearson")
    assert found.label.tolist() == [0, 1, 2, -1]
    free = merge_tables(table, np.array([0, 4]), np.zeros(1, np.uint8), "pearson")
    assert free.label.tolist() == [0, 1, 0, -1]


def test_merged_groups_part_again_where_they_differ():
    # the last category joined a group when that was smaller and more like it
    table = np.array([[13, 34], [21, 16], [16, 26], [39, 29], [27, 33], [16, 32], [0, 0]], float)
    common = {"offset": np.array([0, 7]), "ordered": np.ones(1, np.uint8), "measure": "pearson"}
    merged = merge_tables(table, **common)
    parted = merge_tables(table, **common, alpha_resplit=0.049)
    assert merged.label.tolist() == [0, 1, 1, 1, 1, 1, -1]
    assert parted.label.tolist() == [0, 1, 1, 1, 1, 2, -1]


def test_a_row_that_lies_in_one_class_has_a_finite_statistic():
    table = np.array([[30.0, 0.0, 0.0], [0.0, 10.0, 25.0]])
    assert 80 < row_effects_deviance(table, np.arange(3.0)) < 90


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offset": np.array([0, 3])}, "offset"),
        ({"offset": np.array([0, 5, 4])}, "offset"),
        ({"measure": "f"}, "columns"),
        ({"stop_at": np.zeros(3, np.int32)}, "stop_at"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(change, message):
    arguments = {
        "tables": np.ones((4, 2)),
        "offset": np.array([0, 4]),
        "ordered": np.zeros(1, np.uint8),
        "measure": "pearson",
    }
    with pytest.raises(ValueError, match=message):
        merge_tables(**arguments | change)


def test_ctrl_c_is_answered_while_many_categories_merge(press_ctrl_c):
    rng = np.random.default_rng(0)
    n = 20_000
    table = np.zeros((n + 1, 2))
    table[:n] = rng.integers(1, 1000, (n, 2))
    offset, ordered = np.array([0, n + 1]), np.zeros(1, np.uint8)
    # a fifth of a second, and time for a busy machine
    assert press_ctrl_c(0.3, lambda: merge_tables(table, offset, ordered, "pearson")) < 1.5
