"""Quinlan's choice of a test by its definition; twin of ``core/quinlan/chooser.hpp``.

Gain and split information are in bits per case. Gaps lower the gain by their share and are one
more branch of the split information.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Test", "best_cut", "best_test", "class_weights", "information", "multiway_test"]

Floats = NDArray[np.float64]
APART = 1e-5
EPSILON = 1e-3


@dataclass(frozen=True)
class Test:
    """A test of one feature: its gain, its split information, and the cut of a continuous one."""

    gain: float
    split_info: float
    cut: float = np.nan


def information(weights: Floats) -> float:
    """Σ w · log2(Σ w) − Σ w · log2 w: the entropy of ``weights`` times their sum."""
    positive = weights[weights > 0]
    total = positive.sum()
    return float(total * np.log2(total) - (positive * np.log2(positive)).sum()) if total else 0.0


def class_weights(y: NDArray[np.int32], weight: Floats, n_classes: int) -> Floats:
    """Weight of each class."""
    return np.bincount(y, weight, n_classes).astype(np.float64)


def best_cut(
    x: Floats,
    y: NDArray[np.int32],
    weight: Floats,
    n_classes: int,
    *,
    min_items: float = 2.0,
    tolerance: float = 0.0,
) -> Test | None:
    """The cut with the most gain, charged with the logarithm of the cuts tried, or None."""
    known = ~np.isnan(x)
    order = np.flatnonzero(known)[np.argsort(x[known], kind="stable")]
    cases, everything = weight[order].sum(), weight.sum()
    side = min(max(0.1 * cases / n_classes, min_items), max(min_items, 25.0))
    base = information(class_weights(y[order], weight[order], n_classes)) / cases
    tries, best = 0, None
    for i in range(1, len(order)):
        below, above = order[:i], order[i:]
        if x[below[-1]] >= x[above[0]] - APART:
            continue
        parts = [class_weights(y[rows], weight[rows], n_classes) for rows in (below, above)]
        if min(part.sum() for part in parts) < side - tolerance:
            continue
        tries += 1
        gain = cases / everything * (base - sum(map(information, parts)) / cases)
        if best is None or gain > best.gain + tolerance:
            branches = np.array([*(part.sum() for part in parts), everything - cases])
            middle = 0.5 * (x[below[-1]] + x[above[0]])
            best = Test(gain, information(branches) / everything, middle)
    if best is None:
        return None
    charged = best.gain - np.log2(tries) / everything
    return Test(charged, best.split_info, best.cut) if charged > tolerance else None


def multiway_test(
    codes: NDArray[np.int32],
    y: NDArray[np.int32],
    weight: Floats,
    n_classes: int,
    *,
    min_items: float = 2.0,
    tolerance: float = 0.0,
) -> Test | None:
    """A branch per category; None unless two branches have ``min_items``."""
    known = codes >= 0
    cases, everything = weight[known].sum(), weight.sum()
    parts = [
        class_weights(y[codes == c], weight[codes == c], n_classes) for c in np.unique(codes[known])
    ]
    items = [part.sum() for part in parts]
    if sum(item >= min_items - tolerance for item in items) < 2:
        return None
    base = information(class_weights(y[known], weight[known], n_classes)) / cases
    gain = cases / everything * (base - sum(map(information, parts)) / cases)
    return Test(gain, information(np.array([*items, everything - cases])) / everything)


def best_test(
    tests: list[Test | None],
    few_values: list[bool],
    *,
    ratio: bool = True,
    zero_gain: bool = False,
    tolerance: float = 0.0,
) -> int:
    """The winner among the tests of all features, −1 for none.

    ``few_values`` says which features count in the average gain.
    """
    gains = [t.gain for t, few in zip(tests, few_values, strict=True) if t is not None and few]
    least = np.mean(gains) - EPSILON if gains else np.inf
    flat = EPSILON if zero_gain else tolerance
    winner, most = -1, -EPSILON if zero_gain else 0.0
    for i, test in enumerate(tests):
        if test is None:
            continue
        worth = test.gain if test.split_info > 0 else -EPSILON
        if ratio:
            fair = test.gain >= least and test.split_info > flat
            worth = test.gain / test.split_info if fair else -EPSILON
        if worth > most + tolerance:
            winner, most = i, worth
    return winner
