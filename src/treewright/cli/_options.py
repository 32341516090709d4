"""Words of the command line that become Python values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from treewright.errors import DataError, ParameterError, suggest

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "leave_out",
    "parse_list",
    "parse_orders",
    "parse_settings",
    "parse_value",
    "require_column",
    "suggest",
]


def parse_list(text: str | None) -> list[str] | None:
    """``"a, b"`` as ``["a", "b"]``; None stays None."""
    return None if text is None else [part.strip() for part in text.split(",")]


def parse_settings(settings: Sequence[str], allowed: Iterable[str], learner: str) -> dict[str, Any]:
    """``["max_depth=3", "criterion=entropy"]`` as keyword arguments of ``learner``.

    A value is read as a Python literal where it is one, ``true`` and ``false`` too, else as text.
    """
    names = sorted(allowed)
    parsed: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals:
            raise ParameterError(f"--set takes key=value, got {setting!r}.")
        if name not in names:
            raise ParameterError(
                f"--set names a parameter that {learner} does not have: {name!r}."
                f"{suggest(name, names)}"
            )
        parsed[name] = parse_value(text)
    return parsed


def parse_value(text: str) -> Any:
    """A Python literal where the text is one, ``true`` and ``false`` too, else the text."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return {"true": True, "false": False}.get(text.strip(), text.strip())


def parse_orders(orders: Sequence[str]) -> dict[str, list[str]]:
    """``["size=small<medium<large"]`` as ``{"size": ["small", "medium", "large"]}``."""
    parsed = {}
    for order in orders:
        name, equals, text = order.partition("=")
        levels = [level.strip() for level in text.split("<")]
        if not equals or len(levels) < 2 or "" in levels:
            raise ParameterError(
                f"--ordinal takes column=low<middle<high with two levels or more, got {order!r}."
            )
        parsed[name.strip()] = levels
    return parsed


def leave_out(table: pa.Table, drop: str | None, target: str) -> pa.Table:
    """The table without the columns of ``--drop``."""
    names = parse_list(drop) or []
    for name in names:
        require_column(name, table.column_names, "--drop")
    if target in names:
        raise DataError(f"--drop must leave the target, got {target!r}; name other columns.")
    return table.drop_columns(names)


def require_column(name: str, names: Sequence[str], option: str) -> None:
    """Refuse a column that the data do not have, with the names that come close."""
    if name not in names:
        raise DataError(
            f"{option} names a column that the data do not have: {name!r}.{suggest(name, names)}"
        )
