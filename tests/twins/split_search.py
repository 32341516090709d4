"""Twin of the split search: every way to divide a node's rows, scored by definition.

A way is an array of branches, one per row, −1 for a row that takes no part in the score (a gap,
unless ``missing`` gives gaps a side or a branch). Its gain is the cost of the rows together less
the cost of each branch, as a share of the weight of the root; costs are sums over rows in extended
precision. The ways come in the order of the kernel, so that the first of equals is the same:
lower cuts first, gaps on the right before gaps on the left.

Nominal features are divided in all 2^(k-1) − 1 ways, so this is for small data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Target
from treewright.tree.growing.recipe import ClassCosts, Recipe

__all__ = ["Best", "Rows", "best_way", "counted", "gain", "is_admissible", "ways"]

Extended = NDArray[np.longdouble]
Way = NDArray[np.int64]

TIE = 1e-12
"""Relative difference of gains that counts as a tie."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a node: class codes or numbers (one column per output), weights, and how to
    score them. ``total`` is the weight of the root in the units of the criterion; None here.
    """

    y: NDArray[Any]
    weight: NDArray[np.float64]
    target: Target
    recipe: Recipe
    costs: ClassCosts | None = None
    total: float | None = None

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, index: NDArray[Any]) -> Rows:
        """Some of the rows."""
        return Rows(
            self.y[index], self.weight[index], self.target, self.recipe, self.costs, self.total
        )

    def root_weight(self) -> float:
        """Weight of the root in the units of the criterion: class factors count."""
        if self.total is not None:
            return self.total
        return float(
            class_weights(self).sum() if self.target.is_classification else self.weight.sum()
        )

    def scale(self) -> Any:
        """Magnitude of the sums behind a gain: the weight of classes, the cost of numbers."""
        return class_weights(self).sum() if self.target.is_classification else self.cost()

    def cost(self) -> np.longdouble:
        """Impurity times weight; infinite if the criterion cannot describe the rows."""
        if self.target.is_classification:
            return np.longdouble(_CLASS_COSTS[_name(self)](class_weights(self), self.costs))
        outputs = self.y.reshape(len(self), -1).astype(np.longdouble).T
        costs = [_NUMBER_COSTS[_name(self)](y, self.weight) for y in outputs]
        return np.longdouble(sum(costs) / len(costs))


@dataclass(frozen=True, eq=False)
class Best:
    """The winning way of one feature; ``scale`` is what the rounding of gains is relative to."""

    gain: float
    way: Way
    scale: float

    @property
    def is_zero(self) -> bool:
        """Whether the gain is no more than rounding."""
        return self.gain <= 8e-15 * self.scale

    @property
    def is_negative(self) -> bool:
        """Whether it is less than nothing, by more than rounding."""
        return self.gain < -8e-15 * self.scale


def _name(rows: Rows) -> str:
    if rows.costs is not None and rows.costs.generalized:
        return "generalized_gini"
    assert isinstance(rows.recipe.criterion, str)
    return rows.recipe.criterion


# -- costs ---------------------------------------------------------------------------------


def class_weights(rows: Rows) -> Extended:
    """Weight of each class times its factor."""
    x = np.zeros(len(rows.target.classes), np.longdouble)
    np.add.at(x, rows.y, rows.weight.astype(np.longdouble))
    return x if rows.costs is None else x * rows.costs.split_factor


def _gini(x: Extended, costs: ClassCosts | None) -> Any:
    return x.sum() * (1 - np.square(x / x.sum()).sum())


def _generalized_gini(x: Extended, costs: ClassCosts | None) -> Any:
    assert costs is not None
    assert costs.loss is not None
    p = x / x.sum()
    return x.sum() * (p @ costs.loss.astype(np.longdouble) @ p)


def _entropy(x: Extended, costs: ClassCosts | None) -> Any:
    p = x[x > 0] / x.sum()
    return -x.sum() * (p * np.log2(p)).sum()


def _error(x: Extended, costs: ClassCosts | None) -> Any:
    return x.sum() - x.max()


def _squared(y: Extended, weight: NDArray[np.float64]) -> Any:
    return (weight * np.square(y - (weight * y).sum() / weight.sum())).sum()


def _absolute(y: Extended, weight: NDArray[np.float64]) -> Any:
    # A median is where the cost is least; some row always is one.
    return min((weight * np.abs(y - centre)).sum() for centre in y)


def _poisson(y: Extended, weight: NDArray[np.float64]) -> Any:
    """Half the deviance; rows without any event have no mean to be measured by."""
    mean = (weight * y).sum() / weight.sum()
    if not mean > 0:
        return np.inf
    logs = np.log(np.where(y > 0, y / mean, 1))
    return (weight * (y * logs - y + mean)).sum()


_CLASS_COSTS: dict[str, Callable[[Extended, ClassCosts | None], Any]] = {
    "gini": _gini,
    "generalized_gini": _generalized_gini,
    "entropy": _entropy,
    "error": _error,
}
_NUMBER_COSTS: dict[str, Callable[[Extended, NDArray[np.float64]], Any]] = {
    "squared_error": _squared,
    "absolute_error": _absolute,
    "poisson": _poisson,
}


# -- ways ----------------------------------------------------------------------------------


def is_gap(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are gaps."""
    return np.asarray(np.isnan(column) if column.dtype.kind == "f" else column < 0)


