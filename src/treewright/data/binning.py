"""Continuous columns cut into bins once, before a tree is grown.

Edges are closed on the right: bin ``k`` holds the values above edge ``k − 1`` and up to edge
``k``. They depend on values and weights only, so that repeated rows and weights give the same
bins. (Bins that depend on the classes are cut at each node; see ``core/choose/intervals.hpp``.)

Reference: Dougherty, Kohavi and Sahami (1995), *Supervised and Unsupervised Discretization of
Continuous Features*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.table import Table

__all__ = ["BINNINGS", "bin_codes", "bin_table", "equal_frequency", "equal_width", "table_edges"]

Floats = NDArray[np.float64]


def equal_width(values: Floats, weight: Floats | None, n_bins: int) -> Floats:
    """Edges that divide the range of the values into bins of one width.

    Parameters
    ----------
    values
        Finite numbers.
    weight
        Not used; a range has no weights.
    n_bins
        Number of bins.

    Examples
    --------
    >>> equal_width(np.array([0.0, 1.0, 10.0]), None, 4)
    array([2.5, 5. , 7.5])
    """
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.empty(0)
    share = np.arange(1, n_bins) / n_bins
    edges = low * (1 - share) + high * share  # a difference of the ends might overflow
    return np.unique(edges[(edges >= low) & (edges < high)])


def equal_frequency(values: Floats, weight: Floats | None, n_bins: int) -> Floats:
    """Edges between values such that each bin holds about the same weight.

    A value is never divided, so bins may be heavier than others, or fewer.

    Parameters
    ----------
    values
        Finite numbers.
    weight
        Weight of each; None for ones.
    n_bins
        Number of bins.

    Examples
    --------
    >>> equal_frequency(np.array([1.0, 2.0, 3.0, 4.0]), None, 2)
    array([2.5])
    """
    distinct, where = np.unique(values, return_inverse=True)
    below = np.cumsum(np.bincount(where, weight))
    wanted = below[-1] * np.arange(1, n_bins) / n_bins
    # The first value with enough weight up to it, but for rounding, closes its bin.
    last = np.searchsorted(below, wanted * (1 - 1e-12))
    last = np.unique(last[last < len(distinct) - 1])
    low, high = distinct[last], distinct[last + 1]
    middle = low / 2 + high / 2
    return np.asarray(np.where((middle >= low) & (middle < high), middle, low))


BINNINGS: dict[str, Callable[[Floats, Floats | None, int], Floats]] = {
    "equal_width": equal_width,
    "equal_frequency": equal_frequency,
}
"""Name → function of values, weights and the number of bins that gives the edges."""


def table_edges(
    table: Table, weight: Floats | None, binning: str, n_bins: int
) -> dict[str, Floats]:
    """Edges of every continuous column, by name; gaps take no part."""
    edges = {}
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        if feature.kind != "continuous":
            continue
        values = column.astype(np.float64)
        known = ~np.isnan(values)
        if not known.any():
            edges[feature.name] = np.empty(0)
            continue
        shares = None if weight is None else weight[known]
        edges[feature.name] = BINNINGS[binning](values[known], shares, n_bins)
    return edges


def bin_codes(values: NDArray[Any], edges: Floats) -> NDArray[np.int32]:
    """Bin of each value, −1 for a gap.

    Examples
    --------
    >>> bin_codes(np.array([2.5, 2.6, np.nan]), np.array([2.5]))
    array([ 0,  1, -1], dtype=int32)
    """
    codes = np.searchsorted(edges, values.astype(np.float64), side="left").astype(np.int32)
    codes[np.isnan(values)] = -1
    return codes


def bin_table(table: Table, edges: Mapping[str, Floats]) -> Table:
    """The table with the columns named in ``edges`` as ordinal codes of their bins."""
    if not edges:
        return table
    features, columns = [], []
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        if feature.name in edges:
            cuts = edges[feature.name]
            feature = replace(feature, kind="ordinal", categories=tuple(range(len(cuts) + 1)))
            column = bin_codes(column, cuts)
        features.append(feature)
        columns.append(column)
    schema = Schema(tuple(features), table.schema.named, table.schema.target)
    return Table(schema, table.n_rows, table.has_gaps, tuple(columns))
