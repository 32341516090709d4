"""How large a fitted model is: leaves, rules, coefficients, or all of its members'."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.errors import ParameterError

__all__ = ["size_of"]


def size_of(model: Any) -> float:
    """Leaves of a tree, rules, coefficients that are not 0, or the sum over members.

    Examples
    --------
    >>> from treewright import CARTClassifier
    >>> size_of(CARTClassifier().fit([[1.0], [2.0]], ["a", "b"]))
    2.0
    """
    for name in ("rules_", "tree_"):
        if hasattr(model, name):
            part = getattr(model, name)
            return float(part.n_leaves if name == "tree_" else len(part))
    if hasattr(model, "steps"):  # a pipeline
        return size_of(model[-1])
    if hasattr(model, "estimators_"):
        members = np.ravel(np.asarray(model.estimators_, object))
        return float(sum(size_of(member) for member in members.tolist()))
    for name in ("coef_", "coefficients_"):
        if hasattr(model, name):
            return float(np.count_nonzero(getattr(model, name)))
    raise ParameterError(
        f"simplest_within needs the size of a model, which {type(model).__name__} does not tell; "
        "pass size= a function of the fitted model."
    )
