"""Logarithms of upper tails, also where the probability itself is too small for a float.

scipy's distributions give the tail; where it underflows, the same function is written with
scipy's confluent and Gaussian hypergeometric functions, whose logarithm still fits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

__all__ = ["log_chi2_tail", "log_f_tail"]

Floats = NDArray[np.float64]

SMALLEST = 1e-290
"""Tails below this are computed as logarithms; scipy's lose digits before they reach zero."""


def log_chi2_tail(statistic: ArrayLike, df: ArrayLike) -> Floats:
    """log P(χ² > statistic) with ``df`` degrees of freedom; 0 where there are none.

    Examples
    --------
    >>> log_chi2_tail([3.841459, 5000.0], [1, 3]).round(4).tolist()
    [-2.9957, -2495.967]
    """
    x, df = np.broadcast_arrays(np.asarray(statistic, np.float64), np.asarray(df, np.float64))
    tail = special.chdtrc(np.maximum(df, 1.0), x)
    return _logarithm(np.where(df > 0, tail, 1.0), _chi2_far, x, df)


def log_f_tail(statistic: ArrayLike, df: ArrayLike, df_error: ArrayLike) -> Floats:
    """log P(F > statistic) with ``df`` and ``df_error`` degrees of freedom.

    0 where there are none; −inf where the statistic is infinite.

    Examples
    --------
    >>> log_f_tail([4.0, 1e5], 1, [1e9, 1000.0]).round(4).tolist()
    [-3.09, -2311.2352]
    """
    x, df, error = np.broadcast_arrays(
        *(np.asarray(a, np.float64) for a in (statistic, df, df_error))
    )
    usable = (df > 0) & (error > 0)
    tail = special.fdtrc(np.maximum(df, 1.0), np.where(usable, error, 1.0), x)
    return _logarithm(np.where(usable, tail, 1.0), _f_far, x, df, error)


def _logarithm(tail: Floats, far: Any, *arguments: Floats) -> Floats:
    small = tail < SMALLEST
    result = np.array(np.log(np.where(small, 1.0, tail)))
    if small.any():
        result[small] = far(*(a[small] for a in arguments))
    return result


def _chi2_far(x: Floats, df: Floats) -> Floats:
    # Γ(a, z) = e^−z U(1 − a, 1 − a, z)
    a, z = df / 2, x / 2
    with np.errstate(all="ignore"):
        scaled = np.log(special.hyperu(1 - a, 1 - a, z))
        # for hundreds of degrees of freedom U overflows: the first terms of Γ(a, z) z^(1−a) e^z
        scaled = np.where(np.isfinite(scaled), scaled, (a - 1) * np.log(z) - np.log1p((1 - a) / z))
        return np.asarray(np.where(np.isposinf(x), -np.inf, scaled - z - special.gammaln(a)))


def _f_far(x: Floats, df: Floats, error: Floats) -> Floats:
    # P(F > x) = I_u(a, b) = u^a (1 − u)^b ₂F₁(a + b, 1; a + 1; u) / (a B(a, b))
    a, b = error / 2, df / 2
    with np.errstate(all="ignore"):
        ratio = df * x / error
        u = 1 / (1 + ratio)
        terms = np.log(special.hyp2f1(a + b, 1.0, a + 1, u)) - np.log(a) - special.betaln(a, b)
        far = b * np.log(ratio) - (a + b) * np.log1p(ratio) + terms
    return np.asarray(np.where(np.isposinf(x), -np.inf, far))
