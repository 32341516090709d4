"""Is the target independent of the branch? Tests of the splits of a tree, all at once.

While a tree grows, ``core/grow/significance.hpp`` makes the same tests one by one.

Classes: Pearson's chi-squared over the table of branches and classes. A table of two branches and
two classes is tested by Fisher's exact test where an expected count is below 5, and with Yates'
correction where one is below 10; other tables have neither. Numbers: the F test of one-way
analysis of variance over the branches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, gammaln

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

__all__ = ["class_p_values", "fisher_exact", "number_p_values", "split_p_values"]

Floats = NDArray[np.float64]

FISHER_BELOW = 5.0
"""Least expected count of a 2 × 2 table below which Fisher's exact test is made."""
YATES_BELOW = 10.0
"""And below which, if it is not, the statistic is corrected for continuity."""


def split_p_values(tree: Tree, *, corrections: bool = True) -> Floats:
    """P-value of the split of each node under independence; 1 at leaves.

    Parameters
    ----------
    tree
        A tree.
    corrections
        Whether small 2 × 2 tables get Yates' correction or Fisher's exact test.
    """
    if len(tree.label):
        return class_p_values(
            tree.parent[1:], tree.value[1:], tree.n_nodes, corrections=corrections
        )
    return number_p_values(tree)


def class_p_values(
    parent: NDArray[Any], cells: Floats, n: int, *, corrections: bool = True
) -> Floats:
    """Chi-squared tests of branch against class at ``n`` nodes; 1 where nothing is divided.

    Parameters
    ----------
    parent, cells
        Of every branch, the node that it leaves and its class weights.
    n
        Number of nodes.
    corrections
        As in :func:`split_p_values`.
    """
    by_class = np.zeros((n, cells.shape[1]))
    np.add.at(by_class, parent, cells)
    total = by_class.sum(axis=1)
    size = cells.sum(axis=1)
    expected = size[:, None] * by_class[parent] / np.maximum(total[parent], 1e-300)[:, None]
    parts = np.zeros_like(cells)
    np.divide((cells - expected) ** 2, expected, out=parts, where=expected > 0)
    statistic = np.zeros(n)
    np.add.at(statistic, parent, parts.sum(axis=1))
    branches = np.bincount(parent[size > 0], minlength=n)
    classes = (by_class > 0).sum(axis=1)
    df = (branches - 1) * (classes - 1)
    p = np.ones(n)
    tested = df > 0
    p[tested] = chdtrc(df[tested], statistic[tested])
    if corrections:
        _correct_small(parent, cells, by_class, (branches == 2) & (classes == 2), p)
    return p


def _correct_small(
    parent: NDArray[Any], cells: Floats, by_class: Floats, is_square: NDArray[np.bool_], p: Floats
) -> None:
    """Put the p-values of small 2 × 2 tables in place."""
    nodes = np.flatnonzero(is_square)
    if not len(nodes):
        return
    # the two classes and the two branches that are there, in order
    columns = np.argsort(~(by_class[nodes] > 0), axis=1, kind="stable")[:, :2]
    filled = np.flatnonzero((cells.sum(axis=1) > 0) & is_square[parent])
    pairs = filled[np.argsort(parent[filled], kind="stable")].reshape(-1, 2)
    table = cells[pairs[:, :, None], columns[:, None, :]]
    rows, sums = table.sum(axis=2), table.sum(axis=1)
    total = rows.sum(axis=1)
    least = rows.min(axis=1) * sums.min(axis=1) / total
    is_whole = np.all(np.abs(table - np.rint(table)) < 1e-9, axis=(1, 2))
    exact = (least < FISHER_BELOW) & is_whole
    p[nodes[exact]] = fisher_exact(np.rint(table[exact]))
    yates = (least < YATES_BELOW) & ~exact
    t = table[yates]
    gap = np.abs(t[:, 0, 0] * t[:, 1, 1] - t[:, 0, 1] * t[:, 1, 0])
    half = np.minimum(gap, total[yates] / 2)
    margins = np.prod(rows[yates], axis=1) * np.prod(sums[yates], axis=1)
    p[nodes[yates]] = chdtrc(1, total[yates] * (gap - half) ** 2 / margins)


def fisher_exact(tables: Floats) -> Floats:
    """Two-sided p-values of 2 × 2 tables of counts.

    The tables with the same margins that are no likelier than the one given count.

    Examples
    --------
    >>> round(float(fisher_exact(np.array([[[8.0, 2.0], [1.0, 5.0]]]))[0]), 6)
    0.034965
    """
    # small tables repeat: those of a large tree are a few hundred
    distinct, where = np.unique(tables.reshape(-1, 4), axis=0, return_inverse=True)
    p = np.ones(len(distinct))
    for i, (a, b, c, d) in enumerate(distinct.tolist()):
        first, column = a + b, a + c
        n = first + c + d
        x = np.arange(max(0.0, first + column - n), min(first, column) + 1)
        log_p = (
            -gammaln(x + 1)
            - gammaln(first - x + 1)
            - gammaln(column - x + 1)
            - gammaln(n - first - column + x + 1)
        )
        share = np.exp(log_p - log_p.max())
        here = share[int(a - x[0])]
        p[i] = min(1.0, share[share <= here * (1 + 1e-7)].sum() / share.sum())
    return p[where.reshape(len(tables))]


def number_p_values(tree: Tree) -> Floats:
    """F tests of the branch means."""
    n = tree.n_nodes
    parent = tree.parent[1:]
    square = tree.risk * tree.weight[0]
    within = np.bincount(parent, square[1:], n)
    between = np.maximum(square - within, 0.0)
    branches = np.bincount(parent[tree.weight[1:] > 0], minlength=n)
    # weights, not rows: a weight of two is a row that came twice
    first, second = branches - 1.0, tree.weight - branches
    p = np.ones(n)
    tested = ~tree.is_leaf & (first > 0) & (second > 0)
    ratio = np.full(n, np.inf)
    np.divide(between * second, within * first, out=ratio, where=tested & (within > 0))
    ratio[(within <= 0) & (between <= 0)] = 0.0
    p[tested] = fdtrc(first[tested], second[tested], ratio[tested])
    return p
