"""What columns of trees follow from others to the last bit, and need not be stored.

Counts of a node are the sums of its children's; label, impurity and risk come from class weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.io._narrow import require
from treewright.tree.growing.values import class_nodes, label_empty

__all__ = ["RULES", "Shape", "apply_rule", "rule_for"]

Array = NDArray[Any]


class Shape:
    """Who is whose child, over all trees at once."""

    def __init__(self, whole: dict[str, Array], sizes: Array) -> None:
        self.sizes = sizes
        self.offset = np.concatenate([[0], np.cumsum(sizes)])
        self.n_nodes = int(self.offset[-1])
        start = np.repeat(self.offset[:-1], sizes)
        self.place = (np.arange(self.n_nodes) - start).astype(np.int32)
        self.inner = whole["first_child"] >= 0
        self.root = self.offset[:-1]
        nodes = np.flatnonzero(self.inner)
        self.count = whole["n_children"][nodes].astype(np.int64)
        self.first = whole["first_child"][nodes] + start[nodes]
        self.nodes = nodes

    def check(self) -> None:
        """Refuse what could not be walked; each tree is checked whole later on."""
        last = self.offset[np.searchsorted(self.offset, self.nodes, side="right")]
        fits = (self.first > self.nodes) & (self.count > 0) & (self.first + self.count <= last)
        require(bool(np.all(fits)), "a node has children that do not exist")
        require(int(self.count.sum()) == self.n_nodes - len(self.sizes), "a node has no parent")

    def sums(self, leaves: Array) -> Array:
        """Values of leaves handed up to all nodes; ``leaves`` has zeros at inner nodes."""
        total = leaves.copy()
        parent = np.full(self.n_nodes, -1)
        start = np.repeat(self.first - (np.cumsum(self.count) - self.count), self.count)
        parent[start + np.arange(len(start))] = np.repeat(self.nodes, self.count)
        for nodes in self._levels(parent):
            np.add.at(total, parent[nodes], total[nodes])
        return total

    def _levels(self, parent: Array) -> list[Array]:
        """Nodes of each depth, the deepest first; roots left out."""
        depth = (parent >= 0).astype(np.int32)
        above = np.maximum(parent, 0)
        above[parent < 0] = np.flatnonzero(parent < 0)
        while True:
            step = depth[above]
            if not step.any():
                break
            depth += step
            above = above[above]
        order = np.argsort(depth, kind="stable")
        ends = np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 2))
        pairs = itertools.pairwise(ends)
        return [order[a:b] for a, b in pairs][::-1]


def rule_for(
    name: str, column: Array, whole: dict[str, Array], shape: Shape, schema: Schema
) -> str | None:
    """The rule that gives a column to the last bit; None if there is none."""
    for rule in RULES.get(name, ()):
        found = apply_rule(rule, name, column, whole, shape, schema)
        if found is not None and found.tobytes() == np.ascontiguousarray(column).tobytes():
            return rule
    return None


RULES: dict[str, tuple[str, ...]] = {
    "n_samples": ("sum",),
    "value": ("sum",),
    "weight": ("total", "sum"),
    "impurity": ("gini", "entropy"),
    "risk": ("gini", "entropy", "share"),
    "label": ("gini", "entropy", "none"),
}


def apply_rule(
    rule: str,
    name: str,
    column: Array,
    whole: dict[str, Array],
    shape: Shape,
    schema: Schema,
) -> Array | None:
    """A column by a rule; of ``column`` only the leaves are looked at, where it is a sum."""
    target = schema.target
    assert target is not None
    if rule == "sum":
        if name == "value" and not target.is_classification:
            return None
        inner = shape.inner if column.ndim == 1 else shape.inner[:, None]
        return shape.sums(np.where(inner, np.zeros((), column.dtype), column))
    if rule == "total":
        return np.asarray(whole["value"].sum(axis=1)) if target.is_classification else None
    if rule == "none":
        return None if target.is_classification else np.zeros(shape.n_nodes, np.int32)
    if rule == "share":
        root = np.repeat(whole["weight"][shape.root], shape.sizes)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(root > 0, whole["weight"] / root, whole["weight"])
        return np.asarray(whole["impurity"] * share)
    if not target.is_classification:
        return None
    which = {"label": 0, "impurity": 1, "risk": 2}[name]
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [_class_columns(rule, whole, a, b)[which] for a, b in _spans(shape)]
    return np.concatenate(parts)


def _spans(shape: Shape) -> Iterator[tuple[int, int]]:
    ends = shape.offset.tolist()
    return itertools.pairwise(ends)


def _class_columns(rule: str, whole: dict[str, Array], a: int, b: int) -> tuple[Array, ...]:
    """Label, impurity and risk of one tree from its class weights."""
    value = whole["value"][a:b]
    label, impurity, risk = class_nodes(value, value, rule, None)
    first, count = whole["first_child"][a:b], whole["n_children"][a:b]
    return label_empty(label, whole["weight"][a:b], first, count), impurity, risk
