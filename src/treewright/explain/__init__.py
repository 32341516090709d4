"""Why a model answers as it does.

``shap_values``, ``importances`` and ``partial_dependence`` tell of features, ``nearest_change`` of
one row, ``leaf_rules``, ``representative_tree`` and ``surrogate_tree`` give something smaller to
read, ``teach`` tells how a tree was grown. Names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treewright.explain._change import Change, nearest_change
    from treewright.explain._dependence import Dependence, partial_dependence
    from treewright.explain._importance import Importances, importances
    from treewright.explain._leaf_rules import LeafRules, leaf_rules
    from treewright.explain._result import ShapValues
    from treewright.explain._shap import shap_values
    from treewright.explain._stand_ins import (
        RepresentativeTree,
        SurrogateTree,
        representative_tree,
        surrogate_tree,
    )
    from treewright.explain._teach import Lesson, teach
    from treewright.explain._trace import Trace

_HOMES = {
    "Change": "treewright.explain._change",
    "Dependence": "treewright.explain._dependence",
    "Importances": "treewright.explain._importance",
    "LeafRules": "treewright.explain._leaf_rules",
    "Lesson": "treewright.explain._teach",
    "RepresentativeTree": "treewright.explain._stand_ins",
    "ShapValues": "treewright.explain._result",
    "SurrogateTree": "treewright.explain._stand_ins",
    "Trace": "treewright.explain._trace",
    "importances": "treewright.explain._importance",
    "leaf_rules": "treewright.explain._leaf_rules",
    "nearest_change": "treewright.explain._change",
    "partial_dependence": "treewright.explain._dependence",
    "representative_tree": "treewright.explain._stand_ins",
    "shap_values": "treewright.explain._shap",
    "surrogate_tree": "treewright.explain._stand_ins",
    "teach": "treewright.explain._teach",
}

__all__ = [
    "Change",
    "Dependence",
    "Importances",
    "LeafRules",
    "Lesson",
    "RepresentativeTree",
    "ShapValues",
    "SurrogateTree",
    "Trace",
    "importances",
    "leaf_rules",
    "nearest_change",
    "partial_dependence",
    "representative_tree",
    "shap_values",
    "surrogate_tree",
    "teach",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'treewright.explain' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
