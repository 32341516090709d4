"""Growing a forest: many trees of one recipe, from samples of one table.

Tree ``k`` of a seed is grown from the rows that ``draw_sample`` gives it and draws its features
with a key of its own, so that a forest does not depend on threads, and one that is grown further
(``first_tree``) equals one grown at once.

Recipes that search by impurity are grown in the core, all trees at once; the others (a Python
chooser, Quinlan's rules, surrogates, gaps that divide) tree by tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.criteria import row_of
from treewright.data.schema import Schema, Target
from treewright.data.table import Table
from treewright.kernels import forest as forest_kernels
from treewright.kernels.forest import draw_sample, strata_draws, tree_seed
from treewright.tree.forest.arrays import Forest, What, leaf_values
from treewright.tree.growing.grow import _core_params, _in_range, grow
from treewright.tree.growing.recipe import ClassCosts, Recipe
from treewright.tree.predict import node_values
from treewright.tree.tree import Tree

__all__ = [
    "Forest",
    "ForestPlan",
    "GrownForest",
    "OutOfBag",
    "Sampling",
    "grow_forest",
    "leaf_values",
]

HIST_ROWS = 10_000
"""Rows from which ``tree_method="auto"`` looks at bins."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sampling:
    """How the rows of a tree are drawn; see :func:`treewright.kernels.forest.draw_sample`.

    ``n_draws`` None takes every row once. ``weight`` are chances of being drawn, apart from the
    weights that rows have once they are drawn (``sample_weight``).
    """

    n_draws: int | Sequence[int] | NDArray[np.int64] | None = None
    replace: bool = True
    weight: Floats | None = None
    strata: NDArray[np.int32] | None = None

    def counts(self, seed: int, tree: int, n_rows: int) -> NDArray[np.int32]:
        """How often each row is in the sample of ``tree``; 0 is out of bag."""
        if self.n_draws is None:
            return np.ones(n_rows, np.int32)
        return draw_sample(
            seed,
            tree,
            n_rows,
            self.n_draws,
            replace=self.replace,
            weight=self.weight,
            strata=self.strata,
        )

    def core_plan(self, n_rows: int) -> dict[str, Any]:
        """The same for the core, after checking that it can be done."""
        draws = None
        if self.n_draws is not None:
            draws = strata_draws(n_rows, self.n_draws, self.replace, self.weight, self.strata)
        return {
            "n_draws": draws,
            "replace": self.replace,
            "chance": self.weight,
            "strata": self.strata,
        }


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """What the trees that did not see a row say of it.

    Parameters
    ----------
    total
        Sums over those trees of class probabilities, of votes, or of values: a row per row of
        the table.
    n_trees
        How many trees that were.
    errors
        Error of the forest of the first 1, 2, … trees grown by the call, over the rows that at
        least one of them did not see: share of wrong labels, or mean squared error.
    """

    total: Floats
    n_trees: NDArray[np.int32]
    errors: Floats


@dataclass(frozen=True, eq=False)
class ForestPlan:
    """What a forest is beside the recipe of its trees.

    Parameters
    ----------
    n_trees, first_tree
        Trees ``first_tree … first_tree + n_trees − 1`` of ``seed`` are grown.
    seed
        Decides every draw, with the number of the tree.
    sampling
        Which rows a tree is grown from.
    tree_method
        ``"exact"`` looks at every cut of a continuous feature, ``"hist"`` at the ends of at most
        255 quantile bins in large nodes and at every cut in small ones; ``"auto"`` takes
        ``"hist"`` for large tables.
    n_threads
        Most threads to use; the forest does not depend on it.
    oob
        None, or what out-of-bag rows get from a tree: ``"probability"``, ``"vote"`` (one for the
        label) or ``"value"`` (regression).
    oob_start
        What earlier trees said of out-of-bag rows, where a forest is grown further.
    progress
        Called from the calling thread with the number of trees that are finished.
    """

    n_trees: int
    first_tree: int = 0
    seed: int = 0
    sampling: Sampling = field(default_factory=Sampling)
    tree_method: Literal["exact", "hist", "auto"] = "auto"
    n_threads: int = 1
    oob: What | None = None
    oob_start: OutOfBag | None = None
    progress: Callable[[int], None] | None = None


@dataclass(frozen=True, eq=False)
class GrownForest:
    """What :func:`grow_forest` returns.

    ``interrupted`` is the exception (KeyboardInterrupt, or one of ``progress``) that ended the
    growth early, for the caller to raise once it has kept the trees; None otherwise.
    """

    forest: Forest
    oob: OutOfBag | None = None
    interrupted: BaseException | None = None


def grow_forest(
    table: Table,
    y: NDArray[Any],
    recipe: Recipe,
    plan: ForestPlan,
    *,
    target: Target,
    sample_weight: Floats | None = None,
    costs: ClassCosts | None = None,
) -> GrownForest:
    """Grow the trees of ``plan``; ``y`` holds class codes (int32) or numbers (float64).

    A row that was drawn twice counts as one row of twice the weight. Trees before the first
    unfinished one are kept when the growth is interrupted.
    """
    in_core = _grows_in_core(recipe, target)
    call = _grow_in_core if in_core else _grow_one_by_one
    return call(table, y, recipe, plan, target, sample_weight, costs)


