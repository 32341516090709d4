"""Why a node was not split: noted by the growth loop, kept with its tree.

Growth writes one number per node, its :class:`Stop`, into the column ``stopped`` of
``Tree.extras``; where splits are tested for significance, ``split_p`` has the p-value of each
node's best split. The numbers of the rules are kept once per tree (:class:`Stopping`). Nothing is
worked out afterwards, but a leaf that pruning made says so first (``tree.pruning_log``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

__all__ = ["NOTED", "SPLIT_P", "STOPPED", "Stop", "Stopping", "why_stopped"]

NO_TEST = "no admissible test divides these rows"
STOPPED = "stopped"
SPLIT_P = "split_p"
NOTED = {"n_gaps": "n_gaps", STOPPED: "stopped", SPLIT_P: "p_value"}
"""Extra columns of every grown tree, and the names that the core has for them."""
_FORMER = ("pure_share", "slack")
"""Rules that files of earlier versions kept."""


class Stop(IntEnum):
    """What a growth notes of a node; the first fourteen as ``Stop`` in core/grow/node_list.hpp."""

    IS_SPLIT = 0
    EMPTY = 1
    PURE = 2
    DEPTH = 3
    LEAF_ROWS = 4
    SPLIT_ROWS = 5
    LEAF_WEIGHT = 6
    PRICE = 7
    VALUES = 8
    NO_TEST = 9
    GAIN = 10
    SIGNIFICANCE = 11
    MAX_LEAVES = 12
    CHOOSER = 13
    OTHER_ROWS = 14
    """Pruning changed its rows."""


@dataclass(frozen=True)
class Stopping:
    """When growth stopped; numbers as in :class:`treewright.tree.growing.recipe.Recipe`.

    ``no_split`` are the words of a chooser in Python for a node that it leaves whole.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
    >>> tree.stopping.max_depth
    2
    >>> [node.stopped for node in tree.nodes if node.is_leaf]
    ['all rows are of one class', 'max_depth = 2 is reached', 'max_depth = 2 is reached']
    """

    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_gain: float = 0.0
    min_significance: float | None = None
    leaf_price: float = -1.0
    once: bool = False
    no_split: str = ""

    @classmethod
    def of(cls, recipe: Any) -> Stopping:
        """The stopping rules of a recipe."""
        named = {f.name: getattr(recipe, f.name) for f in fields(cls) if hasattr(recipe, f.name)}
        return cls(**named, no_split=getattr(recipe.choose, "no_split", ""))

    def to_dict(self) -> dict[str, Any]:
        """The rules as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> Stopping:
        """The rules that :meth:`to_dict` gave; ValueError if they cannot be any."""
        parts = {name: value for name, value in parts.items() if name not in _FORMER}
        if not set(parts) <= {f.name for f in fields(cls)}:
            raise ValueError("its stopping rules have names that nobody knows")
        for name, value in parts.items():
            default = getattr(cls, name)
            kinds = (type(default),) if isinstance(default, bool | str) else (int, float)
            is_sound = type(value) in kinds and value == value
            if not is_sound and not (value is None and default is None):
                raise ValueError(f"{name} of its stopping rules is not of its kind")
        return cls(**parts)


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
            return f"{method}: {rule} ({log.before[last]:.4g} before, {log.after[last]:.4g} after)"
    noted = tree.extras.get(STOPPED)
    if noted is None or tree.stopping is None or not noted[node]:
        return None
    return _in_words(tree, node, Stop(int(noted[node])), tree.stopping)


def _in_words(tree: Tree, node: int, reason: Stop, rules: Stopping) -> str:
    leaf_rows = f"min_samples_leaf = {rules.min_samples_leaf}"
    gains = f" by min_impurity_decrease = {rules.min_gain:g}" if rules.min_gain > 0 else " anything"
    words = {
        Stop.EMPTY: "no training row came here",
        Stop.PURE: "all rows are of one class" if len(tree.label) else "all rows are alike",
        Stop.DEPTH: f"max_depth = {rules.max_depth} is reached",
        Stop.LEAF_ROWS: f"too few rows for two leaves of {leaf_rows}",
        Stop.SPLIT_ROWS: f"fewer rows than min_samples_split = {rules.min_samples_split}",
        Stop.LEAF_WEIGHT: f"too little weight for two leaves of at least {rules.min_weight_leaf:g}",
        Stop.PRICE: "no split was found that pays for its leaves",
        Stop.VALUES: "no attribute is left that varies"
        if rules.once
        else "all rows have the same values",
        Stop.NO_TEST: NO_TEST,
        Stop.GAIN: f"no test gains{gains}",
        Stop.MAX_LEAVES: f"max_leaf_nodes = {rules.max_leaf_nodes} are reached",
        Stop.OTHER_ROWS: "pruning gave it rows that did not grow it",
    }
    if reason == Stop.SIGNIFICANCE:
        p = float(tree.extras[SPLIT_P][node])  # tree/check.py wants both columns or none
        return f"p = {p:.3g} is above min_significance = {rules.min_significance:g}"
    if reason == Stop.CHOOSER:
        return _chooser_words(tree, node, rules)
    return words[reason]


def _chooser_words(tree: Tree, node: int, rules: Stopping) -> str:
    said = rules.no_split or NO_TEST
    if tree.tests is None:
        return said
    log_p = float(tree.log_p[node])
    if np.isnan(log_p):
        return f"{said}; there are too few rows, or no groups that differ"
    return f"{said}; the least adjusted p is {np.exp(log_p):.3g}"
