"""From a tree to a rule set that votes, as C5.0 has it.

Every node below the root becomes a rule for its class, conditions that do not pay are dropped, and
of all rules together some are chosen by description length: of the rows that the votes get wrong or
that no rule covers, and of the rules, with theory bits × 0.23 (``core/rules/vote_choice.cpp``). A
rule votes with its confidence, Laplace's (right + 1) / (covered + 2), by which conditions are
dropped as well. Rules are listed by class and confidence, or by utility where bands are asked for.

That inner nodes are rules, that votes are counted without a default, and how the search starts are
not published; ``docs/comparisons/c50.md`` says what the recorded runs tell of each.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.rules import choose_voting_rules, rank_rules
from treewright.rules._candidates import (
    Candidates,
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

THEORY_SHARE, CLASS_THEORY_SHARE = 0.23, 0.4
"""Weight of the bits of rules: of all together, and of those of a class."""


def voting_rules(tree: Tree, rows: TrainingRows, by_class: ErrorRules | None = None) -> RuleSet:
    """The rules that vote in place of ``tree``.

    Parameters
    ----------
    tree
        A pruned classification tree.
    rows
        The rows that it was grown from.
    by_class
        Where errors have costs, and in later trials of boosting: the rules are those of leaves,
        judged by these limits of their errors and chosen for each class by itself. Votes of broad
        rules say too little of costs.
    """
    target = tree.schema.target
    assert target is not None
    totals = rows.class_totals()
    default, default_value = int(totals.argmax()), totals
    rules: list[Rule] = []
    if tree.n_nodes > 1:
        found = generalised_rules(tree, rows, by_class, inner=by_class is None)
        chosen = (
            _choose(found, rows)
            if by_class is None
            else choose_candidates(found, rows, CLASS_THEORY_SHARE)
        )
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


def _choose(candidates: Candidates, rows: TrainingRows) -> Candidates:
    """The rules that tell the classes by their votes in the fewest bits."""
    covers = candidates.coverage(rows)
    flags = choose_voting_rules(
        covers.indptr,
        covers.indices,
        candidates.label,
        1.0 - candidates.rate,
        rows.y,
        rows.weights,
        candidates.bits,
        rows.n_classes,
        THEORY_SHARE,
    )
    return candidates.take(np.flatnonzero(flags))


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
