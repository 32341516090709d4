"""One tree of C5.0: grown, pruned from below, pruned as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Target
from treewright.data.table import Table
from treewright.pruning._c50 import Prices, local_prune, prune_globally
from treewright.tree.growing.grow import grow, growth_parameters
from treewright.tree.growing.recipe import QuinlanRules, Recipe
from treewright.tree.tree import Tree

__all__ = ["Cases", "TreeSettings", "build_tree", "cases_per_leaf", "settings_of", "tree_recipe"]

Floats = NDArray[np.float64]


OtherPruning = Callable[["Cases", Callable[["Cases"], Tree]], Tree]
"""Makes a pruned tree of cases and of a function that grows one."""


@dataclass(frozen=True)
class TreeSettings:
    """What a tree of C5.0 is built by; see :class:`treewright.C50Classifier`.

    With ``single`` values are compared in single precision. A node lighter than ``least_node`` is
    not split. ``other_pruning`` grows and prunes a tree by a method that is not C5.0's.
    """

    confidence: float = 0.25
    min_items: float = 2.0
    subset: bool = False
    single: bool = False
    global_pruning: bool = True
    least_node: float = 0.0
    min_significance: float | None = None
    n_threads: int = 1
    other_pruning: OtherPruning | None = None


def settings_of(estimator: Any, **more: Any) -> TreeSettings:
    """The settings that an estimator's parameters ask for."""
    return TreeSettings(
        confidence=float(estimator.confidence),
        min_items=float(estimator.min_samples_leaf),
        subset=estimator.subset,
        single=estimator.precision == "single",
        min_significance=estimator.min_significance,
        **more,
    )


@dataclass(frozen=True, eq=False)
class Cases:
    """Rows to build from; ``weight`` is None where all are one."""

    table: Table
    y: NDArray[np.int32]
    target: Target
    weight: Floats | None = None

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(len(self.y) if self.weight is None else self.weight.sum())

    @cached_property
    def values(self) -> tuple[Floats, ...]:
        """Distinct values of each continuous feature, ascending."""
        return tuple(
            np.unique(column[~np.isnan(column)]).astype(np.float64)
            if column.dtype.kind == "f"
            else np.empty(0)
            for column in self.table.columns
        )

    def take(self, rows: NDArray[np.int64] | NDArray[np.int32], weight: Floats | None) -> Cases:
        """Some of the rows, with weights of their own."""
        return Cases(self.table.take(rows), self.y[rows], self.target, weight)


def tree_recipe(settings: TreeSettings, cases: float) -> Recipe:
    """How C5.0 grows: ``cases`` are those of the whole training set."""
    return Recipe(
        criterion="entropy",
        nominal_split="multiway",
        ordinal_split="cut",
        continuous_split="at_most",
        threshold="data_value32" if settings.single else "data_value",
        empty_branches=True,
        missing="fractional",
        min_weight_leaf=max(settings.min_items, settings.least_node / 2),
        min_significance=settings.min_significance,
        slack=1e-6,
        pure_share=0.001,
        quinlan=QuinlanRules(
            min_items=settings.min_items,
            subset=settings.subset,
            tolerance=1e-9,
            c50=True,
            cases=cases,
        ),
    )


def build_tree(
    cases: Cases,
    settings: TreeSettings,
    *,
    grow_again: bool = True,
    progress: Callable[[float], None] | None = None,
    prices: Prices | None = None,
) -> Tree:
    """Grow and prune a tree, but do not pool its leaves.

    ``grow_again`` says whether raised branches are grown anew. With ``prices`` the tree is grown
    from cases weighted by them and pruned by cost, with the weights as they were.
    """
    own_weight = cases.weight
    if prices is not None:
        weight = np.ones(len(cases.y)) if own_weight is None else own_weight
        cases = replace(cases, weight=weight * prices.factor[cases.y])
    recipe = tree_recipe(settings, cases.total)
    growth = growth_parameters(
        cases.table,
        cases.y,
        recipe,
        target=cases.target,
        sample_weight=cases.weight,
        n_threads=settings.n_threads,
        cut_values=cases.values,
    )

    def grown(of: Cases) -> Tree:
        return grow(
            of.table,
            of.y,
            recipe,
            target=of.target,
            sample_weight=of.weight,
            n_threads=settings.n_threads,
            progress=progress,
        )

    if settings.other_pruning is not None:
        return settings.other_pruning(cases, grown)
    tree = local_prune(
        grown(cases),
        cases.table,
        cases.y,
        own_weight,
        confidence=settings.confidence,
        min_items=settings.min_items if grow_again else 0.0,
        growth=growth if grow_again else None,
        prices=prices,
    )
    if settings.global_pruning:
        tree = prune_globally(tree, cases.table, cases.y, own_weight, settings.n_threads)
    return tree


def cases_per_leaf(tree: Tree) -> float:
    """Mean weight of the leaves of a tree that was not pooled yet, empty ones left out."""
    return float(tree.weight[0] / np.count_nonzero(tree.is_leaf & (tree.weight > 0)))
