"""What C5.0 does to a grown tree: local pruning, global pruning, pooled leaves.

Local pruning is that of C4.5 with other rules about raising, and by cost where errors have prices
(``core/prune/error_based.hpp``). Global
pruning then takes away the subtrees that save the fewest training errors per leaf, all of the
weakest at once, until one standard error of the tree's training errors is used up. Sibling leaves
of one class become one leaf.

Reference: the published descriptions of C5.0 and its recorded runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.error_based import weakest_links
from treewright.kernels.prune import subtree_sums
from treewright.pruning._bottom_up import cut
from treewright.pruning._error_based import error_rules, prune_table
from treewright.tree.predict import node_values
from treewright.tree.pruning_log import PruningLog
from treewright.tree.split import SplitKind, Splits
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.data.table import Table

__all__ = ["Prices", "local_prune", "pool_leaves", "prune_globally"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prices:
    """What errors cost, for two classes.

    Attributes
    ----------
    price
        Of an error, by the class that was predicted.
    factor
        By which the weight of each class is multiplied where trees are grown.
    """

    price: Floats
    factor: Floats


def local_prune(
    tree: Tree,
    table: Table,
    y: NDArray[np.int32],
    weight: Floats | None,
    *,
    confidence: float,
    min_items: float,
    growth: dict[str, Any] | None,
    prices: Prices | None = None,
) -> Tree:
    """Replace and raise subtrees by expected errors, with the rules of C5.0.

    With ``growth``, the parameters that the tree was grown with, raised branches are grown again.
    With ``prices`` it is the expected cost of the errors that counts.
    """
    rules = error_rules(confidence, "release8", True)
    rules |= {"c50": True, "min_items": float(min_items)}
    if prices is not None:
        rules |= {"price": prices.price.tolist(), "factor": prices.factor.tolist()}
    return prune_table(tree, table, y, weight, rules, growth)


def prune_globally(
    tree: Tree, table: Table, y: NDArray[np.int32], weight: Floats | None, n_threads: int = 1
) -> Tree:
    """The tree without its weakest links, within one standard error of its training errors.

    The standard error is that of the rows which the whole tree gets wrong. Where rows have gaps
    and went down several branches, that is not the sum of the errors of the leaves.
    """
    if tree.n_nodes == 1:
        return tree
    errors = tree.weight - tree.value[np.arange(tree.n_nodes), tree.label]
    mask = weakest_links(
        tree.first_child,
        tree.n_children,
        errors,
        tree.weight <= 0,
        float(tree.weight[0]),
        _wrong(tree, table, y, weight, n_threads),
    )
    own = np.where(tree.is_leaf, errors, 0.0)
    below = subtree_sums(tree.first_child, tree.n_children, own)
    words = "among the fewest training errors saved per leaf, within one standard error in all"
    return cut(tree, mask, "global", words, below, errors)


def _wrong(
    tree: Tree, table: Table, y: NDArray[np.int32], weight: Floats | None, n_threads: int
) -> float:
    """Weight of the rows of other classes than the tree says."""
    said = node_values(tree, table, tree.probability, n_threads).argmax(axis=1)
    is_wrong = said != y
    return float(np.count_nonzero(is_wrong) if weight is None else weight[is_wrong].sum())


def pool_leaves(tree: Tree) -> Tree:
    """Sibling leaves of one class as one leaf; those without rows only with each other."""
    is_multiway = (tree.n_children > 2) & (tree.splits.kind == SplitKind.CODES)
    if not is_multiway.any():
        return tree
    node = np.arange(tree.n_nodes)
    pooled = tree.is_leaf & (tree.parent >= 0) & is_multiway[np.maximum(tree.parent, 0)]
    # a leaf belongs to the first of its siblings with the same label, likewise empty or not
    group = np.column_stack([tree.parent, tree.label, tree.weight > 0])[pooled]
    _, first, inverse = np.unique(group, axis=0, return_index=True, return_inverse=True)
    stands_for = node.copy()
    stands_for[pooled] = node[pooled][first][inverse.ravel()]
    stays = stands_for == node
    if stays.all():
        return tree
    return _merged(tree, stands_for, stays)


def _merged(tree: Tree, stands_for: NDArray[np.int64], stays: NDArray[np.bool_]) -> Tree:
    """The tree in which each node that does not stay joins the one that stands for it."""
    new_id = (np.cumsum(stays) - 1).astype(np.int64)
    parent = tree.parent[1:]
    n_children = np.bincount(parent[stays[1:]], minlength=tree.n_nodes).astype(np.int32)
    sums = {}
    for name in ("n_samples", "weight", "value", "risk"):
        column = getattr(tree, name)
        total = np.zeros_like(column)
        np.add.at(total, stands_for, column)
        sums[name] = total[stays]
    first_child = np.where(tree.is_leaf, -1, new_id[np.maximum(tree.first_child, 0)])
    share = sums["value"] / np.where(sums["weight"] > 0, sums["weight"], 1.0)[:, None]
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    merged = Tree(
        schema=tree.schema,
        first_child=first_child[stays].astype(np.int32),
        n_children=n_children[stays],
        splits=_renumbered(tree, stands_for, new_id).take(np.flatnonzero(stays)),
        default=tree.default[stays],
        surrogate_offset=np.zeros(int(stays.sum()) + 1, np.int64),
        surrogates=Splits.empty(),
        surrogate_agreement=np.zeros(0),
        surrogate_adjusted=np.zeros(0),
        label=tree.label[stays],
        impurity=-(share * logs).sum(axis=1),
        gain=tree.gain[stays],
        extras={name: column[stays] for name, column in tree.extras.items()},
        pruning_log=_renumbered_log(tree, stands_for, new_id),
        stopping=tree.stopping,
        **sums,
    )
    alone = merged.n_children == 1
    return merged.collapse(alone) if alone.any() else merged


def _renumbered_log(
    tree: Tree, stands_for: NDArray[np.int64], new_id: NDArray[np.int64]
) -> PruningLog | None:
    if tree.pruning_log is None:
        return None
    return tree.pruning_log.renumbered(new_id[stands_for].astype(np.int32))


def _renumbered(tree: Tree, stands_for: NDArray[np.int64], new_id: NDArray[np.int64]) -> Splits:
    """Splits whose codes lead to the branches that are left."""
    splits = tree.splits
    owner = np.repeat(np.arange(tree.n_nodes), np.diff(splits.code_offset))
    child = tree.first_child[owner] + splits.branches
    branches = new_id[stands_for[child]] - new_id[tree.first_child[owner]]
    return replace(splits, branches=branches.astype(np.int32))
