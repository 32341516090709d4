"""Errors of a boosted classifier by round: training, its upper bound, and new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.tree.show.tables import as_frame, html_table, significant, text_table

__all__ = ["ErrorBound", "ErrorCurve"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ErrorBound:
    """Upper bounds of the training error after each round.

    Parameters
    ----------
    product : ndarray of shape (n_rounds,)
        The product over the rounds of 2 sqrt(e (1 - e)), with e the weighted error of a round (of
        what the weights shrink by, where the learning rate is not one).
    exponential : ndarray of shape (n_rounds,)
        exp(-2 g² T) after T rounds, with g the smallest edge so far; never below ``product``.

    Examples
    --------
    >>> from treewright import AdaBoostClassifier, datasets
    >>> rings = datasets.two_rings(300, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=5).fit(rings.data, rings.target)
    >>> bound = model.training_error_bound_
    >>> bool((bound.exponential >= bound.product).all())
    True
    """

    product: Floats
    exponential: Floats


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Share of rows that the first 1, 2, … members together get wrong.

    Parameters
    ----------
    training
        Share of the training rows, after each round.
    bound
        Its upper bounds; None where no bound holds.
    test
        Share of new rows; None where none were given.

    Examples
    --------
    >>> from treewright import AdaBoostClassifier, datasets
    >>> rings = datasets.two_rings(300, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=5).fit(rings.data, rings.target)
    >>> curve = model.error_curve(rings.data, rings.target)
    >>> curve.frame().shape
    (5, 4)
    >>> bool((curve.bound.product >= curve.training).all())
    True
    >>> axes = curve.plot()
    """

    training: Floats
    bound: ErrorBound | None = None
    test: Floats | None = None

    def _columns(self) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {
            "round": np.arange(1, len(self.training) + 1),
            "training": self.training,
        }
        if self.bound is not None:
            columns["bound"] = self.bound.product
        if self.test is not None:
            columns["test"] = self.test
        return columns

    def frame(self) -> Any:
        """One row per round, as a data frame."""
        return as_frame(self._columns())

    def plot(self, ax: Any = None) -> Any:
        """Draw the errors against the rounds.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        from matplotlib import pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        columns = self._columns()
        rounds = columns.pop("round")
        styles = {"training": "-", "bound": ":", "test": "--"}
        for name, values in columns.items():
            ax.plot(rounds, values, styles[name], label=name)
        ax.set_xlabel("rounds")
        ax.set_ylabel("error")
        ax.set_ylim(0.0, max(0.5, float(np.max(self.training)) * 1.1))
        ax.legend()
        return ax

    def _cells(self) -> dict[str, list[str]]:
        columns = self._columns()
        rounds = [str(k) for k in columns.pop("round")]
        return {"round": rounds} | {name: significant(v, 4) for name, v in columns.items()}

    def __str__(self) -> str:
        return text_table(self._cells())

    def _repr_html_(self) -> str:
        return html_table(self._cells(), "Error by round")
