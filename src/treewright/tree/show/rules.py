"""Rules: one per leaf, the tests on its way merged per feature.

A rule is plain data: conditions that hold together, an outcome and its support. Rules of one
tree exclude each other; rows with gaps that surrogates or fractional descent decide are the
exception, because no condition on a feature can say where such a row goes.

``Rules`` is a way to read a tree. A model made of rules, which predicts, is a
:class:`treewright.rules.RuleSet`; both hold the same ``Rule``.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from treewright.tree.conditions import Condition, branch_conditions, merge_conditions
from treewright.tree.node_tests import format_p
from treewright.tree.show.describe import Wording, features_with_gaps
from treewright.tree.show.nodes import node_prediction, node_probability
from treewright.tree.show.words import clean, clip, display_width, format_share, format_value
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Rule", "Rules", "extract_rules"]

NOTEBOOK_RULES = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """If all conditions hold, then the outcome.

    Parameters
    ----------
    conditions
        At most one per feature and kind of test; none at all is always true.
    outcome
        The class, number or tuple of numbers that is predicted.
    n_samples, weight
        Training rows that the rule covers, and their weight.
    confidence
        Probability of the outcome among them under the priors, or the learner's estimate of
        how often the rule will be right; None for regression.
    node
        The leaf that the rule comes from.
    log_p
        Log of the largest adjusted p-value among the splits on the way to it; None where
        splits were not tested.
    value
        Weight of each class among the covered rows, or their means.
    errors
        Weight of the covered rows of other classes; None where nobody counted.
    lift
        Confidence over the share of the class in training.
    vote
        How much the rule counts where several decide together.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
    >>> rule = tree.rules()[1]
    >>> rule.outcome, rule.n_samples, round(rule.confidence, 3), rule.node
    ('versicolor', 54, 0.907, 3)
    >>> rule.text()
    'Petal.Length >= 2.45 (or gap) and Petal.Width < 1.75 (or gap)'
    """

    conditions: tuple[Condition, ...]
    outcome: Any
    n_samples: int
    weight: float
    confidence: float | None = None
    node: int = -1
    log_p: float | None = None
    value: tuple[float, ...] = ()
    errors: float | None = None
    lift: float | None = None
    vote: float = 1.0

    def text(self, wording: Wording | None = None) -> str:
        """The conditions in words.

        Parameters
        ----------
        wording
            How numbers and features are written; None for the usual way.
        """
        wording = wording or Wording.over(self.conditions)
        return " and ".join(wording.text(c) for c in self.conditions) or "always"

    def __str__(self) -> str:
        return f"{self.text()} → {format_value(self.outcome)}  ({_support(self)})"


def _support(rule: Rule) -> str:
    share = "" if rule.confidence is None else f", {format_share(rule.confidence)}"
    p = "" if rule.log_p is None else f", {format_p(rule.log_p)}"
    return f"n {rule.n_samples}{share}{p}"


@dataclass(frozen=True, repr=False)
class Rules(Sequence[Rule]):
    """The rules of a tree, in the order of its leaves.

    Parameters
    ----------
    items
        The rules.
    target
        What they predict.
    gap_names
        Features for which the text says where gaps go; None for all.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> rules = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_.rules()
    >>> print(rules)
    3 rules for y; in brackets the rows and share of the class in training
    1. Petal.Length < 2.45 → setosa  (n 50, 1.00)
    2. Petal.Length >= 2.45 and Petal.Width < 1.75 → versicolor  (n 54, 0.91)
    3. Petal.Length >= 2.45 and Petal.Width >= 1.75 → virginica  (n 46, 0.98)
    >>> [rule.outcome for rule in rules]
    ['setosa', 'versicolor', 'virginica']
    >>> rules.frame().shape
    (3, 6)
    >>> print(rules.to_text())
    3 rules for y; in brackets the rows and share of the class in training
    1. Petal.Length < 2.45 → setosa  (n 50, 1.00)
    2. Petal.Length >= 2.45 and Petal.Width < 1.75 → versicolor  (n 54, 0.91)
    3. Petal.Length >= 2.45 and Petal.Width >= 1.75 → virginica  (n 46, 0.98)
    >>> list(rules.to_dict())
    ['rule', 'outcome', 'n_samples', 'weight', 'confidence', 'node']
    """

    items: tuple[Rule, ...]
    target: str = ""
    gap_names: frozenset[str] | None = None

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.items)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> Rules: ...
    def __getitem__(self, index: int | slice) -> Rule | Rules:
        if isinstance(index, slice):
            return Rules(self.items[index], self.target, self.gap_names)
        return self.items[index]

    def to_text(self, *, digits: int = 6, width: int = 96, ascii: bool = False) -> str:
        """One paragraph per rule.

        Parameters
        ----------
        digits
            Significant digits of bounds, more where two bounds would read the same.
        width
            Columns to keep to.
        ascii
            Plain characters only, apart from those of the data.
        """
        wording = self._wording(digits, ascii)
        arrow = "->" if ascii else "→"
        number_width = len(str(len(self)))
        room = width - number_width - 2
        lines = [self._header()]
        for number, rule in enumerate(self.items, 1):
            tests = [wording.text(condition, room - 4) for condition in rule.conditions]
            outcome = clip(format_value(rule.outcome, digits), 40, wording.ellipsis)
            parts = _packed(tests or ["always"], f"{arrow} {outcome}  ({_support(rule)})", room)
            lines.append(f"{number:>{number_width}}. {parts[0]}")
            lines.extend(" " * (number_width + 2) + part for part in parts[1:])
        return "\n".join(lines)

    def to_dict(self, *, digits: int = 6) -> dict[str, list[Any]]:
        """The rules as columns: a dict of lists.

        Parameters
        ----------
        digits
            Significant digits of bounds.
        """
        wording = self._wording(digits)
        return {
            "rule": [rule.text(wording) for rule in self.items],
            "outcome": [rule.outcome for rule in self.items],
            "n_samples": [rule.n_samples for rule in self.items],
            "weight": [rule.weight for rule in self.items],
            "confidence": [rule.confidence for rule in self.items],
            "node": [rule.node for rule in self.items],
        }

    def frame(self, *, digits: int = 6) -> pd.DataFrame:
        """The rules as a pandas data frame, one row each.

        Parameters
        ----------
        digits
            Significant digits of bounds.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "frame() makes a pandas data frame, but pandas is not installed: install it, "
                "or take the dict of lists that to_dict() gives."
            ) from error
        return pd.DataFrame(self.to_dict(digits=digits))

    def _wording(self, digits: int = 6, ascii: bool = False) -> Wording:
        conditions = (condition for rule in self.items for condition in rule.conditions)
        return Wording.over(conditions, digits=digits, ascii=ascii, gap_names=self.gap_names)

    def _header(self) -> str:
        count = "1 rule" if len(self) == 1 else f"{len(self)} rules"
        share = any(rule.confidence is not None for rule in self.items)
        what = "rows and share of the class" if share else "rows"
        if any(rule.log_p is not None for rule in self.items):
            what = what.replace(" and", ",") + " and the largest p of its splits"
        return f"{count} for {clip(clean(self.target), 40)}; in brackets the {what} in training"

    def __repr__(self) -> str:
        return f"<Rules for {self.target!r}: {len(self)}>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        columns = self[:NOTEBOOK_RULES].to_dict()
        names = ["rule", "outcome", "n_samples"]
        if any(share is not None for share in columns["confidence"]):
            names.append("confidence")
        head = "".join(f"<th style='text-align:left'>{name}</th>" for name in names)
        body = "".join(
            f"<tr>{''.join(_html_cell(name, columns[name][i]) for name in names)}</tr>"
            for i in range(len(columns["rule"]))
        )
        left_out = len(self) - len(columns["rule"])
        more = f"<p>… {left_out} more rules</p>" if left_out else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _packed(tests: list[str], ending: str, room: int) -> list[str]:
    """As many tests on a line as fit, then the ending."""
    lines = [tests[0]]
    for piece in (*(f"and {test}" for test in tests[1:]), ending):
        if display_width(lines[-1]) + 1 + display_width(piece) <= room:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines


