"""Rule sets: models made of rules, whether learned as such or taken from a tree."""

from treewright.rules._rule_set import RuleSet
from treewright.tree.show.rules import Rule

__all__ = ["Rule", "RuleSet"]
