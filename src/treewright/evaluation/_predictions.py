"""Predictions: what models said of rows whose truth is known.

The one invariant: the weights of all predictions of one row sum to 1. A row that ten repeats of
cross-validation predicted counts once, not ten times, and intervals know how many rows there were.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Predictions"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Truth and prediction, side by side.

    Parameters
    ----------
    truth, predicted
        Codes into ``classes``, or numbers.
    classes
        The classes; None for numbers.
    proba
        Probability of each class, or a score that orders rows (``is_probability`` is False); None
        where the model gives neither.
    interval
        Lower and upper end around each predicted number, and the chance to cover it that they
        promise; None where the model gives none.
    row
        Row of each prediction, among the rows that were passed in.
    fold
        Which fold predicted it; None for one model.
    weight
        Of each prediction; the sum over a row is 1.
    """

    truth: NDArray[Any]
    predicted: NDArray[Any]
    classes: NDArray[Any] | None = None
    proba: Floats | None = None
    is_probability: bool = True
    interval: Floats | None = None
    row: NDArray[np.int64] | None = None
    fold: NDArray[np.int32] | None = None
    weight: Floats | None = None

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for numbers."""
        return 0 if self.classes is None else len(self.classes)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Place of each prediction's row among the rows that were predicted."""
        if self.row is None:
            return np.arange(len(self))
        return np.unique(self.row, return_inverse=True)[1]

    @cached_property
    def n_rows(self) -> int:
        """Rows that were predicted, each counted once."""
        return int(self.rows.max()) + 1 if len(self) else 0

    @cached_property
    def weights(self) -> Floats:
        """Weight of each prediction."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def confusion(self) -> Floats:
        """Weight of each pair of true and predicted class."""
        k = self.n_classes
        counts = np.bincount(self._cells, self.weights, k * k)
        # sums of tenths are decimal but for their last bits
        return np.asarray(np.round(counts, 9), np.float64).reshape(k, k)

    @property
    def _cells(self) -> NDArray[np.int64]:
        return np.asarray(self.truth.astype(np.int64) * self.n_classes + self.predicted)

    def cell_patterns(self) -> tuple[Any, NDArray[np.int64]]:
        """What rows add to the confusion matrix, and how many rows add the same."""
        from scipy.sparse import csr_matrix

        k = self.n_classes
        if self.weight is None:
            counts = np.bincount(self._cells, minlength=k * k)
            used = np.flatnonzero(counts)
            places = (np.arange(len(used)), used)
            return csr_matrix((np.ones(len(used)), places), (len(used), k * k)), counts[used]
        shape = (self.n_rows, k * k)
        return csr_matrix((self.weights, (self.rows, self._cells)), shape), np.ones(
            self.n_rows, np.int64
        )

    def by_row(self, values: Floats) -> Floats:
        """Values of predictions, of shape (m, q), added up by row with their weights."""
        if self.weight is None and self.row is None:
            return values
        weighted = values * self.weights[:, None]
        return np.column_stack(
            [np.bincount(self.rows, column, self.n_rows) for column in weighted.T]
        )

    def once(self) -> Predictions:
        """With weights that make each row count once, however often it was predicted."""
        times = np.bincount(self.rows, minlength=self.n_rows)
        if (times == 1).all():
            return replace(self, weight=None)
        return replace(self, weight=1.0 / times[self.rows])

    def without_folds(self) -> Predictions:
        """Of one model."""
        return replace(self, row=None, fold=None, weight=None)

    def take(self, places: NDArray[np.int64]) -> Predictions:
        """Some of the predictions, each with the weight 1."""

        def part(values: Any) -> Any:
            return None if values is None else values[places]

        return Predictions(
            self.truth[places],
            self.predicted[places],
            self.classes,
            part(self.proba),
            self.is_probability,
            part(self.interval),
            part(self.row),
            part(self.fold),
        )
