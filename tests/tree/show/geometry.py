"""Where things stand in an SVG: boxes, words and ribbons in the coordinates of the page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field

SVG = "{http://www.w3.org/2000/svg}"
KINDS = ("split", "leaf", "fold", "rest", "empty")


@dataclass
class Seen:
    """What a picture holds."""

    width: float
    height: float
    boxes: list[tuple[str, int, tuple[float, float, float, float]]] = field(default_factory=list)
    words: list[tuple[str, float, float, float]] = field(default_factory=list)
    labels: list[tuple[str, float, float, str]] = field(default_factory=list)
    ribbons: list[tuple[list[tuple[float, float]], float]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [text for text, *_ in self.words]

    def kinds(self, kind: str) -> list[tuple[float, float, float, float]]:
        return [corners for name, _, corners in self.boxes if name == kind]


def look(svg: str) -> Seen:
    """The picture, read back."""
    root = ET.fromstring(svg)
    view = [float(x) for x in root.get("viewBox", "").split()]
    seen = Seen(view[2], view[3])
    for element, x, y, kind in _walk(root, 0.0, 0.0, ""):
        tag = element.tag.removeprefix(SVG)
        if tag == "g" and _kind(element) in KINDS:
            rect = next(r for r in element.iter(f"{SVG}rect") if r.get("x") is None)
            w, h = float(rect.get("width")), float(rect.get("height"))
            number = int(element.get("data-node"))
            seen.boxes.append((_kind(element), number, (x, y, x + w, y + h)))
        elif tag == "text":
            at = x + float(element.get("x")), y + float(element.get("y"))
            seen.words.append((element.text or "", *at, float(element.get("font-size", "11"))))
            if "s-paper" in element.get("class", ""):
                seen.labels.append((element.text or "", *at, element.get("class", "")))
        elif tag == "path" and kind == "" and "C" in element.get("d", ""):
            points = [(px + x, py + y) for px, py in _points(element.get("d"))]
            seen.ribbons.append((points, float(element.get("stroke-width", "1"))))
    return seen


def _kind(element: ET.Element) -> str:
    return element.get("class", "").removeprefix("tw-")


def _walk(
    element: ET.Element, x: float, y: float, kind: str
) -> Iterator[tuple[ET.Element, float, float, str]]:
    for child in element:
        cx, cy, inner = x, y, kind
        if child.tag == f"{SVG}g":
            if found := re.match(r"translate\(([-\d.]+),([-\d.]+)\)", child.get("transform", "")):
                cx, cy = x + float(found[1]), y + float(found[2])
            inner = _kind(child) or kind
        yield child, cx, cy, kind
        yield from _walk(child, cx, cy, inner)


def _points(d: str, steps: int = 12) -> list[tuple[float, float]]:
    """Points along a path of M, L and C."""
    points: list[tuple[float, float]] = []
    for letter, numbers in re.findall(r"([MLC])([^MLC]*)", d):
        v = [float(x) for x in numbers.split()]
        if letter == "C":
            (x0, y0) = points[-1]
            for k in range(1, steps + 1):
                t = k / steps
                a, b, c, e = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
                points.append(
                    (
                        a * x0 + b * v[0] + c * v[2] + e * v[4],
                        a * y0 + b * v[1] + c * v[3] + e * v[5],
                    )
                )
        elif letter == "L" and points:
            (x0, y0), (x1, y1) = points[-1], (v[0], v[1])
            points += [
                (x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps)
                for k in range(1, steps + 1)
            ]
        else:
            points.append((v[0], v[1]))
    return points


def overlaps(seen: Seen) -> list[tuple[int, int]]:
    """Pairs of boxes that share an area."""
    found = []
    for i, (_, _, (x0, y0, x1, y1)) in enumerate(seen.boxes):
        for j, (_, _, (a0, b0, a1, b1)) in enumerate(seen.boxes[:i]):
            if x1 > a0 + 0.2 and a1 > x0 + 0.2 and y1 > b0 + 0.2 and b1 > y0 + 0.2:
                found.append((i, j))
    return found


def crossings(seen: Seen) -> list[tuple[int, int]]:
    """Ribbons that meet a box which is not one of their two ends."""
    found = []
    for i, (points, width) in enumerate(seen.ribbons):
        is_down = abs(points[-1][0] - points[-2][0]) < 1e-6
        ex, ey = (width / 2 - 0.3, -0.3) if is_down else (-0.3, width / 2 - 0.3)
        for j, (_, _, (x0, y0, x1, y1)) in enumerate(seen.boxes):
            if any(x0 - ex < x < x1 + ex and y0 - ey < y < y1 + ey for x, y in points):
                found.append((i, j))
    return found