def ways(column: NDArray[Any], feature: Feature, recipe: Recipe) -> Iterator[Way]:
    """Every way to divide the rows by one feature, admissible or not."""
    gaps = is_gap(column)
    known = [_with_gaps(way, gaps) for way in _known_ways(column, gaps, feature, recipe)]
    if gaps.all() or not gaps.any() or recipe.missing not in ("learned", "own_branch"):
        yield from known
    elif recipe.missing == "own_branch":
        for way in known:
            yield np.where(gaps, way.max() + 1, way)
    elif _is_multiway(feature, recipe):
        for way in known:
            yield from (np.where(gaps, branch, way) for branch in range(way.max() + 1))
    else:
        yield from (np.where(gaps, 1, way) for way in known)
        yield np.where(gaps, 1, 0)
        yield from (np.where(gaps, 0, way) for way in known)


def _with_gaps(way: Way, gaps: NDArray[np.bool_]) -> Way:
    return np.where(gaps, -1, way)


def _is_multiway(feature: Feature, recipe: Recipe) -> bool:
    splits = {"nominal": recipe.nominal_split, "ordinal": recipe.ordinal_split}
    return splits.get(feature.kind) == "multiway"


def _known_ways(
    column: NDArray[Any], gaps: NDArray[np.bool_], feature: Feature, recipe: Recipe
) -> Iterator[Way]:
    """Ways of the rows with a value; what stands at gaps is of no account."""
    values = np.unique(column[~gaps])
    if len(values) < 2:
        return
    if _is_multiway(feature, recipe):
        yield np.searchsorted(values, column)
    elif feature.kind != "nominal":
        yield from ((column > value).astype(np.int64) for value in values[:-1])
    else:
        # The last category stays on the right: a way and its mirror image are one.
        for left in product((False, True), repeat=len(values) - 1):
            if any(left):
                chosen = [v for v, goes_left in zip(values, left, strict=False) if goes_left]
                yield 1 - np.isin(column, chosen).astype(np.int64)


# -- scores --------------------------------------------------------------------------------


def gain(rows: Rows, way: Way) -> float:
    """By how much a way lowers the cost, as a share of the root's weight."""
    together = rows.take(way >= 0).cost()
    apart = sum(rows.take(way == branch).cost() for branch in np.unique(way[way >= 0]))
    return float((together - apart) / rows.root_weight())


def counted(gaps: NDArray[np.bool_], feature: Feature, recipe: Recipe) -> NDArray[np.bool_]:
    """Which rows count towards the least size of a leaf: gaps do if they have a side to go to."""
    if recipe.missing == "learned" and not _is_multiway(feature, recipe):
        return np.ones_like(gaps)
    return ~gaps


def is_admissible(rows: Rows, way: Way, counts: NDArray[np.bool_]) -> bool:
    """Whether every branch has the rows and the weight that the recipe asks of a leaf.

    Nothing is asked of a branch where no row counts: the own branch of gaps.
    """
    recipe = rows.recipe
    for branch in np.unique(way[way >= 0]):
        here = way == branch
        if np.isinf(rows.take(here).cost()):
            return False
        part = rows.take(here & counts)
        if not len(part):
            continue
        if len(part) < recipe.min_samples_leaf or part.weight.sum() < recipe.min_weight_leaf:
            return False
    return True


def best_way(rows: Rows, column: NDArray[Any], feature: Feature) -> Best | None:
    """The first way whose gain lies within the tie tolerance of the best; None without any."""
    counts = counted(is_gap(column), feature, rows.recipe)
    scored = [
        (gain(rows, way), way)
        for way in ways(column, feature, rows.recipe)
        if is_admissible(rows, way, counts)
    ]
    if not scored:
        return None
    scale = float(rows.scale() / rows.root_weight())
    highest = max(score for score, _ in scored)
    bar = highest - TIE * abs(highest) - 1e-15 * scale
    score, way = next((score, way) for score, way in scored if score >= bar)
    return Best(score, way, scale)
