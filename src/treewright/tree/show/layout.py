"""Where the nodes of a drawn tree stand: a tidy layout for any number of children.

Every subtree is laid out by itself and described by its outline, the extent of each of its
levels. Siblings are pushed together until outlines touch, and a parent stands in the middle
of its first and last child. Packing from the left alone would crowd small subtrees to one side
of a large one, so the siblings are packed from the right as well and stand half-way between.

Reference: Reingold and Tilford (1981), Tidier drawings of trees.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["tidy_positions"]

Outline = list[tuple[float, float]]
"""First and last coordinate of each level, from the subtree's root down."""


def tidy_positions(
    children: Sequence[Sequence[int]], sizes: Sequence[float], gap: float
) -> list[float]:
    """Centre of every node across the direction of growth; the smallest edge is at 0.

    Parameters
    ----------
    children
        Children of each node; parents come before their children, node 0 is the root.
    sizes
        Extent of each node.
    gap
        Least space between neighbours on a level.
    """
    offset = [0.0] * len(sizes)  # of a node from its parent
    outlines: list[Outline] = [[] for _ in sizes]
    for node in range(len(sizes) - 1, -1, -1):
        below = children[node]
        outline: Outline = [(-sizes[node] / 2, sizes[node] / 2)]
        if below:
            places = _arrange([outlines[child] for child in below], gap)
            middle = (places[0] + places[-1]) / 2
            merged: Outline = []
            for child, place in zip(below, places, strict=True):
                offset[child] = place - middle
                _widen(merged, outlines[child], place - middle)
                outlines[child] = []
            outline.extend(merged)
        outlines[node] = outline
    centre = [0.0] * len(sizes)
    for node, below in enumerate(children):
        for child in below:
            centre[child] = centre[node] + offset[child]
    start = min(low for low, _ in outlines[0])
    return [x - start for x in centre]


def _arrange(outlines: list[Outline], gap: float) -> list[float]:
    """Places of sibling subtrees, the first at 0."""
    left = _pack(outlines, gap)
    mirrored = [[(-high, -low) for low, high in outline] for outline in reversed(outlines)]
    right = [left[-1] - place for place in reversed(_pack(mirrored, gap))]
    # both packings keep all distances, so their mean does too
    return [(a + b) / 2 for a, b in zip(left, right, strict=True)]


def _pack(outlines: list[Outline], gap: float) -> list[float]:
    """Places from left to right, each as near to those before as the gap allows."""
    merged: Outline = []
    places: list[float] = []
    for outline in outlines:
        place = max(
            (high + gap - low for (_, high), (low, _) in zip(merged, outline, strict=False)),
            default=0.0,
        )
        places.append(place)
        _widen(merged, outline, place)
    return places


def _widen(merged: Outline, outline: Outline, place: float) -> None:
    """Add an outline, moved to ``place``, to a merged one."""
    for level, (low, high) in enumerate(outline):
        if level < len(merged):
            known_low, known_high = merged[level]
            merged[level] = (min(known_low, low + place), max(known_high, high + place))
        else:
            merged.append((low + place, high + place))
