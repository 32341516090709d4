"""Which parts of a tree are drawn, so that any tree gives a picture of bounded size.

The tree is opened from the root, the node with most rows first, until there are as many ends as
are wanted. What stays closed becomes one part: a subtree, the lightest branches of a node with
very many, or the branches that no training row took.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from treewright.tree.tree import Tree

__all__ = ["MAX_ENDS", "Part", "fold", "leaves_below"]

MAX_ENDS = 2000
"""Ends that are drawn where all are asked for."""
MAX_BRANCHES = 12
"""Branches of a node that are drawn one by one; of more the lightest share a part."""

Kind = Literal["split", "leaf", "fold", "rest", "empty"]


@dataclass
class Part:
    """One drawn thing.

    ``split`` is an opened node, ``leaf`` a leaf, ``fold`` a closed subtree; ``rest`` are several
    branches of the parent together, ``empty`` those without training rows. ``nodes`` are the node,
    or the branches' nodes; ``parent`` and ``children`` are numbers of parts.
    """

    kind: Kind
    nodes: tuple[int, ...]
    parent: int
    level: int
    children: list[int] = field(default_factory=list)

    @property
    def node(self) -> int:
        """The node, or the first of several."""
        return self.nodes[0]


def leaves_below(tree: Tree) -> NDArray[np.int64]:
    """Number of leaves below each node; 1 for a leaf itself."""
    count = tree.is_leaf.astype(np.int64)
    order = np.argsort(tree.node_depth, kind="stable")
    level_end = np.cumsum(np.bincount(tree.node_depth))
    for level in range(len(level_end) - 1, 0, -1):
        nodes = order[level_end[level - 1] : level_end[level]]
        np.add.at(count, tree.parent[nodes], count[nodes])
    return count


def fold(
    tree: Tree,
    max_ends: int | None,
    max_depth: int | None = None,
    keep_open: Collection[int] = (),
) -> list[Part]:
    """The parts of a picture with about ``max_ends`` ends, parents first, branches in order.

    Nodes of ``keep_open`` are opened in any case, such as those on the way of a row.
    """
    opened = _opened(tree, min(max_ends or MAX_ENDS, MAX_ENDS), max_depth, keep_open)
    parts = [_part(tree, 0, -1, 0, opened)]
    for number, part in enumerate(parts):  # grows while it is walked
        if part.kind != "split":
            continue
        for kind, nodes in opened[part.node]:
            if kind == "one":
                child = _part(tree, nodes[0], number, part.level + 1, opened)
            else:
                child = Part(kind, nodes, number, part.level + 1)  # type: ignore[arg-type]
            part.children.append(len(parts))
            parts.append(child)
    return parts


Branches = list[tuple[str, tuple[int, ...]]]


def _part(tree: Tree, node: int, parent: int, level: int, opened: dict[int, Branches]) -> Part:
    kind: Kind = "split" if node in opened else "leaf" if tree.is_leaf[node] else "fold"
    return Part(kind, (node,), parent, level)


def _opened(
    tree: Tree, max_ends: int, max_depth: int | None, keep_open: Collection[int]
) -> dict[int, Branches]:
    """The nodes that are opened, and how their branches are grouped."""
    kept = set(keep_open)
    opened: dict[int, Branches] = {}
    n_ends = 1

    def entry(node: int) -> tuple[bool, int, int]:
        return (node not in kept, -int(tree.n_samples[node]), node)

    waiting = [entry(0)]
    while waiting:
        _, _, node = heapq.heappop(waiting)
        is_deep = max_depth is not None and int(tree.node_depth[node]) >= max_depth
        if tree.is_leaf[node] or is_deep:
            continue
        must = node == 0 or node in kept
        branches = _grouped(tree, node, max(max_ends - n_ends + 1, 3 if must else 0), kept)
        if branches is None or (n_ends - 1 + len(branches) > max_ends and not must):
            continue
        n_ends += len(branches) - 1
        opened[node] = branches
        for kind, nodes in branches:
            if kind == "one":
                heapq.heappush(waiting, entry(nodes[0]))
    return opened


def _grouped(tree: Tree, node: int, room: int, kept: set[int]) -> Branches | None:
    """Branches of a node in order, with those without rows and the lightest of many together."""
    children = np.arange(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
    rows = tree.n_samples[children]
    if len(children) <= min(MAX_BRANCHES, room) and rows.all():
        return [("one", (child,)) for child in children.tolist()]
    wanted = np.isin(children, list(kept)) if kept else np.zeros(len(children), np.bool_)
    is_empty = (rows == 0) & ~wanted
    most = min(MAX_BRANCHES, room - int(is_empty.any()))
    alone = np.flatnonzero(~is_empty)
    if len(alone) > most:
        if most < 3:
            return None
        order = np.lexsort((alone, -rows[alone], ~wanted[alone]))
        alone = np.sort(alone[order[: most - 1]])
    branches: Branches = [("one", (int(children[k]),)) for k in alone.tolist()]
    left_over = np.setdiff1d(np.flatnonzero(~is_empty), alone)
    if len(left_over):
        branches.append(("rest", tuple(children[left_over].tolist())))
    if is_empty.any():
        branches.append(("empty", tuple(children[is_empty].tolist())))
    return branches
