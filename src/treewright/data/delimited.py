"""CSV and its relatives: comma, tab or semicolon, quoted, with gaps of one's own.

Arrow parses and infers types, over the whole file at once, so that a type never depends on the
rows that happen to come first. Columns that a schema knows as categories of text are read as
text even where this file has only digits.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from treewright.data.amounts import amounts
from treewright.data.categories import listed
from treewright.data.moments import read_moments
from treewright.data.schema import Schema
from treewright.data.text_numbers import numbers
from treewright.data.textfile import file_error, read_utf8
from treewright.errors import DataError, ParameterError

__all__ = ["read_delimited"]

SEPARATORS = (",", "\t", ";", "|")
_SAMPLE = 64 * 1024
_LARGEST_BLOCK = 2**31 - 2**16  # Arrow counts the bytes of a block in 32 bits
_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE")


def read_delimited(
    path: Path,
    *,
    gaps: Collection[str],
    separator: str | None,
    decimal: str | None,
    encoding: str,
    as_text: Collection[str],
    schema: Schema | None,
) -> Any:
    """Read a delimited file into an Arrow table; see ``read_table`` for the parameters."""
    data = read_utf8(path, encoding)
    sample = _sample_lines(data)
    if separator is None:
        separator = "\t" if ".tsv" in path.suffixes else sniff_separator(sample)
    _check_separator(separator)
    if decimal is None:
        decimal = sniff_decimal(sample, separator)
    _check_decimal(decimal, separator)
    _check_closed(path, data, separator)
    names, body = _header(path, data, separator)
    _check_names(path, names, as_text)
    by_schema = _features_as_text(schema, names, as_text)
    options = _convert_options(names, decimal, gaps, {*as_text, *by_schema})
    table = _parse(path, data, body, names, separator, options)
    for name, categories in by_schema.items():
        j = names.index(name)
        table = table.set_column(j, name, _typed(table.column(j), categories))
    return _with_dates_and_amounts(table, {*as_text, *by_schema})


def _with_dates_and_amounts(table: Any, text: Collection[str]) -> Any:
    """The table with dates and numbers in place of texts such as 08.05.2023 and 1.200,50 €."""
    for j, field in enumerate(table.schema):
        if str(field.type) not in ("string", "large_string") or field.name in text:
            continue
        read = read_moments(table.column(j))
        if read is None:
            read = amounts(field.name, table.column(j))
        if read is not None:
            table = table.set_column(j, field.name, read)
    return table


def sniff_separator(lines: Sequence[str]) -> str:
    """The separator that occurs outside quotes, most often and equally in all lines."""
    counts = [Counter(_unquoted(line)) for line in lines]
    best, best_rank = ",", (0, 0)
    for separator in SEPARATORS:
        in_header = counts[0][separator] if counts else 0
        alike = sum(count[separator] == in_header for count in counts)
        rank = (alike, in_header) if in_header else (0, 0)
        if rank > best_rank:
            best, best_rank = separator, rank
    return best


def sniff_decimal(lines: Sequence[str], separator: str) -> str:
    """A comma where fields between other separators look like 1,5 and none like 1.5."""
    if separator == ",":
        return "."
    fields = [field.strip().strip('"') for line in lines[1:] for field in line.split(separator)]
    if any(re.fullmatch(r"[+-]?\d*\.\d+", field) for field in fields):
        return "."
    return "," if any(re.fullmatch(r"[+-]?\d+,\d+", field) for field in fields) else "."


def _check_separator(separator: str) -> None:
    if len(separator) != 1 or ord(separator) > 127 or separator in '"\r\n':
        raise ParameterError(
            f"separator must be one ASCII character other than a quote or line end, "
            f"got {separator!r}; pass ',' or ';' or '\\t'."
        )


def _check_decimal(decimal: str, separator: str) -> None:
    if decimal not in (".", ",") or decimal == separator:
        raise ParameterError(
            f"decimal must be '.' or ',' and not the separator, got {decimal!r}; pass the other."
        )


def _sample_lines(data: bytes) -> list[str]:
    """The first lines, without a last one that the sample may have cut."""
    text = data[:_SAMPLE].decode(errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    if len(data) > _SAMPLE and len(lines) > 1:
        lines.pop()
    return lines[:200]


def _unquoted(line: str) -> str:
    return re.sub(r'"(?:[^"]|"")*"', "", line)


def _rows(data: bytes, separator: str, strict: bool = False) -> Any:
    """Python's own reader, for what Arrow does not tell: it counts lines."""
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    return csv.reader(stream, delimiter=separator, strict=strict)


