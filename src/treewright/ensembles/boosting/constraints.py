"""Constraints of boosters: which features may act together."""

from __future__ import annotations

from typing import Any

from treewright.data.schema import Schema
from treewright.errors import ParameterError

__all__ = ["interaction_groups"]


def interaction_groups(given: Any, schema: Schema) -> list[list[int]]:
    """Groups of features as numbers; none without limits."""
    if given is None:
        return []
    groups = []
    for group in given:
        if isinstance(group, str) or not hasattr(group, "__iter__"):
            raise ParameterError(
                f"interaction_cst must be a list of groups, got {group!r} in the place of one; "
                'write [["a", "b"], ["c"]].'
            )
        groups.append(sorted({_number(feature, schema) for feature in group}))
    return groups


def _number(feature: Any, schema: Schema) -> int:
    if isinstance(feature, str) and feature in schema.names:
        return schema.index(feature)
    if not isinstance(feature, str | bool) and 0 <= int(feature) < len(schema):
        return int(feature)
    raise ParameterError(
        f"interaction_cst must hold features of the data, got {feature!r}; the first are "
        f"{', '.join(map(repr, schema.names[:5]))}."
    )
