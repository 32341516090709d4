"""The name of the target, which a bare column of values does not bring along."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

__all__ = ["name_target"]


def name_target(estimator: Any, name: str) -> None:
    """Give a fitted model the name of its target, which ``predict`` ignores and ``show`` prints."""

    def named(model: Any) -> Any:
        schema = replace(model.schema, target=replace(model.schema.target, name=name))
        return replace(model, schema=schema)

    if hasattr(estimator, "_name_target"):
        estimator._name_target(name)
        return
    for part in ("tree_", "rules_"):
        if hasattr(estimator, part):
            setattr(estimator, part, named(getattr(estimator, part)))
    if hasattr(estimator, "estimators_"):
        estimator.estimators_ = [named(model) for model in estimator.estimators_]
