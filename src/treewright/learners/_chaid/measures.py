"""The tests of CHAID: how different are the groups of a table?

A measure takes tables of shape (…, groups, width) and answers for each of them, so that all
pairs of categories are tested in one call. The columns of a table are class weights (nominal
and ordinal targets) or the sums of w, w·y and w·y² (numbers). Weights count as repeated rows.

References: Kass (1980) for χ²; Goodman (1979) and Magidson (1992) for row effects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from treewright.learners._chaid.row_effects import row_effects_deviance
from treewright.learners._chaid.tails import log_chi2_tail, log_f_tail

__all__ = ["FTest", "LikelihoodRatio", "Measure", "Pearson", "RowEffects", "Tested"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tested:
    """Statistic, degrees of freedom and log p of each table."""

    statistic: Floats
    df: Floats
    log_p: Floats


class Measure(Protocol):
    """A test of whether the groups of a table differ."""

    @property
    def name(self) -> str:
        """What the statistic is called."""

    def test(self, tables: Floats) -> Tested:
        """Test every table of shape (…, groups, width)."""

    def weight(self, tables: Floats) -> Floats:
        """Weight of each group."""

    def order(self, table: Floats) -> Floats:
        """A number per group; the best division into two is a cut in their order."""

    def impurity(self, tables: Floats) -> Floats:
        """Gini's index, or the variance, of each group."""


class _Classes:
    """What the tests on class weights share."""

    def weight(self, tables: Floats) -> Floats:
        return np.asarray(tables.sum(axis=-1))

    def impurity(self, tables: Floats) -> Floats:
        total = tables.sum(axis=-1)
        squares = (tables * tables).sum(axis=-1)
        return np.asarray(1.0 - squares / np.where(total > 0, total * total, 1.0))

    def order(self, table: Floats) -> Floats:
        shares = table / table.sum(axis=1, keepdims=True)
        if table.shape[1] == 2:
            return np.asarray(shares[:, 1])
        # the first principal component of the class shares: Coppersmith, Hong and Hosking (1999)
        weight = table.sum(axis=1) / table.sum()
        centred = shares - weight @ shares
        direction = np.linalg.eigh((centred.T * weight) @ centred)[1][:, -1]
        return np.asarray(centred @ direction)

    @staticmethod
    def _margins(tables: Floats) -> tuple[Floats, Floats]:
        """Expected weights under independence, and the degrees of freedom."""
        rows = tables.sum(axis=-1, keepdims=True)
        columns = tables.sum(axis=-2, keepdims=True)
        total = rows.sum(axis=-2, keepdims=True)
        expected = rows * columns / np.where(total > 0, total, 1.0)
        n_rows = np.count_nonzero(rows > 0, axis=(-2, -1))
        n_columns = np.count_nonzero(columns > 0, axis=(-2, -1))
        df = np.maximum(n_rows - 1, 0) * np.maximum(n_columns - 1, 0)
        return expected, df.astype(np.float64)


class Pearson(_Classes):
    """χ² of Pearson, without a correction for continuity."""

    name = "chi-squared"

    def test(self, tables: Floats) -> Tested:
        """Test every table of shape (…, groups, width)."""
        expected, df = self._margins(tables)
        difference = tables - expected
        cells = difference * difference / np.where(expected > 0, expected, 1.0)
        statistic = cells.sum(axis=(-2, -1))
        return Tested(statistic, df, log_chi2_tail(statistic, df))


class LikelihoodRatio(_Classes):
    """G², twice the logarithm of the likelihood ratio."""

    name = "likelihood ratio"

    def test(self, tables: Floats) -> Tested:
        """Test every table of shape (…, groups, width)."""
        expected, df = self._margins(tables)
        ratio = tables / np.where(expected > 0, expected, 1.0)
        statistic = np.maximum(2.0 * special.xlogy(tables, ratio).sum(axis=(-2, -1)), 0.0)
        return Tested(statistic, df, log_chi2_tail(statistic, df))


@dataclass(frozen=True)
class RowEffects(_Classes):
    """Likelihood ratio of Goodman's row-effects model against independence.

    The classes are ordered and have scores; the groups differ in one number each, the slope of
    their log weights along the scores.
    """

    scores: tuple[float, ...]
    name: str = "row effects"

    def test(self, tables: Floats) -> Tested:
        """Test every table of shape (…, groups, width)."""
        statistic = row_effects_deviance(tables, np.asarray(self.scores))
        n_rows = np.count_nonzero(tables.sum(axis=-1) > 0, axis=-1)
        n_columns = np.count_nonzero(tables.sum(axis=-2) > 0, axis=-1)
        df = np.where(n_columns > 1, np.maximum(n_rows - 1, 0), 0).astype(np.float64)
        return Tested(statistic, df, log_chi2_tail(statistic, df))

    def order(self, table: Floats) -> Floats:
        return np.asarray(table @ np.asarray(self.scores) / table.sum(axis=1))


class FTest:
    """F test of equal means; a table holds Σw, Σwy and Σwy²."""

    name = "F"

    def test(self, tables: Floats) -> Tested:
        """Test every table of shape (…, groups, width)."""
        weight, total, square = tables[..., 0], tables[..., 1], tables[..., 2]
        safe = np.where(weight > 0, weight, 1.0)
        within = np.maximum(square - total * total / safe, 0.0).sum(axis=-1)
        all_weight, all_total = weight.sum(axis=-1), total.sum(axis=-1)
        mean = all_total / np.where(all_weight > 0, all_weight, 1.0)
        # from the differences of means: subtracting two large squares would lose their digits
        between = (weight * (total / safe - mean[..., None]) ** 2).sum(axis=-1)
        df = np.maximum(np.count_nonzero(weight > 0, axis=-1) - 1, 0).astype(np.float64)
        error = np.where(df > 0, all_weight - df - 1, 0.0)
        scale = square.sum(axis=-1)
        within = np.where(within > 1e-14 * scale, within, 0.0)
        between = np.where(between > 1e-14 * scale, between, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = (between / df) / (within / error)
        statistic = np.where((df > 0) & (error > 0) & (between > 0), statistic, 0.0)
        return Tested(statistic, df, log_f_tail(statistic, df, error))

    def weight(self, tables: Floats) -> Floats:
        return np.asarray(tables[..., 0])

    def impurity(self, tables: Floats) -> Floats:
        weight = np.where(tables[..., 0] > 0, tables[..., 0], 1.0)
        mean = tables[..., 1] / weight
        return np.asarray(np.maximum(tables[..., 2] / weight - mean * mean, 0.0))

    def order(self, table: Floats) -> Floats:
        return np.asarray(table[:, 1] / table[:, 0])
