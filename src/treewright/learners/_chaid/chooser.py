"""CHAID's answer at a node: merge every predictor, take the most significant one.

Entered once per node. One pass of the core counts the tables of all predictors, another merges
their categories; what is left here are p-values, multipliers and the choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import ceil, inf, log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.merge import Merged, merge_tables
from treewright.kernels.tables import NodeTables
from treewright.learners._chaid.bins import CodedFeature
from treewright.learners._chaid.multipliers import (
    PredictorType,
    exhaustive_multiplier,
    log_multiplier,
)
from treewright.learners._chaid.tails import log_chi2_tail, log_f_tail
from treewright.tree.growing.choosing import GrowingNode, NoSplit, ProposedSplit
from treewright.tree.node_tests import NodeTests
from treewright.tree.split import GAP_STOP

__all__ = ["Chooser", "Counter", "MergeRules", "SizeRules", "class_counter", "number_counter"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TIE = 1e-12
"""A later predictor wins only if its log p-value is better by more than this, relatively."""


@dataclass(frozen=True, slots=True)
class MergeRules:
    """When categories merge and merged ones part again."""

    alpha_merge: float = 0.05
    alpha_resplit: float | None = None
    exhaustive: bool = False
    adjust: bool = True


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
    features, counter
        The predictors as categories, and what counts their tables.
    rules, sizes
        When categories merge, and how small things may be.
    alpha_split
        Largest adjusted p-value of a split.
    n_threads
        Threads of the core.
    max_features, seed
        Predictors drawn at every node; None for all.
    """

    makes_tests: ClassVar[bool] = True
    features: list[CodedFeature]
    counter: Counter
    rules: MergeRules
    sizes: SizeRules
    alpha_split: float
    n_threads: int = 1
    max_features: int | None = None
    seed: int = 0

    @property
    def no_split(self) -> str:
        """Of a node that stays whole, in words."""
        return f"no split at alpha_split = {self.alpha_split:g}"

    def __call__(self, node: GrowingNode) -> ProposedSplit | NoSplit | None:
        if not self.features:
            return None
        stacked = self.counter.of(node.rows, self.n_threads)
        one = stacked[: self.counter.offset[1]]
        weight = float(one[:, 0].sum() if self.counter.measure == "f" else one.sum())
        least = self.sizes.least_group(weight)
        if weight < self.sizes.split or weight < 2 * least:
            return None
        merged = self._merge(stacked, least)
        found = self._drawn(np.flatnonzero(merged.n_groups >= 2), node)
        if not len(found):
            return None
        return self._answer(merged, found)

    def drawing(self, max_features: int, seed: int) -> Chooser:
        """The chooser of a forest, which draws predictors at every node."""
        return replace(self, max_features=max_features, seed=seed)

    def _drawn(self, found: Ints, node: GrowingNode) -> Ints:
        """Those that were drawn of the predictors with two groups at least.

        The draw depends on the seed and the node alone. More are looked at where none of those
        drawn has two groups, so it is made among those that have.
        """
        if self.max_features is None or self.max_features >= len(found):
            return found
        draw = np.random.Generator(np.random.Philox(key=[self.seed, node.path]))
        return np.sort(draw.choice(found, self.max_features, replace=False))

    def only(self, feature: int, rows: Ints) -> Chooser:
        """The chooser of a table that holds one feature and some of the rows.

        It proposes the groups of the feature however little they differ.
        """
        coded = self.features[feature]
        return replace(
            self,
            features=[replace(coded, codes=coded.codes[rows])],
            counter=replace(self.counter, tables=self.counter.tables.only(feature, rows)),
            sizes=replace(self.sizes, split=0.0),
            alpha_split=inf,
        )

    def _merge(self, stacked: Floats, least: float) -> Merged:
        rules, counter = self.rules, self.counter
        merge = partial(
            merge_tables,
            stacked,
            counter.offset,
            np.array([not f.is_nominal for f in self.features], np.uint8),
            counter.measure,
            scores=counter.scores,
            n_threads=self.n_threads,
        )
        if not rules.exhaustive:
            return merge(
                alpha_merge=rules.alpha_merge, alpha_resplit=rules.alpha_resplit, least=least
            )
        way = merge(alpha_merge=-1.0, keep_path=True)
        log_p = self.counter.log_tail(way.path)
        # of equally significant groupings the one with more groups, which comes first
        parts = (log_p[a:b] for a, b in pairwise(counter.offset))
        count = [len(part) - int(part[::-1].argmin()) for part in parts]
        return merge(alpha_merge=-1.0, stop_at=np.array(count, np.int32), least=least)

    def _answer(self, merged: Merged, found: Ints) -> ProposedSplit | NoSplit:
        """The predictor with the least adjusted p-value, and the tests of all."""
        tested = merged.tested[found]
        log_p = self.counter.log_tail(tested)
        adjusted = log_p + [self._multiplier(merged, f) for f in found.tolist()]
        tests = NodeTests.of_node(
            found, tested[:, 0], tested[:, 1], log_p, np.minimum(adjusted, 0.0)
        )
        best = 0
        for k in range(1, len(found)):
            if adjusted[k] < adjusted[best] - TIE * abs(adjusted[best]):
                best = k
        if adjusted[best] > log(self.alpha_split):
            return NoSplit(tests=tests)
        f = int(found[best])
        extras = {"df_error": float(tested[best, 2])} if self.counter.measure == "f" else {}
        split = self._split(f, merged.label[slice(*self.counter.offset[f : f + 2])])
        return replace(split, tests=tests, extras=extras)

    def _multiplier(self, merged: Merged, f: int) -> float:
        if not self.rules.adjust:
            return 0.0
        label = merged.label[slice(*self.counter.offset[f : f + 2])]
        kind: PredictorType = "nominal" if self.features[f].is_nominal else "ordinal"
        if kind == "ordinal" and label[-1] >= 0:
            kind = "floating"
        n_categories = int(np.count_nonzero(label >= 0))
        if self.rules.exhaustive:
            return exhaustive_multiplier(kind, n_categories)
        return log_multiplier(kind, n_categories, int(merged.n_groups[f]))

    def _split(self, f: int, label: NDArray[np.int32]) -> ProposedSplit:
        """Groups of categories as a split; the last category is the gap."""
        feature = self.features[f]
        gap_branch = int(label[-1]) if label[-1] >= 0 else GAP_STOP
        seen = np.flatnonzero(label[:-1] >= 0)
        branch = label[seen]
        propose = partial(ProposedSplit, feature=f, gap_branch=gap_branch)
        if feature.is_nominal:
            return propose(codes=tuple(seen.tolist()), branches=tuple(branch.tolist()))
        ends = np.flatnonzero(np.diff(branch)).tolist()
        breaks = tuple(feature.boundary(int(seen[k]), int(seen[k + 1])) for k in ends)
        # without a break all that is known is one group, and gaps are the other
        return propose(breaks=breaks or (np.inf,))


