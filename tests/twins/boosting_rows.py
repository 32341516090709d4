"""Twin of what boosting does with rows: whole units, draws, values of leaves from residuals.

Gradients and hessians are rounded to whole units as the core does, so that sums agree to the bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Units", "draw_rows", "huber_delta", "renewed_value", "row_chance", "whole_units"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_MASK = (1 << 64) - 1
COARSE_ROWS, COARSE_BITS, MOST_BITS, ENOUGH_BITS = 8192, (13, 11), 50, 16


class Units(NamedTuple):
    """Gradients and hessians in whole units, and the units."""

    gradient: Ints
    hessian: Ints
    unit: tuple[float, float]
    is_coarse: bool = False


def _power_above(value: float) -> int:
    """The power of two that a number does not exceed."""
    if value <= 0:
        return -200
    part, power = np.frexp(value)
    return max(int(power) - int(part == 0.5), -200)


def whole_units(
    gradient: Floats,
    hessian: Floats,
    n_counted: int,
    key: int | None = None,
    is_narrow: bool = False,
) -> Units:
    """Slopes in whole units: coarse ones for many rows if there is a key for their draws.

    ``is_narrow``: hessians are equal, and gradients share their bits with the number of rows.
    """
    powers = [_power_above(float(np.abs(v).max(initial=0.0))) for v in (gradient, hessian)]
    pair = (gradient, hessian)
    if key is not None and len(gradient) >= COARSE_ROWS:
        sizes = [
            int(np.rint(np.abs(v) * 2.0 ** (16 - p)).sum())
            for v, p in zip(pair, powers, strict=True)
        ]
        if all(s >= len(gradient) * (8 << 16 - b) for s, b in zip(sizes, COARSE_BITS, strict=True)):
            draws = _draws(len(gradient), key)
            unit = (2.0 ** (powers[0] - COARSE_BITS[0]), 2.0 ** (powers[1] - COARSE_BITS[1]))
            whole = [
                np.rint(v / u + d).astype(np.int64)
                for v, u, d in zip(pair, unit, draws, strict=True)
            ]
            return Units(whole[0], whole[1], unit, True)
    bits = max(int(n_counted).bit_length(), 1)
    least = min(62 - 2 * bits, MOST_BITS)
    room = [least if is_narrow else min(62 - bits, MOST_BITS), least]
    unit = (2.0 ** (powers[0] - room[0]), 2.0 ** (powers[1] - room[1]))
    moved = (np.zeros(len(gradient)), np.zeros(len(gradient)))
    if key is not None and least < ENOUGH_BITS:
        moved = _draws(len(gradient), key)
    whole = [np.rint(v / u + d).astype(np.int64) for v, u, d in zip(pair, unit, moved, strict=True)]
    return Units(whole[0], whole[1], unit)


def _draws(n: int, key: int) -> tuple[Floats, Floats]:
    """What is added to coarse gradients and hessians before they go to the nearest number."""
    z = np.arange(n, dtype=np.uint32) ^ np.uint32((key ^ key >> 32) & 0xFFFFFFFF)
    with np.errstate(over="ignore"):
        z = z * np.uint32(0x9E3779B1)
        z = (z ^ z >> np.uint32(15)) * np.uint32(0x85EBCA77)
        z = (z ^ z >> np.uint32(13)) * np.uint32(0xC2B2AE3D)
    z ^= z >> np.uint32(16)
    low, high = z & np.uint32(0xFFFF), z >> np.uint32(16)
    return (low.astype(np.float64) - 32767.5) / 65536, (high.astype(np.float64) - 32767.5) / 65536


def row_chance(seed: int, round_number: int, row: int) -> float:
    """Uniform in [0, 1), the same for a row of a round whoever asks."""
    z = (seed + 0x9E3779B97F4A7C15 * (round_number + 1)) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 + 0xD1B54A32D192ED03 * (row + 1)) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    z = ((z ^ (z >> 31)) * 0xBF58476D1CE4E5B9) & _MASK
    return ((z ^ (z >> 29)) >> 11) * 2.0**-53


def draw_rows(
    params: dict[str, Any], round_number: int, gradient: Floats, hessian: Floats
) -> tuple[Ints, Floats]:
    """Rows of a round, and how much each of them stands for."""
    n, share = len(gradient), params["share"]
    chance = np.array([row_chance(params["seed"], round_number, i) for i in range(n)])
    if params["sampling"] == "uniform":
        keep = np.full(n, share)
    elif params["sampling"] == "goss":
        top = params["top_share"]
        size = np.abs(gradient)
        least = np.sort(size)[::-1][round(top * n) - 1]
        keep = np.where(size >= least, 1.0, (share - top) / (1 - top))
    else:
        size = np.hypot(gradient, hessian)
        keep = np.minimum(1.0, size / _mvs_bound(size, share * n))
    rows = np.flatnonzero(chance < keep)
    factor = 1 / keep[rows]
    return rows, np.ones(len(rows)) if params["sampling"] == "uniform" else factor


def _mvs_bound(size: Floats, wanted: float) -> float:
    """The size from which a row is certain, so that chances add up to the number wanted."""
    in_order = np.sort(size)[::-1]
    rest, n_certain = float(in_order.sum()), 0
    bound = rest / wanted
    while in_order[n_certain] > bound and wanted - n_certain > 1:
        rest -= in_order[n_certain]
        n_certain += 1
        bound = rest / (wanted - n_certain)
    return bound


def _percentile(values: Floats, weight: Floats, share: float) -> float:
    """The least value with the share of the weight up to it; halfway where it is just that."""
    order = np.argsort(values, kind="stable")
    held = np.cumsum(weight[order])
    wanted = share * held[-1]
    at = int(np.searchsorted(held, wanted, side="left"))
    if held[at] == wanted and at + 1 < len(order):
        return float((values[order[at]] + values[order[at + 1]]) / 2)
    return float(values[order[at]])


def huber_delta(residual: Floats, weight: Floats, alpha: float) -> float:
    """The size of residuals from which Huber's loss is linear."""
    return _percentile(np.abs(residual), weight, alpha)


def renewed_value(
    loss: str, residual: Floats, weight: Floats, number: float, delta: float = 0.0
) -> float:
    """The best value for the rows of a leaf under absolute, quantile or Huber loss."""
    centre = _percentile(residual, weight, number if loss == "quantile" else 0.5)
    if loss != "huber":
        return centre
    within = np.clip(residual - centre, -delta, delta)
    return centre + float((weight * within).sum() / weight.sum())
