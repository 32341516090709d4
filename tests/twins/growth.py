"""Twin of the growth loop: depth first, one node after another, by the twin of the split search.

A row and its weight travel together, so that a gap may go down several branches with a part of
its weight each (``missing="fractional"``). Surrogates, drawn features, random cuts, monotonic
constraints and best-first growth are not here; for tests on small data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.twins.split_search import Best, Rows, Way, best_way
from treewright.data.schema import Target
from treewright.data.table import Table
from treewright.tree.growing.recipe import ClassCosts, Recipe

__all__ = ["GrownNode", "grow"]


@dataclass(eq=False)
class GrownNode:
    """A node with its rows, the value a leaf would have here, and what was chosen."""

    index: NDArray[np.int64]
    rows: Rows
    depth: int
    value: NDArray[np.float64]
    feature: int = -1
    best: Best | None = None
    children: list[GrownNode] = field(default_factory=list)

    def walk(self) -> Iterator[GrownNode]:
        """The node and all below it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()


def grow(
    table: Table,
    y: NDArray[Any],
    recipe: Recipe,
    *,
    target: Target,
    sample_weight: NDArray[np.float64] | None = None,
    costs: ClassCosts | None = None,
) -> GrownNode:
    """Grow a tree; the arguments are those of :func:`treewright.tree.grow.grow`."""
    weight = np.ones(table.n_rows) if sample_weight is None else sample_weight
    rows = Rows(y, weight, target, recipe, costs)
    rows = replace(rows, total=rows.root_weight())
    return _grow_node(table, np.arange(table.n_rows), rows, 0)


def _grow_node(table: Table, index: NDArray[np.int64], rows: Rows, depth: int) -> GrownNode:
    node = GrownNode(index, rows, depth, node_value(rows))
    if is_terminal(rows, depth):
        return node
    feature, best = choose(table, index, rows)
    if best is None:
        return node
    node.feature, node.best = feature, best
    for here, part in _divide(best.way, rows):
        node.children.append(_grow_node(table, index[here], part, depth + 1))
    return node


def node_value(rows: Rows) -> NDArray[np.float64]:
    """Class weights, or the mean or median of each output."""
    if rows.target.is_classification:
        counts = np.bincount(rows.y, rows.weight, len(rows.target.classes))
        return counts.astype(np.float64)
    outputs = rows.y.reshape(len(rows), -1).T
    if rows.recipe.criterion == "absolute_error":
        return np.array([_median(y, rows.weight) for y in outputs])
    return np.array([np.average(y, weights=rows.weight) for y in outputs])


def _median(y: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Where half the weight lies below; the middle of two values that both are medians."""
    order = np.argsort(y)
    below = np.cumsum(weight[order])
    at = int(np.searchsorted(below, below[-1] / 2))
    is_between = below[at] == below[-1] / 2
    return float(y[order[at]] / 2 + y[order[at + 1 if is_between else at]] / 2)


def is_terminal(rows: Rows, depth: int) -> bool:
    """Whether a node is a leaf before any split is tried."""
    recipe = rows.recipe
    if len(rows) < max(recipe.min_samples_split, 2 * recipe.min_samples_leaf):
        return True
    if recipe.max_depth is not None and depth >= recipe.max_depth:
        return True
    if rows.weight.sum() < 2 * recipe.min_weight_leaf:
        return True
    return bool(np.all(rows.y == rows.y[0]))


def choose(table: Table, index: NDArray[np.int64], rows: Rows) -> tuple[int, Best | None]:
    """The first feature whose best way lies within the tie tolerance of the best of all."""
    winner: tuple[int, Best | None] = (-1, None)
    for number, feature in enumerate(table.schema.features):
        best = best_way(rows, table.columns[number][index], feature)
        if best is not None and _beats(best, winner[1]):
            winner = number, best
    best, recipe = winner[1], rows.recipe
    # Losses that are no metric can make every split cost more than it saves.
    if best is None or best.is_negative or (best.is_zero and not recipe.zero_gain):
        return -1, None
    gain = 0.0 if best.is_zero else best.gain
    return winner if gain >= recipe.min_gain else (-1, None)


def _beats(best: Best, other: Best | None) -> bool:
    return other is None or best.gain > other.gain + 1e-12 * abs(other.gain) + 1e-15 * other.scale


def _divide(way: Way, rows: Rows) -> Iterator[tuple[NDArray[np.int64], Rows]]:
    """Positions and rows of each branch, after the gaps that took no part have been sent on."""
    branches = range(int(way.max()) + 1)
    weight = np.array([rows.weight[way == branch].sum() for branch in branches])
    if rows.recipe.missing == "majority":
        way = np.where(way < 0, int(np.argmax(weight)), way)
    for branch in branches:
        here = np.flatnonzero((way == branch) | (way < 0))
        part = rows.take(here)
        share = np.where(way[here] < 0, weight[branch] / weight.sum(), 1.0)
        yield here, replace(part, weight=part.weight * share)
