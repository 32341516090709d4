"""What stands in a box, one below the other: words, class bars, box plots.

A block knows its least width and its height, and gives shapes for the width that it gets. Blocks
of the same kind share their scales through the whole picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from treewright.tree.show.colours import Palette
from treewright.tree.show.grammar import Facts
from treewright.tree.show.measure import fit_name, fit_text, text_width
from treewright.tree.show.scene import Circle, Path, Rect, Shape, Text, line

__all__ = ["Bar", "Block", "BoxPlot", "Chip", "Output", "Words", "bar_shapes", "hatch"]

NEXT_CLASSES = 2
"""Classes after the predicted one that are shown; the rest is hatched."""
BAR_HEIGHT = 8.0
NEXT_STRENGTH = 0.55


class Block(Protocol):
    """A part of a box."""

    @property
    def width(self) -> float:
        """Least width."""
        ...

    @property
    def height(self) -> float:
        """Height."""
        ...

    def shapes(self, x: float, y: float, width: float) -> list[Shape]:
        """The block with its top left corner at ``x``, ``y``."""
        ...


@dataclass(frozen=True)
class Words:
    """A centred line of words."""

    words: str
    size: float
    bold: bool = False
    fill: str = "ink"

    @property
    def width(self) -> float:
        return text_width(self.words, self.size, self.bold)

    @property
    def height(self) -> float:
        return self.size + 3

    def shapes(self, x: float, y: float, width: float) -> list[Shape]:
        base = y + self.size
        return [Text(x + width / 2, base, self.words, self.size, self.fill, self.bold, "middle")]


@dataclass(frozen=True)
class Bar:
    """Shares of the classes: the predicted one first, the next two, the rest hatched."""

    facts: Facts

    @property
    def width(self) -> float:
        return 40.0

    @property
    def height(self) -> float:
        return BAR_HEIGHT + 3

    def shapes(self, x: float, y: float, width: float) -> list[Shape]:
        return bar_shapes(self.facts, x, y + 3, width, BAR_HEIGHT)


def bar_shapes(facts: Facts, x: float, y: float, width: float, height: float) -> list[Shape]:
    """A class bar."""
    if not facts.order:
        return []
    shapes: list[Shape] = [Rect(x, y, width, height, "ground")]
    left = x
    for place, k in enumerate(facts.order[: 1 + NEXT_CLASSES]):
        extent = facts.probability[k] * width
        if extent > 0.05:
            strength = 1.0 if place == 0 else NEXT_STRENGTH
            shapes.append(Rect(left, y, extent, height, f"class{k}", opacity=strength))
            if place:
                shapes.append(line(left, y, left, y + height, "paper", 1.0))
        left += extent
    if x + width - left > 0.5:
        shapes += hatch(left, y, x + width - left, height)
    return shapes


def hatch(x: float, y: float, width: float, height: float, step: float = 4.0) -> list[Shape]:
    """Diagonal lines over a rectangle."""
    commands: list[tuple[str, float, float]] = []
    offset = step
    while offset < width + height:
        x0, y0 = (x + offset, y) if offset <= width else (x + width, y + offset - width)
        x1, y1 = (x, y + offset) if offset <= height else (x + offset - height, y + height)
        commands += [("M", x0, y0), ("L", x1, y1)]
        offset += step
    return [Path(commands, "faint", line_width=0.9)] if commands else []


@dataclass(frozen=True)
class BoxPlot:
    """Whiskers to the extremes, the box of the quartiles, median and mean, on a common scale.

    ``quantiles`` and ``mean`` are places on the scale from 0 to 1; without quantiles only the mean
    is marked.
    """

    mean: float
    quantiles: tuple[float, ...] = ()

    @property
    def width(self) -> float:
        return 70.0

    @property
    def height(self) -> float:
        return 18.0

    def shapes(self, x: float, y: float, width: float) -> list[Shape]:
        middle = y + 11
        shapes: list[Shape] = [line(x, middle + 7, x + width, middle + 7, "line")]
        if self.quantiles:
            least, lower, median, upper, most = (x + q * width for q in self.quantiles)
            shapes += [
                line(least, middle, most, middle, "soft"),
                line(least, middle - 3, least, middle + 3, "soft"),
                line(most, middle - 3, most, middle + 3, "soft"),
                Rect(lower, middle - 5, max(upper - lower, 0.8), 10, "paper"),
                Rect(lower, middle - 5, max(upper - lower, 0.8), 10, "value", "soft", 0.55),
                line(median, middle - 5, median, middle + 5, "ink", 2.0),
            ]
        shapes.append(Circle(x + self.mean * width, middle, 2.6, "paper", "ink"))
        return shapes


@dataclass(frozen=True)
class Output:
    """One of several outputs: its name, mean and place on the output's own scale."""

    name: str
    value: str
    plot: BoxPlot
    size: float = 10.0

    @property
    def width(self) -> float:
        return 170.0

    @property
    def height(self) -> float:
        return 18.0

    def shapes(self, x: float, y: float, width: float) -> list[Shape]:
        name_width, value_width = 0.34 * width, 0.26 * width
        name = fit_name(self.name, self.size, name_width - 4)
        value = fit_text(self.value, self.size, value_width - 4, True)
        at = x + name_width + value_width
        return [
            Text(x, y + 13, name, self.size, "soft"),
            Text(at - 4, y + 13, value, self.size, "ink", True, "end"),
            *self.plot.shapes(at + 2, y, width - name_width - value_width - 2),
        ]


@dataclass(frozen=True)
class Chip:
    """Everything on one line: a disc as large as the node, the answer, the rows."""

    words: str
    rows: str
    size: float
    share: float
    fill: str
    opacity: float

    @property
    def width(self) -> float:
        gap = 6 if self.rows else 0
        return 18 + text_width(self.words, self.size, True) + gap + text_width(self.rows, self.size)

    @property
    def height(self) -> float:
        return self.size + 3

    def shapes(self, x: float, y: float, width: float) -> list[Shape]:
        middle, base = y + self.size / 2 + 1, y + self.size
        radius = 1.5 + 6.0 * self.share**0.5
        after = x + 18 + text_width(self.words, self.size, True) + 6
        return [
            Circle(x + 7, middle, radius, self.fill, "faint", self.opacity),
            Text(x + 18, base, self.words, self.size, "ink", True),
            Text(after, base, self.rows, self.size, "soft"),
        ]


def scaled(values: tuple[float, ...], scale: tuple[float, float]) -> tuple[float, ...]:
    """Places of values on a scale from 0 to 1."""
    palette = Palette(scale=scale)
    return tuple(palette.position(value) for value in values)
