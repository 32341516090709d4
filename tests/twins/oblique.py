"""Numpy twin of the linear test of a node; see ``core/oblique/chooser.hpp``.

Targets are indicators of the classes, or outputs. The score of a division is the sum over both
sides of Σ_k S_k² / W, with W the weight of a side and S_k its weighted sum of target k; its
increase over that of the whole is the gain.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.twins.forest import child_path, philox_words

__all__ = ["LinearTest", "best_cut", "gain_of", "linear_test", "sparse_directions"]

Floats = NDArray[np.float64]

DRAWS_OF_SUMS = -1
"""The branch of no child: a stream of its own for each node."""


def gain_of(left: NDArray[np.bool_], targets: Floats, weight: Floats) -> float:
    """Decrease of Gini's index, or of the squared error, by dividing the rows."""

    def score(rows: NDArray[np.bool_]) -> float:
        total = weight[rows].sum()
        sums = (weight[rows, None] * targets[rows]).sum(axis=0)
        return float((sums**2).sum() / total) if total > 0 else 0.0

    whole = score(np.ones(len(left), np.bool_))
    return (score(left) + score(~left) - whole) / float(weight.sum())


def best_cut(
    columns: Floats, direction: Floats, targets: Floats, weight: Floats, min_leaf: int = 1
) -> tuple[float, float] | None:
    """Threshold and gain of the best cut of one direction; None if nothing can be cut."""
    value = direction @ columns
    apart = 1e-13 * float(np.abs(direction) @ np.abs(columns).max(axis=1))
    best = None
    for low, high in itertools.pairwise(np.unique(value).tolist()):
        if high - low <= apart:
            continue
        left = value <= low
        if min(left.sum(), (~left).sum()) < min_leaf:
            continue
        gain = gain_of(left, targets, weight)
        if best is None or gain > best[1] * (1 + 1e-9) + 1e-14:
            best = (low / 2 + high / 2, gain)
    return best


def _numbers(seed: int, stream: int) -> Iterator[int]:
    """The random numbers of 64 bits of a stream."""
    for block in itertools.count():
        words = philox_words(seed, stream, 1, block).ravel().tolist()
        yield words[1] << 32 | words[0]
        yield words[3] << 32 | words[2]


