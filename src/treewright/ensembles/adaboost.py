"""AdaBoost: members in a row, each on the rows that those before get wrong, voting by weight.

A classifier adds members until one is no better than chance or makes no error; ``algorithm`` names
what a round does (:mod:`treewright.ensembles._adaboost.algorithms`). The regressor is in
:mod:`treewright.ensembles.adaboost_r2`.

It differs from scikit-learn's AdaBoost: more algorithms, gaps and text columns are taken as they
are, and the first member is kept, with a warning, where it is no better than chance.

References: Freund and Schapire (1997), *A decision-theoretic generalization of on-line learning and
an application to boosting*; Zhu, Zou, Rosset and Hastie (2009), *Multi-class AdaBoost*.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from treewright.data.schema import Target
from treewright.ensembles._adaboost.algorithms import ALGORITHMS, is_chance, is_perfect, total
from treewright.ensembles._adaboost.lesson import boosting_lesson, check_can_be_taught
from treewright.ensembles._adaboost.parameters import SHARED
from treewright.ensembles._adaboost.rounds import Boosted, Judge, Verdict
from treewright.ensembles._adaboost.theory import Theory
from treewright.ensembles._parameters import BAGGING
from treewright.ensembles.members.bodies import Models
from treewright.errors import ModelFileError, ParameterError, WeakMemberWarning
from treewright.estimator.parameters import Parameter, keep, options, parameters
from treewright.estimator.target import ClassTarget
from treewright.estimator.tasks import class_names
from treewright.estimator.training import Training, threads
from treewright.learners.cart import CARTClassifier
from treewright.tree.additive import Additive, Part, additive_of, node_answers

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from treewright.explain import Lesson

__all__ = ["AdaBoostClassifier"]

Floats = NDArray[np.float64]


@parameters(
    **SHARED
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
class AdaBoostClassifier(ClassTarget, Theory):
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
    0.818
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        algorithm: Literal["samme", "m1", "real", "gentle"] = "samme",
        method: Literal["reweight", "resample"] = "reweight",
        random_state: Any = None,
        teach: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _default_base(self) -> Any:
        return CARTClassifier(max_depth=1, continuous_split="at_most")

    # Fitting

    def _validate(self) -> None:
        super()._validate()
        base = self._base()
        if self._algorithm.answer == "probability" and not hasattr(base, "predict_proba"):
            raise ParameterError(
                f'algorithm="{self.algorithm}" needs probabilities, which {type(base).__name__} '
                'does not give; use "samme" or "m1".'
            )
        if self.teach:
            check_can_be_taught(self)

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
            if is_chance(error, chance):
                return Verdict(error, 1.0, None, 1.0, is_first)
            step = algorithm.step(score, error, y, weight, self.learning_rate)
            return Verdict(error, step.member_weight, step.factor, step.normalizer)

        return judge

    def _store(self, training: Training, boosted: Boosted) -> None:
        super()._store(training, boosted)
        chance = self._algorithm.chance(self.n_classes_)
        if self.n_classes_ > 1 and is_chance(boosted.errors[0], chance):  # after all redraws
            _warn_weak(self.algorithm, boosted.errors[0], chance)
        self._normalizers = np.array(boosted.normalizers, np.float64)
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
        answers = self._models().each(
            rows, self._algorithm.answer, range(len(self)), threads(self.n_jobs)
        )
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

    def lesson(self, X: Any, y: Any, sample_weight: Any = None) -> Lesson:
        """The rounds one after another, in words and numbers.

        Parameters
        ----------
        X, y, sample_weight
            The training data.

        Returns
        -------
        lesson : Lesson
            Who was wrong in each round, the weight of each member and of the rows; print it.

        Examples
        --------
        >>> from treewright import AdaBoostClassifier, datasets
        >>> tennis = datasets.load_play_tennis()
        >>> model = AdaBoostClassifier(n_estimators=2).fit(tennis.data, tennis.target)
        >>> lesson = model.lesson(tennis.data, tennis.target)
        >>> print(lesson[0].heading)
        Round 1
        >>> print(lesson[0].text[0])
        All 14 rows weigh 1/14 = 0.0714.
        """
        return boosting_lesson(self, X, y, sample_weight)

    def _additive(self) -> Additive:
        if self._schema is None or self.n_classes_ == 1:
            return super()._additive()
        algorithm, classes = self._algorithm, self.classes_
        whole = self.estimator_weights_.sum() if algorithm.answer == "vote" else 1.0
        parts, undivided = [], False
        for member, weight in zip(self.estimators_, self.estimator_weights_, strict=True):
            total = additive_of(member)
            own = node_answers(total, algorithm.answer)
            said = np.zeros((len(own), len(classes)))
            said[:, np.searchsorted(classes, member.classes_)] = own
            tree = total.parts[0].tree
            undivided |= tree.is_fractional
            shown = weight / whole * algorithm.score(said)
            parts.append(Part(tree, np.atleast_2d(self._flat(shown).T).T))
        names = class_names(self)
        names = names[1:] if len(names) == 2 else names
        start = np.zeros(len(names))
        return Additive(
            self._schema,
            tuple(parts),
            start,
            tuple(names),
            "score",
            len(names) == 1,
            undivided=undivided,
        )

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

        Examples
        --------
        >>> from treewright import AdaBoostClassifier, datasets
        >>> rings = datasets.two_rings(400, random_state=0)
        >>> model = AdaBoostClassifier(n_estimators=10).fit(rings.data, rings.target)
        >>> right = [int((said == rings.target).sum()) for said in model.staged_predict(rings.data)]
        >>> right[0] < right[-1]
        True
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

        Examples
        --------
        >>> from treewright import AdaBoostClassifier, datasets
        >>> rings = datasets.two_rings(400, random_state=0)
        >>> model = AdaBoostClassifier(n_estimators=10).fit(rings.data, rings.target)
        >>> stages = list(model.staged_predict_proba(rings.data))
        >>> len(stages), stages[-1].shape
        (10, (400, 2))
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

        Examples
        --------
        >>> from treewright import AdaBoostClassifier, datasets
        >>> rings = datasets.two_rings(400, random_state=0)
        >>> model = AdaBoostClassifier(n_estimators=10).fit(rings.data, rings.target)
        >>> stages = list(model.staged_decision_function(rings.data))
        >>> len(stages), stages[-1].shape
        (10, (400,))
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

        Examples
        --------
        >>> from treewright import AdaBoostClassifier, datasets
        >>> rings = datasets.two_rings(400, random_state=0)
        >>> model = AdaBoostClassifier(n_estimators=10).fit(rings.data, rings.target)
        >>> scores = list(model.staged_score(rings.data, rings.target))
        >>> scores[0] < scores[-1] == model.score(rings.data, rings.target)
        True
        """
        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))

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


def _answers(members: list[Any], classes: NDArray[Any], rows: Any, kind: Any) -> list[Floats]:
    columns = [np.searchsorted(classes, member.classes_) for member in members]
    models = Models(members, None, columns, len(classes))
    return [answer for _, answer in models.each(rows, kind, range(len(members)), 1)]


def _warn_weak(algorithm: str, error: float, chance: float) -> None:
    way = 'algorithm="samme", or ' if algorithm == "m1" else ""
    warnings.warn(
        f"The first member must have a weighted error below {chance:.3g} to be boosted, got "
        f"{error:.3g}, and stays the only one; use {way}a stronger estimator.",
        WeakMemberWarning,
        stacklevel=2,
    )
