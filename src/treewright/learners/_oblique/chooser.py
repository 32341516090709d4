"""The test of a node: the best axis-parallel one, or a linear one that is better.

A linear test is searched on standardised columns, gaps filled by the node's mean. Its
coefficients are scaled to a largest one of 1 and rounded to six digits, so that the
test that is printed is the test that is made; its threshold is found again after that, with every
row that has a gap in one of the terms at the node's mean of all of them, as it will be sent.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.oblique import linear_split
from treewright.learners._oblique import directions
from treewright.learners._oblique.design import Part, nominal_parts
from treewright.tree.growing.choosing import GrowingNode, ProposedSplit
from treewright.tree.growing.grow import candidates

if TYPE_CHECKING:
    from treewright.estimator.training import Training
    from treewright.tree.growing.recipe import Recipe

__all__ = ["ObliqueChooser", "Settings"]

Floats = NDArray[np.float64]

TIE = 1e-9
"""A linear test must be better than the axis-parallel one by more than this share."""


@dataclass(frozen=True)
class Settings:
    """What the estimator asks for."""

    method: str
    min_samples_leaf: int
    min_weight_leaf: float
    n_restarts: int
    n_jumps: int
    n_projections: int | None
    deletion: float
    nominal_terms: str | None
    seed: int


class ObliqueChooser:
    """Chooses the test of one node after another."""

    def __init__(self, training: Training, axis: Recipe, settings: Settings) -> None:
        self._training = training
        self._axis = axis
        self._settings = settings
        self._n_drawn: int | None = None
        features = training.table.schema.features
        self._continuous = [k for k, f in enumerate(features) if f.kind == "continuous"]
        coded = settings.nominal_terms is not None
        self._nominal = [k for k, f in enumerate(features) if coded and f.kind == "nominal"]
        self._columns = self._matrix(self._continuous, np.float64)
        self._codes = self._matrix(self._nominal, np.int32)
        if training.target.is_classification:
            self._targets = np.eye(len(training.target.classes))[training.y]
        else:
            y = training.y.reshape(training.n_rows, -1)
            spread = np.abs(y).max(initial=0.0)
            self._targets = y / spread if spread > 0 else y

    def _matrix(self, features: list[int], dtype: Any) -> NDArray[Any]:
        columns = [np.asarray(self._training.table.columns[k], dtype) for k in features]
        return np.array(columns, dtype).reshape(len(columns), self._training.n_rows)

    def drawing(self, max_features: int, seed: int) -> ObliqueChooser:
        """The chooser of a forest, which draws features at every node.

        With ``method="random"`` the draw is for tests of single features alone, as projections
        are drawn themselves, two for each feature drawn unless their number is given.
        """
        other = copy(self)
        other._n_drawn = max_features
        other._settings = replace(self._settings, seed=seed)
        return other

    def _drawn(self, node: GrowingNode) -> NDArray[np.bool_]:
        """Which features were drawn for a node."""
        n_features = len(self._training.table.schema)
        if self._n_drawn is None:
            return np.ones(n_features, np.bool_)
        rng = np.random.default_rng([self._settings.seed, node.path, 1])
        chosen = rng.choice(n_features, min(self._n_drawn, n_features), replace=False)
        return np.isin(np.arange(n_features), chosen)

    def __call__(self, node: GrowingNode) -> ProposedSplit | None:
        rows = node.rows
        targets = self._targets[rows]
        if np.all(targets == targets[0]):
            return None
        weight = np.ones(len(rows)) if node.weights is None else node.weights
        altered = self._split_weight(rows, weight)
        drawn = self._drawn(node)
        axis = self._best_axis(rows, weight, targets, altered, drawn)
        linear = self._best_linear(node, targets, altered, weight, axis, drawn)
        return axis[0] if linear is None else linear

    def _split_weight(self, rows: NDArray[np.int64], weight: Floats) -> Floats:
        costs = self._training.costs
        return weight if costs is None else weight * costs.split_factor[self._training.y[rows]]

    def _best_axis(
        self,
        rows: NDArray[np.int64],
        weight: Floats,
        targets: Floats,
        altered: Floats,
        drawn: NDArray[np.bool_],
    ) -> tuple[ProposedSplit | None, float]:
        """The best test of a single feature, and its gain on the scale of linear ones."""
        here = self._training.take(rows)
        found = candidates(
            here.table,
            here.y,
            self._axis,
            target=here.target,
            sample_weight=weight,
            costs=here.costs,
        )
        best: dict[str, Any] | None = None
        for one in found:
            if not one["found"] or not drawn[one["feature"]]:
                continue
            if best is None or one["gain"] > best["gain"] * (1 + 1e-12):
                best = one
        if best is None:
            return None, 0.0
        column = here.table.columns[best["feature"]]
        has_gaps = bool(np.isnan(column).any() if column.dtype.kind == "f" else (column < 0).any())
        split = ProposedSplit(
            int(best["feature"]),
            breaks=tuple(best["breaks"]),
            closed=False,
            codes=tuple(best["codes"]),
            branches=tuple(best["branches"]),
            gap_branch=(0 if best["gaps_left"] else 1) if has_gaps else -2,
        )
        return split, self._gain(split, column, targets, altered)

    @staticmethod
    def _gain(split: ProposedSplit, column: NDArray[Any], targets: Floats, weight: Floats) -> float:
        """What a test gains, measured as linear tests are."""
        if split.codes:
            pairs = zip(split.codes, split.branches, strict=True)
            left = np.isin(column, [code for code, branch in pairs if branch == 0])
        else:
            left = column < split.breaks[0]
        is_gap = np.isnan(column) if column.dtype.kind == "f" else column < 0
        left = np.where(is_gap, split.gap_branch == 0, left)
        total = float(weight.sum())

        def score(side: NDArray[np.bool_]) -> float:
            sums = weight[side] @ targets[side]
            return float((sums**2).sum() / weight[side].sum()) if side.any() else 0.0

        return (score(left) + score(~left) - score(np.ones_like(left))) / total

    def _best_linear(
        self,
        node: GrowingNode,
        targets: Floats,
        weight: Floats,
        mass: Floats,
        axis: tuple[ProposedSplit | None, float],
        drawn: NDArray[np.bool_],
    ) -> ProposedSplit | None:
        # one order of the rows, however they came, so that sums are rounded alike
        keys = [*targets.T, *self._columns[:, node.rows], *self._codes[:, node.rows]]
        order = np.arange(len(node.rows))
        for key in keys:  # numpy's lexsort, but Ctrl-C is answered between the keys
            order = order[np.argsort(key[order], kind="stable")]
        targets, weight, mass = targets[order], weight[order], mass[order]
        parts = self._parts(node.rows[order], targets, weight)
        if len(parts) < 2:
            return None
        raw = np.array([part.column for part in parts])
        enough = {
            "min_leaf": self._settings.min_samples_leaf,
            "mass": mass,
            "min_mass": self._settings.min_weight_leaf,
        }
        is_gap = np.isnan(raw)
        known = np.where(is_gap, 0.0, raw)
        total = np.where(is_gap, 0.0, weight).sum(axis=1)
        mean = (known @ weight) / np.where(total > 0, total, 1.0)
        raw = np.where(is_gap, mean[:, None], raw)
        spread = np.sqrt((((raw - mean[:, None]) ** 2) @ weight) / weight.sum())
        used = np.flatnonzero(spread > 1e-12 * np.abs(mean))
        if self._settings.method != "random":
            used = used[drawn[np.array([part.feature for part in parts])[used]]]
        n_distinct = 1 + np.count_nonzero((np.diff(raw) != 0).any(axis=0))
        parts = [parts[k] for k in used]
        if len({part.feature for part in parts}) < 2 or n_distinct <= 2 * len(used):
            return None
        raw, mean, spread = raw[used], mean[used], spread[used]
        direction = self._search(node, raw, mean, spread, targets, weight, axis, parts, enough)
        if not np.any(direction):
            return None
        return self._proposed(direction, parts, mean, targets, weight, axis[1], enough)

    def _parts(self, rows: NDArray[np.int64], targets: Floats, weight: Floats) -> list[Part]:
        """The columns of the node's design."""
        parts = [
            Part(feature, column[rows])
            for feature, column in zip(self._continuous, self._columns, strict=True)
        ]
        for feature, codes in zip(self._nominal, self._codes, strict=True):
            coding = str(self._settings.nominal_terms)
            parts += nominal_parts(feature, codes[rows], targets, weight, coding)
        return parts

    def _search(
        self,
        node: GrowingNode,
        raw: Floats,
        mean: Floats,
        spread: Floats,
        targets: Floats,
        weight: Floats,
        axis: tuple[ProposedSplit | None, float],
        parts: list[Part],
        enough: dict[str, Any],
    ) -> Floats:
        """Coefficients on the columns as they came; all zero if nothing divides the rows."""
        settings = self._settings
        columns = (raw - mean[:, None]) / spread[:, None]
        rng = np.random.default_rng([settings.seed, node.path])
        starts = self._starts(columns, targets, weight, axis[0], parts, rng)
        if not len(starts):
            return np.zeros(len(parts))
        found, _, _ = linear_split(
            columns,
            targets,
            weight,
            starts,
            refine=settings.method in ("cart-lc", "oc1"),
            n_jumps=settings.n_jumps if settings.method == "oc1" else 0,
            tolerance=settings.deletion,
            seed=int(rng.integers(2**62)),
            **enough,
        )
        return found / spread if len(found) else np.zeros(len(parts))

    def _starts(
        self,
        columns: Floats,
        targets: Floats,
        weight: Floats,
        axis: ProposedSplit | None,
        parts: list[Part],
        rng: np.random.Generator,
    ) -> Floats:
        settings = self._settings
        fixed: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
            "lda": directions.discriminants,
            "ridge": directions.ridge,
            "logistic": directions.logistic,
        }
        if settings.method in fixed:
            return fixed[settings.method](columns, targets, weight)
        n = len(columns)
        if settings.method == "random":
            n_projections = settings.n_projections or 2 * (self._n_drawn or n)
            return directions.sparse_projections(n, n_projections, rng)
        along = np.zeros((1, n))
        places = [k for k, part in enumerate(parts) if axis and part.feature == axis.feature]
        along[0, places[0] if places else 0] = 1.0
        if settings.method == "cart-lc":
            return along
        return np.concatenate([along, rng.uniform(-1.0, 1.0, (settings.n_restarts, n))])

    def _proposed(
        self,
        direction: Floats,
        parts: list[Part],
        mean: Floats,
        targets: Floats,
        weight: Floats,
        axis_gain: float,
        enough: dict[str, Any],
    ) -> ProposedSplit | None:
        """The test with its coefficients rounded, if it beats the axis-parallel one."""
        scale = np.abs(direction).max()
        first = parts[np.flatnonzero(direction)[0]].values[0] * direction[direction != 0][0]
        direction = direction / (scale if first > 0 else -scale)  # the first term is added
        terms: list[tuple[int, float, int]] = []
        columns, means = [], []
        for part, coefficient, centre in zip(parts, direction, mean, strict=True):
            own, column = part.weighed(float(coefficient))
            if own:
                terms += own
                columns.append(column)
                means.append(
                    coefficient * centre if part.row_codes is not None else own[0][1] * centre
                )
        if len({feature for feature, _, _ in terms}) < 2:
            return None
        raw, centres = np.array(columns), np.array(means)
        found, threshold, gain = linear_split(
            np.where(np.isnan(raw).any(axis=0), centres[:, None], raw),
            targets,
            weight,
            np.ones((1, len(raw))),
            **enough,
        )
        if not len(found) or gain <= axis_gain * (1 + TIE) + 1e-15:
            return None
        return ProposedSplit(
            terms=tuple(terms),
            breaks=(float(threshold),),
            closed=False,
            gap_branch=0 if float(centres.sum()) < threshold else 1,
        )
