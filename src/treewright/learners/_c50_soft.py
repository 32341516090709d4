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

from treewright.learners._c50_tree import Cases
from treewright.tree.predict import apply
from treewright.tree.split import SplitKind
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.data.table import Table

__all__ = ["is_soft", "soft_values", "soften"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


def is_soft(tree: Tree) -> bool:
    """Whether the tree has soft thresholds."""
    return "lower" in tree.extras


def _cuts(tree: Tree, table: Table) -> NDArray[np.bool_]:
    """Nodes that cut a continuous feature."""
    continuous = np.array([column.dtype.kind == "f" for column in table.columns])
    one = (tree.splits.kind == SplitKind.BREAKS) & (np.diff(tree.splits.break_offset) == 1)
    return np.asarray(one & continuous[np.maximum(tree.splits.feature, 0)])


def soften(tree: Tree, cases: Cases) -> Tree:
    """The tree with bounds around its cuts."""
    bounds = np.full((3, tree.n_nodes), np.nan)
    weight = np.ones(len(cases.y)) if cases.weight is None else cases.weight
    where: list[tuple[int, Rows]] = [(0, np.arange(len(cases.y)))]
    is_cut = _cuts(tree, cases.table)
    while where:
        node, rows = where.pop()
        if tree.first_child[node] < 0 or not len(rows):
            continue
        branch = _branches(tree, cases.table, node, rows)
        if is_cut[node]:
            known = rows[branch >= 0]
            bounds[:, node] = _bounds(tree, cases, weight, node, known)
        where.extend(
            (int(tree.first_child[node]) + b, rows[branch == b])
            for b in range(int(tree.n_children[node]))
        )
    names = ("lower", "middle", "upper")
    return replace(tree, extras={**tree.extras, **dict(zip(names, bounds, strict=True))})


def _branches(tree: Tree, table: Table, node: int, rows: Rows) -> NDArray[np.int64]:
    """Branch of each row at a node, −1 for a gap."""
    splits = tree.splits
    column = table.columns[splits.feature[node]][rows]
    if splits.kind[node] == SplitKind.CODES:
        codes, branches = splits.node_codes(node), splits.node_branches(node)
        at = np.minimum(np.searchsorted(codes, column), len(codes) - 1)
        return np.where(codes[at] == column, branches[at], -1).astype(np.int64)
    is_gap = np.isnan(column) if column.dtype.kind == "f" else column < 0
    above = column[:, None] > splits.node_breaks(node)[None, :]
    return np.where(is_gap, -1, above.sum(axis=1)).astype(np.int64)


def _bounds(
    tree: Tree, cases: Cases, weight: Floats, node: int, rows: Rows
) -> tuple[float, float, float]:
    """Lower bound, middle and upper bound of a cut, from the known rows of its node."""
    cut = float(tree.splits.node_breaks(node)[0])
    value = cases.table.columns[tree.splits.feature[node]][rows].astype(np.float64)
    order = np.argsort(value, kind="stable")
    value, rows = value[order], rows[order]
    part, w = cases.table.take(rows), weight[rows]
    wrong = []
    for side in (0, 1):
        below = _subtree(tree, int(tree.first_child[node]) + side)
        wrong.append((below.label[apply(below, part)] != cases.y[rows]) * w)
    # errors if the cut lay after each row: the left branch's up to it, the right one's beyond
    errors = np.cumsum(wrong[0]) + wrong[1].sum() - np.cumsum(wrong[1])
    last = np.flatnonzero(np.append(value[1:] > value[:-1], True))
    at = int(np.searchsorted(value[last], cut, side="right")) - 1
    if at < 0 or at + 1 >= len(last):
        return cut, cut, cut
    base, total = float(errors[last[at]]), float(w.sum())
    allowed = base + np.sqrt((base + 0.5) * (total - base + 0.5) / (total + 1.0))
    fits = errors[last] <= allowed
    low = at
    while low > 0 and fits[low - 1]:
        low -= 1
    high = at
    while high + 2 < len(last) and fits[high + 1]:
        high += 1
    values = value[last]
    return float(values[low]), float((values[at] + values[at + 1]) / 2), float(values[high + 1])


def _subtree(tree: Tree, root: int) -> Tree:
    """The tree below a node."""
    nodes, at = [root], 0
    while at < len(nodes):
        first = int(tree.first_child[nodes[at]])
        nodes.extend(range(first, first + int(tree.n_children[nodes[at]])))
        at += 1
    index = np.array(nodes, np.int64)
    new_id = np.full(tree.n_nodes, -1, np.int32)
    new_id[index] = np.arange(len(index), dtype=np.int32)
    first_child = tree.first_child[index]
    return replace(
        tree,
        first_child=np.where(first_child < 0, -1, new_id[first_child]).astype(np.int32),
        n_children=tree.n_children[index],
        splits=tree.splits.take(index),
        default=tree.default[index],
        surrogate_offset=np.zeros(len(index) + 1, np.int64),
        n_samples=tree.n_samples[index],
        weight=tree.weight[index],
        value=tree.value[index],
        label=tree.label[index],
        impurity=tree.impurity[index],
        gain=tree.gain[index],
        risk=tree.risk[index],
        extras={},
    )


def soft_values(tree: Tree, table: Table, values: Floats) -> Floats:
    """Mean of the entries of ``values`` over the leaves that each row reaches, by its shares."""
    out = np.zeros((table.n_rows, values.shape[1]))
    everything = np.arange(table.n_rows)
    where: list[tuple[int, Rows, Floats]] = [(0, everything, np.ones(table.n_rows))]
    while where:
        node, rows, share = where.pop()
        if not len(rows):
            continue
        first, n = int(tree.first_child[node]), int(tree.n_children[node])
        if first < 0:
            np.add.at(out, rows, values[node] * share[:, None])
            continue
        parts = _shares(tree, table, node, rows)
        for b in range(n):
            goes = parts[:, b] > 0
            where.append((first + b, rows[goes], share[goes] * parts[goes, b]))
    return out


def _shares(tree: Tree, table: Table, node: int, rows: Rows) -> Floats:
    """Share of each branch in each row at a node."""
    first, n = int(tree.first_child[node]), int(tree.n_children[node])
    branch = _branches(tree, table, node, rows)
    shares = np.zeros((len(rows), n))
    known = branch >= 0
    shares[np.flatnonzero(known), branch[known]] = 1.0
    shares[~known] = tree.weight[first : first + n] / max(float(tree.weight[node]), 1e-300)
    low, middle, high = (float(tree.extras[k][node]) for k in ("lower", "middle", "upper"))
    if np.isnan(low):
        return shares
    x = table.columns[tree.splits.feature[node]][rows].astype(np.float64)
    soft = known & (x > low) & (x < high)
    grid = np.interp(x[soft], [low, middle, high], [1.0, 0.5, 0.0])
    shares[soft, 0], shares[soft, 1] = grid, 1.0 - grid
    return shares
