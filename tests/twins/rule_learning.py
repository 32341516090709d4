"""The twins of rule learning: dropping conditions, choosing rules by their bits, their utility."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tests.twins.forest import child_path

__all__ = [
    "choose_rules",
    "choose_voting_rules",
    "error_rate",
    "generalise",
    "rank_rules",
    "subset_cost",
    "voting_cost",
]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def error_rate(covered: float, wrong: float, confidence: float, z: float, tail: float) -> float:
    """Upper limit of the errors among ``covered`` rows, as a share of them."""
    if covered <= 0:
        return 1.0
    return float((wrong + _added(covered, wrong, confidence, z, tail)) / covered)


def _added(n: float, e: float, confidence: float, z: float, tail: float) -> float:
    none = n * (1.0 - math.exp(math.log(confidence) / n))
    if e < 1e-6:
        return none
    if e < 0.9999:
        return none + e * (_added(n, 1.0, confidence, z, tail) - none)
    if e + 0.5 >= n:
        return max(tail * (n - e), 0.0)
    c, half = z * z, e + 0.5
    limit = (half + c / 2 + math.sqrt(c * (half * (1 - half / n) + c / 4))) / (n + c)
    return n * limit - e


def generalise(
    holds: Flags, is_class: Flags, weight: Floats, rate: Callable[[float, float], float]
) -> tuple[Flags, float, float]:
    """Tests that stay, and the weight covered and wrong then.

    Parameters
    ----------
    holds
        Whether each test (first axis) holds for each row.
    is_class, weight
        Of each row.
    rate
        Error rate of a covered and a wrong weight.
    """
    kept = np.ones(len(holds), np.bool_)

    def support(tests: Flags) -> tuple[float, float]:
        covered = holds[tests].all(axis=0)
        return float(weight[covered].sum()), float(weight[covered & ~is_class].sum())

    now = support(kept)
    while kept.any():
        trials = []
        for i in np.flatnonzero(kept):
            without = kept.copy()
            without[i] = False
            trials.append((rate(*support(without)), -int(i)))
        best, position = min(trials)
        if best > rate(*now):
            break
        kept[-position] = False
        now = support(kept)
    return kept, *now


def subset_cost(
    covers: Flags, is_class: Flags, weight: Floats, bits: Floats, share: float, chosen: Flags
) -> float:
    """Bits of the chosen rules and of their exceptions; ``covers`` is rules by rows."""
    covered = covers[chosen].any(axis=0)
    n, u = float(weight[covered].sum()), float(weight[~covered].sum())
    fp, fn = float(weight[covered & ~is_class].sum()), float(weight[~covered & is_class].sum())
    cost = math.log2(n + u + 1)
    if n >= u:
        cost += _subset(n, fp, (fp + fn) / (2 * n) if n else 0.0)
        cost += _subset(u, fn, fn / u if u else 0.0)
    else:
        cost += _subset(u, fn, (fp + fn) / (2 * u))
        cost += _subset(n, fp, fp / n if n else 0.0)
    orders = math.lgamma(int(chosen.sum()) + 1) / math.log(2)
    return cost + share * (float(bits[chosen].sum()) - orders)


def _subset(total: float, part: float, p: float) -> float:
    cost = -part * math.log2(p) if part > 0 else 0.0
    return cost - (total - part) * math.log2(1 - p) if total > part else cost


def choose_rules(
    covers: Flags,
    is_class: Flags,
    weight: Floats,
    bits: Floats,
    share: float,
    most_exhaustive: int,
    n_random: int,
) -> Flags:
    """The cheapest subset of a few rules, or the best end of some climbs of many."""
    n = len(covers)

    def cost(chosen: Flags) -> float:
        return subset_cost(covers, is_class, weight, bits, share, chosen)

    if n <= most_exhaustive:
        # in the order of a Gray code, so that equals are decided as in the kernel
        codes = [i ^ (i >> 1) for i in range(1 << n)]
        subsets = [np.array([code >> r & 1 for r in range(n)], np.bool_) for code in codes]
        return _first_least(subsets, cost)
    n_starts = 2 + n_random
    starts = [_start(i, n_starts, n) for i in range(n_starts)]
    best = _first_least([_climb(start, cost) for start in starts], cost)
    for i in range(n_starts, n_starts + n_random):
        start = best.copy()
        for flip in range(3):
            start[child_path(i, flip) % n] ^= True
        best = _first_least([best, _climb(start, cost)], cost)
    return best


def _start(i: int, n_starts: int, n_rules: int) -> Flags:
    """All rules, none, then random ones that grow."""
    if i < 2:
        return np.full(n_rules, i == 0)
    drawn = [child_path(i, rule) >> 32 for rule in range(n_rules)]
    return np.array([u * (n_starts - 1) < (i - 1) << 32 for u in drawn], np.bool_)


def _first_least(subsets: Sequence[Flags], cost: Callable[[Flags], float]) -> Flags:
    best, least = subsets[0], cost(subsets[0])
    for subset in subsets[1:]:
        found = cost(subset)
        if found < least - 1e-9:
            best, least = subset, found
    return best


def _climb(chosen: Flags, cost: Callable[[Flags], float]) -> Flags:
    while True:
        moves = []
        for r in range(len(chosen)):
            moved = chosen.copy()
            moved[r] = ~moved[r]
            moves.append((cost(moved), r))
        least, best = min(moves)
        if least >= cost(chosen) - 1e-9:
            return chosen
        chosen = chosen.copy()
        chosen[best] = ~chosen[best]


def voting_cost(
    covers: Flags,
    label: NDArray[np.int32],
    strength: Floats,
    y: NDArray[np.int32],
    weight: Floats,
    bits: Floats,
    n_classes: int,
    share: float,
    chosen: Flags,
) -> float:
    """Bits of the chosen rules, and of the rows that their votes get wrong or that have none."""
    votes = np.zeros((len(y), n_classes), np.int64)
    for r in np.flatnonzero(chosen):
        votes[covers[r], label[r]] += round(strength[r] * 2.0**40)
    is_wrong = (votes.argmax(axis=1) != y) | (votes.max(axis=1) == 0)
    total, errors = float(weight.sum()), float(weight[is_wrong].sum())

    def ways(e: float) -> float:
        part = math.lgamma(e + 1) + math.lgamma(total - e + 1)
        return (math.lgamma(total + 1) - part) / math.log(2)

    cost = ways(errors) if 2 * errors <= total else 2 * ways(total / 2) - ways(errors)
    orders = math.lgamma(int(chosen.sum()) + 1) / math.log(2)
    return cost + share * (float(bits[chosen].sum()) - orders)


def choose_voting_rules(
    covers: Flags,
    label: NDArray[np.int32],
    strength: Floats,
    y: NDArray[np.int32],
    weight: Floats,
    bits: Floats,
    n_classes: int,
    share: float,
) -> Flags:
    """From the surest right rule of each row, rules flipped in order as long as that saves bits."""

    def cost(chosen: Flags) -> float:
        return voting_cost(covers, label, strength, y, weight, bits, n_classes, share, chosen)

    n = len(covers)
    right = np.where(covers & (label[:, None] == y), strength[:, None], -1.0)
    surest = np.zeros(n, np.bool_)
    surest[np.unique(right.argmax(axis=0)[right.max(axis=0) >= 0])] = True
    chosen, moved = surest, True
    while moved:
        moved = False
        for r in range(n):
            flipped = chosen.copy()
            flipped[r] = ~flipped[r]
            if cost(flipped) < cost(chosen) - 1e-9:
                chosen, moved = flipped, True
    return chosen


def rank_rules(
    covers: Flags,
    label: NDArray[np.int32],
    strength: Floats,
    y: NDArray[np.int32],
    weight: Floats,
    n_classes: int,
    other: int,
) -> tuple[list[int], list[float]]:
    """Rules (rows of ``covers``) from the least useful on, and the errors before each is lost."""

    def errors(rules: list[int]) -> float:
        votes = np.zeros((len(y), n_classes))
        for r in rules:
            votes[covers[r], label[r]] += strength[r]
        voted = np.where(votes.max(axis=1) > 1e-12, votes.argmax(axis=1), other)
        return float(weight[voted != y].sum())

    left, order, before = list(range(len(covers))), [], []
    while left:
        before.append(errors(left))
        without = [errors([r for r in left if r != lost]) for lost in left]
        order.append(left.pop(int(np.argmin(without))))
    return order, before
