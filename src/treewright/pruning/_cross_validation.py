"""Cross-validated errors of the subtrees of a sequence.

Each fold's tree is pruned at complexities that stand for the steps of the full tree: a step
holds from its own alpha up to the next, and its representative is the geometric mean of the
two. Risks are per unit of the weight of the rows, so that the same complexity means the same on
a fold as on all rows (in counts it is scaled by the fold's share of the weight, as rpart does).
Where priors make a fold's rows count for more or less than their weight, complexities are
converted to the unit of that fold's tree.

Breiman et al. (1984), section 3.4.2; the limit above the last step is rpart's, ten root risks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treewright.arguments import FUNCTION, Allowed, array, checked, shown
from treewright.data.table import Table
from treewright.data.weights import read_weights
from treewright.errors import ParameterError
from treewright.pruning._sequence import PruningSequence, pruning_sequence
from treewright.tree.of_model import tree_of
from treewright.tree.predict import reach
from treewright.tree.tree import Tree

__all__ = [
    "CrossValidatedErrors",
    "Loss",
    "class_loss",
    "cross_validated_errors",
    "losses_of",
    "squared_loss",
    "weight_of_rows",
]

Rows = NDArray[np.int64]
Loss = Callable[[Tree, NDArray[np.int32], Rows], NDArray[np.float64]]
"""``loss(tree, nodes, rows)``: loss of each row, predicted by each of its ``nodes``."""

MOST_CELLS = 1 << 22
"""Rows times steps looked at in one go, to bound memory."""


@dataclass(frozen=True, eq=False)
class CrossValidatedErrors:
    """Held-out error of each step relative to the root's training error, and standard error.

    Parameters
    ----------
    error
        One number per step of the sequence.
    std
        Their standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import CARTRegressor
    >>> from treewright.data.encode import encode
    >>> from treewright.pruning import cross_validated_errors, pruning_sequence, squared_loss
    >>> X, y = {"x": [1.0, 2.0, 3.0, 4.0]}, np.array([1.0, 1.0, 5.0, 6.0])
    >>> tree = CARTRegressor().fit(X, y).tree_
    >>> def grow(rows):
    ...     return CARTRegressor().fit({"x": np.array(X["x"])[rows]}, y[rows]).tree_
    >>> folds = [([0, 2], [1, 3]), ([1, 3], [0, 2])]
    >>> table = encode(X, schema=tree.schema)
    >>> sequence = pruning_sequence(tree)
    >>> found = cross_validated_errors(sequence, table, folds, grow, squared_loss(y))
    >>> found.error.round(2).tolist(), found.std.round(2).tolist()
    ([0.87, 0.87, 1.04], [0.64, 0.64, 0.24])
    """

    error: NDArray[np.float64]
    std: NDArray[np.float64]


@checked(
    sequence=Allowed("a PruningSequence", lambda value: isinstance(value, PruningSequence)),
    table=Allowed("an encoded Table", lambda value: isinstance(value, Table)),
    grow=FUNCTION,
    loss=FUNCTION,
)
def cross_validated_errors(
    sequence: PruningSequence,
    table: Table,
    splits: Iterable[tuple[ArrayLike, ArrayLike]],
    grow: Callable[[Rows], Tree],
    loss: Loss,
    sample_weight: NDArray[np.float64] | None = None,
) -> CrossValidatedErrors:
    """Cross-validate every step of a pruning sequence.

    Parameters
    ----------
    sequence
        Steps of the tree grown on all rows; folds are ordered by the same rule and risk.
    table
        All rows.
    splits
        Pairs of training and held-out row numbers.
    grow
        Grows a tree, without pruning, on the given rows.
    loss
        Loss of rows that end at given nodes: :func:`class_loss`, :func:`squared_loss` or
        one's own.
    sample_weight
        Weight of each row; None for 1.

    Returns
    -------
    CrossValidatedErrors
        One error and standard error for each step, in the order of ``sequence``. With losses
        l, weights w and W their sum: Σwl, and √(Σwl² − (Σwl)²/W), over W times the root's error.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import CARTRegressor
    >>> from treewright.data.encode import encode
    >>> from treewright.pruning import cross_validated_errors, pruning_sequence, squared_loss
    >>> X, y = {"x": [1.0, 2.0, 3.0, 4.0]}, np.array([1.0, 1.0, 5.0, 6.0])
    >>> tree = CARTRegressor().fit(X, y).tree_
    >>> folds = [([0, 2], [1, 3]), ([1, 3], [0, 2])]
    >>> def grow(rows):
    ...     return CARTRegressor().fit({"x": np.array(X["x"])[rows]}, y[rows]).tree_
    >>> table = encode(X, schema=tree.schema)
    >>> found = cross_validated_errors(pruning_sequence(tree), table, folds, grow, squared_loss(y))
    >>> found.error.round(2).tolist()
    [0.87, 0.87, 1.04]
    """
    alphas = representative_alphas(sequence)
    total = np.zeros((2, len(alphas)))
    weight_seen = 0.0
    weights = weight_of_rows(sample_weight, table.n_rows)
    for train, held_out in _pairs(splits, table.n_rows):
        weight = weights[held_out]
        tree = tree_of(grow(train))
        total += _fold_losses(tree, sequence, alphas, table, held_out, weight, loss)
        weight_seen += float(weight.sum())
    if not weight_seen > 0:
        raise ParameterError(
            "splits must hold out at least one row of positive weight, got none; "
            "use cv=10 or a list of (train, test) row numbers."
        )
    first, second = total
    spread = np.sqrt(np.maximum(second - first**2 / weight_seen, 0.0))
    scale = weight_seen * (sequence.root_error * unit_of(sequence))
    with np.errstate(divide="ignore", invalid="ignore"):
        return CrossValidatedErrors(error=first / scale, std=spread / scale)


def _pairs(splits: Any, n_rows: int) -> list[tuple[Rows, Rows]]:
    try:
        pairs = [(np.asarray(a, np.int64), np.asarray(b, np.int64)) for a, b in splits]
        is_sound = all(
            part.ndim == 1 and np.all((part >= 0) & (part < n_rows))
            for pair in pairs
            for part in pair
        )
    except (TypeError, ValueError, OverflowError):
        is_sound = False
    if not is_sound:
        raise ParameterError(
            "splits must be a list of pairs of training and held-out row numbers, from 0 to "
            f"{n_rows - 1}, got {shown(splits)}."
        )
    return pairs


def weight_of_rows(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """One weight for each row, zeros too; ones where none were given."""
    if sample_weight is None:
        return np.ones(n_rows)
    read_weights(sample_weight, n_rows)  # refuses what is no weight
    return np.broadcast_to(np.asarray(sample_weight, np.float64), n_rows)


def losses_of(loss: Loss, tree: Tree, nodes: NDArray[np.int32], rows: Rows) -> NDArray[np.float64]:
    """What a loss says of rows and nodes, if it says a number of each."""
    found = loss(tree, nodes, rows)
    if np.shape(found) != nodes.shape:
        raise ParameterError(
            f"loss must give a number for each of {nodes.shape[0]} rows and {nodes.shape[1]} "
            f"nodes, got {shown(found)}."
        )
    return found


def representative_alphas(sequence: PruningSequence) -> NDArray[np.float64]:
    """Geometric mean of each step's alpha and the next; above the last stand ten root risks."""
    limit = max(10.0 * abs(sequence.root_risk), sequence.alphas[-1])  # costs may be negative
    following = np.append(sequence.alphas[1:], limit)
    unit = unit_of(sequence)
    means: NDArray[np.float64] = np.sqrt((sequence.alphas * unit) * (following * unit)) / unit
    return means


