"""Criteria: what a split is to lower.

One row per criterion: its name, the task, the core's kernel (``core/criteria/``), and its numpy
twin, the impurity by its definition. A new criterion is a header in the core and a row here.

Impurities of classes take counts or probabilities; entropy is in bits.

References: Breiman et al. (1984), chapters 4 and 8; Quinlan (1986) for entropy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treewright.errors import ParameterError

__all__ = ["CRITERIA", "Criterion", "gain", "gain_ratio", "impurity", "split_information"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Criterion:
    """A named criterion.

    ``impurity`` maps rows of class probabilities to one number each (classification), or a
    sample of numbers to one number (regression).
    """

    name: str
    task: Literal["classification", "regression"]
    kernel: str
    impurity: Callable[[Array], Array]
    summary: str


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


CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion
    for criterion in (
        Criterion("gini", "classification", "gini.hpp", _gini, "1 − Σ p²."),
        Criterion("entropy", "classification", "entropy.hpp", _entropy, "−Σ p log2 p, in bits."),
        Criterion("error", "classification", "error.hpp", _error, "1 − max p."),
        Criterion(
            "squared_error", "regression", "squared.hpp", _squared_error, "Variance of the mean."
        ),
        Criterion(
            "absolute_error",
            "regression",
            "absolute.hpp",
            _absolute_error,
            "Mean absolute deviation from the median.",
        ),
        Criterion(
            "poisson", "regression", "poisson.hpp", _poisson, "Half Poisson deviance of the mean."
        ),
    )
}


def _look_up(criterion: str) -> Criterion:
    if criterion not in CRITERIA:
        names = ", ".join(map(repr, CRITERIA))
        raise ParameterError(f"criterion must be one of {names}, got {criterion!r}.")
    return CRITERIA[criterion]


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

    Examples
    --------
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
    """Entropy in bits of the branch sizes (Quinlan 1986)."""
    return impurity(sizes, "entropy")


def gain_ratio(children: Sequence[ArrayLike]) -> float:
    """Information gain over split information; 0 where the split information is 0."""
    information = split_information([float(np.sum(child)) for child in children])
    return gain(children, "entropy") / information if information > 0 else 0.0
