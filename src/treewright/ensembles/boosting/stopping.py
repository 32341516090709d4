"""When to end: rows that no tree sees, and what is said of them after every round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring, get_scorer

from treewright.errors import DataError, ParameterError
from treewright.kernels.boosting import row_chances

__all__ = [
    "AUTO_ROWS",
    "SET_ASIDE",
    "Judge",
    "Patience",
    "is_on",
    "rows_aside",
    "split_rows",
]

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

    Of every class the same share is set aside, but never its last row: those that draw the
    smallest numbers. A row's number depends on the seed and its place alone, so that blocks of
    rows can draw it too.
    """
    n = len(y)
    chance = row_chances(seed, SET_ASIDE, 0, n)
    group = np.asarray(y, np.int64) if is_classes else np.zeros(n, np.int64)
    wanted = rows_aside(np.bincount(group), fraction)
    judge = np.sort(
        np.concatenate([_smallest(np.flatnonzero(group == k), chance, w) for k, w in wanted])
    )
    return np.setdiff1d(np.arange(n), judge), judge


SET_ASIDE = -1
"""The round for which numbers are drawn that set rows aside."""


def rows_aside(class_rows: NDArray[np.int64], fraction: float) -> list[tuple[int, int]]:
    """Classes, and how many rows of each are set aside, from the rows that each has."""
    n = int(class_rows.sum())
    share = fraction if fraction < 1 else min(fraction / n, 1.0)
    wanted = [(k, min(round(share * r), r - 1)) for k, r in enumerate(class_rows.tolist()) if r]
    if any(w for _, w in wanted):
        return wanted
    largest = int(class_rows.argmax())
    if class_rows[largest] < 2:
        found = "there is only one row" if n == 1 else f"no class has two of the {n} rows"
        raise DataError(
            f"early_stopping sets rows aside, but {found}; pass an eval_set, or set "
            "early_stopping=False."
        )
    return [(largest, 1)]


def _smallest(rows: NDArray[np.int64], chance: Floats, n: int) -> NDArray[np.int64]:
    if n <= 0:
        return rows[:0]
    return rows[np.argsort(chance[rows], kind="stable")[:n]]


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
        if not isinstance(value, Real):
            raise ParameterError(
                f"scoring must give one number, got {type(value).__name__}; return a float."
            )
        return float(value)


def check_scoring_kind(scoring: Any, is_classes: bool) -> None:
    """Refuse a name that is no scorer's, a scorer for classes of numbers, and a bare metric."""
    if callable(scoring):
        _check_arguments(scoring)
    elif scoring != "loss":
        try:
            scorer = get_scorer(scoring)
        except ValueError:
            raise ParameterError(
                f'scoring must be "loss", the name of a scorer of scikit-learn or a callable, got '
                f"{scoring!r}; sklearn.metrics.get_scorer_names() lists the names."
            ) from None
        if not is_classes and getattr(scorer, "_response_method", "predict") != "predict":
            raise ParameterError(
                f"scoring must be a scorer of numbers, got {scoring!r}, which judges "
                'probabilities; use "neg_mean_absolute_error" or another one of regression.'
            )


def _check_arguments(scoring: Any) -> None:
    try:
        signature(scoring).bind(None, None, None)
    except TypeError:
        raise ParameterError(
            "scoring must be a scorer f(model, X, y), got a function of other arguments; make one "
            "of a metric f(y, predicted) by sklearn.metrics.make_scorer, which also takes whether "
            "greater is better."
        ) from None
    except ValueError:  # compiled, without a signature
        return
