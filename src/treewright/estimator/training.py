"""What a model learns from: the arguments of ``fit``, checked and encoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from treewright.data.schema import Target
from treewright.data.target import class_order, class_totals, output_names, target_name
from treewright.data.weights import Settled, check_lengths, counting_weights, read_weights
from treewright.errors import DataError
from treewright.tree.growing.recipe import ClassCosts, Recipe

if TYPE_CHECKING:
    from treewright.data.table import Table

__all__ = ["Training", "drawn_seed", "read_training", "seed", "threads"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Training:
    """The rows that take part in a fit; those of weight zero are gone.

    Of the ``n_given`` rows of ``X`` those in the mask ``kept`` take part (None: all of them).

    Parameters
    ----------
    table
        Their features. Where an ensemble has members of other libraries: rows as the user
        passed them.
    y
        Codes of ``classes``, or numbers.
    sample_weight
        Their weights, those of their classes included.
    target
        Name, classes and number of outputs.
    costs
        Factors that priors and costs put on the classes.
    classes
        The classes as ``predict`` returns them.
    class_order
        The order that the classes came with, if they came with one.
    """

    table: Table
    y: NDArray[Any]
    sample_weight: NDArray[np.float64] | None
    target: Target
    costs: ClassCosts | None = None
    classes: NDArray[Any] | None = None
    class_order: tuple[Any, ...] | None = None
    kept: Mask | None = None
    n_given: int = 0

    @property
    def n_rows(self) -> int:
        """Rows that take part."""
        return len(self.y)

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


def read_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    encode_rows: Callable[[Mask | None], Any],
) -> Training:
    """Read target, weights and features, without the rows of weight zero.

    Parameters
    ----------
    estimator
        Who learns; it reads the target (see :mod:`treewright.estimator.target`).
    X, y, sample_weight
        As ``fit`` takes them.
    encode_rows
        Makes the table of the rows of ``X`` in a mask, or of all where that is None.
    """
    if y is None:
        raise DataError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    values, classes = estimator._read_target(y)
    n_given = len(values)
    weight, kept = read_weights(sample_weight, n_given)
    if not isinstance(sample_weight, Settled):
        weight = counting_weights(weight)
    if kept is not None:
        # Before the table is read, which would only see a mask that does not fit.
        check_lengths(_n_rows(X, n_given), n_given)
        values = values[kept]
        if classes is not None:
            present, values = np.unique(values, return_inverse=True)
            values = values.astype(np.int32)
            classes = classes[present]
    table = encode_rows(kept)
    check_lengths(_n_rows(table, len(values)), len(values))
    target, weight, costs = estimator._weigh_target(target_name(y), values, classes, weight)
    if target.n_outputs > 1:
        target = replace(target, outputs=output_names(y, target.n_outputs))
    order = None if classes is None else class_order(y)
    return Training(table, values, weight, target, costs, classes, order, kept, n_given)


def threads(n_jobs: int | None) -> int:
    """Number of threads: None is 1, −1 all that this process may use."""
    if n_jobs is None or n_jobs == 1:
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def seed(estimator: Any, recipe: Recipe) -> int:
    """Seed of the growth; drawn only where something is left to chance."""
    draws_sums = recipe.oblique is not None and recipe.oblique.is_random
    if recipe.splitter == "best" and recipe.max_features is None and not draws_sums:
        return 0
    return drawn_seed(estimator.random_state)


def drawn_seed(random_state: Any) -> int:
    """A seed from whatever scikit-learn takes as ``random_state``."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _n_rows(X: Any, otherwise: int) -> int:
    if isinstance(X, Mapping):
        return otherwise
    known = getattr(X, "n_rows", None)  # a Table
    if known is not None:
        return int(known)
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X) if hasattr(X, "__len__") else otherwise
