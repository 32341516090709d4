"""The tree that a function was given, or that of the estimator it was given instead."""

from __future__ import annotations

from typing import Any

from treewright.errors import ParameterError
from treewright.tree.tree import Tree

__all__ = ["tree_of"]


def tree_of(model: Any) -> Tree:
    """A tree as it is, and the tree of an estimator fitted to one.

    Examples
    --------
    >>> from treewright import CARTClassifier
    >>> from treewright.tree.of_model import tree_of
    >>> tree_of(CARTClassifier())
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: tree must be a Tree or an estimator fitted to one, got
    CARTClassifier; fit it first.
    """
    tree = model if isinstance(model, Tree) else getattr(model, "tree_", None)
    if isinstance(tree, Tree):
        return tree
    raise ParameterError(
        f"tree must be a Tree or an estimator fitted to one, got {_name(model)}; "
        f"{_way_out(model, tree)}."
    )


def _name(model: Any) -> str:
    return f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__


def _way_out(model: Any, tree: Any) -> str:
    if isinstance(model, type):
        return "create one and fit it"
    if hasattr(model, "__sklearn_is_fitted__") and not model.__sklearn_is_fitted__():
        return "fit it first"
    if hasattr(model, "estimators_"):
        return "of an ensemble take a member of estimators_"
    if tree is not None:
        return "turn it into ours by treewright.from_sklearn"
    return "pass model.tree_"
