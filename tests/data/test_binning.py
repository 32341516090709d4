"""Bins that are fixed before growth."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data.binning import bin_codes, bin_table, equal_frequency, equal_width, table_edges
from treewright.data.encode import encode


def test_equal_width_divides_the_range():
    values = np.array([0.0, 3.0, 10.0])
    np.testing.assert_allclose(equal_width(values, None, 5), [2, 4, 6, 8])


def test_equal_frequency_puts_as_many_rows_into_each_bin():
    values = np.random.default_rng(0).permutation(100).astype(float)
    edges = equal_frequency(values, None, 4)
    assert edges.tolist() == [24.5, 49.5, 74.5]
    assert np.bincount(bin_codes(values, edges)).tolist() == [25] * 4


def test_equal_frequency_never_divides_a_value():
    values = np.array([1.0] * 50 + [2.0, 3.0, 4.0])
    assert equal_frequency(values, None, 3).tolist() == [1.5]
    assert equal_frequency(np.full(9, 2.0), None, 3).tolist() == []


def test_weights_count_as_repeated_rows():
    rng = np.random.default_rng(1)
    values, weight = rng.integers(0, 30, 200).astype(float), rng.integers(1, 6, 200)
    repeated = np.repeat(values, weight)
    for n_bins in (2, 3, 7, 10):
        np.testing.assert_array_equal(
            equal_frequency(values, weight.astype(float), n_bins),
            equal_frequency(repeated, None, n_bins),
        )


@pytest.mark.parametrize("binning", [equal_width, equal_frequency])
@pytest.mark.parametrize(
    "values",
    [
        [1.0],
        [0.0, 5e-324],
        [-1.7e308, 1.7e308],
        [1.0, np.nextafter(1.0, 2.0)],
        [-5.0, -5.0, 7.0],
    ],
    ids=str,
)
def test_edges_lie_inside_the_range_and_ascend(binning, values):
    values = np.array(values)
    edges = binning(values, None, 10)
    assert np.all(np.isfinite(edges))
    assert np.all(np.diff(edges) > 0)
    assert np.all((edges >= values.min()) & (edges < values.max()))
    if binning is equal_frequency:
        assert len(np.unique(bin_codes(values, edges))) == len(np.unique(values))


def test_a_table_is_binned_where_it_is_continuous():
    table = encode({"a": [1.0, 2.0, None, 4.0], "b": ["x", "y", "x", "y"]})
    edges = table_edges(table, None, "equal_frequency", 2)
    assert list(edges) == ["a"]
    binned = bin_table(table, edges)
    assert [feature.kind for feature in binned.schema.features] == ["ordinal", "nominal"]
    assert binned.columns[0].tolist() == [0, 0, -1, 1]
    assert binned.columns[1] is table.columns[1]


def test_a_column_of_gaps_has_one_bin():
    table = encode(np.array([[np.nan, 1.0], [np.nan, 2.0]]))
    edges = table_edges(table, None, "equal_width", 4)
    assert len(edges["x0"]) == 0
    assert bin_table(table, edges).columns[0].tolist() == [-1, -1]
