"""The small picture of a split: what came, and how the split parts it.

Numbers are a histogram stacked by class with the cuts marked, or for a number to be predicted a
cloud of points with the mean of every branch. Categories are columns as wide as their rows,
sorted by outcome. A strip below says which branch takes what. A feature has the same axis in
every node of a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from treewright.tree.show.colours import branch_role
from treewright.tree.show.describe import number_text
from treewright.tree.show.scene import Command, Path, Rect, Shape, Text, line
from treewright.tree.show.words import format_number
from treewright.tree.split import SplitKind
from treewright.tree.split_counts import N_BINS, SplitCounts
from treewright.tree.tree import Tree

__all__ = ["Pictures", "SplitPicture", "split_picture"]

WIDTH = 132.0
PLOT_HEIGHT = 38.0
STRIP = 4.0
ENDS_SIZE = 9.0
SHOWN_CLASSES = 4
"""Classes of a node that have their colour; the others share a grey."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SplitPicture:
    """What the small picture of one split shows.

    Parameters
    ----------
    counts
        Weight by column of the picture and class, or range of the target.
    edges
        Where the columns begin and end, from 0 to 1.
    branches
        Branch of each column, −1 where it has none of its own; empty if ``cuts`` tell.
    cuts
        Places of the cuts; between them lie the branches, in order or ``reverse``.
    means
        For a number to be predicted: the mean of each branch as a share of the range.
    ends
        Words for the ends of the axis.
    mark
        Where the value of a highlighted row lies.
    """

    counts: Floats
    edges: Floats
    branches: tuple[int, ...] = ()
    cuts: tuple[float, ...] = ()
    reverse: bool = False
    means: tuple[float, ...] = ()
    ends: tuple[str, str] | None = None
    mark: float | None = None

    @property
    def width(self) -> float:
        return WIDTH

    @property
    def height(self) -> float:
        return PLOT_HEIGHT + STRIP + (ENDS_SIZE + 2 if self.ends else 0) + 7

    def shapes(self, x: float, y: float, width: float) -> list[Shape]:
        """The picture with its top left corner at ``x``, ``y``."""
        y += 4
        base = y + PLOT_HEIGHT
        if self.means:
            shapes = self._points(x, y, width) if self.cuts else self._columns(x, y, width)
        elif self.cuts:
            shapes = self._histogram(x, base, width)
        else:
            shapes = self._mosaic(x, base, width)
        shapes += self._strip(x, base + 1, width)
        for cut in self.cuts:
            at = x + cut * width
            shapes.append(line(at, y - 2, at, base + STRIP + 2, "ink", 1.4))
        if self.mark is not None:
            at = x + self.mark * width
            shapes.append(line(at, y - 2, at, base + STRIP + 1, "accent", 2.0))
            tip: list[Command] = [("M", at - 4, y - 4), ("L", at + 4, y - 4), ("L", at, y + 2)]
            shapes.append(Path(tip, fill="accent"))
        if self.ends:
            down = base + STRIP + ENDS_SIZE + 2
            shapes.append(Text(x, down, self.ends[0], ENDS_SIZE, "soft"))
            shapes.append(Text(x + width, down, self.ends[1], ENDS_SIZE, "soft", anchor="end"))
        return shapes

    def _classes(self) -> list[tuple[str, float, Floats]]:
        """Roles, strengths and weights by column of the classes to draw, the rest as one."""
        total = self.counts.sum(axis=0)
        order = np.argsort(-total, kind="stable")
        shown = sorted(order[:SHOWN_CLASSES].tolist())
        found = [(f"class{k}", 0.9, self.counts[:, k]) for k in shown if total[k] > 0]
        rest = self.counts[:, order[SHOWN_CLASSES:]].sum(axis=1)
        return [*found, ("faint", 0.5, rest)] if rest.any() else found

    def _histogram(self, x: float, base: float, width: float) -> list[Shape]:
        largest = max(float(self.counts.sum(axis=1).max()), 1e-300)
        bottom = np.zeros(len(self.counts))
        shapes: list[Shape] = []
        for role, strength, weight in self._classes():
            area: list[Command] = []
            for k in np.flatnonzero(weight > 0).tolist():
                left, right = x + self.edges[k] * width, x + self.edges[k + 1] * width
                low = base - bottom[k] / largest * PLOT_HEIGHT
                high = low - weight[k] / largest * PLOT_HEIGHT
                area += _rectangle(left, high, max(right - left - 0.6, 0.4), low - high)
            bottom += weight
            shapes.append(Path(area, fill=role, opacity=strength))
        return shapes

    def _mosaic(self, x: float, base: float, width: float) -> list[Shape]:
        total = np.maximum(self.counts.sum(axis=1), 1e-300)
        bottom = np.zeros(len(self.counts))
        shapes: list[Shape] = []
        for role, strength, weight in self._classes():
            area: list[Command] = []
            share = weight / total
            for k in np.flatnonzero(share > 0.004).tolist():
                left, right = x + self.edges[k] * width, x + self.edges[k + 1] * width
                low = base - bottom[k] * PLOT_HEIGHT
                area += _rectangle(
                    left,
                    low - share[k] * PLOT_HEIGHT,
                    max(right - left - 1.0, 0.4),
                    share[k] * PLOT_HEIGHT,
                )
            bottom += share
            shapes.append(Path(area, fill=role, opacity=strength))
        return shapes

    def _points(self, x: float, y: float, width: float) -> list[Shape]:
        """Points as large as their weight, and a line at the mean of every branch."""
        n_ranges = self.counts.shape[1]
        largest = max(float(self.counts.max()), 1e-300)
        area: list[Command] = []
        for column, level in np.argwhere(self.counts > 0).tolist():
            radius = 0.9 + 2.3 * float(np.sqrt(self.counts[column, level] / largest))
            cx = x + (self.edges[column] + self.edges[column + 1]) / 2 * width
            cy = y + (1 - (level + 0.5) / n_ranges) * PLOT_HEIGHT
            area += [("M", cx - radius, cy), ("L", cx, cy - radius)]
            area += [("L", cx + radius, cy), ("L", cx, cy + radius)]
        shapes: list[Shape] = [
            Rect(x, y, width, PLOT_HEIGHT, "ground", opacity=0.5),
            Path(area, fill="value", opacity=0.6),
        ]
        for (left, right), mean in zip(self._spans(), self.means, strict=True):
            at = y + (1 - mean) * PLOT_HEIGHT
            shapes.append(line(x + left * width, at, x + right * width, at, "ink", 1.8))
        return shapes

    def _columns(self, x: float, y: float, width: float) -> list[Shape]:
        """A bar per category up to its mean."""
        base = y + PLOT_HEIGHT
        centre = (np.arange(self.counts.shape[1]) + 0.5) / self.counts.shape[1]
        shapes: list[Shape] = [Rect(x, y, width, PLOT_HEIGHT, "ground", opacity=0.5)]
        for k, weight in enumerate(self.counts):
            mean = float(weight @ centre / max(weight.sum(), 1e-300))
            left, right = x + self.edges[k] * width, x + self.edges[k + 1] * width
            role = "faint" if self.branches[k] < 0 else branch_role(self.branches[k])
            height = max(mean * PLOT_HEIGHT, 0.8)
            shapes.append(Rect(left, base - height, max(right - left - 1.0, 0.4), height, role))
        return shapes

    def _spans(self) -> list[tuple[float, float]]:
        """Where each branch lies between the cuts."""
        ends = [0.0, *self.cuts, 1.0]
        spans = list(pairwise(ends))
        return spans[::-1] if self.reverse else spans

    def _strip(self, x: float, y: float, width: float) -> list[Shape]:
        """Which branch takes what."""
        if self.cuts:
            pieces = [(branch, *span) for branch, span in enumerate(self._spans())]
        else:
            spans = zip(self.branches, self.edges[:-1], self.edges[1:], strict=True)
            pieces = [(branch, float(a), float(b)) for branch, a, b in spans]
        return [
            Rect(
                x + left * width,
                y,
                max((right - left) * width - 0.6, 0.4),
                STRIP,
                "line" if branch < 0 else branch_role(branch),
            )
            for branch, left, right in pieces
        ]


