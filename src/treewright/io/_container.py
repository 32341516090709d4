"""The bytes of a model file: a JSON header, raw arrays, a checksum.

    magic             8 bytes
    format version    uint32
    header length     uint32, spaces at the end of the header included
    header            JSON in UTF-8, padded with spaces to a multiple of 64
    arrays            raw, C order, each at a multiple of 64, zeros between
    sha256            32 bytes, over everything before

All numbers are little-endian. Magic, version and checksum keep their places in every version
to come, so that a damaged file is never mistaken for a newer one.

The reader trusts nothing: each size is compared with the bytes that are really there before it
is used, so memory stays within a small multiple of the file. The array table must give the
arrays in file order without holes, which rules out overlaps. The idea of the layout is that of
the safetensors format (Hugging Face, 2022).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ModelFileError

__all__ = ["DTYPES", "FORMAT_VERSION", "PREAMBLE", "check_preamble", "is_shape", "pack", "unpack"]

FORMAT_VERSION = 1

MAGIC = b"\x89TWM\r\n\x1a\n"  # as PNG's: shows up files changed by a text-mode copy
PREAMBLE = struct.Struct("<8sII")
CHECKSUM_SIZE = 32
ALIGNMENT = 64

MAX_HEADER_SIZE = 1 << 26
MAX_HEADER_ITEMS = 2_000_000  # a parsed value costs about a hundred bytes
MAX_HEADER_DEPTH = 100
MAX_DIMENSIONS = 32
MAX_ARRAY_SIZE = (1 << 63) - 1

_SIZES = {"int": (8, 16, 32, 64), "uint": (8, 16, 32, 64), "float": (16, 32, 64)}
DTYPES = {
    name: np.dtype(name).newbyteorder("<")
    for name in ["bool", *(f"{kind}{size}" for kind in _SIZES for size in _SIZES[kind])]
}
"""What an array may hold: nothing that could carry code or a pointer."""

# Possessive, and closed by the end of the text as well: one pass, whatever the bytes are.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.?)*+(?:"|\Z)', re.DOTALL)


def pack(header: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Pieces of the file in order; ``header`` gains ``format`` first and ``arrays`` last.

    Anything that ``unpack`` would refuse is refused before the first piece.
    """
    table: list[dict[str, Any]] = []
    position = 0
    for array in arrays:
        table.append(
            {"dtype": array.dtype.name, "shape": list(array.shape), "offset": position},
        )
        position = _align(position + array.nbytes)
    text = json.dumps(
        {"format": FORMAT_VERSION, **header, "arrays": table},
        allow_nan=False,
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode()
    text = text.ljust(_align(PREAMBLE.size + len(text)) - PREAMBLE.size)
    if len(text) > MAX_HEADER_SIZE:
        raise ModelFileError(
            f"its parameters and names take {len(text)} bytes of text, and {MAX_HEADER_SIZE} is "
            "the most; hand large parameters over as numpy arrays"
        )
    _check_extent(text)
    return _pieces(text, arrays)


def _pieces(text: bytes, arrays: Sequence[NDArray[Any]]) -> Iterator[bytes | memoryview]:
    digest = hashlib.sha256()
    for piece in _body(text, arrays):
        digest.update(piece)
        yield piece
    yield digest.digest()


def _body(text: bytes, arrays: Sequence[NDArray[Any]]) -> Iterator[bytes | memoryview]:
    yield PREAMBLE.pack(MAGIC, FORMAT_VERSION, len(text)) + text
    for i, array in enumerate(arrays):
        raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        yield raw.reshape(-1).view(np.uint8).data
        if i < len(arrays) - 1:
            yield bytes(_align(raw.nbytes) - raw.nbytes)


def unpack(buffer: NDArray[np.uint8]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Header (without ``format`` and ``arrays``) and arrays, which are views of ``buffer``.

    Raises ModelFileError, without the name of the file, for anything ``pack`` cannot write.
    """
    version, header_size = check_preamble(buffer[: PREAMBLE.size].tobytes(), buffer.size)
    body = buffer[:-CHECKSUM_SIZE]
    if hashlib.sha256(body.data).digest() != buffer[-CHECKSUM_SIZE:].tobytes():
        raise ModelFileError(
            "its checksum does not match its content, so it is damaged; "
            "restore it from a copy, or save the model again"
        )
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"it was written by a newer treewright (file format {version}, this one reads up to "
            f"{FORMAT_VERSION}); upgrade treewright to load it"
        )
    start = PREAMBLE.size + header_size
    if version < 1 or start > body.size or header_size > MAX_HEADER_SIZE:
        raise ModelFileError(
            f"its first bytes ask for version {version} and a header of {header_size} bytes, "
            "which is impossible"
        )
    header = _parse(buffer[PREAMBLE.size : start].tobytes())
    if type(header.get("format")) is not int or header.pop("format") != version:
        raise ModelFileError("its header and its first bytes name different versions")
    return header, _read_arrays(header.pop("arrays", None), body[start:])


def check_preamble(preamble: bytes, size: int) -> tuple[int, int]:
    """Version and header size from the first bytes of a file of ``size`` bytes."""
    if preamble[: len(MAGIC)] != MAGIC[: len(preamble)] or not preamble:
        raise ModelFileError(
            "it is not a treewright model file; load takes what treewright.save wrote"
        )
    if len(preamble) < PREAMBLE.size or size < PREAMBLE.size + CHECKSUM_SIZE:
        raise ModelFileError(f"it ends after {size} bytes, so it is damaged")
    _, version, header_size = PREAMBLE.unpack(preamble)
    return version, header_size


def _parse(text: bytes) -> dict[str, Any]:
    """The JSON object in ``text``, refused before it can cost much."""
    _check_extent(text)
    try:
        header = json.loads(
            text.decode(),
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError("its header is not the JSON that treewright writes") from error
    if not isinstance(header, dict):
        raise ModelFileError("its header is not a JSON object")
    return header


def _check_extent(text: bytes) -> None:
    """Bound depth and number of values of a JSON text without parsing it."""
    bare = _STRING.sub(b"", text)
    if sum(map(bare.count, (b",", b"[", b"{", b"]", b"}"))) > MAX_HEADER_ITEMS:
        raise ModelFileError(
            f"its header has more than {MAX_HEADER_ITEMS} values; "
            "a model holds large parameters as numpy arrays"
        )
    brackets = np.frombuffer(re.sub(rb"[^\[\]{}]+", b"", bare), np.uint8)
    steps = np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1)
    if np.cumsum(steps).max(initial=0) > MAX_HEADER_DEPTH:
        raise ModelFileError(f"its header is nested deeper than {MAX_HEADER_DEPTH} levels")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ModelFileError("its header has the same key twice in one object")
    return unique


def _refuse_constant(name: str) -> None:
    raise ModelFileError(f"its header has the number {name}, which JSON does not know")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ModelFileError("its header has a number that float64 cannot hold")
    return value


def _read_arrays(table: object, data: NDArray[np.uint8]) -> list[NDArray[Any]]:
    """Views of ``data`` as the table describes them; together they cover it exactly."""
    if not isinstance(table, list):
        raise ModelFileError("its header has no array table")
    arrays: list[NDArray[Any]] = []
    end = 0
    for k, entry in enumerate(table):
        dtype, shape, offset = _read_entry(k, entry)
        start = _align(end)
        if offset != start:
            raise ModelFileError(f"array {k} of its table is not where the one before it ends")
        stop = start + math.prod(shape) * dtype.itemsize
        if stop > data.size:
            raise ModelFileError(f"array {k} of its table reaches beyond the end of the file")
        if data[end:start].any():
            raise ModelFileError(f"the gap before array {k} is not filled with zeros")
        arrays.append(_view(k, data[start:stop], dtype, shape))
        end = stop
    if end != data.size:
        raise ModelFileError("its array table leaves bytes of the file unused")
    return arrays


def _read_entry(k: int, entry: object) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    if not isinstance(entry, dict) or list(entry) != ["dtype", "shape", "offset"]:
        raise ModelFileError(f"array {k} of its table is not described by dtype, shape, offset")
    name, shape, offset = entry.values()
    if not isinstance(name, str) or name not in DTYPES:
        raise ModelFileError(f"array {k} of its table has a dtype that model files do not use")
    if not is_shape(shape, DTYPES[name].itemsize):
        raise ModelFileError(f"array {k} of its table has an impossible shape")
    if type(offset) is not int:
        raise ModelFileError(f"array {k} of its table has no integer as its offset")
    return DTYPES[name], tuple(shape), offset


def is_shape(shape: object, itemsize: int) -> bool:
    """Whether numpy can make an array of this shape, memory aside."""
    return (
        isinstance(shape, list)
        and len(shape) <= MAX_DIMENSIONS
        and all(type(n) is int and 0 <= n <= MAX_ARRAY_SIZE for n in shape)
        # numpy limits the product of the dimensions that are not 0, even of empty arrays
        and math.prod(n for n in shape if n) * itemsize <= MAX_ARRAY_SIZE
    )


def _view(
    k: int, raw: NDArray[np.uint8], dtype: np.dtype[Any], shape: tuple[int, ...]
) -> NDArray[Any]:
    # a bool other than 0 and 1 is undefined behaviour for whoever reads it in C
    if dtype == np.bool_ and raw.max(initial=0) > 1:
        raise ModelFileError(f"array {k} of its table has a bool that is neither 0 nor 1")
    # ndarray() and not view(): an empty slice may lie at any address
    array: NDArray[Any] = np.ndarray(shape, dtype, buffer=raw)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _align(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT
