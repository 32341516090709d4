"""Conditional inference: choosing a node's split by tests (Hothorn, Hornik and Zeileis 2006).

Every feature is tested for independence of the response. The one with the least p-value is
taken if that is significant, and cut where the two sides differ most. So the choice of the
feature does not favour those that offer many cuts. The statistics come from
:mod:`treewright.kernels.association`, their distributions from scipy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.kernels.association import Associations, Associator, BinarySplit, Form
from treewright.learners._ctree.p_values import log_chi2, log_largest_normal, log_sidak
from treewright.learners._ctree.surrogates import find_surrogates
from treewright.tree.growing.choosing import (
    GrowingLevel,
    GrowingNode,
    LevelAnswer,
    NoSplit,
    ProposedSplit,
)
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


@dataclass(frozen=True, eq=False)
class _LevelTests:
    """Tests at the nodes of a level: a row per node, a column per feature that was drawn.

    ``df``, ``log_p`` and ``log_adjusted_p`` have entries where ``tested`` holds.
    """

    nodes: NDArray[np.int64]  # places in the level
    features: NDArray[np.int32]
    statistic: Floats
    tested: NDArray[np.bool_]
    df: Floats
    log_p: Floats
    log_adjusted_p: Floats

    def table(self) -> NodeTests:
        """As they are kept."""
        return NodeTests(
            self.nodes[np.nonzero(self.tested)[0]].astype(np.int32),
            self.features[self.tested],
            self.statistic[self.tested],
            self.df,
            self.log_p,
            self.log_adjusted_p,
        )


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

    makes_tests: ClassVar[bool] = True

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
        self._is_nominal = np.array([f.kind == "nominal" for f in self._features], bool)
        self._columns = table.columns
        self._kernel = Associator(
            table.columns,
            [len(feature.categories) for feature in self._features],
            [feature.kind != "nominal" for feature in self._features],
            y if n_classes else _scaled(y),
            n_classes,
            n_threads,
        )

    @property
    def no_split(self) -> str:
        """Of a node that stays whole, in words."""
        return f"no split at alpha = {self._settings.alpha:g}"

    def choose_level(self, level: GrowingLevel) -> LevelAnswer:
        """The splits of the nodes of a level."""
        settings = self._settings
        totals = _totals(level)
        large = (totals >= settings.min_split) & (totals >= 2 * settings.min_leaf)
        nodes = np.flatnonzero(large)
        answers: list[ProposedSplit | NoSplit | None] = [None] * len(level)
        if not len(nodes):
            return LevelAnswer(answers)
        tests = self._tests(level.take(nodes), nodes)
        least = np.maximum(settings.min_leaf, np.ceil(settings.min_prob * totals - 1e-9))
        left = self._significant(tests)
        for _ in range(settings.split_try):
            place = self._best(tests, left)
            tried = np.flatnonzero(place >= 0)
            if not len(tried):
                break
            feature = tests.features[tried, place[tried]]
            found = self._splits(level.take(nodes[tried]), feature, least[nodes[tried]])
            for i, proposal in zip(tried.tolist(), found, strict=True):
                answers[nodes[i]] = proposal
                left[i] = left[i] & (proposal is None)
            left[tried, place[tried]] = False
        return LevelAnswer(answers, tests.table())

    # Testing

    def _tests(self, level: GrowingLevel, nodes: NDArray[np.int64]) -> _LevelTests:
        """What the tests of the (drawn) features say."""
        settings = self._settings
        features = self._drawn(level)
        needs_distribution = settings.form == "maximum" and settings.adjust != "monte_carlo"
        found = self._kernel.test_nodes(
            level.rows, level.weights, (level.begin, level.end), features, needs_distribution
        )
        statistic = found.quadratic if settings.form == "quadratic" else found.maximum
        tested = ~np.isnan(statistic)
        node, place = np.nonzero(tested)
        df = found.rank[tested].astype(float)
        if settings.form == "maximum":
            df = np.full(len(node), np.nan)
        if settings.adjust is None:
            log_p = np.full(len(node), np.nan)
        elif settings.adjust == "monte_carlo":
            log_p = self._log_resampled(level, features, tested)
        elif settings.form == "quadratic":
            log_p = log_chi2(statistic[tested], df)
        else:
            each = node * features.shape[1] + place
            log_p = np.array([_log_maximum(found, int(i)) for i in each])
        adjusted = log_p
        if settings.adjust == "bonferroni" and len(node):
            adjusted = log_sidak(log_p, np.count_nonzero(tested, axis=1)[node])
        return _LevelTests(nodes, features, statistic, tested, df, log_p, adjusted)

    def _drawn(self, level: GrowingLevel) -> NDArray[np.int32]:
        """All features, or a draw for each node that depends on the seed and the node alone."""
        n, drawn = len(self._features), self._settings.max_features
        if drawn is None or drawn >= n:
            return np.tile(np.arange(n, dtype=np.int32), (len(level), 1))
        chosen = np.empty((len(level), drawn), np.int32)
        for i, path in enumerate(level.path):
            draw = np.random.Generator(np.random.Philox(key=[self._settings.seed, path]))
            chosen[i] = np.sort(draw.choice(n, drawn, replace=False))
        return chosen

    def _log_resampled(
        self, level: GrowingLevel, features: NDArray[np.int32], tested: NDArray[np.bool_]
    ) -> Floats:
        n, form = self._settings.n_resamples, self._settings.form
        counts = [
            self._kernel.resample(
                node.rows,
                node.weights,
                own[known].tolist(),
                form,
                n,
                (self._settings.seed, node.path),
            )
            for node, own, known in zip(level, features, tested, strict=True)
        ]
        # The data themselves are one of the permutations, so no p-value is 0.
        return np.asarray(np.log((np.concatenate(counts) + 1.0) / (n + 1.0)))

    def _significant(self, tests: _LevelTests) -> NDArray[np.bool_]:
        """Which tests allow a split, a row per node."""
        alpha = self._settings.alpha
        significant = tests.tested.copy()
        if self._settings.adjust is None:
            significant[tests.tested] = tests.statistic[tests.tested] > 1.0 - alpha
        elif alpha < 1.0:  # p-values near 1 may round to 1, and with alpha=1 they do not matter
            significant[tests.tested] = tests.log_adjusted_p < np.log(alpha)
        return significant

    def _best(self, tests: _LevelTests, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Place of the best of the tests that are left at each node, −1 where none is.

        Of equal p-values the larger statistic wins, of equal statistics the later column.
        """
        if self._settings.adjust is not None:
            evidence = np.full(left.shape, -np.inf)
            evidence[tests.tested] = -tests.log_p
            left = _largest(evidence, left)
        left = _largest(tests.statistic, left)
        last = left.shape[1] - 1 - np.argmax(left[:, ::-1], axis=1)
        return np.where(left.any(axis=1), last, -1)

    # Splitting

    def _splits(
        self, level: GrowingLevel, features: NDArray[np.int32], least: Floats
    ) -> list[ProposedSplit | None]:
        """The split of one feature at each node, where there is one."""
        settings = self._settings
        proposals: list[ProposedSplit | None] = [None] * len(level)
        is_multiway = settings.multiway & self._is_nominal[features]
        for i in np.flatnonzero(is_multiway).tolist():
            proposals[i] = self._multiway(level[i], int(features[i]), least[i])
        two_way = np.flatnonzero(~is_multiway)
        part = level.take(two_way)
        found = self._kernel.split_nodes(
            part.rows,
            part.weights,
            (part.begin, part.end),
            features[two_way],
            settings.form,
            least[two_way],
            settings.max_exhaustive,
        )
        for i, split in zip(two_way.tolist(), found, strict=True):
            if split is not None:
                proposals[i] = self._with_surrogates(level, i, _proposal(int(features[i]), split))
        return proposals

    def _with_surrogates(self, level: GrowingLevel, i: int, split: ProposedSplit) -> ProposedSplit:
        n_wanted = self._settings.max_surrogates
        if not n_wanted:
            return split
        stand_ins = find_surrogates(self._kernel, self._columns, level[i], split, n_wanted)
        return replace(split, surrogates=stand_ins)

    def _multiway(self, node: GrowingNode, feature: int, least: float) -> ProposedSplit | None:
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
            feature, codes=tuple(codes.tolist()), branches=tuple(branches.tolist())
        )


