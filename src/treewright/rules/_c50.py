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

from treewright.rules._counts import recount
from treewright.rules._learn import (
    Candidate,
    ErrorRules,
    TrainingRows,
    choose_candidates,
    coverage,
    default_class,
    generalised_rules,
)
from treewright.rules._rule_set import RuleSet
from treewright.tree.conditions import merge_conditions
from treewright.tree.rules import Rule
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
    chosen: list[Candidate] = []
    if tree.n_nodes > 1:
        # a rule must be right more often than its class is frequent
        guess = (totals.sum() - totals + 1.0) / (totals.sum() + 2.0)
        candidates = [c for c in generalised_rules(tree, rows, errors) if c.rate <= guess[c.label]]
        chosen = choose_candidates(candidates, tree.schema, rows, THEORY_SHARE)
    default, default_value = int(totals.argmax()), totals
    if chosen:
        default, default_value = default_class(coverage(chosen, tree.schema, rows), rows, totals)
    rules = [Rule(merge_conditions(c.conditions), target.classes[c.label], 0, 0.0) for c in chosen]
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
    votes = np.zeros((len(rows.y), rows.n_classes))
    members = [covers.indices[covers.indptr[i] : covers.indptr[i + 1]] for i in range(len(rules))]
    strength = np.array([rule.vote for rule in rules])
    for i, rows_of in enumerate(members):
        votes[rows_of, label[i]] += strength[i]
    default = place[rules.default]

    def wrong(votes_of: NDArray[np.float64], of: NDArray[np.int64]) -> NDArray[np.bool_]:
        voted = np.where(votes_of.max(axis=1) > 1e-12, votes_of.argmax(axis=1), default)
        return np.asarray(voted != rows.y[of])

    every = np.arange(len(rows.y))
    now = float(weight[wrong(votes, every)].sum())
    left, order, errors = list(range(len(rules))), [], []
    while left:
        change = []
        for i in left:
            of = members[i]
            without = votes[of].copy()
            before = wrong(without, of)
            without[:, label[i]] -= strength[i]
            after = wrong(without, of)
            change.append(float(weight[of][after].sum() - weight[of][before].sum()))
        worst = left[int(np.argmin(change))]
        order.append(worst)
        errors.append(now)
        now += min(change)
        votes[members[worst], label[worst]] -= strength[worst]
        left.remove(worst)
    useful = tuple(rules[i] for i in reversed(order))
    return replace(rules, rules=useful), np.array(errors[::-1])
