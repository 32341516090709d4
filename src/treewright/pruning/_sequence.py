"""The nested subtrees T0 ⊃ T1 ⊃ … of a tree, and the complexity at which each node collapses.

Two rules: the exact weakest link, for which every step minimises ``risk + alpha * leaves``,
and rpart's, which looks one level down and is needed to reproduce its cp tables (about one
recorded sequence in five holds a subtree that minimises nothing).

Breiman, Friedman, Olshen, Stone (1984), *Classification and Regression Trees*, chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import checked
from treewright.errors import ParameterError
from treewright.kernels import prune as kernels
from treewright.tree.of_model import tree_of
from treewright.tree.tree import Tree

__all__ = ["PruningSequence", "Risk", "Rule", "node_risk", "pruning_sequence"]

Value = TypeVar("Value")
Risk = Literal["error", "impurity"]
Rule = Literal["exact", "rpart"]

RULES: dict[str, Callable[..., NDArray[np.float64]]] = {
    "exact": kernels.weakest_link,
    "rpart": kernels.one_level_link,
}

TIE = 1e-12
"""Complexities closer than this share of the largest risk are equal."""


@dataclass(frozen=True, eq=False)
class PruningSequence:
    """Nested subtrees of one tree, from the largest to the root alone.

    Parameters
    ----------
    alphas
        Complexity from which each subtree holds, ascending; the first is 0.
    n_leaves, n_splits, risks
        Size and risk of each subtree.
    node_alpha
        Complexity at which each node of the tree collapses: it is split at ``alpha`` exactly
        when its value is larger; 0 at leaves.
    root_risk, root_error
        Risk of the root in the unit of ``risks``, and its expected cost or squared error.
    n_samples
        Training rows.
    tolerance
        Complexities no further apart are equal.
    risk, rule
        What was measured, and how the nodes were ordered.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> from treewright.pruning import pruning_sequence
    >>> tennis = datasets.load_play_tennis()
    >>> sequence = pruning_sequence(CARTClassifier().fit(tennis.data, tennis.target).tree_)
    >>> sequence.n_leaves.tolist(), sequence.alphas.round(4).tolist()
    ([7, 3, 1], [0.0, 0.0357, 0.1071])
    >>> sequence.collapsed(0.05).tolist()
    [False, False, True, True, True, True, True, True, True, True, True, True, True]
    >>> sequence.above(0.05).n_leaves.tolist()
    [3, 1]
    """

    alphas: NDArray[np.float64]
    n_leaves: NDArray[np.int64]
    n_splits: NDArray[np.int64]
    risks: NDArray[np.float64]
    node_alpha: NDArray[np.float64]
    root_risk: float
    root_error: float
    n_samples: int
    tolerance: float
    risk: Risk
    rule: Rule

    def __len__(self) -> int:
        return len(self.alphas)

    def collapsed(self, alpha: float) -> NDArray[np.bool_]:
        """Nodes that are not split at complexity ``alpha``.

        Parameters
        ----------
        alpha
            Complexity to prune with.
        """
        return self.node_alpha <= alpha + self.tolerance

    def above(self, alpha: float) -> PruningSequence:
        """The sequence of the tree pruned at ``alpha``, which becomes the first step.

        Where only the root is left, the step begins where the root collapsed, as in rpart.

        Parameters
        ----------
        alpha
            Complexity to prune with.
        """
        first = int(np.searchsorted(self.alphas, alpha + self.tolerance, side="right")) - 1
        is_split = len(self.node_alpha) > 1
        start = self.alphas[first] if first == len(self) - 1 and is_split else alpha
        return replace(
            self,
            alphas=np.concatenate([[start], self.alphas[first + 1 :]]),
            n_leaves=self.n_leaves[first:],
            n_splits=self.n_splits[first:],
            risks=self.risks[first:],
        )


def node_risk(tree: Tree, risk: Risk) -> NDArray[np.float64]:
    """Risk of each node as a leaf: its error, or its impurity times its share of the weight."""
    measures: dict[str, Callable[[Tree], NDArray[np.float64]]] = {
        "error": lambda tree: tree.risk,
        "impurity": lambda tree: tree.impurity * tree.weight / tree.weight[0],
    }
    return _look_up("risk", risk, measures)(tree)


@checked()
def pruning_sequence(tree: Tree, risk: Risk = "error", rule: Rule = "exact") -> PruningSequence:
    """Order the nodes of ``tree`` by the complexity at which they collapse.

    Parameters
    ----------
    tree
        A grown tree, or its estimator.
    risk
        ``"error"``: expected cost or squared error (Breiman, rpart);
        ``"impurity"``: the splitting criterion (scikit-learn).
    rule
        ``"exact"`` or ``"rpart"``.

    Returns
    -------
    PruningSequence
        One step per subtree, the largest first.

    Examples
    --------
    >>> from treewright import CARTClassifier
    >>> from treewright.datasets import load_play_tennis
    >>> from treewright.pruning import pruning_sequence
    >>> tennis = load_play_tennis()
    >>> tree = CARTClassifier().fit(tennis.data, tennis.target).tree_
    >>> pruning_sequence(tree).n_leaves.tolist()
    [7, 3, 1]
    """
    tree = tree_of(tree)
    risks = node_risk(tree, risk)
    order = _look_up("rule", rule, RULES)
    tolerance = TIE * float(np.abs(risks).max())
    arrays = (tree.first_child, tree.n_children, risks)
    alphas, n_leaves, subtree_risks, node_alpha = kernels.pruning_steps(
        *arrays, order(*arrays, tolerance), tolerance
    )
    inner = np.sort(node_alpha[tree.n_children > 0])
    return PruningSequence(
        alphas=alphas,
        n_leaves=n_leaves,
        n_splits=len(inner) - np.searchsorted(inner, alphas, side="right"),
        risks=subtree_risks,
        node_alpha=node_alpha,
        root_risk=float(risks[0]),
        root_error=float(tree.risk[0]),
        n_samples=int(tree.n_samples[0]),
        tolerance=tolerance,
        risk=risk,
        rule=rule,
    )


def _look_up(name: str, key: str, table: dict[str, Value]) -> Value:
    if key not in table:
        known = " or ".join(f'"{k}"' for k in table)
        raise ParameterError(f"{name} must be {known}, got {key!r}; choose one of them.")
    return table[key]
