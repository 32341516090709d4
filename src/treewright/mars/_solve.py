"""Coefficients of a basis by the logistic (multinomial) fit of classes."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from treewright.mars._reduce import DEPENDENT, reduce_rows

__all__ = ["logistic"]

Floats = NDArray[np.float64]

#: Inverse strength of the ridge on the orthonormal basis of a logistic fit: too weak to be seen,
#: but coefficients stay finite where a basis separates the classes.
RIDGE = 1e6


def logistic(matrix: Floats, codes: NDArray[np.int32], weight: Floats, n_classes: int) -> Floats:
    """Coefficients of the log odds: of the second of two classes, or one row per class."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    if matrix.shape[1] == 1:
        share = np.bincount(codes, weight, n_classes) / weight.sum()
        odds = np.log(share)
        return np.array([[odds[1] - odds[0]]]) if n_classes == 2 else (odds - odds.mean())[:, None]
    small = reduce_rows(matrix, np.zeros((len(codes), 1)), np.sqrt(weight))
    r = small.r + np.diag(np.where(np.abs(np.diag(small.r)) < DEPENDENT, 1e300, 0.0))
    unit = np.sqrt(weight.sum())
    # Columns without correlation and of variance 1, whatever the terms are.
    columns = solve_triangular(r, ((matrix[:, 1:] - small.means) / small.scale).T, trans="T").T
    model = LogisticRegression(C=RIDGE, solver="newton-cholesky", tol=1e-14, max_iter=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # separated classes: as far as it goes
        model.fit(columns * unit, codes, sample_weight=weight)
    slopes = solve_triangular(r, model.coef_.T * unit) / small.scale[:, None]
    return np.column_stack([model.intercept_ - small.means @ slopes, slopes.T])
