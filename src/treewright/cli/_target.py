"""The name of the target, which a bare column of values does not bring along."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

__all__ = ["name_target"]


def name_target(estimator: Any, name: str) -> None:
    """Give a fitted tree the name of its target, which ``predict`` ignores and ``show`` prints."""
    tree = estimator.tree_
    schema = replace(tree.schema, target=replace(tree.schema.target, name=name))
    estimator.tree_ = replace(tree, schema=schema)
