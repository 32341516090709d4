"""Sparse matrices of scipy as tables: the entries are kept, dense columns are made when asked for.

A cell that is not stored is 0, not a gap. Gradient boosting bins the entries themselves; all other
learners, and predictions, read ``columns``, which cost rows × columns × 4 bytes (8 where a value
does not fit into float32). Columns without entries are one and the same array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.categories import infinity_error
from treewright.data.schema import Feature, Schema
from treewright.data.table import Table
from treewright.errors import DataError, ParameterError, SchemaError

if TYPE_CHECKING:
    from scipy.sparse import csc_array

__all__ = ["SparseTable", "is_sparse", "sparse_table"]


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of scipy."""
    return hasattr(type(X), "tocsc") and hasattr(type(X), "nnz")


class SparseTable(Table):
    """A table of continuous columns, most of whose cells are 0.

    Parameters
    ----------
    schema
        Names of the columns, all continuous.
    matrix
        The entries by column, float64, without duplicates; NaN for gaps.
    """

    __slots__ = ("matrix",)

    matrix: csc_array

    def __init__(self, schema: Schema, matrix: csc_array) -> None:
        gaps = np.zeros(matrix.shape[1], np.bool_)
        missing = np.flatnonzero(np.isnan(matrix.data))
        gaps[np.searchsorted(matrix.indptr, missing, side="right") - 1] = True
        super().__init__(schema, int(matrix.shape[0]), gaps)
        object.__setattr__(self, "matrix", matrix)

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """One dense array per feature, made when asked for."""
        if self._columns is None:
            object.__setattr__(self, "_columns", tuple(self._dense()))
        assert self._columns is not None
        return self._columns

    def _dense(self) -> list[NDArray[Any]]:
        m = self.matrix
        single = m.data.astype(np.float32)
        fits = np.array_equal(single.astype(np.float64), m.data, equal_nan=True)
        values = single if fits else m.data
        empty = np.zeros(self.n_rows, values.dtype)
        columns = []
        for start, stop in zip(m.indptr[:-1], m.indptr[1:], strict=True):
            column = empty
            if stop > start:
                column = np.zeros(self.n_rows, values.dtype)
                column[m.indices[start:stop]] = values[start:stop]
            columns.append(column)
        return columns

    def take(self, rows: NDArray[Any]) -> SparseTable:
        """The table of ``rows``: indices, which may repeat, or a boolean mask."""
        return SparseTable(self.schema, _by_column(self.matrix.tocsr()[np.asarray(rows)]))

    def only(self, features: NDArray[Any]) -> SparseTable:
        """The table in which all columns but the ``features`` at these positions are 0.

        For a model that does not look at the others: they need no memory.
        """
        from scipy.sparse import diags_array

        keep = np.zeros(len(self.schema))
        keep[features] = 1.0
        found = self.matrix @ diags_array(keep, format="csc")
        found.eliminate_zeros()
        return SparseTable(self.schema, _by_column(found))

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseTable, (self.schema, self.matrix)


def _by_column(X: Any) -> Any:
    """X by column, float64, rows of each column in order, nothing twice."""
    from scipy.sparse import csc_array

    if X.dtype.kind not in "biuf":
        raise DataError(
            f"X must hold numbers, got a sparse matrix of {X.dtype}; convert its data first."
        )
    matrix = csc_array(X, dtype=np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def sparse_table(
    X: Any,
    schema: Schema | None,
    categorical_features: Any,
    ordinal_features: Any,
    rows: NDArray[np.bool_] | None,
    owner: str,
) -> SparseTable:
    """A table of a sparse matrix; what ``encode`` does for one."""
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(
            f"X must have rows and columns, got a sparse matrix of shape {X.shape} while a minimum "
            "of 1 is required."
        )
    matrix = _by_column(X if rows is None else X.tocsr()[np.flatnonzero(rows)])
    if matrix.shape[0] == 0:
        raise DataError("Found array with 0 sample(s) while a minimum of 1 is required.")
    n = matrix.shape[1]
    if schema is None:
        is_set = not isinstance(categorical_features, str) and categorical_features is not None
        if is_set or ordinal_features:
            raise ParameterError(
                "categorical_features and ordinal_features need a dense X, got a sparse one, whose "
                "columns are all numbers; leave them out, or pass a frame."
            )
        schema = Schema(tuple(Feature(f"x{j}", "continuous") for j in range(n)), named=False)
    if len(schema.features) != n:
        raise SchemaError(
            f"X has {n} features, but {owner} is expecting {len(schema.features)} features as "
            "input; pass the columns of training."
        )
    other = [f.name for f in schema.features if f.kind != "continuous" or f.time]
    if other:
        raise SchemaError(
            f"X must be a table as in training, where {other[0]!r} was no number, got a sparse "
            "matrix; pass a frame."
        )
    infinite = np.flatnonzero(np.isinf(matrix.data))
    if len(infinite):
        found = np.unique(np.searchsorted(matrix.indptr, infinite, side="right") - 1)
        raise infinity_error([schema.features[j].name for j in found.tolist()])
    return SparseTable(schema, matrix)
