"""Directions in which a node may be cut, by method.

Columns come standardised, one per row; targets are indicators of the classes or outputs. Each
function returns directions, one per row.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

__all__ = ["discriminants", "logistic", "ridge", "sparse_projections"]

Floats = NDArray[np.float64]

SHRINK = 1e-3
"""Share of the mean variance that is added to every variance, for columns that copy others."""


WEAK = 1000.0
"""scikit-learn's C: a penalty so small that classes with a line between them are divided by one."""


def discriminants(columns: Floats, targets: Floats, weight: Floats) -> Floats:
    """Linear discriminants: where class means differ most, measured by the spread within."""
    from scipy.linalg import eigh

    share = weight[:, None] * targets
    total = share.sum(axis=0)
    present = total > 0
    means = (columns @ share[:, present]) / total[present]
    residual = columns - means @ targets[:, present].T
    within = (residual * weight) @ residual.T / weight.sum()
    within += SHRINK * max(np.trace(within) / len(columns), 1e-12) * np.eye(len(columns))
    centre = np.average(means, axis=1, weights=total[present])[:, None]
    between = ((means - centre) * total[present]) @ (means - centre).T / weight.sum()
    vectors = eigh(between, within)[1]
    n_kept = max(1, min(int(present.sum()) - 1, 3, len(columns)))
    return np.asarray(vectors[:, ::-1][:, :n_kept].T)


def ridge(columns: Floats, targets: Floats, weight: Floats) -> Floats:
    """Least squares on every target, coefficients held small."""
    centred = targets - np.average(targets, axis=0, weights=weight)
    moments = (columns * weight) @ columns.T
    moments += SHRINK * weight.sum() * np.eye(len(columns))
    return np.asarray(np.linalg.solve(moments, columns @ (weight[:, None] * centred)).T)


def logistic(columns: Floats, targets: Floats, weight: Floats) -> Floats:
    """Logistic regression on the classes."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    label = targets.argmax(axis=1)
    if len(np.unique(label)) < 2:
        return np.empty((0, len(columns)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a direction need not be the best
        model = LogisticRegression(C=WEAK, max_iter=200).fit(columns.T, label, sample_weight=weight)
    return np.asarray(model.coef_)


def sparse_projections(n_columns: int, n_projections: int, rng: np.random.Generator) -> Floats:
    """Random signs of a few columns each, two on average."""
    chosen = rng.random((n_projections, n_columns)) < 2.0 / n_columns
    chosen[np.arange(n_projections), rng.integers(0, n_columns, n_projections)] = True
    signs = np.where(rng.random(chosen.shape) < 0.5, -1.0, 1.0)
    return np.where(chosen, signs, 0.0)
