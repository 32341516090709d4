"""Weka's naive Bayes and nearest neighbour, as members of a stack beside our J48.

Written from what the recorded runs print and from the textbook (Witten, Frank and Hall): normal
densities with a least spread, Laplace's correction, gaps left out; distances over columns scaled to
0…1, where a gap is as far as can be.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin


def _codes(X: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of all columns, NaN for gaps, and which columns are nominal."""
    nominal = np.array([not pd.api.types.is_numeric_dtype(X[name]) for name in X])
    columns = [
        np.where(X[name].cat.codes < 0, np.nan, X[name].cat.codes) if is_nominal else X[name]
        for name, is_nominal in zip(X, nominal, strict=True)
    ]
    return np.column_stack(columns).astype(float), nominal


class NaiveBayes(ClassifierMixin, BaseEstimator):
    """One density for each number, one table for each category."""

    def fit(self, X: pd.DataFrame, y: Any) -> NaiveBayes:
        self.classes_, codes = np.unique(y, return_inverse=True)
        values, self._nominal = _codes(X)
        k = len(self.classes_)
        counts = np.bincount(codes, minlength=k)
        self._prior = np.log((counts + 1) / (counts.sum() + k))
        self._tables = [
            self._table(values[:, j], codes, k, X.iloc[:, j]) for j in range(values.shape[1])
        ]
        return self

    def _table(self, column: np.ndarray, codes: np.ndarray, k: int, given: pd.Series) -> Any:
        known = ~np.isnan(column)
        if not pd.api.types.is_numeric_dtype(given):
            n = len(given.cat.categories)
            cells = np.bincount(codes[known] * n + column[known].astype(int), minlength=k * n)
            table = cells.reshape(k, n) + 1.0
            return np.log(table / table.sum(axis=1, keepdims=True))
        distinct = np.unique(column[known])
        step = np.diff(distinct).mean() if len(distinct) > 1 else 0.01
        parts = [column[known & (codes == c)] for c in range(k)]
        mean = np.array([p.mean() if len(p) else 0.0 for p in parts])
        spread = np.array([max(p.std(), step / 6) if len(p) else step / 6 for p in parts])
        return mean, spread

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        values, nominal = _codes(X)
        total = np.tile(self._prior, (len(values), 1))
        for j, table in enumerate(self._tables):
            known = ~np.isnan(values[:, j])
            if nominal[j]:
                total[known] += table[:, values[known, j].astype(int)].T
            else:
                mean, spread = table
                z = (values[known, j][:, None] - mean) / spread
                total[known] += -0.5 * z**2 - np.log(spread)
        shares = np.exp(total - total.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Nearest(ClassifierMixin, BaseEstimator):
    """The class of the nearest row."""

    def fit(self, X: pd.DataFrame, y: Any) -> Nearest:
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        values, self._nominal = _codes(X)
        with np.errstate(invalid="ignore"):
            self._low = np.nan_to_num(np.nanmin(values, axis=0))
            span = np.nan_to_num(np.nanmax(values, axis=0)) - self._low
        self._span = np.where(span > 0, span, 1.0)
        self._rows = self._scaled(values)
        return self

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        return np.where(self._nominal, values, (values - self._low) / self._span)

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        rows = self._scaled(_codes(X)[0])
        total = np.zeros((len(rows), len(self._rows)))
        for j, is_nominal in enumerate(self._nominal):
            a, b = rows[:, j][:, None], self._rows[:, j][None, :]
            if is_nominal:
                total += ~(a == b)  # a gap equals nothing
                continue
            d = np.abs(a - b)
            one = np.maximum(np.nan_to_num(a, nan=0.0), 1 - np.nan_to_num(a, nan=0.0))
            other = np.maximum(np.nan_to_num(b, nan=0.0), 1 - np.nan_to_num(b, nan=0.0))
            d = np.where(np.isnan(b), one, np.where(np.isnan(a), other, d))
            total += np.where(np.isnan(a) & np.isnan(b), 1.0, d) ** 2
        n, k = len(self._rows), len(self.classes_)
        near = np.eye(k)[self._codes[total.argmin(axis=1)]] + 1 / n
        return near / near.sum(axis=1, keepdims=True)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
