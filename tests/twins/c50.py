"""Numpy twins of what C5.0 adds to the kernels: its choice of a test, and its weakest links."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["Offer", "choose", "cut_offer", "multiway_offer", "weakest_links"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Offer:
    """The test of a feature: charged gain and split information in bits, branches, and the cut."""

    gain: float
    split_info: float
    n_branches: int
    at: float = np.nan


def _terms(x: Floats) -> Floats:
    """x·log2(x), 0 at 0."""
    return np.where(x > 0, x * np.log2(np.where(x > 0, x, 1.0)), 0.0)


def _information(counts: Floats) -> float:
    """Bits to tell the classes of each row of a table of class weights, together."""
    return float((_terms(counts.sum(axis=1)) - _terms(counts).sum(axis=1)).sum())


def _offer(
    table: Floats, cases: float, charge: float, n_branches: int, at: float = np.nan
) -> Offer:
    items = table.sum(axis=1)
    gain = (_information(table.sum(axis=0, keepdims=True)) - _information(table)) / cases
    known = np.append(items, cases - items.sum())
    split_info = float((_terms(np.array([cases])).sum() - _terms(known).sum()) / cases)
    return Offer(gain - charge / cases, split_info, n_branches, at)


def cut_offer(
    x: Floats,
    y: NDArray[np.int32],
    weight: Floats,
    n_classes: int,
    min_items: float,
    *,
    ordinal: bool = False,
) -> Offer | None:
    """The best cut of an ordered feature, NaN for a gap; None without any."""
    cases = float(weight.sum())
    known = ~np.isnan(x)
    x, y, weight = x[known], y[known], weight[known]
    side = min_items
    if not ordinal:
        side = float(np.clip(0.1 * weight.sum() / n_classes, min_items, max(min_items, 25.0)))
    tables, values = [], np.unique(x)
    for low, high in pairwise(values):
        left = np.bincount(y[x <= low], weight[x <= low], n_classes)
        right = np.bincount(y[x > low], weight[x > low], n_classes)
        if min(left.sum(), right.sum()) >= side - 1e-9:
            tables.append((np.array([left, right]), low, high))
    if not tables:
        return None
    inside = [_information(table) for table, _, _ in tables]
    table, low, high = tables[int(np.argmin(inside))]
    charge = np.log2(len(tables))
    if not ordinal:
        charge = min(charge, np.log2((values[-1] - values[0]) / (high - low)))
    return _offer(table, cases, float(charge), 2, float(low))


def multiway_offer(
    codes: NDArray[np.int32],
    y: NDArray[np.int32],
    weight: Floats,
    n_classes: int,
    n_categories: int,
    min_items: float,
) -> Offer | None:
    """A branch per category, −1 for a gap; None if fewer than two have enough weight."""
    table = np.zeros((n_categories, n_classes))
    known = codes >= 0
    np.add.at(table, (codes[known], y[known]), weight[known])
    if np.count_nonzero(table.sum(axis=1) >= min_items - 1e-9) < 2:
        return None
    return _offer(table, float(weight.sum()), 0.0, n_categories)


def choose(offers: list[Offer | None], cases: float, cases_per_class: float) -> int:
    """Index of the test that C5.0 takes, −1 for none; ``cases`` are those of the node."""
    counted = [i for i, offer in enumerate(offers) if offer is not None and offer.gain > 1e-4]
    if not counted:
        return -1
    gains = np.array([offers[i].gain for i in counted])  # type: ignore[union-attr]
    price = 0.9 * np.log2(len(counted)) / cases
    many = float(np.clip((cases_per_class - 500.0) / 500.0, 0.0, 1.0))
    least = 0.999 * (many * price + (1.0 - many) * float(gains.mean()))
    best, most = -1, 0.0
    for i in counted:
        offer = offers[i]
        assert offer is not None
        if offer.gain < least or offer.split_info <= 0:
            continue
        ratio = offer.gain / offer.split_info
        held = offers[best] if best >= 0 else None
        if (
            held is None
            or ratio > 1.001 * most
            or (
                ratio > 0.999 * most
                and (offer.n_branches, -offer.gain) < (held.n_branches, -held.gain)
            )
        ):
            best, most = i, ratio
    return best


def weakest_links(
    first_child: NDArray[np.int32],
    n_children: NDArray[np.int32],
    errors: Floats,
    is_empty: NDArray[np.bool_],
    cases: float,
    start: float,
) -> NDArray[np.bool_]:
    """Nodes that global pruning makes leaves; see ``core/prune/error_based.hpp``."""
    cut = np.zeros(len(errors), np.bool_)

    def children(t: int) -> list[int]:
        return [] if cut[t] else list(range(first_child[t], first_child[t] + n_children[t]))

    def leaves(t: int) -> list[int]:
        below = children(t)
        return [leaf for c in below for leaf in leaves(c)] if below else [t]

    def inner(t: int) -> list[int]:
        below = children(t)
        return [t, *(i for c in below for i in inner(c))] if below else []

    def added(t: int) -> float:
        return float(errors[t] - errors[leaves(t)].sum())

    def link(t: int) -> float:
        return added(t) / max(int(np.count_nonzero(~is_empty[leaves(t)])) - 1, 1)

    def fits(more: float) -> bool:
        return spent + more <= allowed + 1e-9

    def topmost(t: int, limit: float) -> list[int]:
        if not children(t):
            return []
        if fits(added(t)) and link(t) <= limit:
            return [t]
        return [i for c in children(t) for i in topmost(c, limit)]

    allowed, spent = float(np.sqrt(max(start * (1 - start / cases), 0.0))), 0.0
    while True:
        links = [link(t) for t in inner(0) if fits(added(t))]
        if not links:
            return cut
        chosen = topmost(0, min(links) + 1e-6)
        total = sum(added(t) for t in chosen)
        if not fits(total):
            return cut
        spent += total
        cut[chosen] = True