def _grows_in_core(recipe: Recipe, target: Target) -> bool:
    """Whether the core grows whole forests of this recipe."""
    return (
        recipe.choose is None
        and recipe.quinlan is None
        and row_of(recipe.criterion).in_forests
        and recipe.missing in ("learned", "majority")
        and recipe.threshold == "midpoint"
        and not recipe.intervals
        and not recipe.empty_branches
    )


def _grow_in_core(
    table: Table,
    y: NDArray[Any],
    recipe: Recipe,
    plan: ForestPlan,
    target: Target,
    sample_weight: Floats | None,
    costs: ClassCosts | None,
) -> GrownForest:
    y, unit = _in_range(y, target)
    params = _core_params(table, y, recipe, target, sample_weight, costs, 0, plan.n_threads, None)
    start = plan.oob_start
    arrays, oob, interrupted = forest_kernels.grow_forest(
        table.columns,
        params,
        {
            **plan.sampling.core_plan(table.n_rows),
            "first_tree": plan.first_tree,
            "n_trees": plan.n_trees,
            "seed": plan.seed,
            "exact": plan.tree_method == "exact"
            or (plan.tree_method == "auto" and table.n_rows < HIST_ROWS),
            "progress": plan.progress,
            "oob": plan.oob or "",
            "oob_total": None if start is None else start.total / unit,
            "oob_trees": None if start is None else start.n_trees,
        },
    )
    if unit != 1.0:
        _restore_unit(arrays, oob, unit, row_of(recipe.criterion).unit_power)
    schema = Schema(table.schema.features, table.schema.named, target)
    assert isinstance(recipe.criterion, str)
    forest = Forest(schema, arrays, criterion=recipe.criterion, costs=costs)
    return GrownForest(forest, None if plan.oob is None else OutOfBag(**oob), interrupted)


def _restore_unit(
    arrays: dict[str, NDArray[Any]], oob: dict[str, Any], unit: float, power: int
) -> None:
    """Undo the scaling of numbers near the ends of the float range."""
    arrays["leaf_value"] = arrays["leaf_value"] * unit
    with np.errstate(over="ignore"):  # squares of huge numbers may be infinite
        for name in ("leaf_impurity", "importance"):
            for _ in range(power):
                arrays[name] = arrays[name] * unit
        if oob:
            oob["total"] = oob["total"] * unit
            oob["errors"] = oob["errors"] * unit * unit


def _grow_one_by_one(
    table: Table,
    y: NDArray[Any],
    recipe: Recipe,
    plan: ForestPlan,
    target: Target,
    sample_weight: Floats | None,
    costs: ClassCosts | None,
) -> GrownForest:
    trees: list[Tree] = []
    oob = _Oob(table, y, plan, target) if plan.oob else None
    interrupted: BaseException | None = None
    try:
        for number in range(plan.first_tree, plan.first_tree + plan.n_trees):
            counts = plan.sampling.counts(plan.seed, number, table.n_rows)
            rows = np.flatnonzero(counts)
            weight = counts[rows].astype(np.float64)
            if sample_weight is not None:
                weight *= sample_weight[rows]
            tree = grow(
                table.take(rows),
                y[rows],
                recipe,
                target=target,
                sample_weight=weight,
                costs=costs,
                seed=tree_seed(plan.seed, number),
                n_threads=plan.n_threads,
            )
            if oob is not None:
                oob.add(tree, counts == 0)
            trees.append(tree)
            if plan.progress is not None:
                plan.progress(len(trees))
    except BaseException as error:
        if not trees or not isinstance(error, KeyboardInterrupt):
            raise
        interrupted = error
    result = None if oob is None else oob.result()
    return GrownForest(Forest.from_trees(trees), result, interrupted)


class _Oob:
    """Sums over out-of-bag rows, tree by tree."""

    def __init__(self, table: Table, y: NDArray[Any], plan: ForestPlan, target: Target) -> None:
        self._table, self._y, self._plan, self._target = table, y, plan, target
        width = len(target.classes) if target.is_classification else target.n_outputs
        start = plan.oob_start
        self._total = np.zeros((table.n_rows, width)) if start is None else start.total.copy()
        self._n = np.zeros(table.n_rows, np.int32) if start is None else start.n_trees.copy()
        self._errors: list[float] = []

    def add(self, tree: Tree, out: NDArray[np.bool_]) -> None:
        rows = np.flatnonzero(out)
        assert self._plan.oob is not None
        if len(rows):
            values = leaf_values(tree, self._plan.oob)
            self._total[rows] += node_values(tree, self._table.take(rows), values)
            self._n[rows] += 1
        self._errors.append(self._error())

    def _error(self) -> float:
        known = self._n > 0
        if not known.any():
            return float("nan")
        if self._target.is_classification:
            return float(np.mean(self._total[known].argmax(axis=1) != self._y[known]))
        mean = self._total[known] / self._n[known, None]
        return float(np.mean((mean - self._y[known].reshape(mean.shape)) ** 2))

    def result(self) -> OutOfBag:
        return OutOfBag(self._total, self._n, np.array(self._errors))
