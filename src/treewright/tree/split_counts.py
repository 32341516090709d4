"""What passed the splits of a tree, counted at fit, so that a saved model can draw itself.

Of every split about 20 bins of the tested value are kept, each with the weight of the classes (or
of 12 ranges of the target, for numbers). A feature has one axis through the whole tree: equal bins
between its 0.5 % and 99.5 % quantile, stretched to hold all cuts, or its most frequent categories
and one bin for all others. A weighted sum of features has an axis of its own. Of a large tree the
splits with most rows are kept; of a large table every second, third … row is counted, so that it
takes a few hundredths of the time of a fit. A row that went down several branches counts where
its largest part ended.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.kernels import node_counts
from treewright.tree.predict import apply
from treewright.tree.split import NO_CODE, SplitKind
from treewright.tree.tree import Tree

__all__ = ["COUNT_DTYPES", "N_BINS", "QUANTILES", "SplitCounts", "with_counts"]

N_BINS = 20
N_TARGET_BINS = 12
MAX_SPLITS = 300
MAX_ROWS = {"classes": 10_000, "numbers": 50_000}
"""Rows that are counted; of more, every second, third … one, with the weight of all. Shares of
classes ask for few; quantiles of small leaves for many."""
MAX_CELLS = 400_000
MAX_QUANTILE_NODES = 20_000
"""Nodes of a regression tree above which it keeps no quantiles: nobody looks at that many."""
SAMPLE = 4096
"""Values, evenly taken, that the ends of an axis are found from."""
QUANTILES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]

COUNT_DTYPES: dict[str, type[np.generic]] = {
    "node": np.int32,
    "axis": np.int32,
    "counts": np.float32,
    "axis_feature": np.int32,
    "axis_range": np.float64,
    "axis_code_offset": np.int64,
    "axis_codes": np.int32,
    "target_range": np.float64,
}
"""The dtype of every array of :class:`SplitCounts`, in field order."""


@dataclass(frozen=True, eq=False)
class SplitCounts:
    """Counts at splits.

    Parameters
    ----------
    node, axis
        The split nodes, ascending, and the axis of each.
    counts
        Per split a row of ``N_BINS`` bins with the weight of every class, or of every range of
        the target.
    axis_feature, axis_range
        Feature of each axis, −1 for a weighted sum; where it begins and ends.
    axis_code_offset, axis_codes
        Categories of each axis, bin after bin; none for numbers. The last bin holds all others.
    target_range
        Where the ranges of the target begin and end; empty for classes.
    """

    node: Ints
    axis: Ints
    counts: NDArray[np.float32]
    axis_feature: Ints
    axis_range: Floats
    axis_code_offset: NDArray[np.int64]
    axis_codes: Ints
    target_range: Floats

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return SplitCounts, tuple(self.arrays().values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by field name, in field order."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def place(self, node: int) -> int | None:
        """Where a node's counts stand; None if it has none."""
        at = int(np.searchsorted(self.node, node))
        return at if at < len(self.node) and self.node[at] == node else None

    def bins(self, place: int) -> NDArray[np.float64]:
        """Weight by bin and class of the counts at ``place``."""
        return np.asarray(self.counts[place].reshape(N_BINS, -1), np.float64)

    def codes(self, place: int) -> Ints:
        """Categories of the bins at ``place``; none for numbers."""
        axis = self.axis[place]
        return self.axis_codes[self.axis_code_offset[axis] : self.axis_code_offset[axis + 1]]

    def renumbered(self, new_id: Ints, is_leaf: NDArray[np.bool_]) -> SplitCounts | None:
        """The counts of the splits that are left; ``new_id`` is −1 for nodes that are gone."""
        node = new_id[self.node]
        kept = (node >= 0) & ~is_leaf[np.maximum(node, 0)]
        if not kept.any():
            return None
        return replace(self, node=node[kept], axis=self.axis[kept], counts=self.counts[kept])


