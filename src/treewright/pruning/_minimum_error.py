"""Minimum-error pruning: errors to be expected of a leaf by the m-estimate.

The share of a class at a node is drawn towards its share among all rows, the more so the fewer
rows the node has: ``(n_k + m p_k) / (n + m)``. From below, a subtree gives way to a leaf if that
does not raise the expected error.

Niblett and Bratko (1986); Cestnik and Bratko (1991), *On estimating probabilities in tree pruning*,
EWSL.
"""

from __future__ import annotations

import numpy as np

from treewright.arguments import checked
from treewright.pruning._bottom_up import cheapest, cut, ended_here, need_classes
from treewright.tree.of_model import tree_of
from treewright.tree.tree import Tree

__all__ = ["minimum_error"]


@checked()
def minimum_error(tree: Tree, m: float = 2.0) -> Tree:
    """Replace, from below, every subtree whose expected error is not below a leaf's.

    Parameters
    ----------
    tree
        A grown classification tree, or its estimator.
    m
        Rows that the class shares of the whole training set count for at every node; 0 is the
        training error, larger values prune more. The number of classes gives Laplace's estimate
        where the classes are equally frequent.

    Returns
    -------
    Tree
        A new tree with its ``pruning_log``; the argument is not changed.

    Notes
    -----
    A node's error is that of its label. Where the tree was grown with costs or priors, errors
    are counted at the mean price of the node's training errors.

    References
    ----------
    Cestnik and Bratko (1991), *On estimating probabilities in tree pruning*, EWSL.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.pruning import minimum_error
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CARTClassifier().fit(X, y).tree_
    >>> [minimum_error(tree, m).n_leaves for m in (0, 2, 50)]
    [9, 7, 3]
    """
    tree = tree_of(tree)
    need_classes(tree, "minimum_error")
    n, label = tree.weight, tree.label
    right = tree.value[np.arange(tree.n_nodes), label]
    prior = (tree.value[0] / tree.weight[0])[label]
    total = np.where(n + m > 0, n + m, 1.0)
    rate = 1.0 - (right + m * prior) / total
    as_leaf = n * np.where(n > 0, rate, 0.0) * price_of_errors(tree)
    best = cheapest(tree, as_leaf, ended_here(tree))
    return cut(
        tree,
        best.becomes_leaf,
        "minimum error",
        f"errors expected by the m-estimate (m = {m:g}) are no more as a leaf than as a subtree",
        best.below,
        as_leaf,
        best.n_leaves,
    )


def price_of_errors(tree: Tree) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Mean price of the training errors of each node, 1 unless costs or priors say otherwise.

    A node without errors has the mean price of all leaves.
    """
    errors = tree.weight - tree.value[np.arange(tree.n_nodes), tree.label]
    paid = tree.risk * tree.weight[0]
    leaf = tree.is_leaf
    wrong = errors[leaf].sum()
    usual = paid[leaf].sum() / wrong if wrong > 1e-9 * tree.weight[0] else 1.0
    price = np.full(tree.n_nodes, usual)
    some = errors > 1e-9 * tree.weight[0]
    price[some] = paid[some] / errors[some]
    price[np.abs(price - 1.0) < 1e-9] = 1.0
    return price
