"""The twin of the cuts by description length: every cut of a range, then both its sides.

Reference: Fayyad and Irani (1993), IJCAI-93.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["mdl_cuts"]

Floats = NDArray[np.float64]


def entropy(counts: Floats) -> float:
    """Entropy in bits of class weights."""
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def pays(left: Floats, right: Floats) -> bool:
    """Whether a cut gains more than its description costs."""
    both = left + right
    n = float(both.sum())
    if n <= 1:
        return False
    inside = (left.sum() * entropy(left) + right.sum() * entropy(right)) / n
    k, k1, k2 = (int(np.count_nonzero(counts)) for counts in (both, left, right))
    delta = math.log2(3**k - 2) - (k * entropy(both) - k1 * entropy(left) - k2 * entropy(right))
    return bool(entropy(both) - inside > (math.log2(n - 1) + delta) / n)


def mdl_cuts(
    values: Floats, y: NDArray[np.int32], weight: Floats | None = None
) -> NDArray[np.float64]:
    """Midpoints at which the values are cut, ascending; gaps take no part."""
    known = ~np.isnan(values)
    distinct, where = np.unique(values[known], return_inverse=True)
    counts = np.zeros((len(distinct), int(y.max()) + 1))
    np.add.at(counts, (where, y[known]), 1.0 if weight is None else weight[known])
    cuts: list[float] = []
    stack = [(0, len(distinct))]
    while stack:
        begin, end = stack.pop()
        part = counts[begin:end]
        if np.count_nonzero(part.sum(axis=0)) < 2 or end - begin < 2:
            continue
        below = np.cumsum(part, axis=0)[:-1]
        above = part.sum(axis=0) - below
        inside = [
            left.sum() * entropy(left) + right.sum() * entropy(right)
            for left, right in zip(below, above, strict=True)
        ]
        best = int(np.flatnonzero(np.isclose(inside, np.min(inside), rtol=1e-12, atol=1e-12))[0])
        if not pays(below[best], above[best]):
            continue
        cut = begin + best + 1
        cuts.append(float(distinct[cut - 1] / 2 + distinct[cut] / 2))
        stack += [(begin, cut), (cut, end)]
    return np.sort(np.array(cuts, np.float64))