def sparse_directions(n_columns: int, n_projections: int, seed: int, path: int) -> Floats:
    """Signs of a few columns: two for certain, each other with a chance of one in all."""
    numbers = _numbers(seed, child_path(path, DRAWS_OF_SUMS))

    def below(bound: int) -> int:
        limit = bound * ((2**64 - 1) // bound)
        return next(draw for draw in numbers if draw < limit) % bound

    out = np.zeros((n_projections, n_columns))
    for row in out:
        first, second = below(n_columns), below(n_columns - 1)
        row[[first, second + (second >= first)]] = 1.0
        at = -1.0
        while True:
            share = (next(numbers) >> 11) * 2.0**-53
            at += 1.0 + math.floor(math.log(1.0 - share) / math.log1p(-1.0 / n_columns))
            if at >= n_columns:
                break
            row[int(at)] = 1.0
        for column in np.flatnonzero(row):
            row[column] = -1.0 if next(numbers) & 1 else 1.0
    return out


@dataclass(frozen=True, eq=False)
class _Part:
    """A column of the design: a feature, or what its categories count."""

    feature: int
    column: Floats  # gaps NaN
    codes: tuple[int, ...] = (-1,)
    values: tuple[float, ...] = (1.0,)


@dataclass(frozen=True)
class LinearTest:
    """Features, weights and codes of the terms, the threshold, the branch of gaps, the gain."""

    terms: tuple[tuple[int, float, int], ...]
    threshold: float
    gap_branch: int
    gain: float


def _nominal_parts(
    feature: int, codes: NDArray[Any], targets: Floats, weight: Floats, terms: str
) -> list[_Part]:
    known = codes >= 0
    seen, place = np.unique(codes[known], return_inverse=True)
    share = np.bincount(place, weight[known], minlength=len(seen))
    if len(seen) < 2:
        return []
    usual = int(share.argmax())
    tables = np.delete(np.eye(len(seen)), usual, axis=0)
    if terms == "target":
        sums = np.array([np.bincount(place, weight[known] * t) for t in targets[known].T]).T
        means = sums / share[:, None]
        value = means[:, -1]
        if means.shape[1] > 2 or (means.shape[1] == 2 and not np.allclose(means.sum(axis=1), 1.0)):
            centred = means - np.average(means, axis=0, weights=share)
            spread = (centred * share[:, None]).T @ centred
            axis = np.linalg.eigh(spread)[1][:, -1]
            value = means @ axis * np.sign(axis[np.diag(spread).argmax()])
        value = value - value[usual]
        largest = np.abs(value).max()
        tables = np.where(np.abs(value) < 1e-9 * largest, 0.0, value / (largest or 1.0))[None]
    parts = []
    for table in tables:
        listed = np.flatnonzero(table)
        if len(listed):
            column = np.full(len(codes), np.nan)
            column[known] = table[place]
            parts.append(
                _Part(feature, column, tuple(seen[listed].tolist()), tuple(table[listed].tolist()))
            )
    return parts


def design(
    columns: list[NDArray[Any]], targets: Floats, weight: Floats, terms: str | None
) -> list[_Part]:
    """The columns that vary: numbers as they are, codes (integers) by ``terms``."""
    parts = []
    for feature, column in enumerate(columns):
        if column.dtype.kind == "f":
            known = column[~np.isnan(column)]
            if len(known) and np.ptp(known) > 1e-12 * np.abs(known).max():
                parts.append(_Part(feature, column.astype(np.float64)))
        elif terms is not None:
            parts += _nominal_parts(feature, column, targets, weight, terms)
    return parts


def linear_test(
    parts: list[_Part],
    directions: Floats,
    targets: Floats,
    weight: Floats,
    *,
    deletion: float = 0.0,
    min_leaf: int = 1,
    keeps_two: bool = False,
) -> LinearTest | None:
    """The best linear test along ``directions`` of the standardised parts; None if there is none.

    ``keeps_two`` keeps the last two features of a sum, as in a forest.
    """
    raw = np.array([part.column for part in parts])
    is_gap = np.isnan(raw)
    mean = np.nansum(raw * weight, axis=1) / (~is_gap @ weight)
    off = np.where(is_gap, 0.0, raw - mean[:, None])
    spread = np.sqrt((off**2) @ weight / weight.sum())
    standard = off / spread[:, None]

    def cut(direction: Floats) -> tuple[float, float] | None:
        return best_cut(standard, direction, targets, weight, min_leaf)

    found = [(cut(d), d) for d in directions]
    best: tuple[tuple[float, float], Floats] | None = None
    for one, direction in found:
        if one and (best is None or one[1] > best[0][1] * (1 + 1e-9) + 1e-14):
            best = one, direction
    if best is None:
        return None
    direction = _without_needless(
        best[1].copy(), best[0][1] * (1 - deletion), cut, parts, keeps_two
    )
    return _rounded(direction / spread, parts, mean, targets, weight, min_leaf)


def _without_needless(
    direction: Floats, least: float, cut: Any, parts: list[_Part], keeps_two: bool
) -> Floats:
    """Coefficients go, the one that is missed least first, down to a gain of ``least``."""
    feature = np.array([part.feature for part in parts])
    while True:
        kept: tuple[float, int] | None = None
        for m in np.flatnonzero(direction):
            without = np.where(np.arange(len(direction)) == m, 0.0, direction)
            if keeps_two and len(set(feature[without != 0])) < 2:
                continue
            now = cut(without) if without.any() else None
            if now and now[1] >= least - 1e-14 and (kept is None or now[1] > kept[0] * (1 + 1e-9)):
                kept = now[1], int(m)
        if kept is None:
            return direction
        direction[kept[1]] = 0.0


def _rounded(
    direction: Floats,
    parts: list[_Part],
    mean: Floats,
    targets: Floats,
    weight: Floats,
    min_leaf: int,
) -> LinearTest | None:
    """The test with coefficients of six digits and the best threshold for them."""
    first = int(np.flatnonzero(direction)[0])
    scale = np.abs(direction).max() * np.sign(direction[first] * parts[first].values[0])
    terms, columns, centres = [], [], []
    for part, coefficient, centre in zip(parts, direction / scale, mean, strict=True):
        if coefficient == 0:
            continue
        rounded = [float(f"{coefficient * value:.6g}") for value in part.values]
        own = [(part.feature, w, c) for w, c in zip(rounded, part.codes, strict=True) if w != 0]
        if not own:
            continue
        terms += own
        if part.codes == (-1,):
            columns.append(rounded[0] * part.column)
            centres.append(rounded[0] * centre)
        else:
            table = dict(zip(part.values, rounded, strict=True)) | {0.0: 0.0}
            known = [np.nan if np.isnan(x) else table[x] for x in part.column.tolist()]
            columns.append(np.array(known))
            centres.append(coefficient * centre)
    if len({feature for feature, _, _ in terms}) < 2:
        return None
    raw, middle = np.array(columns), np.array(centres)
    filled = np.where(np.isnan(raw).any(axis=0), middle[:, None], raw)
    found = best_cut(filled, np.ones(len(raw)), targets, weight, min_leaf)
    if found is None:
        return None
    return LinearTest(tuple(terms), found[0], int(middle.sum() >= found[0]), found[1])
