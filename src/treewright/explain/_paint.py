"""What all figures of this room share: axes, colours, names that cannot break a drawing."""

from __future__ import annotations

from typing import Any

from treewright.tree.show.colours import HUES, THEMES
from treewright.tree.show.words import clip, format_value

__all__ = ["DOWN", "FAINT", "INK", "LINE", "UP", "axes", "colour_map", "name", "tidy"]

UP, DOWN = HUES[5], HUES[0]
_LIGHT = THEMES["light"]
FAINT, INK, LINE = _LIGHT["faint"], _LIGHT["ink"], _LIGHT["line"]
LABEL = 30
"""Characters of a name that a figure shows."""


def axes(ax: Any, width: float = 7.0, height: float = 4.5) -> Any:
    """The axes given, or new ones."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def name(value: Any, length: int = LABEL) -> str:
    """A name or value as one line of bounded length that matplotlib does not read as a formula."""
    return clip(format_value(value), length).replace("$", r"\$")


def colour_map() -> Any:
    """From low (blue) over grey to high (vermilion); tells apart for any colour vision."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("treewright", [DOWN, "#b9bfc6", UP])


def tidy(ax: Any) -> None:
    """Take away the lines that say nothing."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
