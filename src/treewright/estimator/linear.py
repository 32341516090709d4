"""Sums of weighted columns, and the numbers that they are made of.

Matrix products of BLAS add in an order that depends on how many rows there are; here a row has the
same bits alone and among others.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.encode import encode
from treewright.errors import ConversionWarning, DataError

__all__ = ["as_numbers", "shares", "weighted_sums"]

Floats = NDArray[np.float64]

MOST = 1e100
"""Largest number in a linear model; squares and sums of larger ones overflow."""


BLOCK = 16384
"""Rows that are added up at once, so that their sums stay in the cache."""


def weighted_sums(columns: Floats, weights: Floats) -> Floats:
    """For each row of ``weights`` (n_outputs, n_columns) the sum of the weighted columns.

    Parameters
    ----------
    columns
        One per row of the array: (n_columns, n_rows).

    Returns
    -------
    sums
        Of shape (n_rows, n_outputs).

    Examples
    --------
    >>> columns = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> weighted_sums(columns, np.array([[10.0, 1.0]])).tolist()
    [[13.0], [24.0]]
    """
    n_rows = columns.shape[1]
    sums = np.zeros((len(weights), n_rows))
    product = np.empty(min(n_rows, BLOCK))
    for first in range(0, n_rows, BLOCK):
        block = columns[:, first : first + BLOCK]
        part = product[: block.shape[1]]
        for total, own in zip(sums[:, first : first + BLOCK], weights.tolist(), strict=True):
            for column, weight in zip(block, own, strict=True):
                total += np.multiply(column, weight, out=part)
    return sums.T


def shares(scores: Floats) -> Floats:
    """Exponentials of the scores of each row, divided by their sum.

    Examples
    --------
    >>> shares(np.array([[0.0, 0.0], [0.0, np.log(3)]])).round(2).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    each = np.exp(scores - scores.max(axis=1, keepdims=True)).T
    total = each[0].copy()
    for one in each[1:]:  # class by class: numpy's sum has another order for a single row
        total += one
    return np.asarray((each / total).T)


def as_numbers(X: Any, owner: str) -> Any:
    """The columns of any table as a matrix of numbers, sparse if that is; others are refused.

    Parameters
    ----------
    X
        A matrix, frame or Table.
    owner
        Who needs numbers, for the message.

    Examples
    --------
    >>> as_numbers({"a": [1.5, 2.0], "b": [True, False]}, "The model").tolist()
    [[1.5, 1.0], [2.0, 0.0]]
    """
    from scipy.sparse import issparse

    if issparse(X):
        values = X.data
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConversionWarning)  # members said it
            table = encode(X, owner=owner)
        numbers = []
        for feature, column in zip(table.schema.features, table.columns, strict=True):
            if feature.kind == "nominal" and set(feature.categories) <= {False, True}:
                column = np.array([*feature.categories, np.nan])[column]  # a gap is -1, the last
            elif feature.kind != "continuous":
                raise DataError(
                    f"{owner} needs numbers, but column {feature.name!r} holds categories; leave "
                    "it out, or use a model that reads them."
                )
            numbers.append(column)
        X = np.column_stack(numbers).astype(np.float64, copy=False)
        values = X
        if np.isnan(X).any():
            name = table.schema.names[int(np.flatnonzero(np.isnan(X).any(axis=0))[0])]
            raise DataError(
                f"{owner} needs known values, but column {name!r} has gaps; fill them, or use a "
                "model that takes gaps."
            )
    if not np.all(np.abs(values) <= MOST):
        raise DataError(
            f"{owner} needs numbers within ±{MOST:.0e}, got {np.abs(values).max():g}; scale them."
        )
    return X
