"""Arrays in the least room that gives every bit back: one number, a palette, or a narrow type."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ModelFileError

__all__ = ["narrow", "require", "widened"]

Array = NDArray[Any]

NARROW = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32)
PALETTE = 1 << 16


def require(holds: bool, what: str) -> None:
    if not holds:
        raise ModelFileError(f"its forest is damaged: {what}")


def narrow(array: Array) -> dict[str, object]:
    """An array in the least room: one number, a palette, or a narrow type."""
    flat = np.ascontiguousarray(array)
    if not flat.size:
        return {"none": list(flat.shape)}
    bits = flat.view(f"u{flat.dtype.itemsize}").ravel()
    if np.all(bits == bits[0]):  # bits, because -0.0 equals 0.0
        return {"one": flat.ravel()[:1].copy(), "shape": list(flat.shape)}
    least = _least_type(flat)
    if least.dtype.itemsize <= 4:
        return {"all": least}
    palette, code = np.unique(flat.view(np.uint64), return_inverse=True)
    if len(palette) <= PALETTE and 8 * len(palette) + 2 * flat.size < 8 * flat.size:
        return {
            "palette": palette.view(flat.dtype),
            "code": code.astype(np.uint16).reshape(flat.shape),
        }
    return {"all": flat}


def _least_type(flat: Array) -> Array:
    """The array in the smallest type that gives the same bits back."""
    kinds: tuple[Any, ...] = NARROW if flat.dtype.kind in "iuf" else ()
    if flat.dtype == np.float64:
        kinds = (*kinds, np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        for kind in kinds:
            if np.dtype(kind).itemsize < flat.dtype.itemsize:
                tried = flat.astype(kind)
                if tried.astype(flat.dtype).tobytes() == flat.tobytes():
                    return tried
    return flat


def widened(part: Any, dtype: type[np.generic], n: int, width: int | None = None) -> Array:
    """The array that :func:`narrow` made ``part`` of."""
    shape = (n,) if width is None else (n, width)
    require(type(part) is dict, "a column is no object")
    if set(part) == {"none"}:
        require(n == 0, "a column is empty")
        return np.zeros(shape, dtype)
    if set(part) == {"one", "shape"}:
        one = part["one"]
        fits = isinstance(one, np.ndarray) and one.shape == (1,) and one.dtype == dtype
        require(fits, "a column has no number")
        return np.full(shape, one[0])
    if set(part) == {"palette", "code"}:
        palette, code = part["palette"], part["code"]
        fits = isinstance(palette, np.ndarray) and palette.dtype == dtype and palette.ndim == 1
        require(fits, "a column has no palette")
        fits = isinstance(code, np.ndarray) and code.dtype == np.uint16 and code.shape == shape
        require(fits and (not n or int(code.max()) < len(palette)), "a palette is too small")
        return np.asarray(palette[code])
    array = part.get("all")
    fits = isinstance(array, np.ndarray) and array.shape == shape and array.dtype.kind in "biuf"
    require(fits, "a column has the wrong length")
    return np.asarray(array.astype(dtype))
