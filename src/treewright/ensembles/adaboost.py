"""AdaBoost: members in a row, each on the rows that those before get wrong, voting by weight.

A classifier adds members until one is no better than chance or makes no error; ``algorithm`` names
what a round does (:mod:`treewright.ensembles._adaboost.algorithms`). The regressor (AdaBoost.R2)
draws rows by how far they are off, and predicts the weighted median.

It differs from scikit-learn's AdaBoost: more algorithms, gaps and text columns are taken as they
are, and the first member is kept, with a warning, where it is no better than chance.

References: Freund and Schapire (1997), *A decision-theoretic generalization of on-line learning and
an application to boosting*; Drucker (1997), *Improving regressors using boosting techniques*;
Schapire, Freund, Bartlett and Lee (1998), *Boosting the margin*.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils._param_validation import Interval

from treewright.data.schema import Target
from treewright.ensembles._adaboost.algorithms import ALGORITHMS, Algorithm, is_perfect, total
from treewright.ensembles._adaboost.error_curve import ErrorBound, ErrorCurve
from treewright.ensembles._adaboost.estimator import AdaBoostEstimator
from treewright.ensembles._adaboost.rounds import Boosted, Judge, Verdict
from treewright.ensembles._parameters import BAGGING
from treewright.ensembles.members.bodies import Models
from treewright.errors import DataError, ModelFileError, ParameterError, WeakMemberWarning
from treewright.estimator.parameters import Parameter, keep, options, parameters
from treewright.estimator.target import ClassTarget, NumberTarget
from treewright.estimator.training import Training
from treewright.learners.cart import CARTClassifier, CARTRegressor

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["AdaBoostClassifier", "AdaBoostRegressor"]

Floats = NDArray[np.float64]

_SHARED = {
    **BAGGING,
    "n_estimators": Parameter(
        BAGGING["n_estimators"].constraints, "int", "Most rounds; each adds a member."
    ),
    "learning_rate": Parameter(
        [Interval(Real, 0.0, None, closed="neither")],
        "float",
        "Factor for the weight of every member: less than 1 learns more slowly, in more rounds.",
    ),
    "method": Parameter(
        options("reweight", "resample"),
        '{"reweight", "resample"}',
        "Give the weights of the rows to the member, or draw as many rows by their weights, for "
        "estimators that take no weights.",
    ),
    "random_state": Parameter(
        ["random_state"], "int or RandomState", "Seed of the draws and of the members."
    ),
}


@parameters(
    **_SHARED
    | {
        "estimator": Parameter(
            BAGGING["estimator"].constraints,
            "estimator",
            "What is fitted in every round: a learner of treewright, or any classifier of "
            "scikit-learn's kind. None is a stump: CART with one split.",
        ),
        "algorithm": Parameter(
            options(*ALGORITHMS),
            '{"samme", "m1", "real", "gentle"}',
            'What a round does. "samme" (Zhu and others, scikit-learn\'s) needs members better '
            'than guessing one of the classes; "m1" (Freund and Schapire, Weka\'s) better than one '
            "half, which is the same for two classes, and its weights are half as large: "
            'ln(1/e - 1) / 2; "real" adds logarithms of probabilities, and "gentle", for two '
            "classes, their difference.",
        ),
    }
)
class AdaBoostClassifier(ClassTarget, AdaBoostEstimator):
    """Classifiers in a row, each on the rows that those before get wrong.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The members.
    estimator_weights_ : ndarray of shape (n_members,)
        Their weights in the vote.
    estimator_errors_ : ndarray of shape (n_members,)
        Their errors on the weighted rows of their round.
    edges_ : ndarray of shape (n_members,)
        How much better than one half each is: 1/2 minus its error.
    training_errors_ : ndarray of shape (n_members,)
        Share of the training rows (of their weight) that the first 1, 2, … members get wrong.
    training_error_bound_ : ErrorBound
        Upper bounds of the training error after each round, where theory gives them.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the members' features, averaged by the weights of the members.
    {attributes}

    See Also
    --------
    C50Classifier : Boosts C5.0 its own way (``trials``).

    References
    ----------
    Freund and Schapire (1997), *A decision-theoretic generalization of on-line learning and an
    application to boosting*.

    Examples
    --------
    >>> from treewright import AdaBoostClassifier, datasets
    >>> titanic = datasets.load_titanic()
    >>> model = AdaBoostClassifier(n_estimators=20).fit(titanic.data, titanic.target)
    >>> print(round(model.score(titanic.data, titanic.target), 3))
    0.814
    """

    training_errors_: Floats

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        algorithm: Literal["samme", "m1", "real", "gentle"] = "samme",
        method: Literal["reweight", "resample"] = "reweight",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _default_base(self) -> Any:
        return CARTClassifier(max_depth=1, continuous_split="at_most", n_jobs=self.n_jobs)

    @property
    def _algorithm(self) -> Algorithm:
        return ALGORITHMS[self.algorithm]

    # Fitting

    def _validate(self) -> None:
        super()._validate()
        base = self._base()
        if self._algorithm.answer == "probability" and not hasattr(base, "predict_proba"):
            raise ParameterError(
                f'algorithm="{self.algorithm}" needs probabilities, which {type(base).__name__} '
                'does not give; use "samme" or "m1".'
            )

    def _judge(self, training: Training) -> Judge:
        assert training.classes is not None
        algorithm, classes, y, rows = (
            self._algorithm,
            training.classes,
            training.y,
            training.table,
        )
        n_classes = len(classes)
        if self.algorithm == "gentle" and n_classes > 2:
            raise ParameterError(
                f'algorithm="gentle" is for two classes, got {n_classes}; use "samme" or "real".'
            )
        chance = algorithm.chance(n_classes)

        def judge(member: Any, weight: Floats, is_first: bool) -> Verdict:
            if n_classes == 1:
                return Verdict(0.0, 1.0, None, 0.0)
            score = algorithm.score(_answers([member], classes, rows, algorithm.answer)[0])
            error = total(weight[np.argmax(score, axis=1) != y])
            if is_perfect(error):
                return Verdict(0.0, 1.0, None, 0.0, is_first or algorithm.keeps_perfect)
            if error >= chance:
                return Verdict(error, 1.0, None, 1.0, is_first)
            step = algorithm.step(score, error, y, weight, self.learning_rate)
            return Verdict(error, step.member_weight, step.factor, step.normalizer)

        return judge

    def _store(self, training: Training, boosted: Boosted) -> None:
        super()._store(training, boosted)
        chance = self._algorithm.chance(self.n_classes_)
        if self.n_classes_ > 1 and boosted.errors[0] >= chance:  # after all redraws
            _warn_weak(self.algorithm, boosted.errors[0], chance)
        self._normalizers = np.array(boosted.normalizers)
        self.training_errors_ = np.array(
            [
                np.average(np.argmax(scores, axis=1) != training.y, weights=training.sample_weight)
                for scores in self._staged_scores(training.table)
            ]
        )

    # Predicting

    def _models(self) -> Models:
        columns = [np.searchsorted(self.classes_, m.classes_) for m in self.estimators_]
        return Models(self.estimators_, None, columns, self.n_classes_)

    def _staged_scores(self, rows: Any) -> Iterator[Floats]:
        """Sums of the weighted scores over the first 1, 2, … members."""
        if self.n_classes_ == 1:
            shape = (getattr(rows, "n_rows", None) or rows.shape[0], 1)
            yield from (np.zeros(shape) for _ in self.estimators_)
            return
        total: Floats | None = None
        answers = self._models().each(rows, self._algorithm.answer, range(len(self)), 1)
        for (_, answer), weight in zip(answers, self.estimator_weights_, strict=True):
            score = weight * self._algorithm.score(answer)
            total = score if total is None else total + score
            yield total

    def _scores(self, X: Any) -> Floats:
        *_, last = self._staged_scores(self._rows(X))
        return last

    def _decision(self, scores: Floats, n_members: int) -> Floats:
        """Scores as they are shown: votes in units of the total weight."""
        if self._algorithm.answer == "vote":
            return np.asarray(scores / self.estimator_weights_[:n_members].sum())
        return scores

    def _probability(self, scores: Floats, n_members: int) -> Floats:
        if self.n_classes_ == 1:
            return np.ones_like(scores)
        shown = self._decision(scores, n_members)
        if self.algorithm == "m1":  # the share of the votes
            return np.asarray((shown * (self.n_classes_ - 1.0) + 1.0) / self.n_classes_)
        from scipy.special import softmax

        return np.asarray(softmax(shown / (self.n_classes_ - 1.0), axis=1))

    def decision_function(self, X: Any) -> Floats:
        """Weighted scores of the classes; votes in units of their total weight.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes the score of the second minus that of the first.
        """
        scores = self._scores(X)
        return self._flat(self._decision(scores, len(self)))

    def _flat(self, shown: Floats) -> Floats:
        return shown[:, 1] - shown[:, 0] if self.n_classes_ == 2 else shown

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: the one with the largest weighted vote.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        return np.asarray(self.classes_[np.argmax(scores, axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, as the algorithm understands its scores.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Shares of the votes for "m1", otherwise a logistic function of the scores.
        """
        scores = self._scores(X)
        return self._probability(scores, len(self))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Classes by the first 1, 2, … members.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for scores in self._staged_scores(self._rows(X)):
            yield self.classes_[np.argmax(scores, axis=1)]

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Probabilities by the first 1, 2, … members.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Yields
        ------
        probability : ndarray of shape (n_samples, n_classes)
        """
        for k, scores in enumerate(self._staged_scores(self._rows(X))):
            yield self._probability(scores, k + 1)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Scores by the first 1, 2, … members.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Yields
        ------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
        """
        for k, scores in enumerate(self._staged_scores(self._rows(X))):
            yield self._flat(self._decision(scores, k + 1))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Accuracy of the first 1, 2, … members.

        Parameters
        ----------
        X, y, sample_weight
            Rows with their classes.

        Yields
        ------
        score : float
        """
        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))

    # Theory

    @property
    def edges_(self) -> Floats:
        """How much better than one half each member is on the rows of its round."""
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
        >>> print(model.error_curve(X[1::2], y[1::2]))
        """
        test = None
        if X is not None:
            codes = self._known_target(y)
            staged = self._staged_scores(self._rows(X))
            test = np.array([np.mean(np.argmax(scores, axis=1) != codes) for scores in staged])
        bound = None if self._no_bound() else self.training_error_bound_
        return ErrorCurve(self.training_errors_, bound, test)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.algorithm != "gentle"
        return tags

    # Model files

    def _learned_state(self) -> dict[str, Any]:
        own = {"normalizers": self._normalizers, "training_errors": self.training_errors_}
        return super()._learned_state() | own

    def _restore_learned(self, target: Target, learned: dict[str, Any]) -> None:
        super()._restore_learned(target, learned)
        arrays = [learned["normalizers"], learned["training_errors"]]
        fits = all(
            np.isin(getattr(m, "classes_", [None]), self.classes_).all() for m in self.estimators_
        ) and all(isinstance(a, np.ndarray) and a.shape == (len(self),) for a in arrays)
        if not fits:
            raise ModelFileError("its classes do not match its members")
        self._normalizers, self.training_errors_ = arrays


