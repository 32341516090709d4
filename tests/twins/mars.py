"""The forward pass of MARS in numpy: every hinge is laid out and projected, nothing is updated.

The rules of knots, of the queue of parents and of stopping are those of ``core/mars/``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.mars import FALLING, LINEAR, RISING, ForwardOptions, ForwardPass, Offer

__all__ = ["forward"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

SAME_GAIN, SPANNED, DEPENDENT, NARROW = 1e-8, 1e-7, 1e-14, 1e-8


@dataclass
class _Basis:
    """Columns of the terms, an orthonormal basis of them, and what is left of the responses."""

    root_weight: Floats
    q: Floats
    residual: Floats
    values: list[Floats] = field(default_factory=list)
    used: list[tuple[int, ...]] = field(default_factory=list)
    rows: list[tuple[int, int, int, float, int]] = field(default_factory=list)

    def outside(self, columns: Floats) -> Floats:
        for _ in range(2):
            columns = columns - self.q @ (self.q.T @ columns)
        return columns

    def add(self, column: Floats) -> bool:
        rest = self.outside(column)
        if not rest @ rest > DEPENDENT * (column @ column):
            return False
        rest = rest / np.linalg.norm(rest)
        self.q = np.column_stack([self.q, rest])
        self.residual = self.residual - np.outer(rest, rest @ self.residual)
        return True


def spans(
    options: ForwardOptions, n_features: int, n: float, support: float, is_interaction: bool
) -> tuple[float, float, float]:
    """Rows before the first knot, between knots and after the last one."""
    end = float(options.endspan if options.endspan > 0 else int(7.32193 + np.log2(n_features)))
    if is_interaction:
        end += np.floor(options.adjust_endspan * end + 0.5)
    end = max(1.0, min(end, np.floor(n / 2) - 1))
    if options.minspan < 0:
        step = max(1.0, np.ceil(support / (1 - options.minspan)))
        return max(end, step - 1), step, end
    step = float(
        options.minspan
        if options.minspan > 0
        else max(1, int((2.9702 + np.log(n_features * support)) / 1.7329))
    )
    left = max(0.0, np.floor(n) - 2 * end - 1) % step
    return end + np.ceil(left / 2), step, end


def knots(x: Floats, parent: Floats, copies: Floats, span: tuple[float, float, float]) -> Floats:
    """Values where a knot may be, from the largest down."""
    first, step, end = span
    order = np.lexsort((np.arange(len(x)), x))[::-1]
    supported = parent[order] != 0
    value, w = x[order], copies[order]
    top = value[supported].max()
    below = np.append(value[1:], value[-1])
    share = np.where(value < top, w, np.where(below < top, np.minimum(w, 1), 0)) * supported
    counted, above = np.cumsum(share), np.cumsum(w)
    found: list[float] = []
    tick = first
    for i in range(len(x)):
        while share[i] > 0 and tick <= counted[i]:
            at_row = tick <= counted[i] - 1
            passed = above[i] - (counted[i] - tick)
            if passed <= copies.sum() - 1 - end and (at_row or i + 1 < len(x)):
                found.append(value[i] if at_row else below[i])
            tick += step
    return np.unique(found)[::-1]


def _gains(
    basis: _Basis, x: Floats, parent: Floats, at: Floats, tolerance: float
) -> tuple[float, float, float | None, bool]:
    """Gain of the feature itself, of the best pair, its knot, and whether the feature is new."""
    scale = np.ptp(x)
    root = basis.root_weight
    feature = parent * ((x - x.min()) / scale - ((x - x.min()) / scale).mean()) * root
    rest = basis.outside(feature)
    centre = basis.q[:, 0]
    spread = feature @ feature - (feature @ centre) ** 2
    is_new = bool(rest @ rest > SPANNED * spread)
    q, residual, linear = basis.q, basis.residual, 0.0
    if is_new:
        rest = rest / np.linalg.norm(rest)
        linear = float(((rest @ residual) ** 2).sum())
        q = np.column_stack([q, rest])
        residual = residual - np.outer(rest, rest @ residual)
    best, knot = 0.0, None
    for t in at:
        hinge = parent * np.maximum(x - t, 0) / scale * root
        outside = hinge - q @ (q.T @ hinge)
        outside = outside - q @ (q.T @ outside)
        length = outside @ outside
        spread = hinge @ hinge - (hinge @ centre) ** 2
        if not (spread > 0 and length > tolerance * spread):
            continue
        gain = float(((outside @ residual) ** 2).sum() / length)
        if gain > best * (1 + 1e-12):
            best, knot = gain, float(t)
    return linear, linear + best if knot is not None else 0.0, knot, is_new


def queue_order(
    gains: Sequence[float], stamps: Sequence[int], now: int, fast_k: int, beta: float
) -> list[int]:
    """Parents by rank of gain, aged by beta per slot; the first fast_k of them."""
    ranked = sorted(range(len(gains)), key=lambda i: -np.float32(gains[i]))
    aged = {i: rank + beta * (now - stamps[i]) for rank, i in enumerate(ranked)}
    ordered = sorted(ranked, key=lambda i: aged[i])
    return ordered[:fast_k] if fast_k > 0 else ordered


def forward(
    x: Floats,
    y: Floats,
    weight: Floats | None = None,
    copies: Floats | None = None,
    *,
    options: ForwardOptions,
    linear: NDArray[np.bool_] | None = None,
    offer: Offer | None = None,
) -> ForwardPass:
    """What :func:`treewright.kernels.mars.forward` does, one hinge at a time."""
    n_features, n_rows = x.shape
    weight = np.ones(n_rows) if weight is None else weight
    copies = np.ones(n_rows) if copies is None else copies
    root, n = np.sqrt(weight), copies.sum()
    start = root / np.linalg.norm(root)
    scaled = y * root[:, None]
    basis = _Basis(root, start[:, None], scaled - np.outer(start, start @ scaled))
    basis.values.append(np.ones(n_rows))
    basis.used.append(())
    linear = np.zeros(n_features, bool) if linear is None else linear
    slots: list[tuple[int | None, int, bool]] = [(0, 0, True)]  # term, degree, is tried
    gains, stamps, now = [np.inf], [0], 0
    rss, sizes, end = [float((basis.residual**2).sum())], [1], 1

    def gcv(value: float, n_terms: int) -> float:
        price = 0 if options.penalty < 0 else n_terms + options.penalty * (n_terms - 1) / 2
        return np.inf if price >= n else value / (n * (1 - price / n) ** 2)

    while len(slots) + 2 <= options.max_terms:
        tolerance = 0.01 if len(slots) < 14 else 1e-5
        best, adds_pair = 0.0, False
        choice: tuple[int, int, float | None, bool] | None = None
        for slot in queue_order(gains, stamps, now, options.fast_k, options.fast_beta):
            term, degree, is_tried = slots[slot] if slot < len(slots) else (None, 0, False)
            if not is_tried or degree >= options.degree:
                continue
            gains[slot], stamps[slot] = 0.0, len(slots)
            if term is None:
                continue
            allowed = np.ones(n_features, bool) if offer is None else offer(list(basis.used[term]))
            parent = basis.values[term]
            span = spans(options, n_features, n, copies[parent != 0].sum(), term > 0)
            for f in range(n_features):
                if not allowed[f] or f in basis.used[term] or not np.ptp(x[f]):
                    continue
                at = np.empty(0) if linear[f] else knots(x[f], parent, copies, span)
                alone, pair, knot, is_new = _gains(basis, x[f], parent, at, tolerance)
                if alone > best * (1 + SAME_GAIN):
                    best, choice = alone, (term, f, None, False)
                if pair > best * (1 + SAME_GAIN):
                    best, choice, adds_pair = pair, (term, f, knot, is_new), is_new
                gains[slot] = max(gains[slot], alone, pair)
        if choice is None or not rss[0] > 0:
            end = 2
            break
        term, f, knot, is_pair = choice
        size = basis.q.shape[1] + 1 + is_pair
        if gcv(max(0.0, rss[-1] - best), size) > 11 * gcv(rss[0], 1):
            end = 4
            break
        if best < options.thresh * rss[0]:
            end = 3
            break
        degree, first = len(basis.used[term]) + 1, len(slots)
        at_least = x[f].min() if knot is None else knot
        kinds = [RISING, FALLING] if is_pair else [RISING]
        is_narrow = np.ptp(x[f]) < NARROW * np.abs(x[f]).max()
        if knot is None and ((options.auto_linear and not is_narrow) or linear[f]):
            kinds, adds_pair = [LINEAR], False
        slots += [(None, degree, adds_pair)] * 2
        n_new = 0
        for side, kind in enumerate(kinds):
            sign = -1 if kind == FALLING else 1
            hinge = basis.values[term] * np.maximum(sign * (x[f] - at_least), 0)
            if not basis.add(hinge / np.ptp(x[f]) * root):
                continue
            value = basis.values[term] * x[f] / np.abs(x[f]).max() if kind == LINEAR else hinge
            slots[first + side] = (len(basis.values), degree, True)
            basis.rows.append((term, f, kind, float(at_least), first + side))
            basis.values.append(value)
            basis.used.append((*basis.used[term], f))
            n_new += 1
        if not n_new:
            end = 2
            break
        gains += [np.inf] * (2 if adds_pair else 1)
        stamps += [first] * (2 if adds_pair else 1)
        now = first
        rss.append(float((basis.residual**2).sum()))
        sizes.append(basis.q.shape[1])
        if rss[-1] <= options.thresh * rss[0]:
            end = 5
            break
    columns = list(zip(*basis.rows, strict=True)) if basis.rows else [()] * 5
    parents, features, kinds_of, knots_of, slots_of = columns
    return ForwardPass(
        np.array(parents, np.int32),
        np.array(features, np.int32),
        np.array(kinds_of, np.int32),
        np.array(knots_of, float),
        np.array(slots_of, np.int32),
        np.array(rss),
        np.array(sizes, np.int32),
        end,
    )
