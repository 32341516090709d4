"""Twin of bundles: which columns of a sparse matrix share a stored one, and the bytes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["bin_of_byte", "bundle_columns", "stored_bytes"]


def _bins(dense: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.where(np.isnan(dense), len(edges) + 1, np.searchsorted(edges, dense))


def bundle_columns(dense: NDArray[np.float64], edges: Sequence[Any]) -> NDArray[np.int32]:
    """For each column: stored column, common bin (−1: alone), first byte, number of bytes."""
    n, n_features = dense.shape
    stored = np.zeros((n_features, 4), np.int32)
    taken: list[NDArray[np.bool_]] = []
    n_bytes: list[int] = []
    alone = []
    for f in range(n_features):
        common = int(np.searchsorted(edges[f], 0.0))
        away = _bins(dense[:, f], edges[f]) != common
        size = len(edges[f]) + int(np.isnan(dense[:, f]).any())
        if size >= 128 or 2 * int(away.sum()) >= n:
            alone.append(f)
            continue
        open_ones = [k for k in range(len(taken) - 1, -1, -1) if n_bytes[k] + size <= 256]
        at = next((k for k in open_ones[:64] if not (taken[k] & away).any()), len(taken))
        if at == len(taken):
            taken.append(np.zeros(n, np.bool_))
            n_bytes.append(1)
        stored[f] = at, common, n_bytes[at], size
        taken[at] |= away
        n_bytes[at] += size
    for k, f in enumerate(alone):
        stored[f] = len(taken) + k, -1, 0, 0
    return stored


def stored_bytes(
    dense: NDArray[np.float64], edges: Sequence[Any], stored: NDArray[np.int32]
) -> NDArray[np.uint8]:
    """The bytes of the stored columns, a row for each."""
    out = np.zeros((int(stored[:, 0].max()) + 1, len(dense)), np.uint8)
    for f, (column, common, first, _) in enumerate(stored):
        bins = _bins(dense[:, f], edges[f])
        if common < 0:
            out[column] = bins
            continue
        away = bins != common
        out[column, away] = (first + bins - (bins > common))[away]
    return out


def bin_of_byte(byte: int, common: int, first: int, n_bytes: int) -> int:
    """The bin of a feature that a byte of its stored column stands for."""
    at = byte - first
    if common < 0 or not 0 <= at < n_bytes:
        return byte if common < 0 else common
    return at if at < common else at + 1
