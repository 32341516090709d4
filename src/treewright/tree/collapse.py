"""Turn inner nodes into leaves.

Siblings stay or go together and the order of the nodes is kept, so parents remain before
their children and siblings adjacent. Everything a vanished node owned goes with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.tree.split import GAP_STOP
from treewright.tree.tree import Tree

__all__ = ["below_any", "collapse_nodes"]


def collapse_nodes(tree: Tree, nodes: Any) -> Tree:
    """A new tree in which ``nodes`` are leaves; see :meth:`Tree.collapse`."""
    marked = _as_mask(tree, nodes)
    if not np.any(marked & ~tree.is_leaf):
        return tree
    kept = np.flatnonzero(~below_any(tree, marked))
    new_id = np.full(tree.n_nodes, -1, np.int32)
    new_id[kept] = np.arange(len(kept), dtype=np.int32)

    is_leaf = marked[kept] | tree.is_leaf[kept]
    first_child = np.where(is_leaf, -1, new_id[tree.first_child[kept]]).astype(np.int32)
    n_surrogates = np.diff(tree.surrogate_offset)[kept]
    n_surrogates[is_leaf] = 0
    surrogate_offset = np.concatenate([np.zeros(1, np.int64), np.cumsum(n_surrogates)])
    start = np.repeat(tree.surrogate_offset[kept] - surrogate_offset[:-1], n_surrogates)
    surrogate = start + np.arange(surrogate_offset[-1])
    return Tree(
        schema=tree.schema,
        first_child=first_child,
        n_children=np.where(is_leaf, 0, tree.n_children[kept]).astype(np.int32),
        splits=tree.splits.take(kept, is_leaf),
        default=np.where(is_leaf, GAP_STOP, tree.default[kept]).astype(np.int32),
        surrogate_offset=surrogate_offset,
        surrogates=tree.surrogates.take(surrogate),
        surrogate_agreement=tree.surrogate_agreement[surrogate],
        surrogate_adjusted=tree.surrogate_adjusted[surrogate],
        n_samples=tree.n_samples[kept],
        weight=tree.weight[kept],
        value=tree.value[kept],
        label=tree.label[kept] if len(tree.label) else tree.label,
        impurity=tree.impurity[kept],
        gain=np.where(is_leaf, 0.0, tree.gain[kept]),
        risk=tree.risk[kept],
        extras=_extras(tree, kept, is_leaf),
        tests=None if tree.tests is None else tree.tests.renumbered(new_id),
        stopping=tree.stopping,
        counts=None if tree.counts is None else tree.counts.renumbered(new_id, is_leaf),
        pruning_log=None if tree.pruning_log is None else tree.pruning_log.renumbered(new_id),
    )


def _extras(
    tree: Tree, kept: NDArray[np.int64], is_leaf: NDArray[np.bool_]
) -> dict[str, NDArray[Any]]:
    extras = {name: column[kept] for name, column in tree.extras.items()}
    if "n_gaps" in extras:  # rows with a gap in the tested feature; a leaf tests none
        extras["n_gaps"] = np.where(is_leaf, 0, extras["n_gaps"]).astype(extras["n_gaps"].dtype)
    return extras


def _as_mask(tree: Tree, nodes: Any) -> NDArray[np.bool_]:
    """Node ids, or a mask, as a mask."""
    given = np.asarray(nodes)
    if given.dtype == np.bool_ and given.shape == (tree.n_nodes,):
        return given
    mask = np.zeros(tree.n_nodes, np.bool_)
    if given.size == 0 and given.dtype != np.bool_:
        return mask
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ParameterError(
            f"nodes must be a boolean mask over the {tree.n_nodes} nodes or a list of node ids, "
            f"got an array of {given.dtype} with shape {given.shape}."
        )
    if given.min() < 0 or given.max() >= tree.n_nodes:
        raise ParameterError(
            f"nodes must be ids from 0 to {tree.n_nodes - 1}, got {given.min()} to {given.max()}."
        )
    mask[given] = True
    return mask


def below_any(tree: Tree, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which nodes have a marked ancestor."""
    # pointer doubling: after k rounds ``below`` has seen 2**k ancestors of each node
    is_child = tree.parent >= 0
    above = np.maximum(tree.parent, 0)
    below = marked[above] & is_child
    while above.any():
        below |= below[above]
        above = above[above]
    return below
