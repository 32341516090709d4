"""MARS: multivariate adaptive regression splines.

A forward pass adds pairs of hinges, h(x - t) and h(t - x), each times a term that is already
there, as long as they pay; then terms are taken away by generalised cross-validation. Defaults,
knots and the order of parents are those of R's earth, so that models are the same; where they are
not, and why, is told in docs/comparisons/mars.md. Nominal features become indicators, gaps get an
indicator of their own. A classifier fits indicators of the classes first, and then a logistic
(multinomial) model on the terms that stayed.

References: Friedman (1991), *Multivariate adaptive regression splines*, Annals of Statistics 19;
Friedman (1993), *Fast MARS*, Stanford technical report 110.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from treewright.estimator.linear import shares
from treewright.estimator.parameters import keep, parameters
from treewright.estimator.target import ClassTarget, NumberTarget
from treewright.estimator.training import Training
from treewright.mars._model import MARS, Problem
from treewright.mars._parameters import MARS_PARAMETERS
from treewright.mars._solve import logistic

__all__ = ["MARSClassifier", "MARSRegressor"]

Floats = NDArray[np.float64]


@parameters(**MARS_PARAMETERS)
class MARSRegressor(NumberTarget, MARS):
    """Regression by a sum of products of hinges.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    basis_ : Basis
        The terms; the first is the constant one.
    coefficients_ : ndarray of shape (n_terms,) or (n_outputs, n_terms)
        Their coefficients.
    gcv_, rss_, rsq_, grsq_ : float
        Generalised cross-validation, residual sum of squares, R², and R² with GCV in the place of
        RSS.
    forward_basis_ : Basis
        The terms before pruning.
    subsets_ : Subsets
        The best subset of each size with its RSS and GCV.
    stopped_ : str
        Why the forward pass ended.
    n_outputs_ : int
        Number of outputs.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the subsets that use it.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    MARSClassifier : The same for classes.

    References
    ----------
    Friedman (1991), *Multivariate adaptive regression splines*, Annals of Statistics 19.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import MARSRegressor
    >>> x = np.linspace(0, 10, 101)
    >>> model = MARSRegressor().fit(x[:, None], np.abs(x - 4))
    >>> print(model.to_text())
    y =
      0
      + 1 * h(x0-4)
      + 1 * h(4-x0)
    """

    def __init__(
        self,
        *,
        degree: int = 1,
        penalty: float | None = None,
        max_terms: int | None = None,
        thresh: float = 0.001,
        minspan: int = 0,
        endspan: int = 0,
        adjust_endspan: float = 2.0,
        fast_k: int = 20,
        fast_beta: float = 1.0,
        auto_linear: bool = True,
        linear_features: Any = None,
        allowed: Any = None,
        pruning: Literal["gcv", "cv"] | None = "gcv",
        cv: Any = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _responses(self, training: Training) -> Floats:
        y = np.asarray(training.y, np.float64)
        return y[:, None] if y.ndim == 1 else y

    def _coefficients(
        self, matrix: Floats, squares: Floats, training: Training, problem: Problem
    ) -> Floats:
        return squares

    def predict(self, X: Any) -> Floats:
        """The value of the model.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        scores = self._raw_scores(X)
        return np.asarray(scores[:, 0] if self.n_outputs_ == 1 else scores)


@parameters(**MARS_PARAMETERS)
class MARSClassifier(ClassTarget, MARS):
    """Classification by a logistic model on hinges.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    basis_ : Basis
        The terms; the first is the constant one.
    coefficients_ : ndarray of shape (n_terms,) or (n_classes, n_terms)
        Coefficients of the log odds of the second of two classes, or of each of several.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_classes_ : int
        Their number.
    n_outputs_ : int
        Number of outputs, which is 1.
    gcv_, rss_, rsq_, grsq_ : float
        Figures of the least-squares fit of the class indicators, by which terms were chosen.
    forward_basis_ : Basis
        The terms before pruning.
    subsets_ : Subsets
        The best subset of each size with its RSS and GCV.
    stopped_ : str
        Why the forward pass ended.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the subsets that use it.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    MARSRegressor : The same for numbers.

    References
    ----------
    Friedman (1991), *Multivariate adaptive regression splines*, Annals of Statistics 19.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import MARSClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MARSClassifier().fit(X, y)
    >>> model.predict([[5.0, 3.4, 1.5, 0.2]])
    array([0])
    """

    def __init__(
        self,
        *,
        degree: int = 1,
        penalty: float | None = None,
        max_terms: int | None = None,
        thresh: float = 0.001,
        minspan: int = 0,
        endspan: int = 0,
        adjust_endspan: float = 2.0,
        fast_k: int = 20,
        fast_beta: float = 1.0,
        auto_linear: bool = True,
        linear_features: Any = None,
        allowed: Any = None,
        pruning: Literal["gcv", "cv"] | None = "gcv",
        cv: Any = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _responses(self, training: Training) -> Floats:
        n_classes = len(training.target.classes)
        indicators = np.eye(n_classes)[training.y]
        return np.asarray(indicators[:, 1:] if n_classes == 2 else indicators)

    def _coefficients(
        self, matrix: Floats, squares: Floats, training: Training, problem: Problem
    ) -> Floats:
        n_classes = len(training.target.classes)
        if n_classes == 1:
            return np.zeros((1, matrix.shape[1]))
        return logistic(matrix, training.y, problem.root_weight**2, n_classes)

    def decision_function(self, X: Any) -> Floats:
        """Log odds of the second of two classes, or one score per class.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        scores = self._raw_scores(X)
        return np.asarray(scores[:, 0] if self.n_classes_ == 2 else scores)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
        """
        scores = self._raw_scores(X)
        if self.n_classes_ == 2:
            second = expit(scores[:, 0])
            return np.column_stack([1 - second, second])
        return shares(scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        scores = self._raw_scores(X)
        best = (scores[:, 0] > 0).astype(int) if self.n_classes_ == 2 else scores.argmax(1)
        return np.asarray(self.classes_[best])
