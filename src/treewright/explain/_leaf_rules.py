"""The leaves of a tree as rules, ordered, with support, confidence and lift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from treewright.arguments import INSTANCE, checked
from treewright.errors import ParameterError
from treewright.explain._paint import DOWN, FAINT, axes, name, tidy
from treewright.tree.show.rules import Rule, Rules
from treewright.tree.show.tables import as_frame, html_table
from treewright.tree.show.words import clip, format_value
from treewright.tree.tree import Tree

__all__ = ["LeafRules", "leaf_rules"]

Order = Literal["confidence", "support", "lift", "tree"]


@dataclass(frozen=True, eq=False)
class LeafRules:
    """Rules of a tree, the tests on a way merged into one per feature.

    Parameters
    ----------
    rules
        In their order, each with ``lift``.
    support
        Share of the training weight that each covers.
    target
        What they predict.
    wording
        The rules that know how their conditions read.

    Examples
    --------
    >>> from treewright import ID3Classifier, datasets
    >>> from treewright.explain import leaf_rules
    >>> tennis = datasets.load_play_tennis()
    >>> rules = leaf_rules(ID3Classifier().fit(tennis.data, tennis.target))
    >>> len(rules)
    5
    >>> print(rules)
    5 rules for y
      1. if Outlook = Overcast
         then Yes  (n 4, support 28.6%, confidence 100.0%, lift 1.56)
      2. if Outlook = Rain and Wind = Weak
         then Yes  (n 3, support 21.4%, confidence 100.0%, lift 1.56)
      3. if Outlook = Sunny and Humidity = High
         then No  (n 3, support 21.4%, confidence 100.0%, lift 2.80)
      4. if Outlook = Rain and Wind = Strong
         then No  (n 2, support 14.3%, confidence 100.0%, lift 2.80)
      5. if Outlook = Sunny and Humidity = Normal
         then Yes  (n 2, support 14.3%, confidence 100.0%, lift 1.56)
    >>> axes = rules.plot()
    >>> rules.frame().columns.tolist()
    ['rule', 'outcome', 'n_samples', 'support', 'confidence', 'lift', 'node']
    """

    rules: tuple[Rule, ...]
    support: tuple[float, ...]
    target: str
    wording: Rules

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, k: int) -> Rule:
        return self.rules[k]

    @property
    def _is_class(self) -> bool:
        return any(rule.confidence is not None for rule in self.rules)

    def _texts(self) -> list[str]:
        words = self.wording._wording()
        return [rule.text(words) for rule in self.rules]

    def frame(self) -> Any:
        """The rules as a data frame."""
        columns: dict[str, Any] = {
            "rule": self._texts(),
            "outcome": [rule.outcome for rule in self.rules],
            "n_samples": [rule.n_samples for rule in self.rules],
            "support": list(self.support),
        }
        if self._is_class:
            columns["confidence"] = [rule.confidence for rule in self.rules]
            columns["lift"] = [rule.lift for rule in self.rules]
        columns["node"] = [rule.node for rule in self.rules]
        return as_frame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw confidence (or the number predicted) against support.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        ax = axes(ax)
        y = [r.confidence if self._is_class else float(np.ravel(r.outcome)[0]) for r in self.rules]
        ax.scatter(self.support, y, color=DOWN, s=30)
        for k, (x, at) in enumerate(zip(self.support, y, strict=True)):
            label = f"{k + 1} {name(self.rules[k].outcome, 12)}"
            ax.annotate(label, (x, at), xytext=(4, 4), textcoords="offset points", color=FAINT)
        ax.set_xlabel("support: share of the training rows")
        ax.set_ylabel("confidence" if self._is_class else "prediction")
        tidy(ax)
        return ax

    def __str__(self) -> str:
        head = f"{len(self)} rules for {clip(format_value(self.target), 40)}"
        lines = [head]
        for k, (rule, text, share) in enumerate(
            zip(self.rules, self._texts(), self.support, strict=True), 1
        ):
            lines.append(f"{k:>3}. if {text}")
            said = f"then {clip(format_value(rule.outcome), 40)}"
            figures = [f"n {rule.n_samples}", f"support {share:.1%}"]
            if rule.confidence is not None and rule.lift is not None:
                figures += [f"confidence {rule.confidence:.1%}", f"lift {rule.lift:.2f}"]
            lines.append(f"     {said}  ({', '.join(figures)})")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cells = {
            "rule": self._texts(),
            "outcome": [format_value(rule.outcome) for rule in self.rules],
            "rows": [str(rule.n_samples) for rule in self.rules],
            "support": [f"{share:.1%}" for share in self.support],
        }
        if self._is_class:
            cells["confidence"] = [f"{rule.confidence or 0:.1%}" for rule in self.rules]
            cells["lift"] = [f"{rule.lift or 0:.2f}" for rule in self.rules]
        return html_table(cells, f"{len(self)} rules for {self.target}")


@checked(model=INSTANCE)
def leaf_rules(model: Any, *, order: Order = "confidence") -> LeafRules:
    """One rule per leaf of a tree, the most telling first.

    Leaves that no training row reached are left out.

    Parameters
    ----------
    model : Tree, or fitted learner of one tree
        The tree.
    order : {"confidence", "support", "lift", "tree"}, default="confidence"
        What rules are ordered by, the largest first; ``"tree"`` keeps the order of the leaves.
        Numbers are ordered by what is predicted where confidence or lift is asked for.

    Returns
    -------
    rules : LeafRules
        With ``frame()``, ``plot()`` and ``str()``.

    Examples
    --------
    >>> from treewright import ID3Classifier, datasets
    >>> from treewright.explain import leaf_rules
    >>> tennis = datasets.load_play_tennis()
    >>> print(leaf_rules(ID3Classifier().fit(tennis.data, tennis.target))[0])
    Outlook = Overcast → Yes  (n 4, 1.00)
    """
    tree = model
    if isinstance(getattr(model, "tree_", None), Tree):
        tree = model._whole_tree("leaf_rules")
    if not isinstance(tree, Tree):
        raise ParameterError(
            f"leaf_rules needs a tree or a fitted learner of one, got {type(model).__name__}."
        )
    if order not in ("confidence", "support", "lift", "tree"):
        raise ParameterError(
            f'order must be "confidence", "support", "lift" or "tree", got {order!r}.'
        )
    found = tree.rules()
    whole = float(tree.weight[0]) or 1.0
    rules = [
        replace(rule, lift=_lift(tree, rule))
        for rule in found
        if rule.weight > 0 or len(found) == 1
    ]
    keys = {
        "confidence": lambda r: (_outcome(r) if r.confidence is None else r.confidence, r.weight),
        "support": lambda r: (r.weight, r.confidence or 0.0),
        "lift": lambda r: (_outcome(r) if r.lift is None else r.lift, r.weight),
    }
    if order != "tree":
        rules.sort(key=keys[order], reverse=True)
    support = tuple(rule.weight / whole for rule in rules)
    return LeafRules(tuple(rules), support, found.target, found)


def _lift(tree: Tree, rule: Rule) -> float | None:
    if rule.confidence is None:
        return None
    prior = float(tree.probability[0, tree.label[rule.node]])
    return rule.confidence / prior if prior > 0 else None


def _outcome(rule: Rule) -> float:
    return float(np.ravel(rule.outcome)[0])
