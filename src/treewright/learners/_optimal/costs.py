"""What leaves cost, in whole numbers.

Errors, weights and squares are scaled by a power of two that is fixed for the fit and rounded
once, so that the search adds integers: two trees are equally good or not, whoever adds up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.optimal import SearchProblem

if TYPE_CHECKING:
    from treewright.estimator.training import Training
    from treewright.learners._optimal.candidates import Candidates

__all__ = ["LeafCosts", "leaf_costs"]

Floats = NDArray[np.float64]

EXACT = 2**20
"""Cost of one error where all are whole: leaves can be told apart below it."""


@dataclass(frozen=True, eq=False)
class LeafCosts:
    """Rows as integers that leaves add up; ``scale`` of them are 1 of the tree's risk.

    Errors are multiples of ``grain``, where all weights and costs are whole numbers.
    """

    values: NDArray[np.int64]
    worst: NDArray[np.int64]
    scale: float
    unit: int
    classes: NDArray[np.int32]
    squares: bool = False
    square_unit: float = 1.0
    grain: int = 1

    def problem(self, candidates: Candidates, leaf_penalty: float) -> SearchProblem:
        """The search for a tree of these tests; a leaf costs at least the least there is."""
        return SearchProblem(
            bins=candidates.bins,
            tests=candidates.tests,
            values=self.values,
            worst=self.worst,
            penalty=max(1, round(min(leaf_penalty * self.scale, 2.0**50))) if leaf_penalty else 1,
            unit=self.unit,
            classes=self.classes,
            squares=self.squares,
            square_unit=self.square_unit,
        )


def leaf_costs(training: Training) -> LeafCosts:
    """Costs of labels, or weights, squares and sums of numbers."""
    if training.target.is_classification:
        return _label_costs(training)
    return _squares(training)


def _label_costs(training: Training) -> LeafCosts:
    n_classes = len(training.target.classes)
    costs = training.costs
    factor = np.ones(n_classes) if costs is None else costs.proba_factor
    loss = 1.0 - np.eye(n_classes)
    if costs is not None and costs.loss is not None:
        loss = costs.loss
    weight = _weights(training)
    each = (factor[:, None] * loss)[training.y] * weight[:, None]
    total = float(each.max(axis=1).sum())
    is_whole = bool(np.all(each == np.rint(each))) and total < 2.0**38
    scale = float(EXACT) if is_whole else _power_below(2.0**58, total)
    values = np.rint(each * scale).astype(np.int64)
    all_alike = costs is None and bool(np.all(weight == 1.0))
    return LeafCosts(
        values=values,
        worst=values.max(axis=1),
        scale=scale * float((weight * factor[training.y]).sum()),
        unit=EXACT if all_alike else 0,
        classes=training.y.astype(np.int32) if all_alike else np.empty(0, np.int32),
        grain=EXACT if is_whole else 1,
    )


def _squares(training: Training) -> LeafCosts:
    weight = _weights(training)
    y = training.y.reshape(training.n_rows, -1)
    y = y / _power_above(float(np.abs(y).max(initial=0.0)))
    # Exact sums: the order of rows must not move the mean.
    total = math.fsum(weight.tolist())
    y = y - [math.fsum((weight * column).tolist()) / total for column in y.T]
    farthest = np.maximum((y - y.min(axis=0)) ** 2, (y - y.max(axis=0)) ** 2).sum(axis=1) * weight
    square = (y**2).sum(axis=1) * weight
    is_whole = bool(np.all(weight == np.rint(weight))) and total < 2.0**50
    scale = min(
        _power_below(2.0**48, float(square.sum())), _power_below(2.0**57, float(farthest.sum()))
    )
    sum_scale = _power_below(2.0**60, float(np.abs(weight[:, None] * y).sum(axis=0).max()))
    weight_scale = 1.0 if is_whole else _power_below(2.0**58, total)
    columns = [weight * weight_scale, square * scale]
    columns.extend(weight * column * sum_scale for column in y.T)
    unit = _power_above(float(np.abs(training.y).max(initial=0.0)))
    return LeafCosts(
        values=np.rint(np.column_stack(columns)).astype(np.int64),
        worst=np.ceil(farthest * scale).astype(np.int64) + 1,
        scale=scale * total * y.shape[1] / unit / unit,
        unit=0,
        classes=np.empty(0, np.int32),
        squares=True,
        square_unit=scale * weight_scale / sum_scale / sum_scale,
    )


def _weights(training: Training) -> Floats:
    weight = training.sample_weight
    return np.ones(training.n_rows) if weight is None else np.asarray(weight, np.float64)


def _power_below(most: float, total: float) -> float:
    """The largest power of two by which ``total`` can be multiplied, within reason."""
    if not total > 0:
        return 1.0
    return float(2.0 ** np.clip(math.floor(math.log2(most / total)), -500, 500))


def _power_above(largest: float) -> float:
    """A power of two that brings ``largest`` to about one."""
    return float(2.0 ** np.clip(np.frexp(largest)[1], -1000, 1000)) if largest > 0 else 1.0
