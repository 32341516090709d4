"""Data that are read block by block: a table in memory, a file, or a folder of files.

A :class:`Source` can be read several times and yields the same blocks each time: a Table of
features, codes of the classes and scaled weights. Files are read twice: once to learn the schema
(kinds, categories, classes, number of rows), then to make the lists.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.categories import levels_error
from treewright.data.encode import encode
from treewright.data.schema import Schema
from treewright.data.sources import open_source
from treewright.data.table import Table
from treewright.data.target import class_codes
from treewright.errors import DataError, ParameterError, SuspectColumnWarning

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Block", "FileSource", "TableSource", "check_target"]

BLOCK_ROWS = 1 << 14
MOST_CATEGORIES = 1 << 20


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows: their features, classes (codes) and weights (None: all one)."""

    table: Table
    y: NDArray[np.int32]
    weight: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class TableSource:
    """Rows in memory."""

    table: Table
    y: NDArray[np.int32]
    weight: NDArray[np.float64] | None

    @property
    def schema(self) -> Schema:
        """Of the features."""
        return self.table.schema

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.y)

    def __iter__(self) -> Iterator[Block]:
        yield Block(self.table, self.y, self.weight)


class FileSource:
    """Rows in files, with the schema and the classes that a first pass found.

    Parameters
    ----------
    path
        File, folder or pattern; see :func:`treewright.data.sources.open_source`.
    target
        Column of the classes.
    categorical_features, ordinal_features
        As estimators take them.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        target: str,
        categorical_features: Any = "from_dtype",
        ordinal_features: Any = None,
    ) -> None:
        self._source = open_source(path)
        self._source.require(target)
        self._target = target
        self._features = [name for name in self._source.names if name != target]
        if not self._features:
            raise DataError(f"{str(path)!r} must hold features beside the target, but has none.")
        survey = _Survey(
            self._source.types, self._features, target, categorical_features, ordinal_features
        )
        for rows in self._tables():
            survey.add(rows)
        self.n_rows = survey.n_rows
        with warnings.catch_warnings():
            # the example has each category once
            warnings.simplefilter("ignore", SuspectColumnWarning)
            self.schema = encode(
                survey.example(),
                categorical_features=categorical_features,
                ordinal_features=ordinal_features,
            ).schema
        _, self.classes = class_codes(survey.class_values())
        self.class_counts = survey.class_counts(self.classes)
        self.class_weight: NDArray[np.float64] | None = None

    def _tables(self) -> Iterator[pa.Table]:
        for piece in self._source.pieces:
            yield from piece.read(None, BLOCK_ROWS)

    def __iter__(self) -> Iterator[Block]:
        for rows in self._tables():
            y, _ = class_codes(rows.column(self._target), self.classes)
            table = encode(rows.drop_columns([self._target]), schema=self.schema)
            weight = None if self.class_weight is None else self.class_weight[y]
            yield Block(table, y.astype(np.int32), weight)


class _Survey:
    """What a first pass over the batches finds out."""

    def __init__(
        self,
        schema: pa.Schema,
        features: list[str],
        target: str,
        categorical: Any,
        ordinal: Any,
    ) -> None:
        import pyarrow.types as kinds

        self._schema, self._features, self._target = schema, features, target
        self._ordered = {
            name
            for name in features
            if kinds.is_dictionary(schema.field(name).type)
            and schema.field(name).type.ordered
            and name not in (ordinal or ())
        }
        named = set() if isinstance(categorical, str) else _names(categorical, features)
        self.n_rows = 0
        self._seen: dict[str, Any] = {}
        for name in features:
            kind = schema.field(name).type
            is_number = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)
            if name in named or not (is_number or kinds.is_temporal(kind)):
                self._seen[name] = None
        self._classes: dict[Any, int] = {}

    def add(self, batch: pa.Table) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self.n_rows += batch.num_rows
        target = batch.column(self._target)
        if target.null_count:
            raise DataError(
                f"The target {self._target!r} must have no gaps, but {target.null_count} rows "
                "lack it; drop those rows, or write the column into every file."
            )
        for pair in pc.value_counts(target):
            value = pair["values"].as_py()
            self._classes[value] = self._classes.get(value, 0) + pair["counts"].as_py()
        for name, seen in self._seen.items():
            column = batch.column(name)
            if name in self._ordered:
                self._seen[name] = _levels(name, column, seen)
                continue
            new = pc.unique(column)
            if pa.types.is_dictionary(new.type):
                new = new.cast(new.type.value_type)
            self._seen[name] = new if seen is None else pc.unique(pa.concat_arrays([seen, new]))
            if len(self._seen[name]) > MOST_CATEGORIES:
                raise DataError(
                    f"A nominal column must have at most {MOST_CATEGORIES} categories, but "
                    f"{name!r} has more; drop it, or group its values."
                )

    def class_values(self) -> list[Any]:
        return list(self._classes)

    def class_counts(self, classes: NDArray[Any]) -> NDArray[np.float64]:
        return np.array([self._classes[value] for value in classes.tolist()], np.float64)

    def example(self) -> pa.Table:
        """A small table with every category, from which a schema is learned as in memory."""
        import pyarrow as pa

        longest = max([1, *(len(seen) for seen in self._seen.values())])
        columns = {}
        for name in self._features:
            seen = self._seen.get(name)
            kind = self._schema.field(name).type
            if seen is None:
                columns[name] = pa.nulls(longest, kind)
            else:
                places = pa.array(np.minimum(np.arange(longest), len(seen) - 1))
                columns[name] = (
                    pa.DictionaryArray.from_arrays(places, seen, ordered=True)
                    if name in self._ordered
                    else seen.take(places)
                )
        return pa.table(columns)


def _levels(name: str, column: pa.ChunkedArray, known: Any) -> Any:
    """The ordered categories of a column, which every part declares alike."""
    for chunk in column.chunks:
        if known is not None and not chunk.dictionary.equals(known):
            raise levels_error(name)
        known = chunk.dictionary
    return known


def _names(categorical: Any, features: list[str]) -> set[str]:
    given = np.asarray(categorical)
    if given.dtype.kind in "bi":
        return set(np.asarray(features, object)[given].tolist())
    return set(given.tolist())


def check_target(target: Any) -> str:
    """The column of the classes, which files need."""
    if not isinstance(target, str):
        raise ParameterError(
            f"target must name the column to predict where X names files, got {target!r}; "
            'pass fit("folder/*.parquet", target="y").'
        )
    return target
