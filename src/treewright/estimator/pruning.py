"""From ``pruning``, ``ccp_alpha``, ``cp``, ``cv`` and ``rule`` to a pruned tree.

``cp`` orders the nested subtrees by rpart's rule and counts in root risks, ``ccp_alpha`` by
the exact weakest link and in the unit of the risk; the rest is one path for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from treewright.errors import ModelFileError, ParameterError
from treewright.estimator.costs import root_risk
from treewright.estimator.folds import n_folds, row_splits
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.data.table import Table
    from treewright.estimator.progress import Progress
    from treewright.estimator.training import Training
    from treewright.pruning import CpTable, CrossValidatedErrors, PruningSequence, SizeCurve

__all__ = [
    "Pruned",
    "check_pruning",
    "complexity_table",
    "held_out_curve",
    "leaf_price",
    "n_trees",
    "plot_sizes",
    "prune",
    "restored_table",
]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pruned:
    """A pruned tree, the complexity table of the grown one if it was made, and the alpha."""

    tree: Tree
    table: CpTable | None = None
    alpha: float = 0.0


def check_pruning(estimator: Any) -> None:
    """Refuse parameters that contradict each other."""
    given = [
        name for name, off in (("ccp_alpha", 0.0), ("cp", None)) if getattr(estimator, name) != off
    ]
    if len(given) == 2:
        raise ParameterError(
            "ccp_alpha and cp both set the strength of pruning, "
            f"got {estimator.ccp_alpha!r} and {estimator.cp!r}; give one of them."
        )
    if given and estimator.pruning != "cost_complexity":
        raise ParameterError(
            f'{given[0]} belongs to pruning="cost_complexity", got pruning='
            f"{estimator.pruning!r} beside it; drop one of them."
        )


def prune(
    estimator: Any, tree: Tree, training: Training, progress: Progress | None = None
) -> Pruned:
    """Cut a grown tree back as the estimator's parameters ask."""
    if callable(estimator.pruning):
        return Pruned(_prune_by(estimator.pruning, tree))
    strength = estimator.ccp_alpha if estimator.cp is None else estimator.cp
    if estimator.pruning is None or (estimator.cp is None and strength == 0.0):
        return Pruned(tree)
    from treewright.pruning import CpTable

    sequence = _sequence(estimator, tree)
    unit = 1.0 if estimator.cp is None else abs(sequence.root_risk)
    if strength != "cv":
        alpha = float(strength) * unit
        table = CpTable.from_sequence(sequence.above(alpha))
    elif not sequence.root_error > 0:
        # A root without error has nothing to prune, and nothing that errors are relative to.
        alpha, table = 0.0, CpTable.from_sequence(sequence)
    else:
        errors = _cross_validate(estimator, sequence, training, progress)
        table = CpTable.from_sequence(sequence, errors)
        alpha = table.best(estimator.rule).cp * abs(sequence.root_risk)
    return Pruned(tree.collapse(sequence.collapsed(alpha)), table, alpha)


def complexity_table(estimator: Any, tree: Tree, training: Training | None = None) -> CpTable:
    """The complexity table of a grown tree, with cross-validated errors if data are given."""
    from treewright.pruning import CpTable

    sequence = _sequence(estimator, tree)
    strength = estimator.ccp_alpha if estimator.cp is None else estimator.cp
    if strength != "cv" and strength > 0:
        unit = 1.0 if estimator.cp is None else abs(sequence.root_risk)
        sequence = sequence.above(float(strength) * unit)
    if training is None or not sequence.root_error > 0:
        return CpTable.from_sequence(sequence)
    errors = _cross_validate(estimator, sequence, training, None)
    return CpTable.from_sequence(sequence, errors)


def restored_table(columns: Any) -> CpTable:
    """A complexity table from the columns that a model file held."""
    from treewright.pruning import CpTable

    if type(columns) is not dict or set(columns) != {field.name for field in fields(CpTable)}:
        raise ModelFileError("its complexity table is incomplete")
    arrays = [column for column in columns.values() if isinstance(column, np.ndarray)]
    if any(array.ndim != 1 or len(array) != len(arrays[0]) for array in arrays):
        raise ModelFileError("the columns of its complexity table differ in length")
    return CpTable(**columns)


def plot_sizes(table: CpTable, risk: Any, ax: Any) -> Any:
    """Training and, if there is any, cross-validated error against the number of leaves."""
    from treewright.pruning import CostComplexityPath

    path = CostComplexityPath(
        alphas=table.cp[::-1],
        n_leaves=table.n_leaves[::-1],
        risks=table.rel_error[::-1],
        risk=risk,
        errors=None if table.xerror is None else table.xerror[::-1],
        errors_std=None if table.xstd is None else table.xstd[::-1],
    )
    return path.plot(ax)


