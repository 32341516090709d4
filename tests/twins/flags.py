"""Numpy twin of ``core/data/flags.cpp``: what a float matrix holds besides finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FLAG_GAP", "FLAG_INFINITY", "float_flags"]

FLAG_GAP = 1
FLAG_INFINITY = 2


def float_flags(array: NDArray[np.floating[Any]], n_threads: int = 1) -> NDArray[np.uint8]:
    """Bits per column of a 2-d float array: 1 if it holds a gap (NaN), 2 if an infinity."""
    gaps = np.isnan(array).any(axis=0).astype(np.uint8)
    infinities = np.isinf(array).any(axis=0).astype(np.uint8)
    flags: NDArray[np.uint8] = gaps * np.uint8(FLAG_GAP) | infinities * np.uint8(FLAG_INFINITY)
    return flags
