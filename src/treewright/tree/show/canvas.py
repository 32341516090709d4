"""A scene drawn with matplotlib: on given axes, or as the bytes of a PNG or PDF file.

The same shapes as in the SVG; only the renderer differs. Words are never taken for formulas.
"""

from __future__ import annotations

import io
import warnings
from functools import lru_cache
from typing import Any

from treewright.tree.show.colours import colour
from treewright.tree.show.diagram import View, draw
from treewright.tree.show.scene import Circle, Group, Path, Rect, Scene, Shape, Text
from treewright.tree.tree import Tree

__all__ = ["draw_on", "render_file", "render_plot"]

PIXELS_PER_INCH = 96.0
FONTS = ("Helvetica", "Arial", "Liberation Sans", "DejaVu Sans")
"""Fonts by preference; the last one comes with matplotlib."""
LARGEST_SIDE = 30_000
"""Pixels of a side that a PNG may have; a larger picture is drawn smaller."""


def render_plot(tree: Tree, view: View, ax: Any = None) -> Any:
    """The tree on matplotlib axes; see :meth:`Tree.plot`."""
    scene = draw(tree, view)
    if ax is None:
        from matplotlib import pyplot as plt

        size = (scene.width / PIXELS_PER_INCH, scene.height / PIXELS_PER_INCH)
        figure = plt.figure(figsize=size)
        ax = figure.add_axes((0, 0, 1, 1))
    draw_on(ax, scene, view.theme)
    return ax


def render_file(tree: Tree, view: View, form: str) -> bytes:
    """The tree as the bytes of a file in a format of matplotlib's."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scene = draw(tree, view)
    figure = Figure(figsize=(scene.width / PIXELS_PER_INCH, scene.height / PIXELS_PER_INCH))
    FigureCanvasAgg(figure)
    draw_on(figure.add_axes((0, 0, 1, 1)), scene, view.theme)
    dpi = min(2 * PIXELS_PER_INCH, PIXELS_PER_INCH * LARGEST_SIDE / max(scene.width, scene.height))
    buffer = io.BytesIO()
    metadata = {"pdf": {"CreationDate": None}, "png": {"Software": None}}[form]
    with warnings.catch_warnings():  # a script without a font shows boxes, and that is all
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(buffer, format=form, dpi=dpi, metadata=metadata)
    return buffer.getvalue()


def draw_on(ax: Any, scene: Scene, theme: str) -> None:
    """A scene on axes, which it fills."""
    ax.set_xlim(0, scene.width)
    ax.set_ylim(scene.height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    room = ax.get_window_extent()
    scale = min(room.width / scene.width, room.height / scene.height)
    painter = _Painter(ax, "light" if theme == "auto" else theme, scale * 72 / ax.figure.dpi)
    painter.paint([Rect(0, 0, scene.width, scene.height, "paper"), *scene.shapes], 0.0, 0.0)


@lru_cache(maxsize=1)
def _font() -> str:
    from matplotlib.font_manager import get_font_names

    known = set(get_font_names())
    return next((font for font in FONTS if font in known), FONTS[-1])


class _Painter:
    """Turns shapes into artists; ``points`` is the size of a pixel of the scene in points."""

    def __init__(self, ax: Any, theme: str, points: float) -> None:
        self.ax, self.theme, self.points = ax, theme, points
        self.order = 1

    def paint(self, shapes: list[Shape], x: float, y: float) -> None:
        """Add shapes, moved by ``x``, ``y``."""
        for shape in shapes:
            if isinstance(shape, Group):
                self.paint(shape.shapes, x + shape.x, y + shape.y)
                continue
            self.order += 1
            if isinstance(shape, Text):
                self._text(shape, x, y)
            else:
                self._patch(shape, x, y)

    def _patch(self, shape: Rect | Path | Circle, x: float, y: float) -> None:
        from matplotlib import patches

        look = self._look(shape)
        patch: Any
        if isinstance(shape, Circle):
            patch = patches.Circle((x + shape.x, y + shape.y), shape.radius, **look)
        elif isinstance(shape, Path):
            patch = patches.PathPatch(_outline(shape, x, y), capstyle="butt", **look)
        elif shape.radius:
            corner = min(shape.radius, shape.width / 2, shape.height / 2)
            style = patches.BoxStyle.Round(pad=0, rounding_size=corner)
            corners = (x + shape.x, y + shape.y)
            size = (shape.width, shape.height)
            patch = patches.FancyBboxPatch(corners, *size, boxstyle=style, **look)
        else:
            corners = (x + shape.x, y + shape.y)
            patch = patches.Rectangle(corners, shape.width, shape.height, **look)
        self.ax.add_patch(patch)

    def _look(self, shape: Rect | Path | Circle) -> dict[str, Any]:
        from matplotlib.colors import to_rgba

        fill = to_rgba(colour(shape.fill, self.theme), shape.opacity) if shape.fill else "none"
        stroke = colour(shape.stroke, self.theme) if shape.stroke else "none"
        width = 1.0 if isinstance(shape, Circle) else shape.line_width
        dashed = not isinstance(shape, Circle) and shape.dashed
        return {
            "facecolor": fill,
            "edgecolor": stroke,
            "linewidth": width * self.points if shape.stroke else 0,
            "linestyle": (0, (4, 3)) if dashed else "-",
            "zorder": self.order,
        }

    def _text(self, shape: Text, x: float, y: float) -> None:
        from matplotlib.patheffects import withStroke

        artist = self.ax.text(
            x + shape.x,
            y + shape.y,
            shape.words,
            fontsize=shape.size * self.points,
            fontfamily=_font(),
            fontweight="bold" if shape.bold else "normal",
            color=colour(shape.fill, self.theme),
            ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor],
            va="baseline",
            zorder=self.order,
            parse_math=False,
        )
        if shape.halo:
            paper = colour("paper", self.theme)
            artist.set_path_effects([withStroke(linewidth=3 * self.points, foreground=paper)])


def _outline(shape: Path, x: float, y: float) -> Any:
    from matplotlib.path import Path as Outline

    letters = {"M": [Outline.MOVETO], "L": [Outline.LINETO], "C": [Outline.CURVE4] * 3}
    points, codes = [], []
    for command in shape.commands:
        numbers = command[1:]
        points += [(numbers[k] + x, numbers[k + 1] + y) for k in range(0, len(numbers), 2)]
        codes += letters[command[0]]
    return Outline(points, codes)
