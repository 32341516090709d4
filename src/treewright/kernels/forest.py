"""Forest kernels behind their checks: drawing rows, growing, predicting, importances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.kernels.reference import forest as reference

__all__ = ["draw_sample", "tree_seed"]

_MASK = (1 << 64) - 1


def tree_seed(seed: int, tree: int) -> int:
    """The seed of tree number ``tree``: ``grow`` with it draws the features the forest draws."""
    return reference.tree_seed(seed, tree)


def draw_sample(
    seed: int,
    tree: int,
    n_rows: int,
    n_draws: int | Sequence[int] | NDArray[np.int64],
    *,
    replace: bool = True,
    weight: NDArray[np.float64] | None = None,
    strata: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """How often each row is in the sample of a tree.

    Parameters
    ----------
    seed, tree
        Seed of the forest and number of the tree; nothing else decides the draw.
    n_rows
        Rows to draw from.
    n_draws
        Rows drawn; with ``strata`` one number per stratum, or one that all share equally.
    replace
        Whether a row may be drawn more than once.
    weight
        Relative chances of the rows (not negative); None for equal ones.
    strata
        Stratum of each row, ``0 … n − 1``; None for a single one.
    """
    n_strata = 1 if strata is None else int(strata.max(initial=0)) + 1
    draws = np.atleast_1d(np.asarray(n_draws, np.int64))
    if strata is not None and len(draws) == 1 and n_strata > 1:
        draws = draws[0] // n_strata + (np.arange(n_strata) < draws[0] % n_strata)
    if len(draws) != n_strata or np.any(draws < 0):
        raise ParameterError(
            f"n_draws must be one count that is not negative for each of the {n_strata} strata, "
            f"got {draws.tolist()[:10]}."
        )
    available = np.full(1, n_rows) if strata is None else np.bincount(strata, minlength=n_strata)
    if weight is not None:
        if len(weight) != n_rows or not np.all(np.isfinite(weight)) or np.any(weight < 0):
            raise ParameterError("weight must be one finite number, 0 or more, for each row.")
        group = np.zeros(n_rows, np.int32) if strata is None else strata
        available = np.bincount(group, weights=weight > 0, minlength=n_strata)
    lacking = draws > (np.where(available > 0, np.inf, 0) if replace else available)
    if np.any(lacking):
        at = int(np.argmax(lacking))
        raise ParameterError(
            f"n_draws must not exceed the rows that can be drawn, but {draws[at]} are asked of "
            f"{int(available[at])} in stratum {at}; draw fewer, or with replacement."
        )
    return reference.draw_sample(
        seed & _MASK, tree, n_rows, draws, replace=replace, weight=weight, strata=strata
    )
