"""A tree as text: one line per node, as rpart's print and C5.0's trees have it.

Columns: node id, guides and test, rows, (weight,) prediction, class shares or impurity.
Everything to the right of the test is measured first; the tests share what is left of the width.
Where that is too little, shares shrink to that of the predicted class, then its name is cut, then
columns are left out: no line is wider than it may be.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.errors import ParameterError
from treewright.tree.conditions import Condition, branch_conditions, surrogate_conditions
from treewright.tree.growing.stopped import why_stopped
from treewright.tree.node_tests import format_p
from treewright.tree.show.describe import Wording, features_with_gaps
from treewright.tree.show.nodes import node_prediction, node_probability
from treewright.tree.show.words import (
    align_points,
    clean,
    clip,
    display_width,
    exact,
    format_number,
    format_share,
    format_value,
)
from treewright.tree.split import GAP_FRACTION, GAP_STOP
from treewright.tree.tree import Tree

__all__ = ["check_view", "nodes_below", "render_text", "summary"]

MAX_SHARES = 6
"""Up to so many classes the shares of all are shown; above, those of the first few."""
MAX_CLASS_WIDTH = 24
SHORT_TEST = 24
"""Room in which tests are written to see how much they need."""
SHORTEST_TEST = 12
N_FORMS = 5
"""Ways to write the columns, from the widest to the narrowest; see :func:`_narrowed`."""


@dataclass(frozen=True)
class Line:
    """One line before alignment: ``cells`` are the columns to the right of the test.

    ``short`` stands for the last of them where there is little room.
    """

    node: str
    guide: str
    condition: Condition | None
    cells: tuple[str, ...] = ()
    short: str | None = None
    end: str = ""
    note: str = ""


def check_view(max_depth: int | None, digits: int) -> None:
    """Refuse what cannot be shown."""
    if max_depth is not None and (max_depth != int(max_depth) or max_depth < 0):
        raise ParameterError(
            f"max_depth must be a non-negative integer or None, got {max_depth!r}."
        )
    if digits != int(digits) or not 1 <= digits <= 17:
        raise ParameterError(f"digits must be an integer from 1 to 17, got {digits!r}.")


def render_text(
    tree: Tree,
    *,
    style: str,
    max_depth: int | None,
    digits: int,
    width: int,
    gaps: bool | None,
    surrogates: bool,
    stopped: bool,
    ascii: bool,
) -> str:
    """The tree as text; see :meth:`Tree.to_text`."""
    check_view(max_depth, digits)
    if style != "treewright":
        from treewright.tree.show.quinlan_text import render_quinlan

        return render_quinlan(tree, _check_style(tree, style), max_depth=max_depth, digits=digits)
    lines = _lines(tree, max_depth, digits, surrogates, ascii, stopped)
    wording = Wording.over(
        (line.condition for line in lines if line.condition is not None),
        digits=digits,
        ascii=ascii,
        gap_names=features_with_gaps(tree, gaps),
    )
    is_cut = max_depth is not None and tree.depth > max_depth
    form = _form(lines, wording, width)
    heading = _wrapped(summary(tree), width)
    heading += _wrapped(_legend(tree, lines, wording, is_cut, surrogates, form), width)
    return "\n".join([*heading, "", *_aligned(lines, wording, width, form)])


def _wrapped(words: str, width: int) -> list[str]:
    """Words on lines of a width; characters may take two columns."""
    return [clip(line, width) for line in textwrap.wrap(words, width)]


def _check_style(tree: Tree, style: str) -> Any:
    """Refuse a style that does not exist, or that this tree cannot have."""
    if style not in ("c45", "c50", "j48"):
        raise ParameterError(f'style must be "treewright", "c45", "c50" or "j48", got {style!r}.')
    if tree.schema.target is None or not tree.schema.target.is_classification:
        raise ParameterError(
            f'style="{style}" shows cases and errors of classes, got a regression tree; use '
            'style="treewright".'
        )
    return style


def summary(tree: Tree) -> str:
    """What and how large the tree is, on one line."""
    target = tree.schema.target
    kind = "Tree"
    if target is not None:
        kind = "Classification tree" if target.is_classification else "Regression tree"
        kind += f" for {clip(clean(target.name), 40)}"
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    nodes = "1 node" if tree.n_nodes == 1 else f"{tree.n_nodes} nodes"
    return f"{kind}: {int(tree.n_samples[0])} rows, {nodes}, {leaves}, depth {tree.depth}"


def _legend(
    tree: Tree,
    lines: list[Line],
    wording: Wording,
    is_cut: bool,
    surrogates: bool,
    form: int,
) -> str:
    target = tree.schema.target
    columns = ["node", "test", "n"]
    if _has_weights(tree) and form < N_FORMS - 1:
        columns.append("weight")
    if _has_tests(tree) and form < N_FORMS - 1:
        columns.append("adjusted p")
    if form:
        columns.append("value")
        if target is not None and target.is_classification:
            columns[-1:] = ["class", "(its share)"] if form < N_FORMS - 1 else ["class"]
    elif target is not None and target.is_classification:
        names = [clip(exact(c), MAX_CLASS_WIDTH, wording.ellipsis) for c in target.classes]
        few = len(names) <= MAX_SHARES
        columns.append("class")
        columns.append(f"(share of {', '.join(names)})" if few else "(largest shares)")
    else:
        columns.append("value")
        columns.append("(impurity)")
    notes = [f"{', '.join(columns)}; * is a leaf"]
    if is_cut:
        notes.append(f"{wording.ellipsis} has more below")
    if not wording.gap_names:
        return "; ".join(notes)
    defaults = set(tree.default[~tree.is_leaf].tolist())
    says_gap = any(line.condition is not None and line.condition.gap for line in lines)
    if len(tree.surrogates):
        notes.append("a gap asks the surrogates first" + (" (~)" if surrogates else ""))
    if GAP_FRACTION in defaults:
        notes.append("a gap goes down every branch" + (" unless one says gap" if says_gap else ""))
    if GAP_STOP in defaults:
        notes.append("a gap stops at its node" + (" unless a branch says gap" if says_gap else ""))
    return "; ".join(notes)


def _has_weights(tree: Tree) -> bool:
    """Whether weights say something that row counts do not."""
    return not np.allclose(tree.weight, tree.n_samples, rtol=1e-9, atol=1e-9)


def _has_tests(tree: Tree) -> bool:
    return not np.isnan(tree.log_p).all()


def _lines(
    tree: Tree, max_depth: int | None, digits: int, surrogates: bool, ascii: bool, stopped: bool
) -> list[Line]:
    shown_depth = tree.depth if max_depth is None else min(max_depth, tree.depth)
    tee, corner, bar, blank = _guides(shown_depth, ascii)
    has_weights, has_tests = _has_weights(tree), _has_tests(tree)
    below = nodes_below(tree) if max_depth is not None else None
    lines = []
    stack: list[tuple[int, str, str, Condition | None]] = [(0, "", "", None)]
    while stack:
        node, guide, hang, condition = stack.pop()
        depth = len(hang) // len(bar)
        is_open = tree.first_child[node] >= 0 and (max_depth is None or depth < max_depth)
        end = "" if is_open else "*"
        if not is_open and below is not None and below[node]:
            end = f"{'...' if ascii else '…'} {below[node]} more"
        if stopped and tree.is_leaf[node] and (reason := why_stopped(tree, node)):
            end = f"{end} {reason}"
        cells = _cells(tree, node, digits, has_weights, has_tests)
        short = _share(tree, node)
        lines.append(Line(str(node), guide, condition, cells, short, end))
        if not is_open:
            continue
        if surrogates:
            lines.extend(_surrogate_lines(tree, node, hang + bar))
        children = tree.children(node)
        found = list(zip(children, branch_conditions(tree, node), strict=True))
        for child, reached_by in reversed(found):
            last = child == children[-1]
            stack.append(
                (
                    child,
                    hang + (corner if last else tee),
                    hang + (blank if last else bar),
                    reached_by,
                )
            )
    return lines


def _guides(depth: int, ascii: bool) -> tuple[str, str, str, str]:
    """Guides for a fork, a last branch, a level passed by and an empty one.

    Deep trees get narrower ones, so that the tests keep room.
    """
    step = 3 if depth <= 12 else 2 if depth <= 20 else 1
    if ascii:
        return "|- "[:step], "`- "[:step], "|  "[:step], "   "[:step]
    return "├─ "[:step], "└─ "[:step], "│  "[:step], "   "[:step]


def nodes_below(tree: Tree) -> list[int]:
    """Number of nodes below each node."""
    size = np.ones(tree.n_nodes, np.int64)
    order = np.argsort(tree.node_depth, kind="stable")
    level_end = np.cumsum(np.bincount(tree.node_depth))
    for level in range(len(level_end) - 1, 0, -1):
        nodes = order[level_end[level - 1] : level_end[level]]
        np.add.at(size, tree.parent[nodes], size[nodes])
    return (size - 1).tolist()


def _cells(
    tree: Tree, node: int, digits: int, has_weights: bool, has_tests: bool
) -> tuple[str, ...]:
    target = tree.schema.target
    cells = [str(int(tree.n_samples[node]))]
    if has_weights:
        cells.append(format_number(float(tree.weight[node]), digits))
    if has_tests:
        cells.append("" if np.isnan(tree.log_p[node]) else format_p(float(tree.log_p[node])))
    predicted = format_value(node_prediction(tree, node), digits)
    if target is None or not target.is_classification:
        return (*cells, predicted, f"({format_number(float(tree.impurity[node]), 4)})")
    predicted = exact(node_prediction(tree, node))
    return (*cells, clip(predicted, MAX_CLASS_WIDTH), _shares(tree, node))


def _shares(tree: Tree, node: int) -> str:
    target = tree.schema.target
    if tree.value[node].sum() <= 0 or target is None:
        return "(empty)"
    shares = node_probability(tree, node)
    if len(shares) <= MAX_SHARES:
        return "(" + " ".join(format_share(share) for share in shares.tolist()) + ")"
    largest = np.argsort(-shares, kind="stable")[:3]
    return (
        "("
        + ", ".join(
            f"{clip(exact(target.classes[k]), 12)} {format_share(float(shares[k]))}"
            for k in largest
            if shares[k] > 0
        )
        + ")"
    )


def _share(tree: Tree, node: int) -> str | None:
    """The share of the predicted class; None for numbers."""
    target = tree.schema.target
    if target is None or not target.is_classification:
        return None
    if tree.value[node].sum() <= 0:
        return "(empty)"
    return f"({format_share(float(node_probability(tree, node)[tree.label[node]]))})"


def _surrogate_lines(tree: Tree, node: int, hang: str) -> list[Line]:
    start, stop = tree.surrogate_offset[node : node + 2].tolist()
    n_branches = int(tree.n_children[node])
    return [
        Line(
            node="",
            guide=f"{hang}~ ",
            condition=surrogate_conditions(tree, i, n_branches)[0],
            note=f"agrees {tree.surrogate_agreement[i]:.3f}, "
            f"adjusted {tree.surrogate_adjusted[i]:.3f}",
        )
        for i in range(start, stop)
    ]


def _narrowed(line: Line, form: int) -> tuple[str, ...]:
    """The cells of a line: as they are, with one share, with a shorter class, or only that."""
    if form == 0:
        return line.cells
    *before, predicted, _ = line.cells
    if form == N_FORMS - 1:
        return (before[0], clip(predicted, 8))
    shorter = (*before, clip(predicted, (MAX_CLASS_WIDTH, 12, 8)[form - 1]))
    return shorter if line.short is None else (*shorter, line.short)


def _ends(lines: list[Line], form: int) -> list[str]:
    """What stands to the right of the tests."""
    cells = iter(_aligned_cells([_narrowed(line, form) for line in lines if line.cells]))
    return [f"  {next(cells)} {line.end}" if line.cells else "" for line in lines]


def _form(lines: list[Line], wording: Wording, width: int) -> int:
    """The widest way to write the columns that leaves the tests enough room."""
    before = max(len(line.node) for line in lines) + 1
    needs = [
        len(line.guide) + min(SHORT_TEST, display_width(wording.text(line.condition, SHORT_TEST)))
        for line in lines
        if line.condition is not None
    ]
    before += max(needs, default=4)
    for form in range(N_FORMS):
        if before + max(map(display_width, _ends(lines, form))) <= width:
            return form
    return N_FORMS - 1


def _aligned(lines: list[Line], wording: Wording, width: int, form: int) -> list[str]:
    id_width = max(len(line.node) for line in lines)
    cells = _ends(lines, form)
    widest = max(map(display_width, cells))
    room = max(width - id_width - 1 - widest, 4)
    tests, widths = [], []
    for line in lines:
        guide = line.guide
        if len(guide) > room - SHORTEST_TEST:  # very deep: only the last levels have their guides
            guide = wording.ellipsis + guide[len(guide) - max(room - SHORTEST_TEST, 1) :]
        left = room if line.cells else width - id_width - 1 - display_width(line.note) - 4
        left = max(left - len(guide), 4)
        text = "root" if line.condition is None else wording.text(line.condition, left)
        text = clip(text, left, wording.ellipsis)
        tests.append(f"{line.node:>{id_width}} {guide}{text}")
        widths.append(id_width + 1 + len(guide) + display_width(text))
    test_width = max(width for width, line in zip(widths, lines, strict=True) if line.cells)
    whole = [
        (test + " " * (test_width - width) + end).rstrip() if end else f"{test}  ({line.note})"
        for line, test, width, end in zip(lines, tests, widths, cells, strict=True)
    ]
    return [clip(line, width, wording.ellipsis) for line in whole]


def _aligned_cells(rows: list[tuple[str, ...]]) -> list[str]:
    """Each row of cells as one string, numbers at their points and words at their left."""
    columns = []
    for column in zip(*rows, strict=True):
        if all(_is_number(cell) for cell in column):
            columns.append(align_points(list(column)))
        else:
            width = max(display_width(cell) for cell in column)
            columns.append([_ljust(cell, width) for cell in column])
    return ["  ".join(row) for row in zip(*columns, strict=True)]


def _is_number(cell: str) -> bool:
    return cell[-1:].isdigit() and cell[:1] in "-0123456789"


def _ljust(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))
