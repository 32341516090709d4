"""Text files: bytes of a plain or packed file (gzip, bzip2, xz, zip), checked to be UTF-8.

Every error is one sentence with the name of the file and, where there is one, the line.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, BinaryIO

from treewright.errors import DataError, ParameterError

__all__ = ["file_error", "line_at", "no_formula", "read_bytes", "read_utf8"]

_CHUNK = 1 << 20
_FORMULA = re.compile(r"[=@|'\t\r]|[+-](?!$|[\d., %]+$)")


def file_error(path: Path, problem: str, way_out: str, line: int | None = None) -> DataError:
    """``data.csv, line 3: problem; way out.``"""
    name = path.name or str(path)  # the current folder has no name
    place = name if line is None else f"{name}, line {line}"
    return DataError(f"{place}: {problem}; {way_out}.")


def read_bytes(path: Path) -> bytes:
    """All bytes of a file, unpacked if its first bytes say that it is compressed."""
    data = path.read_bytes()
    for name, (start, opened) in _PACKED.items():
        if not data.startswith(start):
            continue
        try:
            with opened(io.BytesIO(data)) as stream:
                return _read_bounded(path, stream, max(LARGEST, RATIO * len(data)))
        except DataError:
            raise
        except _DAMAGED as error:
            raise file_error(
                path, f"the {name} data are damaged ({error})", "copy or download it again"
            ) from None
    return data


def _read_bounded(path: Path, stream: IO[bytes], most: int) -> bytes:
    """All of a stream that unpacks; a few packed bytes may stand for gigabytes."""
    pieces, size = [], 0
    while piece := stream.read(_CHUNK):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise file_error(
                path,
                f"a packed file may hold {most >> 20} MB (the larger of {LARGEST >> 20} MB and "
                f"{RATIO} times its size), but it holds more",
                "unpack it and read the file that comes out",
            )
    return b"".join(pieces)


def _unzip(data: BinaryIO) -> IO[bytes]:
    """The only file in a zip archive; folders and what macOS adds do not count."""
    archive = zipfile.ZipFile(data)
    names = [n for n in archive.namelist() if not n.endswith("/") and "__MACOSX" not in n]
    if len(names) != 1:
        raise zipfile.BadZipFile(f"it holds {len(names)} files instead of one")
    return archive.open(names[0])


LARGEST, RATIO = 256 << 20, 100
"""Bytes that any packed file may hold, and how many times its size a larger one may."""
_PACKED: dict[str, tuple[bytes, Callable[[BinaryIO], Any]]] = {
    "gzip": (b"\x1f\x8b", lambda data: gzip.GzipFile(fileobj=data)),
    "bzip2": (b"BZh", bz2.BZ2File),
    "xz": (b"\xfd7zXZ\x00", lzma.LZMAFile),
    "zip": (b"PK\x03\x04", _unzip),
}
"""How packed files begin, and what opens them."""
_DAMAGED: tuple[type[Exception], ...] = (
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_utf8(path: Path, encoding: str = "utf-8") -> bytes:
    """The file as UTF-8 without a byte order mark; never empty."""
    data = read_bytes(path)
    try:
        codec = codecs.lookup(encoding)
    except LookupError:
        raise ParameterError(
            f"encoding must be one that Python knows, got {encoding!r}; try 'utf-8' or 'latin-1'."
        ) from None
    if codec.name == "utf-8":
        data = data.removeprefix(codecs.BOM_UTF8)
        _check_utf8(path, data)
    else:
        try:
            data = data.decode(encoding).removeprefix("\ufeff").encode()
        except UnicodeDecodeError as error:
            raise _undecodable(path, data, error.start, encoding) from None
    if not data.strip():
        raise file_error(path, "the file must hold a table, but is empty", "write data to it first")
    return data


def no_formula(cell: Any) -> Any:
    """A cell of a table that is written: text that a spreadsheet takes for a formula is marked.

    The mark is an apostrophe, as people type it; signs alone, numbers and telephone numbers stay
    as they are.

    Examples
    --------
    >>> [no_formula(cell) for cell in ("=1+1", "@here", "+", "-1.5", -1.5, "+49 30 1234")]
    ["'=1+1", "'@here", '+', '-1.5', -1.5, '+49 30 1234']
    """
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def line_at(data: bytes, position: int) -> int:
    """Number, from 1, of the line that byte ``position`` is on."""
    return data.count(b"\n", 0, position) + 1


def _check_utf8(path: Path, data: bytes) -> None:
    """Decode piece by piece, so that no second copy of the file is made."""
    if data.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    for start in range(0, len(data), _CHUNK):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(view[start : start + _CHUNK], start + _CHUNK >= len(data))
        except UnicodeDecodeError as error:
            raise _undecodable(path, data, start - pending + error.start, "utf-8") from None


def _undecodable(path: Path, data: bytes, position: int, encoding: str) -> DataError:
    other = "utf-8"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        other = "utf-16"
    elif codecs.lookup(encoding).name == "utf-8":
        # what Windows writes; some bytes have no meaning there
        other = "latin-1" if re.search(rb"[\x81\x8d\x8f\x90\x9d]", data) else "cp1252"
    return file_error(
        path,
        f"the text must be {encoding}, but byte 0x{data[position]:02x} is not",
        f"pass encoding={other!r} (--encoding {other} on the command line) or another that fits",
        line_at(data, position),
    )
