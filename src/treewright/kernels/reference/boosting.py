"""Twin of the boosted trees: sums of bins, the search of splits and the growth of one tree.

Gradients and hessians are rounded to whole units as the core does, so that sums agree to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Node", "grow_tree", "row_chance", "whole_units"]

Floats = NDArray[np.float64]
TIE = 1e-12
_MASK = (1 << 64) - 1


def _power_above(value: float) -> int:
    """The power of two that a number does not exceed."""
    if value <= 0:
        return -200
    part, power = np.frexp(value)
    return max(int(power) - int(part == 0.5), -200)


def whole_units(values: Floats, n_counted: int, is_gradient: bool) -> tuple[NDArray[Any], float]:
    """Values in whole units (as Python integers), and the unit."""
    bits = max(int(n_counted).bit_length(), 1)
    room = 62 - bits if is_gradient else 62 - 2 * bits
    unit = 2.0 ** (_power_above(float(np.abs(values).max(initial=0.0))) - room)
    return np.rint(values / unit).astype(np.int64), unit


@dataclass(eq=False)
class Node:
    """A node of the twin's tree."""

    rows: NDArray[np.int64]
    depth: int = 0
    value: float = 0.0
    gain: float = 0.0
    feature: int = -1
    left_bins: frozenset[int] = frozenset()
    gap_left: bool = False
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class _Sums:
    """What a node is searched with: sums of whole units, and the units."""

    gradient: NDArray[np.int64]
    hessian: NDArray[np.int64]
    count: NDArray[np.int64]
    units: tuple[float, float]
    params: Mapping[str, Any]

    def moments(self, rows: NDArray[Any]) -> tuple[float, float, int]:
        return (
            float(self.gradient[rows].sum()) * self.units[0],
            float(self.hessian[rows].sum()) * self.units[1],
            int(self.count[rows].sum()),
        )

    def worth(self, moments: tuple[float, float, int], l2: float) -> float:
        g, h, _ = moments
        g = np.sign(g) * max(abs(g) - self.params["l1"], 0.0)
        return 0.5 * g * g / (h + l2) if h + l2 > 0 else 0.0

    def value(self, moments: tuple[float, float, int]) -> float:
        g, h, _ = moments
        g = np.sign(g) * max(abs(g) - self.params["l1"], 0.0)
        return -g / (h + self.params["l2"]) if h + self.params["l2"] > 0 else 0.0

    def is_allowed(self, moments: tuple[float, float, int]) -> bool:
        return bool(
            moments[2] >= self.params["min_rows"] and moments[1] >= self.params["min_hessian"]
        )


def _candidates(
    sums: _Sums, node: Node, bins: NDArray[np.uint8], n_bins: int, is_nominal: bool
) -> list[tuple[list[int], bool, float]]:
    """Sets of bins that may go left, in the order they are compared, with gaps' side and l2."""
    own = bins[node.rows]
    seen = np.unique(own)
    has_gaps = n_bins in seen
    l2 = sums.params["l2"]
    found: list[tuple[list[int], bool, float]] = []
    if not is_nominal:
        for cut in range(n_bins - 1):
            below = list(range(cut + 1))
            if has_gaps:
                found += [([*below, n_bins], True, l2), (below, False, l2)]
            else:
                n_left = int(sums.count[node.rows[own <= cut]].sum())
                heavier = 2 * n_left >= int(sums.count[node.rows].sum())
                found.append(([*below, n_bins] if heavier else below, heavier, l2))
        return found
    rates = []
    for b in seen:
        g, h, _ = sums.moments(node.rows[own == b])
        rates.append(g / (h + sums.params["nominal_smoothing"]))
    order = [int(seen[i]) for i in np.argsort(rates, kind="stable")]
    l2 += sums.params["nominal_l2"] if len(order) > 2 else 0.0
    for i in range(len(order) - 1):
        below = order[: i + 1]
        n_left = int(sums.count[node.rows[np.isin(own, below)]].sum())
        gap_left = n_bins in below if has_gaps else 2 * n_left >= int(sums.count[node.rows].sum())
        unseen = [b for b in range(n_bins + 1) if b not in order] if gap_left else []
        found.append(([*below, *unseen], gap_left, l2))
    return found


