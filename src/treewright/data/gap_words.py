"""Words that people write where a value is missing, found in the text columns of a file.

``N/A``, ``NaN`` and ``null`` are gaps wherever they stand. ``None``, a dash and a dot are ordinary
categories of many tables (nobody else owes: ``none``), so they are gaps only where all other
values of their column are numbers or dates. Case and blanks around do not matter.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from treewright.data.amounts import amounts
from treewright.data.moments import read_moments
from treewright.data.text_numbers import numbers

__all__ = ["clear_gap_words"]

ALWAYS = ("n/a", "#n/a", "nan", "null", "na", "?")
AMONG_NUMBERS = (*ALWAYS, "none", "-", "--", ".", "")


def clear_gap_words(table: Any, as_text: Collection[str] = ()) -> tuple[Any, dict[str, int]]:
    """The Arrow table with gaps in place of such words, and how many each column had.

    Columns named in ``as_text`` hold categories, even where all that is left looks like numbers.
    """
    import pyarrow as pa

    found: dict[str, int] = {}
    for j, name in enumerate(table.column_names):
        column = table.column(j)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        cleared, n = _clear(name, column, name in as_text)
        if n:
            table = table.set_column(j, name, cleared)
            found[name] = n
    return table, found


def _clear(name: str, column: Any, is_text: bool) -> tuple[Any, int]:
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    for marks in (ALWAYS,) if is_text else (AMONG_NUMBERS, ALWAYS):
        is_mark = pc.fill_null(pc.is_in(words, value_set=pa.array(marks, words.type)), False)
        n = pc.sum(is_mark).as_py() or 0
        if not n:
            continue
        kept = pc.if_else(is_mark, pa.scalar(None, column.type), column)
        if marks is ALWAYS:
            return kept, n
        typed = _as_numbers_or_dates(name, kept)
        if typed is not None:
            return typed, n
    return column, 0


def _as_numbers_or_dates(name: str, column: Any) -> Any:
    """The texts as numbers or dates where all of them can be read so."""
    import pyarrow.compute as pc

    if column.null_count == len(column):
        return None
    trimmed = pc.utf8_trim_whitespace(column)
    read = numbers(trimmed)
    if read.null_count == column.null_count:
        return read
    moments = read_moments(trimmed)
    return amounts(name, trimmed) if moments is None else moments