def _rectangle(x: float, y: float, width: float, height: float) -> list[Command]:
    return [
        ("M", x, y),
        ("L", x + width, y),
        ("L", x + width, y + height),
        ("L", x, y + height),
    ]


class Pictures:
    """Small pictures of the splits of a tree, made as they are asked for."""

    def __init__(self, tree: Tree, marks: dict[int, float] | None = None, digits: int = 4) -> None:
        self.tree, self.marks, self.digits = tree, marks or {}, digits
        self.made: dict[int, SplitPicture | None] = {}

    def get(self, node: int) -> SplitPicture | None:
        """The picture of a node; None if its tree kept no counts of it."""
        if node not in self.made:
            value = self.marks.get(node)
            self.made[node] = split_picture(self.tree, node, value, self.digits)
        return self.made[node]


def split_picture(
    tree: Tree, node: int, value: float | None = None, digits: int = 4
) -> SplitPicture | None:
    """The small picture of a split; None if its tree kept no counts of it.

    ``value`` is what a highlighted row has there: a number, a code or a sum.
    """
    counts = tree.counts
    place = None if counts is None else counts.place(node)
    if counts is None or place is None:
        return None
    bins = counts.bins(place)
    if not bins.sum() > 0:
        return None
    means = _means(tree, counts, node)
    codes = counts.codes(place)
    if tree.splits.kind[node] == SplitKind.CODES:
        return _of_categories(tree, node, bins, codes, means, value)
    if len(codes):
        return _of_ordered(tree, node, bins, codes, means, value)
    low, high = counts.axis_range[counts.axis[place]].tolist()
    span = high - low if high > low else 1.0
    breaks = tree.splits.node_breaks(node)
    cuts = np.clip((breaks - low) / span, 0, 1)  # infinite where only gaps part: at the edge
    mark = None if value is None or np.isnan(value) else float(np.clip((value - low) / span, 0, 1))
    return SplitPicture(
        bins,
        np.linspace(0, 1, N_BINS + 1),
        cuts=tuple(cuts.tolist()),
        reverse=bool(tree.splits.reversed[node]),
        means=means[: len(cuts) + 1],
        ends=_end_words(tree, node, low, high, min(digits, 3)),
        mark=mark,
    )


