"""Table: a schema and one flat array per column, all that learners see of the data.

A continuous column is float32 or float64 as it came, NaN for a gap, and may be a strided view
of the user's own array. A nominal or ordinal column holds int32 codes into the feature's
categories, −1 for a gap. No column holds an infinity, or :attr:`Table.has_gaps` says so when it is
asked for the first time. Nothing changes after construction; columns may be read-only arrays, so
kernels take them as ``const``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from treewright import kernels
from treewright.data.schema import Schema

__all__ = ["Table"]


class Table:
    """Columns that follow a schema; see :func:`treewright.data.encode.encode` for making one.

    Parameters
    ----------
    schema
        Names, kinds and categories of the columns.
    n_rows
        Number of rows.
    has_gaps
        Per column, whether it holds a gap; or a function that looks for them and refuses
        infinities, called when they are first asked for.
    columns
        One array per feature; may be left out when ``block`` is given.
    block
        The 2-d float array of which the columns are views, when there is one.

    Examples
    --------
    >>> from treewright.data.encode import encode
    >>> table = encode({"colour": ["red", "blue", None], "size": [1.5, 2.0, 3.0]})
    >>> table.schema.features[0].categories, table.columns[0].tolist()
    (('blue', 'red'), [1, 0, -1])
    >>> table.n_rows, table.has_gaps
    (3, array([ True, False]))
    >>> table.take([2, 0]).columns[1].tolist()
    [3.0, 1.5]
    >>> table.select([1]).schema.names
    ('size',)
    """

    __slots__ = ("_columns", "_gaps", "block", "n_rows", "schema")

    schema: Schema
    n_rows: int
    block: NDArray[np.floating[Any]] | None
    _columns: tuple[NDArray[Any], ...] | None
    _gaps: NDArray[np.bool_] | Callable[[], NDArray[np.bool_]]

    def __init__(
        self,
        schema: Schema,
        n_rows: int,
        has_gaps: NDArray[np.bool_] | Callable[[], NDArray[np.bool_]],
        columns: tuple[NDArray[Any], ...] | None = None,
        block: NDArray[np.floating[Any]] | None = None,
    ) -> None:
        store = object.__setattr__
        store(self, "schema", schema)
        store(self, "n_rows", n_rows)
        store(self, "_gaps", has_gaps)
        store(self, "block", block)
        store(self, "_columns", columns)

    @property
    def has_gaps(self) -> NDArray[np.bool_]:
        """Per column, whether it holds a gap."""
        if callable(self._gaps):
            object.__setattr__(self, "_gaps", self._gaps())
        assert not callable(self._gaps)
        return self._gaps

    @property
    def is_checked(self) -> bool:
        """Whether gaps and infinities were looked for."""
        return not callable(self._gaps)

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """One 1-d array per feature, in schema order."""
        if self._columns is None:
            assert self.block is not None
            # Made on demand: single-row prediction on wide arrays never asks for them.
            object.__setattr__(self, "_columns", tuple(self.block.T))
        assert self._columns is not None
        return self._columns

    def take(self, rows: NDArray[Any]) -> Table:
        """The table of ``rows``: indices, which may repeat, or a boolean mask."""
        rows = np.asarray(rows)
        if self.block is not None:
            block = self.block[rows]
            gaps = _still(self.has_gaps, tuple(block.T))
            return Table(self.schema, len(block), gaps, block=block)
        columns = tuple(column[rows] for column in self.columns)
        n_rows = len(columns[0]) if columns else 0
        return Table(self.schema, n_rows, _still(self.has_gaps, columns), columns)

    def select(self, features: NDArray[Any]) -> Table:
        """The table of the ``features`` at these positions, in this order, none twice.

        Parameters
        ----------
        features
            Positions of the features.
        """
        schema = Schema(tuple(self.schema.features[k] for k in features), self.schema.named)
        columns = tuple(self.columns[k] for k in features)
        return Table(schema, self.n_rows, self.has_gaps[features], columns)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        kinds = [feature.kind for feature in self.schema.features]
        counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
        listed = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        return f"Table({self.n_rows} rows, {len(kinds)} columns: {listed})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"A Table cannot be changed, but {name!r} was assigned.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"A Table cannot be changed, but {name!r} was deleted.")

    def __reduce__(self) -> tuple[Any, ...]:
        # A block and its views would be pickled as unrelated copies.
        columns = None if self.block is not None else self._columns
        return Table, (self.schema, self.n_rows, self.has_gaps, columns, self.block)


def column_has_gaps(column: NDArray[Any]) -> bool:
    """Whether a column of floats or codes holds a gap."""
    if column.dtype.kind == "f":
        return bool(kernels.float_flags(column[:, None], 1)[0] & 1)
    return bool(column.size) and bool(column.min() < 0)


def _still(had_gaps: NDArray[np.bool_], columns: tuple[NDArray[Any], ...]) -> NDArray[np.bool_]:
    """Which columns have gaps, looking only where there were some."""
    pairs = zip(had_gaps, columns, strict=True)
    return np.array([bool(had) and column_has_gaps(column) for had, column in pairs], np.bool_)
