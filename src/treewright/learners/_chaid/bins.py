"""Columns as categories: continuous ones cut at quantiles, coded ones as they are.

The breaks are values of the training data, fixed once for the whole tree: bin k holds the values
above break k − 1 up to and including break k. A weighted row counts as that many rows, and a
strictly increasing transformation of a column changes no bin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.kernels.tables import bin_codes

__all__ = ["CodedFeature", "code_features", "quantile_breaks"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class CodedFeature:
    """A feature as CHAID sees it: codes (−1 is a gap) of ``n_categories`` categories.

    ``breaks`` are the upper ends of all bins but the last of a continuous feature.
    """

    codes: NDArray[np.int32]
    n_categories: int
    is_nominal: bool
    breaks: Floats | None = None

    def boundary(self, below: int, above: int) -> float:
        """The break between two categories that are seen; those between, half to each side."""
        last = (below + above) // 2
        return last + 0.5 if self.breaks is None else float(self.breaks[last])


def code_features(table: Table, n_bins: int, weight: Floats | None) -> list[CodedFeature]:
    """All features of a table as categories."""
    coded = []
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        if feature.kind == "continuous":
            breaks = quantile_breaks(column, n_bins, weight)
            coded.append(CodedFeature(bin_codes(column, breaks), len(breaks) + 1, False, breaks))
        else:
            codes = np.ascontiguousarray(column, np.int32)
            is_nominal = feature.kind == "nominal"
            coded.append(CodedFeature(codes, len(feature.categories), is_nominal))
    return coded


def quantile_breaks(
    column: NDArray[np.floating[Any]], n_bins: int, weight: Floats | None = None
) -> Floats:
    """At most ``n_bins − 1`` values that cut a column into parts of about equal weight.

    Break k is the smallest value with at least k/n_bins of the weight at or below it.

    Examples
    --------
    >>> quantile_breaks(np.array([1.0, 2.0, 2.0, 2.0, 7.0, 9.0, np.nan]), 3)
    array([2.])
    >>> quantile_breaks(np.arange(1.0, 9.0), 4)
    array([2., 4., 6.])
    """
    known = ~np.isnan(column)
    values = column[known]
    n = len(values)
    if n == 0:
        return np.empty(0)
    wanted = np.arange(1, n_bins)
    if weight is None:
        position = -(-wanted * n // n_bins) - 1  # exact: the ceiling in whole numbers
        position = np.unique(np.maximum(position, 0))
        found = np.partition(values, position)[position]
    else:
        order = np.argsort(values, kind="stable")
        total = np.cumsum(weight[known][order])
        position = np.searchsorted(total * n_bins, wanted * total[-1], side="left")
        found = values[order][np.minimum(position, n - 1)]
    breaks = np.unique(found).astype(np.float64)
    return np.asarray(breaks[breaks < values.max()])
