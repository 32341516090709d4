"""Forest kernels behind their checks: drawing rows, growing, predicting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.kernels import _core, check_growth
from treewright.kernels._core import ForestPredictor

__all__ = [
    "ForestPredictor",
    "code_rows",
    "draw_sample",
    "first_children",
    "grow_forest",
    "oob_importance",
    "shuffled_order",
    "strata_draws",
    "sum_up",
    "tree_seed",
]

_MASK = (1 << 64) - 1


def tree_seed(seed: int, tree: int) -> int:
    """The seed of tree number ``tree``: ``grow`` with it draws the features the forest draws."""
    return _core.tree_seed(seed & _MASK, tree)


def first_children(n_children: NDArray[np.int32]) -> NDArray[np.int32]:
    """First child of each node of a tree in family order, −1 at a leaf."""
    return _core.first_children(n_children)


def sum_up(n_children: NDArray[np.int32], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values over the nodes of a tree, with those of inner nodes the sums of their children."""
    return _core.sum_up(n_children, values)


def code_rows(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.uint8], NDArray[np.float64]] | None:
    """A code for each row and the distinct rows, by their bytes; None if they are over 256."""
    return _core.code_rows(values)


def grow_forest(
    columns: Sequence[NDArray[Any]], params: dict[str, Any], plan: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], BaseException | None]:
    """Grow a forest; see ``core/forest/forest.hpp``.

    Returns its arrays, what out-of-bag rows got, and what ended the growth early.
    """
    check_growth(columns, params)
    n_rows = len(columns[0])
    _check_sampling(plan, n_rows)
    whole = {**plan, "seed": plan["seed"] & _MASK}
    for name, dtype in (("oob_total", np.float64), ("oob_trees", np.int32)):
        if plan[name] is not None:
            whole[name] = np.ascontiguousarray(plan[name], dtype)
            if len(whole[name]) != n_rows:
                raise ValueError(f"{name} must have one entry per row")
    return _core.grow_forest(list(columns), params, whole)


def _check_sampling(plan: Mapping[str, Any], n_rows: int) -> None:
    for name, dtype in (("chance", np.float64), ("strata", np.int32)):
        given = plan[name]
        if given is not None and (given.dtype != dtype or given.shape != (n_rows,)):
            raise ValueError(f"{name} must have one entry of type {dtype.__name__} per row")


def oob_importance(
    n_categories: NDArray[np.int32],
    trees: tuple[NDArray[Any], ...] | list[tuple[Any, ...]],
    rows: NDArray[Any] | tuple[NDArray[Any], ...],
    y: NDArray[Any],
    values: NDArray[np.float64],
    plan: Mapping[str, Any],
    n_threads: int = 1,
) -> NDArray[np.float64]:
    """What each tree loses on rows it did not see when each feature is shuffled among them.

    Parameters
    ----------
    n_categories
        Categories of each feature, −1 for continuous ones.
    trees
        The arrays of a compact forest, or those of each tree; see ``core/forest/importance.hpp``.
    rows, y
        The training rows; class codes (int32) or numbers.
    values
        Probabilities or means of each leaf of the compact forest, or of each node of the trees.
    plan
        The seed and how rows were drawn.
    n_threads
        Most threads to use; the result does not depend on it.
    """
    _check_sampling(plan, len(y))
    is_code = y.dtype == np.int32
    return _core.oob_importance(
        n_categories,
        trees,
        rows,
        np.ascontiguousarray(y) if is_code else None,
        None if is_code else np.ascontiguousarray(y, np.float64).reshape(len(y), -1),
        np.ascontiguousarray(values),
        {**plan, "seed": plan["seed"] & _MASK},
        n_threads,
    )


def shuffled_order(seed: int, tree: int, feature: int, n: int) -> NDArray[np.int64]:
    """The order of ``n`` rows in which :func:`oob_importance` gives them a feature's values."""
    return _core.shuffle(tree_seed(seed, tree), feature, n)


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
    draws = strata_draws(n_rows, n_draws, replace, weight, strata)
    plan = {"n_draws": draws, "replace": replace, "chance": weight, "strata": strata}
    return _core.draw_sample(seed & _MASK, tree, n_rows, plan)


def strata_draws(
    n_rows: int,
    n_draws: int | Sequence[int] | NDArray[np.int64],
    replace: bool,
    weight: NDArray[np.float64] | None,
    strata: NDArray[np.int32] | None,
) -> list[int]:
    """Draws from each stratum, after checking that they can be made."""
    if strata is not None and (len(strata) != n_rows or strata.min(initial=0) < 0):
        raise ParameterError("strata must be one number, 0 or more, for each row.")
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
    return [int(d) for d in draws]
