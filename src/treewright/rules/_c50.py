"""From a tree to a rule set that votes, as C5.0 has it.

Leaves become rules, conditions that do not pay are dropped and rules are chosen by description
length with the kernels of c4.5rules. What differs: rules overlap and vote with their confidence,
which is Laplace's, (right + 1) / (covered + 2); they are listed by class and confidence, or by
utility where bands are asked for.

C5.0's own choice, a hill-climbing search over the whole set with theory bits × 0.23, is not
published in full. Here each class is chosen on its own with theory bits × 0.4, the share at which
the recorded data sets get as many rules as from C5.0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.rules import rank_rules
from treewright.rules._candidates import (
    ErrorRules,
    TrainingRows,
    choose_candidates,
    generalised_rules,
)
from treewright.rules._counts import recount
from treewright.rules._learn import default_class
from treewright.rules._rule_set import RuleSet
from treewright.tree.conditions import merge_conditions
from treewright.tree.show.rules import Rule
from treewright.tree.tree import Tree

__all__ = ["by_utility", "voting_rules"]

THEORY_SHARE = 0.4


def voting_rules(tree: Tree, rows: TrainingRows, errors: ErrorRules) -> RuleSet:
    """The rules that vote in place of ``tree``.

    Parameters
    ----------
    tree
        A pruned classification tree.
    rows
        The rows that it was grown from.
    errors
        How pessimistic to be about the errors of rules.
    """
    target = tree.schema.target
    assert target is not None
    totals = rows.class_totals()
    default, default_value = int(totals.argmax()), totals
    rules: list[Rule] = []
    if tree.n_nodes > 1:
        chosen = choose_candidates(generalised_rules(tree, rows, errors), rows, THEORY_SHARE)
        if len(chosen):
            default, default_value = default_class(chosen.coverage(rows), rows, totals)
        rules = [
            Rule(merge_conditions(chosen.conditions(i)), target.classes[label], 0, 0.0)
            for i, label in enumerate(chosen.label.tolist())
        ]
    counted = recount(rules, tree.schema, rows.table, rows.y, rows.weight, rows.n_threads)
    voting = [replace(rule, vote=float(rule.confidence or 0.0)) for rule in counted]
    place = {value: i for i, value in enumerate(target.classes)}
    voting.sort(key=lambda rule: (place[rule.outcome], -rule.vote))
    values = tuple(np.asarray(default_value, np.float64).tolist())
    return RuleSet(tree.schema, tuple(voting), target.classes[default], values, decision="vote")


def by_utility(rules: RuleSet, rows: TrainingRows) -> tuple[RuleSet, NDArray[np.float64]]:
    """Rules in order of utility, and the errors of the first 1, 2, … of them.

    The least useful rule, last, is the one whose loss raises the training errors least; then the
    same among those that are left.
    """
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    place = {value: i for i, value in enumerate(rules.schema.target.classes)}  # type: ignore[union-attr]
    label = np.array([place[rule.outcome] for rule in rules], np.int64)
    covers = rules.matches_of(rows.table, rows.n_threads).tocsc()
    order, errors = rank_rules(
        covers.indptr,
        covers.indices,
        label,
        np.array([rule.vote for rule in rules]),
        rows.y,
        weight,
        rows.n_classes,
        place[rules.default],
    )
    useful = tuple(rules[i] for i in order[::-1])
    return replace(rules, rules=useful), errors[::-1].copy()
