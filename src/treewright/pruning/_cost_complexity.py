"""Cost-complexity pruning of a grown tree at a given complexity."""

from __future__ import annotations

from treewright.errors import ParameterError
from treewright.pruning._sequence import Risk, pruning_sequence
from treewright.tree.tree import Tree

__all__ = ["cost_complexity"]


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
        A grown tree.
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
        A new tree; the argument is not changed.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), *Classification and Regression Trees*, chapter 3.

    Examples
    --------
    >>> pruned = cost_complexity(model.tree_, ccp_alpha=0.01)  # doctest: +SKIP
    """
    if (ccp_alpha is None) == (cp is None):
        raise ParameterError(
            f"cost_complexity takes either ccp_alpha or cp, got {ccp_alpha=} and {cp=}; "
            "give one of them."
        )
    if ccp_alpha is not None:
        sequence = pruning_sequence(tree, risk, "exact")
        alpha = _check_price("ccp_alpha", ccp_alpha)
    else:
        assert cp is not None
        sequence = pruning_sequence(tree, risk, "rpart")
        alpha = _check_price("cp", cp) * abs(sequence.root_risk)
    return tree.collapse(sequence.collapsed(alpha))


def _check_price(name: str, value: float) -> float:
    if not value >= 0:
        raise ParameterError(f"{name} must be a number not below 0, got {value!r}; 0 keeps most.")
    return float(value)
