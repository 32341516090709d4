"""The whole tree at a glance: every node a bar as wide as its rows, below its parent.

Stands beside a diagram in which parts are folded. Bars too narrow to be seen are left out, so its
size is bounded by the room it takes, not by the tree.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from treewright.tree.show.colours import Palette
from treewright.tree.show.scene import Command, Group, Path, Rect, Shape, Text
from treewright.tree.tree import Tree

__all__ = ["icicle", "icicle_height"]

MAX_LEVELS = 40
STEPS = 6
"""Strengths of a colour that are told apart."""
NARROWEST = 0.6


def icicle_height(tree: Tree, height: float) -> float:
    """How high the overview is, with the words below it, where there is ``height``."""
    n_levels = min(tree.depth, MAX_LEVELS) + 1
    return min(16.0, height / n_levels) * n_levels + 33


def icicle(tree: Tree, palette: Palette, ends: list[int], width: float, height: float) -> Group:
    """The overview; ``ends`` are the nodes at which the diagram beside it stops."""
    n_levels = min(tree.depth, MAX_LEVELS) + 1
    step = min(16.0, height / n_levels)
    start, extent = _spans(tree, n_levels)
    x, w = start * width, extent * width
    shown = np.flatnonzero((w >= NARROWEST) & (tree.node_depth < n_levels))
    areas: dict[tuple[str, float], list[Command]] = defaultdict(list)
    for node in shown.tolist():
        areas[_paint(tree, palette, node)] += _rectangle(
            x[node], float(tree.node_depth[node]) * step, max(w[node] - 0.4, 0.4), step - 0.6
        )
    shapes: list[Shape] = [Rect(0, 0, width, n_levels * step, "ground")]
    shapes += [
        Path(commands, fill=role, opacity=opacity) for (role, opacity), commands in areas.items()
    ]
    drawn = [
        _rectangle(x[node], float(tree.node_depth[node]) * step, max(w[node] - 0.4, 0.4), step)
        for node in ends
        if tree.node_depth[node] < n_levels and w[node] >= NARROWEST
    ]
    outline = [command for rectangle in drawn for command in rectangle]
    if outline:
        shapes.append(Path(outline, "ink", line_width=0.9))
    for k, words in enumerate(
        (f"all {tree.n_leaves} leaves, as wide as their rows;", "outlined: where the diagram stops")
    ):
        shapes.append(Text(0, n_levels * step + 13 * (k + 1), words, 10, "soft"))
    label = f"overview of all {tree.n_leaves} leaves and {tree.depth + 1} levels"
    return Group(0, 0, shapes, label, label, "overview")


def _spans(tree: Tree, n_levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Start and extent of every node as shares of the whole; children fill their parent."""
    weight = np.maximum(tree.weight, 0)
    before = np.cumsum(weight) - weight
    parent = tree.parent
    start, extent = np.zeros(tree.n_nodes), np.ones(tree.n_nodes)
    order = np.argsort(tree.node_depth, kind="stable")
    ends = np.cumsum(np.bincount(tree.node_depth))
    for level in range(1, n_levels):
        nodes = order[ends[level - 1] : ends[level]]
        above = parent[nodes]
        first = tree.first_child[above]
        last = first + tree.n_children[above] - 1
        total = np.maximum(before[last] + weight[last] - before[first], 1e-300)
        extent[nodes] = extent[above] * weight[nodes] / total
        start[nodes] = start[above] + extent[above] * (before[nodes] - before[first]) / total
    return start, extent


def _paint(tree: Tree, palette: Palette, node: int) -> tuple[str, float]:
    if palette.scale is not None:
        share = palette.position(float(tree.value[node, 0]))
        return "value", round(palette.strength(round(share * STEPS) / STEPS), 2)
    label = int(tree.label[node])
    share = float(tree.probability[node, label])
    return f"class{label}", round(0.15 + 0.85 * round(share * STEPS) / STEPS, 2)


def _rectangle(x: float, y: float, width: float, height: float) -> list[Command]:
    return [
        ("M", x, y),
        ("L", x + width, y),
        ("L", x + width, y + height),
        ("L", x, y + height),
        ("L", x, y),
    ]
