"""What theory says of a boosted classifier: edges, a bound of the training error, margins.

Reference: Schapire, Freund, Bartlett and Lee (1998), *Boosting the margin*.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.ensembles._adaboost.algorithms import ALGORITHMS, Algorithm
from treewright.ensembles._adaboost.error_curve import ErrorBound, ErrorCurve
from treewright.ensembles._adaboost.estimator import AdaBoostEstimator
from treewright.errors import ParameterError

__all__ = ["Theory"]

Floats = NDArray[np.float64]


class Theory(AdaBoostEstimator):
    """Figures of a boosted classifier by round and by row."""

    algorithm: Any
    n_classes_: int
    training_errors_: Floats
    _normalizers: NDArray[Any]

    @property
    def _algorithm(self) -> Algorithm:
        return ALGORITHMS[self.algorithm]

    @property
    def edges_(self) -> Floats:
        """How much better than one half each member is on the rows of its round.

        Examples
        --------
        >>> from treewright import AdaBoostClassifier, datasets
        >>> titanic = datasets.load_titanic()
        >>> model = AdaBoostClassifier(n_estimators=3).fit(titanic.data, titanic.target)
        >>> model.edges_.round(2)
        array([0.29, 0.18, 0.06])
        """
        return np.asarray(0.5 - self.estimator_errors_)

    @property
    def training_error_bound_(self) -> ErrorBound:
        """Upper bounds of the training error after each round."""
        reason = self._no_bound()
        if reason:
            raise AttributeError(f"training_error_bound_ is for {reason}.")
        rounds = np.arange(1, len(self) + 1)
        smallest = np.minimum.accumulate(self.edges_)
        return ErrorBound(
            np.cumprod(self._normalizers), np.exp(-2.0 * np.maximum(smallest, 0.0) ** 2 * rounds)
        )

    def _no_bound(self) -> str:
        """Why theory gives no bound; empty where it does."""
        if self.n_classes_ > 2 and self.algorithm != "m1":
            return f'two classes, or algorithm="m1", got {self.n_classes_} classes'
        if self.learning_rate != 1.0:
            return f"learning_rate=1, got {self.learning_rate}"
        if self._algorithm.answer != "vote":
            return f'algorithm "samme" or "m1", got "{self.algorithm}"'
        return ""

    def margins(self, X: Any, y: Any) -> Floats:
        """How clearly each row is decided: 1 where all votes are right, -1 where all are wrong.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        margins : ndarray of shape (n_samples,)
            Weight of the votes for the right class minus that of the strongest other class, as a
            share of all votes. A row is classified rightly where it is positive.

        Examples
        --------
        >>> from treewright import AdaBoostClassifier, datasets
        >>> titanic = datasets.load_titanic()
        >>> model = AdaBoostClassifier(n_estimators=5).fit(titanic.data, titanic.target)
        >>> margins = model.margins(titanic.data, titanic.target)
        >>> bool((margins > 0).mean() == model.score(titanic.data, titanic.target))
        True
        """
        if self._algorithm.answer != "vote":
            raise ParameterError(
                'margins are of votes, which algorithm="samme" and "m1" count, got '
                f'"{self.algorithm}"; use decision_function.'
            )
        rows = self._rows(X)
        codes = self._known_target(y)
        votes = np.zeros((len(codes), self.n_classes_))
        answers = self._models().each(rows, "vote", range(len(self)), 1)
        for (_, answer), weight in zip(answers, self.estimator_weights_, strict=True):
            votes += weight * answer
        votes /= self.estimator_weights_.sum()
        own = votes[np.arange(len(codes)), codes]
        votes[np.arange(len(codes)), codes] = -np.inf
        other = votes.max(axis=1) if self.n_classes_ > 1 else np.zeros(len(codes))
        return np.asarray(own - other)

    def error_curve(self, X: Any = None, y: Any = None) -> ErrorCurve:
        """Training error, its upper bound and the error on new rows, by round.

        Parameters
        ----------
        X, y
            New rows and their classes; without them there is no test error.

        Returns
        -------
        curve : ErrorCurve
            With ``frame()``, ``plot()`` and ``str()``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from treewright import AdaBoostClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = AdaBoostClassifier(n_estimators=3, algorithm="m1").fit(X[::2], y[::2])
        >>> curve = model.error_curve(X[1::2], y[1::2])
        >>> print(curve.frame().round(2))
           round  training  bound  test
        0      1      0.05   0.43  0.11
        1      2      0.05   0.29  0.11
        2      3      0.04   0.19  0.08
        """
        test = None
        if X is not None:
            codes = self._known_target(y)
            staged = self._staged_scores(self._rows(X))
            test = np.array([np.mean(np.argmax(scores, axis=1) != codes) for scores in staged])
        bound = None if self._no_bound() else self.training_error_bound_
        return ErrorCurve(self.training_errors_, bound, test)
