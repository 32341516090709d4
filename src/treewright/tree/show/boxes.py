"""The boxes of a diagram before they are placed: words, sizes and colours.

Without a font at hand the width of words is estimated from the proportions that Helvetica,
Arial and their free twins share; boxes leave room for the error.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

import numpy as np

from treewright.tree.conditions import Condition, Members, branch_conditions
from treewright.tree.growing.stopped import why_stopped
from treewright.tree.node_tests import format_p
from treewright.tree.show.colours import FAINT, OTHER, PAPER, Palette, mix
from treewright.tree.show.describe import Wording, features_with_gaps
from treewright.tree.show.nodes import node_prediction, node_probability
from treewright.tree.show.panels import Panel, PanelStyle
from treewright.tree.show.text import nodes_below
from treewright.tree.show.words import format_category, format_share, format_value
from treewright.tree.tree import Tree

__all__ = ["DOWN", "RIGHT", "Box", "Limits", "fit_text", "make_boxes", "text_width", "wrap_text"]

TITLE_SIZE = 13.0
DETAIL_SIZE = 11.0
LABEL_SIZE = 11.5
LINE_HEIGHT = 14.0
BAR_HEIGHT = 6.0
PADDING = 10.0
LEAST_WIDTH = 70.0


@dataclass(frozen=True)
class Limits:
    """How much room words get; longer ones are shortened, their full form is in the tooltip.

    Parameters
    ----------
    words
        Widest line of a title, and of a label with a single value.
    listing, n_lines
        Widest line with several categories, and the most of such lines.
    """

    words: float
    listing: float
    n_lines: int


DOWN = Limits(words=150, listing=130, n_lines=2)
RIGHT = Limits(words=124, listing=104, n_lines=3)

_ADVANCE = {
    **dict.fromkeys("ijl'|", 0.23),
    **dict.fromkeys("I.,:;/\\! tf()[]", 0.28),
    **dict.fromkeys('-r{}"*·', 0.34),
    **dict.fromkeys("cksvxyzJ", 0.5),
    **dict.fromkeys("<>=+≤≥−~", 0.585),
    **dict.fromkeys("ABEKPSVXY&", 0.667),
    **dict.fromkeys("CDHNRUw", 0.722),
    **dict.fromkeys("GOQ", 0.778),
    **dict.fromkeys("mM%", 0.86),
    **dict.fromkeys("W@…", 0.98),
}
"""Widths in units of the font size; 0.556, that of digits and most small letters, for the rest."""


def text_width(words: str, size: float, is_bold: bool = False) -> float:
    """Estimated width of ``words``."""
    units = 0.0
    for char in words:
        if unicodedata.east_asian_width(char) in "WF":
            units += 1.05
        else:
            units += _ADVANCE.get(char, 0.556 if char.isascii() else 0.62)
    return units * size * (1.07 if is_bold else 1.0)


def fit_text(words: str, size: float, room: float, is_bold: bool = False) -> str:
    """``words`` shortened at the end to fit ``room``."""
    if text_width(words, size, is_bold) <= room:
        return words
    while words and text_width(words + "…", size, is_bold) > room:
        words = words[:-1]
    return words.rstrip() + "…"


def wrap_text(
    words: str, size: float, room: float, max_lines: int, is_bold: bool = False
) -> list[str]:
    """``words`` on several lines, broken after spaces and joints, the last one shortened."""
    lines = [""]
    for piece in re.findall(r"[^\s_/\-]*[\s_/\-]*", words):
        longer = lines[-1] + piece
        is_last = len(lines) == max_lines
        if not lines[-1] or is_last or text_width(longer.rstrip(), size, is_bold) <= room:
            lines[-1] = longer
        else:
            lines.append(piece)
    return [fit_text(line.strip(), size, room, is_bold) for line in lines]


@dataclass
class Box:
    """One drawn node: ``label`` stands on the edge that leads to it."""

    node: int
    level: int
    title: list[str]
    detail: str
    tooltip: str
    label: list[str]
    fill: str
    stroke: str
    shares: list[tuple[str, float]] = field(default_factory=list)
    position: float | None = None
    marker: str = OTHER
    n_hidden: int = 0
    is_empty: bool = False
    children: list[int] = field(default_factory=list)
    panel: Panel | None = None

    @property
    def width(self) -> float:
        """Width of the box."""
        title = max(text_width(line, TITLE_SIZE, True) for line in self.title)
        panel = 0.0 if self.panel is None else self.panel.width
        inside = max(title, text_width(self.detail, DETAIL_SIZE), panel)
        return max(LEAST_WIDTH, inside + 2 * PADDING)

    @property
    def height(self) -> float:
        """Height of the box."""
        if self.panel is not None:
            return self.detail_base + 7 + self.panel.height + PADDING
        return self.detail_base + 2 + BAR_HEIGHT + 8 + PADDING - 3

    @property
    def detail_base(self) -> float:
        """Base line of the detail below the title."""
        return PADDING + LINE_HEIGHT * len(self.title) + DETAIL_SIZE + 1

    @property
    def label_width(self) -> float:
        """Width of the label."""
        return max((text_width(line, LABEL_SIZE) for line in self.label), default=0.0)

    @property
    def label_height(self) -> float:
        """Height of the label."""
        return LINE_HEIGHT * len(self.label)


def make_boxes(
    tree: Tree,
    palette: Palette,
    limits: Limits,
    *,
    max_depth: int | None,
    digits: int,
    gaps: bool | None,
    distribution: bool = False,
) -> list[Box]:
    """Boxes of the nodes down to ``max_depth``, parents before children, siblings in order."""
    shown = list(tree.walk(max_depth=max_depth))
    is_open = [
        tree.first_child[node] >= 0 and (max_depth is None or tree.node_depth[node] < max_depth)
        for node in shown
    ]
    below = {node: branch_conditions(tree, node) for node in shown if tree.first_child[node] >= 0}
    wording = Wording.over(
        (condition for conditions in below.values() for condition in conditions),
        digits=digits,
        pretty=True,
        gap_names=features_with_gaps(tree, gaps),
    )
    index = {node: i for i, node in enumerate(shown)}
    hidden = nodes_below(tree) if max_depth is not None else None
    style = PanelStyle(tree, palette, digits) if distribution else None
    boxes = []
    for node, opened in zip(shown, is_open, strict=True):
        box = _box(tree, palette, limits, wording, node, below.get(node) if opened else None)
        if style is not None:
            _fill_panel(box, tree, style, opened)
        parent = int(tree.parent[node])
        if parent >= 0:
            condition = below[parent][node - int(tree.first_child[parent])]
            box.label = _label(wording, condition, limits)
            box.tooltip = f"{wording.text(condition, 300)}\n{box.tooltip}"
        if opened:
            box.children = [index[child] for child in tree.children(node)]
        elif hidden is not None:
            box.n_hidden = hidden[node]
        boxes.append(box)
    return boxes


def _box(
    tree: Tree,
    palette: Palette,
    limits: Limits,
    wording: Wording,
    node: int,
    conditions: list[Condition] | None,
) -> Box:
    prediction = format_value(node_prediction(tree, node), wording.digits)
    n = f"n {int(tree.n_samples[node])}"
    log_p = float(tree.log_p[node])
    tested = "" if np.isnan(log_p) else format_p(log_p)
    if tested and conditions is not None:
        n += f" · {tested}"
    is_class = palette.scale is None
    words = prediction if conditions is None else wording.subject(conditions[0], 60)
    box = Box(
        node=node,
        level=int(tree.node_depth[node]),
        title=wrap_text(words, TITLE_SIZE, limits.words, 2, True),
        detail=n,
        tooltip=f"node {node}: {int(tree.n_samples[node])} rows, predicts {prediction}"
        + (f", {tested}" if tested else "")
        + (f"; not split: {stopped}" if (stopped := why_stopped(tree, node)) else ""),
        label=[],
        fill=PAPER,
        stroke=FAINT,
        is_empty=int(tree.n_samples[node]) == 0,
    )
    if is_class:
        _colour_class(box, tree, palette, node, conditions is None)
    else:
        _colour_value(box, tree, palette, node, conditions is None, prediction)
    return box


def _fill_panel(box: Box, tree: Tree, style: PanelStyle, is_open: bool) -> None:
    """Give a box the distribution of its node; the prediction becomes its title."""
    node = box.node
    box.panel = style.panel(node, box.title if is_open else None)
    share = float(tree.weight[node]) / max(float(tree.weight[0]), 1e-300)
    prediction = format_value(node_prediction(tree, node), style.digits)
    box.title = [fit_text(prediction, TITLE_SIZE, box.panel.width, True)]
    box.detail = f"n {int(tree.n_samples[node])} · {_percent(share)}"


def _colour_class(box: Box, tree: Tree, palette: Palette, node: int, is_end: bool) -> None:
    shares = node_probability(tree, node)
    label = int(tree.label[node])
    order = [k for k in range(len(shares)) if palette.colours[k] != OTHER]
    box.shares = [(palette.colours[k], float(shares[k])) for k in order]
    box.shares.append((OTHER, max(0.0, 1.0 - sum(share for _, share in box.shares))))
    box.shares = [(colour, share) for colour, share in box.shares if share > 1e-9]
    if is_end:
        box.detail += f" · {_percent(float(shares[label]))}"
        box.fill = mix(PAPER, palette.colours[label], 0.16)
        box.stroke = palette.colours[label]
    largest = np.argsort(-shares, kind="stable")[:8]
    words = (f"{palette.names[k]} {format_share(float(shares[k]))}" for k in largest.tolist())
    box.tooltip += "\n" + ", ".join(words)


def _colour_value(
    box: Box, tree: Tree, palette: Palette, node: int, is_end: bool, prediction: str
) -> None:
    box.position = palette.position(float(tree.value[node, 0]))
    box.marker = mix(palette.shade(box.position), "#08306b", 0.45)
    if is_end:
        box.fill = palette.shade(box.position)
        box.stroke = mix(box.fill, "#08306b", 0.35)
    else:
        box.detail += f" · {fit_text(prediction, DETAIL_SIZE, 90)}"


def _percent(share: float) -> str:
    """A share in percent; only certainty reads 100 %."""
    whole = round(100 * share)
    if whole == 100 and share < 1:
        return "> 99 %"
    return f"{whole} %"


def _label(wording: Wording, condition: Condition, limits: Limits) -> list[str]:
    """The condition without its subject, lists of categories on a few lines."""
    if not isinstance(condition, Members) or len(condition.codes) < 2:
        return [fit_text(wording.label(condition), LABEL_SIZE, limits.words)]
    categories, codes = condition.feature.categories, condition.codes
    lines: list[str] = []
    for n_shown, code in enumerate(codes):
        word = fit_text(format_category(categories[code], 30), LABEL_SIZE, limits.words - 4)
        word += "," if n_shown + 1 < len(codes) else ""
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, LABEL_SIZE) <= limits.listing:
            lines[-1] = longer
        elif len(lines) < limits.n_lines:
            lines.append(word)
        else:
            lines.append(f"… {len(codes) - n_shown} more")
            break
    return [*lines, "(or gap)"] if wording.says_gap(condition) else lines
