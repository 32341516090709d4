"""Error-based pruning behind its checks; see ``core/prune/error_based.hpp``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import treewright.kernels._core as _compiled
from treewright import kernels

__all__ = ["collapsible", "error_based", "weakest_links"]

_core = cast(Any, _compiled)


def error_based(
    columns: Sequence[NDArray[Any]],
    tree: Mapping[str, NDArray[np.int32]],
    splits: Mapping[str, NDArray[Any]],
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    rules: Mapping[str, Any],
    growth: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Prune a tree by expected errors; the arrays are those of a checked Tree and Table.

    With ``growth``, the parameters that the tree was grown with, raised branches are grown again
    as C5.0 does; ``"regrown"`` of the result holds the nodes of all trees grown so.
    """
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
    if any(len(rules.get(name, ())) not in (0, n_classes) for name in ("price", "factor")):
        raise ValueError("prices and factors must have one entry per class")
    if growth is not None:
        kernels.check_growth(columns, growth)
    return cast(
        dict[str, Any],
        _core.error_based(
            list(columns),
            dict(tree),
            dict(splits),
            np.ascontiguousarray(y, np.int32),
            None if weight is None else np.ascontiguousarray(weight, np.float64),
            n_classes,
            {"c50": False, "min_items": 2.0, "price": [], "factor": [], **rules},
            growth,
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


def weakest_links(
    first_child: NDArray[np.int32],
    n_children: NDArray[np.int32],
    errors: NDArray[np.float64],
    is_empty: NDArray[np.bool_],
    cases: float,
    start: float,
) -> NDArray[np.bool_]:
    """Nodes that C5.0's global pruning makes leaves; see ``core/prune/error_based.hpp``."""
    if not len(first_child) == len(n_children) == len(errors) == len(is_empty):
        raise ValueError("children, errors and emptiness must have one entry per node")
    return cast(
        NDArray[np.bool_],
        _core.weakest_links(
            first_child,
            n_children,
            np.ascontiguousarray(errors, np.float64),
            np.ascontiguousarray(is_empty, np.bool_),
            float(cases),
            float(start),
        ),
    )
