"""Artificial data whose true classes are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.datasets._dataset import Dataset
from treewright.errors import ParameterError

__all__ = ["two_rings"]


def two_rings(
    n: int = 1000, noise: float = 0.1, random_state: int | np.random.RandomState | None = None
) -> Dataset:
    """Circles in a ring and triangles around and inside it, with some labels flipped.

    Half of the points are circles, evenly spread over ``0.5 <= r <= 1``; the others are
    triangles, evenly spread over the rest of the square ``[-1.5, 1.5]²``. A large tree learns
    the flipped labels too: its training error falls while its test error turns up again.

    Parameters
    ----------
    n : int, default=1000
        Number of points; an odd one is a triangle.
    noise : float, default=0.1
        Share of the labels that are flipped.
    random_state : int, RandomState or None, default=None
        Source of the random numbers.

    Returns
    -------
    Dataset
        Features ``x1`` and ``x2``, target ``shape`` with the classes ``circle`` and ``triangle``.

    Examples
    --------
    >>> from treewright.datasets import two_rings
    >>> two_rings(100, random_state=0)
    Dataset('two_rings': 100 rows, 2 features, target 'shape')
    """
    import pyarrow as pa
    from sklearn.utils import check_random_state

    if not isinstance(n, int | np.integer) or n < 2:
        raise ParameterError(f"n must be an integer of at least 2, got {n!r}.")
    if not 0.0 <= noise <= 1.0:
        raise ParameterError(f"noise must be a share between 0 and 1, got {noise!r}.")
    random = check_random_state(random_state)
    n_circles = n // 2
    points = np.vstack([_ring(n_circles, random), _outside_ring(n - n_circles, random)])
    is_circle = np.arange(n) < n_circles
    is_circle[random.permutation(n)[: round(noise * n)]] ^= True
    order = random.permutation(n)
    points, is_circle = points[order], is_circle[order]
    return Dataset(
        name="two_rings",
        data=pa.table({"x1": points[:, 0], "x2": points[:, 1]}),
        target=np.where(is_circle, "circle", "triangle").astype(object),
        target_name="shape",
        DESCR=f"{n} artificial points; the circles lie in a ring, the triangles do not, and "
        f"{round(noise * n)} labels are flipped.\n",
    )


def _ring(n: int, random: np.random.RandomState) -> NDArray[np.float64]:
    # the square of the radius is uniform where the points are evenly spread over the area
    radius = np.sqrt(random.uniform(0.25, 1.0, n))
    angle = random.uniform(0.0, 2.0 * np.pi, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _outside_ring(n: int, random: np.random.RandomState) -> NDArray[np.float64]:
    kept: NDArray[Any] = np.empty((0, 2))
    while len(kept) < n:
        points = random.uniform(-1.5, 1.5, (2 * n, 2))
        radius = np.hypot(points[:, 0], points[:, 1])
        kept = np.vstack([kept, points[(radius < 0.5) | (radius > 1.0)]])
    return kept[:n]