def _check_closed(path: Path, data: bytes, separator: str) -> None:
    """Refuse a quote without end, which would swallow the rest of the file as one value."""
    if data.count(b'"') % 2 == 0:
        return
    reader = _rows(data, separator, strict=True)
    start = 1
    try:
        for _ in reader:
            start = reader.line_num + 1
    except csv.Error as error:
        if "unexpected end of data" in str(error):
            raise file_error(
                path, "quotes must be closed, but one that opens here is not", "repair it", start
            ) from None


def _header(path: Path, data: bytes, separator: str) -> tuple[list[str], int]:
    """Column names, and where the rows begin. Empty names, as R writes one, get a number."""
    reader = _rows(data, separator)
    named = (row for row in reader if any(cell.strip() for cell in row) or row == [""])
    try:
        cells = next(named, None)
    except csv.Error as error:
        raise file_error(path, f"the header cannot be read ({error})", "repair it", 1) from None
    if cells is None:
        raise file_error(path, "the first line must name the columns, but none does", "add one")
    ends = re.finditer(rb"\r\n|\n|\r", data)
    last = next(islice(ends, reader.line_num - 1, None), None)
    body = len(data) if last is None else last.end()
    return [cell.strip() or f"column_{j + 1}" for j, cell in enumerate(cells)], body


def _check_names(path: Path, names: list[str], as_text: Collection[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise file_error(
            path,
            f"column names must be unique, but {listed(repeated)} comes more than once",
            "rename them",
        )
    unknown = [name for name in as_text if name not in names]
    if unknown:
        raise ParameterError(
            f"as_text must name columns of {path.name}, but there is no {listed(unknown)}; "
            f"the columns are {listed(names, most=8)}."
        )


def _convert_options(names: list[str], decimal: str, gaps: Collection[str], text: set[str]) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    # Files with a blank after the separator have blanks around their gaps too.
    spaced = [form for gap in gaps for form in (gap, f" {gap}", f"{gap} ")]
    return arrow_csv.ConvertOptions(
        column_types={name: pa.large_string() for name in names if name in text},
        null_values=list(dict.fromkeys(spaced)),
        true_values=_TRUE,
        false_values=_FALSE,
        strings_can_be_null=True,
        decimal_point=decimal,
    )


def _parse(
    path: Path, data: bytes, body: int, names: list[str], separator: str, convert: Any
) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    rows = pa.py_buffer(data).slice(body)
    # The whole file is one block, as types are inferred from the first block.
    read = arrow_csv.ReadOptions(
        column_names=names, block_size=max(1, min(len(data), _LARGEST_BLOCK))
    )
    parse = arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=b'"' in data)
    try:
        return arrow_csv.read_csv(pa.BufferReader(rows), read, parse, convert)
    except pa.ArrowInvalid as error:
        raise _explained(path, data, len(names), separator, str(error)) from None


def _explained(
    path: Path, data: bytes, n: int, separator: str, message: str, before: int = 0
) -> DataError:
    """Arrow's complaint as one sentence, with the line where Arrow does not tell it.

    ``before`` is the number of lines of the file before ``data``.
    """
    if "Empty CSV" in message:
        return file_error(
            path, "there must be rows below the header, but there are none", "add some"
        )
    reader = _rows(data, separator)
    try:
        for row in reader:
            if row and len(row) != n:
                problem = f"every row must have {n} values as the header does, got {len(row)}"
                way_out = "quote values that contain the separator, or pass separator="
                return file_error(path, problem, way_out, before + reader.line_num)
    except csv.Error as error:
        line = before + reader.line_num
        return file_error(path, f"the row cannot be read ({error})", "repair it", line)
    column = re.search(r"In CSV column #(\d+): (.*)", message)
    if column:
        problem = f"column {int(column[1]) + 1} changes its type ({column[2].rstrip('.')})"
        return file_error(path, problem, "name it in as_text= to read it as text")
    return file_error(path, f"cannot be read ({message.splitlines()[0].rstrip('.')})", "repair it")


def _features_as_text(
    schema: Schema | None, names: list[str], as_text: Collection[str]
) -> dict[str, tuple[Any, ...]]:
    """Columns that a schema knows as categories: read as text, typed afterwards."""
    if schema is None:
        return {}
    return {
        feature.name: feature.categories
        for feature in schema.features
        if feature.categories and feature.name in names and feature.name not in as_text
    }


def _typed(column: Any, categories: tuple[Any, ...]) -> Any:
    """Text as the type of the categories; what is of no such type is unseen, so a gap."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if any(isinstance(category, str) for category in categories):
        return column
    column = pc.utf8_trim_whitespace(column)
    if any(isinstance(category, bool) for category in categories):
        yes = pc.is_in(column, pa.array(_TRUE, column.type))
        no = pc.is_in(column, pa.array(_FALSE, column.type))
        return pc.if_else(yes, True, pc.if_else(no, False, pa.scalar(None, pa.bool_())))
    return numbers(column)