def _proposal(feature: int, split: BinarySplit) -> ProposedSplit:
    breaks = () if split.codes else (split.value,)
    return ProposedSplit(feature, breaks=breaks, codes=split.codes, branches=split.branches)


def _largest(score: Floats, places: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Those of ``places`` whose score is the largest of their row, up to rounding."""
    score = np.where(places, score, -np.inf)
    top = score.max(axis=1, initial=-np.inf, keepdims=True)
    with np.errstate(invalid="ignore"):  # infinite scores are equal or not
        is_top = (score >= top - TIE * np.abs(top)) | (score == top)
    return np.asarray(is_top & places)


def _totals(level: GrowingLevel) -> Floats:
    """Weight of each node."""
    if level.weights is None:
        return (level.end - level.begin).astype(float)
    return np.array([node.weights.sum() for node in level if node.weights is not None])


def _log_maximum(found: Associations, i: int) -> float:
    """P-value of the largest standardised statistic of a feature."""
    q = round(len(found.covariance[i]) ** 0.5)
    factors = [_correlation(found.covariance[i].reshape(q, q))]
    weight = found.level_weight[i]
    if len(weight):  # indicators of categories
        spread = weight.sum() * np.diag(weight) - np.outer(weight, weight)
        factors.append(_correlation(spread))
    return log_largest_normal(float(found.maximum.flat[i]), factors)


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
