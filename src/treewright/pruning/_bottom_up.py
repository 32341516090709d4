"""What pruners share: the cheapest pruning from below, and the log of what it cut.

A pruner whose estimate of a subtree is the sum over its leaves, plus something for every test
that stays, says what each node costs as a leaf and what its test costs; the pruning with the
least total is found in one pass over the nodes. Where all costs are whole sums, that pruning is
the best of all, and the smallest of the best.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.kernels import prune as kernels
from treewright.tree.collapse import below_any
from treewright.tree.pruning_log import PruningLog
from treewright.tree.split import GAP_STOP
from treewright.tree.tree import Tree

__all__ = [
    "Cheapest",
    "cheapest",
    "child_sums",
    "cut",
    "ended_here",
    "need_classes",
    "training_errors",
]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
LEAF, LEFT = 1, 2
TIE = 1e-12
"""Estimates closer than this share of the largest are equal."""


@dataclass(frozen=True, eq=False)
class Cheapest:
    """The cheapest pruning of a tree.

    Attributes
    ----------
    becomes_leaf, is_left
        Inner nodes that become leaves, and nodes that are left to the answer of their parents.
    below
        Cost of each node while it is split, all below it pruned; at a leaf its cost.
    n_leaves
        Leaves below each node while it is split.
    """

    becomes_leaf: Mask
    is_left: Mask
    below: Floats
    n_leaves: NDArray[np.int64]


def cheapest(
    tree: Tree,
    as_leaf: Floats,
    of_test: Floats | None = None,
    as_left: Floats | None = None,
    slack: float = 0.0,
) -> Cheapest:
    """Find the pruning with the least total cost, the smallest of equals.

    Parameters
    ----------
    tree
        A grown tree.
    as_leaf
        Cost of each node as a leaf.
    of_test
        Cost of each node's test, paid while it is split; None for nothing.
    as_left
        Cost of each node's rows if its parent answers for them; None if that is no choice.
    slack
        By how much a leaf may cost more than the subtree that it replaces.
    """
    finite = np.abs(as_leaf[np.isfinite(as_leaf)])
    fate, below, n_leaves = kernels.cheapest_pruning(
        tree.first_child,
        tree.n_children,
        as_leaf,
        np.zeros(tree.n_nodes) if of_test is None else of_test,
        as_left,
        slack + TIE * float(finite.max(initial=0.0)),
    )
    return Cheapest(fate == LEAF, fate == LEFT, below, n_leaves)


def cut(
    tree: Tree,
    becomes_leaf: Mask,
    method: str,
    rule: str,
    before: Floats,
    after: Floats,
    n_leaves: NDArray[np.int64] | None = None,
) -> Tree:
    """The tree with leaves in place of the marked subtrees, and the log of these cuts.

    Parameters
    ----------
    tree
        The tree to prune.
    becomes_leaf
        Which nodes become leaves; those below another one are cut first.
    method, rule
        Name of the method, and its rule in words.
    before, after
        Estimates of each node as a subtree and as a leaf.
    n_leaves
        Leaves of each subtree when it was cut; None for those of the whole tree.
    """
    marked = becomes_leaf & ~tree.is_leaf
    if n_leaves is None:
        leaf = tree.is_leaf.astype(np.float64)
        n_leaves = kernels.subtree_sums(tree.first_child, tree.n_children, leaf).astype(np.int64)
    was = np.flatnonzero(marked)[::-1]
    kept = ~below_any(tree, marked)
    new_id = np.where(kept, np.cumsum(kept) - 1, -1)
    log = PruningLog.of(
        [(method, rule)],
        node=new_id[was],
        was=was,
        n_samples=tree.n_samples[was],
        weight=tree.weight[was],
        n_leaves=n_leaves[was],
        before=before[was],
        after=after[was],
    )
    return with_log(tree.collapse(marked), log)


def with_log(tree: Tree, log: PruningLog) -> Tree:
    """The tree with ``log``, whose nodes are its own, after the log that it has."""
    earlier = tree.pruning_log
    return replace(tree, pruning_log=log if earlier is None else earlier.then(log))


# -- figures of nodes ----------------------------------------------------------------------


def training_errors(tree: Tree) -> Floats:
    """Weighted training errors of each node as a leaf; costs, if the tree was grown with them."""
    return np.asarray(tree.risk * tree.weight[0])


def child_sums(tree: Tree, column: NDArray[Any]) -> NDArray[Any]:
    """Sum of a column over the children of each node, 0 at leaves."""
    total = np.zeros_like(column)
    np.add.at(total, tree.parent[1:], column[1:])
    return total


def ended_here(tree: Tree) -> Floats:
    """Training errors of rows that a gap stopped at an inner node: they stay, cut or not."""
    if not np.any((tree.default == GAP_STOP) & ~tree.is_leaf) or not len(tree.label):
        return np.zeros(tree.n_nodes)
    stopped = np.where(tree.is_leaf[:, None], 0.0, tree.value - child_sums(tree, tree.value))
    weight = np.maximum(stopped, 0.0)
    return np.asarray(weight.sum(axis=1) - weight[np.arange(tree.n_nodes), tree.label])


# -- checks --------------------------------------------------------------------------------


def need_classes(tree: Tree, method: str, instead: str = "cost_complexity") -> None:
    """Refuse a regression tree."""
    target = tree.schema.target
    if target is None or not target.is_classification:
        raise ParameterError(
            f"{method} counts training errors, so it needs a classification tree, got a "
            f"regression tree; use {instead}."
        )
