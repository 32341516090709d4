"""Why a node was not split: the stopping rules of a growth, kept with its tree.

The rules are a few numbers and are kept as such; which of them held at a leaf follows from what
the tree knows of it, and is worked out when it is asked. A leaf that pruning made, or a test of
significance, says so first (``tree.pruning_log``).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

__all__ = ["Stopping", "stop_where_independent", "why_stopped"]

NO_TEST = "no admissible test divides these rows"
SIGNIFICANCE = "significance"
"""The method that the log names where a test of independence stopped growth."""


@dataclass(frozen=True)
class Stopping:
    """When growth stopped; numbers as in :class:`treewright.tree.growing.recipe.Recipe`."""

    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_gain: float = 0.0
    pure_share: float = 0.0
    slack: float = 0.0
    leaf_price: float = -1.0

    @classmethod
    def of(cls, recipe: Any) -> Stopping:
        """The stopping rules of a recipe."""
        return cls(**{f.name: getattr(recipe, f.name) for f in fields(cls)})

    def to_dict(self) -> dict[str, Any]:
        """The rules as plain values."""
        return asdict(self)


def why_stopped(tree: Tree, node: int) -> str | None:
    """The reason why ``node`` is a leaf, in words; None for a split node, or if nobody knows."""
    if not tree.is_leaf[node]:
        return None
    log = tree.pruning_log
    if log is not None:
        cuts = np.flatnonzero(log.node == node)
        if len(cuts):
            last = cuts[-1]
            method, rule = log.rules[log.rule[last]]
            if method == SIGNIFICANCE:
                return f"p = {log.before[last]:.3g} is above min_significance = {log.after[last]:g}"
            return f"{method}: {rule} ({log.before[last]:.4g} before, {log.after[last]:.4g} after)"
    return None if tree.stopping is None else _rule_that_held(tree, node, tree.stopping)


def _rule_that_held(tree: Tree, node: int, rules: Stopping) -> str:
    n, weight = int(tree.n_samples[node]), float(tree.weight[node])
    if n == 0:
        return "no training row came here"
    if _is_pure(tree, node, rules):
        return "all rows are alike" if len(tree.label) == 0 else "all rows are of one class"
    if rules.max_depth is not None and tree.node_depth[node] >= rules.max_depth:
        return f"max_depth = {rules.max_depth} is reached"
    if n < 2 * rules.min_samples_leaf:
        return f"{n} rows cannot make two leaves of min_samples_leaf = {rules.min_samples_leaf}"
    if n < rules.min_samples_split:
        return f"{n} rows are fewer than min_samples_split = {rules.min_samples_split}"
    if weight < 2 * rules.min_weight_leaf - rules.slack:
        least = f"{rules.min_weight_leaf:g}"
        return f"a weight of {weight:g} cannot make two leaves of the least weight {least}"
    if rules.leaf_price >= 0 and tree.risk[node] <= rules.leaf_price * (1 + 1e-10):
        return "what is left of the risk does not pay for another leaf"
    if rules.max_leaf_nodes is not None and tree.n_leaves >= rules.max_leaf_nodes:
        return f"max_leaf_nodes = {rules.max_leaf_nodes} are reached, or no test was left"
    least = f", or by min_impurity_decrease = {rules.min_gain:g}" if rules.min_gain > 0 else ""
    return f"{NO_TEST} with a gain{least}"


def _is_pure(tree: Tree, node: int, rules: Stopping) -> bool:
    if not len(tree.label):
        return not tree.impurity[node] > 0
    rest = tree.value[node].sum() - tree.value[node].max()
    return bool(rest <= max(rules.slack, rules.pure_share * tree.value[node].sum()) + 1e-12)


def stop_where_independent(tree: Tree, limit: float) -> Tree:
    """The tree as if growth had stopped where branch and target seem independent.

    A split depends on the rows of its node alone, so that leaving out what lies below the first
    split that is not significant gives the tree that is grown with the test at every node.
    """
    from dataclasses import replace

    from treewright.tree.collapse import below_any
    from treewright.tree.growing.significance import split_p_values
    from treewright.tree.pruning_log import PruningLog

    p = split_p_values(tree)
    marked = (p > limit) & ~tree.is_leaf
    first = marked & ~below_any(tree, marked)
    was = np.flatnonzero(first)
    kept = ~below_any(tree, first)
    test = "chi-squared" if len(tree.label) else "F"
    log = PruningLog.of(
        [(SIGNIFICANCE, f"p of the {test} test of target against branch is above {limit:g}")],
        node=(np.cumsum(kept) - 1)[was],
        was=was,
        n_samples=tree.n_samples[was],
        weight=tree.weight[was],
        n_leaves=tree.n_children[was],
        before=p[was],
        after=np.full(len(was), limit),
    )
    stopped = tree.collapse(first)
    return replace(stopped, pruning_log=log) if len(was) else stopped
