"""Grouping of categories by its definition; twin of ``core/quinlan/subset.hpp``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.twins.quinlan import information

__all__ = ["group_categories"]

Floats = NDArray[np.float64]
RISE = 1e-7  # a ratio that rises by less does not rise
TIE = 1e-12


def group_categories(
    stats: Floats, *, gaps: float = 0.0, min_items: float = 2.0, release8: bool = True
) -> list[list[int]]:
    """Groups of the categories that have rows; ``stats`` are the class weights of each category.

    With ``release8`` as that release of C4.5 does it, otherwise as C5.0.
    """
    groups = [[int(c)] for c in np.flatnonzero(stats.sum(axis=1))]
    if len(groups) < 3:
        return groups
    charges = np.zeros(len(groups) + 1) if release8 else _charges(len(groups))
    _join_single_classes(groups, stats, release8)
    while len(groups) > 2:
        items = np.array([stats[group].sum() for group in groups])
        enough = int((items >= min_items).sum())
        barred = int(items.argmax()) if release8 and enough <= 2 else -1
        most = _ratio(groups, stats, gaps, charges) * (1 + RISE) if enough >= 2 else -np.inf
        best: tuple[int, int] | None = None
        for p in range(len(groups)):
            for q in range(p + 1, len(groups)):
                merged = _merged(groups, p, q, release8)
                weights = [stats[group].sum() for group in merged]
                if barred in (p, q) or sum(w >= min_items for w in weights) < 2:
                    continue
                ratio = _ratio(merged, stats, gaps, charges)
                tie = 0.0 if best is None else TIE * abs(most)
                if ratio > most + (-tie if release8 else tie):
                    most, best = ratio, (p, q)
        if best is None:
            break
        groups = _merged(groups, *best, release8)
    return groups


def _merged(groups: list[list[int]], p: int, q: int, release8: bool) -> list[list[int]]:
    """The groups with that at ``q`` in that at ``p``; in release 8 the last one takes its place."""
    out = [list(group) for group in groups]
    out[p] += out[q]
    if release8:
        out[q] = out[-1]
        return out[:-1]
    return out[:q] + out[q + 1 :]


def _join_single_classes(groups: list[list[int]], stats: Floats, release8: bool) -> None:
    def only_class(group: list[int]) -> int:
        present = np.flatnonzero(stats[group].sum(axis=0))
        return int(present[0]) if len(present) == 1 else -1

    p = 0
    while p < len(groups):
        q = p + 1
        while q < len(groups):
            if only_class(groups[p]) == only_class(groups[q]) >= 0:
                groups[:] = _merged(groups, p, q, release8)
            else:
                q += 1
        p += 1


def _charges(n: int) -> Floats:
    """Bits that name a way to put ``n`` categories into each number of groups; none apart."""
    ways = np.eye(1, n + 1)[0]
    for _ in range(n):
        ways[1:] = np.arange(1, n + 1) * ways[1:] + ways[:-1]
        ways[0] = 0.0
    return np.append(np.log2(np.maximum(ways[:-1], 1.0)), 0.0)


def _ratio(groups: list[list[int]], stats: Floats, gaps: float, charges: Floats) -> float:
    """Gain ratio of a branch per group; the gaps are one more branch."""
    items = np.array([stats[group].sum() for group in groups])
    everything = items.sum() + gaps
    inside = sum(information(stats[group].sum(axis=0)) for group in groups)
    bits = information(stats.sum(axis=0)) - inside - charges[len(groups)]
    gain = bits * items.sum() / everything
    return float(gain / information(np.append(items, gaps)))
