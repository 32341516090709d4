"""The leaves of a tree as a rule set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treewright.rules._counts import with_support
from treewright.rules._rule_set import RuleSet
from treewright.tree.show.describe import features_with_gaps
from treewright.tree.show.nodes import node_prediction
from treewright.tree.show.rules import extract_rules
from treewright.tree.tree import EMPTY_PROBABILITY

if TYPE_CHECKING:
    from treewright.tree.show.rules import Rule
    from treewright.tree.tree import Tree

__all__ = ["rules_of_tree"]


def rules_of_tree(tree: Tree) -> RuleSet:
    """See :meth:`RuleSet.from_tree`."""
    target = tree.schema.target
    rules = tuple(extract_rules(tree))
    if target is not None and target.is_classification:
        code = {value: i for i, value in enumerate(target.classes)}
        factor = np.asarray(target.class_factor or np.ones(len(target.classes)))
        kept = tree.extras.get(EMPTY_PROBABILITY)

        def shares(rule: Rule) -> tuple[float, ...]:
            if rule.weight > 0:
                return rule.value
            if kept is None:
                return tuple(tree.value[tree.parent[rule.node]].tolist())
            return tuple((kept[rule.node] / factor).tolist())  # priors come on top again

        measured = (
            with_support(
                rule,
                code[rule.outcome],
                np.asarray(rule.value) * factor,
                tree.value[0] * factor,
                rule.n_samples,
            )
            for rule in rules
        )
        rules = tuple(
            # Priors act on confidence and lift; coverage stays what it was. A branch that no row
            # took has the shares of its parent, or those it keeps.
            replace(
                new,
                vote=new.confidence or 0.0,
                value=shares(old),
                weight=old.weight,
            )
            for old, new in zip(rules, measured, strict=True)
        )
    told = features_with_gaps(tree, None)
    return RuleSet(
        tree.schema,
        rules,
        node_prediction(tree, 0),
        tuple(tree.value[0].tolist()),
        gap_names=tuple(name for name in tree.schema.names if name in told),
    )
