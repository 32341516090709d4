"""encode: from anything tabular to a Table.

Without a schema it learns one: kinds from the types of the columns, unless overridden, and
categories from the rows kept. With a schema it follows that: columns by name where both sides
have names, by position otherwise; a category that training did not have becomes a gap. A plain
2-d float array is never copied: one pass looks for gaps and infinities, the columns are views.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import kernels
from treewright.data.categories import (
    infinity_error,
    learn,
    listed,
    match,
    repeats_error,
    warn_unseen,
)
from treewright.data.columns import Column, settle, to_coded, to_floats
from treewright.data.frames import Frame, empty_error, read_frame
from treewright.data.moments import check_moments, time_of, warn_moments, written_moments
from treewright.data.schema import Feature, Kind, Schema
from treewright.data.sparse import is_sparse, sparse_table
from treewright.data.suspects import warn_lost_digits, warn_many_categories, warn_suspect_text
from treewright.data.table import Table
from treewright.data.wishes import Wish, read_wishes
from treewright.errors import (
    ColumnNamesWarning,
    ExtraColumnsWarning,
    SchemaError,
)

__all__ = ["encode"]

_FLOAT64 = np.dtype(np.float64)
_FLOAT32 = np.dtype(np.float32)


def encode(
    X: Any,
    *,
    schema: Schema | None = None,
    categorical_features: Any = "from_dtype",
    ordinal_features: Mapping[Any, Sequence[Any]] | None = None,
    rows: NDArray[np.bool_] | None = None,
    n_threads: int = 1,
    owner: str = "Tree",
    later: bool = False,
) -> Table:
    """Turn X into a Table.

    Parameters
    ----------
    X
        A 2-d array, a pandas or polars frame, an Arrow table, a dict of columns, a list of
        rows or a sparse matrix of scipy (see :mod:`treewright.data.sparse`). NaN, None, NaT
        and nulls are gaps. Integers become float64, exact up to 2**53.
        A Table is taken as it is; ensembles encode once and hand parts of it to their members.
    schema
        The schema of training; None to learn one.
    categorical_features
        ``"from_dtype"``, or names, a mask or indices of columns that are nominal whatever their
        type; the others follow their type: text, boolean and category columns are nominal,
        ordered categories and polars' Enum ordinal, numbers (also in an object column) and
        dates (also as text) continuous. Only for learning.
    ordinal_features
        Name (or index) → values in ascending order. Only for learning.
    rows
        Mask of the rows to keep; the others are dropped before anything is learned.
    n_threads
        Threads for the pass over float arrays.
    owner
        Who expects the features, for the message about a wrong number of them.
    later
        Look for gaps and infinities of a plain float array when ``has_gaps`` of the table is first
        read, for callers that would find them anyway. Only with a schema.

    Returns
    -------
    Table
        Categories in declared order (pandas' category, Enum, ARFF), else sorted.

    Examples
    --------
    >>> from treewright.data.encode import encode
    >>> table = encode({"size": [1.5, None], "colour": ["red", "blue"]})
    >>> table.schema.features[1].categories
    ('blue', 'red')
    >>> encode({"colour": ["red", "grey"], "size": [1, 2]}, schema=table.schema).columns[1].tolist()
    [1, -1]
    """
    if isinstance(X, Table):
        return _same_table(X, schema, rows)
    if is_sparse(X):
        return sparse_table(X, schema, categorical_features, ordinal_features, rows, owner)
    is_float_matrix = (
        type(X) is np.ndarray
        and X.ndim == 2
        and (X.dtype == _FLOAT64 or X.dtype == _FLOAT32)
        and X.flags.aligned
        and rows is None
    )
    if is_float_matrix and schema is not None and X.shape[0] and X.shape[1] == len(schema.features):
        for feature in schema.features:
            if feature.kind != "continuous" or feature.time:
                break
        else:
            if schema.named:
                _warn_names(owner, named=False)
            return _table_of_block(X, schema, n_threads, later)
    frame = read_frame(X)
    if rows is not None:
        frame = frame.keep(np.asarray(rows))
        if frame.n_rows == 0:
            raise empty_error(frame, "sample(s)")
    if schema is None:
        wishes = read_wishes(frame, categorical_features, ordinal_features)
        return _learn_table(frame, wishes, n_threads)
    return _match_table(frame, schema, n_threads, owner)


def _same_table(table: Table, schema: Schema | None, rows: NDArray[np.bool_] | None) -> Table:
    """A table that was encoded before; its features must be those of ``schema``."""
    if schema is not None and table.schema.features != schema.features:
        raise SchemaError("An encoded Table must have the features of training, got others.")
    return table if rows is None else table.take(rows)


def _table_of_block(
    block: NDArray[Any], schema: Schema, n_threads: int, later: bool = False
) -> Table:
    """An all-continuous table over ``block``, without a copy."""

    def gaps() -> NDArray[np.bool_]:
        flags = kernels.float_flags(block, n_threads)
        _refuse_infinity(flags, schema.features)
        return flags.view(np.bool_)

    return Table(schema, block.shape[0], gaps if later else gaps(), block=block)


def _refuse_infinity(flags: NDArray[np.uint8], features: Sequence[Feature]) -> None:
    """Raise if a column holds an infinity; otherwise the flags are 0 or 1, as booleans."""
    seen = flags.tobytes()  # for a few columns five times as fast as numpy, which one row feels
    if 2 in seen or 3 in seen:
        raise infinity_error([features[j].name for j in np.flatnonzero(flags & 2).tolist()])


# -- learning -----------------------------------------------------------------------------------


def _learn_table(frame: Frame, wishes: dict[int, Wish], n_threads: int) -> Table:
    names = frame.names or tuple(f"x{j}" for j in range(frame.n_columns))
    _refuse_repeats(names)
    if frame.block is not None and not wishes:
        if not frame.is_view:
            for name, integers in zip(names, frame.columns, strict=True):
                warn_lost_digits(name, np.asarray(integers))
        features = tuple(Feature(name, "continuous") for name in names)
        schema = Schema(features, named=frame.names is not None)
        return _table_of_block(frame.block, schema, n_threads)
    features_list: list[Feature] = []
    columns: list[NDArray[Any]] = []
    dates: list[str] = []
    for j, name in enumerate(names):
        raw = frame.columns[j]
        if frame.block is not None and j not in wishes:
            raw = frame.block[:, j]
        column = settle(name, raw)
        if j not in wishes:
            column = written_moments(column)
        kind, order = wishes.get(j) or (_natural_kind(column), ())
        feature, values = _learn_column(column, kind, order)
        if kind == "nominal" and j not in wishes:
            is_told = column.nature == "text" and warn_suspect_text(
                name, feature.categories, values
            )
            if not is_told:
                warn_many_categories(name, feature.categories, values)
        if column.nature == "date" and kind == "continuous":
            dates.append(name)
        features_list.append(feature)
        columns.append(values)
    if dates:
        warn_moments(dates)
    schema = Schema(tuple(features_list), named=frame.names is not None)
    return _finish(schema, frame, columns, n_threads)


def _learn_column(
    column: Column, kind: Kind, order: tuple[Any, ...]
) -> tuple[Feature, NDArray[Any]]:
    name = column.name
    if kind == "continuous":
        warn_lost_digits(name, column.data)
        time, zone = time_of(column.data.type) if column.nature == "date" else ("", "")
        return Feature(name, kind, (), time, zone), to_floats(column)
    coded = to_coded(column)
    if order:
        return Feature(name, kind, order), match(coded, order, name, complete=True)
    categories, codes = learn(coded, name)
    return Feature(name, kind, categories), codes


def _natural_kind(column: Column) -> Kind:
    """The kind that the type of a column speaks for."""
    if column.nature == "category":
        return "ordinal" if column.data.ordered else "nominal"
    # A column of nothing but None has no type. Nominal without categories takes whatever comes
    # at prediction; continuous would refuse text.
    return "nominal" if column.nature in ("boolean", "text", "empty") else "continuous"


def _refuse_repeats(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise repeats_error(names)


# -- following a schema -------------------------------------------------------------------------


def _match_table(frame: Frame, schema: Schema, n_threads: int, owner: str) -> Table:
    where = _where(frame, schema, owner)
    features = schema.features
    in_order = where == list(range(frame.n_columns))
    are_numbers = all(f.kind == "continuous" and not f.time for f in features)
    if frame.block is not None and in_order and are_numbers:
        return _table_of_block(frame.block, schema, n_threads)
    columns: list[NDArray[Any]] = []
    for feature, j in zip(features, where, strict=True):
        raw = frame.columns[j]
        if feature.kind == "continuous":
            if frame.block is not None:
                raw = frame.block[:, j]
            column = settle(feature.name, raw)
            if feature.time:
                column = written_moments(column)
            check_moments(column, feature)
            columns.append(to_floats(column))
        else:
            coded = to_coded(settle(feature.name, raw))
            codes = match(coded, feature.categories, feature.name)
            warn_unseen(coded, codes, feature.categories, feature.name)
            columns.append(codes)
    return _finish(schema, frame, columns, n_threads, where)


def _where(frame: Frame, schema: Schema, owner: str) -> list[int]:
    """For each feature of the schema its column in ``frame``."""
    n = len(schema.features)
    if frame.names is None or not schema.named:
        if frame.n_columns != n:
            raise SchemaError(
                f"X has {frame.n_columns} features, but {owner} is expecting {n} features as "
                "input; pass the columns of training."
            )
        if schema.named or frame.names is not None:
            _warn_names(owner, named=frame.names is not None)
        return list(range(n))
    if frame.names == schema.names:
        return list(range(n))
    _refuse_repeats(frame.names)
    position = {name: j for j, name in enumerate(frame.names)}
    missing = [name for name in schema.names if name not in position]
    if missing:
        raise SchemaError(
            f"X must have the columns of training, but lacks {listed(missing)}; add "
            f"{'it' if len(missing) == 1 else 'them'}, filled with gaps if unknown."
        )
    known = set(schema.names)
    extra = [name for name in frame.names if name not in known]
    if extra:
        warnings.warn(
            f"Ignored {listed(extra, 'column')}, which training did not have; drop "
            f"{'it' if len(extra) == 1 else 'them'} from X to silence this.",
            ExtraColumnsWarning,
            stacklevel=5,
        )
    return [position[name] for name in schema.names]


def _warn_names(owner: str, named: bool) -> None:
    """Say that columns are matched by position, as scikit-learn's estimators do."""
    ours, theirs = ("names", "none") if named else ("no names", "some")
    warnings.warn(
        f"The columns of X have {ours}, but {owner} was fitted with {theirs}, so they are matched "
        "by position; pass the same kind of table to both to silence this.",
        ColumnNamesWarning,
        stacklevel=5,
    )


def _finish(
    schema: Schema,
    frame: Frame,
    columns: list[NDArray[Any]],
    n_threads: int,
    where: Sequence[int] | None = None,
) -> Table:
    """Look for gaps and infinities, and close the table."""
    flags = np.zeros(len(columns), np.uint8)
    block_flags = None
    if frame.block is not None:
        # One pass along the rows; a pass per strided column would read every line many times.
        block_flags = kernels.float_flags(frame.block, n_threads)
    for j, (feature, column) in enumerate(zip(schema.features, columns, strict=True)):
        if feature.kind != "continuous":
            flags[j] = column.min() < 0
            columns[j] = column.view()  # its own flag: the memory may be the frame's
            columns[j].flags.writeable = False
        elif block_flags is not None:
            flags[j] = block_flags[j if where is None else where[j]]
        else:
            flags[j] = kernels.float_flags(column[:, None], n_threads)[0]
    _refuse_infinity(flags, schema.features)
    return Table(schema, frame.n_rows, flags.view(np.bool_), tuple(columns))
