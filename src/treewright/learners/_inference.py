"""Conditional inference: choosing a node's split by tests (Hothorn, Hornik and Zeileis 2006).

Every feature is tested for independence of the response. The one with the least p-value is
taken if that is significant, and cut where the two sides differ most. So the choice of the
feature does not favour those that offer many cuts. The statistics come from
:mod:`treewright.kernels.association`, their distributions from scipy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.kernels.association import Associations, Associator, BinarySplit, Form
from treewright.learners._p_values import log_chi2, log_largest_normal, log_sidak
from treewright.learners._stand_ins import find_surrogates
from treewright.tree.grow import GrowingNode, NoSplit, ProposedSplit
from treewright.tree.node_tests import NodeTests

__all__ = ["Adjust", "ConditionalInference", "Settings"]

Adjust = Literal["bonferroni", "monte_carlo", "univariate"]
Floats = NDArray[np.float64]

TIE = 1e-10
"""Relative difference up to which two features count as equally good."""


@dataclass(frozen=True)
class Settings:
    """The numbers of a :class:`ConditionalInference`; see the parameters of CTree."""

    alpha: float = 0.05
    form: Form = "quadratic"
    adjust: Adjust | None = "bonferroni"
    n_resamples: int = 9999
    min_split: float = 20.0
    min_leaf: float = 7.0
    min_prob: float = 0.01
    split_try: int = 2
    max_features: int | None = None
    max_exhaustive: int = 15
    max_surrogates: int = 0
    multiway: bool = False
    seed: int = 0
    weight_scale: float = 1.0


class ConditionalInference:
    """A chooser for the growth loop.

    Parameters
    ----------
    table
        The features.
    y
        Class codes (int32), or numbers with one row per row of the table.
    n_classes
        Number of classes; 0 for numbers.
    settings
        How to test and when to stop.
    n_threads
        Threads for large nodes.
    """

    def __init__(
        self,
        table: Table,
        y: NDArray[Any],
        n_classes: int,
        settings: Settings,
        n_threads: int = 1,
    ) -> None:
        self._settings = settings
        self._features = table.schema.features
        self._columns = table.columns
        self._kernel = Associator(
            table.columns,
            [len(feature.categories) for feature in self._features],
            [feature.kind != "nominal" for feature in self._features],
            y if n_classes else _scaled(y),
            n_classes,
            n_threads,
        )

    def __call__(self, node: GrowingNode) -> ProposedSplit | NoSplit | None:
        settings = self._settings
        if node.weights is not None and settings.weight_scale != 1.0:
            node = replace(node, weights=node.weights * settings.weight_scale)
        total = float(len(node.rows) if node.weights is None else node.weights.sum())
        if total < settings.min_split or total < 2 * settings.min_leaf:
            return None
        tests = self._tests(node)
        least = max(settings.min_leaf, ceil(settings.min_prob * total - 1e-9))
        for place in self._order(tests)[: settings.split_try]:
            proposal = self._split(node, int(tests.feature[place]), least, tests)
            if proposal is not None:
                return proposal
        return NoSplit(tests=tests)

    # Testing

    def _tests(self, node: GrowingNode) -> NodeTests:
        """What the tests of the (drawn) features say."""
        settings = self._settings
        features = self._drawn(node)
        needs_distribution = settings.form == "maximum" and settings.adjust != "monte_carlo"
        found = self._kernel.test(node.rows, node.weights, features, needs_distribution)
        every = found.quadratic if settings.form == "quadratic" else found.maximum
        tested = np.flatnonzero(~np.isnan(every))
        statistic, feature = every[tested], np.asarray(features, np.int32)[tested]
        df = found.rank[tested].astype(float)
        if settings.form == "maximum":
            df = np.full(len(tested), np.nan)
        if settings.adjust is None:
            log_p = np.full(len(tested), np.nan)
        elif settings.adjust == "monte_carlo":
            log_p = self._log_resampled(node, feature)
        elif settings.form == "quadratic":
            log_p = log_chi2(statistic, df)
        else:
            log_p = np.array([_log_maximum(found, int(i)) for i in tested])
        adjusted = log_p
        if settings.adjust == "bonferroni" and len(tested):
            adjusted = log_sidak(log_p, len(tested))
        return NodeTests.of_node(feature, statistic, df, log_p, adjusted)

    def _drawn(self, node: GrowingNode) -> Sequence[int]:
        """All features, or a draw that depends on the seed and the node alone."""
        n, drawn = len(self._features), self._settings.max_features
        if drawn is None or drawn >= n:
            return range(n)
        draw = np.random.Generator(np.random.Philox(key=[self._settings.seed, node.path]))
        chosen: list[int] = np.sort(draw.choice(n, drawn, replace=False)).tolist()
        return chosen

    def _log_resampled(self, node: GrowingNode, features: NDArray[np.int32]) -> Floats:
        n, seed = self._settings.n_resamples, (self._settings.seed, node.path)
        counts = self._kernel.resample(
            node.rows, node.weights, features.tolist(), self._settings.form, n, seed
        )
        # The data themselves are one of the permutations, so no p-value is 0.
        return np.asarray(np.log((counts + 1.0) / (n + 1.0)))

    def _order(self, tests: NodeTests) -> list[int]:
        """Places of the significant tests, best first.

        Of equal p-values the larger statistic wins, of equal statistics the later column.
        """
        alpha = self._settings.alpha
        if self._settings.adjust is None:
            significant = tests.statistic > 1.0 - alpha
        else:
            # p-values near 1 may round to 1, and with alpha=1 they do not matter
            significant = (tests.log_adjusted_p < np.log(alpha)) | (alpha == 1.0)
        left: list[int] = significant.nonzero()[0].tolist()
        order: list[int] = []
        while left and len(order) < self._settings.split_try:
            best = left
            if self._settings.adjust is not None:
                best = _best(best, -tests.log_p)
            best = _best(best, tests.statistic)
            order.append(best[-1])
            left.remove(best[-1])
        return order

    # Splitting

    def _split(
        self, node: GrowingNode, feature: int, least: float, tests: NodeTests
    ) -> ProposedSplit | None:
        settings = self._settings
        if settings.multiway and self._features[feature].kind == "nominal":
            return self._multiway(node, feature, least, tests)
        found = self._kernel.split(
            node.rows, node.weights, feature, settings.form, least, settings.max_exhaustive
        )
        if found is None:
            return None
        proposal = ProposedSplit(feature, **_test_of(found), tests=tests)
        if settings.max_surrogates:
            stand_ins = find_surrogates(
                self._kernel, self._columns, node, proposal, settings.max_surrogates
            )
            proposal = replace(proposal, surrogates=stand_ins)
        return proposal

    def _multiway(
        self, node: GrowingNode, feature: int, least: float, tests: NodeTests
    ) -> ProposedSplit | None:
        """A branch for each category; those that are too small share the last one."""
        column = self._columns[feature][node.rows]
        known = column >= 0
        weights = None if node.weights is None else node.weights[known]
        codes, place = np.unique(column[known], return_inverse=True)
        is_large = np.bincount(place, weights) >= least
        branches = np.where(is_large, np.cumsum(is_large) - 1, np.count_nonzero(is_large))
        if branches.max(initial=0) < 1:
            return None
        return ProposedSplit(
            feature, codes=tuple(codes.tolist()), branches=tuple(branches.tolist()), tests=tests
        )


def _test_of(split: BinarySplit) -> dict[str, Any]:
    """The test of a split, as arguments of ProposedSplit."""
    if len(split.codes):
        return {"codes": tuple(split.codes.tolist()), "branches": tuple(split.branches.tolist())}
    return {"breaks": (split.value,), "closed": True}


def _best(places: list[int], score: Floats) -> list[int]:
    """Those of ``places`` whose score is the largest, up to rounding."""
    top = max(score[place] for place in places)
    return [place for place in places if score[place] >= top - TIE * abs(top)]


def _log_maximum(found: Associations, i: int) -> float:
    """P-value of the largest standardised statistic of a feature."""
    q = round(len(found.covariance[i]) ** 0.5)
    factors = [_correlation(found.covariance[i].reshape(q, q))]
    weight = found.level_weight[i]
    if len(weight):  # indicators of categories
        spread = weight.sum() * np.diag(weight) - np.outer(weight, weight)
        factors.append(_correlation(spread))
    return log_largest_normal(float(found.maximum[i]), factors)


def _correlation(covariance: Floats) -> Floats:
    """Correlations of the variables that vary."""
    variance = np.diag(covariance)
    kept = np.flatnonzero(variance > 0)
    scale = 1.0 / np.sqrt(variance[kept])
    return np.asarray(covariance[np.ix_(kept, kept)] * np.outer(scale, scale))


def _scaled(y: NDArray[Any]) -> Floats:
    """Numbers brought to about one by a power of two, which changes no statistic."""
    numbers = np.asarray(y, np.float64).reshape(len(y), -1)
    exponent = np.frexp(np.abs(numbers).max(axis=0, initial=0.0))[1]
    return np.asarray(np.ldexp(numbers, -exponent))
