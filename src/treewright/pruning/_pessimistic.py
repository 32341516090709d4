"""Pessimistic pruning: training errors plus a penalty for every leaf.

Two ways. The course's, with Quinlan's continuity correction of one half per leaf: from below, a
subtree is replaced by a leaf when that does not raise the estimate. Quinlan's own: from above, a
subtree is cut when the estimate of the leaf lies within one standard error of the subtree's, and
the subtree is judged as it was grown, so that nothing below a cut is looked at.

Quinlan (1987), *Simplifying decision trees*, Int. J. Man-Machine Studies 27.
"""

from __future__ import annotations

import numpy as np

from treewright.arguments import ROWS, checked, number
from treewright.kernels.prune import subtree_sums
from treewright.pruning._bottom_up import (
    TIE,
    cheapest,
    cut,
    ended_here,
    need_classes,
    training_errors,
)
from treewright.tree.collapse import below_any
from treewright.tree.of_model import tree_of
from treewright.tree.tree import Tree

__all__ = ["pessimistic", "pessimistic_error"]


@checked(errors=number(0), leaves=number(0), n=ROWS)
def pessimistic_error(errors: float, leaves: float, n: float, penalty: float = 0.5) -> float:
    """Pessimistic estimate of the error rate of a tree.

    Parameters
    ----------
    errors
        Training errors.
    leaves
        Number of leaves.
    n
        Training rows.
    penalty
        Errors added for each leaf.

    Returns
    -------
    float
        ``(errors + penalty * leaves) / n``.

    Examples
    --------
    >>> from treewright.pruning import pessimistic_error
    >>> pessimistic_error(errors=10, leaves=30, n=1000)
    0.025
    """
    return (errors + penalty * leaves) / n


@checked()
def pessimistic(tree: Tree, penalty: float = 0.5, *, standard_error: bool = False) -> Tree:
    """Replace every subtree that is not better than a leaf under a penalty for leaves.

    A node becomes a leaf when ``its errors + penalty <= errors below it + penalty * leaves
    below it``. Errors are weighted training errors, or costs if the tree was grown with costs.

    Parameters
    ----------
    tree
        A grown classification tree, or its estimator.
    penalty
        Errors added for each leaf.
    standard_error
        False decides from below. True is Quinlan's rule: from above, a node becomes a leaf when
        its estimate is at most that of the whole subtree plus the standard error of that.

    Returns
    -------
    Tree
        A new tree with its ``pruning_log``; the argument is not changed.

    References
    ----------
    Quinlan (1987), *Simplifying decision trees*, Int. J. Man-Machine Studies 27.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.pruning import pessimistic
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CARTClassifier().fit(X, y).tree_
    >>> pessimistic(tree).n_leaves, pessimistic(tree, standard_error=True).n_leaves
    (7, 4)
    """
    tree = tree_of(tree)
    need_classes(tree, "pessimistic")
    if standard_error:
        return _within_one_error(tree, penalty)
    as_leaf = training_errors(tree) + penalty
    best = cheapest(tree, as_leaf, ended_here(tree))
    return cut(
        tree,
        best.becomes_leaf,
        "pessimistic",
        f"errors and {penalty:g} per leaf are no more as a leaf than as a subtree",
        best.below,
        as_leaf,
        best.n_leaves,
    )


def _within_one_error(tree: Tree, penalty: float) -> Tree:
    """Quinlan's rule, from above."""
    errors = training_errors(tree)
    own = np.column_stack([np.where(tree.is_leaf, errors, ended_here(tree)), tree.is_leaf])
    below, n_leaves = subtree_sums(tree.first_child, tree.n_children, own).T
    estimate = below + penalty * n_leaves
    weight = np.where(tree.weight > 0, tree.weight, 1.0)
    spread = np.sqrt(np.maximum(estimate * (1.0 - estimate / weight), 0.0))
    as_leaf = errors + penalty
    passes = as_leaf <= estimate + spread + TIE * as_leaf.max()
    marked = passes & ~tree.is_leaf
    return cut(
        tree,
        marked & ~below_any(tree, marked),
        "pessimistic",
        f"errors and {penalty:g} per leaf are no more as a leaf than as a subtree and one "
        "standard error",
        estimate + spread,
        as_leaf,
        n_leaves.astype(np.int64),
    )
