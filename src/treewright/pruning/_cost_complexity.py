"""Cost-complexity pruning of a grown tree at a given complexity."""

from __future__ import annotations

import numpy as np

from treewright.arguments import checked
from treewright.errors import ParameterError
from treewright.pruning._bottom_up import cheapest, cut
from treewright.pruning._sequence import PruningSequence, Risk, node_risk, pruning_sequence
from treewright.tree.of_model import tree_of
from treewright.tree.tree import Tree

__all__ = ["cost_complexity", "prune_sequence"]


@checked()
def cost_complexity(
    tree: Tree,
    ccp_alpha: float | None = None,
    *,
    cp: float | None = None,
    risk: Risk = "error",
) -> Tree:
    """Prune a tree by the weakest link.

    Parameters
    ----------
    tree
        A grown tree, or its estimator.
    ccp_alpha
        Price of a leaf in units of the risk: the smallest subtree that minimises
        ``risk + ccp_alpha * n_leaves`` is returned.
    cp
        Price of a split as a share of the root's risk, by rpart's rule. Give this or
        ``ccp_alpha``, not both.
    risk
        ``"error"``: expected cost or squared error, as Breiman et al. and rpart;
        ``"impurity"``: the splitting criterion, as scikit-learn.

    Returns
    -------
    Tree
        A new tree with its ``pruning_log``; the argument is not changed.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), *Classification and Regression Trees*, chapter 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.pruning import cost_complexity
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CARTClassifier().fit(X, y).tree_
    >>> cost_complexity(tree, 0.01).n_leaves
    4
    """
    tree = tree_of(tree)
    if (ccp_alpha is None) == (cp is None):
        raise ParameterError(
            f"cost_complexity takes either ccp_alpha or cp, got {ccp_alpha=} and {cp=}; "
            "give one of them."
        )
    if ccp_alpha is not None:
        sequence = pruning_sequence(tree, risk, "exact")
        alpha = ccp_alpha
    else:
        assert cp is not None
        sequence = pruning_sequence(tree, risk, "rpart")
        alpha = cp * abs(sequence.root_risk)
    return prune_sequence(tree, sequence, alpha)


def prune_sequence(
    tree: Tree, sequence: PruningSequence, alpha: float, *, is_priced: bool = False
) -> Tree:
    """The tree pruned at ``alpha`` by a sequence made of it, with the log of the cuts.

    ``is_priced`` says that splits which cannot pay for their leaves were not grown; the log tells.
    """
    as_leaf = node_risk(tree, sequence.risk) + min(alpha, np.finfo(np.float64).max / 4)
    best = cheapest(tree, as_leaf)
    words = f"{sequence.risk} and {alpha:.6g} per leaf are no more as a leaf than as a subtree"
    if is_priced:
        words += "; most splits that cannot pay were not even grown"
    mask = sequence.collapsed(alpha)
    return cut(tree, mask, "cost complexity", words, best.below, as_leaf, best.n_leaves)
