"""From a tree to a rule set, as c4.5rules does.

Every leaf is a rule. Conditions that do not pay are dropped (``core/rule_generalise.hpp``), rules
that are no better than naming their class at random are left out, and of the rest those are
chosen, class by class, that tell the class in the fewest bits (``core/rule_choice.cpp``). The
class with the fewest false positives comes first; the default is the class of most rows that no
rule covers; last, rules that cost more training errors than they save are dropped.

The bits of a condition are fitted to what c4.5rules prints, which is all that is published of
them: log2 of the features, plus log2 of the categories, or 1 + log2(values) / 2 for a cut.

References: Quinlan (1993), *C4.5: Programs for Machine Learning*, chapter 5; Quinlan (1995), *MDL
and categorical theories (continued)*, ICML-95.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.kernels import RuleMatcher
from treewright.kernels.rules import choose_rules, error_rate
from treewright.rules._counts import with_support
from treewright.rules._matching import collect_tests, make_matcher, table_rows
from treewright.rules._rule_set import RuleSet
from treewright.tree.conditions import Condition, Members, branch_conditions, merge_conditions
from treewright.tree.rules import Rule
from treewright.tree.tree import Tree

__all__ = ["ErrorRules", "TrainingRows", "learn_rules"]

Floats = NDArray[np.float64]

MOST_EXHAUSTIVE = 10
"""Most rules of a class of which every subset is tried."""


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
class Candidate:
    """A generalised rule: conditions, class code, error rate, and its bits."""

    conditions: tuple[Condition, ...]
    label: int
    rate: float
    bits: float


def learn_rules(
    tree: Tree, rows: TrainingRows, errors: ErrorRules, theory_share: float = 0.5
) -> RuleSet:
    """The rule set that c4.5rules would make of ``tree``.

    Parameters
    ----------
    tree
        An unpruned classification tree.
    rows
        The rows that it was grown from.
    errors
        How pessimistic to be about the errors of rules.
    theory_share
        Weight of the bits of the rules against those of their exceptions.
    """
    totals = rows.class_totals()
    candidates = _generalise(tree, rows, errors)
    # A rule must be right more often than its class is frequent (by Laplace's estimate).
    guess = (totals.sum() - totals + 1.0) / (totals.sum() + 2.0)
    candidates = [c for c in candidates if c.rate <= guess[c.label]]
    chosen = _choose(candidates, tree.schema, rows, theory_share)
    covers = _coverage(chosen, tree.schema, rows)
    order = _order(chosen, covers, rows)
    chosen, covers = [chosen[i] for i in order], covers[:, order]
    default, default_value = _default(covers, rows, totals)
    kept = _without_harm(np.array([c.label for c in chosen], np.int32), covers, rows, default)
    return _rule_set(tree.schema, [chosen[i] for i in kept], rows, default, default_value)


def leaf_paths(tree: Tree) -> tuple[list[tuple[Condition, ...]], NDArray[np.int32]]:
    """The conditions on the way to each leaf that training rows reach, and its class code."""
    paths, labels = [], []
    stack: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while stack:
        node, above = stack.pop()
        children = tree.children(node)
        if not children:
            if tree.weight[node] > 0:
                paths.append(above)
                labels.append(int(tree.label[node]))
            continue
        conditions = branch_conditions(tree, node)
        stack.extend(
            (child, (*above, condition))
            for child, condition in zip(reversed(children), reversed(conditions), strict=True)
        )
    return paths, np.array(labels, np.int32)


def _generalise(tree: Tree, rows: TrainingRows, errors: ErrorRules) -> list[Candidate]:
    """The rules of the leaves without the conditions that do not pay, each once."""
    paths, labels = leaf_paths(tree)
    tests, offset, listed = collect_tests(paths, tree.schema)
    matcher = RuleMatcher(_n_categories(tree.schema), tests.arrays(), offset, listed)
    kept, covered, wrong = matcher.generalise(
        table_rows(rows.table),
        rows.y,
        rows.weights,
        rows.n_classes,
        labels,
        errors.numbers(),
        rows.n_threads,
    )
    rates = error_rate(covered, wrong, *errors.numbers())
    cost = _condition_bits(tree.schema, rows.table)
    found: dict[tuple[int, frozenset[int]], Candidate] = {}
    for rule, path in enumerate(paths):
        where = slice(offset[rule], offset[rule + 1])
        stays = kept[where].astype(np.bool_)
        key = (int(labels[rule]), frozenset(listed[where][stays].tolist()))
        if key in found:
            continue
        conditions = tuple(c for c, stay in zip(path, stays, strict=True) if stay)
        bits = sum(cost(condition) for condition in conditions) - _log2_factorial(len(conditions))
        found[key] = Candidate(conditions, key[0], float(rates[rule]), bits)
    return list(found.values())


def _n_categories(schema: Schema) -> NDArray[np.int32]:
    counts = [len(f.categories) if f.is_categorical else -1 for f in schema.features]
    return np.array(counts, np.int32)


def _condition_bits(schema: Schema, table: Table) -> Any:
    """A function that gives the bits to tell a condition."""
    feature = log2(len(schema))
    cuts: dict[str, float] = {}
    columns = dict(zip(schema.names, table.columns, strict=True))

    def bits(condition: Condition) -> float:
        if isinstance(condition, Members):
            n = len(condition.feature.categories)
            return feature + (log2(max(n, 1)) if len(condition.codes) == 1 else n)
        name = condition.subject[1]
        if name not in cuts:
            values = columns[name]
            known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
            cuts[name] = 1.0 + log2(max(len(np.unique(known)), 1)) / 2.0
        return feature + cuts[name]

    return bits


def _log2_factorial(n: int) -> float:
    return lgamma(n + 1) / log(2)


def _coverage(candidates: Sequence[Candidate], schema: Schema, rows: TrainingRows) -> csc_matrix:
    """Which rules (columns) hold for which rows."""
    matcher = make_matcher((c.conditions for c in candidates), schema)
    indptr, indices = matcher.matches(table_rows(rows.table), rows.n_threads)
    ones = np.ones(len(indices), np.bool_)
    return csc_matrix(csr_matrix((ones, indices, indptr), (rows.table.n_rows, len(candidates))))


def _choose(
    candidates: list[Candidate], schema: Schema, rows: TrainingRows, share: float
) -> list[Candidate]:
    """Class by class the rules that tell it in the fewest bits."""
    chosen: list[Candidate] = []
    for label in range(rows.n_classes):
        own = [c for c in candidates if c.label == label]
        if not own:
            continue
        covers = _coverage(own, schema, rows)
        covers.sort_indices()
        flags = choose_rules(
            covers.indptr,
            covers.indices,
            rows.y == label,
            rows.weights,
            np.array([c.bits for c in own]),
            share,
            MOST_EXHAUSTIVE,
        )
        chosen.extend(c for c, flag in zip(own, flags, strict=True) if flag)
    return chosen


def _order(chosen: Sequence[Candidate], covers: csc_matrix, rows: TrainingRows) -> list[int]:
    """Classes by their false positives among the rows not yet covered, rules by error rate."""
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    labels = np.array([c.label for c in chosen], np.int64)
    rates = np.array([c.rate for c in chosen])
    by_class = {
        label: np.asarray(covers[:, np.flatnonzero(labels == label)].sum(axis=1)).ravel() > 0
        for label in np.unique(labels).tolist()
    }
    open_rows = np.ones(len(rows.y), np.bool_)
    order: list[int] = []
    while by_class:
        false = {
            label: float(weight[covered & open_rows & (rows.y != label)].sum())
            for label, covered in by_class.items()
        }
        first = min(false, key=lambda label: (false[label], label))
        open_rows &= ~by_class.pop(first)
        own = np.flatnonzero(labels == first)
        order.extend(own[np.argsort(rates[own], kind="stable")].tolist())
    return order


def _default(covers: csc_matrix, rows: TrainingRows, totals: Floats) -> tuple[int, Floats]:
    """The class of most uncovered rows (of equals the more frequent), and all their weights."""
    uncovered = np.asarray(covers.sum(axis=1)).ravel() == 0
    weight = None if rows.weight is None else rows.weight[uncovered]
    left = np.bincount(rows.y[uncovered], weight, rows.n_classes).astype(np.float64)
    default = max(range(len(left)), key=lambda c: (left[c], totals[c], -c))
    return default, left if left.sum() > 0 else totals


def _without_harm(
    labels: NDArray[np.int32], covers: csc_matrix, rows: TrainingRows, default: int
) -> NDArray[np.int64]:
    """Rules that are left when those that cost more errors than they save are dropped."""
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    alive = np.arange(len(labels))
    while len(alive):
        first, second = _first_two(csr_matrix(covers[:, alive]))
        used = first >= 0
        says = np.append(labels[alive], default)  # −1, no rule, is the default
        right, right_without = says[first] == rows.y, says[second] == rows.y
        change = np.where(right, 1.0, 0.0) - np.where(right_without, 1.0, 0.0)
        advantage = np.bincount(first[used], (change * weight)[used], len(alive))
        worst = int(np.argmin(advantage))
        if advantage[worst] >= 0:
            break
        alive = np.delete(alive, worst)
    return alive


def _first_two(covers: csr_matrix) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the second rule that hold for each row, −1 for none."""
    covers.sort_indices()
    padded = np.append(covers.indices, -1)
    count = np.diff(covers.indptr)
    start = covers.indptr[:-1]
    first = np.where(count > 0, padded[start], -1)
    second = np.where(count > 1, padded[np.minimum(start + 1, len(padded) - 1)], -1)
    return first, second


def _rule_set(
    schema: Schema,
    chosen: Sequence[Candidate],
    rows: TrainingRows,
    default: int,
    default_value: Floats,
) -> RuleSet:
    assert schema.target is not None
    classes = schema.target.classes
    matcher = make_matcher((c.conditions for c in chosen), schema)
    n_samples, value = matcher.cover(
        table_rows(rows.table), rows.y, rows.weights, rows.n_classes, rows.n_threads
    )
    totals = rows.class_totals()
    rules = tuple(
        with_support(
            Rule(merge_conditions(c.conditions), classes[c.label], 0, 0.0, vote=1.0 - c.rate),
            c.label,
            counts,
            totals,
            n,
            1.0 - c.rate,
        )
        for c, counts, n in zip(chosen, value, n_samples.tolist(), strict=True)
    )
    return RuleSet(schema, rules, classes[default], tuple(default_value.tolist()))
