"""From tables to bins: dense columns each for itself, sparse ones bundled.

Rows that judge the rounds are binned by the edges of the training rows. Columns of a sparse matrix
are put together only if no row of either has two of them away from 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.sparse import SparseTable
from treewright.data.table import Table
from treewright.kernels.boosting import (
    Bins,
    bin_maps,
    bundle_columns,
    make_bins,
    make_sparse_bins,
    sparse_bin_maps,
)

__all__ = ["bin_tables", "nominal_counts"]


def nominal_counts(schema: Schema) -> list[int]:
    """Categories of nominal columns, −1 for all others."""
    return [len(f.categories) if f.kind == "nominal" else -1 for f in schema.features]


def bin_tables(
    table: Table,
    aside: Table | None,
    max_bins: int,
    n_threads: int,
    weight: NDArray[np.float64] | None,
) -> tuple[Bins, Bins | None]:
    """Bins of the training rows, and of those that judge the rounds."""
    if isinstance(table, SparseTable):
        return _bin_sparse(table, aside, max_bins, n_threads, weight)
    maps = bin_maps(table.columns, nominal_counts(table.schema), max_bins, n_threads, weight)
    others = None if aside is None else make_bins(aside.columns, maps, n_threads)
    return make_bins(table.columns, maps, n_threads), others


def _bin_sparse(
    table: SparseTable, aside: Table | None, max_bins: int, n_threads: int, weight: Any
) -> tuple[Bins, Bins | None]:
    maps = sparse_bin_maps(table.matrix, max_bins, n_threads, weight)
    if aside is None:
        stored = bundle_columns(table.matrix, maps)
        return make_sparse_bins(table.matrix, maps, stored), None
    if not isinstance(aside, SparseTable):
        from scipy.sparse import csc_array

        aside = SparseTable(table.schema, csc_array(np.column_stack(aside.columns)))
    from scipy.sparse import vstack

    stored = bundle_columns(vstack([table.matrix, aside.matrix], format="csc"), maps)
    return (
        make_sparse_bins(table.matrix, maps, stored),
        make_sparse_bins(aside.matrix, maps, stored),
    )
