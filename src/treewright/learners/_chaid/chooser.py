"""CHAID's answer at a node: merge every predictor, take the most significant one.

Entered once per node. One pass of the core counts the tables of all predictors; everything else
works on these small tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.tables import NodeTables
from treewright.learners._chaid.bins import CodedFeature
from treewright.learners._chaid.measures import Measure
from treewright.learners._chaid.merge import Grouping, MergeRules, merge_categories
from treewright.learners._chaid.multipliers import PredictorType
from treewright.tree.grow import GrowingNode, NoSplit, ProposedSplit
from treewright.tree.node_tests import NodeTests
from treewright.tree.split import GAP_STOP

__all__ = ["Chooser", "SizeRules", "class_counter", "number_counter"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TIE = 1e-12
"""A later predictor wins only if its log p-value is better by more than this, relatively."""


@dataclass(frozen=True, slots=True)
class SizeRules:
    """Weight that nodes and groups need."""

    split: float
    leaf: float
    share: float | None = None

    def least_group(self, node_weight: float) -> float:
        """Weight that each group needs at a node."""
        if self.share is None:
            return self.leaf
        return min(self.leaf, ceil(self.share * node_weight))


@dataclass(frozen=True)
class Chooser:
    """``choose(node)`` of CHAID.

    Parameters
    ----------
    features, tables, units
        The predictors as categories, their counter, and the unit of each of its columns.
    measure, rules, sizes
        The test, when categories merge, and how small things may be.
    alpha_split
        Largest adjusted p-value of a split.
    n_threads
        Threads of the counter.
    """

    features: list[CodedFeature]
    tables: NodeTables
    units: Floats
    measure: Measure
    rules: MergeRules
    sizes: SizeRules
    alpha_split: float
    n_threads: int = 1

    def __call__(self, node: GrowingNode) -> ProposedSplit | NoSplit | None:
        if not self.features:
            return None
        stacked = self.tables.of(node.rows, self.n_threads) * self.units
        offset = self.tables.offset
        weight = float(self.measure.weight(stacked[: offset[1]]).sum())
        if weight < self.sizes.split or weight < 2 * self.sizes.least_group(weight):
            return None
        found = []
        for f in range(len(self.features)):
            table = stacked[offset[f] : offset[f + 1]]
            seen = np.flatnonzero(self.measure.weight(table) > 0)
            grouping = self._merge(f, table[seen], seen, weight)
            if grouping is not None:
                found.append((f, seen, grouping))
        return self._answer(found)

    def _merge(self, f: int, table: Floats, seen: Ints, weight: float) -> Grouping | None:
        feature = self.features[f]
        kind: PredictorType = "nominal" if feature.is_nominal else "ordinal"
        if not feature.is_nominal and len(seen) and seen[-1] == feature.n_categories:
            kind = "floating"
        least = self.sizes.least_group(weight)
        return merge_categories(table, kind, self.measure, self.rules, least)

    def _answer(self, found: list[tuple[int, Ints, Grouping]]) -> ProposedSplit | NoSplit | None:
        """The predictor with the least adjusted p-value, and the tests of all."""
        if not found:
            return None
        tests = NodeTests.of_node(
            feature=[f for f, _, _ in found],
            statistic=[g.statistic for _, _, g in found],
            df=[g.df for _, _, g in found],
            log_p=[g.log_p for _, _, g in found],
            log_adjusted_p=[min(g.log_adjusted, 0.0) for _, _, g in found],
        )
        f, seen, best = found[0]
        for candidate in found[1:]:
            log_p = candidate[2].log_adjusted
            if log_p < best.log_adjusted - TIE * abs(best.log_adjusted):
                f, seen, best = candidate
        if best.log_adjusted > log(self.alpha_split):
            return NoSplit(tests=tests)
        return self._split(f, [seen[group] for group in best.groups], tests)

    def _split(self, f: int, groups: list[Ints], tests: NodeTests) -> ProposedSplit:
        """Groups of categories as a split; the gap is the category behind all others."""
        feature = self.features[f]
        gap = feature.n_categories
        gap_branch = next((b for b, group in enumerate(groups) if group[-1] == gap), GAP_STOP)
        known = [group[group < gap] for group in groups]
        if feature.is_nominal:
            codes = np.concatenate(known)
            branches = np.repeat(np.arange(len(known)), [len(group) for group in known])
            return ProposedSplit(
                feature=f,
                codes=tuple(codes.tolist()),
                branches=tuple(branches.tolist()),
                gap_branch=gap_branch,
                tests=tests,
            )
        known = [group for group in known if len(group)]
        breaks = tuple(feature.boundary(int(a[-1]), int(b[0])) for a, b in pairwise(known))
        # all that is known in one branch, gaps in the other
        return ProposedSplit(
            feature=f, breaks=breaks or (np.inf,), gap_branch=gap_branch, tests=tests
        )


def class_counter(
    features: list[CodedFeature], y: NDArray[Any], n_classes: int, weight: Floats | None
) -> tuple[NodeTables, Floats]:
    """Counter of class weights, and the unit of its columns."""
    values, unit = (None, 1.0) if weight is None else _integers(weight)
    tables = NodeTables(
        [f.codes for f in features],
        [f.n_categories for f in features],
        label=np.ascontiguousarray(y, np.int32),
        n_classes=n_classes,
        values=values,
    )
    return tables, np.full(n_classes, unit)


def number_counter(
    features: list[CodedFeature], y: Floats, weight: Floats | None
) -> tuple[NodeTables, Floats]:
    """Counter of Σw, Σwy and Σwy², with y centred and scaled to at most one in size."""
    w = np.ones(len(y)) if weight is None else weight
    scale = float(np.abs(y).max(initial=0.0))
    scaled = y / scale if scale > 0 else y
    centred = scaled - np.average(scaled, weights=w)
    largest = float(np.abs(centred).max(initial=0.0))
    centred = centred / largest if largest > 0 else centred
    columns = [_integers(column) for column in (w, w * centred, w * centred * centred)]
    tables = NodeTables(
        [f.codes for f in features],
        [f.n_categories for f in features],
        values=np.column_stack([values for values, _ in columns]),
    )
    return tables, np.array([unit for _, unit in columns])


def _integers(values: Floats) -> tuple[Ints, float]:
    """Values as integers, and their unit: one for whole numbers, else a power of two.

    Sums of integers depend neither on the order of the rows nor on the number of threads.
    """
    total = float(np.abs(values).sum())
    if total < 2.0**53 and np.all(values == np.rint(values)):
        return values.astype(np.int64), 1.0
    unit = 2.0 ** (np.frexp(total)[1] - 61)
    return np.rint(values / unit).astype(np.int64), float(unit)
