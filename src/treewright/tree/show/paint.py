"""The whole picture as shapes: heading, legend, ribbons, boxes, and the overview beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from treewright.tree.show.blocks import BoxPlot, hatch
from treewright.tree.show.boxes import LABEL_LINE, LABEL_SIZE, Box
from treewright.tree.show.colours import Palette
from treewright.tree.show.grammar import output_names
from treewright.tree.show.icicle import icicle, icicle_height
from treewright.tree.show.lit import Lit
from treewright.tree.show.measure import fit_name, fit_text, text_width, wrap_text
from treewright.tree.show.place import Placed
from treewright.tree.show.scene import Command, Group, Path, Rect, Scene, Shape, Text
from treewright.tree.show.text import summary
from treewright.tree.tree import Tree

__all__ = ["paint"]

MARGIN = 20.0
HEADING_SIZE = 13.0
LEGEND_SIZE = 11.0
LEAST_WIDTH = 420.0
MAX_LEGEND = 12
MOST_TOOLTIPS = 300
"""Boxes above which a picture is made to take little room: no tooltips beside its spoken words."""
MOST_REASONS = 30
ENDS = ("leaf", "fold", "rest")
OVERVIEW = (300.0, 150.0)


def paint(
    tree: Tree, palette: Palette, placed: Placed, room: float, lit: Lit | None = None
) -> Scene:
    """The scene of a placed tree; ``room`` is the width that there is for it."""
    ends = [box.part.node for box in placed.boxes if box.part.kind == "fold"]
    ends += [node for box in placed.boxes if box.part.kind == "rest" for node in box.part.nodes]
    overview = icicle(tree, palette, ends, *OVERVIEW) if ends else None
    below = (OVERVIEW[0] + 10, icicle_height(tree, OVERVIEW[1]))  # its words may be longer
    beside = overview is not None and placed.width + OVERVIEW[0] + 3 * MARGIN <= room
    corner = None if beside or overview is None else _free_corner(placed, *below)
    aside = OVERVIEW[0] + MARGIN if beside else 0.0
    inner = max(placed.width + aside, min(LEAST_WIDTH, room - 2 * MARGIN))
    words = summary(tree)
    inner = max(inner, min(text_width(words, HEADING_SIZE, True), 640.0, room - 2 * MARGIN))
    heading, heading_height = _heading(words, inner)
    legend, legend_height = _legend(tree, palette, placed, inner)
    top = MARGIN + heading_height + 12 + legend_height
    left = MARGIN + (inner - placed.width - aside) / 2
    height = top + placed.height
    shapes: list[Shape] = [
        Group(MARGIN, MARGIN, heading),
        Group(MARGIN, MARGIN + heading_height + 12, legend),
        Group(left, top, _tree(placed, lit)),
    ]
    if lit is not None:
        words_, extent = _reasons(lit, inner)
        shapes.append(Group(MARGIN, height + MARGIN, words_))
        height += extent + MARGIN
    if overview is not None:
        if beside:
            overview.x, overview.y = MARGIN + inner - OVERVIEW[0], top
            height = max(height, top + below[1])
        elif corner is not None:
            overview.x, overview.y = left + corner[0], top + corner[1]
        else:
            overview.x, overview.y = MARGIN, height + MARGIN
            height += below[1] + MARGIN
        shapes.append(overview)
    return Scene(inner + 2 * MARGIN, height + MARGIN, summary(tree), shapes)


def _heading(words: str, width: float) -> tuple[list[Shape], float]:
    lines = wrap_text(words, HEADING_SIZE, width, 2, True)
    step = HEADING_SIZE + 4
    shapes: list[Shape] = [
        Text(0, HEADING_SIZE + k * step, line, HEADING_SIZE, "ink", True)
        for k, line in enumerate(lines)
    ]
    return shapes, HEADING_SIZE + (len(lines) - 1) * step


def _free_corner(placed: Placed, width: float, height: float) -> tuple[float, float] | None:
    """A corner of the tree's room that nothing but paper covers: its top left point."""
    right, low = placed.width - width, placed.height - height
    for x, y in ((right, 0.0), (right, low), (0.0, low), (0.0, 0.0)):
        if right < 0 or low < 0:
            continue
        area = (x - MARGIN, y - MARGIN, x + width + MARGIN, y + height + MARGIN)
        if not any(_overlap(area, taken) for taken in _taken(placed)):
            return x, y
    return None