def leaf_price(estimator: Any, training: Training) -> float:
    """What a leaf costs where the strength of pruning is known before growth; else −1.

    Growth then leaves out what pruning would cut. Not so in best-first growth, where a leaf
    that is cut is free for another node.
    """
    strength = estimator.ccp_alpha if estimator.cp is None else estimator.cp
    if (
        strength in ("cv", 0.0)
        or estimator.pruning_risk != "error"
        or estimator.max_leaf_nodes is not None
        or estimator.criterion in ("absolute_error", "poisson")
    ):
        return -1.0
    # A little less than the price, because risks are sums of rounded numbers.
    price = float(strength) * (1.0 - 1e-9)
    return price if estimator.cp is None else price * _root_risk(training)


def n_trees(estimator: Any) -> int:
    """Trees that a fit grows."""
    return 1 + n_folds(estimator.cv) if "cv" in (estimator.ccp_alpha, estimator.cp) else 1


def _prune_by(pruner: Any, tree: Tree) -> Tree:
    pruned = pruner(tree)
    if not isinstance(pruned, Tree):
        raise ParameterError(
            f"pruning must be a function that returns a Tree, got {type(pruned).__name__} "
            "from it; return what a function of treewright.pruning returns."
        )
    return pruned


def _sequence(estimator: Any, tree: Tree) -> PruningSequence:
    from treewright.pruning import pruning_sequence

    return pruning_sequence(
        tree, estimator.pruning_risk, "exact" if estimator.cp is None else "rpart"
    )


def _cross_validate(
    estimator: Any, sequence: PruningSequence, training: Training, progress: Progress | None
) -> CrossValidatedErrors:
    from treewright.pruning import cross_validated_errors

    price = leaf_price(estimator, training)

    def grow(rows: Rows) -> Tree:
        if progress is not None:
            progress.next_part()
        part = training.take(rows)
        recipe = replace(estimator._recipe(part), leaf_price=price)
        grown: Tree = estimator._grow(part, progress, recipe)
        return grown

    return cross_validated_errors(
        sequence,
        training.table,
        row_splits(estimator.cv, training, estimator.random_state),
        grow,
        _loss(estimator, training),
        training.sample_weight,
    )


def _loss(estimator: Any, training: Training) -> Any:
    """Loss of held-out rows, in the unit of the tree's risk."""
    costs = training.costs
    if training.target.is_classification and costs is not None:
        return _row_loss(estimator, training.y, costs.loss, costs.proba_factor)
    return _row_loss(estimator, training.y)


def _row_loss(estimator: Any, y: NDArray[Any], costs: Any = None, factor: Any = None) -> Any:
    """Loss of rows with target ``y`` (class codes are integers) that end at given nodes."""
    from treewright.pruning import class_loss, squared_loss

    if y.dtype == np.int32:
        return class_loss(y, costs, factor)
    if estimator.criterion in _LOSSES:
        return _number_loss(y, _LOSSES[estimator.criterion])
    return squared_loss(y)


def held_out_curve(
    estimator: Any, tree: Tree, table: Table, y: NDArray[Any], weight: Floats | None
) -> SizeCurve:
    """Error of the subtrees of ``tree`` on rows that did not grow it."""
    from treewright.pruning import size_curve

    factor = np.asarray(tree.schema.target.class_factor) if tree.schema.target else None
    loss = _row_loss(
        estimator,
        y,
        getattr(estimator, "cost_matrix_", None),
        factor if factor is not None and len(factor) else None,
    )
    return size_curve(tree, table, loss, weight, estimator.pruning_risk)


def _absolute(y: Floats, value: Floats, weight: Floats) -> Floats:
    return np.abs(y - value)


def _poisson(y: Floats, value: Floats, weight: Floats) -> Floats:
    # A leaf without events is taken to have seen half of one: no rate is exactly 0.
    rate = np.maximum(value, 0.5 / weight)
    return np.asarray(xlogy(y, y / rate) - y + rate)


_LOSSES: dict[Any, Callable[[Floats, Floats, Floats], Floats]] = {
    "absolute_error": _absolute,
    "poisson": _poisson,
}


def _number_loss(y: Floats, loss: Callable[[Floats, Floats, Floats], Floats]) -> Any:
    """Loss of rows that end at given nodes; of several outputs, the mean of theirs."""
    target = y.reshape(len(y), -1)

    def rows_at_nodes(tree: Tree, nodes: NDArray[np.int32], rows: Rows) -> Floats:
        weight = tree.weight[nodes]
        columns = [
            loss(target[rows, k][:, None], tree.value[:, k][nodes], weight)
            for k in range(target.shape[1])
        ]
        return np.asarray(sum(columns) / len(columns))

    return rows_at_nodes


def _root_risk(training: Training) -> float:
    if training.target.is_classification:
        return root_risk(training.class_totals(), training.costs)
    y = training.y.reshape(training.n_rows, -1)
    mean = np.average(y, axis=0, weights=training.sample_weight)
    return float(np.average(((y - mean) ** 2).mean(axis=1), weights=training.sample_weight))
