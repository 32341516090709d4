"""Linear tests of a node behind their checks; see ``core/oblique/search.hpp``."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import treewright.kernels._core as _compiled

__all__ = ["linear_split"]

_core = cast(Any, _compiled)

Floats = NDArray[np.float64]


def linear_split(
    columns: Floats,
    targets: Floats,
    weight: Floats,
    starts: Floats,
    *,
    refine: bool = False,
    n_jumps: int = 0,
    tolerance: float | None = None,
    seed: int = 0,
    min_leaf: int = 1,
    mass: Floats | None = None,
    min_mass: float = 0.0,
) -> tuple[Floats, float, float]:
    """Coefficients, threshold and gain of the best linear test; no coefficients if there is none.

    Parameters
    ----------
    columns
        One row per feature, without gaps.
    targets, weight
        Indicators of the classes or outputs, and the weight, of each row of the node.
    starts
        Directions to cut, one per row.
    refine, n_jumps
        Whether coefficients are changed one by one, and random directions tried beside that.
    tolerance
        Share of the gain that may be lost for a coefficient less; None deletes nothing.
    min_leaf, mass, min_mass
        Rows that each side needs; weight of each row (None: ``weight``) and what each side needs
        of it.
    """
    n_columns, n_rows = columns.shape
    mass = weight if mass is None else mass
    if any(len(part) != n_rows for part in (targets, weight, mass)) or starts.shape[1] != n_columns:
        raise ValueError("columns, targets, weight and starts do not belong together")
    if n_rows == 0 or not all(np.isfinite(part).all() for part in (columns, targets, starts)):
        raise ValueError("there must be rows, and all numbers must be finite")
    found = _core.linear_split(
        np.ascontiguousarray(columns, np.float64),
        np.ascontiguousarray(targets, np.float64),
        np.ascontiguousarray(weight, np.float64),
        np.ascontiguousarray(starts, np.float64),
        refine,
        n_jumps,
        -1.0 if tolerance is None else tolerance,
        seed,
        np.ascontiguousarray(mass, np.float64),
        min_leaf,
        min_mass,
    )
    return cast(tuple[Floats, float, float], found)
