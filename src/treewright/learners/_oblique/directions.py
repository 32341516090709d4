"""Directions in which a node may be cut, by method.

Columns come standardised, one per row, with class codes or numbers and weights; each function
returns directions, one per row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["lda", "logistic", "ridge"]

Floats = NDArray[np.float64]

SHRINK = 1e-3
"""Share of the mean variance that is added to every variance, for columns that copy others."""


WEAK = 1000.0
"""scikit-learn's C: a penalty so small that classes with a line between them are divided by one."""


def _of_node(directions: Callable[[Floats, Floats, Floats], Floats]) -> Callable[..., Floats]:
    """The function over indicators of the classes, or over outputs, as the core calls it."""

    @wraps(directions)
    def call(columns: Floats, y: NDArray[Any], weight: Floats) -> Floats:
        if y.dtype == np.int32:
            targets = (y[:, None] == np.unique(y)).astype(np.float64)
        else:
            targets = y / max(np.abs(y).max(), np.finfo(np.float64).tiny)
        # one order of the rows, however they came, so that sums are rounded alike
        order = np.lexsort([*targets.T, *columns])
        found = directions(columns[:, order], targets[order], weight[order])
        return np.ascontiguousarray(found, np.float64)

    return call


@_of_node
def lda(columns: Floats, targets: Floats, weight: Floats) -> Floats:
    """Linear discriminants: where class means differ most, measured by the spread within."""
    from scipy.linalg import eigh

    share = weight[:, None] * targets
    total = share.sum(axis=0)
    means = (columns @ share) / total
    residual = columns - means @ targets.T
    within = (residual * weight) @ residual.T / weight.sum()
    within += SHRINK * max(np.trace(within) / len(columns), 1e-12) * np.eye(len(columns))
    centre = np.average(means, axis=1, weights=total)[:, None]
    between = ((means - centre) * total) @ (means - centre).T / weight.sum()
    vectors = eigh(between, within)[1]
    n_kept = max(1, min(len(total) - 1, 3, len(columns)))
    return np.asarray(vectors[:, ::-1][:, :n_kept].T)


@_of_node
def ridge(columns: Floats, targets: Floats, weight: Floats) -> Floats:
    """Least squares on every target, coefficients held small."""
    centred = targets - np.average(targets, axis=0, weights=weight)
    moments = (columns * weight) @ columns.T
    moments += SHRINK * weight.sum() * np.eye(len(columns))
    return np.asarray(np.linalg.solve(moments, columns @ (weight[:, None] * centred)).T)


@_of_node
def logistic(columns: Floats, targets: Floats, weight: Floats) -> Floats:
    """Logistic regression on the classes."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a direction need not be the best
        model = LogisticRegression(C=WEAK, max_iter=200)
        model.fit(columns.T, targets.argmax(axis=1), sample_weight=weight)
    return np.asarray(model.coef_)
