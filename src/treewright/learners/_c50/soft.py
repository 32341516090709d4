"""Soft thresholds: near a cut, both branches have a say.

Around every cut of a continuous feature lie two bounds. Moving the cut to one of them would raise
the training errors below the node by no more than one standard error. A value outside the bounds
takes one branch, a value between them both, with shares that change linearly and meet at one half
in the middle of the gap that was cut. The bounds are the extra columns ``lower``, ``middle`` and
``upper`` of the tree.

Reference: Quinlan (1993), *C4.5: Programs for Machine Learning*, chapter 8; C5.0's recorded runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treewright.kernels import soft
from treewright.learners._c50.tree import Cases
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.data.table import Table

__all__ = ["is_soft", "soft_bounds", "soft_values", "soften"]

Floats = NDArray[np.float64]


def is_soft(tree: Tree) -> bool:
    """Whether the tree has soft thresholds."""
    return all(name in tree.extras for name in soft.BOUNDS)


def soften(tree: Tree, cases: Cases) -> Tree:
    """The tree with bounds around its cuts."""
    weight = np.ones(len(cases.y)) if cases.weight is None else cases.weight
    nodes = {name: getattr(tree, name) for name in soft.NODES}
    bounds = soft.soft_bounds(cases.table.columns, nodes, tree.splits.arrays(), cases.y, weight)
    return replace(tree, extras={**tree.extras, **dict(zip(soft.BOUNDS, bounds, strict=True))})


def soft_bounds(tree: Tree) -> tuple[Floats, Floats, Floats]:
    """Lower bound, middle and upper bound of each cut."""
    lower, middle, upper = (np.asarray(tree.extras[name], np.float64) for name in soft.BOUNDS)
    return lower, middle, upper


def soft_values(tree: Tree, table: Table, values: Floats, n_threads: int = 1) -> Floats:
    """Mean of the entries of ``values`` over the leaves that each row reaches, by its shares."""
    nodes = {name: getattr(tree, name) for name in soft.NODES}
    nodes |= {name: np.asarray(tree.extras[name], np.float64) for name in soft.BOUNDS}
    arrays = tree.splits.arrays()
    return soft.soft_values(table.columns, table.n_rows, nodes, arrays, values, n_threads)
