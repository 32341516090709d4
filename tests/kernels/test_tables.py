"""The compiled contingency tables against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.twins import tables as reference
from treewright.kernels.tables import NodeTables, bin_codes


def columns_of(rng, n_rows, sizes):
    return [rng.integers(-1, size, n_rows).astype(np.int32) for size in sizes]


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([1, 2, 4]))
def test_class_weights_equal_those_of_the_twin(seed, is_weighted, n_threads):
    rng = np.random.default_rng(seed)
    n_rows, sizes = int(rng.integers(1, 200)), [1, 4, 11]
    columns = columns_of(rng, n_rows, sizes)
    label = rng.integers(0, 3, n_rows).astype(np.int32)
    weight = rng.integers(1, 2**40, n_rows) if is_weighted else None
    rows = np.flatnonzero(rng.random(n_rows) < 0.7)
    counter = NodeTables(columns, sizes, label=label, n_classes=3, values=weight)
    expected = reference.class_tables(columns, sizes, rows, label, 3, weight)
    np.testing.assert_array_equal(counter.of(rows, n_threads), expected)
    assert counter.offset.tolist() == [0, 2, 7, 19]


@given(st.integers(0, 2**32 - 1))
def test_sums_equal_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    n_rows, sizes = int(rng.integers(1, 200)), [3, 7]
    columns = columns_of(rng, n_rows, sizes)
    values = rng.integers(-(2**40), 2**40, (n_rows, 3))
    rows = rng.permutation(n_rows)[: n_rows // 2]
    found = NodeTables(columns, sizes, values=values).of(rows)
    np.testing.assert_array_equal(found, reference.sum_tables(columns, sizes, rows, values))


def test_strided_columns_are_read_in_place():
    block = np.arange(12, dtype=np.int32).reshape(6, 2) % 3
    label = np.zeros(6, np.int32)
    found = NodeTables([block[:, 1]], [3], label=label, n_classes=1).of(np.arange(6))
    assert found[:, 0].tolist() == np.bincount(block[:, 1], minlength=4).tolist()


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.integers(0, 40))
def test_bins_equal_those_of_the_twin(seed, dtype, n_breaks):
    rng = np.random.default_rng(seed)
    column = rng.normal(size=100).round(1).astype(dtype)
    column[rng.random(100) < 0.1] = np.nan
    breaks = np.unique(rng.normal(size=n_breaks).round(1).astype(dtype)).astype(float)
    for values in (column, column[::3]):
        np.testing.assert_array_equal(
            bin_codes(values, breaks), reference.bin_codes(values, breaks)
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": [2]}, "category code"),
        ({"label": np.full(4, 5, np.int32)}, "class code"),
        ({"label": np.zeros(3, np.int32)}, "one entry per row"),
        ({"values": np.ones(2, np.int64)}, "one entry per row"),
        ({"columns": [np.zeros(4)]}, "int32"),
        ({"label": None}, "int64 matrix"),
    ],
)
def test_arguments_that_would_be_read_out_of_bounds_are_refused(change, message):
    arguments = {
        "columns": [np.array([0, 1, 2, -1], np.int32)],
        "sizes": [3],
        "label": np.zeros(4, np.int32),
        "n_classes": 2,
    }
    with pytest.raises(ValueError, match=message):
        NodeTables(**arguments | change)


def test_rows_outside_the_table_are_refused():
    counter = NodeTables([np.zeros(4, np.int32)], [1], label=np.zeros(4, np.int32), n_classes=1)
    with pytest.raises(ValueError, match="row is out of range"):
        counter.of(np.array([4]))
    with pytest.raises(ValueError, match="floats"):
        bin_codes(np.arange(3), np.array([1.0]))
