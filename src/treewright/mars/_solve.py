"""Coefficients of a basis: least squares, and the logistic fit of classes."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

__all__ = ["least_squares", "logistic"]

Floats = NDArray[np.float64]

#: Inverse strength of the ridge on the orthonormal basis of a logistic fit: too weak to be seen,
#: but coefficients stay finite where a basis separates the classes.
RIDGE = 1e6


def least_squares(matrix: Floats, y: Floats, root_weight: Floats) -> Floats:
    """Coefficients (n_outputs, n_terms); the first term is the constant one."""
    means, scale, q, r = _orthonormal(matrix, root_weight)
    weight = root_weight**2
    centre = weight @ y / weight.sum()
    slopes = solve_triangular(r, q.T @ ((y - centre) * root_weight[:, None])) / scale[:, None]
    return np.column_stack([centre - means @ slopes, slopes.T])


def logistic(matrix: Floats, codes: NDArray[np.int32], weight: Floats, n_classes: int) -> Floats:
    """Coefficients of the log odds: of the second of two classes, or one row per class."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    if matrix.shape[1] == 1:
        share = np.bincount(codes, weight, n_classes) / weight.sum()
        odds = np.log(share)
        return np.array([[odds[1] - odds[0]]]) if n_classes == 2 else (odds - odds.mean())[:, None]
    root = np.sqrt(weight)
    means, scale, q, r = _orthonormal(matrix, root)
    unit = np.sqrt(weight.sum())
    model = LogisticRegression(C=RIDGE, solver="newton-cholesky", tol=1e-10, max_iter=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # separated classes: as far as it goes
        model.fit(q / root[:, None] * unit, codes, sample_weight=weight)
    slopes = solve_triangular(r, model.coef_.T * unit) / scale[:, None]
    return np.column_stack([model.intercept_ - means @ slopes, slopes.T])


def _orthonormal(matrix: Floats, root_weight: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Means, lengths and the QR decomposition of all terms but the constant one."""
    weight = root_weight**2
    columns = matrix[:, 1:]
    means = weight @ columns / weight.sum()
    centred = (columns - means) * root_weight[:, None]
    scale = np.linalg.norm(centred, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    q, r = np.linalg.qr(centred / scale)
    diagonal = np.abs(np.diag(r))
    # A term that the others explain gets a coefficient of zero instead of a huge one.
    weak = diagonal < 1e-12
    r = r + np.diag(np.where(weak, 1e300, 0.0))
    return means, scale, q, r
