"""Error-based pruning behind its checks; see ``core/error_based.hpp``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import treewright.kernels._core as _compiled

__all__ = ["collapsible", "error_based"]

_core = cast(Any, _compiled)


def error_based(
    columns: Sequence[NDArray[Any]],
    tree: Mapping[str, NDArray[np.int32]],
    splits: Mapping[str, NDArray[Any]],
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    rules: Mapping[str, Any],
) -> dict[str, NDArray[Any]]:
    """Prune a tree by expected errors; the arrays are those of a checked Tree and Table."""
    n_rows = len(y)
    if any(column.ndim != 1 or len(column) != n_rows for column in columns):
        raise ValueError("columns and target must be one-dimensional and of equal length")
    if n_rows and (y.min() < 0 or y.max() >= n_classes):
        raise ValueError("a class code is out of range")
    if weight is not None and len(weight) != n_rows:
        raise ValueError("weights must have one entry per row")
    feature = splits["feature"]
    if len(feature) != len(tree["first_child"]) or feature.max(initial=-1) >= len(columns):
        raise ValueError("splits and nodes do not belong together")
    return cast(
        dict[str, NDArray[Any]],
        _core.error_based(
            list(columns),
            dict(tree),
            dict(splits),
            np.ascontiguousarray(y, np.int32),
            None if weight is None else np.ascontiguousarray(weight, np.float64),
            n_classes,
            dict(rules),
        ),
    )


def collapsible(
    first_child: NDArray[np.int32],
    n_children: NDArray[np.int32],
    errors: NDArray[np.float64],
    epsilon: float,
) -> NDArray[np.bool_]:
    """Nodes whose subtree makes no fewer errors than they would as leaves, less ``epsilon``."""
    if not len(first_child) == len(n_children) == len(errors):
        raise ValueError("children and errors must have one entry per node")
    return cast(
        NDArray[np.bool_],
        _core.collapsible(
            first_child, n_children, np.ascontiguousarray(errors, np.float64), float(epsilon)
        ),
    )
