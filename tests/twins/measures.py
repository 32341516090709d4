"""Numpy twin of ``core/chaid/measure.hpp``: the tests of CHAID.

A table has one row per group. Its columns are class weights, or Σw, Σwy and Σwy². Weights count
as repeated rows. A test gives the statistic, its degrees of freedom and, for F, those of the
error.

References: Kass (1980); Goodman (1979) for row effects.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tests.twins.row_effects import row_effects_deviance

__all__ = ["MEASURES", "TIE", "compare_groups", "is_closer", "order_of", "p_value", "weight_of"]

Floats = NDArray[np.float64]
Tested = tuple[float, float, float]

MEASURES = ("pearson", "likelihood", "row_effects", "f")
"""The measures; a position here is the number that the core knows."""

NOISE = 1e-13
"""A smaller difference from zero is rounding, relative to the size of the sums behind it."""
SMALLEST_P = 1e-290
"""Below this p-values lose digits, and soon all of them."""
TIE = 1e-12
"""Nearer ones are equal, and the first wins."""


def weight_of(measure: str, table: Floats) -> Floats:
    """Weight of each row."""
    return np.asarray(table[:, 0] if measure == "f" else table.sum(axis=1))


def compare_groups(measure: str, table: Floats, scores: Floats) -> Tested:
    """Test whether the rows of a table differ."""
    if measure == "f":
        return _f_test(table)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    n_rows, n_columns = int(np.count_nonzero(rows)), int(np.count_nonzero(columns))
    if measure == "row_effects":
        df = float(max(0, n_rows - 1)) if n_columns > 1 else 0.0
        statistic = float(row_effects_deviance(table, scores)) if df else 0.0
    else:
        df = float(max(0, n_rows - 1) * max(0, n_columns - 1))
        statistic = _chi_squared(measure, table, np.outer(rows, columns) / rows.sum())
    return (statistic if statistic >= NOISE * rows.sum() else 0.0), df, 0.0


def _chi_squared(measure: str, table: Floats, expected: Floats) -> float:
    seen, expected = table[expected > 0], expected[expected > 0]
    if measure == "pearson":
        return float(((seen - expected) ** 2 / expected).sum())
    return float(2.0 * special.xlogy(seen, seen / expected).sum())


def _f_test(table: Floats) -> Tested:
    weight, total, square = table[table[:, 0] > 0].T
    n = len(weight)
    if n < 2:
        return 0.0, 0.0, 0.0
    within = float(np.maximum(square - total * total / weight, 0.0).sum())
    between = float((weight * (total / weight - total.sum() / weight.sum()) ** 2).sum())
    scale, error = NOISE * float(square.sum()), float(weight.sum()) - n
    if between <= scale or error <= 0:
        return 0.0, n - 1.0, error
    if within <= scale:
        return np.inf, n - 1.0, error
    return between / (n - 1) / (within / error), n - 1.0, error


def p_value(measure: str, tested: Tested) -> float:
    """P-value of a test; 1 where there is nothing to test."""
    statistic, df, error = tested
    if df <= 0 or (measure == "f" and error <= 0):
        return 1.0
    if np.isinf(statistic):
        return 0.0
    if measure == "f":
        return float(special.fdtrc(df, error, statistic))
    return float(special.chdtrc(df, statistic))


def is_closer(measure: str, a: Tested, b: Tested) -> bool:
    """Whether pair ``a`` differs less than pair ``b``, by its p-value."""
    p, q = p_value(measure, a), p_value(measure, b)
    if a[1:] == b[1:] or (p < SMALLEST_P and q < SMALLEST_P):
        return a[0] < b[0] * (1 - TIE)
    return p > q * (1 + TIE)


def order_of(measure: str, table: Floats, scores: Floats) -> Floats:
    """A number per row; divisions of a large group in two are cuts in its order."""
    orders: dict[str, Callable[[], Floats]] = {
        "f": lambda: table[:, 1] / table[:, 0],
        "row_effects": lambda: table @ scores / table.sum(axis=1),
    }
    if measure in orders:
        return np.asarray(orders[measure]())
    shares = table / table.sum(axis=1, keepdims=True)
    if table.shape[1] == 2:
        return np.asarray(shares[:, 1])
    # the first principal component of the class shares: Coppersmith, Hong and Hosking (1999)
    weight = table.sum(axis=1) / table.sum()
    centred = shares - weight @ shares
    direction = np.linalg.eigh((centred.T * weight) @ centred)[1][:, -1]
    return np.asarray(centred @ direction)
