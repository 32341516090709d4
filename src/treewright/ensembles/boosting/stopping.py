"""When to end: rows that no tree sees, and what is said of them after every round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring, get_scorer

from treewright.errors import DataError, ParameterError

__all__ = ["AUTO_ROWS", "Judge", "Patience", "is_on", "split_rows"]

AUTO_ROWS = 10_000
"""Rows from which ``early_stopping="auto"`` sets some aside."""

Floats = NDArray[np.float64]


def is_on(early_stopping: Any, n_rows: int, has_eval_set: bool) -> bool:
    """Whether the fit stops early."""
    if early_stopping == "auto":
        return has_eval_set or n_rows >= AUTO_ROWS
    return bool(early_stopping)


def split_rows(
    y: NDArray[Any], fraction: float, is_classes: bool, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to learn from and rows to set aside, both ascending.

    Of every class the same share is set aside, but never its last row.
    """
    n = len(y)
    share = fraction if fraction < 1 else min(fraction / n, 1.0)
    order = np.random.RandomState(seed).permutation(n)
    group = y[order] if is_classes else np.zeros(n, np.int64)
    aside = []
    for k in range(int(group.max()) + 1):
        rows = order[group == k]
        aside.append(rows[: min(round(share * len(rows)), len(rows) - 1)])
    judge = np.sort(np.concatenate(aside)).astype(np.int64)
    if not len(judge):  # one row, of the largest class
        largest = order[group == np.bincount(group).argmax()]
        if len(largest) < 2:
            raise DataError(
                f"early_stopping sets rows aside, but no class has two of the {n} rows; pass an "
                "eval_set, or set early_stopping=False."
            )
        judge = largest[:1].astype(np.int64)
    return np.setdiff1d(np.arange(n), judge), judge


@dataclass
class Patience:
    """Counts rounds without a gain.

    Parameters
    ----------
    rounds, tol
        Rounds to wait, and least gain that counts.
    sign
        1 where larger is better, −1 where smaller is.
    """

    rounds: int
    tol: float
    sign: int = -1
    best: float = -np.inf
    best_round: int = 0

    def ends(self, n_rounds: int, value: float) -> bool:
        """Whether to end after ``n_rounds``, of which the last one came to ``value``."""
        if not np.isfinite(value):
            raise DataError(
                f"the score of the rows set aside must be finite, got {value} after round "
                f"{n_rounds}; lower learning_rate, or choose another scoring."
            )
        if self.sign * value > self.best + self.tol:
            self.best, self.best_round = self.sign * value, n_rounds
        return n_rounds - self.best_round >= self.rounds


class _View(BaseEstimator):  # type: ignore[misc]
    """A model whose predictions are known: what scorers ask."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any) -> Any:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        return self.answer.predict()


class _ClassView(ClassifierMixin, _View):  # type: ignore[misc]
    @property
    def classes_(self) -> Any:
        return self.answer.classes

    def predict_proba(self, X: Any) -> Any:
        return self.answer.probability()

    def decision_function(self, X: Any) -> Any:
        return self.answer.decision()


class _NumberView(RegressorMixin, _View):  # type: ignore[misc]
    pass


@dataclass(frozen=True)
class Judge:
    """A scorer for rows whose scores are known already.

    Parameters
    ----------
    scoring
        A scorer's name or a callable ``scorer(estimator, X, y)``.
    X, y
        The rows as the user gave them, and their targets.
    """

    scoring: Any
    X: Any
    y: Any

    def __call__(self, answer: Any, is_classes: bool) -> float:
        """The score of a model that gives these answers."""
        view = (_ClassView if is_classes else _NumberView)(answer)
        scorer: Callable[..., Any] = (
            check_scoring(view, scoring=self.scoring)
            if isinstance(self.scoring, str)
            else self.scoring
        )
        value = scorer(view, self.X, self.y)
        if not np.isscalar(value):
            raise ParameterError(
                f"scoring must give one number, got {type(value).__name__}; return a float."
            )
        return float(value)  # type: ignore[arg-type]


def check_scoring_name(scoring: Any) -> None:
    """Refuse a name that is no scorer's."""
    if isinstance(scoring, str) and scoring != "loss":
        try:
            get_scorer(scoring)
        except ValueError:
            raise ParameterError(
                f'scoring must be "loss", the name of a scorer of scikit-learn or a callable, got '
                f"{scoring!r}; sklearn.metrics.get_scorer_names() lists the names."
            ) from None
