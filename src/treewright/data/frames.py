"""Frames: the one place that knows numpy, pandas, polars, Arrow, dicts and lists.

``read_frame`` turns any of them into names and raw columns: numpy arrays, Arrow arrays or
``Coded``. A 2-d array of numbers stays one block. pandas and polars come through narwhals;
columns without numpy's own types go on as Arrow, without a copy.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.categories import Coded, repeats_error
from treewright.data.columns import as_floats, coded_arrow, complex_error
from treewright.errors import DataError

__all__ = [
    "DECLARED",
    "Frame",
    "feature_names",
    "for_other_libraries",
    "in_order",
    "is_collection",
    "is_frame",
    "raw_column",
    "read_frame",
    "refuse_collection",
    "stack_frames",
    "to_arrow",
]

DECLARED = b"treewright.categories"
"""Key of Arrow field metadata that marks a dictionary whose order was declared (ARFF)."""

_MEANT = (DECLARED, b"_PL_ENUM_VALUES", b"_PL_ENUM_VALUES2")


@dataclass(frozen=True, eq=False, slots=True)
class Frame:
    """Names (None for an array) and raw columns; ``block`` when all are columns of one array."""

    names: tuple[str, ...] | None
    n_rows: int
    columns: Sequence[Any] | NDArray[Any]
    block: NDArray[np.floating[Any]] | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def is_view(self) -> bool:
        """Whether the columns are views of the block, not integers beside it."""
        return isinstance(self.columns, np.ndarray) and self.columns.dtype.kind == "f"

    def keep(self, rows: NDArray[np.bool_]) -> Frame:
        """The frame of the rows marked in ``rows``."""
        if rows.dtype != np.bool_ or rows.shape != (self.n_rows,):
            raise DataError(
                f"rows must be a boolean mask of {self.n_rows} rows, "
                f"got {rows.dtype} of shape {rows.shape}; pass a mask over the rows of X."
            )
        if rows.all():
            return self
        n_rows = int(np.count_nonzero(rows))
        block = None if self.block is None else self.block[rows]
        if block is not None and self.is_view:
            return Frame(self.names, n_rows, block.T, block)
        columns = [_keep(column, rows) for column in self.columns]
        return Frame(self.names, n_rows, columns, block)


def read_frame(X: Any) -> Frame:
    """Names and raw columns of anything that is a table."""
    frame = _read(X)
    if frame.n_columns == 0:
        raise empty_error(frame, "feature(s)")
    if frame.n_rows == 0:
        raise empty_error(frame, "sample(s)")
    return frame


def empty_error(frame: Frame, what: str) -> DataError:
    """The error for a table without rows or columns, worded as scikit-learn's."""
    return DataError(
        f"Found array with 0 {what} (shape=({frame.n_rows}, {frame.n_columns})) "
        "while a minimum of 1 is required."
    )


def is_frame(X: Any) -> bool:
    """Whether X is a data frame, an Arrow table or a dict of columns.

    Parameters
    ----------
    X
        What ``fit`` takes.

    Examples
    --------
    >>> import pandas as pd
    >>> from treewright.data import is_frame
    >>> is_frame(pd.DataFrame({"size": [1.5]})), is_frame([[1.5]])
    (True, False)
    """
    if isinstance(X, np.ndarray | list | tuple):
        return False
    return isinstance(X, Mapping) or _narwhals_frame(X) is not None


def is_collection(X: Any) -> bool:
    """Whether X is a collection of Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def refuse_collection(values: Any, name: str) -> None:
    """Refuse what numpy would bring into this process in silence."""
    if is_collection(values):
        raise DataError(
            f"{name} must be in memory here, got a Dask {type(values).__name__}; call compute() "
            "first, or stay with Dask in fit(frame, target='name') and predict(frame) of CART, "
            "random forests and gradient boosting."
        )


def feature_names(X: Any) -> NDArray[np.object_] | None:
    """Column names as scikit-learn keeps them in ``feature_names_in_``.

    None when X has no names, or only such as are not strings.

    Parameters
    ----------
    X
        What ``fit`` takes.

    Returns
    -------
    ndarray or None
        The names as text.

    Examples
    --------
    >>> from treewright.data import feature_names
    >>> feature_names({"colour": ["red"], "size": [1.5]})
    array(['colour', 'size'], dtype=object)
    >>> feature_names([["red", 1.5]]) is None
    True
    """
    if isinstance(X, np.ndarray | list | tuple):
        return None
    if isinstance(X, Mapping):
        names = _checked_names(list(X))
    else:
        frame = _narwhals_frame(X)
        names = None if frame is None else _checked_names(list(frame.columns))
    return None if names is None else np.array(names, dtype=object)


def in_order(X: Any, names: Sequence[str]) -> Any:
    """The columns called ``names``, or X as it is where it has not all of them."""
    own = feature_names(X)
    if own is None or not set(names) <= set(own):
        return X
    if isinstance(X, Mapping):
        return {name: X[name] for name in names}
    return _narwhals_frame(X).select(list(names)).to_native()


def for_other_libraries(X: Any) -> Any:
    """X as scikit-learn's own estimators take it: Arrow tables and dicts as pandas frames."""
    arrow = sys.modules.get("pyarrow")
    is_arrow = arrow is not None and isinstance(X, arrow.Table | arrow.RecordBatch)
    if not is_arrow and not isinstance(X, Mapping):
        return X
    try:
        import pandas as pd
    except ImportError:
        return X
    return X.to_pandas() if is_arrow else pd.DataFrame(X)