def unit_of(sequence: PruningSequence) -> float:
    """The power of two that brings losses near one, so that no bit changes.

    Squares of losses of targets around 1e100, which are squares themselves, would overflow.
    """
    exponent = int(np.frexp(sequence.root_error)[1])
    return float(np.ldexp(1.0, -min(max(exponent, -1000), 1000)))


def _fold_losses(
    tree: Tree,
    sequence: PruningSequence,
    alphas: NDArray[np.float64],
    table: Table,
    rows: Rows,
    weight: NDArray[np.float64],
    loss: Loss,
) -> NDArray[np.float64]:
    """Sums of w·l and w·l² over the held-out rows, for each step; l in units of the root's."""
    node_alpha = pruning_sequence(tree, sequence.risk, sequence.rule).node_alpha
    factor = tree.schema.target.class_factor if tree.schema.target is not None else ()
    if len(factor):
        alphas = alphas / prior_share(tree.value[0], np.asarray(factor))
    sums = np.zeros((2, len(alphas)))
    step = max(1, MOST_CELLS // len(alphas))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        nodes = reach(tree, table.take(part), node_alpha, alphas)
        losses = losses_of(loss, tree, nodes, part)
        part_weight = weight[start : start + step]
        losses = losses * unit_of(sequence)
        sums[0] += part_weight @ losses
        sums[1] += part_weight @ losses**2
    return sums


def prior_share(class_totals: NDArray[np.float64], factor: NDArray[np.float64]) -> float:
    """Weight of rows under the priors over their weight: 1 for all training rows together.

    Risks of a tree are shares of the weight under the priors that its own rows have.
    """
    return float(class_totals @ factor / class_totals.sum())


@checked(
    y=array("an array of class numbers", "iu"),
    costs=array("a matrix of numbers", dimensions=(2,)),
    class_factor=array("an array of a number per class"),
)
def class_loss(
    y: NDArray[np.integer],
    costs: NDArray[np.float64] | None = None,
    class_factor: ArrayLike | None = None,
) -> Loss:
    """Cost of predicting a node's label.

    Parameters
    ----------
    y
        Class index of each row of the table.
    costs
        ``costs[i, j]``: true class i, predicted j; None for 0 and 1. (rpart reads its loss
        matrix the other way round here, and only here: its xerror is that of ``costs.T``.)
    class_factor
        Multiplies the losses of each true class: prior over frequency; None for 1.

    Returns
    -------
    callable
        What :func:`treewright.pruning.cross_validated_errors` and ``size_curve`` take as ``loss``.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import CARTClassifier
    >>> from treewright.datasets import load_play_tennis
    >>> from treewright.pruning import class_loss
    >>> tennis = load_play_tennis()
    >>> tree = CARTClassifier().fit(tennis.data, tennis.target).tree_
    >>> played = (np.asarray(tennis.target) == "Yes").astype(int)
    >>> root = np.zeros((14, 1), np.int32)  # where all rows end
    >>> int(class_loss(played)(tree, root, np.arange(14)).sum())
    5
    """

    n_classes = int(y.max()) + 1
    too_small = costs is not None and (costs.shape[0] != costs.shape[1] or len(costs) < n_classes)
    if too_small or (class_factor is not None and len(np.asarray(class_factor)) < n_classes):
        raise ParameterError(
            f"costs and class_factor must have an entry for each of the {n_classes} classes of y, "
            f"got {shown(costs)} and {shown(class_factor)}."
        )

    def loss(tree: Tree, nodes: NDArray[np.int32], rows: Rows) -> NDArray[np.float64]:
        true = y[rows][:, None]
        label = tree.label[nodes]
        cost = (label != true).astype(np.float64) if costs is None else costs[true, label]
        if class_factor is not None:
            cost = cost * np.asarray(class_factor, np.float64)[true]
        return np.asarray(cost, np.float64)

    return loss


@checked(y=array("an array of finite numbers", dimensions=(1, 2)))
def squared_loss(y: NDArray[np.float64]) -> Loss:
    """Squared error of a node's mean; of several outputs, the mean of theirs.

    Parameters
    ----------
    y
        Target of each row of the table, one column per output if there are several.

    Returns
    -------
    callable
        What :func:`treewright.pruning.cross_validated_errors` and ``size_curve`` take as ``loss``.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import CARTRegressor
    >>> from treewright.pruning import squared_loss
    >>> X, y = {"x": [1.0, 2.0, 3.0, 4.0]}, np.array([1.0, 1.0, 5.0, 6.0])
    >>> tree = CARTRegressor().fit(X, y).tree_
    >>> root = np.zeros((4, 1), np.int32)  # where all rows end
    >>> squared_loss(y)(tree, root, np.arange(4)).ravel().tolist()
    [5.0625, 5.0625, 3.0625, 7.5625]
    """
    target = y.reshape(len(y), -1)

    def loss(tree: Tree, nodes: NDArray[np.int32], rows: Rows) -> NDArray[np.float64]:
        columns = [
            (tree.value[:, k][nodes] - target[rows, k][:, None]) ** 2
            for k in range(target.shape[1])
        ]
        return np.asarray(sum(columns) / len(columns), np.float64)

    return loss
