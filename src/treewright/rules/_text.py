"""How a rule set reads: as c4.5rules and C5.0 print rules, as a frame, in a notebook."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from treewright.tree.conditions import Bounds, Condition, Members
from treewright.tree.show.describe import Wording
from treewright.tree.show.rules import Rule
from treewright.tree.show.tables import in_house_style
from treewright.tree.show.words import clip, format_share, format_value

if TYPE_CHECKING:
    import pandas as pd

    from treewright.rules._rule_set import RuleSet

__all__ = ["rules_frame", "rules_html", "rules_text"]

INDENT = 4
NOTEBOOK_RULES = 100


def rules_text(
    rules: RuleSet,
    *,
    style: Literal["c45", "c50"] | None,
    digits: int,
    width: int,
    ascii: bool,
) -> str:
    """See :meth:`RuleSet.to_text`."""
    style = style or ("c50" if rules.decision == "vote" else "c45")
    wording = _wording(rules, digits, ascii)
    target = rules.schema.target
    what = "class" if target is not None and target.is_classification else "value"
    blocks = []
    for number, rule in enumerate(rules, 1):
        lines = [f"Rule {number}:{_support(rule) if style == 'c50' else ''}"]
        for condition in _single_sided(rule):
            lines.append(" " * INDENT + wording.text(condition, width - INDENT))
        outcome = clip(format_value(rule.outcome, digits), 60, wording.ellipsis)
        lines.append(" " * INDENT + f"-> {what} {outcome}{_certainty(rule, style)}")
        blocks.append("\n".join(lines))
    default = clip(format_value(rules.default, digits), 60, wording.ellipsis)
    blocks.append(f"Default {what}: {default}")
    return "\n\n".join(blocks)


def rules_frame(rules: RuleSet, digits: int) -> pd.DataFrame:
    """See :meth:`RuleSet.frame`."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "frame() makes a pandas data frame, but pandas is not installed: install it, or "
            "take the dict that to_dict() gives."
        ) from error
    return pd.DataFrame(_columns(rules, digits))


def rules_html(rules: RuleSet, most: int | None = NOTEBOOK_RULES) -> str:
    """The first ``most`` rules as a table; None for all."""
    columns = _columns(rules if most is None else rules[:most], 6)
    shown = ["rule", "outcome", "n_samples", "confidence", "lift"]
    head = "".join(f"<th style='text-align:left'>{name}</th>" for name in shown)
    body = "".join(
        "<tr>" + "".join(_cell(name, columns[name][i]) for name in shown) + "</tr>"
        for i in range(len(columns["rule"]))
    )
    left_out = len(rules) - len(columns["rule"])
    more = f"<p>… {left_out} more rules</p>" if left_out else ""
    default = html.escape(format_value(rules.default))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"{in_house_style(table)}{more}<p>otherwise {default}</p>"


def _wording(rules: RuleSet, digits: int, ascii: bool = False) -> Wording:
    conditions = (condition for rule in rules for condition in rule.conditions)
    names = None if rules.gap_names is None else frozenset(rules.gap_names)
    return Wording.over(conditions, digits=digits, ascii=ascii, gap_names=names)


def _single_sided(rule: Rule) -> Iterator[Condition]:
    """The conditions, those with two ends as two: the programs print one sign to a line."""
    for condition in rule.conditions:
        if isinstance(condition, Members) or _is_level(condition):
            yield condition
            continue
        bounds = condition.bounds
        if math.isfinite(bounds.low) and math.isfinite(bounds.high):
            yield replace(
                condition, bounds=Bounds(low=bounds.low, includes_low=bounds.includes_low)
            )
            yield replace(
                condition, bounds=Bounds(high=bounds.high, includes_high=bounds.includes_high)
            )
        else:
            yield condition


def _is_level(condition: Any) -> bool:
    """Whether the bounds are codes of an ordinal feature, which read as names of a range."""
    feature = getattr(condition, "feature", None)
    return feature is not None and feature.kind == "ordinal"


def _support(rule: Rule) -> str:
    """Coverage, errors and lift as C5.0 gives them: `` (48/1, lift 2.9)``."""
    covered = _count(rule.weight)
    if rule.errors is not None and rule.errors >= 0.05:
        covered += f"/{_count(rule.errors)}"
    lift = "" if rule.lift is None else f", lift {rule.lift:.1f}"
    return f" ({covered}{lift})"


def _count(x: float) -> str:
    return f"{x:.0f}" if abs(x - round(x)) < 0.05 else f"{x:.1f}"


def _certainty(rule: Rule, style: str) -> str:
    if rule.confidence is None:
        return ""
    shown = f"{rule.confidence:.3f}" if style == "c50" else f"{rule.confidence:.1%}"
    return f"  [{shown}]"


def _columns(rules: RuleSet, digits: int) -> dict[str, list[Any]]:
    wording = _wording(rules, digits)
    return {
        "rule": [rule.text(wording) for rule in rules],
        "outcome": [rule.outcome for rule in rules],
        "n_samples": [rule.n_samples for rule in rules],
        "weight": [rule.weight for rule in rules],
        "confidence": [rule.confidence for rule in rules],
        "lift": [rule.lift for rule in rules],
        "vote": [rule.vote for rule in rules],
    }


def _cell(name: str, value: Any) -> str:
    if value is None:
        text = ""
    elif name == "confidence":
        text = format_share(value)
    elif name == "lift":
        text = f"{value:.1f}"
    else:
        text = format_value(value)
    return f"<td style='text-align:left'>{html.escape(text)}</td>"
