"""Criteria: what a split is to lower.

One row per criterion, with everything that is known of it: the task, the core's kernel
(``core/criteria/``), its numpy twin (the impurity by its definition), the loss of a held-out row
and the check of the target. A new criterion is a header in the core and a row here.

Impurities of classes take counts or probabilities; entropy is in bits.

References: Breiman et al. (1984), chapters 4 and 8; Quinlan (1986) for entropy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from treewright.errors import DataError, ParameterError

__all__ = [
    "CRITERIA",
    "Criterion",
    "Loss",
    "gain",
    "gain_ratio",
    "impurity",
    "row_of",
    "split_information",
]

Array = NDArray[np.float64]
Loss = Callable[[Array, Array, Array], Array]
"""Loss of rows with target y in nodes that predict value and hold weight."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """A named criterion.

    Parameters
    ----------
    name
        What users and the core call it.
    task
        What kind of target it is for.
    kernel
        Its header in ``core/criteria/``.
    impurity
        Maps rows of class probabilities to one number each (classification), or a sample of
        numbers to one number (regression).
    summary
        Its formula or meaning.
    loss
        What pruning counts on held-out rows; None for errors and costs of classes, or squared
        errors of numbers, in which weakest-link pruning can be done while growing.
    check
        Refuses a target that it is not for.
    unit_power
        The power of the target's unit that it is measured in.
    in_forests
        Whether the core grows whole forests by it.

    Examples
    --------
    >>> from treewright.criteria import CRITERIA
    >>> CRITERIA["entropy"].task, CRITERIA["entropy"].summary
    ('classification', '−Σ p log2 p, in bits.')
    >>> CRITERIA["poisson"].task
    'regression'
    """

    name: str
    task: Literal["classification", "regression"]
    kernel: str
    impurity: Callable[[Array], Array]
    summary: str
    loss: Loss | None = None
    check: Callable[[Array], None] | None = None
    unit_power: int = 1
    in_forests: bool = True


def _gini(p: Array) -> Array:
    return np.asarray(1.0 - np.square(p).sum(axis=-1))


def _entropy(p: Array) -> Array:
    logs = np.log2(p, out=np.zeros_like(p), where=p > 0)
    return np.asarray(-(p * logs).sum(axis=-1)) + 0.0  # no negative zero


def _error(p: Array) -> Array:
    return np.asarray(1.0 - p.max(axis=-1))


def _squared_error(y: Array) -> Array:
    return np.asarray(np.square(y - y.mean()).mean())


def _absolute_error(y: Array) -> Array:
    return np.asarray(np.abs(y - np.median(y)).mean())


def _poisson(y: Array) -> Array:
    ratio = np.divide(y, y.mean(), out=np.ones_like(y), where=y > 0)
    return np.asarray((y * np.log(ratio)).mean())


def _absolute_loss(y: Array, value: Array, weight: Array) -> Array:
    return np.abs(y - value)


def _poisson_loss(y: Array, value: Array, weight: Array) -> Array:
    # A leaf without events is taken to have seen half of one: no rate is exactly 0.
    rate = np.maximum(value, 0.5 / weight)
    return np.asarray(xlogy(y, y / rate) - y + rate)


def _check_counts(y: Array) -> None:
    if np.any(y < 0) or not np.sum(y) > 0:
        raise DataError(
            'criterion="poisson" needs counts: y must be at least 0 and not all 0, '
            f'got {y.min()} to {y.max()}; use criterion="squared_error".'
        )


CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion
    for criterion in (
        Criterion("gini", "classification", "gini.hpp", _gini, "1 − Σ p²."),
        Criterion("entropy", "classification", "entropy.hpp", _entropy, "−Σ p log2 p, in bits."),
        Criterion("error", "classification", "error.hpp", _error, "1 − max p."),
        Criterion(
            "squared_error",
            "regression",
            "squared.hpp",
            _squared_error,
            "Mean squared deviation from the mean.",
            unit_power=2,
        ),
        Criterion(
            "absolute_error",
            "regression",
            "absolute.hpp",
            _absolute_error,
            "Mean absolute deviation from the median.",
            loss=_absolute_loss,
            in_forests=False,
        ),
        Criterion(
            "poisson",
            "regression",
            "poisson.hpp",
            _poisson,
            "Half Poisson deviance of the mean.",
            loss=_poisson_loss,
            check=_check_counts,
        ),
    )
}


_UNKNOWN = Criterion("", "regression", "", lambda y: y, "", in_forests=False)


def _look_up(criterion: str) -> Criterion:
    if criterion not in CRITERIA:
        names = ", ".join(map(repr, CRITERIA))
        raise ParameterError(f"criterion must be one of {names}, got {criterion!r}.")
    return CRITERIA[criterion]


def row_of(criterion: Any) -> Criterion:
    """What is known of a criterion; an empty row for other names and for the user's own function.

    Parameters
    ----------
    criterion
        A name, or a function of the user's own.

    Examples
    --------
    >>> from treewright.criteria import row_of
    >>> row_of("gini").summary
    '1 − Σ p².'
    >>> row_of("a name of your own").summary
    ''
    """
    return CRITERIA.get(criterion, _UNKNOWN) if isinstance(criterion, str) else _UNKNOWN


def impurity(node: ArrayLike, criterion: str = "gini") -> float:
    """Impurity of a node.

    Parameters
    ----------
    node
        Class counts, or for a regression criterion the target values.
    criterion
        A name in :data:`CRITERIA`.

    Examples
    --------
    >>> from treewright.criteria import impurity
    >>> round(impurity([1, 5]), 3)
    0.278
    >>> round(impurity([1, 5], "entropy"), 2)
    0.65
    """
    row = _look_up(criterion)
    values = np.asarray(node, dtype=np.float64)
    if row.task == "regression":
        return float(row.impurity(values))
    total = values.sum()
    return float(row.impurity(values / total)) if total > 0 else 0.0


def _size(node: ArrayLike, row: Criterion) -> float:
    values = np.asarray(node, dtype=np.float64)
    return float(values.size if row.task == "regression" else values.sum())


def gain(children: Sequence[ArrayLike], criterion: str = "gini") -> float:
    """By how much a split into ``children`` lowers the impurity of their union.

    Parameters
    ----------
    children
        Class counts of each branch, or its target values.
    criterion
        A name in :data:`CRITERIA`.

    Examples
    --------
    >>> from treewright.criteria import gain
    >>> round(gain([[5, 3], [1, 3]]), 4)
    0.0625
    """
    row = _look_up(criterion)
    arrays = [np.asarray(child, dtype=np.float64) for child in children]
    parent = np.concatenate(arrays) if row.task == "regression" else np.sum(arrays, axis=0)
    sizes = np.array([_size(child, row) for child in arrays])
    within = np.array([impurity(child, criterion) for child in arrays])
    return impurity(parent, criterion) - float(sizes @ within / sizes.sum())


def split_information(sizes: ArrayLike) -> float:
    """Entropy in bits of the branch sizes (Quinlan 1986).

    Parameters
    ----------
    sizes
        Rows in each branch, or their weight.

    Examples
    --------
    >>> from treewright.criteria import split_information
    >>> round(split_information([4, 5, 5]), 3)
    1.577
    """
    return impurity(sizes, "entropy")


def gain_ratio(children: Sequence[ArrayLike]) -> float:
    """Information gain over split information; 0 where the split information is 0.

    Parameters
    ----------
    children
        Class counts of each branch.

    Examples
    --------
    >>> from treewright.criteria import gain_ratio
    >>> round(gain_ratio([[0, 4], [2, 3], [3, 2]]), 3)  # outlook of play tennis
    0.156
    """
    information = split_information([float(np.sum(child)) for child in children])
    return gain(children, "entropy") / information if information > 0 else 0.0