def to_arrow(X: Any) -> Any:
    """A table with named columns as an Arrow table."""
    import pyarrow as pa

    if isinstance(X, Mapping):
        return pa.table(dict(X))
    frame = _narwhals_frame(X)
    if frame is None:
        raise DataError(
            f"The data must be a table with named columns or the name of a file, got "
            f"{type(X).__name__}; make a data frame of them."
        )
    try:
        return frame.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(
            f"A column must hold values of one kind, but one does not ({error}); convert it first."
        ) from None


def stack_frames(first: Any, second: Any) -> Any:
    """The rows of two tables of one kind, one below the other."""
    if isinstance(first, np.ndarray | list | tuple):
        return np.concatenate([np.asarray(first), np.asarray(second)])
    if isinstance(first, Mapping):
        return {name: np.concatenate([first[name], second[name]]) for name in first}
    import narwhals as nw

    frames = [nw.from_native(X, eager_only=True) for X in (first, second)]
    return nw.concat(frames, how="vertical").to_native()


def raw_column(values: Any) -> Any:
    """A numpy array, an Arrow array or Coded from a list, array or series."""
    if isinstance(values, np.ma.MaskedArray):
        return _unmask(values)
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    if isinstance(values, list | tuple | range):
        return np.fromiter(values, dtype=object, count=len(values))
    refuse_collection(values, "A column")
    if type(values).__name__ == "Categorical":  # pandas, outside a Series
        # as objects first: a third of the time of tolist() for text
        categories = np.asarray(values.categories, dtype=object).tolist()
        return Coded(values.codes, categories, bool(values.ordered), True)
    module = type(values).__module__.partition(".")[0]
    if module == "pyarrow":
        return values
    if module == "pandas":
        column = _plain_column(values)
        if column is not None:
            return column
    if module != "numpy":
        import narwhals as nw

        series = nw.from_native(values, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            return _raw_series(series)
    if hasattr(values, "__array__"):
        return np.asarray(values)
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping):
        return raw_column(list(values))
    return values


def _read(X: Any) -> Frame:
    if isinstance(X, np.ndarray):
        return _read_array(X)
    refuse_collection(X, "X")
    if hasattr(type(X), "nnz") or hasattr(type(X), "tocsr"):
        raise sparse_error()
    if isinstance(X, Mapping):
        return _read_mapping(X)
    if isinstance(X, list | tuple):
        return _read_rows(X)
    if type(X).__module__.partition(".")[0] == "pandas" and getattr(X, "ndim", 0) == 2:
        return _read_pandas(X)
    frame = _narwhals_frame(X)
    if frame is not None:
        return _read_narwhals(frame)
    if hasattr(X, "__array__") and not isinstance(X, np.generic):
        return _read_array(np.asarray(X))
    raise DataError(_not_a_table(X))


def sparse_error() -> DataError:
    """The error for sparse input."""
    return DataError(
        "X must be dense, but a sparse matrix came, which is not supported; "
        "pass X.toarray() if it fits into memory."
    )


def _not_a_table(X: Any) -> str:
    way_out = "pass a data frame, a 2-d array, an Arrow table or a dict of columns"
    if isinstance(X, str):
        way_out = "read a file first, with pandas.read_csv or treewright.data.readers.read_table"
    elif hasattr(X, "collect"):
        way_out = "call collect() first"
    elif hasattr(X, "compute"):
        way_out = "call compute() first"
    return f"X must be a table, got {type(X).__name__}; {way_out}."


