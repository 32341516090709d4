"""The rules that a rule set is chosen from: the nodes of a tree, without what does not pay.

Every leaf is a rule, and for C5.0 every other node too. Conditions that do not pay are dropped
(``core/rules/generalise.hpp``). ``choose_candidates`` keeps those that tell the classes, one by
one, in the fewest bits (``core/rules/choice.cpp``).

The bits of a condition are fitted to what c4.5rules prints, which is all that is published of
them: log2 of the features, plus 1.2 × the entropy of the categories (a gap is one more), or
1.3 + log2(values) / 2 for a cut.

Rules stay lists into one pool of conditions until they are chosen: a large tree has hundreds of
conditions for each that is kept.

References: Quinlan (1993), *C4.5: Programs for Machine Learning*, chapter 5; Quinlan (1995), *MDL
and categorical theories (continued)*, ICML-95.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import lgamma, log, log2

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.kernels import RuleMatcher
from treewright.kernels.rules import choose_rules, error_rate
from treewright.rules._matching import ConditionPool, distinct_conditions, table_rows
from treewright.tree.conditions import Condition, Members, branch_conditions
from treewright.tree.predict import apply
from treewright.tree.tree import Tree

__all__ = [
    "Candidates",
    "ErrorRules",
    "TrainingRows",
    "choose_candidates",
    "generalised_rules",
    "leaf_paths",
]

Floats = NDArray[np.float64]

MOST_EXHAUSTIVE = 10
"""Most rules of a class of which every subset is tried."""

MOST_STARTS, STARTED_RULES = 100, 10_000
"""Most random subsets of the rules of a class that the search starts from, and rules in them."""


@dataclass(frozen=True, eq=False, slots=True)
class TrainingRows:
    """Rows to learn from: a table, class codes and weights (None for ones)."""

    table: Table
    y: NDArray[np.int32]
    weight: Floats | None
    n_classes: int
    n_threads: int = 1

    @property
    def weights(self) -> Floats:
        """As the kernels take them: empty for ones."""
        return np.empty(0) if self.weight is None else np.ascontiguousarray(self.weight)

    def class_totals(self) -> Floats:
        """Weight of each class."""
        return np.bincount(self.y, self.weight, self.n_classes).astype(np.float64)

    def take(self, order: NDArray[np.int64]) -> TrainingRows:
        """The rows in another order."""
        weight = None if self.weight is None else self.weight[order]
        return TrainingRows(
            self.table.take(order), self.y[order], weight, self.n_classes, self.n_threads
        )


@dataclass(frozen=True, slots=True)
class ErrorRules:
    """The upper limit of errors: confidence, its normal deviate, and the share of the tail."""

    confidence: float
    z: float
    tail: float

    def numbers(self) -> tuple[float, float, float]:
        """As the kernels take them."""
        return self.confidence, self.z, self.tail


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """Generalised rules: conditions as lists into a pool, class codes, error rates, and bits."""

    pool: ConditionPool
    tests: tuple[tuple[int, ...], ...]
    label: NDArray[np.int32]
    rate: Floats
    bits: Floats

    def __len__(self) -> int:
        return len(self.tests)

    def conditions(self, rule: int) -> tuple[Condition, ...]:
        """The conditions of a rule."""
        return tuple(self.pool.conditions[test] for test in self.tests[rule])

    def take(self, rules: NDArray[np.int64]) -> Candidates:
        """Some of the rules, in this order."""
        tests = tuple(self.tests[rule] for rule in rules.tolist())
        return Candidates(self.pool, tests, self.label[rules], self.rate[rules], self.bits[rules])

    def matcher(self) -> RuleMatcher:
        """The compiled matcher of the rules."""
        offset = np.cumsum([0, *map(len, self.tests)], dtype=np.int64)
        listed = np.array([test for tests in self.tests for test in tests], np.int32)
        return self.pool.matcher(offset, listed)

    def coverage(self, rows: TrainingRows) -> csc_matrix:
        """Which rules (columns) hold for which rows."""
        indptr, indices = self.matcher().matches(table_rows(rows.table), rows.n_threads)
        ones = np.ones(len(indices), np.bool_)
        return csc_matrix(csr_matrix((ones, indices, indptr), (rows.table.n_rows, len(self))))


def leaf_paths(
    tree: Tree, inner: bool = False
) -> tuple[list[tuple[Condition, ...]], NDArray[np.int32]]:
    """The conditions on the way to each leaf that training rows reach, and its class code.

    With ``inner`` also those of the nodes between root and leaves.
    """
    paths, labels = [], []
    stack: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while stack:
        node, above = stack.pop()
        children = tree.children(node)
        if tree.weight[node] > 0 and (not children or (inner and above)):
            paths.append(above)
            labels.append(int(tree.label[node]))
        if not children:
            continue
        conditions = branch_conditions(tree, node)
        stack.extend(
            (child, (*above, condition))
            for child, condition in zip(reversed(children), reversed(conditions), strict=True)
        )
    return paths, np.array(labels, np.int32)


def generalised_rules(
    tree: Tree, rows: TrainingRows, errors: ErrorRules | None, inner: bool = False
) -> Candidates:
    """The rules of the leaves without the conditions that do not pay, each once.

    Rules that are right no more often than their class is frequent (by Laplace's estimate) are
    left out.

    Parameters
    ----------
    tree
        A classification tree.
    rows
        The rows that it was grown from.
    errors
        How pessimistic to be about the errors of rules; None for Laplace's estimate.
    inner
        Whether nodes that are no leaves are rules too.
    """
    paths, labels = leaf_paths(tree, inner)
    limit = None if errors is None else errors.numbers()
    distinct, offset, listed = distinct_conditions(paths)
    pool = ConditionPool(distinct, tree.schema)
    sorted_rows = rows.take(_leaf_order(tree, rows))
    kept, covered, wrong = pool.matcher(offset, listed).generalise(
        table_rows(sorted_rows.table),
        sorted_rows.y,
        sorted_rows.weights,
        rows.n_classes,
        labels,
        limit,
        rows.n_threads,
    )
    rates = (wrong + 1.0) / (covered + 2.0) if limit is None else error_rate(covered, wrong, *limit)
    stays = kept.astype(np.bool_)
    rule_of = np.repeat(np.arange(len(paths)), np.diff(offset))[stays]
    tests = listed[stays]
    cost = np.array(_condition_bits(distinct, tree.schema, rows), np.float64)
    bits = np.bincount(rule_of, cost[tests], len(paths)).astype(np.float64)
    count = np.bincount(rule_of, minlength=len(paths))
    ends = np.cumsum(count).tolist()
    flat = tests.tolist()
    lists = [tuple(flat[end - n : end]) for n, end in zip(count.tolist(), ends, strict=True)]
    totals = rows.class_totals()
    guess = (totals.sum() - totals + 1.0) / (totals.sum() + 2.0)
    found: dict[tuple[int, frozenset[int]], int] = {}
    for rule, (label, own) in enumerate(zip(labels.tolist(), lists, strict=True)):
        found.setdefault((label, frozenset(own)), rule)
    first = np.array(list(found.values()), np.int64)
    bits -= np.array([_log2_factorial(n) for n in range(count.max(initial=0) + 1)])[count]
    every = Candidates(pool, tuple(lists), labels, rates, bits)
    return every.take(first[rates[first] <= guess[labels[first]]])


def _leaf_order(tree: Tree, rows: TrainingRows) -> NDArray[np.int64]:
    """Rows leaf by leaf, in the order of the rules: those of a subtree lie together."""
    place = np.empty(tree.n_nodes, np.int64)
    place[list(tree.walk())] = np.arange(tree.n_nodes)
    return np.argsort(place[apply(tree, rows.table, rows.n_threads)], kind="stable")


def _condition_bits(conditions: list[Condition], schema: Schema, rows: TrainingRows) -> list[float]:
    """The bits to tell each condition."""
    columns = dict(zip(schema.names, rows.table.columns, strict=True))

    @cache
    def category(name: str) -> float:
        share = np.bincount(columns[name] + 1, rows.weight)  # gaps are −1
        share = share[share > 0] / share.sum()
        return 1.2 * float(-(share * np.log2(share)).sum())

    @cache
    def cut(name: str) -> float:
        values = columns[name]
        known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        return 1.3 + log2(max(len(np.unique(known)), 1)) / 2.0

    def bits(condition: Condition) -> float:
        if not isinstance(condition, Members):
            return cut(condition.subject[1])
        if len(condition.codes) == 1:
            return category(condition.feature.name)
        return len(condition.feature.categories)

    return [log2(len(schema)) + bits(condition) for condition in conditions]


def _log2_factorial(n: int) -> float:
    return lgamma(n + 1) / log(2)


def choose_candidates(candidates: Candidates, rows: TrainingRows, share: float) -> Candidates:
    """Class by class the rules that tell it in the fewest bits."""
    chosen = []
    for label in range(rows.n_classes):
        places = np.flatnonzero(candidates.label == label)
        if not len(places):
            continue
        own = candidates.take(places)
        covers = own.coverage(rows)
        covers.sort_indices()
        flags = choose_rules(
            covers.indptr,
            covers.indices,
            rows.y == label,
            rows.weights,
            own.bits,
            share,
            MOST_EXHAUSTIVE,
            min(MOST_STARTS, STARTED_RULES // len(places)),
        )
        chosen.append(places[np.asarray(flags, np.bool_)])
    return candidates.take(np.concatenate([np.empty(0, np.int64), *chosen]))
