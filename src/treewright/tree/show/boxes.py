"""The boxes of a diagram before they are placed: what they say, how large they are, their fill.

A box is a column of blocks (:mod:`treewright.tree.show.blocks`). There are three levels of detail:
a *chip* is one line, a *card* adds the rows and the class bar or box plot, *full* adds the small
picture of the split and the next classes. A leaf grows with the square root of its rows and is
filled the stronger, the larger its lead over the runner-up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from treewright.tree.conditions import Condition, Members, branch_conditions
from treewright.tree.show.blocks import Bar, Block, BoxPlot, Chip, Output, Words, scaled
from treewright.tree.show.colours import Palette
from treewright.tree.show.describe import Wording, features_with_gaps
from treewright.tree.show.fold import Part, leaves_below
from treewright.tree.show.grammar import (
    Facts,
    count_words,
    facts_of,
    joined,
    output_names,
    percent,
    sentence,
    split_statistic,
    split_test,
)
from treewright.tree.show.measure import fit_name, fit_text, text_width, wrap_text
from treewright.tree.show.split_picture import Pictures
from treewright.tree.show.words import format_category, format_number
from treewright.tree.split import SplitKind
from treewright.tree.tree import Tree

__all__ = ["DETAILS", "LABEL_LINE", "LABEL_SIZE", "Box", "Detail", "Style", "make_boxes"]

Detail = Literal["chip", "card", "full"]
DETAILS: tuple[Detail, ...] = ("full", "card", "chip")

TITLE_SIZE = 13.0
TEXT_SIZE = 11.0
SMALL_SIZE = 10.0
LABEL_SIZE = 11.0
LABEL_LINE = 13.5
PADDING = 8.0
GROWTH = (46.0, 16.0)
"""By how much a leaf with all rows is wider and higher than one with none."""
LEAST_NAME = 70.0
"""Room that the class of a folded subtree gets at least."""
TOOLTIP = 300
"""Characters of a condition that a tooltip shows."""


@dataclass(frozen=True)
class Limits:
    """Widest words: of a title, of a label, of a line with several categories; lines of these."""

    title: float
    label: float
    listing: float
    n_lines: int


LIMITS: dict[tuple[Detail, bool], Limits] = {
    ("full", True): Limits(150, 140, 130, 2),
    ("card", True): Limits(124, 118, 112, 2),
    ("chip", True): Limits(110, 90, 90, 2),
    ("full", False): Limits(150, 130, 116, 3),
    ("card", False): Limits(124, 106, 100, 2),
    ("chip", False): Limits(120, 90, 90, 1),
}


@dataclass
class Box:
    """One drawn part: ``label`` stands on the ribbon that leads to it."""

    part: Part
    facts: Facts
    blocks: list[Block]
    aria: str
    tooltip: str
    fill: str = ""
    strength: float = 0.0
    stroke: str = "faint"
    grow: float = 0.0
    least_width: float = 0.0
    padding: float = PADDING
    label: list[str] = field(default_factory=list)

    width: float = 0.0
    height: float = 0.0
    label_width: float = 0.0
    label_height: float = 0.0

    def measure(self) -> None:
        """Find the size of the box and of its label."""
        inside = max((block.width for block in self.blocks), default=0.0)
        self.width = max(self.least_width, inside + 2 * self.padding) + GROWTH[0] * self.grow
        inside = sum(block.height for block in self.blocks)
        self.height = inside + 2 * self.padding - 3 + GROWTH[1] * self.grow
        self.label_width = max((text_width(line, LABEL_SIZE) for line in self.label), default=0.0)
        self.label_height = LABEL_LINE * len(self.label)


@dataclass(frozen=True)
class Style:
    """How boxes of one tree are made.

    ``pictures`` are the small pictures of its splits; ``digits`` significant digits of
    thresholds and means.
    """

    tree: Tree
    palette: Palette
    digits: int
    gaps: bool | None
    pictures: Pictures | None = None


def make_boxes(style: Style, parts: list[Part], detail: Detail, is_down: bool) -> list[Box]:
    """A box for every part."""
    tree = style.tree
    limits = LIMITS[detail, is_down]
    below = {part.node: branch_conditions(tree, part.node) for part in parts if part.children}
    wording = Wording.over(
        (condition for conditions in below.values() for condition in conditions),
        digits=style.digits,
        pretty=True,
        gap_names=features_with_gaps(tree, style.gaps),
    )
    maker = _Maker(style, detail, limits, wording, leaves_below(tree))
    boxes = []
    for part in parts:
        conditions = below.get(part.node) if part.kind == "split" else None
        subject = wording.subject(conditions[0], 200) if conditions else ""
        box = maker.box(part, subject)
        if part.parent >= 0:
            parent = parts[part.parent].node
            reached = [below[parent][node - int(tree.first_child[parent])] for node in part.nodes]
            box.label = maker.label(reached)
            box.tooltip = f"{maker.reached(reached)}\n{box.tooltip}"
        boxes.append(box)
    _level_ends(boxes, detail)
    return boxes


def _level_ends(boxes: list[Box], detail: Detail) -> None:
    """Leaves share their least width, so that only their rows make one larger than another."""
    for box in boxes:
        box.measure()
    leaves = [box for box in boxes if box.part.kind == "leaf"]
    least = max((box.width for box in leaves), default=0.0)
    most = max((box.facts.n for box in leaves), default=0)
    for box in leaves:
        box.least_width = least if detail != "chip" else 0.0
        box.grow = 0.0 if detail == "chip" else float(np.sqrt(box.facts.n / max(most, 1)))
        box.measure()


@dataclass(frozen=True)
class _Maker:
    style: Style
    detail: Detail
    limits: Limits
    wording: Wording
    n_leaves: np.ndarray

    def box(self, part: Part, subject: str) -> Box:
        """The box of a part, without its label."""
        style, tree = self.style, self.style.tree
        facts = facts_of(tree, part.nodes, style.digits)
        below = int(self.n_leaves[list(part.nodes)].sum())
        said = sentence(tree, part, facts, subject, below)
        if part.kind == "split":
            blocks = self._split(part.node, facts, subject)
        elif part.kind == "leaf":
            blocks = self._leaf(facts)
        else:
            blocks = self._closed(part, facts, below)
        box = Box(part, facts, blocks, said, said + _class_words(style.palette, facts))
        box.padding = 4.0 if self.detail == "chip" else PADDING
        if part.kind != "split":
            box.fill, box.strength, box.stroke = self._paint(facts)
        if part.kind == "empty":
            box.fill, box.stroke, box.padding = "", "faint", 4.0
        return box

    def _split(self, node: int, facts: Facts, subject: str) -> list[Block]:
        is_sum = self.style.tree.splits.kind[node] == SplitKind.LINEAR.value
        shorten = fit_text if is_sum else fit_name
        if self.detail == "chip":
            return [Words(shorten(subject, TEXT_SIZE, self.limits.title, True), TEXT_SIZE, True)]
        lines = wrap_text(subject, TITLE_SIZE, self.limits.title, 2, True, shorten)
        blocks: list[Block] = [Words(words, TITLE_SIZE, True) for words in lines]
        pictures = self.style.pictures
        picture = pictures.get(node) if pictures and self.detail == "full" else None
        if picture is not None:
            blocks.append(picture)
        blocks.append(Words(facts.rows_and_share, SMALL_SIZE, fill="soft"))
        tests = [split_test(self.style.tree, node)]
        tests += [split_statistic(self.style.tree, node)] if self.detail == "full" else []
        blocks += [Words(tested, SMALL_SIZE, fill="soft") for tested in tests if tested]
        if picture is None:
            blocks += self._plots(facts)
        return blocks

    def _leaf(self, facts: Facts) -> list[Block]:
        if self.detail == "chip":
            return [self._chip(self._answer(facts, TEXT_SIZE), facts)]
        many = len(facts.means) > 1
        blocks: list[Block] = []
        if not many:
            blocks.append(Words(self._answer(facts, TITLE_SIZE), TITLE_SIZE, True))
        blocks.append(Words(facts.rows, TEXT_SIZE, fill="soft"))
        if self.detail == "full" and len(facts.order) > 2:
            blocks += self._next_classes(facts)
        return blocks + self._plots(facts)

    def _closed(self, part: Part, facts: Facts, below: int) -> list[Block]:
        """A folded subtree, or several branches."""
        if part.kind == "empty":
            what = count_words(len(part.nodes), "branch", "branches")
            words = fit_text(f"{what} without rows", SMALL_SIZE, self.limits.title + 20)
            return [Words(words, SMALL_SIZE, fill="soft")]
        if part.kind == "fold":
            what = count_words(below, "leaf", "leaves")
        else:
            what = count_words(len(part.nodes), "branch", "branches")
        size = TEXT_SIZE if self.detail == "chip" else TEXT_SIZE + 1
        mostly = f"{what}, {'mean' if facts.means else 'mostly'} "
        room = max(self.limits.title + 34 - text_width(mostly, size, True), LEAST_NAME)
        mostly += fit_name(facts.prediction, size, room, True)
        if self.detail == "chip":
            return [self._chip(mostly, facts)]
        return [
            Words(mostly, size, True),
            Words(facts.rows, TEXT_SIZE, fill="soft"),
            *self._plots(facts),
        ]

    def _answer(self, facts: Facts, size: float) -> str:
        room = self.limits.title - text_width(f" · {facts.certainty}", size, True)
        return joined(fit_name(facts.prediction, size, room, True), facts.certainty)

    def _chip(self, words: str, facts: Facts) -> Chip:
        fill, strength, stroke = self._paint(facts)
        return Chip(words, facts.rows, TEXT_SIZE, facts.share, fill or stroke, strength)

    def _next_classes(self, facts: Facts) -> list[Block]:
        return [
            Words(
                fit_name(
                    joined(self.style.palette.names[k], percent(facts.probability[k])),
                    SMALL_SIZE,
                    self.limits.title,
                ),
                SMALL_SIZE,
                fill="soft",
            )
            for k in facts.order[1:3]
            if facts.probability[k] > 0
        ]

    def _plots(self, facts: Facts) -> list[Block]:
        """The class bar, the box plot, or a row for each of several outputs."""
        if facts.order:
            return [Bar(facts)]
        tree = self.style.tree
        plots = []
        for k, mean in enumerate(facts.means):
            scale = output_scale(tree, k)
            quantiles = scaled(facts.quantiles[k], scale) if facts.quantiles else ()
            plots.append(BoxPlot(scaled((mean,), scale)[0], quantiles))
        if len(plots) == 1:
            return list(plots)
        return [
            Output(name, format_number(mean, self.style.digits), plot)
            for name, mean, plot in zip(output_names(tree), facts.means, plots, strict=True)
        ]

    def _paint(self, facts: Facts) -> tuple[str, float, str]:
        """Fill, its strength, and stroke of an end."""
        if not facts.order:
            palette = self.style.palette
            return "value", palette.strength(palette.position(facts.means[0])), "faint"
        role = f"class{facts.order[0]}"
        return role, 0.0 if facts.is_close else 0.08 + 0.37 * facts.lead, role

    def reached(self, conditions: list[Condition]) -> str:
        """The conditions of one or several branches in words."""
        if len(conditions) == 1:
            return self.wording.text(conditions[0], TOOLTIP)
        together = _together(conditions)
        if together is not None:
            return self.wording.text(together, TOOLTIP)
        return f"{len(conditions)} other branches"

    def label(self, conditions: list[Condition]) -> list[str]:
        """Conditions without their subject, lists of categories on a few lines."""
        condition = conditions[0] if len(conditions) == 1 else _together(conditions)
        if condition is None:
            return [f"{len(conditions)} others"]
        limits, wording = self.limits, self.wording
        if not isinstance(condition, Members) or len(condition.codes) < 2:
            return [fit_text(wording.label(condition, 60), LABEL_SIZE, limits.label)]
        lines = _listed(condition, limits)
        return [*lines, "(or gap)"] if wording.says_gap(condition) else lines


def _together(conditions: list[Condition]) -> Members | None:
    """Several lists of categories as one; None for anything else."""
    members = [condition for condition in conditions if isinstance(condition, Members)]
    if len(members) < len(conditions):
        return None
    codes = sorted(code for condition in members for code in condition.codes)
    gap = any(condition.gap for condition in members)
    return Members(members[0].feature, tuple(codes), (), gap)


def _listed(condition: Members, limits: Limits) -> list[str]:
    """Categories on as many lines as there may be, those left out counted."""
    categories, codes = condition.feature.categories, condition.codes
    lines: list[str] = []
    for n_shown, code in enumerate(codes):
        word = fit_name(format_category(categories[code], 30), LABEL_SIZE, limits.label - 4)
        word += "," if n_shown + 1 < len(codes) else ""
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, LABEL_SIZE) <= limits.listing:
            lines[-1] = longer
        elif len(lines) < limits.n_lines:
            lines.append(word)
        else:
            left_out = f"… {len(codes) - n_shown} more"
            if limits.n_lines > 1:
                lines.append(left_out)
            else:
                room = limits.label - text_width(f" {left_out}", LABEL_SIZE)
                lines[-1] = f"{fit_text(lines[-1], LABEL_SIZE, max(room, 20))} {left_out}"
            break
    return lines


def _class_words(palette: Palette, facts: Facts) -> str:
    """The most probable classes, for a tooltip."""
    if not facts.order:
        return ""
    words = (joined(palette.names[k], percent(facts.probability[k])) for k in facts.order[:8])
    return "\n" + ", ".join(words)


def output_scale(tree: Tree, output: int) -> tuple[float, float]:
    """Least and largest value of an output: of the rows, or of the leaves."""
    quantiles = tree.extras.get("quantiles")
    if quantiles is None:
        values = tree.value[:, output]
        return float(values.min()), float(values.max())
    own = quantiles.reshape(tree.n_nodes, tree.value.shape[1], -1)[:, output]
    return float(np.nanmin(own)), float(np.nanmax(own))
