"""The arguments of ``fit``, checked (Sample) and then encoded (Training)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from treewright.data.schema import Target
from treewright.data.target import class_order, class_totals, target_name
from treewright.data.weights import check_lengths, read_weights
from treewright.errors import DataError
from treewright.tree.growing.recipe import ClassCosts, Recipe

if TYPE_CHECKING:
    from treewright.data.table import Table

__all__ = [
    "Sample",
    "Training",
    "check_sample",
    "drawn_seed",
    "seed",
    "threads",
]


@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """Checked arguments of a fit.

    Of the ``n_given`` rows of ``X`` those in the mask ``rows`` take part (None: all of them);
    ``y`` and ``sample_weight`` hold those only. ``class_order`` is the order that the classes
    came with, if they came with one.
    """

    X: Any
    n_given: int
    rows: NDArray[np.bool_] | None
    y: NDArray[Any]
    sample_weight: NDArray[np.float64] | None
    classes: NDArray[Any] | None
    target_name: str
    class_order: tuple[Any, ...] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Training:
    """What a tree is grown from.

    Of the ``n_given`` rows of ``X`` those in the mask ``rows`` take part (None: all of them);
    the table, ``y`` and the weights hold those only.
    """

    table: Table
    y: NDArray[Any]
    sample_weight: NDArray[np.float64] | None
    target: Target
    costs: ClassCosts | None = None
    classes: NDArray[Any] | None = None
    rows: NDArray[np.bool_] | None = None
    n_given: int = 0
    class_order: tuple[Any, ...] | None = None

    @classmethod
    def of(
        cls,
        sample: Sample,
        table: Table,
        sample_weight: NDArray[np.float64] | None,
        target: Target,
        costs: ClassCosts | None = None,
    ) -> Training:
        """A sample and its table, with what the task made of the target."""
        check_lengths(table.n_rows, len(sample.y))
        return cls(
            table=table,
            y=sample.y,
            sample_weight=sample_weight,
            target=target,
            costs=costs,
            classes=sample.classes,
            rows=sample.rows,
            n_given=sample.n_given,
            class_order=sample.class_order,
        )

    @property
    def n_rows(self) -> int:
        """Rows that take part."""
        return self.table.n_rows

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.n_rows if self.sample_weight is None else self.sample_weight.sum())

    def class_totals(self) -> NDArray[np.float64]:
        """Weight of each class."""
        return class_totals(self.y, self.sample_weight, len(self.target.classes))

    def take(self, rows: NDArray[np.int64]) -> Training:
        """Some of the rows; kinds, categories and class factors stay."""
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        return replace(self, table=self.table.take(rows), y=self.y[rows], sample_weight=weight)


def check_sample(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Sample:
    """Read target and weights, and drop the rows of weight zero."""
    if y is None:
        raise DataError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    values, classes = estimator._read_target(y)
    n_given = len(values)
    weight, rows = read_weights(sample_weight, n_given)
    if rows is not None:
        # Before the table is read, which would only see a mask that does not fit.
        check_lengths(_n_rows(X, n_given), n_given)
        values = values[rows]
        if classes is not None:
            present, values = np.unique(values, return_inverse=True)
            values = values.astype(np.int32)
            classes = classes[present]
    order = None if classes is None else class_order(y)
    return Sample(X, n_given, rows, values, weight, classes, target_name(y), order)


def threads(n_jobs: int | None) -> int:
    """Number of threads: None is 1, −1 all that this process may use."""
    if n_jobs is None or n_jobs == 1:
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def seed(estimator: Any, recipe: Recipe) -> int:
    """Seed of the growth; drawn only where something is left to chance."""
    if recipe.splitter == "best" and recipe.max_features is None:
        return 0
    return drawn_seed(estimator.random_state)


def drawn_seed(random_state: Any) -> int:
    """A seed from whatever scikit-learn takes as ``random_state``."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _n_rows(X: Any, otherwise: int) -> int:
    if isinstance(X, Mapping):
        return otherwise
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X) if hasattr(X, "__len__") else otherwise
