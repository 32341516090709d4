"""One row in a diagram: the way that it takes, what it has at each test, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treewright.tree.show.paths import as_numbers, encoded_row, split_value, trace_values
from treewright.tree.tree import Tree

__all__ = ["Lit"]


@dataclass(frozen=True)
class Lit:
    """The way of a highlighted row.

    Parameters
    ----------
    nodes
        Nodes that the row, or a part of it, comes to.
    values
        What it has at each of their tests, as numbers; NaN for a gap.
    reasons
        Every step in words: gaps, surrogates and shares are explained there.
    """

    nodes: frozenset[int]
    values: dict[int, float]
    reasons: tuple[str, ...]

    @classmethod
    def of(cls, tree: Tree, row: Any) -> Lit:
        """The way of ``row`` through a tree."""
        encoded = encoded_row(tree, row)
        numbers = as_numbers(tree, encoded)
        path = trace_values(tree, encoded)
        nodes = frozenset(step.node for step in path)
        values = {
            node: split_value(tree.splits, node, numbers)
            for node in nodes
            if tree.first_child[node] >= 0
        }
        return cls(nodes, values, tuple(str(step) for step in path))
