"""Critical value pruning: a split must gain enough, or have one below it that does.

From below, a node becomes a leaf if neither its own split nor any that is left below it reaches
the critical value. A split of little gain stays as long as it leads to a good one.

Mingers (1987), *Expert systems: rule induction with statistical data*, J. Operational Research
Society 38; Mingers (1989), Machine Learning 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import checked
from treewright.errors import ParameterError
from treewright.kernels.prune import subtree_sums
from treewright.pruning._bottom_up import TIE, cut
from treewright.tree.collapse import below_any
from treewright.tree.of_model import tree_of
from treewright.tree.tree import Tree

__all__ = ["critical_value", "keep_above"]

Floats = NDArray[np.float64]
Measure = Literal["gain", "weighted_gain", "gain_ratio"]


@checked()
def critical_value(tree: Tree, t: float, *, measure: Measure = "gain") -> Tree:
    """Cut splits that reach the critical value neither themselves nor below.

    Parameters
    ----------
    tree
        A grown tree, for classes or numbers, or its estimator.
    t
        Least value of the measure.
    measure
        ``"gain"``: by how much the split lowers the impurity of its node; ``"weighted_gain"``:
        the same times the node's share of the rows; ``"gain_ratio"``: gain over the entropy of
        the branch sizes, in bits.

    Returns
    -------
    Tree
        A new tree with its ``pruning_log``; the argument is not changed.

    References
    ----------
    Mingers (1987), *Expert systems: rule induction with statistical data*, J. Operational
    Research Society 38.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.pruning import critical_value
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CARTClassifier(criterion="entropy").fit(X, y).tree_
    >>> [critical_value(tree, t).n_leaves for t in (0.0, 0.3, 0.95)]
    [9, 8, 1]
    """
    tree = tree_of(tree)
    if measure not in MEASURES:
        known = ", ".join(f'"{name}"' for name in MEASURES)
        raise ParameterError(f"measure must be one of {known}, got {measure!r}.")
    value = np.where(tree.is_leaf, 0.0, MEASURES[measure](tree))
    reaches = value >= t - TIE * max(1.0, value.max(initial=0.0))
    words = f"no {measure.replace('_', ' ')} at the node or below reaches {t:g}"
    return keep_above(tree, reaches, value, "critical value", words, np.full(tree.n_nodes, t))


def keep_above(
    tree: Tree, good: NDArray[np.bool_], value: Floats, method: str, rule: str, limit: Floats
) -> Tree:
    """The smallest pruning that keeps every good split; the log has each value and its limit."""
    inner = good & ~tree.is_leaf
    n_good = subtree_sums(tree.first_child, tree.n_children, inner.astype(np.float64))
    marked = (n_good == 0) & ~tree.is_leaf
    return cut(tree, marked, method, rule, value, limit, _leaves_when_cut(tree, marked))


def _leaves_when_cut(tree: Tree, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Leaves below each marked node once all marked ones below it are leaves: its children."""
    # whatever lies below a marked node is marked, too, and cut first
    return np.where(below_any(tree, marked) | marked, tree.n_children, 1).astype(np.int64)


def _gain(tree: Tree) -> Floats:
    share = tree.weight / tree.weight[0]
    gain = np.zeros(tree.n_nodes)
    np.divide(tree.gain, share, out=gain, where=share > 0)
    return gain


def _gain_ratio(tree: Tree) -> Floats:
    parent = tree.parent[1:]
    total = np.zeros(tree.n_nodes)
    np.add.at(total, parent, tree.weight[1:])
    share = np.ones(len(parent))
    np.divide(tree.weight[1:], total[parent], out=share, where=total[parent] > 0)
    bits = np.zeros(tree.n_nodes)
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    np.add.at(bits, parent, -share * logs)
    ratio = np.zeros(tree.n_nodes)
    np.divide(_gain(tree), bits, out=ratio, where=bits > 0)
    return ratio


MEASURES: dict[str, Callable[[Tree], Floats]] = {
    "gain": _gain,
    "weighted_gain": lambda tree: tree.gain,
    "gain_ratio": _gain_ratio,
}
