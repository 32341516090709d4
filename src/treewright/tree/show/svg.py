"""A scene as SVG: self-contained, no scripts, no fonts, nothing outside.

Every word of the data passes ``escape``; control characters were written out before, in
:mod:`treewright.tree.show.words`. Classes of the style sheet are prefixed, so that a page may hold
several pictures in different themes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from treewright.tree.show.colours import css
from treewright.tree.show.diagram import View, draw
from treewright.tree.show.scene import Circle, Group, Path, Rect, Scene, Shape, Text, roles_of
from treewright.tree.tree import Tree

__all__ = ["markup", "render_svg", "svg_of"]

TEXT_SIZE = 11.0
"""Size of text that does not say another."""
FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"


def render_svg(tree: Tree, view: View) -> str:
    """The tree as SVG; see :meth:`Tree.to_svg`."""
    return svg_of(draw(tree, view), view.theme)


def svg_of(scene: Scene, theme: str) -> str:
    """A scene as an SVG document."""
    width, height = _n(scene.width), _n(scene.height)
    size = f'width="{width}" height="{height}"'
    if theme == "print":
        wide = scene.width >= scene.height
        size = f'width="{277 if wide else 190}mm" height="{190 if wide else 277}mm"'
    style = css(roles_of(scene.shapes), theme)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="treewright tw-{theme}" {size} '
            f'viewBox="0 0 {width} {height}" role="group" '
            f'aria-roledescription="decision tree" font-size="{TEXT_SIZE:g}" '
            f'font-family="{FONT}">',
            f"<title>{escape(scene.title)}</title>",
            f"<style>{style}</style>",
            '<rect width="100%" height="100%" class="f-paper"/>',
            *markup(scene.shapes),
            "</svg>",
        ]
    )


def markup(shapes: Iterable[Shape]) -> list[str]:
    """Shapes as SVG elements."""
    return [_DRAWN[type(shape)](shape) for shape in shapes]


def _n(x: float) -> str:
    """A coordinate, short."""
    text = f"{x:.1f}"
    return text[:-2] if text.endswith(".0") else text


def _paint(fill: str, stroke: str, width: float = 1.0, dashed: bool = False, tag: str = "") -> str:
    names = " ".join(f"{kind}-{role}" for kind, role in (("f", fill), ("s", stroke)) if role)
    parts = [f' class="{names}"'] if names else []
    if not fill and tag != "path":
        parts.append(' fill="none"')
    if stroke and width != 1.0:
        parts.append(f' stroke-width="{_n(width)}"')
    if dashed:
        parts.append(' stroke-dasharray="4 3"')
    return "".join(parts)


def _opacity(opacity: float) -> str:
    return "" if opacity >= 1 else f' fill-opacity="{opacity:.2g}"'


def _rect(shape: Rect) -> str:
    radius = f' rx="{_n(shape.radius)}"' if shape.radius else ""
    place = f' x="{_n(shape.x)}"' if shape.x else ""
    place += f' y="{_n(shape.y)}"' if shape.y else ""
    return (
        f'<rect{place} width="{_n(shape.width)}" height="{_n(shape.height)}"{radius}'
        f"{_paint(shape.fill, shape.stroke, shape.line_width, shape.dashed)}"
        f"{_opacity(shape.opacity)}/>"
    )


def _path(shape: Path) -> str:
    d = "".join(f"{c[0]}{' '.join(_n(x) for x in c[1:])}" for c in shape.commands)
    paint = _paint(shape.fill, shape.stroke, shape.line_width, shape.dashed, "path")
    return f'<path d="{d}"{paint}{_opacity(shape.opacity)}/>'


def _circle(shape: Circle) -> str:
    return (
        f'<circle cx="{_n(shape.x)}" cy="{_n(shape.y)}" r="{_n(shape.radius)}"'
        f"{_paint(shape.fill, shape.stroke)}{_opacity(shape.opacity)}/>"
    )


def _text(shape: Text) -> str:
    names = [f"f-{shape.fill}"] if shape.fill != "ink" else []
    names += ["s-paper h"] if shape.halo else []
    names += ["b"] if shape.bold else []
    names += [shape.anchor[0]] if shape.anchor != "start" else []
    given = f' class="{" ".join(names)}"' if names else ""
    size = f' font-size="{shape.size:g}"' if shape.size != TEXT_SIZE else ""
    return f'<text x="{_n(shape.x)}" y="{_n(shape.y)}"{size}{given}>{escape(shape.words)}</text>'


def _group(shape: Group) -> str:
    place = f' transform="translate({_n(shape.x)},{_n(shape.y)})"' if shape.x or shape.y else ""
    said = f' role="img" aria-label={quoteattr(shape.label)}' if shape.label else ""
    name = f' class="tw-{shape.name}"' if shape.name else ""
    number = f' data-node="{shape.number}"' if shape.number >= 0 else ""
    tooltip = f"<title>{escape(shape.tooltip)}</title>" if shape.tooltip else ""
    return f"<g{place}{name}{number}{said}>{tooltip}{''.join(markup(shape.shapes))}</g>"


_DRAWN: dict[Any, Callable[[Any], str]] = {
    Rect: _rect,
    Path: _path,
    Circle: _circle,
    Text: _text,
    Group: _group,
}
