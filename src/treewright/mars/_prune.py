"""Taking terms away again: the best subset of each size, and how they are judged.

Terms are dropped one at a time, each the one whose loss raises the residual sum of squares least,
and moved to the end of the order. Of every size the best of the subsets met on the way is kept:
those are the leading terms of each order, the first order included (Miller's backward elimination
as R's leaps runs it, so subsets need not be nested).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from treewright.mars._reduce import Reduced

__all__ = ["Subsets", "best_subsets", "gcv"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def gcv(rss: Floats | float, n_terms: Floats | Ints | int, n: float, penalty: float) -> Floats:
    """Generalised cross-validation: RSS/n over (1 - C/n)², C = terms + penalty (terms - 1)/2.

    Infinite where C reaches n; a negative penalty makes C zero.
    """
    terms = np.asarray(n_terms, float)
    price = np.zeros_like(terms) if penalty < 0 else terms + penalty * (terms - 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.asarray(rss) / (n * (1 - price / n) ** 2)
    return np.where(price >= n, np.inf, value)


@dataclass(frozen=True, eq=False)
class Subsets:
    """The best subset of each size: ``terms[k]`` has k + 1 terms, the constant one first.

    Parameters
    ----------
    terms
        Places of the terms in the basis, for each size.
    rss, gcv
        Figures of each subset.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import MARSRegressor
    >>> x = np.linspace(0, 10, 101)
    >>> subsets = MARSRegressor().fit(x[:, None], np.abs(x - 4)).subsets_
    >>> [len(terms) for terms in subsets.terms]
    [1, 2, 3]
    """

    terms: tuple[Ints, ...]
    rss: Floats
    gcv: Floats

    def __len__(self) -> int:
        return len(self.terms)


def best_subsets(problem: Reduced, n: float, penalty: float) -> Subsets:
    """The path of subsets."""
    n_terms = len(problem.scale) + 1
    order = np.arange(n_terms)
    best = [np.inf] * n_terms
    chosen: list[Ints] = [order[: k + 1] for k in range(n_terms)]
    low = 1
    for last in range(n_terms, 0, -1):
        q, r = np.linalg.qr(problem.r[:, order[1:] - 1])
        right = q.T @ problem.right
        # of the leading 1, 2, … terms
        rss = problem.rest + np.append(np.cumsum((right**2).sum(1)[::-1])[::-1], 0.0)
        is_first = last == n_terms
        for size in range(1 if is_first else low, last + 1):
            if rss[size - 1] < best[size - 1] * (1 - 1e-10):
                best[size - 1], chosen[size - 1] = float(rss[size - 1]), np.sort(order[:size])
        if last <= 2:
            break
        low = 1 + _weakest(r[: last - 1, : last - 1], right[: last - 1])
        moved = order[low : low + 1]
        order = np.concatenate([order[:low], order[low + 1 : last], moved, order[last:]])
    values = np.array(best)
    return Subsets(tuple(chosen), values, gcv(values, np.arange(1, n_terms + 1), n, penalty))


def _weakest(r: Floats, right: Floats) -> int:
    """Position of the term whose loss raises the sum of squares least."""
    r = r + np.diag(np.where(np.abs(np.diag(r)) < 1e-13, 1e-13, 0.0))
    inverse = solve_triangular(r, np.eye(len(r)))
    loss = ((inverse @ right) ** 2).sum(1) / (inverse**2).sum(1)
    return int(np.argmin(loss))
