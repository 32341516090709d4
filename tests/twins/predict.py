"""The twin of the compiled predictor: one row, one node, one step at a time.

A row's way is a list of ``(node, share, is_end)`` in the order of a depth-first descent; all
results are read from it. Shares multiply along the way by ``weight / total of the siblings``,
in the same order as in the kernel, so that even rounding agrees.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.tree.split import GAP_FRACTION, GAP_STOP, SplitKind, Splits, term_value
from treewright.tree.tree import Tree

__all__ = ["apply", "branch", "path", "reach", "values"]

Columns = Sequence[NDArray[Any]]
Way = list[tuple[int, float, bool]]


def read_row(schema: Schema, columns: Columns, row: int) -> list[float]:
    """The values of one row as floats; a gap and a code out of range are NaN."""
    numbers = []
    for feature, column in zip(schema.features, columns, strict=True):
        x = float(column[row])
        if feature.is_categorical and not 0 <= x < len(feature.categories):
            x = math.nan
        numbers.append(x)
    return numbers


def branch(splits: Splits, i: int, x: Sequence[float]) -> int | None:
    """The branch that split ``i`` gives to a row, or None for a gap."""
    kind = splits.kind[i]
    if kind == SplitKind.LINEAR:
        value = 0.0
        for f, weight, code in splits.node_terms(i):
            value += weight * term_value(x[f], code)
    else:
        value = x[splits.feature[i]]
    if math.isnan(value):
        return None
    if kind == SplitKind.CODES:
        for code, to in zip(splits.node_codes(i), splits.node_branches(i), strict=True):
            if code == value:
                return int(to)
        return None
    found = 0
    for at in splits.node_breaks(i):
        found += value > at if splits.closed[i] else value >= at
    return 1 - found if splits.reversed[i] else int(found)


def next_branch(tree: Tree, node: int, x: Sequence[float]) -> int:
    """The branch a row takes at an inner node, ``GAP_FRACTION`` or ``GAP_STOP``."""
    found = branch(tree.splits, node, x)
    for s in range(tree.surrogate_offset[node], tree.surrogate_offset[node + 1]):
        if found is None:
            found = branch(tree.surrogates, s, x)
    return int(tree.default[node]) if found is None else found


def shares(tree: Tree, node: int) -> list[float]:
    """How much of a divided row each child of ``node`` gets."""
    weights = [float(tree.weight[child]) for child in tree.children(node)]
    total = 0.0
    for weight in weights:
        total += weight
    if total == 0 or math.isinf(total):
        return [1 / len(weights)] * len(weights)
    return [weight / total for weight in weights]


def find_way(tree: Tree, x: Sequence[float], node: int = 0, share: float = 1.0) -> Way:
    """Every node that a row visits below and including ``node``."""
    children = tree.children(node)
    taken = next_branch(tree, node, x) if len(children) else GAP_STOP
    if taken == GAP_STOP:
        return [(node, share, True)]
    way = [(node, share, False)]
    if taken != GAP_FRACTION:
        return way + find_way(tree, x, children[taken], share)
    for child, part in zip(children, shares(tree, node), strict=True):
        if share * part > 0:
            way += find_way(tree, x, child, share * part)
    return way


def ways(tree: Tree, columns: Columns) -> list[Way]:
    """The way of every row."""
    n_rows = len(columns[0])
    return [find_way(tree, read_row(tree.schema, columns, row)) for row in range(n_rows)]


def heaviest(way: Way) -> int:
    """The end with the largest share, the first id among equals."""
    return min((-share, node) for node, share, is_end in way if is_end)[1]


def apply(tree: Tree, columns: Columns) -> NDArray[np.int32]:
    """The node where each row ends."""
    return np.array([heaviest(way) for way in ways(tree, columns)], np.int32)


def values(tree: Tree, columns: Columns, node_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values of each row's end, or their mean over its ends weighted by share."""
    out = np.zeros((len(columns[0]), node_values.shape[1]))
    for row, way in enumerate(ways(tree, columns)):
        for node, share, is_end in way:
            if is_end:
                out[row] += share * node_values[node]
    return out


def ends(
    tree: Tree, columns: Columns
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Every end of every row, as offsets, nodes and shares."""
    found = [[(node, share) for node, share, ended in way if ended] for way in ways(tree, columns)]
    offset = np.cumsum([0, *map(len, found)], dtype=np.int64)
    parts = [part for row in found for part in row]
    return (
        offset,
        np.array([node for node, _ in parts], np.int32),
        np.array([share for _, share in parts]),
    )


def path(tree: Tree, columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Every node that each row visits, ascending, as ``(indptr, indices)``."""
    visited = [sorted(node for node, _, _ in way) for way in ways(tree, columns)]
    indptr = np.cumsum([0] + [len(nodes) for nodes in visited])
    return indptr.astype(np.int64), np.array([v for nodes in visited for v in nodes], np.int32)


def reach(
    tree: Tree, columns: Columns, node_alpha: NDArray[np.float64], alphas: NDArray[np.float64]
) -> NDArray[np.int32]:
    """The first node on the way to each row's end that has collapsed at each alpha, or the end."""
    out = np.empty((len(columns[0]), len(alphas)), np.int32)
    for row, end in enumerate(apply(tree, columns)):
        line = [int(end)]
        while line[0] > 0:
            line.insert(0, int(tree.parent[line[0]]))
        for j, alpha in enumerate(alphas):
            collapsed = [node for node in line if node_alpha[node] <= alpha]
            out[row, j] = collapsed[0] if collapsed else end
    return out
