"""New columns of numbers beside those of a table, array or frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Schema
from treewright.data.table import Table

__all__ = ["beside"]


def beside(columns: dict[str, NDArray[np.float64]], rows: Any) -> Any:
    """The columns of ``rows`` after ``columns``, in the same kind of container.

    Parameters
    ----------
    columns
        Names, none of which ``rows`` has, and numbers.
    rows
        A Table, a matrix, or a frame that narwhals knows.

    Examples
    --------
    >>> beside({"vote": np.array([0.5, 1.0])}, np.array([[1.0], [2.0]])).tolist()
    [[0.5, 1.0], [1.0, 2.0]]
    """
    values = list(columns.values())
    if isinstance(rows, Table):
        new = tuple(Feature(name, "continuous") for name in columns)
        schema = Schema((*new, *rows.schema.features), named=rows.schema.named)
        gaps = np.concatenate([[np.isnan(v).any() for v in values], rows.has_gaps])
        return Table(schema, rows.n_rows, gaps.astype(np.bool_), (*values, *rows.columns))
    from scipy import sparse

    if sparse.issparse(rows):
        return sparse.hstack([np.column_stack(values), rows], format="csr")
    if isinstance(rows, np.ndarray):
        return np.hstack([np.column_stack(values), rows])
    import narwhals as nw

    frame = nw.from_native(rows, eager_only=True)
    new_columns = [
        nw.new_series(name, v, backend=nw.get_native_namespace(frame))
        for name, v in columns.items()
    ]
    if (index := getattr(rows, "index", None)) is not None:  # pandas would match by it
        import pandas as pd

        whole = pd.concat([pd.DataFrame(columns, index=index), rows], axis=1)
        return whole.set_axis([str(name) for name in whole.columns], axis=1)
    return frame.with_columns(*new_columns).to_native()
