"""Whether the parts of a rule set belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treewright.data.schema import Schema
from treewright.errors import ParameterError
from treewright.tree.show.rules import Rule

__all__ = ["check_rules"]


def check_rules(
    schema: Schema,
    rules: Sequence[Rule],
    default: Any,
    default_value: Sequence[float],
    decision: str,
) -> None:
    """Refuse rules that do not predict what the schema says, or do not say how they decide."""
    target = schema.target
    if target is None:
        raise ParameterError("A RuleSet needs a schema with a target, got one without.")
    if decision not in ("first", "vote"):
        raise ParameterError(
            f'decision must be "first" or "vote", got {decision!r}; '
            'take "first" for an ordered list.'
        )
    width = len(target.classes) or target.n_outputs
    if len(default_value) != width or any(len(rule.value) != width for rule in rules):
        raise ParameterError(
            f"Every rule and the default must have {width} values, one per class or output."
        )
    if not target.is_classification:
        return
    known = set(target.classes)
    for outcome in (default, *(rule.outcome for rule in rules)):
        if outcome not in known:
            raise ParameterError(
                f"Rules must predict classes of the schema, got {outcome!r}; "
                f"they are {', '.join(map(repr, target.classes[:5]))}."
            )
