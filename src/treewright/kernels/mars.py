"""The forward pass of MARS behind its checks; ``tests/twins/mars.py`` is its twin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels import _core

__all__ = ["ENDS", "FALLING", "LINEAR", "RISING", "ForwardOptions", "ForwardPass", "forward"]

RISING, FALLING, LINEAR = 1, -1, 2

#: Why the pass ended, by the code of the core.
ENDS = {
    1: "max_terms reached",
    2: "no term lowers the residual sum of squares",
    3: "the next term would raise R² by less than thresh",
    4: "the next term would bring GRSq below -10",
    5: "R² came within thresh of 1",
}

Floats = NDArray[np.float64]
Offer = Callable[[Sequence[int]], NDArray[np.bool_]]


@dataclass(frozen=True)
class ForwardOptions:
    """The numbers of the forward pass; see ``core/mars/forward.hpp``."""

    degree: int = 1
    max_terms: int = 21
    penalty: float = 2.0
    thresh: float = 0.001
    minspan: int = 0
    endspan: int = 0
    adjust_endspan: float = 2.0
    fast_k: int = 20
    fast_beta: float = 1.0
    auto_linear: bool = True
    cache_bytes: int = 1 << 29


@dataclass(frozen=True, eq=False)
class ForwardPass:
    """Terms in the order in which they came, without the constant one, which is term 0.

    ``rss`` and ``sizes`` (terms, the constant one included) have one entry per step, and one
    before the first.
    """

    parent: NDArray[np.int32]
    feature: NDArray[np.int32]
    kind: NDArray[np.int32]
    knot: Floats
    slot: NDArray[np.int32]
    rss: Floats
    sizes: NDArray[np.int32]
    end: int


def forward(
    x: Floats,
    y: Floats,
    weight: Floats | None = None,
    copies: Floats | None = None,
    *,
    options: ForwardOptions,
    linear: NDArray[np.bool_] | None = None,
    offer: Offer | None = None,
    n_threads: int = 1,
) -> ForwardPass:
    """Add pairs of hinges to a basis until they no longer pay.

    Parameters
    ----------
    x
        Predictors, one per row of the array: (n_features, n_rows).
    y
        Responses, (n_rows, n_responses).
    weight
        Weights of the rows in the sums of squares, all above zero; None: all one.
    copies
        How many rows each stands for where rows are counted (knots, GCV); None: all one.
    linear
        Predictors that enter without knots.
    offer
        Called with the predictors of each new term; its flags say which predictors may
        multiply it.
    """
    x = np.ascontiguousarray(x, np.float64)
    y = np.ascontiguousarray(y, np.float64)
    if x.ndim != 2 or y.ndim != 2 or y.shape[0] != x.shape[1] or not x.size or not y.size:
        raise ValueError("x must be (n_features, n_rows) and y (n_rows, n_responses)")
    if x.shape[1] >= 2**31:
        raise ValueError("there must be fewer than 2**31 rows")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("x and y must be finite")
    weight, copies = _positive(weight, x.shape[1]), _positive(copies, x.shape[1])
    if linear is not None:
        linear = np.ascontiguousarray(linear, np.bool_)
        if linear.shape != (x.shape[0],):
            raise ValueError("linear must have one flag per feature")
    found: dict[str, Any] = _core.mars_forward(
        x,
        y,
        weight,
        copies,
        linear,
        {**asdict(options), "n_threads": max(1, n_threads)},
        None if offer is None else lambda used: np.ascontiguousarray(offer(used), np.bool_),
    )
    return ForwardPass(**found)


def _positive(values: Floats | None, n_rows: int) -> Floats | None:
    if values is None:
        return None
    values = np.ascontiguousarray(values, np.float64)
    if values.shape != (n_rows,) or not (values > 0).all() or not np.isfinite(values).all():
        raise ValueError("weights must be one finite number above zero per row")
    return values
