"""Row weights as users give them, and whether rows and targets belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import DataError

__all__ = ["check_lengths", "read_weights"]


def read_weights(
    sample_weight: Any, n_samples: int
) -> tuple[NDArray[np.float64] | None, NDArray[np.bool_] | None]:
    """Weights of the rows that take part, and their mask; None for ones, and for all rows."""
    if sample_weight is None:
        return None, None
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "sample_weight must hold numbers, "
            f"got {type(sample_weight).__name__} that cannot be read as such."
        ) from None
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise DataError(
            f"sample_weight must hold one weight for each of the {n_samples} rows, "
            f"got shape {weight.shape}."
        )
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        row = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
        raise DataError(
            f"sample_weight must be finite and at least 0, got {weight[row]} in row {row}; "
            "give a row that is to be left out the weight 0."
        )
    used = weight > 0
    rows = None
    if not used.all():
        rows = used
        weight = weight[rows]
        if not len(weight):
            raise DataError(
                "sample_weight must be above 0 in at least one row, got zero weight everywhere; "
                "leave it out to weigh all rows alike."
            )
    return (None if np.all(weight == 1.0) else weight), rows


def check_lengths(n_rows: int, n_targets: int) -> None:
    """Refuse a table and a target of different lengths."""
    if n_rows != n_targets:
        raise DataError(
            f"X and y must have the same number of rows, got {n_rows} and {n_targets}; "
            "they come from different tables, or one was filtered."
        )
