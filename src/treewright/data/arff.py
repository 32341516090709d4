"""ARFF, Weka's format: a typed header, then rows separated by commas.

A nominal attribute becomes an Arrow dictionary with its declared values in their order (not an
ordinal one: ARFF says nothing about order). A line without quotes is split as it is; only the
others pay for the careful tokenizer.

Reference: Weka manual, "ARFF".
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from treewright.data.categories import listed
from treewright.data.frames import DECLARED
from treewright.data.text_numbers import numbers
from treewright.data.textfile import file_error, read_utf8

__all__ = ["read_arff"]

Cell = str | None

# Possessive: one pass, whatever the line is.
_TOKEN = re.compile(
    r"""\s*+
    (?: '(?P<single>(?:[^'\\]|\\.)*+)'
      | "(?P<double>(?:[^"\\]|\\.)*+)"
      | (?P<bare>(?:[^,'"\s][^,]*+)?+) )
    \s*+(?P<end>,|$)""",
    re.VERBOSE,
)
_NAME = re.compile(
    r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+?))\s*(?=[\s{])\s*(.+)$""", re.I
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_JAVA_DATE = {
    "yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S",
    "SSS": "%f", "EEE": "%a", "MMM": "%b", "a": "%p", "hh": "%I", "Z": "%z",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Attribute:
    """A column of the header: ``kind`` is numeric, string, date or nominal."""

    name: str
    kind: str
    values: tuple[str, ...] = ()
    date_format: str = ""


def read_arff(path: Path, encoding: str = "utf-8") -> Any:
    """Read an ARFF file into an Arrow table."""
    # Not splitlines(), which also ends a line at characters that may stand inside a value.
    lines = re.split("\r\n|\n|\r", read_utf8(path, encoding).decode())
    attributes, start = _read_header(path, lines)
    rows, numbers = _read_rows(path, lines, start, len(attributes))
    if not rows:
        raise file_error(path, "there must be rows below @data, but there are none", "add some")
    return _to_arrow(path, attributes, rows, numbers)


def _read_header(path: Path, lines: list[str]) -> tuple[list[_Attribute], int]:
    """Attributes, and the index of the line after ``@data``."""
    attributes: list[_Attribute] = []
    for i, raw in enumerate(lines):
        line = raw.strip()
        keyword = line.split(maxsplit=1)[0].lower() if line else ""
        if not line or line.startswith("%") or keyword == "@relation":
            continue
        if keyword == "@attribute":
            attributes.append(_read_attribute(path, line, i + 1))
        elif keyword == "@data":
            _check_attributes(path, attributes, i + 1)
            return attributes, i + 1
        else:
            raise file_error(
                path,
                f"the header must hold @relation, @attribute and @data, got {line[:30]!r}",
                "repair the line",
                i + 1,
            )
    raise file_error(
        path, "the file must have a line @data, but has none", "add it before the rows"
    )


def _check_attributes(path: Path, attributes: list[_Attribute], line: int) -> None:
    names = [attribute.name for attribute in attributes]
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if not names:
        raise file_error(path, "@data must follow attributes, but there are none", "add them", line)
    if repeated:
        raise file_error(
            path,
            f"attribute names must be unique, but {listed(repeated)} comes more than once",
            "rename them",
        )


def _read_attribute(path: Path, line: str, number: int) -> _Attribute:
    found = _NAME.match(line)
    if not found:
        raise file_error(
            path, f"an attribute needs a name and a type, got {line[:40]!r}", "add them", number
        )
    name = found[3] if found[3] is not None else _unescape(found[1] or found[2] or "")
    declared = found[4].strip()
    word = declared.split(maxsplit=1)[0].lower()
    if declared.startswith("{"):
        return _Attribute(name, "nominal", _read_values(path, declared, number))
    if word in ("numeric", "real", "integer"):
        return _Attribute(name, "numeric")
    if word == "string":
        return _Attribute(name, "string")
    if word == "date":
        java = declared[4:].strip().strip("\"'") or "yyyy-MM-dd'T'HH:mm:ss"
        return _Attribute(name, "date", date_format=_python_format(path, java, number))
    raise file_error(
        path,
        f"an attribute must be numeric, string, date or {{values}}, but {name!r} is {declared!r}",
        "convert it first",
        number,
    )


def _read_values(path: Path, declared: str, number: int) -> tuple[str, ...]:
    inner = declared[1:].rpartition("}")[0].strip()
    values = _tokens(inner) if inner else []
    if "}" not in declared or values is None or None in values:
        raise file_error(
            path, f"values must stand in {{a, b}}, got {declared[:40]!r}", "repair the line", number
        )
    return tuple(dict.fromkeys(value for value in values if value is not None))


def _read_rows(
    path: Path, lines: list[str], start: int, width: int
) -> tuple[list[list[Cell]], list[int]]:
    rows: list[list[Cell]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines[start:], start + 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            raise file_error(
                path,
                "rows must be dense, but this is a sparse one",
                "save it as dense ARFF",
                number,
            )
        cells = _split(line)
        if cells is None:
            raise file_error(path, "quotes must be closed, but are not", "repair the line", number)
        if len(cells) != width:
            raise file_error(
                path,
                f"every row must have {width} values as the header says, got {len(cells)}",
                "quote values that contain commas",
                number,
            )
        rows.append(cells)
        numbers.append(number)
    return rows, numbers


def _split(line: str) -> list[Cell] | None:
    if "'" in line or '"' in line:
        return _tokens(line)
    cells = line.split(",") if "," in line else line.split()
    return [None if (cell := part.strip()) == "?" else cell for part in cells]


def _tokens(line: str) -> list[Cell] | None:
    """Values of a line with quotes; None if it cannot be read. A quoted ``?`` is no gap."""
    cells: list[Cell] = []
    position = 0
    while found := _TOKEN.match(line, position):
        if found["bare"] is not None:
            bare = found["bare"].rstrip()
            cells.append(None if bare == "?" else bare)
        else:
            cells.append(_unescape(found["single"] or found["double"] or ""))
        position = found.end()
        if found["end"] != ",":
            return cells
    return None


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text) if "\\" in text else text


# -- columns ------------------------------------------------------------------------------------


def _to_arrow(
    path: Path, attributes: list[_Attribute], rows: list[list[Cell]], numbers: list[int]
) -> Any:
    import pyarrow as pa

    makers = {"numeric": _numeric, "string": _string, "date": _date, "nominal": _nominal}
    fields, arrays = [], []
    for attribute, cells in zip(attributes, zip(*rows, strict=True), strict=True):
        try:
            array = makers[attribute.kind](attribute, cells)
        except _CellError as bad:
            raise file_error(path, bad.problem, "correct it", numbers[bad.row]) from None
        note = {DECLARED: b"declared"} if attribute.kind == "nominal" else None
        fields.append(pa.field(attribute.name, array.type, metadata=note))
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


class _CellError(Exception):
    """A cell that does not fit its attribute."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(problem)
        self.row = row
        self.problem = problem


def _converted(
    attribute: _Attribute, cells: tuple[Cell, ...], convert: Callable[[str], Any]
) -> Any:
    values: list[Any] = []
    for row, cell in enumerate(cells):
        try:
            values.append(None if cell is None else convert(cell))
        except (ValueError, KeyError):
            raise _bad_cell(attribute, cells, row) from None
    return values


def _bad_cell(attribute: _Attribute, cells: tuple[Cell, ...], row: int) -> _CellError:
    rule = "one of its declared values" if attribute.kind == "nominal" else attribute.kind
    return _CellError(
        row, f"attribute {attribute.name!r} must be {rule}, but a value is {cells[row]!r:.60}"
    )


def _numeric(attribute: _Attribute, cells: tuple[Cell, ...]) -> Any:
    import pyarrow as pa

    text = pa.array(cells, pa.large_string())
    read = numbers(text, words=True)
    if read.null_count > text.null_count:
        is_wrong = np.asarray(read.is_null()) & np.asarray(text.is_valid())
        raise _bad_cell(attribute, cells, int(is_wrong.argmax()))
    return read


def _string(attribute: _Attribute, cells: tuple[Cell, ...]) -> Any:
    import pyarrow as pa

    return pa.array(cells, pa.string())


def _date(attribute: _Attribute, cells: tuple[Cell, ...]) -> Any:
    import pyarrow as pa

    def parse(cell: str) -> datetime.datetime:
        return datetime.datetime.strptime(cell, attribute.date_format)

    return pa.array(_converted(attribute, cells, parse), pa.timestamp("us"))


def _nominal(attribute: _Attribute, cells: tuple[Cell, ...]) -> Any:
    import pyarrow as pa

    code = {value: k for k, value in enumerate(attribute.values)}
    codes = pa.array(_converted(attribute, cells, code.__getitem__), pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(attribute.values, pa.string()))


def _python_format(path: Path, java: str, number: int) -> str:
    """A date format of Java, as far as ``strptime`` has the same."""
    parts: list[str] = []
    for quoted, letters, other in _format_parts(java):
        if letters and _JAVA_DATE.get(letters) in parts:
            problem = (
                f"a date format must use each part once, got {letters!r} twice in {java!r:.60}"
            )
            raise file_error(path, problem, "write dates in ISO format", number)
        if letters and letters not in _JAVA_DATE:
            raise file_error(
                path,
                f"the date format must use yyyy MM dd HH mm ss, got {letters!r} in {java!r}",
                "write dates in ISO format",
                number,
            )
        parts.append(_JAVA_DATE[letters] if letters else (quoted or other).replace("%", "%%"))
    return "".join(parts)


def _format_parts(java: str) -> Iterator[tuple[str, str, str]]:
    """Quoted text, a run of one letter, or another character."""
    for found in re.finditer(r"'(?P<text>[^']*)'|(?P<run>([A-Za-z])\3*)|(?P<other>.)", java):
        yield found["text"] or "", found["run"] or "", found["other"] or ""
