"""Numpy twins of soft thresholds; see ``core/quinlan/soft.hpp``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.tree.split import SplitKind
from treewright.tree.tree import Tree

__all__ = ["soft_bounds", "soft_values"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


def soft_bounds(tree: Tree, table: Table, y: NDArray[np.int32], weight: Floats) -> Floats:
    """Lower bound, middle and upper bound (rows) of each node's cut (columns)."""
    bounds = np.full((3, tree.n_nodes), np.nan)
    where: list[tuple[int, Rows]] = [(0, np.arange(len(y)))]
    while where:
        node, rows = where.pop()
        if tree.first_child[node] < 0 or not len(rows):
            continue
        branch = _branches(tree, table, node, rows)
        if _cuts_numbers(tree, table, node):
            known = rows[branch >= 0]
            bounds[:, node] = _bounds(tree, table, y, weight, node, known)
        where.extend((child, rows[branch == b]) for b, child in enumerate(tree.children(node)))
    return bounds


def _cuts_numbers(tree: Tree, table: Table, node: int) -> bool:
    one = len(tree.splits.node_breaks(node)) == 1
    return one and table.columns[tree.splits.feature[node]].dtype.kind == "f"


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


def _gap_shares(tree: Tree, node: int) -> Floats:
    weight = np.array([tree.weight[child] for child in tree.children(node)])
    return weight / weight.sum() if weight.sum() > 0 else np.full(len(weight), 1 / len(weight))


def _end(tree: Tree, table: Table, node: int, row: int) -> tuple[float, int]:
    """Share and leaf where most of a row ends below a node, the first leaf among equals."""
    children = list(tree.children(node))
    if not children:
        return 1.0, node
    branch = int(_branches(tree, table, node, np.array([row]))[0])
    if branch >= 0:
        return _end(tree, table, children[branch], row)
    ends = []
    for child, share in zip(children, _gap_shares(tree, node), strict=True):
        if share > 0:
            below, leaf = _end(tree, table, child, row)
            ends.append((share * below, leaf))
    return max(ends, key=lambda end: (end[0], -end[1]))


def _bounds(
    tree: Tree, table: Table, y: NDArray[np.int32], weight: Floats, node: int, rows: Rows
) -> tuple[float, float, float]:
    cut = float(tree.splits.node_breaks(node)[0])
    value = table.columns[tree.splits.feature[node]][rows].astype(np.float64)
    values = np.unique(value)
    at = int(np.searchsorted(values, cut, side="right")) - 1
    if at < 0 or at + 1 >= len(values):
        return cut, cut, cut
    low_child, high_child = tree.children(node)
    wrong_low, wrong_high = (
        np.array([tree.label[_end(tree, table, child, int(row))[1]] for row in rows]) != y[rows]
        for child in (low_child, high_child)
    )
    w = weight[rows]

    def errors(cut_at: float) -> float:
        return float(
            w[(value <= cut_at) & wrong_low].sum() + w[(value > cut_at) & wrong_high].sum()
        )

    base, total = errors(values[at]), float(w.sum())
    allowed = base + np.sqrt((base + 0.5) * (total - base + 0.5) / (total + 1.0)) + 1e-9
    low = high = at
    while low > 0 and errors(values[low - 1]) <= allowed:
        low -= 1
    while high + 2 < len(values) and errors(values[high + 1]) <= allowed:
        high += 1
    return float(values[low]), float((values[at] + values[at + 1]) / 2), float(values[high + 1])


def soft_values(tree: Tree, table: Table, bounds: Floats, values: Floats) -> Floats:
    """Mean of the entries of ``values`` over the leaves that each row reaches, by its shares."""
    out = np.zeros((table.n_rows, values.shape[1]))

    def send(node: int, share: Floats) -> None:
        children = list(tree.children(node))
        if not children:
            out[:] += share[:, None] * values[node]
            return
        parts = _shares(tree, table, node, bounds[:, node])
        for b, child in enumerate(children):
            send(child, share * parts[:, b])

    send(0, np.ones(table.n_rows))
    return out


def _shares(tree: Tree, table: Table, node: int, bounds: Floats) -> Floats:
    """Share of each branch in each row at a node."""
    branch = _branches(tree, table, node, np.arange(table.n_rows))
    shares = np.zeros((table.n_rows, int(tree.n_children[node])))
    known = branch >= 0
    shares[np.flatnonzero(known), branch[known]] = 1.0
    shares[~known] = _gap_shares(tree, node)
    low, middle, high = bounds
    if np.isnan(low):
        return shares
    x = table.columns[tree.splits.feature[node]].astype(np.float64)
    soft = known & (x > low) & (x < high)
    lower = np.interp(x[soft], [low, middle, high], [1.0, 0.5, 0.0])
    shares[soft, 0], shares[soft, 1] = lower, 1.0 - lower
    return shares
