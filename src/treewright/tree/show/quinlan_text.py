"""A tree as C4.5, C5.0 and J48 print it: a line per branch, ``(cases/errors)`` at its end.

C4.5 shows the leaves of a node before its subtrees and, after pruning, the errors to be expected;
J48 keeps the order of the branches and shows training errors. Both have ``|   `` per level. C5.0
draws ``:...`` where a level begins and shows small subtrees first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from treewright.tree.conditions import Condition, Interval, branch_conditions
from treewright.tree.show.describe import Wording
from treewright.tree.show.nodes import node_prediction
from treewright.tree.show.words import format_value
from treewright.tree.tree import Tree

__all__ = ["render_quinlan"]

Style = Literal["c45", "c50", "j48"]


def render_quinlan(tree: Tree, style: Style, *, max_depth: int | None, digits: int) -> str:
    """The tree as text in the style of a program; see :meth:`Tree.to_text`."""
    if tree.is_leaf[0] or max_depth == 0:
        return _end(tree, 0, style).lstrip()
    lines = _c50_lines if style == "c50" else _lines
    return "\n".join(lines(tree, style, max_depth, digits))


def _c50_lines(tree: Tree, style: Style, max_depth: int | None, digits: int) -> Iterator[str]:
    wording = _wording(tree, digits)
    size = _sizes(tree)
    # node, condition, what stands before its line, and before the lines of its children
    stack: list[tuple[int, Condition, str, str]] = []

    def push(parent: int, before: str) -> None:
        found = list(zip(tree.children(parent), branch_conditions(tree, parent), strict=True))
        found.sort(key=lambda branch: size[branch[0]])
        for i in reversed(range(len(found))):
            first = i == 0 and parent > 0
            # a level stays open as long as it has branches to come
            level = ":   " if i + 1 < len(found) else "    "
            stack.append((*found[i], before[:-4] + ":..." if first else before, before + level))

    push(0, "")
    while stack:
        node, condition, lead, below = stack.pop()
        text = f"{lead}{wording.text(condition)}:"
        if tree.is_leaf[node] or int(tree.node_depth[node]) == max_depth:
            yield text + _end(tree, node, style)
        else:
            yield text
            push(node, below)


def _sizes(tree: Tree) -> list[int]:
    """Leaves below each node."""
    size = [int(leaf) for leaf in tree.is_leaf.tolist()]
    for node in reversed(range(1, tree.n_nodes)):
        size[int(tree.parent[node])] += size[node]
    return size


def _wording(tree: Tree, digits: int) -> Wording:
    inner = (node for node in range(tree.n_nodes) if not tree.is_leaf[node])
    shown = (condition for node in inner for condition in branch_conditions(tree, node))
    return Wording.over(shown, digits=digits, ascii=True, gap_names=frozenset())


def _lines(tree: Tree, style: Style, max_depth: int | None, digits: int) -> Iterator[str]:
    wording = _wording(tree, digits)
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
    errors = cases - float(tree.value[node, tree.label[node]]) if cases else 0.0
    expected = tree.extras.get("expected_errors")
    if style == "c45" and expected is not None:
        errors = float(expected[node])
    number = {"c45": _tenths, "c50": _short, "j48": _hundredths}[style]
    has_errors = errors > 0 if style == "c45" else number(errors) != number(0.0)
    wrong = f"/{number(errors)}" if has_errors else ""
    more = "" if tree.is_leaf[node] else " ..."
    return f" {format_value(node_prediction(tree, node))} ({number(cases)}{wrong}){more}"


def _tenths(x: float) -> str:
    return f"{x:.1f}"


def _short(x: float) -> str:
    """Up to one decimal, as C5.0 has them: 50, 31.3."""
    return f"{round(x, 1):g}" if round(x, 1) < 1e6 else f"{x:.0f}"


def _hundredths(x: float) -> str:
    """Up to two decimals, as J48 has them: 12.0, 2.43."""
    text = f"{x:.2f}"
    return text[:-1] if text.endswith("0") else text
