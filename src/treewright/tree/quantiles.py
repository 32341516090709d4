"""How the numbers at each node are distributed: five quantiles, for box plots.

Kept as the extra column ``quantiles`` of a tree, one row per node: least, lower quartile, median,
upper quartile and largest value of the target. A quantile is a value of the data, the first with
enough weight at or below it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.tree.predict import apply
from treewright.tree.tree import Tree

__all__ = ["QUANTILES", "with_quantiles"]

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)

Floats = NDArray[np.float64]


def with_quantiles(tree: Tree, table: Table, y: Floats, weight: Floats | None) -> Tree:
    """The tree with the quantiles of ``y`` at every node; NaN where no row came.

    Parameters
    ----------
    tree
        A tree that sends no row down several branches.
    table, y, weight
        Its training data.
    """
    found = np.full((tree.n_nodes, len(QUANTILES)), np.nan)
    by_value = np.argsort(y, kind="stable")
    y = y[by_value]
    weight = np.ones(len(y)) if weight is None else weight[by_value]
    node = apply(tree, table)[by_value].astype(np.int64)
    while len(node):  # one round per level: every row stands at its leaf first, then climbs
        for_level = tree.node_depth[node] == tree.node_depth[node].max()
        _fill(found, node[for_level], y[for_level], weight[for_level])
        node = np.where(for_level, tree.parent[node], node)
        keep = node >= 0
        node, y, weight = node[keep], y[keep], weight[keep]
    return replace(tree, extras={**tree.extras, "quantiles": found})


def _fill(found: Floats, node: NDArray[np.int64], y: Floats, weight: Floats) -> None:
    """Quantiles of the nodes of one level; ``y`` ascends."""
    order = np.argsort(node, kind="stable")
    node, y = node[order], y[order]
    total = np.cumsum(weight[order])
    first = np.flatnonzero(np.diff(node, prepend=-1))
    last = np.append(first[1:], len(node)) - 1
    before = np.where(first > 0, total[first - 1], 0.0)
    for k, share in enumerate(QUANTILES):
        wanted = before + share * (total[last] - before)
        at = np.searchsorted(total, wanted * (1 - 1e-12), side="left")
        found[node[first], k] = y[np.clip(at, first, last)]
