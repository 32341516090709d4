"""The only door to the compiled core: sizes and codes are checked once, then calls go through.

Each kernel has a numpy twin in ``tests/twins``; the tests compare the two.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels import _core
from treewright.kernels._core import Predictor, RuleMatcher, float_flags

__all__ = [
    "Predictor",
    "RuleMatcher",
    "candidates",
    "check_growth",
    "float_flags",
    "grow",
    "text_codes",
]


def _end_calls(process: int) -> None:
    """Wait for calls in other threads, which a process made by a fork does not have."""
    if os.getpid() == process:
        _core.end_calls()


atexit.register(_end_calls, os.getpid())


def check_growth(columns: Sequence[NDArray[Any]], params: Mapping[str, Any]) -> None:
    """Refuse arrays that the core would read out of bounds."""
    n_rows = len(columns[0])
    for column, n_categories in zip(columns, params["n_categories"], strict=True):
        if column.ndim != 1 or len(column) != n_rows:
            raise ValueError("columns must be one-dimensional and of equal length")
        if column.dtype == np.int32 and len(column):
            if column.max() >= n_categories or column.min() < -1:
                raise ValueError("a category code is out of range")
        elif column.dtype not in (np.float32, np.float64):
            raise TypeError("columns must be float32, float64 or int32")
    y = params["y"]
    if len(y) != n_rows:
        raise ValueError("the target must have one entry per row")
    if params["classification"] and len(y) and (y.min() < 0 or y.max() >= params["n_classes"]):
        raise ValueError("a class code is out of range")
    if params["weight"] is not None and len(params["weight"]) != n_rows:
        raise ValueError("weights must have one entry per row")


def grow(columns: Sequence[NDArray[Any]], params: dict[str, Any]) -> dict[str, Any]:
    """Grow a tree; see ``core/grow/grow.hpp``."""
    check_growth(columns, params)
    return _core.grow(list(columns), params)


def candidates(
    columns: Sequence[NDArray[Any]], params: dict[str, Any], primary: int
) -> list[dict[str, Any]]:
    """Score the best split of every feature over all rows given."""
    check_growth(columns, params)
    return _core.candidates(list(columns), params, primary)


def text_codes(
    values: NDArray[np.object_] | Sequence[Any],
) -> tuple[NDArray[np.int32], list[str]] | None:
    """A code for each text, −1 for a gap, and the distinct texts in the order they come.

    None where a value is neither text nor a gap (None, NaN), or where there is no text.
    """
    return _core.text_codes(values.tolist() if isinstance(values, np.ndarray) else list(values))
