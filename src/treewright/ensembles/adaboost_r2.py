"""AdaBoost.R2: regressors in a row; rows are drawn by how far they are off.

The answer is the weighted median of the members.

Reference: Drucker (1997), *Improving regressors using boosting techniques*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from treewright.ensembles._adaboost.algorithms import is_chance, is_perfect, total
from treewright.ensembles._adaboost.estimator import AdaBoostEstimator
from treewright.ensembles._adaboost.parameters import SHARED
from treewright.ensembles._adaboost.rounds import Judge, Verdict
from treewright.ensembles._parameters import BAGGING
from treewright.ensembles.members.bodies import Models
from treewright.errors import DataError, ParameterError
from treewright.estimator.parameters import Parameter, keep, options, parameters
from treewright.estimator.target import NumberTarget
from treewright.estimator.training import Training, threads
from treewright.learners.cart import CARTRegressor
from treewright.tree.additive import Additive

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["AdaBoostRegressor"]

Floats = NDArray[np.float64]

LEAST_FACTOR = 1e-260
"""What the weight of a row keeps in one round, so that the weights of all rows have a sum."""


@parameters(
    **SHARED
    | {
        "estimator": Parameter(
            BAGGING["estimator"].constraints,
            "estimator",
            "What is fitted in every round: a learner of treewright, or any regressor of "
            "scikit-learn's kind. None is CART of depth three.",
        ),
        "loss": Parameter(
            options("linear", "square", "exponential"),
            '{"linear", "square", "exponential"}',
            "How far off a row is, from 0 to 1: its error as a share of the largest, the square "
            "of that, or 1 - exp(-share).",
        ),
    }
)
class AdaBoostRegressor(NumberTarget, AdaBoostEstimator):
    """Regressors in a row, each on the rows that those before miss most (AdaBoost.R2).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The members.
    estimator_weights_ : ndarray of shape (n_members,)
        Their weights in the median.
    estimator_errors_ : ndarray of shape (n_members,)
        Their mean losses on the weighted rows of their round.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the members' features, averaged by the weights of the members.
    {attributes}

    See Also
    --------
    AdaBoostClassifier : The same idea for classes.

    References
    ----------
    Drucker (1997), *Improving regressors using boosting techniques*.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from treewright import AdaBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaBoostRegressor(random_state=0).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: Literal["linear", "square", "exponential"] = "linear",
        method: Literal["reweight", "resample"] = "resample",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _default_base(self) -> Any:
        return CARTRegressor(max_depth=3, continuous_split="at_most")

    def _read_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        values, _ = super()._read_target(y)
        if values.ndim > 1:
            raise DataError(
                f"AdaBoostRegressor predicts one number, got y of {values.shape[1]} columns; fit "
                "one model for each."
            )
        return values, None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def _judge(self, training: Training) -> Judge:
        losses: dict[str, Callable[[Floats], Floats]] = {
            "linear": lambda share: share,
            "square": np.square,
            "exponential": lambda share: 1.0 - np.exp(-share),
        }
        loss = losses[self.loss]

        def judge(member: Any, weight: Floats, is_first: bool) -> Verdict:
            off = np.abs(np.asarray(member.predict(training.table), np.float64) - training.y)
            largest = off.max(initial=0.0)
            each = loss(off / largest) if largest > 0 else np.zeros(len(off))
            error = total(weight * each)
            if is_perfect(error):
                return Verdict(0.0, 1.0, None, 0.0)
            if is_chance(error, 0.5):
                return Verdict(error, 1.0, None, 1.0, is_first)
            beta = error / (1.0 - error)
            member_weight = self.learning_rate * float(np.log(1.0 / beta))
            factor = np.maximum(beta ** (self.learning_rate * (1.0 - each)), LEAST_FACTOR)
            return Verdict(error, member_weight, factor, total(weight * factor))

        return judge

    def _models(self) -> Models:
        return Models(self.estimators_, None, None, 1)

    def _additive(self) -> Additive:
        raise ParameterError(
            "shap_values needs a model that is a sum of trees, but AdaBoostRegressor predicts the "
            "weighted median of its members; explain the members of estimators_ one by one, or use "
            "GradientBoostingRegressor."
        )

    def _each(self, X: Any) -> Floats:
        """What every member says of every row, of shape (rows, members)."""
        rows = self._rows(X)
        answers = self._models().each(rows, "value", range(len(self)), threads(self.n_jobs))
        return np.column_stack([answer[:, 0] for _, answer in answers])

    def predict(self, X: Any) -> Floats:
        """Weighted median of what the members predict.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return _weighted_median(self._each(X), self.estimator_weights_)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predictions by the first 1, 2, … members.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from treewright import AdaBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, y)
        >>> [said.shape for said in model.staged_predict(X)]
        [(442,), (442,), (442,)]
        """
        each = self._each(X)
        for k in range(1, len(self) + 1):
            yield _weighted_median(each[:, :k], self.estimator_weights_[:k])

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R² of the first 1, 2, … members.

        Parameters
        ----------
        X, y, sample_weight
            Rows with their targets.

        Yields
        ------
        score : float

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from treewright import AdaBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = AdaBoostRegressor(n_estimators=10, random_state=0).fit(X, y)
        >>> scores = list(model.staged_score(X, y))
        >>> len(scores), scores[-1] == model.score(X, y)
        (10, True)
        """
        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))


def _weighted_median(each: Floats, weight: Floats) -> Floats:
    """The smallest value with at least half of the weight at or below it, row by row."""
    order = np.argsort(each, axis=1, kind="stable")
    below = np.cumsum(weight[order], axis=1)
    place = np.argmax(below >= 0.5 * below[:, -1:], axis=1)
    rows = np.arange(len(each))
    return np.asarray(each[rows, order[rows, place]])