def _html_cell(name: str, value: Any) -> str:
    text = format_share(value) if name == "confidence" else format_value(value)
    return f"<td style='text-align:left'>{html.escape(text)}</td>"


def extract_rules(tree: Tree) -> Rules:
    """One rule per leaf; see :meth:`Tree.rules`."""
    target = tree.schema.target
    is_class = target is not None and target.is_classification
    rules = []
    stack: list[tuple[int, tuple[Condition, ...], float]] = [(0, (), math.nan)]
    while stack:
        node, above, log_p = stack.pop()
        children = tree.children(node)
        if not children:
            share = node_probability(tree, node)[tree.label[node]] if is_class else None
            rules.append(
                Rule(
                    conditions=above,
                    outcome=node_prediction(tree, node),
                    n_samples=int(tree.n_samples[node]),
                    weight=float(tree.weight[node]),
                    confidence=None if share is None else float(share),
                    node=node,
                    log_p=None if math.isnan(log_p) else log_p,
                    value=tuple(tree.value[node].tolist()),
                )
            )
            continue
        log_p = float(np.fmax(log_p, tree.log_p[node]))
        for child, condition in reversed(
            list(zip(children, branch_conditions(tree, node), strict=True))
        ):
            stack.append((child, merge_conditions((*above, condition)), log_p))
    name = "" if target is None else target.name
    return Rules(tuple(rules), name, features_with_gaps(tree, None))
