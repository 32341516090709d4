"""Trees that test target statistics, as trees that test the columns themselves.

At prediction every category has one statistic, so that a test of it is a test of the category. A
column with one statistic becomes ordinal, its categories in the order of their statistics, and the
test cuts that order; of several statistics no order serves all, and a test lists its categories.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Schema
from treewright.ensembles.boosting.statistics import Statistics
from treewright.tree.split import SPLIT_DTYPES, SplitKind, Splits
from treewright.tree.tree import Tree

__all__ = ["ColumnTests"]


@dataclass(frozen=True, eq=False)
class ColumnTests:
    """Writes the trees of a booster for the columns that came to it.

    Parameters
    ----------
    statistics
        What the trees see.
    ordered
        Whether columns with one statistic become ordinal; else they stay as they came, and all
        tests list categories.
    """

    statistics: Statistics
    ordered: bool = True

    @cached_property
    def orders(self) -> dict[int, NDArray[np.intp]]:
        """Categories by their statistic, for columns that have one."""
        values = self.statistics.values
        return {
            k: np.argsort(own[:-1, 0], kind="stable")
            for k, own in values.items()
            if own.shape[1] == 1 and self.ordered
        }

    @cached_property
    def schema(self) -> Schema:
        """The columns that came, those with an order in it."""
        features = list(self.statistics.outer.features)
        for k, order in self.orders.items():
            categories = tuple(features[k].categories[code] for code in order)
            features[k] = replace(features[k], kind="ordinal", categories=categories)
        return Schema(tuple(features), self.statistics.outer.named)

    @cached_property
    def _drawn(self) -> Schema:
        """The columns as diagrams call them: a cut of an order is a cut of the statistic."""
        features = list(self.schema.features)
        for k, order in self.orders.items():
            name = self.statistics.schema.features[self._first[k]].name
            ranked = tuple(f"{value:.6g}" for value in self.statistics.values[k][order, 0])
            features[k] = Feature(name, "ordinal", ranked)
        return Schema(tuple(features), self.statistics.outer.named)

    @cached_property
    def _first(self) -> NDArray[np.intp]:
        """Where the statistics of each column begin."""
        owner = self.statistics.owner
        return np.searchsorted(owner, np.arange(len(self.statistics.outer)))

    def tree(self, tree: Tree) -> Tree:
        """The tree with tests of columns."""
        seen, splits = tree.splits.feature, tree.splits
        feature = np.where(seen >= 0, self.statistics.owner[np.maximum(seen, 0)], -1)
        breaks, default = splits.breaks.copy(), tree.default.copy()
        listed: dict[int, NDArray[np.int32]] = {}
        for i in np.flatnonzero(np.isin(feature, list(self.statistics.values))).tolist():
            k = int(feature[i])
            value = self.statistics.values[k][:, seen[i] - self._first[k]]
            at = splits.node_breaks(i)[0]
            branch = (value > at if splits.closed[i] else value >= at).astype(np.int32)
            if not np.isnan(value[-1]):
                default[i] = branch[-1]  # a gap has a statistic, too
            if k in self.orders:
                n_below = len(branch) - 1 - branch[:-1].sum()
                breaks[splits.break_offset[i]] = n_below - 0.5
            else:
                listed[i] = branch[:-1]
        changed = replace(splits, feature=feature.astype(np.int32), breaks=breaks)
        schema = replace(self._drawn, target=tree.schema.target)
        return replace(tree, schema=schema, splits=_with_codes(changed, listed), default=default)


def _with_codes(splits: Splits, listed: dict[int, NDArray[np.int32]]) -> Splits:
    """The splits, those in ``listed`` by the branch of every category."""
    if not listed:
        return splits
    kind = splits.kind.copy()
    kind[list(listed)] = SplitKind.CODES
    own = [listed.get(i) for i in range(len(splits))]
    pools: dict[str, list[NDArray[Any]]] = {
        "breaks": [splits.node_breaks(i)[: None if o is None else 0] for i, o in enumerate(own)],
        "codes": [
            splits.node_codes(i) if o is None else np.arange(len(o)) for i, o in enumerate(own)
        ],
        "branches": [splits.node_branches(i) if o is None else o for i, o in enumerate(own)],
    }
    arrays: dict[str, Any] = {
        name: np.concatenate(parts).astype(SPLIT_DTYPES[name]) for name, parts in pools.items()
    }
    for name in ("break", "code"):
        ends = np.cumsum([0, *map(len, pools[f"{name}s"])])
        arrays[f"{name}_offset"] = ends.astype(np.int64)
    return replace(splits, kind=kind, **arrays)
