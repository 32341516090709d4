"""Forest: many trees of one recipe, grown from samples of one table.

Tree ``k`` of a seed is grown from the rows that ``draw_sample`` gives it and draws its features
with a key of its own, so that a forest does not depend on threads, and one that is grown further
(``first_tree``) equals one grown at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema, Target
from treewright.data.table import Table
from treewright.kernels.forest import draw_sample, tree_seed
from treewright.tree.grow import grow
from treewright.tree.predict import apply, node_values
from treewright.tree.recipe import ClassCosts, Recipe
from treewright.tree.tree import Tree

__all__ = ["Forest", "ForestPlan", "GrownForest", "OutOfBag", "Sampling", "grow_forest"]

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
    oob: Literal["probability", "vote", "value"] | None = None
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


class Forest:
    """Trees of one schema, in the order in which they were numbered."""

    def __init__(self, schema: Schema, trees: Sequence[Tree]) -> None:
        self.schema = schema
        self._trees = tuple(trees)

    @classmethod
    def from_trees(cls, trees: Sequence[Tree]) -> Forest:
        """A forest of ready trees, of whatever recipe."""
        return cls(trees[0].schema, trees)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self._trees)

    def __len__(self) -> int:
        return self.n_trees

    def tree(self, i: int) -> Tree:
        """Tree ``i`` as an ordinary tree."""
        return self._trees[i]

    def first(self, n_trees: int) -> Forest:
        """The forest of the first ``n_trees`` trees."""
        return Forest(self.schema, self._trees[:n_trees])

    def joined(self, other: Forest) -> Forest:
        """This forest's trees, then those of ``other``."""
        return Forest(self.schema, self._trees + other._trees)

    def predict(
        self,
        table: Table,
        what: Literal["probability", "vote", "value"],
        n_threads: int = 1,
    ) -> Floats:
        """Mean over the trees of class probabilities, votes or values: a row per row."""
        total: Floats | None = None
        for tree in self._trees:
            part = node_values(tree, table, leaf_values(tree, what), n_threads)
            total = part if total is None else total + part
        assert total is not None
        return total / self.n_trees

    def apply(self, table: Table, n_threads: int = 1) -> NDArray[np.int32]:
        """Node of every tree where each row ends: rows × trees."""
        return np.column_stack([apply(tree, table, n_threads) for tree in self._trees])

    def feature_importances(self) -> Floats:
        """Decrease of impurity by feature, one row per tree, each of sum 1 (or all zero)."""
        return np.array([tree.feature_importances() for tree in self._trees])


def leaf_values(tree: Tree, what: str) -> Floats:
    """What a row gets from each node of a tree where it may end."""
    if what == "value":
        return tree.value
    if what == "probability":
        return tree.probability
    votes = np.zeros_like(tree.value)
    votes[np.arange(tree.n_nodes), tree.label] = 1.0
    return votes


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
    schema = Schema(table.schema.features, table.schema.named, target)
    return GrownForest(Forest(schema, trees), None if oob is None else oob.result(), interrupted)


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
