"""Trees made of a shape and a risk per node, for tests of pruning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from treewright.data.schema import Feature, Schema, Target
from treewright.tree.split import SplitKind, Splits
from treewright.tree.tree import Tree

CLASSES = Target("y", ("no", "yes"))
NUMBER = Target("y")


def make_tree(
    first_child: ArrayLike,
    n_children: ArrayLike,
    risk: ArrayLike,
    target: Target = CLASSES,
    splits: Splits | None = None,
    **columns: Any,
) -> Tree:
    """A tree with the given shape and risks; all other columns may be left out."""
    first = np.asarray(first_child, np.int32)
    n = len(first)
    given: dict[str, Any] = {
        "default": np.where(first < 0, -2, 0).astype(np.int32),
        "surrogate_offset": np.zeros(n + 1, np.int64),
        "surrogates": no_splits(0),
        "surrogate_agreement": np.zeros(0),
        "surrogate_adjusted": np.zeros(0),
        "n_samples": np.full(n, 100),
        "weight": np.full(n, 100.0),
        "value": np.full((n, max(1, len(target.classes))), 0.5),
        "label": np.zeros(n if target.classes else 0, np.int32),
        "impurity": np.zeros(n),
        "gain": np.zeros(n),
    }
    return Tree(
        schema=Schema((Feature("x", "continuous"),), target=target),
        first_child=first,
        n_children=np.asarray(n_children, np.int32),
        splits=no_splits(n) if splits is None else splits,
        risk=np.asarray(risk, np.float64),
        **(given | columns),
    )


def no_splits(n: int) -> Splits:
    """Splits that are never asked."""
    return break_splits(np.full(n, np.nan))


def break_splits(threshold: NDArray[np.float64]) -> Splits:
    """``x < threshold`` on the only feature; NaN for a leaf."""
    is_inner = ~np.isnan(threshold)
    n = len(threshold)
    return Splits(
        kind=np.where(is_inner, SplitKind.BREAKS, SplitKind.LEAF).astype(np.uint8),
        feature=np.where(is_inner, 0, -1).astype(np.int32),
        closed=np.zeros(n, np.bool_),
        reversed=np.zeros(n, np.bool_),
        break_offset=np.concatenate([[0], np.cumsum(is_inner)]).astype(np.int64),
        breaks=threshold[is_inner],
        code_offset=np.zeros(n + 1, np.int64),
        codes=np.zeros(0, np.int32),
        branches=np.zeros(0, np.int32),
        term_offset=np.zeros(n + 1, np.int64),
        term_feature=np.zeros(0, np.int32),
        term_weight=np.zeros(0),
    )


@st.composite
def shapes(draw: st.DrawFn, max_inner: int = 6, max_children: int = 3) -> tuple[Any, Any]:
    """Child arrays of a random tree: some leaf is split, again and again."""
    first, count, leaves = [-1], [0], [0]
    for _ in range(draw(st.integers(0, max_inner))):
        node = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        children = range(len(first), len(first) + draw(st.integers(2, max_children)))
        first[node], count[node] = children[0], len(children)
        leaves += children
        first += [-1] * len(children)
        count += [0] * len(children)
    return np.array(first, np.int32), np.array(count, np.int32)


@st.composite
def risky_shapes(
    draw: st.DrawFn, max_inner: int = 6, max_children: int = 3, least_gain: int = -1
) -> tuple[Any, Any, Any]:
    """A shape and small whole risks: zero, equal and, below 0, negative gains are common."""
    first, count = draw(shapes(max_inner, max_children))
    risk = np.zeros(len(first))
    for t in range(len(first) - 1, -1, -1):
        below = risk[first[t] : first[t] + count[t]].sum() if count[t] else 0
        risk[t] = below + draw(st.integers(least_gain if count[t] else 0, 3))
    return first, count, risk


def chain(gains: ArrayLike) -> tuple[Any, Any, Any]:
    """A tree as deep as ``gains`` is long; the node at depth i lowers the risk by gains[i]."""
    gain = np.asarray(gains, np.float64)
    n = len(gain)
    first, count = np.full(2 * n + 1, -1, np.int32), np.zeros(2 * n + 1, np.int32)
    inner = 2 * np.arange(n)  # node 2i has the leaf 2i + 1 and the rest of the chain, 2i + 2
    first[inner], count[inner] = inner + 1, 2
    risk = np.zeros(2 * n + 1)
    risk[inner] = np.cumsum(gain[::-1])[::-1]
    return first, count, risk


def counted_tree(first: Any, count: Any, leaf_counts: Any, classes: int = 2) -> Tree:
    """A classification tree whose leaves hold these class counts; nodes hold their sums."""
    n = len(first)
    value = np.zeros((n, classes))
    leaves = np.flatnonzero(np.asarray(count) == 0)
    value[leaves] = np.asarray(leaf_counts, float)[: len(leaves)]
    for t in range(n - 1, -1, -1):
        if count[t]:
            value[t] = value[first[t] : first[t] + count[t]].sum(axis=0)
    label = value.argmax(axis=1).astype(np.int32)
    total = value.sum(axis=1)
    for t in range(n):  # an empty branch has the label of its parent
        for c in range(first[t], first[t] + count[t]) if count[t] else ():
            if total[c] == 0:
                label[c] = label[t]
    share = value / np.maximum(total, 1e-300)[:, None]
    impurity = np.where(total > 0, 1 - (share**2).sum(axis=1), 0.0)
    cost = impurity * total / total[0]
    gain = np.zeros(n)
    for t in range(n):
        if count[t]:
            gain[t] = cost[t] - cost[first[t] : first[t] + count[t]].sum()
    return make_tree(
        first,
        count,
        (total - value[np.arange(n), label]) / total[0],
        Target("y", tuple("abcdef"[:classes])),
        value=value,
        weight=total,
        n_samples=total.astype(np.int64),
        label=label,
        impurity=impurity,
        gain=np.maximum(gain, 0.0),
    )


@st.composite
def counted_trees(draw: st.DrawFn, max_inner: int = 5, max_children: int = 3) -> Tree:
    """A small classification tree with few rows at its leaves, so that ties are common."""
    first, count = draw(shapes(max_inner, max_children))
    classes = draw(st.integers(2, 3))
    n_leaves = int((count == 0).sum())
    cells = st.lists(st.integers(0, 6), min_size=classes, max_size=classes)
    counts = draw(st.lists(cells, min_size=n_leaves, max_size=n_leaves))
    counts[0][0] += 1  # a tree has rows
    return counted_tree(first, count, counts, classes)


def all_prunings(first: Any, count: Any, node: int = 0) -> Iterator[frozenset[int]]:
    """Every subtree with the same root, as the set of its leaves."""
    yield frozenset([node])
    if count[node]:
        children = range(first[node], first[node] + count[node])
        for parts in product(*(list(all_prunings(first, count, c)) for c in children)):
            yield frozenset().union(*parts)


def inner_nodes(tree: Tree, leaves: frozenset[int]) -> list[int]:
    """Nodes of a pruning that stay split."""
    found, stack = [], [0]
    while stack:
        t = stack.pop()
        if t not in leaves:
            found.append(t)
            stack.extend(tree.children(t))
    return found
