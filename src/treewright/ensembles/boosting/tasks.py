"""What a booster's scores are about: classes or numbers, one column or several.

An Aim holds the target as the core wants it and knows where scores begin and what they mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from treewright.ensembles.boosting.losses import LOSSES, Loss, class_shares, probabilities
from treewright.errors import DataError

__all__ = ["Aim", "class_aim", "number_aim"]

Floats = NDArray[np.float64]
Own = Callable[[Any, Any], tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class Aim:
    """A loss, and how many columns of scores it has.

    Parameters
    ----------
    name
        The core's name of the loss; ``"given"`` for the user's own.
    n_columns
        Columns of scores: outputs, or classes where there are more than two.
    number
        The loss's own number.
    own
        The user's function.
    """

    name: str
    n_columns: int
    number: float = 0.0
    own: Own | None = None

    @property
    def loss(self) -> Loss | None:
        """The loss of one column; None for multinomial and the user's own."""
        return LOSSES.get(self.name)

    @property
    def is_shared(self) -> bool:
        """Whether all columns have one target (classes)."""
        return self.name == "multinomial"

    def columns(self, y: NDArray[Any]) -> Floats:
        """The target as the core takes it: a row per column of scores, or one for all."""
        values = np.asarray(y, np.float64)
        if self.own is not None and values.ndim == 1 and self.n_columns > 1:
            return np.ascontiguousarray(np.tile(values, (self.n_columns, 1)))
        return np.ascontiguousarray(values.reshape(len(values), -1).T)

    def start(self, y: NDArray[Any], weight: Floats | None) -> Floats:
        """The best constant score of each column."""
        if self.is_shared:
            return class_shares(y, weight, self.n_columns)
        if self.loss is None:
            return np.zeros(self.n_columns)
        each = self.columns(y)
        return np.array([self.loss.start(column, weight, self.number) for column in each])

    def check(self, y: NDArray[Any]) -> None:
        """Refuse a target that the loss cannot have."""
        if self.loss is not None:
            self.loss.check(np.asarray(y, np.float64))

    def slope(self, y: NDArray[Any], score: Floats) -> tuple[Floats, Floats]:
        """Gradient and hessian of the user's own loss, checked; both a row per column."""
        assert self.own is not None
        shown = score[0] if self.n_columns == 1 else score.T
        answer = self.own(y, shown)
        try:
            gradient, hessian = answer
        except (TypeError, ValueError):
            raise DataError(
                "loss must return two arrays, gradient and hessian, got something else; "
                "return them as a pair."
            ) from None
        parts = []
        for name, part in (("gradient", gradient), ("hessian", hessian)):
            try:
                array = np.asarray(part, np.float64)
            except (TypeError, ValueError):
                raise DataError(
                    f"loss must return a {name} of numbers, got {type(part).__name__}; "
                    "return an array of floats."
                ) from None
            if array.shape != shown.shape:
                raise DataError(
                    f"loss must return a {name} of shape {shown.shape}, one number for each "
                    f"score, got shape {array.shape}."
                )
            if not np.all(np.isfinite(array)):
                raise DataError(
                    f"loss must return finite numbers, got a {name} that is NaN or infinite in "
                    f"{int(np.count_nonzero(~np.isfinite(array)))} places; bound it there."
                )
            if name == "hessian" and array.min(initial=0.0) < 0:
                raise DataError(
                    "loss must return hessians of at least 0, got "
                    f"{array.min():.6g}; bound them there."
                )
            parts.append(np.ascontiguousarray(np.atleast_2d(array if array.ndim == 1 else array.T)))
        return parts[0], parts[1]

    def predict(self, score: Floats) -> Floats:
        """Means or values from scores."""
        return score if self.loss is None else self.loss.predict(score)

    def probability(self, score: Floats) -> Floats:
        """Class probabilities from scores, a row per row."""
        if self.n_columns > 1:
            return probabilities(score)
        second = expit(score[:, 0]) if self.loss is None else self.loss.predict(score[:, 0])
        return np.column_stack([1 - second, second])


def class_aim(loss: Any, n_classes: int) -> Aim:
    """The aim of a classifier."""
    if callable(loss):
        return Aim("given", 1 if n_classes == 2 else n_classes, own=loss)
    if loss == "exponential":
        if n_classes > 2:
            raise DataError(
                f'loss="exponential" tells two classes apart, got {n_classes}; use loss="log_loss".'
            )
        return Aim("exponential", 1)
    if n_classes == 2:
        return Aim("logistic", 1)
    return Aim("multinomial", n_classes)


def number_aim(loss: Any, n_outputs: int, numbers: dict[str, float]) -> Aim:
    """The aim of a regressor; ``numbers`` are those of the losses that have one."""
    if callable(loss):
        return Aim("given", n_outputs, own=loss)
    return Aim(loss, n_outputs, numbers.get(loss, 0.0))
