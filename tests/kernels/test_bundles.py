"""Sparse columns as bins, against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csc_array

from tests.twins import bundles as twin
from treewright.kernels import _core
from treewright.kernels.boosting import (
    BinMap,
    bin_maps,
    bundle_columns,
    make_bins,
    make_sparse_bins,
    sparse_bin_maps,
)


def one_hot_and_more(seed: int, n: int = 400) -> np.ndarray:
    """One-hot columns of three features, rare numbers with gaps, an empty and a full column."""
    rng = np.random.default_rng(seed)
    parts = [np.eye(k)[rng.integers(0, k, n)] for k in (4, 30, 12)]
    rare = np.where(rng.random((n, 4)) < 0.1, rng.normal(size=(n, 4)), 0.0)
    rare[rng.random((n, 4)) < 0.01] = np.nan
    return np.column_stack([*parts, rare, np.zeros(n), rng.normal(size=n)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("max_bins", [8, 255])
def test_bundles_are_those_of_the_twin(seed: int, max_bins: int) -> None:
    dense = one_hot_and_more(seed)
    matrix = csc_array(dense)
    maps = sparse_bin_maps(matrix, max_bins)
    edges = [m.edges for m in maps]
    stored = bundle_columns(matrix, maps)
    assert_array_equal(stored, twin.bundle_columns(dense, edges))
    assert stored[:, 0].max() < 12  # of 52 columns
    bins = make_sparse_bins(matrix, maps, stored).by_column()
    assert_array_equal(bins, twin.stored_bytes(dense, edges, stored))


def test_every_feature_can_be_read_from_its_bundle() -> None:
    dense = one_hot_and_more(5)
    columns = list(dense.T)
    maps = bin_maps(columns, [-1] * len(columns), 20)
    plain = make_bins(columns, maps).by_column()
    matrix = csc_array(dense)
    stored = bundle_columns(matrix, maps)
    bytes_ = make_sparse_bins(matrix, maps, stored).by_column()
    for f, (column, *rest) in enumerate(stored.tolist()):
        assert [twin.bin_of_byte(b, *rest) for b in bytes_[column].tolist()] == plain[f].tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_edges_of_sparse_columns_are_those_of_dense_ones(weighted: bool) -> None:
    dense = one_hot_and_more(7)
    weight = np.random.default_rng(0).integers(1, 5, len(dense)) / 2 if weighted else None
    ours = sparse_bin_maps(csc_array(dense), 16, 2, weight)
    for m, want in zip(ours, bin_maps(list(dense.T), [-1] * 52, 16, 1, weight), strict=True):
        assert_array_equal(m.edges, want.edges)


def test_arrays_that_are_no_csc_matrix_are_refused() -> None:
    start, value = np.array([0, 2]), np.ones(2)
    with pytest.raises(ValueError, match="CSC"):
        _core.sparse_edges(start, np.array([0, 9], np.int32), value, 3, None, 8, 1)
    with pytest.raises(ValueError, match="CSC"):
        _core.sparse_edges(start, np.zeros(1, np.int32), value, 3, None, 8, 1)
    matrix = csc_array(np.eye(3))
    wrong = np.full((3, 4), 300, np.int32)
    with pytest.raises(ValueError, match="Places"):
        make_sparse_bins(matrix, [BinMap(edges=np.array([0.5]))] * 3, wrong)
