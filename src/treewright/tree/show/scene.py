"""A picture as a list of shapes, before it is SVG, or drawn with matplotlib.

Coordinates are pixels, y grows downwards. Colours are roles (see
:mod:`treewright.tree.show.colours`); "" paints nothing. A group is one thing of the picture, such
as a node: it has a place, a sentence for people who cannot see it, and a tooltip.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["Circle", "Group", "Path", "Rect", "Scene", "Shape", "Text", "line", "roles_of"]

Command = tuple[str, float, float] | tuple[str, float, float, float, float, float, float]
"""``("M", x, y)``, ``("L", x, y)``, ``("C", x1, y1, x2, y2, x, y)``."""


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle, with round corners if ``radius`` is above 0."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    stroke: str = ""
    opacity: float = 1.0
    radius: float = 0.0
    line_width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """Lines and curves; with ``fill`` an area."""

    commands: Sequence[Command]
    stroke: str = ""
    fill: str = ""
    line_width: float = 1.0
    opacity: float = 1.0
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Circle:
    """A disc."""

    x: float
    y: float
    radius: float
    fill: str = ""
    stroke: str = ""
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Text:
    """One line of words; ``anchor`` is "start", "middle" or "end"."""

    x: float
    y: float
    words: str
    size: float
    fill: str = "ink"
    bold: bool = False
    anchor: str = "start"
    halo: bool = False


@dataclass(slots=True)
class Group:
    """Shapes that belong together; ``name`` and ``number`` tell a page what they are."""

    x: float = 0.0
    y: float = 0.0
    shapes: list[Shape] = field(default_factory=list)
    label: str = ""
    tooltip: str = ""
    name: str = ""
    number: int = -1


Shape = Rect | Path | Circle | Text | Group


@dataclass(slots=True)
class Scene:
    """All shapes, the size of the paper and what the picture shows."""

    width: float
    height: float
    title: str
    shapes: list[Shape] = field(default_factory=list)


def line(
    x0: float,
    y0: float,
    x1: float,
    y1: float,
    stroke: str,
    width: float = 1.0,
    dashed: bool = False,
) -> Path:
    """A straight line."""
    return Path([("M", x0, y0), ("L", x1, y1)], stroke, line_width=width, dashed=dashed)


def roles_of(shapes: Sequence[Shape]) -> set[str]:
    """The colours that shapes use."""
    return set(_roles(shapes)) - {""}


def _roles(shapes: Sequence[Shape]) -> Iterator[str]:
    for shape in shapes:
        if isinstance(shape, Group):
            yield from _roles(shape.shapes)
            continue
        yield shape.fill
        if isinstance(shape, Text):
            yield "paper" if shape.halo else ""
        else:
            yield shape.stroke
