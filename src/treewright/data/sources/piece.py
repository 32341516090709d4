"""What a source is made of, and how files that differ are brought together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from treewright.data.categories import listed, repeats_error
from treewright.errors import DataError

__all__ = ["Piece", "Source", "common_types", "conform", "require_same_columns"]


class Piece(Protocol):
    """A part of a source."""

    @property
    def n_rows(self) -> int:
        """Rows of the piece."""
        ...

    def read(self, columns: Sequence[str] | None, most: int) -> Iterator[Any]:
        """Tables of at most ``most`` rows, in order, of the columns named or all."""
        ...


@dataclass(frozen=True, eq=False)
class Source:
    """Pieces in their order, and the names and Arrow types of their columns.

    ``types`` is None where the frames themselves say what they are.
    """

    names: tuple[str, ...]
    pieces: tuple[Piece, ...]
    types: Any = None
    row_bytes: int = 0

    @property
    def n_rows(self) -> int:
        """Rows of all pieces."""
        return sum(piece.n_rows for piece in self.pieces)

    def require(self, column: str, role: str = "target") -> None:
        """Refuse a name that is no column."""
        if column not in self.names:
            raise DataError(
                f"{role} must name a column of the source, got {column!r}; the columns are "
                f"{listed(self.names, most=8)}."
            )


def common_types(schemas: Sequence[tuple[str, Any]]) -> Any:
    """One Arrow schema for files that have the same columns, of types that go together.

    Parameters
    ----------
    schemas
        Name and Arrow schema of each file.
    """
    import pyarrow as pa

    for _, schema in schemas:
        if len(set(schema.names)) < len(schema.names):
            raise repeats_error(schema.names)
    first_name, first = schemas[0]
    fields = {field.name: field for field in first}
    for name, schema in schemas[1:]:
        require_same_columns(name, schema.names, first_name, first.names)
        for field in schema:
            known = fields[field.name]
            found = _common(known.type, field.type)
            if found is None:
                raise DataError(
                    f"Files must agree on the types of their columns, but {field.name!r} is "
                    f"{known.type} in {first_name} and {field.type} in {name}; convert one of them."
                )
            fields[field.name] = known.with_type(found)
    return pa.schema([fields[name] for name in first.names])


def require_same_columns(
    name: str, columns: Sequence[str], other_name: str, others: Sequence[str]
) -> None:
    """Refuse two files, or partitions, of which one has a column that the other lacks."""
    for lacking, here, having, there in (
        (name, columns, other_name, others),
        (other_name, others, name, columns),
    ):
        lost = [column for column in there if column not in here]
        if lost:
            raise DataError(
                f"Files and partitions must have the same columns, but {lacking} lacks "
                f"{listed(lost)} of {having}; add it there, or leave it out everywhere."
            )


def _common(a: Any, b: Any) -> Any:
    """The type that holds the values of both; None where there is none."""
    import pyarrow as pa
    import pyarrow.types as kinds

    if a == b or kinds.is_null(b):
        return a
    if kinds.is_null(a):
        return b
    for type_ in (a, b):
        if kinds.is_dictionary(type_):
            values = [t.value_type if kinds.is_dictionary(t) else t for t in (a, b)]
            return _common(*values)
    if _is_text(a) and _is_text(b):
        return pa.large_string()
    numbers = [kinds.is_integer(t) or kinds.is_floating(t) for t in (a, b)]
    if not all(numbers):
        return None
    if kinds.is_integer(a) and kinds.is_integer(b):
        return pa.int64()
    return pa.float64()


def _is_text(type_: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_string(type_) or kinds.is_large_string(type_))


def conform(table: Any, types: Any) -> Any:
    """The table with the columns of ``types``, in their order and of their types."""
    import pyarrow as pa

    columns = []
    for field in types:
        column = table.column(field.name)
        columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.table(columns, schema=types)
