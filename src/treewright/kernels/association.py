"""Tests of independence and the splits they find, behind their checks.

See ``core/ctree/association.hpp`` for what is computed and
``tests/twins/association.py`` for the same in numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.kernels import _core

__all__ = ["Associations", "Associator", "BinarySplit", "Form"]

Form = Literal["quadratic", "maximum"]
Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Begin and end of each node's rows."""


@dataclass(frozen=True, eq=False, slots=True)
class Associations:
    """What the tests of some features found; NaN where there was nothing to test.

    Arrays have one row per node where several were asked for. ``rank`` is that of the
    covariance, the degrees of freedom of the quadratic form.
    ``level_weight`` (nominal features) and ``covariance`` (of the response, flat) are what the
    distribution of the maximum depends on; empty lists unless asked for.
    """

    quadratic: NDArray[np.float64]
    maximum: NDArray[np.float64]
    rank: NDArray[np.int32]
    level_weight: list[NDArray[np.float64]]
    covariance: list[NDArray[np.float64]]


class BinarySplit(NamedTuple):
    """``x <= value``, or the branch (0 or 1) of each code; and the two-sample statistic."""

    statistic: float
    value: float
    codes: tuple[int, ...]
    branches: tuple[int, ...]


class Associator:
    """Tests features of a table against one response, node by node.

    Parameters
    ----------
    columns, n_categories, ordered
        Columns of a table; codes below ``n_categories``, which is 0 for numbers; whether their
        order counts.
    y
        Class codes (int32), or numbers (float64) with one row per row of the table.
    n_classes
        Number of classes; 0 for numbers.
    n_threads
        Threads for large nodes.
    """

    def __init__(
        self,
        columns: Sequence[NDArray[Any]],
        n_categories: Sequence[int],
        ordered: Sequence[bool],
        y: NDArray[Any],
        n_classes: int = 0,
        n_threads: int = 1,
    ) -> None:
        self._n_rows = len(y)
        self._n_features = len(columns)
        for column, count in zip(columns, n_categories, strict=True):
            _check_column(column, count, self._n_rows)
        # Columns of a matrix lie far apart: a copy pays off from the second node on.
        columns = [np.ascontiguousarray(column) for column in columns]
        self._table = (columns, list(n_categories), list(ordered))
        self._n_threads = n_threads
        labels = numbers = None
        if n_classes:
            labels, width = np.ascontiguousarray(y, np.int32), n_classes
            if len(y) and (labels.min() < 0 or labels.max() >= n_classes):
                raise ValueError("a class code is out of range")
        else:
            numbers = np.ascontiguousarray(np.reshape(y, (len(y), -1)), np.float64)
            width = numbers.shape[1]
        self._core = _core.Associator(*self._table, labels, numbers, width, n_threads)

    def against(self, sides: NDArray[np.int32]) -> Associator:
        """The same features with another response, of two classes."""
        if len(sides) != self._n_rows or np.any((sides != 0) & (sides != 1)):
            raise ValueError("sides must be 0 or 1 for every row")
        other = copy(self)
        labels = np.ascontiguousarray(sides, np.int32)
        other._core = _core.Associator(*self._table, labels, None, 2, self._n_threads)
        return other

    def test(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        features: Sequence[int],
        with_covariance: bool = False,
    ) -> Associations:
        """Statistics of the given features over some rows."""
        listed = np.array(features, np.int32)
        return self.test_nodes(rows, weights, _all(rows), listed, with_covariance)

    def test_nodes(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        bounds: Bounds,
        features: NDArray[np.int32],
        with_covariance: bool = False,
    ) -> Associations:
        """The same at several nodes: node i has ``rows[begin[i]:end[i]]``.

        ``features`` has one row per node.
        """
        self._check(rows, weights, features)
        if features.size % max(1, len(bounds[0])):
            raise ValueError("features must be as many for every node")
        features = np.ascontiguousarray(features, np.int32)
        found = self._core.test(rows, weights, *bounds, features, with_covariance)
        for name in ("quadratic", "maximum", "rank"):
            found[name] = found[name].reshape(features.shape)
        return Associations(**found)

    def split(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        feature: int,
        form: Form,
        least_weight: float,
        max_exhaustive: int = 15,
    ) -> BinarySplit | None:
        """The split of one feature with the largest two-sample statistic."""
        features, least = np.array([feature], np.int32), np.array([least_weight], np.float64)
        return self.split_nodes(rows, weights, _all(rows), features, form, least, max_exhaustive)[0]

    def split_nodes(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        bounds: Bounds,
        features: NDArray[np.int32],
        form: Form,
        least_weight: NDArray[np.float64],
        max_exhaustive: int = 15,
    ) -> list[BinarySplit | None]:
        """The same at several nodes, of one feature each."""
        self._check(rows, weights, features)
        if not len(features) == len(least_weight) == len(bounds[0]):
            raise ValueError("every node needs a feature and a least weight")
        features = np.ascontiguousarray(features, np.int32)
        found = self._core.split(
            rows, weights, *bounds, features, form, least_weight, max_exhaustive
        )
        return [
            None if s is None else BinarySplit(s[0], s[1], tuple(s[2]), tuple(s[3])) for s in found
        ]

    def resample(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        features: Sequence[int],
        form: Form,
        n_resamples: int,
        seed: tuple[int, int],
    ) -> NDArray[np.int64]:
        """How many permutations of the response reach each feature's statistic."""
        self._check(rows, weights, features)
        if weights is not None and np.any(weights != np.rint(weights)):
            raise ValueError("weights must be whole numbers to be resampled")
        counts = self._core.resample(rows, weights, list(features), form, n_resamples, *seed)
        return np.asarray(counts, np.int64)

    def _check(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        features: Sequence[int] | NDArray[np.int32],
    ) -> None:
        # whether rows lie in the table is looked at as they are read
        if rows.ndim != 1 or rows.dtype != np.int64:
            raise ValueError("rows must be a vector of int64")
        if weights is not None and weights.shape != rows.shape:
            raise ValueError("weights must have one entry per row")
        listed = np.asarray(features)
        if listed.size and not 0 <= listed.min() <= listed.max() < self._n_features:
            raise ValueError("a feature is out of range")


def _all(rows: NDArray[np.int64]) -> Bounds:
    """All rows as one node."""
    return np.array([0]), np.array([len(rows)])


def _check_column(column: NDArray[Any], n_categories: int, n_rows: int) -> None:
    if column.ndim != 1 or len(column) != n_rows:
        raise ValueError("columns must be one-dimensional and as long as the response")
    if column.dtype == np.int32:
        if n_rows and (column.max() >= n_categories or column.min() < -1):
            raise ValueError("a category code is out of range")
    elif column.dtype not in (np.float32, np.float64):
        raise TypeError("columns must be float32, float64 or int32")