def _end_words(tree: Tree, node: int, low: float, high: float, digits: int) -> tuple[str, str]:
    """The ends of an axis; of moments only the day, for there is little room."""
    feature = int(tree.splits.feature[node])
    if tree.splits.kind[node] == SplitKind.LINEAR or not tree.schema.features[feature].time:
        return format_number(low, digits), format_number(high, digits)
    described = tree.schema.features[feature]
    is_day = described.time in ("date", "datetime")
    words = (number_text(x, described) for x in (low, high))
    first, last = (word[:10] if is_day else word[:12] for word in words)
    return first, last


def _means(tree: Tree, counts: SplitCounts, node: int) -> tuple[float, ...]:
    """Means of the branches as shares of the target's range; none for classes."""
    if len(counts.target_range) == 0:
        return ()
    low, high = counts.target_range.tolist()
    values = tree.value[list(tree.children(node)), 0]
    return tuple(np.clip((values - low) / (high - low), 0, 1).tolist())


def _of_ordered(
    tree: Tree,
    node: int,
    bins: Floats,
    codes: NDArray[np.int32],
    means: tuple[float, ...],
    value: float | None,
) -> SplitPicture:
    """Ordered categories: columns of equal width, cut between two of them."""
    n = min(N_BINS, len(codes) + 1) if bins[len(codes) :].any() else len(codes)
    breaks = tree.splits.node_breaks(node)
    cuts = [float(np.searchsorted(codes, b, side="right")) / n for b in breaks]
    mark = None
    if value is not None and not np.isnan(value):
        mark = (float(np.searchsorted(codes, value)) + 0.5) / n
    return SplitPicture(
        bins[:n],
        np.linspace(0, 1, n + 1),
        cuts=tuple(cuts),
        reverse=bool(tree.splits.reversed[node]),
        means=means[: len(cuts) + 1],
        mark=None if mark is None else min(mark, 1.0),
    )


def _of_categories(
    tree: Tree,
    node: int,
    bins: Floats,
    codes: NDArray[np.int32],
    means: tuple[float, ...],
    value: float | None,
) -> SplitPicture:
    """Categories as columns as wide as their rows, by branch and outcome."""
    branch_of = dict(
        zip(
            tree.splits.node_codes(node).tolist(),
            tree.splits.node_branches(node).tolist(),
            strict=True,
        )
    )
    rows = bins.sum(axis=1)
    at = np.flatnonzero(rows > 0)
    branches = [branch_of.get(int(codes[k]), -1) if k < len(codes) else -1 for k in at.tolist()]
    outcome = _outcome(bins[at], bool(means))
    order = np.argsort(outcome, kind="stable")
    widths = np.maximum(rows[at][order], rows.sum() / 60)
    edges = np.concatenate([[0.0], np.cumsum(widths / widths.sum())])
    mark = None
    if value is not None and not np.isnan(value):
        own = np.flatnonzero(codes == int(value))
        place = np.flatnonzero(at[order] == (own[0] if len(own) else len(codes)))
        if len(place):
            mark = float(edges[place[0]] + edges[place[0] + 1]) / 2
    return SplitPicture(
        bins[at][order],
        edges,
        branches=tuple(branches[k] for k in order.tolist()),
        means=means,
        mark=mark,
    )


def _outcome(bins: Floats, is_number: bool) -> Floats:
    """What categories are sorted by: the mean, or the share of the class that differs most."""
    total = np.maximum(bins.sum(axis=1, keepdims=True), 1e-300)
    share = bins / total
    if is_number:
        return np.asarray(share @ np.arange(bins.shape[1]))
    weight = total[:, 0] / total.sum()
    spread = weight @ (share - weight @ share) ** 2
    return np.asarray(-share[:, int(spread.argmax())])
