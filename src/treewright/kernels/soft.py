"""Soft thresholds behind their checks; see ``core/quinlan/soft.hpp``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import treewright.kernels._core as _compiled

__all__ = ["soft_bounds", "soft_values"]

_core = cast(Any, _compiled)

Floats = NDArray[np.float64]
NODES = ("first_child", "n_children", "weight", "label")
BOUNDS = ("lower", "middle", "upper")


def soft_bounds(
    columns: Sequence[NDArray[Any]],
    tree: Mapping[str, NDArray[Any]],
    splits: Mapping[str, NDArray[Any]],
    y: NDArray[np.int32],
    weight: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Lower bound, middle and upper bound of each node's cut, NaN where there is none.

    The arrays are those of a checked Tree and Table; ``tree`` holds ``first_child``,
    ``n_children``, ``weight`` and ``label``.
    """
    _check(columns, len(y), tree, splits, NODES)
    if len(weight) != len(y):
        raise ValueError("weights must have one entry per row")
    found = _core.soft_bounds(
        list(columns),
        dict(tree),
        dict(splits),
        np.ascontiguousarray(y, np.int32),
        np.ascontiguousarray(weight, np.float64),
    )
    return cast(tuple[Floats, Floats, Floats], found)


def soft_values(
    columns: Sequence[NDArray[Any]],
    n_rows: int,
    tree: Mapping[str, NDArray[Any]],
    splits: Mapping[str, NDArray[Any]],
    values: Floats,
    n_threads: int = 1,
) -> Floats:
    """Mean of the entries of ``values`` over the leaves that each row reaches, by its shares.

    ``tree`` holds the bounds ``lower``, ``middle`` and ``upper`` besides.
    """
    _check(columns, n_rows, tree, splits, (*NODES[:3], *BOUNDS))
    if values.ndim != 2 or len(values) != len(tree["first_child"]):
        raise ValueError("values must have one row per node")
    found = _core.soft_values(
        list(columns),
        n_rows,
        dict(tree),
        dict(splits),
        np.ascontiguousarray(values, np.float64),
        n_threads,
    )
    return cast(Floats, found)


def _check(
    columns: Sequence[NDArray[Any]],
    n_rows: int,
    tree: Mapping[str, NDArray[Any]],
    splits: Mapping[str, NDArray[Any]],
    names: Sequence[str],
) -> None:
    if any(column.ndim != 1 or len(column) != n_rows for column in columns):
        raise ValueError("columns must be one-dimensional and of equal length")
    n_nodes = len(splits["feature"])
    if any(len(tree[name]) != n_nodes for name in names):
        raise ValueError("splits and nodes do not belong together")
    if splits["feature"].max(initial=-1) >= len(columns):
        raise ValueError("a split is on a feature that the table does not have")