def _taken(placed: Placed) -> Iterator[tuple[float, float, float, float]]:
    """What boxes, ribbons and their words cover."""
    for box, x, y in zip(placed.boxes, placed.x, placed.y, strict=True):
        yield x, y, x + box.width, y + box.height
    for ribbon in placed.ribbons:
        xs = [x for command in ribbon.commands for x in command[1::2]]
        ys = [y for command in ribbon.commands for y in command[2::2]]
        half = ribbon.width / 2
        yield min(xs) - half, min(ys) - half, max(xs) + half, max(ys) + half
        box, (x, y) = placed.boxes[ribbon.child], ribbon.label_at
        yield x - box.label_width / 2, y, x + box.label_width / 2, y + box.label_height


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _tree(placed: Placed, lit: Lit | None) -> list[Shape]:
    nodes = frozenset() if lit is None else lit.nodes
    boxes = [_box(placed, i, nodes) for i in range(len(placed.boxes))]
    return [*_ribbons(placed, nodes), *boxes]


def _reasons(lit: Lit, width: float) -> tuple[list[Shape], float]:
    """The steps of the highlighted row, one below the other."""
    lines = lit.reasons[:MOST_REASONS]
    if len(lit.reasons) > len(lines):
        lines += (f"… {len(lit.reasons) - len(lines)} more steps",)
    shapes: list[Shape] = [
        Text(0, 11 + k * 15, fit_text(words, LEGEND_SIZE, width), LEGEND_SIZE, "accent")
        for k, words in enumerate(lines)
    ]
    return shapes, 15.0 * len(lines)


def _ribbons(placed: Placed, lit: frozenset[int]) -> list[Shape]:
    """All ribbons, then all words on top of them."""
    ways: list[Path] = []
    words: list[Shape] = []
    for ribbon in placed.ribbons:
        box = placed.boxes[ribbon.child]
        dashed = box.part.kind == "empty"
        is_lit = bool(lit) and any(node in lit for node in box.part.nodes)
        stroke = "accent" if is_lit else "faint" if dashed else "line"
        ways.append(Path(ribbon.commands, stroke, line_width=ribbon.width, dashed=dashed))
        x, y = ribbon.label_at
        words += _plate(box.label, x, y) if len(placed.boxes) <= MOST_TOOLTIPS else []
        words += [
            Text(x, y + LABEL_SIZE + k * LABEL_LINE, line, LABEL_SIZE, "ink", False, "middle", True)
            for k, line in enumerate(box.label)
        ]
    if len(placed.boxes) > MOST_TOOLTIPS:
        ways = _merged(ways)
    return [*ways, *words]


def _plate(label: Sequence[str], x: float, y: float) -> list[Shape]:
    """Paper behind the words on a ribbon."""
    width = max((text_width(line, LABEL_SIZE) for line in label), default=0.0) + 6
    height = len(label) * LABEL_LINE + 1
    return [Rect(x - width / 2, y, width, height, "paper", opacity=0.9, radius=3)] if label else []


def _merged(ways: list[Path]) -> list[Path]:
    """Ribbons of the same look as one path, which takes less room in a file."""
    same: dict[tuple[str, float, bool], list[Command]] = {}
    for way in ways:
        look = (way.stroke, round(way.line_width, 1), way.dashed)
        same.setdefault(look, []).extend(way.commands)
    return [
        Path(commands, stroke, line_width=width, dashed=dashed)
        for (stroke, width, dashed), commands in same.items()
    ]


