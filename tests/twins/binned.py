"""Twin of the bins: edges from a summary of values, and bins from edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["bin_edges", "bin_values", "merge", "summarize"]

Floats = NDArray[np.float64]


def summarize(values: NDArray[Any]) -> tuple[Floats, Floats]:
    """Distinct values, ascending, and how often each comes; gaps are left out."""
    value, count = np.unique(values[~np.isnan(values)].astype(np.float64), return_counts=True)
    return value, count.astype(np.float64)


def merge(a: tuple[Floats, Floats], b: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The summary of both."""
    value, place = np.unique(np.concatenate([a[0], b[0]]), return_inverse=True)
    weight = np.bincount(place, np.concatenate([a[1], b[1]]), len(value))
    return value, weight.astype(np.float64)


def _between(low: float, high: float) -> float:
    middle = low + (high - low) / 2
    return middle if middle < high else low


def bin_edges(value: Floats, weight: Floats, max_bins: int) -> Floats:
    """Edges between all values, or between bins of about the same weight."""
    n = len(value)
    if n <= max_bins:
        return np.array([_between(value[i - 1], value[i]) for i in range(1, n)])
    rest, left = float(weight.sum()), max_bins
    fair = rest / max_bins
    for w in weight:
        if w >= fair:
            rest, left = rest - w, left - 1
    size = rest / left if left > 0 else np.inf
    held = 0.0
    edges: list[float] = []
    for i in range(n - 1):
        if len(edges) + 1 >= max_bins:
            break
        is_large = weight[i] >= fair
        rest -= 0.0 if is_large else weight[i]
        held += weight[i]
        next_is_large = weight[i + 1] >= fair and held >= max(1.0, size / 2)
        if is_large or held >= size or next_is_large:
            edges.append(_between(value[i], value[i + 1]))
            held = 0.0
            if not is_large:
                left -= 1
                size = rest / left if left > 0 else np.inf
    return np.array(edges)


def bin_values(values: NDArray[Any], edges: Floats) -> NDArray[np.uint8]:
    """The first bin whose edge a value does not exceed; gaps have the last one."""
    bins = np.searchsorted(edges, values, side="left")
    return np.where(np.isnan(values), len(edges) + 1, bins).astype(np.uint8)