def _search(
    sums: _Sums, node: Node, bins: NDArray[np.uint8], n_bins: Sequence[int], nominal: Sequence[bool]
) -> None:
    """Give a node its best split, if one gains anything."""
    p = sums.params
    node.gain = max(p["min_gain"], 0.0)
    whole = sums.moments(node.rows)
    if whole[2] < 2 * max(p["min_rows"], 1) or (p["max_depth"] and node.depth >= p["max_depth"]):
        return
    parent = sums.worth(whole, p["l2"])
    for f in range(len(bins)):
        own = bins[f][node.rows]
        for left, gap_left, l2 in _candidates(sums, node, bins[f], n_bins[f], nominal[f]):
            goes = np.isin(own, left)
            a, b = sums.moments(node.rows[goes]), sums.moments(node.rows[~goes])
            if not (sums.is_allowed(a) and sums.is_allowed(b)):
                continue
            gain = sums.worth(a, l2) + sums.worth(b, l2) - parent
            if gain > node.gain + TIE * abs(node.gain):
                node.gain, node.feature = gain, f
                node.left_bins, node.gap_left = frozenset(left), gap_left


def grow_tree(
    bins: NDArray[np.uint8],
    n_bins: Sequence[int],
    nominal: Sequence[bool],
    gradient: Floats,
    hessian: Floats,
    params: Mapping[str, Any],
    count: NDArray[np.int64] | None = None,
) -> Node:
    """Grow one tree on all rows: by leaf, or by depth.

    Parameters
    ----------
    bins
        A row of bins for each feature.
    n_bins, nominal
        Bins of values of each feature (gaps have the next number), and which are nominal.
    gradient, hessian
        Of each row, weights included but for ``count``.
    params
        As the core takes them.
    count
        How often each row counts; None for once.
    """
    n = len(gradient)
    count = np.ones(n, np.int64) if count is None else count
    g, g_unit = whole_units(gradient, int(count.sum()), True)
    h, h_unit = whole_units(hessian, int(count.sum()), False)
    sums = _Sums(g * count, h * count, count, (g_unit, h_unit), params)
    root = Node(np.arange(n))
    _search(sums, root, bins, n_bins, nominal)
    open_nodes, leaves = [root], 1
    by_gain: Callable[[Node], float] = lambda node: node.gain  # noqa: E731
    while open_nodes and (not params["max_leaves"] or leaves < params["max_leaves"]):
        node = max(open_nodes, key=by_gain) if params["growth"] == "leaf" else open_nodes[0]
        open_nodes.remove(node)
        if node.feature < 0:
            continue
        goes = np.isin(bins[node.feature][node.rows], sorted(node.left_bins))
        node.children = [
            Node(node.rows[goes], node.depth + 1),
            Node(node.rows[~goes], node.depth + 1),
        ]
        leaves += 1
        for child in node.children:
            _search(sums, child, bins, n_bins, nominal)
            if child.feature >= 0:
                open_nodes.append(child)
    _value(sums, root)
    return root


def _value(sums: _Sums, node: Node) -> None:
    node.value = sums.value(sums.moments(node.rows))
    for child in node.children:
        _value(sums, child)


def row_chance(seed: int, round_number: int, row: int) -> float:
    """Uniform in [0, 1), the same for a row of a round whoever asks."""
    z = (seed + 0x9E3779B97F4A7C15 * (round_number + 1)) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 + 0xD1B54A32D192ED03 * (row + 1)) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    z = ((z ^ (z >> 31)) * 0xBF58476D1CE4E5B9) & _MASK
    return ((z ^ (z >> 29)) >> 11) * 2.0**-53
