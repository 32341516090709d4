"""How pages show pictures: large enough to read, and dark in the dark.

A picture that stands alone becomes a link to its file. It shrinks with the window until its
smallest letters are ``LEAST`` pixels high; from there on its paragraph scrolls. Pictures of trees
know dark screens by themselves; those of matplotlib are told here, in the copy that the site gets.
"""

from __future__ import annotations

import posixpath
import re
import struct
from pathlib import Path

from treewright.tree.show.colours import THEMES

LEAST = 8.5
"""Pixels of the smallest letters of a picture."""
LEAST_SHARE = 0.5
"""Of a picture made of pixels, whose letters are not known; a column of text holds it whole."""
ALWAYS_LIGHT = ("same-tree-", "summary")
"""Pictures that show what others draw stay as these draw them; a legend may speak of black."""


def dark() -> str:
    """A style sheet that gives the colours of light charts their dark counterparts."""
    light, night = THEMES["light"], THEMES["dark"]
    pairs = {light[role]: night[role] for role in ("paper", "ink", "soft", "line", "faint")}
    pairs |= {
        "#000000": night["soft"],
        "#404040": night["soft"],
        "#808080": night["faint"],
        "#cccccc": night["line"],
    }
    rules = [f'text,[id^="text_"]{{fill:{night["ink"]}}}']
    for part in ("fill", "stroke"):
        rules += [f'[style*="{part}: {a}"]{{{part}:{b}!important}}' for a, b in pairs.items()]
    return "@media (prefers-color-scheme:dark){" + "".join(rules) + "}"


def framed(html: str, page_uri: str, docs: Path) -> str:
    """The HTML of a page, its pictures linked and given their least width."""

    def image(match: re.Match[str]) -> str:
        path = docs / posixpath.normpath(posixpath.join(posixpath.dirname(page_uri), match[2]))
        width, height, least = measure(path)
        both = ' class="both"' if knows_dark(path) else ""
        return (
            f'<img alt="{match[1]}" src="{match[2]}"{both}{root(path)} width="{width:.0f}" '
            f'height="{height:.0f}" style="--least: {least:.0f}px">'
        )

    html = re.sub(r'<img alt="([^"]*)" src="([^":]+\.(?:svg|png))" ?/?>', image, html)
    alone = r'<p>(<img [^>]*src="([^"]*)"[^>]*>)</p>'
    return re.sub(alone, r'<p class="picture"><a href="\2">\1</a></p>', html)


def root(path: Path) -> str:
    """Where the root of a tree is, as a share of its picture's width: there its ribbons begin."""
    drawn = path.read_text(encoding="utf-8") if path.suffix == ".svg" else ""
    size = re.match(r'<svg [^>]*class="treewright[^>]* width="([\d.]+)"', drawn)
    ribbon = re.search(r'<path d="M([\d.]+) [^>]*class="s-line"', drawn)
    return f' data-root="{float(ribbon[1]) / float(size[1]):.2f}"' if size and ribbon else ""


def measure(path: Path) -> tuple[float, float, float]:
    """Width and height of a picture, and the width at which it can still be read."""
    if path.suffix == ".png":
        width, height = struct.unpack(">II", path.read_bytes()[16:24])
        return width, height, width * LEAST_SHARE
    text = path.read_text(encoding="utf-8")
    opening = re.search(r"<svg[^>]*>", text)[0]
    size = [
        float(number) * (4 / 3 if unit == "pt" else 1)
        for number, unit in re.findall(r'\s(?:width|height)="([\d.]+)(pt)?"', opening)
    ]
    inside = float(re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+)', opening)[1])
    smallest = min(letters(text), default=LEAST) * size[0] / inside
    return size[0], size[1], size[0] * min(1, LEAST / smallest)


def letters(svg: str) -> list[float]:
    """The sizes of letters, also of those that matplotlib draws as paths."""
    sizes = [float(size) for size in re.findall(r'font(?:-size)?[:=] ?"?([\d.]+)', svg)]
    drawn = re.findall(r"<g [^>]*scale\(([\d.]+) -[\d.]+\)", svg)
    return sizes + [100 * float(scale) for scale in drawn]


def knows_dark(path: Path) -> bool:
    """Whether the picture has colours for dark screens, of its own or from here."""
    if path.suffix != ".svg":
        return False
    text = path.read_text(encoding="utf-8")
    return "prefers-color-scheme" in text or by_matplotlib(path, text)


def by_matplotlib(path: Path, text: str) -> bool:
    """Whether a picture is a chart of ours."""
    return "Matplotlib" in text[:2000] and not path.name.startswith(ALWAYS_LIGHT)


def darken(site: Path) -> None:
    """Give the charts of the built site their dark colours."""
    for path in (site / "img").rglob("*.svg"):
        text = path.read_text(encoding="utf-8")
        if by_matplotlib(path, text) and "prefers-color-scheme" not in text:
            path.write_text(text.replace("</style>", dark() + "</style>", 1), encoding="utf-8")
