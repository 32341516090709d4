"""From a tree to an ordered rule set, as c4.5rules does.

Rules come from the leaves and are chosen class by class (``_candidates.py``). The class with the
fewest false positives comes first; the default is the class of most rows that no rule covers;
last, rules that cost more training errors than they save are dropped.

References: Quinlan (1993), *C4.5: Programs for Machine Learning*, chapter 5; Quinlan (1995), *MDL
and categorical theories (continued)*, ICML-95.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from treewright.data.schema import Schema
from treewright.rules._candidates import (
    Candidates,
    ErrorRules,
    TrainingRows,
    choose_candidates,
    generalised_rules,
)
from treewright.rules._counts import with_support
from treewright.rules._matching import table_rows
from treewright.rules._rule_set import RuleSet
from treewright.tree.conditions import merge_conditions
from treewright.tree.show.rules import Rule
from treewright.tree.tree import Tree

__all__ = ["default_class", "learn_rules"]

Floats = NDArray[np.float64]


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
    chosen = choose_candidates(generalised_rules(tree, rows, errors), rows, theory_share)
    covers = chosen.coverage(rows)
    order = _order(chosen, covers, rows)
    chosen, covers = chosen.take(order), covers[:, order]
    default, default_value = default_class(covers, rows, totals)
    kept = _without_harm(chosen.label, covers, rows, default)
    return _rule_set(tree.schema, chosen.take(kept), rows, default, default_value)


def _order(chosen: Candidates, covers: csc_matrix, rows: TrainingRows) -> NDArray[np.int64]:
    """Classes by their false positives among the rows not yet covered, rules by error rate."""
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    labels = chosen.label
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
        order.extend(own[np.argsort(chosen.rate[own], kind="stable")].tolist())
    return np.array(order, np.int64)


def default_class(covers: csc_matrix, rows: TrainingRows, totals: Floats) -> tuple[int, Floats]:
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
    by_row = csr_matrix(covers)
    by_row.sort_indices()
    is_left = np.ones(len(labels), np.bool_)
    says = np.append(labels, default)  # −1, no rule, is the default
    first, second = _first_two(by_row, is_left, np.arange(len(rows.y)))
    while is_left.any():
        used = first >= 0
        right, right_without = says[first] == rows.y, says[second] == rows.y
        change = np.where(right, 1.0, 0.0) - np.where(right_without, 1.0, 0.0)
        advantage = np.bincount(first[used], (change * weight)[used], len(labels))
        advantage[~is_left] = np.inf
        worst = int(np.argmin(advantage))
        if advantage[worst] >= 0:
            break
        is_left[worst] = False
        touched = covers.indices[covers.indptr[worst] : covers.indptr[worst + 1]]
        first[touched], second[touched] = _first_two(by_row, is_left, touched)
    return np.flatnonzero(is_left)


def _first_two(
    by_row: csr_matrix, is_left: NDArray[np.bool_], rows: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the second of the rules that are left for each of ``rows``, −1 for none."""
    count = by_row.indptr[rows + 1] - by_row.indptr[rows]
    entry = np.repeat(by_row.indptr[rows + 1] - np.cumsum(count), count) + np.arange(count.sum())
    rules = by_row.indices[entry].astype(np.int64)
    row = np.repeat(np.arange(len(rows)), count)[is_left[rules]]
    rules = np.append(rules[is_left[rules]], -1)
    count = np.bincount(row, minlength=len(rows))
    start = np.cumsum(count) - count
    first = np.where(count > 0, rules[start], -1)
    return first, np.where(count > 1, rules[np.minimum(start + 1, len(rules) - 1)], -1)


def _rule_set(
    schema: Schema,
    chosen: Candidates,
    rows: TrainingRows,
    default: int,
    default_value: Floats,
) -> RuleSet:
    assert schema.target is not None
    classes = schema.target.classes
    n_samples, value = chosen.matcher().cover(
        table_rows(rows.table), rows.y, rows.weights, rows.n_classes, rows.n_threads
    )
    totals = rows.class_totals()
    rules = []
    for i, (counts, n) in enumerate(zip(value, n_samples.tolist(), strict=True)):
        label, sure = int(chosen.label[i]), 1.0 - float(chosen.rate[i])
        rule = Rule(merge_conditions(chosen.conditions(i)), classes[label], 0, 0.0, vote=sure)
        rules.append(with_support(rule, label, counts, totals, n, sure))
    return RuleSet(schema, tuple(rules), classes[default], tuple(default_value.tolist()))
