"""Parameters and columns for the tests of boosting kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["PARAMS", "columns_of"]

PARAMS: dict[str, Any] = {
    "growth": "leaf",
    "max_leaves": 12,
    "max_depth": 0,
    "min_rows": 3,
    "min_hessian": 1e-3,
    "l1": 0.0,
    "l2": 0.0,
    "min_gain": 0.0,
    "max_step": 0.0,
    "nominal_smoothing": 10.0,
    "nominal_l2": 10.0,
    "nominal_max_groups": 0,
    "tree_share": 1.0,
    "level_share": 1.0,
    "node_share": 1.0,
    "monotonic": [],
    "interactions": [],
    "seed": 0,
    "n_columns": 1,
    "loss_number": 0.0,
    "sampling": "uniform",
    "share": 1.0,
    "top_share": 0.0,
}


def columns_of(rng: np.random.Generator, n: int) -> tuple[list[Any], list[int]]:
    """Continuous with gaps, few values, ordinal and nominal columns."""
    x = rng.normal(size=n)
    x[rng.random(n) < 0.2] = np.nan
    few = rng.integers(0, 4, n).astype(np.float32)
    ordinal = rng.integers(-1, 6, n).astype(np.int32)
    nominal = rng.integers(-1, 9, n).astype(np.int32)
    return [x, few, ordinal, nominal, rng.normal(size=n)], [-1, -1, -1, 9, -1]
