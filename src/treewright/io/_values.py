"""Python values as JSON and arrays, and back.

None, bool, int, finite float, str and list are themselves in JSON. A dict is an object if its
keys are strings without a leading ``$``. Everything else is an object with one key that begins
with ``$``, so data can never pass for a reference:

    {"$array": k}              array k of the file
    {"$unicode": k}            a numpy array of str; its last axis holds the code points
    {"$object": [...]}         a numpy array of objects: shape, then the elements
    {"$scalar": ...}           a numpy scalar, as one of the three above
    {"$tuple": [...]}
    {"$dict": [[key, value], ...]}
    {"$float": "nan"}          also "inf", "-inf"
    {"$bools": k}              a long list of one type, as an array;
    {"$ints": k}
    {"$floats": k}
    {"$strings": [k, l]}       UTF-8, and the length of each in bytes
    {"$tree": ...} and others  the types of a :class:`Structure`

Each array is referred to exactly once; otherwise a small file could name a large array a
million times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ModelFileError
from treewright.io._container import DTYPES, is_shape

__all__ = ["Decoder", "Encoder", "Structure"]

PACK_FROM = 64
"""Lists of one type from this length on become arrays: 100 000 categories are no header."""
MAX_DEPTH = 30
"""Nesting of what a user may hand over; three levels of JSON each at most."""
MAX_CODE_POINT = 0x10FFFF
MAX_INT_BITS = 64
"""Longer integers can be made to collide in a dict by the million."""

_SPECIAL_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_PACKED = {bool: ("$bools", "bool"), int: ("$ints", "int64"), float: ("$floats", "float64")}
_PLAIN = (type(None), bool, int, float, str)


@dataclass(frozen=True)
class Structure:
    """How a type of ours is taken apart into a dict of values, and built and checked again."""

    tag: str
    matches: Callable[[object], bool]
    take_apart: Callable[[Any], dict[str, object]]
    build: Callable[[dict[str, object]], object]


class Encoder:
    """Turns values into JSON, collecting their arrays in ``arrays``."""

    def __init__(self, structures: tuple[Structure, ...] = ()) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._structures = structures

    def encode(self, value: Any, where: str = "", depth: int = 0) -> Any:
        """JSON of ``value``; ``where`` names it in the message if it cannot be saved."""
        if depth > MAX_DEPTH:
            raise ModelFileError(
                f"{where} is nested deeper than {MAX_DEPTH} levels, the most a model file holds"
            )
        if type(value) in _PLAIN:
            return _encode_plain(value, where)
        if isinstance(value, np.generic):
            return {"$scalar": self._encode_array(np.asarray(value), where)}
        if type(value) in (np.ndarray, np.memmap):
            return self._encode_array(value, where)
        if type(value) is list:
            return self._encode_list(value, where, depth)
        if type(value) is tuple:
            return {"$tuple": self._encode_list(list(value), where, depth)}
        if type(value) is dict:
            return self._encode_dict(value, where, depth)
        for structure in self._structures:
            if structure.matches(value):
                parts = structure.take_apart(value)
                return {structure.tag: self._encode_dict(parts, where, depth)}
        raise ModelFileError(f"{where} is {_describe(value)}")

    def _refer(self, array: NDArray[Any]) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _encode_array(self, array: NDArray[Any], where: str) -> Any:
        if array.dtype.name in DTYPES:
            return {"$array": self._refer(array)}
        if array.dtype.kind == "U":
            width = max(array.dtype.itemsize // 4, 1)
            text = np.array(array, f"<U{width}", order="C")
            points: NDArray[Any] = np.ndarray((*text.shape, width), "<u4", buffer=text.data)
            if not _are_characters(points):
                raise ModelFileError(f"{where} has text that is not valid Unicode")
            return {"$unicode": self._refer(points)}
        if array.dtype == object:
            elements = array.ravel().tolist()
            for element in elements:
                if not _is_element(element):
                    raise ModelFileError(f"an element of {where} is {_describe(element)}")
            return {"$object": [list(array.shape), self._encode_list(elements, where, 0)]}
        raise ModelFileError(
            f"{where} is an array of {array.dtype.name}, and a model file holds bool, integer, "
            "float (up to 64 bits) and str arrays only"
        )

    def _encode_list(self, values: list[Any], where: str, depth: int) -> Any:
        kind = type(values[0]) if len(values) >= PACK_FROM else None
        if kind is not None and all(type(value) is kind for value in values):
            if kind is str:
                raw = [_utf8(value, where) for value in values]
                lengths = np.array([len(piece) for piece in raw], np.int64)
                text = np.frombuffer(b"".join(raw), np.uint8)
                return {"$strings": [self._refer(text), self._refer(lengths)]}
            if kind in _PACKED and (kind is not int or _fits_int64(values)):
                tag, dtype = _PACKED[kind]
                return {tag: self._refer(np.array(values, dtype))}
        return [self.encode(value, f"{where}[{i}]", depth + 1) for i, value in enumerate(values)]

    def _encode_dict(self, values: Mapping[Any, Any], where: str, depth: int) -> Any:
        encoded = []
        for key, value in values.items():
            if not _is_element(key):  # a tuple of integers can be made to collide, too
                raise ModelFileError(f"a key of {where} is {_describe(key)}")
            # "parameters" and "state" are headings of an estimator; users know what is in them
            inside = where if str(key) in ("parameters", "state") else f"{where}.{key}".lstrip(".")
            encoded.append(
                [
                    self.encode(key, f"a key of {where}", depth + 1),
                    self.encode(value, inside, depth + 1),
                ]
            )
        if all(type(key) is str and not key.startswith("$") for key in values):
            return dict(encoded)
        return {"$dict": encoded}


def _encode_plain(value: Any, where: str) -> Any:
    if type(value) is float and not math.isfinite(value):
        return {"$float": repr(value)}
    _check_plain(value, where)
    return value


def _check_plain(value: object, where: str) -> None:
    """What must hold of JSON's own values, on the way in and on the way out."""
    if type(value) is int and value.bit_length() > MAX_INT_BITS:
        raise ModelFileError(
            f"{where} has an integer of {value.bit_length()} bits, and a model file holds "
            f"{MAX_INT_BITS} at most"
        )
    if type(value) is str:
        _utf8(value, where)


