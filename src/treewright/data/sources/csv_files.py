"""CSV files as sources: parts of some megabytes, parsed apart, with types that all parts share.

A part ends with a line, and no line ends inside quotes. Types are those that
:func:`treewright.data.read_table` would find in the whole file: numbers only where every part has
numbers, else text.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from treewright.data.delimited import (
    _check_decimal,
    _check_names,
    _convert_options,
    _explained,
    _header,
    _sample_lines,
    sniff_decimal,
    sniff_separator,
)
from treewright.data.sources.piece import Source
from treewright.data.textfile import file_error
from treewright.errors import DataError

__all__ = ["csv_source"]

PART = 8 << 20
"""Bytes of a part."""
GAPS = ("", "NA", "?")


@dataclass(frozen=True, eq=False)
class CsvPiece:
    """Lines of a CSV file; ``start`` and ``stop`` are bytes."""

    path: str
    start: int
    stop: int
    names: tuple[str, ...]
    separator: str
    decimal: str
    types: Any = None
    n_rows: int = 0

    def read(self, columns: Sequence[str] | None, most: int) -> Iterator[Any]:
        """Slices of the part."""
        table = self.parse(columns)
        for start in range(0, table.num_rows, most):
            yield table.slice(start, most)

    def parse(self, columns: Sequence[str] | None = None) -> Any:
        """The part as a table, of the types known or of those found."""
        import pyarrow as pa
        from pyarrow import csv

        names = list(self.names)
        convert = _convert_options(names, self.decimal, GAPS, set())
        if self.types is not None:
            convert.column_types = {field.name: field.type for field in self.types}
        if columns is not None:
            convert.include_columns = list(columns)
        with open(self.path, "rb") as file:
            file.seek(self.start)
            data = file.read(self.stop - self.start)
        if self.types is None and not data.isascii():  # Arrow would take it for bytes
            _check_utf8(Path(self.path), data)
        read = csv.ReadOptions(column_names=names, block_size=max(1, len(data)), use_threads=False)
        parse = csv.ParseOptions(delimiter=self.separator, newlines_in_values=b'"' in data)
        try:
            return csv.read_csv(pa.BufferReader(data), read, parse, convert)
        except pa.ArrowInvalid as error:
            path = Path(self.path)
            before = _lines_before(path, self.start)
            raise _explained(path, data, len(names), self.separator, str(error), before) from None


def csv_source(files: list[Path], base: Path) -> Source:
    """CSV files, part by part."""
    from dataclasses import replace

    import pyarrow as pa

    pieces: list[CsvPiece] = []
    for file in files:
        pieces += _pieces(file)
    if not pieces:
        problem = "there must be rows below the header, but there are none"
        raise file_error(files[0], problem, "add some")
    for piece in pieces[1:]:
        if piece.names != pieces[0].names:
            raise DataError(
                "Files must have the same columns in the same order, but "
                f"{Path(piece.path).name} has others than {Path(pieces[0].path).name}; "
                "bring them into one order."
            )
    found: Any = None
    rows = []
    for piece in pieces:
        table = piece.parse()
        rows.append(table.num_rows)
        types = [field.type for field in table.schema]
        found = types if found is None else list(map(_wider, found, types))
    schema = pa.schema(list(zip(pieces[0].names, found, strict=True)))
    typed = tuple(
        replace(piece, types=schema, n_rows=n) for piece, n in zip(pieces, rows, strict=True) if n
    )
    return Source(pieces[0].names, typed, schema, 16 * len(schema))


def _pieces(file: Path) -> list[CsvPiece]:
    size = file.stat().st_size
    with file.open("rb") as opened:
        head = opened.read(1 << 16)
    if not head.strip():
        raise file_error(file, "the file must hold a table, but is empty", "write data to it first")
    mark = b"\xef\xbb\xbf"
    skipped = len(mark) if head.startswith(mark) else 0
    _check_utf8(file, head, size <= len(head))
    sample = _sample_lines(head[skipped:])
    separator = "\t" if ".tsv" in file.suffixes else sniff_separator(sample)
    decimal = sniff_decimal(sample, separator)
    _check_decimal(decimal, separator)
    names, body = _header(file, head[skipped:], separator)
    _check_names(file, names, ())
    ends = _line_ends(file, skipped + body, size)
    starts = [skipped + body, *ends][: len(ends)]
    return [
        CsvPiece(str(file), a, b, tuple(names), separator, decimal)
        for a, b in zip(starts, ends, strict=True)
        if b > a
    ]


def _check_utf8(file: Path, data: bytes, is_whole: bool = True) -> None:
    """Refuse other encodings; ``is_whole`` says that the data do not end within a character."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, is_whole)
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x}"
        problem = f"the text of a file read in blocks must be UTF-8, but {found} is not"
        raise file_error(file, problem, "save it as UTF-8") from None


def _lines_before(file: Path, stop: int) -> int:
    """Number of lines in the first ``stop`` bytes."""
    n = 0
    with file.open("rb") as opened:
        for start in range(0, stop, PART):
            n += opened.read(min(PART, stop - start)).count(b"\n")
    return n


def _line_ends(file: Path, start: int, size: int) -> list[int]:
    """Where parts end: behind a line, and not inside quotes."""
    ends = []
    with file.open("rb") as opened:
        while start < size:
            opened.seek(start)
            data = np.frombuffer(opened.read(PART), np.uint8)
            if start + len(data) >= size:
                ends.append(size)
                break
            lines = np.flatnonzero(data == ord("\n"))
            quotes = np.searchsorted(np.flatnonzero(data == ord('"')), lines)
            whole = lines[quotes % 2 == 0]
            if not len(whole):
                raise file_error(
                    file, f"a line must be shorter than {PART >> 20} MB, got a longer one", "cut it"
                )
            start += int(whole[-1]) + 1
            ends.append(start)
    return ends


def _wider(a: Any, b: Any) -> Any:
    """The type that both parts can be read as; text where nothing else will do."""
    import pyarrow as pa
    import pyarrow.types as kinds

    if a == b or kinds.is_null(b):
        return a
    if kinds.is_null(a):
        return b
    numbers = [kinds.is_integer(t) or kinds.is_floating(t) for t in (a, b)]
    return pa.float64() if all(numbers) else pa.string()
