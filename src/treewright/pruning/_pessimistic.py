"""Pessimistic pruning: training errors plus a penalty for every leaf.

Quinlan's continuity correction, one half per leaf. No holdout and no cross-validation: a
subtree is replaced by a leaf when that does not raise the pessimistic estimate.

Quinlan (1987), *Simplifying decision trees*, Int. J. Man-Machine Studies 27.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.tree.tree import Tree

__all__ = ["pessimistic", "pessimistic_error"]


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

    Examples
    --------
    >>> pessimistic_error(errors=10, leaves=30, n=1000)
    0.025
    """
    if not n > 0:
        raise ParameterError(f"n must be a positive number of rows, got {n!r}; pass their count.")
    return (errors + penalty * leaves) / n


def pessimistic(tree: Tree, penalty: float = 0.5) -> Tree:
    """Replace, from below, every subtree that is not better than a leaf under a penalty.

    A node becomes a leaf when ``its errors + penalty <= errors below it + penalty * leaves
    below it``. Errors are weighted training errors, or costs if the tree was grown with costs.

    Parameters
    ----------
    tree
        A grown classification tree.
    penalty
        Errors added for each leaf.

    Returns
    -------
    Tree
        A new tree; the argument is not changed.

    References
    ----------
    Quinlan (1987), *Simplifying decision trees*, Int. J. Man-Machine Studies 27.
    """
    if not penalty >= 0:
        raise ParameterError(f"penalty must be a number not below 0, got {penalty!r}; use 0.5.")
    target = tree.schema.target
    if target is None or not target.is_classification:
        raise ParameterError(
            "pessimistic counts training errors, so it needs a classification tree, got a "
            "regression tree; use cost_complexity."
        )
    return tree.collapse(_not_worth_it(tree, penalty))


def _not_worth_it(tree: Tree, penalty: float) -> NDArray[np.bool_]:
    """Nodes whose subtree, pruned from below, does not beat a leaf."""
    as_leaf = (tree.risk * tree.weight[0] + penalty).tolist()
    estimate = list(as_leaf)  # of the pruned subtree
    first, count = tree.first_child.tolist(), tree.n_children.tolist()
    # Errors are shares scaled back, so equal estimates differ in their last bits.
    slack = 1e-12 * max(map(abs, as_leaf))
    collapse = np.zeros(tree.n_nodes, np.bool_)
    for t in range(tree.n_nodes - 1, -1, -1):
        if count[t]:
            below = sum(estimate[first[t] : first[t] + count[t]])
            collapse[t] = as_leaf[t] <= below + slack
            estimate[t] = min(as_leaf[t], below)
    return collapse