def _utf8(text: str, where: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ModelFileError(f"{where} has text that is not valid Unicode") from error


def _are_characters(points: NDArray[np.uint32]) -> bool:
    surrogate = (points >= 0xD800) & (points <= 0xDFFF)
    return bool(points.max(initial=0) <= MAX_CODE_POINT and not surrogate.any())


def _is_element(value: object) -> bool:
    """Whether ``value`` may be in an array of objects, or the key of a dict."""
    return type(value) in _PLAIN or isinstance(value, np.generic)


def _fits_int64(values: list[int]) -> bool:
    return all(-(1 << 63) <= value < 1 << 63 for value in (min(values), max(values)))


def _describe(value: object) -> str:
    """What ``value`` is, why it cannot be saved and what to do."""
    name = type(value).__name__
    article = "an" if name[0] in "AEIOUaeiou" else "a"
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return (
            f"a {name} instance, which changes with use and cannot be saved; "
            "set it to an integer or None first"
        )
    if hasattr(value, "get_params"):
        return (
            f"{article} {name}, and a model file holds estimators of treewright only; "
            "use one of them, or save the other one by its own means"
        )
    if callable(value):
        return (
            f"code ({article} {name}), and a model file holds plain values only; "
            "use one of the named choices instead"
        )
    return (
        f"{article} {name}, and a model file holds None, bool, int, float, str, list, tuple, "
        "dict and numpy arrays only"
    )


class Decoder:
    """Turns JSON back into values; call ``finish`` after the last one."""

    def __init__(self, arrays: list[NDArray[Any]], structures: tuple[Structure, ...] = ()) -> None:
        self._arrays: list[NDArray[Any] | None] = list(arrays)
        self._structures = {structure.tag: structure for structure in structures}
        self._tags: dict[str, Callable[[Any], Any]] = {
            "$array": self._take,
            "$unicode": self._decode_unicode,
            "$object": self._decode_object,
            "$scalar": self._decode_scalar,
            "$tuple": lambda content: tuple(self._decode_list(content)),
            "$dict": self._decode_pairs,
            "$float": _decode_float,
        }

    def decode(self, value: Any) -> Any:
        """The value that JSON stands for, or ModelFileError."""
        if isinstance(value, list) or _is_packed(value):
            return self._decode_list(value)
        if not isinstance(value, dict):
            _check_plain(value, "its header")
            return value
        if not any(key.startswith("$") for key in value):
            return {self.decode(key): self.decode(entry) for key, entry in value.items()}
        tag, content = next(iter(value.items()))
        if len(value) == 1 and tag in self._tags:
            return self._tags[tag](content)
        if len(value) == 1 and tag in self._structures:
            parts = self.decode(content)
            if not isinstance(parts, dict):
                raise ModelFileError(f"a {tag} in its header is not an object")
            return self._structures[tag].build(parts)
        raise ModelFileError("its header has a value of an unknown type")

    def finish(self) -> None:
        """Check that every array was used."""
        if any(array is not None for array in self._arrays):
            raise ModelFileError("its array table has arrays that the model does not use")

    def _take(self, k: object, dtype: str | None = None) -> NDArray[Any]:
        array = None
        if type(k) is int and 0 <= k < len(self._arrays):
            array, self._arrays[k] = self._arrays[k], None
        if array is None:
            raise ModelFileError("its header refers to an array that is not there, or twice to one")
        if dtype is not None and (array.dtype.name != dtype or array.ndim != 1):
            raise ModelFileError("its header refers to an array of the wrong type")
        return array

    def _decode_list(self, content: Any) -> list[Any]:
        if isinstance(content, list):
            return [self.decode(entry) for entry in content]
        if not _is_packed(content):
            raise ModelFileError("its header has something else where a list must be")
        tag, where = next(iter(content.items()))
        if tag == "$strings":
            return self._decode_strings(where)
        dtype = next(name for key, name in _PACKED.values() if key == tag)
        values: list[Any] = self._take(where, dtype).tolist()
        return values

    def _decode_strings(self, where: Any) -> list[str]:
        if not isinstance(where, list) or len(where) != 2:
            raise ModelFileError("its header has a list of texts that is not two arrays")
        text, lengths = self._take(where[0], "uint8"), self._take(where[1], "int64")
        if (lengths < 0).any() or sum(lengths.tolist()) != text.size:  # int64 could overflow
            raise ModelFileError("a list of texts has impossible lengths")
        ends = np.cumsum(lengths)
        raw = text.tobytes()
        starts = (ends - lengths).tolist()
        try:
            return [
                raw[start:end].decode() for start, end in zip(starts, ends.tolist(), strict=True)
            ]
        except UnicodeDecodeError as error:
            raise ModelFileError("a text in it is not utf-8") from error

    def _decode_unicode(self, k: object) -> NDArray[Any]:
        points = self._take(k)
        if points.dtype != np.uint32 or points.ndim == 0 or points.shape[-1] == 0:
            raise ModelFileError("a text array of it has the wrong type")
        if not _are_characters(points):
            raise ModelFileError("a text array of it has a character that Unicode does not know")
        return np.ndarray(points.shape[:-1], f"=U{points.shape[-1]}", buffer=points.data)

    def _decode_object(self, content: Any) -> NDArray[Any]:
        if not isinstance(content, list) or len(content) != 2 or not is_shape(content[0], 8):
            raise ModelFileError("an array of objects is not a shape and a list")
        shape, elements = content[0], self._decode_list(content[1])
        if math.prod(shape) != len(elements) or not all(map(_is_element, elements)):
            raise ModelFileError("an array of objects does not fit its shape")
        flat = np.empty(len(elements), object)
        flat[:] = elements
        return flat.reshape(shape)

    def _decode_scalar(self, content: Any) -> Any:
        array = self.decode(content)
        if not isinstance(array, np.ndarray) or array.ndim:
            raise ModelFileError("a scalar in its header is not an array without axes")
        return array[()]

    def _decode_pairs(self, content: Any) -> dict[Any, Any]:
        if not isinstance(content, list) or any(
            not isinstance(pair, list) or len(pair) != 2 for pair in content
        ):
            raise ModelFileError("a dict in its header is not a list of pairs")
        pairs = [(self.decode(key), self.decode(value)) for key, value in content]
        if not all(_is_element(key) for key, _ in pairs):
            raise ModelFileError("a dict in its header has a key that cannot be one")
        values = dict(pairs)
        if len(values) < len(pairs):
            raise ModelFileError("a dict in its header has the same key twice")
        return values


def _is_packed(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) == 1
        and next(iter(value)) in ("$bools", "$ints", "$floats", "$strings")
    )


def _decode_float(name: object) -> float:
    if not isinstance(name, str) or name not in _SPECIAL_FLOATS:
        raise ModelFileError("its header has an unknown float")
    return _SPECIAL_FLOATS[name]