@dataclass(frozen=True, eq=False)
class Counter:
    """Counts the tables of a node, in the units of the data, and knows how they are tested."""

    tables: NodeTables
    units: Floats
    measure: str
    scores: tuple[float, ...] = ()

    @property
    def offset(self) -> Ints:
        """Where the table of each feature starts."""
        return self.tables.offset

    def of(self, rows: Ints, n_threads: int) -> Floats:
        """The stacked tables of a node."""
        return self.tables.of(rows, n_threads) * self.units

    def log_tail(self, tested: Floats) -> Floats:
        """Log p of tests given as statistic and degrees of freedom."""
        statistic, df, error = tested.T
        if self.measure == "f":
            return log_f_tail(statistic, df, error)
        return log_chi2_tail(statistic, df)


def class_counter(
    features: list[CodedFeature],
    y: NDArray[Any],
    n_classes: int,
    weight: Floats | None,
    measure: str,
    scores: tuple[float, ...] = (),
) -> Counter:
    """Counter of class weights."""
    values, unit = (None, 1.0) if weight is None else _integers(weight)
    tables = NodeTables(
        [f.codes for f in features],
        [f.n_categories for f in features],
        label=np.ascontiguousarray(y, np.int32),
        n_classes=n_classes,
        values=values,
    )
    return Counter(tables, np.full(n_classes, unit), measure, scores)


def number_counter(features: list[CodedFeature], y: Floats, weight: Floats | None) -> Counter:
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
    return Counter(tables, np.array([unit for _, unit in columns]), "f")


def _integers(values: Floats) -> tuple[Ints, float]:
    """Values as integers, and their unit: one for whole numbers, else a power of two.

    Sums of integers depend neither on the order of the rows nor on the number of threads.
    """
    total = float(np.abs(values).sum())
    if total < 2.0**53 and np.all(values == np.rint(values)):
        return values.astype(np.int64), 1.0
    unit = 2.0 ** (np.frexp(total)[1] - 61)
    return np.rint(values / unit).astype(np.int64), float(unit)
