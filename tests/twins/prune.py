"""Twins of the pruning kernels, by definition and without haste.

The weakest link is found as the book tells it: collapse the nodes with the smallest g, compute
every g anew, go on until the root is left. Quadratic and worse; for tests.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "cheapest_pruning",
    "one_level_link",
    "pruning_steps",
    "subtree_sums",
    "weakest_link",
]

Floats = NDArray[np.float64]
Ids = NDArray[np.int32]


def _children(first_child: Ids, n_children: Ids) -> list[range]:
    return [
        range(int(first), int(first + count)) if count else range(0)
        for first, count in zip(first_child, n_children, strict=True)
    ]


def weakest_link(first_child: Ids, n_children: Ids, risk: Floats, tolerance: float = 0.0) -> Floats:
    """Complexity at which each node collapses in the nested sequence; 0 at leaves."""
    children = _children(first_child, n_children)
    n = len(children)
    node_alpha = np.zeros(n)
    is_split = [len(c) > 0 for c in children]
    highest = 0.0
    while is_split[0]:
        below, leaves = risk.astype(float).copy(), np.ones(n)
        g = np.full(n, np.inf)
        for t in range(n - 1, -1, -1):
            if is_split[t]:
                below[t] = below[children[t]].sum()
                leaves[t] = leaves[children[t]].sum()
                g[t] = (risk[t] - below[t]) / (leaves[t] - 1)
        weakest = g.min()
        highest = max(highest, 0.0 if weakest <= tolerance else weakest)
        for t in range(n):
            if is_split[t] and g[t] <= weakest + tolerance:
                _collapse(t, children, is_split, node_alpha, highest)
    return node_alpha


def _collapse(
    node: int, children: list[range], is_split: list[bool], node_alpha: Floats, alpha: float
) -> None:
    stack = [node]
    while stack:
        t = stack.pop()
        if is_split[t]:
            is_split[t] = False
            node_alpha[t] = alpha
            stack.extend(children[t])


def one_level_link(
    first_child: Ids, n_children: Ids, risk: Floats, tolerance: float = 0.0
) -> Floats:
    """Complexity at which each node collapses by rpart's rule; 0 at leaves."""
    children = _children(first_child, n_children)
    alpha = np.zeros(len(children))
    seen = [(float(r), 1) for r in risk]  # risk and leaves of the subtree as its parent sees it
    for t in range(len(children) - 1, -1, -1):
        if not children[t]:
            continue
        parts = {c: seen[c] for c in children[t]}
        alpha[t] = _gain_per_leaf(risk[t], parts)
        inner = [c for c in children[t] if children[c]]
        for c in sorted(inner, key=lambda c: float(alpha[c])):
            if alpha[t] > alpha[c] + tolerance:
                parts[c] = (float(risk[c]), 1)
                alpha[t] = _gain_per_leaf(risk[t], parts)
        seen[t] = (sum(r for r, _ in parts.values()), sum(n for _, n in parts.values()))
    for t, below in enumerate(children):
        for c in below:
            if children[c]:
                alpha[c] = min(alpha[c], alpha[t])
    return alpha


def _gain_per_leaf(risk: float, parts: dict[int, tuple[float, int]]) -> float:
    n_leaves = sum(n for _, n in parts.values())
    return (risk - sum(r for r, _ in parts.values())) / (n_leaves - 1)


def pruning_steps(
    first_child: Ids, n_children: Ids, risk: Floats, node_alpha: Floats, tolerance: float = 0.0
) -> tuple[Floats, NDArray[np.int64], Floats, Floats]:
    """Alphas, leaf counts and risks of the nested subtrees, and node_alpha made equal to them."""
    children = _children(first_child, n_children)
    inner = [t for t, below in enumerate(children) if below]
    alphas = [0.0]
    equal = np.zeros(len(children))
    for t in sorted(inner, key=lambda t: float(node_alpha[t])):
        if node_alpha[t] > alphas[-1] + tolerance:
            alphas.append(float(node_alpha[t]))
        equal[t] = alphas[-1]
    n_leaves, risks = [], []
    for alpha in alphas:
        leaves, stack = [], [0]
        while stack:
            t = stack.pop()
            if children[t] and equal[t] > alpha:
                stack.extend(children[t])
            else:
                leaves.append(t)
        n_leaves.append(len(leaves))
        risks.append(float(risk[leaves].sum()))
    return np.array(alphas), np.array(n_leaves), np.array(risks), equal


def cheapest_pruning(
    first_child: Ids,
    n_children: Ids,
    as_leaf: Floats,
    of_test: Floats,
    as_left: Floats | None = None,
    slack: float = 0.0,
) -> tuple[NDArray[np.uint8], Floats, NDArray[np.int64]]:
    """What becomes of each node (0 stays, 1 leaf, 2 left to its parent), its cost, its leaves."""
    children = _children(first_child, n_children)
    fate = np.zeros(len(children), np.uint8)
    below, leaves = as_leaf.astype(float).copy(), np.ones(len(children), np.int64)
    cost = below.copy()
    for t in range(len(children) - 1, -1, -1):
        below_t = list(children[t])
        if not below_t:
            continue
        if as_left is not None:
            dear = [as_left[c] - cost[c] for c in below_t]
            kept = int(np.argmax(dear)) if max(dear) < 0 else -1
            for i, c in enumerate(below_t):
                if dear[i] < 0 and i != kept:
                    fate[c], cost[c] = 2, as_left[c]
        below[t] = of_test[t] + sum(cost[c] for c in below_t)
        leaves[t] = sum(1 if fate[c] else leaves[c] for c in below_t)
        fate[t] = as_leaf[t] <= below[t] + slack
        cost[t] = as_leaf[t] if fate[t] else below[t]
    return fate, below, leaves


def subtree_sums(first_child: Ids, n_children: Ids, own: Floats) -> Floats:
    """Sums over each node and all below it."""
    sums = own.astype(float).copy()
    for t, below in reversed(list(enumerate(_children(first_child, n_children)))):
        sums[t] += sums[list(below)].sum(axis=0)
    return sums
