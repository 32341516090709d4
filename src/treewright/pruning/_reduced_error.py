"""Reduced-error pruning: rows that did not grow the tree decide about every subtree.

From below, a subtree gives way to a leaf if the leaf makes no more errors on the validation rows.
The result is the most accurate pruning on these rows, and the smallest of the most accurate ones.
Every row goes down once, and the counts are then added up towards the root: the work is rows ×
depth, whatever the number of nodes.

Quinlan (1987), *Simplifying decision trees*, Int. J. Man-Machine Studies 27.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import checked
from treewright.errors import DataError
from treewright.kernels.prune import subtree_sums
from treewright.pruning._bottom_up import cheapest, cut
from treewright.pruning._rows import read_rows
from treewright.tree.of_model import tree_of
from treewright.tree.predict import ends
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.data.table import Table

__all__ = ["prune_by_validation", "reduced_error"]

Floats = NDArray[np.float64]


@checked()
def reduced_error(
    tree: Tree, X_val: Any, y_val: Any, sample_weight: Any = None, *, costs: Any = None
) -> Tree:
    """Replace, from below, every subtree that is no better than a leaf on rows held out.

    Parameters
    ----------
    tree
        A grown tree, for classes or numbers, or its estimator.
    X_val, y_val, sample_weight
        Rows that did not grow it. A subtree that none of them reaches becomes a leaf.
    costs
        ``costs[i, j]`` of predicting class j where i is true, in the order of the tree's classes;
        None counts errors. Numbers are judged by their squared error.

    Returns
    -------
    Tree
        A new tree with its ``pruning_log``; the argument is not changed.

    References
    ----------
    Quinlan (1987), *Simplifying decision trees*, Int. J. Man-Machine Studies 27.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from treewright import CARTClassifier
    >>> from treewright.pruning import reduced_error
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = CARTClassifier().fit(X[::2], y[::2]).tree_
    >>> pruned = reduced_error(tree, X[1::2], y[1::2])
    >>> tree.n_leaves > pruned.n_leaves
    True
    """
    tree = tree_of(tree)
    table, y, weight = read_rows(tree, X_val, y_val, sample_weight, "the validation set")
    matrix = None if costs is None else _cost_matrix(tree, costs)
    return prune_by_validation(tree, table, y, weight, matrix)


def prune_by_validation(
    tree: Tree,
    table: Table,
    y: NDArray[Any],
    weight: Floats | None,
    costs: Floats | None = None,
    n_threads: int = 1,
) -> Tree:
    """The same with rows that are encoded already; ``y`` holds class codes or numbers."""
    rows, nodes, shares = ends(tree, table, n_threads)
    shares = shares if weight is None else shares * weight[rows]
    errors = _class_errors if len(tree.label) else _squared_errors
    as_leaf, stopped = errors(tree, nodes, y[rows], shares, costs)
    best = cheapest(tree, as_leaf, stopped)
    unit = "squared error" if not len(tree.label) else "errors" if costs is None else "cost"
    return cut(
        tree,
        best.becomes_leaf,
        "reduced error",
        f"a leaf makes no more {unit} on {table.n_rows} validation rows than the subtree",
        best.below,
        as_leaf,
        best.n_leaves,
    )


def _class_errors(
    tree: Tree, nodes: NDArray[np.int32], y: NDArray[Any], weight: Floats, costs: Floats | None
) -> tuple[Floats, Floats]:
    """Cost of each node as a leaf, and of the rows that end there though it is split."""
    n, k = tree.value.shape
    factor = tree.schema.target.class_factor if tree.schema.target is not None else ()
    if factor:
        weight = weight * np.asarray(factor)[y]
    cell = nodes.astype(np.int64) * k + y
    own = np.bincount(cell, weight, n * k).reshape(n, k)
    loss = (1.0 - np.eye(k) if costs is None else costs).T[tree.label]
    stopped = np.where(tree.is_leaf, 0.0, (own * loss).sum(axis=1))
    return (subtree_sums(tree.first_child, tree.n_children, own) * loss).sum(axis=1), stopped


def _squared_errors(
    tree: Tree, nodes: NDArray[np.int32], y: NDArray[Any], weight: Floats, costs: Any
) -> tuple[Floats, Floats]:
    """The same for numbers; of several outputs, the mean of theirs."""
    if costs is not None:
        raise DataError("costs are for classes, got a regression tree; leave them out.")
    n, width = tree.value.shape
    target = y.reshape(len(y), -1)
    as_leaf, stopped = np.zeros(n), np.zeros(n)
    for k in range(width):
        # around the root's mean, so that squares of large numbers do not cancel
        centre = tree.value[0, k]
        z, mean = target[:, k] - centre, tree.value[:, k] - centre
        moments = [np.bincount(nodes, weight * z**p, n) for p in range(3)]
        own = np.column_stack(moments)
        for sums, total in (
            (subtree_sums(tree.first_child, tree.n_children, own), as_leaf),
            (own, stopped),
        ):
            error = sums[:, 2] - 2 * mean * sums[:, 1] + mean**2 * sums[:, 0]
            total += np.maximum(error, 0.0) / width
    return as_leaf, np.where(tree.is_leaf, 0.0, stopped)


def _cost_matrix(tree: Tree, costs: Any) -> Floats:
    n = len(tree.schema.target.classes) if tree.schema.target is not None else 0
    try:
        matrix = np.asarray(costs, np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (n, n) or not np.all(np.isfinite(matrix)):
        raise DataError(
            f"costs must be a finite {n} × {n} matrix, a row per true class, got shape "
            f"{matrix.shape}; pass one entry for each pair of the tree's classes."
        )
    return matrix
