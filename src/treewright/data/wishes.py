"""Kinds that the user asks for: ``categorical_features`` and ``ordinal_features`` by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from treewright.data.categories import listed, plain_values
from treewright.data.frames import Frame
from treewright.data.schema import Kind
from treewright.errors import ParameterError

__all__ = ["Wish", "read_wishes"]

Wish = tuple[Kind, tuple[Any, ...]]
"""A kind the user asked for, and for an ordinal feature its order."""


def read_wishes(
    frame: Frame, categorical: Any, ordinal: Mapping[Any, Sequence[Any]] | None
) -> dict[int, Wish]:
    """Column number → kind and order, where the user overrides the type."""
    wishes: dict[int, Wish] = {}
    for j in _categorical_positions(frame, categorical):
        wishes[j] = ("nominal", ())
    for key, order in _checked_orders(ordinal).items():
        j = _position(frame, key, "ordinal_features")
        if j in wishes:
            raise ParameterError(
                f"A feature must be nominal or ordinal, but {key!r} is in categorical_features "
                "and in ordinal_features; keep one."
            )
        wishes[j] = ("ordinal", order)
    return wishes


def _categorical_positions(frame: Frame, wanted: Any) -> list[int]:
    if isinstance(wanted, str) and wanted == "from_dtype":
        return []
    if wanted is None or isinstance(wanted, str | bytes | Mapping):
        raise _categorical_error(repr(wanted))
    try:
        items = list(wanted)
    except TypeError:
        raise _categorical_error(repr(wanted)) from None
    kinds = {_item_kind(item) for item in items}
    if len(kinds) > 1 or "other" in kinds:
        raise _categorical_error(listed(items))
    if kinds == {"mask"}:
        if len(items) != frame.n_columns:
            raise ParameterError(
                f"categorical_features as a mask must have one entry for each of the "
                f"{frame.n_columns} columns, got {len(items)}; pass names instead."
            )
        return [j for j, item in enumerate(items) if item]
    return [_position(frame, item, "categorical_features") for item in items]


def _item_kind(item: Any) -> str:
    if isinstance(item, bool | np.bool_):
        return "mask"
    if isinstance(item, int | np.integer):
        return "index"
    return "name" if isinstance(item, str) else "other"


def _categorical_error(came: str) -> ParameterError:
    return ParameterError(
        'categorical_features must be "from_dtype" or a list of names, a boolean mask or indices, '
        f"got {came}; list the columns that are nominal."
    )


def _position(frame: Frame, key: Any, parameter: str) -> int:
    """Column number of a name or index that ``parameter`` mentions."""
    n = frame.n_columns
    if isinstance(key, str):
        names = frame.names or tuple(f"x{j}" for j in range(n))
        if key in names:
            return names.index(key)
        raise ParameterError(
            f"{parameter} must name columns of X, but there is no {key!r}; "
            f"the columns are {listed(names, most=8)}."
        )
    if isinstance(key, int | np.integer) and 0 <= key < n:
        return int(key)
    raise ParameterError(
        f"{parameter} must give names, or indices from 0 to {n - 1}, got {key!r}; "
        "count columns from 0."
    )


def _checked_orders(ordinal: Any) -> dict[Any, tuple[Any, ...]]:
    if ordinal is None:
        return {}
    if not isinstance(ordinal, Mapping):
        raise ParameterError(
            "ordinal_features must be a dict from name to the values in order, "
            f"got {type(ordinal).__name__}; write {{'size': ['small', 'large']}}."
        )
    orders = {}
    for key, values in ordinal.items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise ParameterError(
                f"ordinal_features[{key!r}] must list the values in order, got {values!r}; "
                "write a list."
            )
        order = tuple(plain_values(values, str(key)))
        if not order or None in order or len(set(order)) < len(order):
            raise ParameterError(
                f"ordinal_features[{key!r}] must list each value once and no gap, "
                f"got {list(values)!r}; correct the list."
            )
        orders[key] = order
    return orders
