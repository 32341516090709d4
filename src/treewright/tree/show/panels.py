"""The distribution of the response inside the boxes of a diagram, as SPSS draws its trees.

Classes get a bar, their share and their weight each; numbers a box plot over the range of the
whole data. Below stand the feature that splits the node and its test. Rows and columns are the
same in all boxes of a tree, so that nodes can be compared at a glance.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treewright.tree.node_tests import format_p
from treewright.tree.show.colours import FAINT, INK, LINE, OTHER, PAPER, SOFT, Palette, mix
from treewright.tree.show.nodes import node_probability
from treewright.tree.show.words import format_number
from treewright.tree.tree import Tree

__all__ = ["BarRow", "Panel", "PanelStyle", "has_panels"]

MAX_ROWS = 8
"""Classes with a row of their own; of more the rarest share one."""
ROW_HEIGHT = 14.0
BAR_WIDTH = 58.0
NAME_WIDTH = 84.0
SPACE = 7.0
PLOT_WIDTH = 150.0
PLOT_HEIGHT = 26.0
SIZE = 10.5
TEST_SIZE = 10.0


@dataclass(frozen=True)
class BarRow:
    """One class: its name, share of the node and weight, in words and as a bar."""

    name: str
    share: float
    percent: str
    count: str
    colour: str
    is_label: bool


@dataclass
class Panel:
    """What a box shows below its title, and how much room that takes."""

    style: PanelStyle
    rows: list[BarRow] = field(default_factory=list)
    quantiles: list[float] = field(default_factory=list)
    mean: float = 0.0
    notes: list[str] = field(default_factory=list)
    split: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)

    @property
    def width(self) -> float:
        """Width of the panel."""
        from treewright.tree.show.boxes import text_width

        lines = [text_width(line, TEST_SIZE) for line in (*self.notes, *self.tests)]
        titles = [text_width(line, self.style.split_size, True) for line in self.split]
        return max([self.style.plot_width, *lines, *titles])

    @property
    def height(self) -> float:
        """Height of the panel."""
        plot = ROW_HEIGHT * len(self.rows) if self.rows else PLOT_HEIGHT
        below = ROW_HEIGHT * (len(self.split) + len(self.tests)) + (9 if self.split else 0)
        return plot + ROW_HEIGHT * len(self.notes) + below

    def draw(self, x: float, y: float, width: float) -> str:
        """The panel as SVG, its top left corner at ``x``, ``y``."""
        plot_at = x + (width - self.style.plot_width) / 2
        parts = [self._bars(plot_at, y) if self.rows else self._box_plot(plot_at, y)]
        y += ROW_HEIGHT * len(self.rows) if self.rows else PLOT_HEIGHT
        middle = x + width / 2
        for line in self.notes:
            y += ROW_HEIGHT
            parts.append(_words(middle, y - 3, line, TEST_SIZE, SOFT, anchor="middle"))
        if self.split:
            y += 7
            parts.append(
                f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x + width:.1f}" y2="{y:.1f}" '
                f'stroke="{LINE}"/>'
            )
            y += 2
        for line in self.split:
            y += ROW_HEIGHT
            size = self.style.split_size
            parts.append(_words(middle, y - 2, line, size, INK, weight=600, anchor="middle"))
        for line in self.tests:
            y += ROW_HEIGHT
            parts.append(_words(middle, y - 2, line, TEST_SIZE, SOFT, anchor="middle"))
        return "".join(parts)

    def _bars(self, x: float, y: float) -> str:
        style = self.style
        bar_at = x + style.name_width + SPACE
        share_at = bar_at + BAR_WIDTH + SPACE + style.percent_width
        parts = []
        for row in self.rows:
            weight = 600 if row.is_label else 400
            base = y + ROW_HEIGHT - 4
            parts += [
                _words(x, base, row.name, SIZE, INK, weight),
                f'<rect x="{bar_at:.1f}" y="{y + 2:.1f}" width="{BAR_WIDTH:.0f}" height="9" '
                f'fill="{mix(PAPER, FAINT, 0.18)}"/>',
                f'<rect x="{bar_at:.1f}" y="{y + 2:.1f}" width="{row.share * BAR_WIDTH:.2f}" '
                f'height="9" fill="{row.colour}"/>',
                _words(share_at, base, row.percent, SIZE, INK, weight, "end"),
                _words(x + style.plot_width, base, row.count, SIZE, SOFT, anchor="end"),
            ]
            y += ROW_HEIGHT
        return "".join(parts)

    def _box_plot(self, x: float, y: float) -> str:
        """Whiskers to the extremes, the box of the quartiles, median and mean."""
        if not self.quantiles:
            return ""
        least, lower, median, upper, most = (x + q * PLOT_WIDTH for q in self.quantiles)
        middle, colour = y + PLOT_HEIGHT / 2 - 1, self.style.plot_colour
        return (
            f'<line x1="{x:.1f}" y1="{y + PLOT_HEIGHT - 2:.1f}" x2="{x + PLOT_WIDTH:.1f}" '
            f'y2="{y + PLOT_HEIGHT - 2:.1f}" stroke="{LINE}"/>'
            f'<g stroke="{SOFT}" stroke-width="1">'
            f'<line x1="{least:.1f}" y1="{middle:.1f}" x2="{lower:.1f}" y2="{middle:.1f}"/>'
            f'<line x1="{upper:.1f}" y1="{middle:.1f}" x2="{most:.1f}" y2="{middle:.1f}"/>'
            f'<line x1="{least:.1f}" y1="{middle - 4:.1f}" x2="{least:.1f}" y2="{middle + 4:.1f}"/>'
            f'<line x1="{most:.1f}" y1="{middle - 4:.1f}" x2="{most:.1f}" y2="{middle + 4:.1f}"/>'
            f'<rect x="{lower:.1f}" y="{middle - 7:.1f}" width="{max(upper - lower, 0.8):.1f}" '
            f'height="14" fill="{colour}"/>'
            f'<line x1="{median:.1f}" y1="{middle - 7:.1f}" x2="{median:.1f}" '
            f'y2="{middle + 7:.1f}" stroke-width="2.2"/></g>'
            f'<circle cx="{x + self.mean * PLOT_WIDTH:.1f}" cy="{middle:.1f}" r="2.6" '
            f'fill="{PAPER}" stroke="{INK}"/>'
        )


def has_panels(tree: Tree) -> bool:
    """Whether the tree knows how the response is distributed at its nodes."""
    target = tree.schema.target
    return bool(target and target.is_classification) or "quantiles" in tree.extras


@dataclass
class PanelStyle:
    """What all panels of a tree have in common, and how one is made."""

    tree: Tree
    palette: Palette
    digits: int
    split_size: float = 12.0

    def __post_init__(self) -> None:
        from treewright.tree.show.boxes import fit_text, text_width

        tree = self.tree
        self.plot_colour = mix(PAPER, "#56b4e9", 0.55)
        self.plot_width = PLOT_WIDTH
        if self.palette.scale is not None:
            self.range = _range(tree)
            return
        shown = np.argsort(-tree.probability[0], kind="stable")
        n_rows = len(shown) if len(shown) <= MAX_ROWS else MAX_ROWS - 1
        self.classes = sorted(shown[:n_rows].tolist())
        self.rest = sorted(shown[n_rows:].tolist())
        self.names = [fit_text(self.palette.names[k], SIZE, NAME_WIDTH) for k in self.classes]
        if self.rest:
            self.names.append(f"{len(self.rest)} others")
        self.name_width = max(text_width(name, SIZE, True) for name in self.names)
        self.percent_width = text_width("100.0 %", SIZE, True)
        counts = [self._count(weight) for weight in (tree.value[0].max(), tree.value[0].sum())]
        count_width = max(text_width(count, SIZE) for count in counts)
        self.plot_width = self.name_width + BAR_WIDTH + self.percent_width + count_width + 3 * SPACE

    def panel(self, node: int, split: list[str] | None) -> Panel:
        """The panel of a node; ``split`` is the feature of its split, None where none is drawn."""
        tree = self.tree
        panel = Panel(self)
        if self.palette.scale is None:
            panel.rows = self._rows(node)
        else:
            low, high = self.range
            span = high - low if high > low else 1.0
            values = tree.extras["quantiles"][node]
            panel.quantiles = [] if np.isnan(values).any() else ((values - low) / span).tolist()
            panel.mean = min(1.0, max(0.0, (float(tree.value[node, 0]) - low) / span))
            spread = format_number(float(np.sqrt(tree.impurity[node])), self.digits)
            panel.notes = [f"standard deviation {spread}"]
        if split is not None:
            panel.split = split
            panel.tests = self._tests(node)
        return panel

    def _rows(self, node: int) -> list[BarRow]:
        tree = self.tree
        shares, weights = node_probability(tree, node), tree.value[node]
        own = [([k], self.palette.colours[k]) for k in self.classes]
        groups = [*own, (self.rest, OTHER)] if self.rest else own
        label = int(tree.label[node])
        return [
            BarRow(
                name=name,
                share=min(1.0, float(shares[members].sum())),
                percent=f"{100 * shares[members].sum():.1f} %",
                count=self._count(float(weights[members].sum())),
                colour=colour,
                is_label=label in members,
            )
            for name, (members, colour) in zip(self.names, groups, strict=True)
        ]

    def _count(self, weight: float) -> str:
        """A weight as a whole number where it is one."""
        return f"{weight:.0f}" if abs(weight - round(weight)) < 1e-6 else f"{weight:.1f}"

    def _tests(self, node: int) -> list[str]:
        """The test of the split in words."""
        tree = self.tree
        if tree.tests is None or np.isnan(tree.log_p[node]):
            return []
        found = (tree.tests.node == node) & (tree.tests.feature == tree.splits.feature[node])
        at = int(np.flatnonzero(found)[0])
        statistic = format_number(float(tree.tests.statistic[at]), 5)
        df = float(tree.tests.df[at])
        line = f"adjusted {format_p(float(tree.log_p[node]))}"
        error = tree.extras.get("df_error")
        if error is not None and not np.isnan(error[node]):
            parts = ", ".join(format_number(x, 6) for x in (df, float(error[node])))
            return [line, f"F = {statistic}, df = {parts}"]
        if np.isnan(df):
            return [line, f"statistic = {statistic}"]
        return [line, f"χ² = {statistic}, df = {format_number(df, 6)}"]


def _range(tree: Tree) -> tuple[float, float]:
    quantiles: NDArray[np.float64] = tree.extras["quantiles"]
    return float(np.nanmin(quantiles)), float(np.nanmax(quantiles))


def _words(
    x: float, y: float, words: str, size: float, colour: str, weight: int = 400, anchor: str = ""
) -> str:
    from treewright.tree.show.svg import text_line

    return text_line(x, y, words, size, colour, weight, anchor or "start")
