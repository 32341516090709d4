"""A least-squares problem made small: after one decomposition the rows are not needed.

All columns but the constant one are centred and scaled, so that a column far from zero keeps its
digits; subsets of terms that hold the constant one have the same fits as before.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Reduced", "one_thread", "reduce_rows"]

Floats = NDArray[np.float64]

DEPENDENT = 1e-12


@dataclass(frozen=True, eq=False)
class Reduced:
    """What least squares needs to know of a basis matrix and its responses.

    Parameters
    ----------
    r
        Triangle of all terms but the constant one.
    right
        Products of its orthonormal basis with the centred responses.
    rest
        Sum of squares that no term explains.
    means, scale
        Of the terms; of the constant one there is none.
    centre
        Means of the responses.
    weight
        Total weight of the rows.
    """

    r: Floats
    right: Floats
    rest: float
    means: Floats
    scale: Floats
    centre: Floats
    weight: float

    def solve(self, kept: Any) -> tuple[Floats, float]:
        """Coefficients (n_outputs, n_kept) of some terms, the constant one first, and their RSS.

        A term that the others explain gets a coefficient of zero.
        """
        own = np.asarray(kept)[1:] - 1
        q, r = np.linalg.qr(self.r[:, own])
        right = q.T @ self.right
        explained = q @ right
        rss = self.rest + float(((self.right - explained) ** 2).sum())
        r = r + np.diag(np.where(np.abs(np.diag(r)) < DEPENDENT, 1e300, 0.0))
        slopes = np.linalg.solve(r, right) / self.scale[own, None]
        return np.column_stack([self.centre - self.means[own] @ slopes, slopes.T]), rss

    def spread(self, terms: Any, coef: Floats) -> float:
        """Standard deviation of a sum of terms, all outputs together; never the constant one."""
        own = np.asarray(terms) - 1
        part = self.r[:, own] @ (coef * self.scale[own]).T
        return float(np.sqrt((part**2).sum() / self.weight))


def reduce_rows(matrix: Floats, y: Floats, root_weight: Floats) -> Reduced:
    """Make the problem small. The first column of ``matrix`` is the constant term."""
    weight = root_weight**2
    total = float(weight.sum())
    means, centre = weight @ matrix[:, 1:] / total, weight @ y / total
    columns = (matrix[:, 1:] - means) * root_weight[:, None]
    scale = np.linalg.norm(columns, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    left = (y - centre) * root_weight[:, None]
    q, r = np.linalg.qr(columns / scale)
    right = q.T @ left
    rest = float(((left - q @ right) ** 2).sum())
    return Reduced(r, right, rest, means, scale, centre, total)


def one_thread() -> AbstractContextManager[Any]:
    """Keep numpy's linear algebra to one thread: several wait for each other on a busy machine."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
