"""Pruning kernels behind their checks: structure once here, then the compiled module.

All take the child arrays of a :class:`~treewright.tree.tree.Tree` and one risk per node.
``tolerance`` is absolute: complexities no further apart are equal.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

import treewright.kernels._core as _compiled
from treewright.errors import DataError

__all__ = [
    "cheapest_pruning",
    "one_level_link",
    "pruning_steps",
    "subtree_sums",
    "weakest_link",
]

_core = cast(Any, _compiled)

Floats = NDArray[np.float64]
Ids = NDArray[np.int32]


def weakest_link(
    first_child: ArrayLike, n_children: ArrayLike, risk: ArrayLike, tolerance: float = 0.0
) -> Floats:
    """Complexity at which each node collapses (Breiman et al. 1984); 0 at leaves.

    Values do not decrease towards the root, so a node is split at complexity ``a`` exactly
    when its own value is larger than ``a``.
    """
    return cast(Floats, _core.weakest_link(*_checked(first_child, n_children, risk), tolerance))


def one_level_link(
    first_child: ArrayLike, n_children: ArrayLike, risk: ArrayLike, tolerance: float = 0.0
) -> Floats:
    """Complexity at which each node collapses by rpart's rule; 0 at leaves.

    A node sees its children as they stand after their own comparison; a child whose complexity
    is smaller than the node's counts as collapsed, the smallest first.
    """
    return cast(Floats, _core.one_level_link(*_checked(first_child, n_children, risk), tolerance))


def pruning_steps(
    first_child: ArrayLike,
    n_children: ArrayLike,
    risk: ArrayLike,
    node_alpha: ArrayLike,
    tolerance: float = 0.0,
) -> tuple[Floats, NDArray[np.int64], Floats, Floats]:
    """Alphas (ascending from 0), leaf counts and risks of the nested subtrees.

    The last array is ``node_alpha`` with each value replaced by the alpha of its step.
    """
    arrays = _checked(first_child, n_children, risk)
    alphas = _numbers("node_alpha", node_alpha, len(arrays[0]))
    steps = _core.pruning_steps(*arrays, alphas, tolerance)
    return cast(tuple[Floats, NDArray[np.int64], Floats, Floats], steps)


def _checked(
    first_child: ArrayLike, n_children: ArrayLike, risk: ArrayLike, *, finite: bool = True
) -> tuple[Ids, Ids, Floats]:
    first = np.ascontiguousarray(first_child, np.int32)
    count = np.ascontiguousarray(n_children, np.int32)
    if first.ndim != 1 or first.shape != count.shape or len(first) == 0:
        raise DataError(
            "first_child and n_children must be two vectors with one entry per node, got shapes "
            f"{first.shape} and {count.shape}; pass the arrays of one tree."
        )
    if not _core.is_tree(first, count):
        raise DataError(
            "the nodes do not form a tree: every node but the first must be the child of one "
            "earlier node, and a node must have no child or at least two; rebuild the tree."
        )
    return first, count, _numbers("risk", risk, len(first), finite=finite)


def _numbers(name: str, values: ArrayLike, n: int, *, finite: bool = True) -> Floats:
    array = np.ascontiguousarray(values, np.float64)
    is_sound = np.all(np.isfinite(array) if finite else ~np.isnan(array))
    if array.shape != (n,) or not is_sound:
        raise DataError(
            f"{name} must hold one finite number per node ({n}), got shape {array.shape} with "
            f"{np.count_nonzero(~np.isfinite(array))} that are not finite; pass the tree's own."
        )
    return array


def cheapest_pruning(
    first_child: ArrayLike,
    n_children: ArrayLike,
    as_leaf: ArrayLike,
    of_test: ArrayLike,
    as_left: ArrayLike | None = None,
    slack: float = 0.0,
) -> tuple[NDArray[np.uint8], Floats, NDArray[np.int64]]:
    """What becomes of each node in the cheapest pruning.

    Returns
    -------
    fate, below, n_leaves
        0 for a node that stays as it is, 1 for an inner node that becomes a leaf, 2 for a node
        that is left to its parent (only with ``as_left``); the cost of each node while it is
        split, and the leaves below it.
    """
    first, count, cost = _checked(first_child, n_children, as_leaf, finite=False)
    n = len(first)
    left = None if as_left is None else _numbers("as_left", as_left, n, finite=False)
    result = _core.cheapest_pruning(
        first, count, cost, _numbers("of_test", of_test, n), left, float(slack)
    )
    return cast(tuple[NDArray[np.uint8], Floats, NDArray[np.int64]], result)


def subtree_sums(first_child: ArrayLike, n_children: ArrayLike, own: ArrayLike) -> Floats:
    """Sums over each node and all below it, of one column or of several."""
    values = np.ascontiguousarray(own, np.float64)
    first, count, _ = _checked(first_child, n_children, np.zeros(len(values)))
    sums = _core.subtree_sums(first, count, values.reshape(len(values), -1))
    return cast(Floats, sums.reshape(values.shape))