def with_counts(
    tree: Tree, table: Table, y: NDArray[Any], weight: Floats | None, n_threads: int = 1
) -> Tree:
    """The tree with the counts of its splits and, for numbers, the quantiles of its nodes.

    Parameters
    ----------
    tree
        The tree.
    table, y, weight, n_threads
        Its training data, and most threads to use.
    """
    target = tree.schema.target
    is_class = target is not None and target.is_classification
    step = -(-len(y) // MAX_ROWS["classes" if is_class else "numbers"])
    if step > 1:
        columns = tuple(column[::step] for column in table.columns)
        table = Table(table.schema, len(columns[0]), table.has_gaps, columns)
        y, weight = y[::step], None if weight is None else weight[::step]
    end = apply(tree, table, n_threads)
    extras = dict(tree.extras)
    weight = None if weight is None else np.ascontiguousarray(weight, np.float64)
    if not is_class and tree.n_nodes <= MAX_QUANTILE_NODES:
        outputs = np.asarray(y, np.float64).reshape(len(y), -1)
        extras["quantiles"] = np.hstack(
            [_quantiles(tree, end, np.ascontiguousarray(column), weight) for column in outputs.T]
        )
    first = y if is_class or y.ndim == 1 else np.ascontiguousarray(y[:, 0])
    counts = _counts(tree, table, end, first, weight, is_class, step)
    return replace(tree, extras=extras, counts=counts)


def _quantiles(tree: Tree, end: Ints, y: Floats, weight: Floats | None) -> Floats:
    order = np.argsort(y)  # not stable, which takes four times as long: equal values are equal
    return node_counts.node_quantiles(order, end, tree.parent, y, weight, QUANTILES)


def _counts(
    tree: Tree,
    table: Table,
    end: Ints,
    y: NDArray[Any],
    weight: Floats | None,
    is_class: bool,
    step: int,
) -> SplitCounts | None:
    n_codes = tree.value.shape[1] if is_class else N_TARGET_BINS
    most = min(MAX_SPLITS, MAX_CELLS // (N_BINS * n_codes))
    node = _largest(tree, most)
    if len(node) == 0 or len(y) == 0:
        return None
    target_range = np.empty(0)
    if is_class:
        code = y.astype(np.int32, copy=False)
    else:
        target_range = np.array(_ends(y.astype(np.float64, copy=False)))
        code = _binned(y, target_range)
    axes = _Axes(tree, table)
    axis = axes.of(node)
    slot = np.full(tree.n_nodes, -1, np.int32)
    slot[node] = np.arange(len(node), dtype=np.int32)
    ranges = np.array(axes.ranges)
    low, high = ranges[axis].T
    counts = node_counts.split_counts(
        axes.columns,
        end,
        tree.parent,
        slot,
        axis,
        np.ascontiguousarray(low),
        np.where(high > low, N_BINS / np.maximum(high - low, 1e-300), 0.0),
        np.ascontiguousarray(code),
        weight,
        N_BINS,
        n_codes,
    )
    return SplitCounts(
        node,
        axis,
        (counts * step).astype(np.float32),
        np.array(axes.features, np.int32),
        ranges,
        np.cumsum([0, *map(len, axes.codes)]).astype(np.int64),
        np.concatenate(axes.codes).astype(np.int32),
        target_range,
    )


def _largest(tree: Tree, most: int) -> Ints:
    """The split nodes with most rows, ascending; with a node its parent is among them."""
    node = np.flatnonzero(~tree.is_leaf)
    if len(node) > most:
        order = np.lexsort((node, -tree.n_samples[node]))
        node = np.sort(node[order[:most]])
        kept = np.zeros(tree.n_nodes, np.bool_)
        kept[node] = True
        # rows of fractional descent may not add up, so that a parent may have fewer
        while not (ok := kept[np.maximum(tree.parent[node], 0)] | (node == 0)).all():
            kept[node[~ok]] = False
            node = node[ok]
    return node.astype(np.int32)


class _Axes:
    """The axes of the splits, made as they are met."""

    def __init__(self, tree: Tree, table: Table) -> None:
        self.tree, self.table = tree, table
        self.features: list[int] = []
        self.ranges: list[tuple[float, float]] = []
        self.codes: list[Ints] = []
        self.columns: list[NDArray[Any]] = []

    def of(self, node: Ints) -> Ints:
        """Number of the axis of every split."""
        splits = self.tree.splits
        is_linear = splits.kind[node] == SplitKind.LINEAR.value
        axis = np.empty(len(node), np.int32)
        tested = np.repeat(splits.feature, np.diff(splits.break_offset))
        features, place = np.unique(splits.feature[node[~is_linear]], return_inverse=True)
        made = [self._feature(f, splits.breaks[tested == f]) for f in features.tolist()]
        axis[~is_linear] = np.array(made, np.int32)[place]
        axis[is_linear] = [self._sum(i) for i in node[is_linear].tolist()]
        return axis

    def _sum(self, node: int) -> int:
        splits = self.tree.splits
        column = np.zeros(len(self.table.columns[0]))
        for f, weight, code in splits.node_terms(node):
            x = self.table.columns[f]
            column += weight * (x if code == NO_CODE else np.where(x < 0, np.nan, x == code))
        ends = _ends(column, splits.node_breaks(node))
        return self._add(-1, ends, np.empty(0, np.int32), column)

    def _feature(self, feature: int, breaks: Floats) -> int:
        column = self.table.columns[feature]
        described = self.tree.schema.features[feature]
        if not described.is_categorical:
            return self._add(feature, _ends(column, breaks), np.empty(0, np.int32), column)
        codes, column = _categories(column, len(described.categories))
        return self._add(feature, (0.0, float(N_BINS)), codes, column)

    def _add(
        self, feature: int, ends: tuple[float, float], codes: Ints, column: NDArray[Any]
    ) -> int:
        self.features.append(feature)
        self.ranges.append(ends)
        self.codes.append(codes)
        self.columns.append(column)
        return len(self.features) - 1


def _categories(column: Ints, n_categories: int) -> tuple[Ints, Ints]:
    """The categories that get a bin each, and the bin of every row."""
    if n_categories <= N_BINS:
        return np.arange(n_categories, dtype=np.int32), column
    frequent = np.bincount(column[column >= 0], minlength=n_categories)
    codes = np.sort(np.argsort(-frequent, kind="stable")[: N_BINS - 1])
    place = np.full(n_categories + 1, N_BINS - 1, np.int32)
    place[codes] = np.arange(len(codes), dtype=np.int32)
    place[-1] = -1  # the gap
    return codes.astype(np.int32), place[column]


def _ends(values: NDArray[Any], inside: Floats | tuple[()] = ()) -> tuple[float, float]:
    """Where an axis begins and ends: the bulk of the values, and all of ``inside``."""
    step = -(-len(values) // SAMPLE)
    sample = np.sort(values[::step].astype(np.float64))
    sample = sample[: len(sample) - int(np.isnan(sample).sum())]
    finite = np.asarray(inside, np.float64)
    finite = finite[np.isfinite(finite)]
    low, high = np.inf, -np.inf
    if len(sample):
        tail = int(0.005 * len(sample))
        low, high = sample[tail], sample[len(sample) - 1 - tail]
    if len(finite):
        low, high = min(low, finite.min()), max(high, finite.max())
    if not low < high:
        middle = low if np.isfinite(low) else 0.0
        return float(middle) - 0.5, float(middle) + 0.5
    return float(low), float(high)


def _binned(y: Floats, ends: Floats) -> Ints:
    low, high = ends
    scaled = (y - low) * (N_TARGET_BINS / (high - low))
    return np.asarray(np.clip(scaled, 0, N_TARGET_BINS - 1), np.int32)
