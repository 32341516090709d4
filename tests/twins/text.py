"""Codes of texts, as ``core/data/text_codes.cpp`` finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["text_codes"]


def text_codes(values: Sequence[Any]) -> tuple[NDArray[np.int32], list[str]] | None:
    """A code for each text, −1 for a gap, and the distinct texts in the order they come.

    None where a value is neither text nor a gap (None, NaN), or where there is no text.
    """
    is_gap = [value is None or (isinstance(value, float) and value != value) for value in values]
    texts = [value for value, gap in zip(values, is_gap, strict=True) if not gap]
    if not texts or not all(isinstance(text, str) for text in texts):
        return None
    try:
        [text.encode() for text in texts]
    except UnicodeEncodeError:
        return None
    found, first, inverse = np.unique(
        np.array([str(text) for text in texts], dtype=object),
        return_index=True,
        return_inverse=True,
    )
    order = np.argsort(first)
    codes = np.full(len(values), -1, np.int32)
    codes[~np.array(is_gap)] = np.argsort(order)[inverse]
    return codes, found[order].tolist()
