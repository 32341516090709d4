"""Numpy twin of ``core/predict/node_counts.cpp``: counts and quantiles of what passed the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["node_quantiles", "split_counts"]

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


def split_counts(
    columns: Sequence[NDArray[Any]],
    end: Ints,
    parent: Ints,
    slot: Ints,
    column: Ints,
    low: Floats,
    scale: Floats,
    code: Ints,
    weight: Floats | None,
    n_bins: int,
    n_codes: int,
) -> Floats:
    """Weight of the rows that passed each split, by bin of the tested value and code of the row."""
    counts = np.zeros((len(column), n_bins, n_codes))
    for node in np.flatnonzero(slot >= 0):
        s = slot[node]
        rows = np.flatnonzero(_passes(end, parent, int(node)))
        values = columns[column[s]][rows]
        x = np.where(values < 0, np.nan, values) if values.dtype.kind == "i" else values
        x = (x.astype(np.float64) - low[s]) * scale[s]
        known = ~np.isnan(x)
        bins = np.clip(x[known], 0, n_bins - 1).astype(np.int64)
        kept = rows[known]
        np.add.at(counts[s], (bins, code[kept]), 1.0 if weight is None else weight[kept])
    return counts.reshape(len(column), -1)


def node_quantiles(
    order: NDArray[np.int64],
    end: Ints,
    parent: Ints,
    y: Floats,
    weight: Floats | None,
    share: Floats,
) -> Floats:
    """Quantiles of ``y`` at every node: the first value with enough weight at or below it."""
    found = np.full((len(parent), len(share)), np.nan)
    for node in range(len(parent)):
        rows = order[_passes(end, parent, node)[order]]
        if len(rows):
            total = np.cumsum(np.ones(len(rows)) if weight is None else weight[rows])
            at = np.searchsorted(total, share * total[-1] * (1 - 1e-12), side="left")
            found[node] = y[rows[np.minimum(at, len(rows) - 1)]]
    return found


def _passes(end: Ints, parent: Ints, node: int) -> NDArray[np.bool_]:
    """Which rows end at a node or below it."""
    below = np.zeros(len(parent), np.bool_)
    for i in range(node, len(parent)):
        below[i] = i == node or (parent[i] >= 0 and below[parent[i]])
    return below[end]
