"""Colours by their part in a picture, in three themes, and the hues of classes.

A shape names a *role* ("ink", "paper", "class3"), never a colour: the SVG has one CSS variable per
role (``--tw-ink``), so that a page, a notebook in dark mode or a reader's own style sheet can set
it. Tints are made by opacity, which works on any paper. The first seven hues are Okabe and Ito's,
which people with any kind of colour vision can tell apart (the yellow is darkened for white
paper); of more than ten classes hues come again in other strengths, and names tell them apart.

Reference: Okabe and Ito (2008), Color universal design.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from treewright.tree.show.words import clip_middle, exact, format_number
from treewright.tree.tree import Tree

__all__ = ["THEMES", "Palette", "Theme", "branch_role", "colour", "css", "mix"]

HUES: tuple[str, ...] = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#c2b200",
    "#7a5195",
    "#4b5563",
    "#882255",
)
N_BRANCH_TONES = 5

Theme = dict[str, str]

LIGHT: Theme = {
    "paper": "#ffffff",
    "ink": "#1f2933",
    "soft": "#435160",
    "line": "#d3dae2",
    "faint": "#8794a3",
    "ground": "#edf0f3",
    "value": "#2171b5",
    "accent": "#c2185b",
    "branch0": "#35506b",
    "branch1": "#b4c3d1",
    "branch2": "#7391ab",
    "branch3": "#d9e1e8",
    "branch4": "#16283a",
}
DARK: Theme = {
    "paper": "#14181d",
    "ink": "#eef2f6",
    "soft": "#b4bfca",
    "line": "#3a444f",
    "faint": "#73808e",
    "ground": "#262d35",
    "value": "#6baed6",
    "accent": "#ff6ea8",
    "branch0": "#d9e1e8",
    "branch1": "#5c7186",
    "branch2": "#9db1c3",
    "branch3": "#3b4c5c",
    "branch4": "#ffffff",
}
PRINT: Theme = {**LIGHT, "ink": "#000000", "soft": "#222222", "faint": "#666666", "line": "#cccccc"}
THEMES: dict[str, Theme] = {"light": LIGHT, "dark": DARK, "print": PRINT}


def mix(a: str, b: str, share: float) -> str:
    """The colour ``share`` of the way from ``a`` to ``b``."""
    parts = (
        round(int(a[k : k + 2], 16) * (1 - share) + int(b[k : k + 2], 16) * share)
        for k in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)


def branch_role(branch: int) -> str:
    """The neutral tone of a branch, so that it is not taken for a class."""
    return f"branch{branch % N_BRANCH_TONES}"


def colour(role: str, theme: str) -> str:
    """The colour of a role in a theme."""
    known = THEMES[theme]
    if role in known:
        return known[role]
    number = int(role.removeprefix("class"))
    hue = HUES[number % len(HUES)]
    tone = (0.0, 0.38, -0.38, 0.6)[number // len(HUES) % 4]
    hue = mix(hue, "#ffffff", tone) if tone >= 0 else mix(hue, "#000000", -tone)
    return hue


def css(roles: Iterable[str], theme: str) -> str:
    """The style sheet of a picture: a variable per role, and what is painted with it.

    ``theme="auto"`` is light, or dark where the reader's screen or notebook is.
    """
    roles = sorted({*roles, "ink", "paper"})
    plain = "light" if theme == "auto" else theme

    def variables(name: str) -> str:
        return ";".join(f"--tw-{role}:{colour(role, name)}" for role in roles)

    me = f".treewright.tw-{theme}"
    parts = [f"{me}{{{variables(plain)}}}"]
    if theme == "auto":
        dark, light = variables("dark"), variables("light")
        parts += [
            f"@media (prefers-color-scheme:dark){{{me}{{{dark}}}}}",
            f'[data-jp-theme-light="false"] {me},.vscode-dark {me}{{{dark}}}',
            f'[data-jp-theme-light="true"] {me},.vscode-light {me}{{{light}}}',
            f"@media print{{{me}{{{light}}}}}",
        ]
    parts.append(
        f"{me} text{{fill:{colour('ink', plain)};fill:var(--tw-ink)}}"
        f"{me} path{{fill:none}}{me} .b{{font-weight:600}}"
        f"{me} .m{{text-anchor:middle}}{me} .e{{text-anchor:end}}"
        f"{me} .h{{stroke-width:3;stroke-linejoin:round;paint-order:stroke}}"
    )
    for role in roles:  # the plain colour first, for viewers that know no variables
        value = colour(role, plain)
        parts.append(f"{me} .f-{role}{{fill:{value};fill:var(--tw-{role})}}")
        parts.append(f"{me} .s-{role}{{stroke:{value};stroke:var(--tw-{role})}}")
    return "".join(parts)


@dataclass(frozen=True)
class Palette:
    """What the colours of one tree mean.

    Parameters
    ----------
    names
        Of the classes, in their order.
    scale
        Least and largest value of a regression tree; None for classes.
    """

    names: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None

    @classmethod
    def of(cls, tree: Tree) -> Palette:
        """The palette of a tree's classes or values."""
        target = tree.schema.target
        if target is None or not target.is_classification:
            leaves = tree.value[tree.is_leaf, 0]
            return cls(scale=(float(leaves.min()), float(leaves.max())))
        return cls(tuple(clip_middle(exact(c), 32) for c in target.classes))

    def range_words(self) -> tuple[str, str]:
        """The ends of the scale."""
        low, high = self.scale or (0.0, 0.0)
        return format_number(low, 4), format_number(high, 4)

    def position(self, value: float) -> float:
        """Where a value lies on the scale, from 0 to 1."""
        low, high = self.scale or (0.0, 0.0)
        return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5

    @staticmethod
    def strength(position: float) -> float:
        """Opacity with which a place on the scale is painted."""
        return 0.06 + 0.44 * position
