"""CatBoost's trees as trees of ours: a question that needs several tests becomes a small tree.

A node of CatBoost asks one :class:`Question`, whose answer may depend on several cuts and
categories. Here these are asked one after the other, as far as what is known already leaves the
answer open; a test whose answer is known is left out. Below every end of such a small tree stands
what follows the answer there; training rows of a leaf that comes to stand in several places are
shared out as the statistics say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.exporting._catboost_questions import Category, Cut, Known, Question, Questions
from treewright.exporting._foreign import CODE, NODE, Floats, ForeignNode, single_break

__all__ = ["Expansion", "nested"]

Bits = NDArray[np.bool_]
Shares = tuple[float, float]
"""What part of the rows of a leaf is here, where the answer is no and where it is yes."""
MOST_NODES = 1_000_000
ANSWER = 9
"""Bytes that an answer takes while the tree is read."""


def nested(tree: Any, n_columns: int) -> Any:
    """A symmetric tree as nodes within nodes, the last split at the top as CatBoost draws it."""
    splits = tree["splits"] or []
    depth = len(splits)
    values = np.asarray(tree["leaf_values"], np.float64)
    if len(values) != n_columns * 2**depth or depth > 16:
        raise ValueError(f"a tree of {depth} levels has {len(values)} values")
    weights = tree.get("leaf_weights") or [0.0] * 2**depth
    here = [
        {"value": value, "weight": weight}
        for value, weight in zip(values.reshape(-1, n_columns).tolist(), weights, strict=True)
    ]
    for split in splits:  # the first is the lowest bit of a leaf's number
        pairs = zip(here[::2], here[1::2], strict=True)
        here = [{"split": split, "left": left, "right": right} for left, right in pairs]
    return here[0]


@dataclass
class Expansion:
    """The trees of a model, one after the other; ``n_nodes`` counts those of all."""

    questions: Questions
    scale: float
    n_columns: int
    n_nodes: int = 0
    nodes: list[ForeignNode] = field(default_factory=list)
    asked: dict[int, Question] = field(default_factory=dict)  # by the splits of a tree

    def columns(self, tree: Any) -> Iterator[list[ForeignNode]]:
        """The nodes of a tree, for each column of scores."""
        self.nodes, self.asked = [], {}
        self._place(tree, Known(), 1.0)
        self._sum_up()
        self.questions.room.left += ANSWER * sum(q.answers.size for q in self.asked.values())
        for k in range(self.n_columns):
            yield [replace(node, value=[node.value[k]], gain=self._gain(node, k))
                   for node in self.nodes]  # fmt: skip

    def _add(self, node: ForeignNode) -> int:
        self.n_nodes += 1
        if self.n_nodes > MOST_NODES:
            raise ParameterError(
                f"from_catboost reads models that take up to {MOST_NODES} nodes as trees of single "
                "tests, got more: statistics of combinations need many; train with "
                "max_ctr_complexity=1."
            )
        n_codes = 0 if node.branches is None else len(node.branches[0])
        self.questions.room.take(1, NODE + CODE * n_codes, "nodes")
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _place(self, tree: Any, known: Known, share: float) -> int:
        """Add what ``tree`` is for rows of which this is known; its number."""
        if "split" not in tree:
            value = tree["value"]
            values = value if isinstance(value, list) else [value]
            if len(values) != self.n_columns:
                raise ValueError(f"a leaf has {len(values)} values")
            weight = float(tree["weight"]) * share
            return self._add(
                ForeignNode([self.scale * v for v in values], n_samples=weight, weight=weight)
            )
        split = tree["split"]
        if id(split) not in self.asked:  # one object for a whole level of a symmetric tree
            question = self.questions.ask(split)
            self.questions.room.take(question.answers.size, ANSWER, "answers of a tree's tests")
            self.asked[id(split)] = question
        return self._decide(tree, self.asked[id(split)], known, (share, share))

    def _decide(self, tree: Any, question: Question, known: Known, shares: Shares) -> int:
        """Add tests until the answer is known, then what follows it."""
        cases = [known.cases(variable) for variable in question.variables]
        answers, rows = question.answers[np.ix_(*cases)], question.rows[np.ix_(*cases)]
        if answers.all() or not answers.any():
            yes = bool(answers.flat[0])
            return self._place(tree["right" if yes else "left"], known, shares[yes])
        axis = _next_axis(answers)
        variable = question.variables[axis]
        answers, rows = np.moveaxis(answers, axis, 0), np.moveaxis(rows, axis, 0)
        group = _groups(variable, answers)
        place = self._add(_test(variable, cases[axis], group))
        children = []
        for here in (group == k for k in range(group.max() + 1)):
            parts = _parts(answers, rows, here)
            below = known.within(variable, cases[axis][here])
            part = shares[0] * parts[0], shares[1] * parts[1]
            children.append(self._decide(tree, question, below, part))
        self.nodes[place].children = children
        return place

    def _sum_up(self) -> None:
        """Weights and means of inner nodes, which stand before those below them."""
        for node in reversed(self.nodes):
            if node.children:
                below = [self.nodes[child] for child in node.children]
                node.weight = node.n_samples = math.fsum(child.weight for child in below)
                weights = [c.weight for c in below] if node.weight > 0 else [1.0] * len(below)
                node.value = [
                    math.fsum(w * c.value[k] for w, c in zip(weights, below, strict=True))
                    / math.fsum(weights)
                    for k in range(self.n_columns)
                ]

    def _gain(self, node: ForeignNode, k: int) -> float:
        """What a split adds to the variance of the tree's answers: the file has no gains."""
        below = (self.nodes[child] for child in node.children)
        return math.fsum(c.weight * (c.value[k] - node.value[k]) ** 2 for c in below)


def _next_axis(answers: Bits) -> int:
    """The variable with the fewest cases of those that the answer depends on."""
    axes = (k for k in range(answers.ndim) if (answers != answers.take([0], k)).any())
    return min(axes, key=lambda k: answers.shape[k])


def _groups(variable: Cut | Category, answers: Bits) -> NDArray[np.intp]:
    """The branch of each case: categories with the same answers go together."""
    if isinstance(variable, Cut):
        return np.arange(2)
    flat = answers.reshape(len(answers), -1)
    return np.unique(flat, axis=0, return_inverse=True)[1].reshape(-1)


def _test(
    variable: Cut | Category, cases: NDArray[np.intp], group: NDArray[np.intp]
) -> ForeignNode:
    node = ForeignNode([], feature=variable.feature)
    if isinstance(variable, Cut):
        node.at, node.closed = single_break(variable.border, closed=True)
        node.gap = variable.gap
        return node
    is_known = cases < variable.n_cases - 1
    unknown = group[~is_known]  # branch of categories that nobody knows
    node.gap = int(unknown[0]) if len(unknown) else 0
    node.branches = cases[is_known].astype(np.int32), group[is_known].astype(np.int32)
    return node


def _parts(answers: Bits, rows: Floats, here: Bits) -> Shares:
    """What part of the rows that get each answer has the cases ``here``."""

    def part(kind: Bits) -> float:
        counted = rows * kind if (rows * kind).any() else kind
        return float(counted[here].sum() / max(counted.sum(), 1))

    return part(~answers), part(answers)
