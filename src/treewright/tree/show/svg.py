"""A tree as a static picture: one self-contained SVG, no scripts, no fonts, no style sheet.

Boxes are measured first (:class:`Box`), then placed (:mod:`treewright.tree.show.layout`), then
drawn. Inside the boxes coordinates are relative; which way the tree grows only decides which
extent of a box goes into the layout. Every word of the data passes ``_text``, which escapes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from xml.sax.saxutils import escape

from treewright.errors import ParameterError
from treewright.tree.show.boxes import (
    BAR_HEIGHT,
    DETAIL_SIZE,
    DOWN,
    LABEL_SIZE,
    LINE_HEIGHT,
    PADDING,
    RIGHT,
    TITLE_SIZE,
    Box,
    Limits,
    make_boxes,
    text_width,
)
from treewright.tree.show.colours import INK, LINE, PAPER, SOFT, Palette
from treewright.tree.show.layout import tidy_positions
from treewright.tree.show.panels import has_panels
from treewright.tree.show.text import check_view, summary
from treewright.tree.tree import Tree

__all__ = ["render_svg", "text_line"]

Orientation = Literal["auto", "down", "right"]

MARGIN = 24.0
MAX_DOWN_WIDTH = 1500.0
"""A wider picture that grows down is turned to grow to the right."""
STUB = 18.0
"""Room for the dots behind a node whose children are not drawn."""
FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"


@dataclass
class Placed:
    """Boxes with the top left corner of each, and the extent of all."""

    boxes: list[Box]
    is_down: bool
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def render_svg(
    tree: Tree,
    *,
    max_depth: int | None,
    digits: int,
    orientation: Orientation,
    gaps: bool | None,
    distribution: bool | None = None,
) -> str:
    """The tree as SVG; see :meth:`Tree.to_svg`."""
    check_view(max_depth, digits)
    distribution = _shows_distribution(tree, distribution)
    if orientation not in ("auto", "down", "right"):
        raise ParameterError(f"orientation must be 'auto', 'down' or 'right', got {orientation!r}.")
    palette = Palette.of(tree)

    def boxes(limits: Limits) -> list[Box]:
        return make_boxes(
            tree,
            palette,
            limits,
            max_depth=max_depth,
            digits=digits,
            gaps=gaps,
            distribution=distribution,
        )

    placed = _place_right(boxes(RIGHT)) if orientation == "right" else _place_down(boxes(DOWN))
    if orientation == "auto" and placed.width > MAX_DOWN_WIDTH:
        placed = _place_right(boxes(RIGHT))
    return _page(tree, palette, placed)


def _shows_distribution(tree: Tree, wanted: bool | None) -> bool:
    """Whether to draw it: as asked, or for trees whose splits were chosen by tests."""
    if wanted and not has_panels(tree):
        raise ParameterError(
            "distribution=True needs the quantiles of the target at every node, which this tree "
            "does not keep; leave it out, or fit a CHAIDRegressor."
        )
    return has_panels(tree) and tree.tests is not None if wanted is None else wanted


def _page(tree: Tree, palette: Palette, placed: Placed) -> str:
    """Heading, legend and tree on white paper."""
    heading = text_line(0, TITLE_SIZE, summary(tree), TITLE_SIZE, INK, weight=600)
    legend, legend_height = _legend(palette, max(placed.width, 420.0))
    top = MARGIN + TITLE_SIZE + 12 + legend_height
    width = max(placed.width, 420.0, text_width(summary(tree), TITLE_SIZE, True)) + 2 * MARGIN
    height = placed.height + top + MARGIN
    left = MARGIN + (width - 2 * MARGIN - placed.width) / 2
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="{FONT}">',
            f"<title>{escape(summary(tree))}</title>",
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            f'<g transform="translate({MARGIN:.0f},{MARGIN:.0f})">{heading}',
            f'<g transform="translate(0,{TITLE_SIZE + 12:.0f})">{legend}</g></g>',
            f'<g transform="translate({left:.1f},{top:.1f})">',
            *_edges(placed, tree),
            *(_draw_box(placed, i) for i in range(len(placed.boxes))),
            "</g>",
            "</svg>",
        ]
    )


# -- placing -------------------------------------------------------------------------------


def _place_down(boxes: list[Box]) -> Placed:
    """Levels from top to bottom; the label of an edge stands on its child."""
    placed = Placed(boxes, True)
    sizes = [max(box.width, box.label_width + 8) for box in boxes]
    centre = tidy_positions([box.children for box in boxes], sizes, gap=14)
    placed.x = [c - box.width / 2 for c, box in zip(centre, boxes, strict=True)]
    top = _level_starts(
        boxes,
        [box.height + (STUB if box.n_hidden else 0) for box in boxes],
        [42 + box.label_height for box in boxes],
    )
    placed.y = [top[box.level] for box in boxes]
    placed.width = max(c + size / 2 for c, size in zip(centre, sizes, strict=True))
    placed.height = max(y + box.height for y, box in zip(placed.y, boxes, strict=True)) + STUB
    return placed


def _place_right(boxes: list[Box]) -> Placed:
    """Levels from left to right; the label of an edge stands before its child."""
    placed = Placed(boxes, False)
    sizes = [max(box.height, box.label_height) for box in boxes]
    centre = tidy_positions([box.children for box in boxes], sizes, gap=9)
    placed.y = [c - box.height / 2 for c, box in zip(centre, boxes, strict=True)]
    left = _level_starts(
        boxes,
        [box.width + (STUB if box.n_hidden else 0) for box in boxes],
        [40 + box.label_width for box in boxes],
    )
    placed.x = [left[box.level] for box in boxes]
    ends = [
        x + box.width + (60 if box.n_hidden else 0) for x, box in zip(placed.x, boxes, strict=True)
    ]
    placed.width = max(ends)
    placed.height = max(c + size / 2 for c, size in zip(centre, sizes, strict=True))
    return placed


def _level_starts(boxes: list[Box], sizes: list[float], gaps: list[float]) -> list[float]:
    """Where each level starts: behind the largest box and the widest gap before it."""
    depth = 1 + max(box.level for box in boxes)
    size, gap = [0.0] * depth, [0.0] * depth
    for box, s, g in zip(boxes, sizes, gaps, strict=True):
        size[box.level] = max(size[box.level], s)
        gap[box.level] = max(gap[box.level], g)
    starts = [0.0]
    for level in range(1, depth):
        starts.append(starts[-1] + size[level - 1] + gap[level])
    return starts


# -- drawing -------------------------------------------------------------------------------


def _edges(placed: Placed, tree: Tree) -> list[str]:
    """All edges, as wide as the share of rows that pass, then all labels on top of them."""
    lines, labels = [], []
    total = max(float(tree.weight[0]), 1e-300)
    for i, box in enumerate(placed.boxes):
        for child in box.children:
            share = min(1.0, float(tree.weight[placed.boxes[child].node]) / total)
            lines.append(
                f'<path d="{_curve(placed, i, child)}" stroke-width="{1.2 + 6 * share:.1f}"/>'
            )
            labels.append(_edge_label(placed, child))
    return [f'<g fill="none" stroke="{LINE}">', *lines, "</g>", *labels]


def _curve(placed: Placed, parent: int, child: int) -> str:
    """An edge that leaves and arrives straight."""
    a, b = placed.boxes[parent], placed.boxes[child]
    if placed.is_down:
        x0, y0 = placed.x[parent] + a.width / 2, placed.y[parent] + a.height
        x1, y1 = placed.x[child] + b.width / 2, placed.y[child]
        end = y1 - b.label_height - 6
        bend = (end - y0) * 0.6
        return (
            f"M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {end - bend:.1f} "
            f"{x1:.1f} {end:.1f}"
        )
    x0, y0 = placed.x[parent] + a.width, placed.y[parent] + a.height / 2
    x1, y1 = placed.x[child], placed.y[child] + b.height / 2
    # all edges of a family bend before its widest label, so that none crosses a sibling's
    widest = max(placed.boxes[sibling].label_width for sibling in a.children)
    end = x1 - widest - 12
    bend = (end - x0) * 0.6
    curve = f"C{x0 + bend:.1f} {y0:.1f} {end - bend:.1f} {y1:.1f} {end:.1f} {y1:.1f}"
    return f"M{x0:.1f} {y0:.1f}{curve}" + (
        f"H{x1 - b.label_width - 12:.1f}" if b.label_width < widest else ""
    )


def _edge_label(placed: Placed, child: int) -> str:
    """The words between the end of an edge and its child."""
    box = placed.boxes[child]
    if placed.is_down:
        x = placed.x[child] + box.width / 2
        y = placed.y[child] - 5 - box.label_height
    else:
        x = placed.x[child] - 8 - box.label_width / 2
        y = placed.y[child] + box.height / 2 - box.label_height / 2
    words = "".join(
        text_line(x, y + LABEL_SIZE + k * LINE_HEIGHT, line, LABEL_SIZE, INK, anchor="middle")
        for k, line in enumerate(box.label)
    )
    return words


def _draw_box(placed: Placed, i: int) -> str:
    box = placed.boxes[i]
    middle = box.width / 2
    dash = ' stroke-dasharray="4 3"' if box.n_hidden or box.is_empty else ""
    parts = [
        f'<g transform="translate({placed.x[i]:.1f},{placed.y[i]:.1f})">',
        f"<title>{escape(box.tooltip)}</title>",
        f'<rect width="{box.width:.1f}" height="{box.height:.1f}" rx="7" fill="{box.fill}" '
        f'stroke="{box.stroke}" stroke-width="1.3"{dash}/>',
        *(
            text_line(middle, PADDING + 10 + k * LINE_HEIGHT, line, TITLE_SIZE, INK, 600, "middle")
            for k, line in enumerate(box.title)
        ),
        text_line(middle, box.detail_base, box.detail, DETAIL_SIZE, SOFT, anchor="middle"),
        _bar(box)
        if box.panel is None
        else box.panel.draw(PADDING, box.detail_base + 7, box.width - 2 * PADDING),
    ]
    if box.n_hidden:
        words = f"⋯ {box.n_hidden} more"
        if placed.is_down:
            parts.append(
                text_line(middle, box.height + 13, words, DETAIL_SIZE, SOFT, anchor="middle")
            )
        else:
            parts.append(text_line(box.width + 6, box.height / 2 + 4, words, DETAIL_SIZE, SOFT))
    return "".join(parts) + "</g>"


def _bar(box: Box) -> str:
    """Class shares side by side, or where a number lies between the extremes."""
    x, y = PADDING, box.detail_base + 6
    width = box.width - 2 * PADDING
    if box.position is not None:
        at = x + box.position * width
        return (
            f'<rect x="{x:.1f}" y="{y + 2:.1f}" width="{width:.1f}" height="2" rx="1" '
            f'fill="{LINE}"/>'
            f'<circle cx="{at:.1f}" cy="{y + 3:.1f}" r="4" fill="{box.marker}" '
            f'stroke="{PAPER}" stroke-width="1.2"/>'
        )
    parts = []
    for colour, share in box.shares:
        parts.append(
            f'<rect x="{x:.2f}" y="{y:.1f}" width="{share * width:.2f}" '
            f'height="{BAR_HEIGHT:.0f}" fill="{colour}"/>'
        )
        x += share * width
    return "".join(parts)


def _legend(palette: Palette, width: float) -> tuple[str, float]:
    """Swatches with names, or the shade scale, and the height they take."""
    if palette.scale is not None:
        return _scale_legend(palette), 30.0
    x, y = 0.0, 0.0
    parts = []
    for name, colour in palette.entries():
        step = 18 + text_width(name, LABEL_SIZE) + 18
        if x and x + step > width:
            x, y = 0.0, y + 20
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="12" height="12" rx="2.5" fill="{colour}"/>'
        )
        parts.append(text_line(x + 18, y + 10, name, LABEL_SIZE, INK))
        x += step
    return "".join(parts), y + 34


def _scale_legend(palette: Palette) -> str:
    low, high = palette.range_words()
    start = text_width(low, LABEL_SIZE) + 8
    steps = 24
    shades = "".join(
        f'<rect x="{start + k * 6:.1f}" y="0" width="6.3" height="12" '
        f'fill="{palette.shade(k / (steps - 1))}"/>'
        for k in range(steps)
    )
    end = start + steps * 6 + 8
    return (
        text_line(0, 10, low, LABEL_SIZE, INK) + shades + text_line(end, 10, high, LABEL_SIZE, INK)
    )


def text_line(
    x: float,
    y: float,
    words: str,
    size: float,
    colour: str,
    weight: int = 400,
    anchor: str = "start",
) -> str:
    """One line of words, escaped."""
    style = f' font-weight="{weight}"' if weight != 400 else ""
    where = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}"{style}{where}>'
        f"{escape(words)}</text>"
    )