def _box(placed: Placed, i: int, lit: frozenset[int]) -> Group:
    box = placed.boxes[i]
    width, height = box.width, box.height
    shapes: list[Shape] = []
    radius = 4.0 if height < 30 else 7.0
    if box.part.kind in ("fold", "rest"):  # more of them behind
        shapes.append(Rect(3, 3, width, height, "paper", "faint", radius=radius))
        shapes.append(Rect(0, 0, width, height, "paper", radius=radius))
    is_lit = bool(lit) and any(node in lit for node in box.part.nodes)
    is_filled = bool(box.fill and box.strength)
    shapes.append(
        Rect(
            0,
            0,
            width,
            height,
            box.fill if is_filled else "paper",
            "accent" if is_lit else box.stroke,
            box.strength if is_filled else 1.0,
            radius,
            2.4 if is_lit else 1.6 if box.part.kind == "leaf" and height > 30 else 1.0,
            dashed=box.part.kind == "empty",
        )
    )
    shapes += _inside(box, width, height)
    tooltip = box.tooltip if len(placed.boxes) <= MOST_TOOLTIPS else ""
    name = box.part.kind
    return Group(placed.x[i], placed.y[i], shapes, box.aria, tooltip, name, box.part.node)


def _inside(box: Box, width: float, height: float) -> list[Shape]:
    inside = sum(block.height for block in box.blocks)
    y = (height - inside) / 2
    shapes: list[Shape] = []
    for block in box.blocks:
        shapes += block.shapes(box.padding, y, width - 2 * box.padding)
        y += block.height
    return shapes


# Legend


def _legend(
    tree: Tree, palette: Palette, placed: Placed, width: float
) -> tuple[list[Shape], float]:
    """Swatches with names, or the scale of values; and what the forms mean."""
    row = _Row(width)
    if palette.scale is not None:
        low, high = palette.range_words()
        row.add(f"mean of {output_names(tree)[0]}: {low}", [])
        strip: list[Shape] = [
            Rect(6.0 * k, 0, 6.1, 12, "value", opacity=palette.strength(k / 23)) for k in range(24)
        ]
        row.add(high, strip, 6.0 * 24 + 6)
        if any(isinstance(block, BoxPlot) for box in placed.boxes for block in box.blocks):
            plot = BoxPlot(0.62, (0.0, 0.25, 0.45, 0.7, 1.0)).shapes(0, -5, 44)[1:]
            row.add("extremes, quartiles, median (line), mean (disc)", plot, 50, 320)
    else:
        for k, name in enumerate(palette.names[:MAX_LEGEND]):
            row.add(name, [Rect(0, 0, 12, 12, f"class{k}", radius=2.5)], 18)
        if len(palette.names) > MAX_LEGEND:
            row.add(f"{len(palette.names) - MAX_LEGEND} more classes, named in the leaves", [])
        row.add("other classes", hatch(0, 0, 12, 12), 18) if len(palette.names) > 3 else None
    closes = any(box.facts.is_close for box in placed.boxes if box.part.kind in ENDS)
    if closes and palette.scale is None:
        row.add("too close to call", [Rect(0, 0, 12, 12, "", "faint", radius=2.5)], 18)
    if any(box.part.kind == "empty" for box in placed.boxes):
        empty = Rect(0, 0, 12, 12, "", "faint", radius=2.5, dashed=True)
        row.add("no training row came here", [empty], 18)
    return row.shapes, row.y + 30


class _Row:
    """Entries of a legend from left to right, on as many lines as they need."""

    def __init__(self, width: float) -> None:
        self.width, self.x, self.y = width, 0.0, 0.0
        self.shapes: list[Shape] = []

    def add(
        self, words: str, swatch: list[Shape], before: float = 0.0, most: float = 260.0
    ) -> None:
        """A swatch and its words."""
        words = fit_name(words, LEGEND_SIZE, min(most, self.width - before))
        step = before + text_width(words, LEGEND_SIZE) + (16 if before else 8)
        if self.x and self.x + step > self.width:
            self.x, self.y = 0.0, self.y + 18
        if swatch:
            self.shapes.append(Group(self.x, self.y, swatch))
        self.shapes.append(Text(self.x + before, self.y + 10, words, LEGEND_SIZE))
        self.x += step
