"""Chi-squared pruning: splits that could be chance are cut, from below.

A node whose children are leaves becomes a leaf if the target is independent of its branches, and
so on upwards. A split that is not significant stays as long as a significant one lies below it.

Quinlan (1986), *Induction of decision trees*, Machine Learning 1, for the test.
"""

from __future__ import annotations

import numpy as np

from treewright.arguments import checked
from treewright.pruning._critical_value import keep_above
from treewright.tree.growing.significance import split_p_values
from treewright.tree.of_model import tree_of
from treewright.tree.tree import Tree

__all__ = ["chi_squared"]


@checked()
def chi_squared(tree: Tree, alpha: float = 0.05, *, corrections: bool = True) -> Tree:
    """Cut splits that are not significant and have no significant split below.

    Parameters
    ----------
    tree
        A grown tree, or its estimator. The branches of a classification tree are tested by
        chi-squared against the classes, those of a regression tree by the F test.
    alpha
        Largest p-value of a split that stays.
    corrections
        Whether small 2 × 2 tables get Fisher's exact test (an expected count below 5) or Yates'
        correction (below 10).

    Returns
    -------
    Tree
        A new tree with its ``pruning_log``; the argument is not changed.

    Notes
    -----
    A split was chosen among many, so its p-value is too small; a small ``alpha`` makes up for it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.pruning import chi_squared
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CARTClassifier().fit(X, y).tree_
    >>> chi_squared(tree, 0.001).n_leaves
    4
    """
    tree = tree_of(tree)
    p = split_p_values(tree, corrections=corrections)
    test = "chi-squared" if len(tree.label) else "F"
    words = f"p of the {test} test of branch against target is above {alpha:g}, here and below"
    limit = np.full(tree.n_nodes, float(alpha))
    return keep_above(tree, p <= alpha, p, "chi-squared", words, limit)