# -- arrays and lists ---------------------------------------------------------------------------


def _read_array(X: NDArray[Any]) -> Frame:
    if isinstance(X, np.ma.MaskedArray):
        X = _unmask(X)
    X = np.asarray(X)
    if X.dtype.names is not None:
        return _read_mapping({name: X[name] for name in X.dtype.names})
    if X.dtype.kind == "c":
        raise complex_error("x0")
    if X.ndim != 2:
        raise shape_error(X)
    if X.dtype.kind in "fiu":
        # Columns of integers stay such for exact categories; continuous features use the block.
        block = as_floats(X)
        return Frame(None, X.shape[0], block.T if X.dtype.kind == "f" else X.T, block)
    return Frame(None, X.shape[0], [X[:, j] for j in range(X.shape[1])])


def _unmask(X: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """A masked array with its gaps as NaN (numbers) or None."""
    wanted = X.dtype if X.dtype.kind == "f" else np.float64 if X.dtype.kind in "iu" else object
    gap = None if wanted is object else np.nan
    filled: NDArray[Any] = np.ma.filled(X.astype(wanted), gap)
    return filled


def shape_error(X: NDArray[Any]) -> DataError:
    """The error for an array that is not 2-d, worded as scikit-learn's checks expect."""
    if X.ndim > 2:
        return DataError(
            f"Reshape your data, as X must be two-dimensional but has {X.ndim} dimensions; "
            "use X.reshape(len(X), -1)."
        )
    has = "1 dimension" if X.ndim == 1 else "no dimension"
    return DataError(
        f"Reshape your data, as X must be two-dimensional but has {has}; use X.reshape(-1, 1) "
        "for a single feature or X.reshape(1, -1) for a single sample."
    )


def _read_rows(X: Sequence[Any]) -> Frame:
    """A list of rows."""
    if X and all(isinstance(row, np.ndarray) for row in X):
        try:
            return _read_array(np.asarray(X))
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            raise _ragged(X) from None
    if any(isinstance(row, Mapping | str) or not hasattr(row, "__len__") for row in X):
        if X and isinstance(X[0], Mapping):
            raise DataError(
                "X must be a table, got a list of dicts; pass pandas.DataFrame(X) or "
                "pyarrow.Table.from_pylist(X)."
            )
        raise shape_error(np.empty(len(X)))
    if len({len(row) for row in X}) > 1:
        raise _ragged(X)
    columns = [np.fromiter(column, dtype=object, count=len(X)) for column in zip(*X, strict=True)]
    return _as_block(Frame(None, len(X), columns)) if columns else Frame(None, len(X), [])


def _ragged(X: Sequence[Any]) -> DataError:
    first = len(X[0])
    row = next((i for i, row in enumerate(X) if len(row) != first), 0)
    return DataError(
        f"Rows of X must have the same length, but row 0 has {first} values and row {row} has "
        f"{len(X[row])}; fill gaps with None."
    )


def _as_block(frame: Frame) -> Frame:
    """One float64 block when every column of a list of rows holds plain floats or integers."""
    if all(set(map(type, column)) <= {float, int} for column in frame.columns):
        try:
            block = np.array([column.astype(np.float64) for column in frame.columns]).T
        except OverflowError:
            return frame
        return Frame(None, frame.n_rows, frame.columns, block)
    return frame


# -- dicts and data frames ----------------------------------------------------------------------


def _read_mapping(X: Mapping[Any, Any]) -> Frame:
    names = _checked_names(list(X))
    columns = [raw_column(values) for values in X.values()]
    for name, column in zip(X, columns, strict=True):
        shape = getattr(column, "shape", None)
        if not hasattr(column, "__len__") or isinstance(column, str | bytes | Mapping):
            raise DataError(
                f"Column {name!r} must be a list or array, got {type(column).__name__}; "
                "wrap a single value in a list."
            )
        if isinstance(shape, tuple) and len(shape) != 1:
            raise DataError(
                f"Column {name!r} must be one-dimensional, got shape {shape}; "
                "split it into columns."
            )
    lengths = {str(name): len(column) for name, column in zip(X, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} {length}" for name, length in list(lengths.items())[:5])
        raise DataError(
            f"Columns of X must have the same length, but have {told}; cut or fill them."
        )
    return Frame(names, next(iter(lengths.values()), 0), columns)


def _narwhals_frame(X: Any) -> Any:
    """X as an eager narwhals frame, or None if it is not a data frame."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    refuse_collection(X, "X")
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(X, arrow.RecordBatch):
        X = arrow.Table.from_batches([X])
    try:
        frame = nw.from_native(X, allow_series=True, pass_through=True)
    except DuplicateError:
        names = getattr(X, "column_names", None) or list(X.columns)
        raise repeats_error(names) from None
    if isinstance(frame, nw.LazyFrame):
        raise DataError("X must be in memory, got a lazy frame; call collect() first.")
    if isinstance(frame, nw.Series):
        raise shape_error(np.empty(len(frame)))
    if isinstance(frame, nw.DataFrame):
        return frame
    if hasattr(X, "__arrow_c_stream__"):
        import pyarrow as pa

        return nw.from_native(pa.table(X))
    return None


def _read_pandas(X: Any) -> Frame:
    """Most columns need nothing of narwhals, and wrapping them takes as long as reading."""
    names = X.columns.tolist()
    if not X.columns.is_unique:
        raise repeats_error(names)
    columns = [_pandas_column(s) for _, s in X.items()]
    if _are_positions(names):
        columns = [column for _, column in sorted(zip(names, columns, strict=True), key=_first)]
    return Frame(_checked_names(names), len(X), columns)


def _are_positions(names: list[Any]) -> bool:
    """Whether names are 0, 1, 2, … in some order, as those of a frame without names."""
    return all(type(name) is int for name in names) and set(names) == set(range(len(names)))


def _first(pair: tuple[int, Any]) -> int:
    return pair[0]


def _read_narwhals(frame: Any) -> Frame:
    names = _checked_names(list(frame.columns))
    declared = _declared_dictionaries(frame.to_native())
    columns = [_raw_series(series, series.name in declared) for series in frame.iter_columns()]
    return Frame(names, len(frame), columns)


def _pandas_column(series: Any) -> Any:
    column = _plain_column(series)
    if column is not None:
        return column
    import narwhals as nw

    return _raw_series(nw.from_native(series, series_only=True))


def _checked_names(names: list[Any]) -> tuple[str, ...] | None:
    """Names as strings; None for the positions 0, 1, 2 … that stand for names in a bare frame."""
    are_text = [isinstance(name, str) for name in names]
    if not all(are_text) and any(are_text):
        other = names[are_text.index(False)]
        raise DataError(
            f"Column names must all be strings, but {other!r} is {type(other).__name__}; "
            "rename the columns, for example with X.columns.astype(str)."
        )
    if _are_positions(names):
        return None
    texts = tuple(map(str, names))
    if len(set(texts)) < len(texts):
        raise repeats_error(texts)
    return texts


def _raw_series(series: Any, declared: bool = False) -> Any:
    """numpy for what numpy knows, Coded for pandas categories, Arrow for all else."""
    column = _plain_column(series.to_native())
    if column is not None:
        return column
    array = series.to_arrow()
    return coded_arrow(array, declared) if hasattr(array.type, "ordered") else array


def _plain_column(native: Any) -> Any:
    """A series that can be read without Arrow; None for any other."""
    dtype = getattr(native, "dtype", None)
    if isinstance(dtype, np.dtype):
        return native.to_numpy()
    if type(dtype).__name__ == "CategoricalDtype":
        return raw_column(native.array)
    if type(dtype).__name__ == "SparseDtype":
        raise sparse_error()
    if type(dtype).__name__ in ("Int128", "UInt128"):  # of polars; Arrow has none
        return raw_column(native.to_list())
    if type(dtype).__name__ == "Object":  # of polars; Arrow would see bytes
        return np.asarray(native.to_numpy(), dtype=object)
    return None


def _declared_dictionaries(native: Any) -> set[str]:
    """Columns of an Arrow table whose dictionary is a declaration, not just an encoding.

    Arrow itself does not tell the two apart. An ordered dictionary is one; so is one that
    pandas, polars' Enum or our ARFF reader left a note on.
    """
    schema = getattr(native, "schema", None)
    if schema is None or type(native).__module__.partition(".")[0] != "pyarrow":
        return set()
    declared = {f.name for f in schema if f.metadata and any(k in f.metadata for k in _MEANT)}
    try:
        note = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        columns = note.get("columns", [])
        declared |= {c["field_name"] for c in columns if c["pandas_type"] == "categorical"}
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # the note is another program's; without it categories are sorted
    return declared


def _keep(column: Any, rows: NDArray[np.bool_]) -> Any:
    if isinstance(column, Coded):
        return replace(column, codes=column.codes[rows])
    if isinstance(column, np.ndarray):
        return column[rows]
    return column.filter(rows)