@parameters(
    **_SHARED
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
        return CARTRegressor(max_depth=3, continuous_split="at_most", n_jobs=self.n_jobs)

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
            if error >= 0.5:
                return Verdict(error, 1.0, None, 1.0, is_first)
            beta = error / (1.0 - error)
            factor = beta ** (self.learning_rate * (1.0 - each))
            member_weight = self.learning_rate * float(np.log(1.0 / beta))
            return Verdict(error, member_weight, factor, total(weight * factor))

        return judge

    def _models(self) -> Models:
        return Models(self.estimators_, None, None, 1)

    def _each(self, X: Any) -> Floats:
        """What every member says of every row, of shape (rows, members)."""
        rows = self._rows(X)
        answers = self._models().each(rows, "value", range(len(self)), 1)
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
        """
        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))


def _answers(members: list[Any], classes: NDArray[Any], rows: Any, kind: Any) -> list[Floats]:
    columns = [np.searchsorted(classes, member.classes_) for member in members]
    models = Models(members, None, columns, len(classes))
    return [answer for _, answer in models.each(rows, kind, range(len(members)), 1)]


def _weighted_median(each: Floats, weight: Floats) -> Floats:
    """The smallest value with at least half of the weight at or below it, row by row."""
    order = np.argsort(each, axis=1, kind="stable")
    below = np.cumsum(weight[order], axis=1)
    place = np.argmax(below >= 0.5 * below[:, -1:], axis=1)
    rows = np.arange(len(each))
    return np.asarray(each[rows, order[rows, place]])


def _warn_weak(algorithm: str, error: float, chance: float) -> None:
    way = 'algorithm="samme", or ' if algorithm == "m1" else ""
    warnings.warn(
        f"The first member must have a weighted error below {chance:.3g} to be boosted, got "
        f"{error:.3g}, and stays the only one; use {way}a stronger estimator.",
        WeakMemberWarning,
        stacklevel=2,
    )
