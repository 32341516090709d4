"""Colours of diagrams: classes by hue, numbers by shade.

The first seven hues are Okabe and Ito's, which people with any kind of colour vision can tell
apart (the yellow is darkened for white paper). Boxes are tinted lightly, so that dark text is
readable on all of them.

Reference: Okabe and Ito (2008), Color universal design.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.tree.show.words import clip, format_number, format_value
from treewright.tree.tree import Tree

__all__ = ["FAINT", "INK", "LINE", "OTHER", "PAPER", "SOFT", "Palette", "mix"]

PAPER = "#ffffff"
INK = "#1f2933"
SOFT = "#435160"
LINE = "#c9d1da"
FAINT = "#8794a3"
OTHER = "#a0a7b0"

HUES: tuple[str, ...] = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#d6c600",
)
HUES += ("#7a5195", "#4b5563", "#882255")
SHADE_LOW = "#eff5fb"
SHADE_HIGH = "#74add8"


def mix(a: str, b: str, share: float) -> str:
    """The colour ``share`` of the way from ``a`` to ``b``."""
    parts = (
        round(int(a[k : k + 2], 16) * (1 - share) + int(b[k : k + 2], 16) * share)
        for k in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)


@dataclass(frozen=True)
class Palette:
    """Colours for one tree.

    Parameters
    ----------
    names, colours
        Of the classes, in their order; the rarest of very many share one grey.
    scale
        Least and largest value of a regression tree; None for classes.
    """

    names: tuple[str, ...] = ()
    colours: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None

    @classmethod
    def of(cls, tree: Tree) -> Palette:
        """The palette of a tree's classes or values."""
        target = tree.schema.target
        if target is None or not target.is_classification:
            leaves = tree.value[tree.is_leaf, 0]
            return cls(scale=(float(leaves.min()), float(leaves.max())))
        names = tuple(clip(format_value(c), 32) for c in target.classes)
        n_hues = len(HUES) if len(names) <= len(HUES) else len(HUES) - 1
        frequent = np.argsort(-tree.probability[0], kind="stable")[:n_hues]
        colours = [OTHER] * len(names)
        for hue, k in zip(HUES, sorted(frequent.tolist()), strict=False):
            colours[k] = hue
        return cls(names, tuple(colours))

    def entries(self) -> list[tuple[str, str]]:
        """Names and colours for the legend."""
        shown = [(n, c) for n, c in zip(self.names, self.colours, strict=True) if c != OTHER]
        rest = len(self.names) - len(shown)
        return [*shown, (f"{rest} other classes", OTHER)] if rest else shown

    def range_words(self) -> tuple[str, str]:
        """The ends of the scale."""
        low, high = self.scale or (0.0, 0.0)
        return format_number(low, 4), format_number(high, 4)

    def position(self, value: float) -> float:
        """Where a value lies on the scale, from 0 to 1."""
        low, high = self.scale or (0.0, 0.0)
        return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5

    @staticmethod
    def shade(position: float) -> str:
        """Colour of a place on the scale."""
        return mix(SHADE_LOW, SHADE_HIGH, position)
