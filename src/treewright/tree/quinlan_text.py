"""A tree as C4.5 and J48 print it: a line per branch, ``|   `` per level, ``(cases/errors)``.

C4.5 shows the leaves of a node before its subtrees and, after pruning, the errors to be expected;
J48 keeps the order of the branches and shows training errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from treewright.tree.conditions import Condition, Interval, branch_conditions
from treewright.tree.describe import Wording
from treewright.tree.nodes import node_prediction
from treewright.tree.tree import Tree
from treewright.tree.words import format_value

__all__ = ["render_quinlan"]

Style = Literal["c45", "j48"]


def render_quinlan(tree: Tree, style: Style, *, max_depth: int | None, digits: int) -> str:
    """The tree as text in the style of a program; see :meth:`Tree.to_text`."""
    if tree.is_leaf[0] or max_depth == 0:
        return _end(tree, 0, style).lstrip()
    return "\n".join(_lines(tree, style, max_depth, digits))


def _lines(tree: Tree, style: Style, max_depth: int | None, digits: int) -> Iterator[str]:
    inner = (node for node in range(tree.n_nodes) if not tree.is_leaf[node])
    shown = (condition for node in inner for condition in branch_conditions(tree, node))
    wording = Wording.over(shown, digits=digits, ascii=True, gap_names=frozenset())
    stack = _branches(tree, 0, style)
    while stack:
        node, condition = stack.pop()
        depth = int(tree.node_depth[node])
        text = "|   " * (depth - 1) + wording.text(condition)
        # C4.5 sets the colon apart from a number.
        colon = " :" if style == "c45" and isinstance(condition, Interval) else ":"
        if tree.is_leaf[node] or depth == max_depth:
            yield text + colon + _end(tree, node, style)
        else:
            yield text + (colon if style == "c45" else "")
            stack.extend(_branches(tree, node, style))


def _branches(tree: Tree, node: int, style: Style) -> list[tuple[int, Condition]]:
    """Children and their conditions, the first to be shown last."""
    found = list(zip(tree.children(node), branch_conditions(tree, node), strict=True))
    if style == "c45":
        found.sort(key=lambda branch: not tree.is_leaf[branch[0]])
    return found[::-1]


def _end(tree: Tree, node: int, style: Style) -> str:
    """Class, cases and errors of a node below which nothing is shown."""
    cases = float(tree.weight[node])
    errors = cases - float(tree.value[node].max()) if cases else 0.0
    expected = tree.extras.get("expected_errors")
    if style == "c45" and expected is not None:
        errors = float(expected[node])
    number = _tenths if style == "c45" else _hundredths
    has_errors = errors > 0 if style == "c45" else number(errors) != number(0.0)
    wrong = f"/{number(errors)}" if has_errors else ""
    more = "" if tree.is_leaf[node] else " ..."
    return f" {format_value(node_prediction(tree, node))} ({number(cases)}{wrong}){more}"


def _tenths(x: float) -> str:
    return f"{x:.1f}"


def _hundredths(x: float) -> str:
    """Up to two decimals, as J48 has them: 12.0, 2.43."""
    text = f"{x:.2f}"
    return text[:-1] if text.endswith("0") else text
