"""Voting: models of different kinds that decide together.

scikit-learn's voting, with three things added: text columns and gaps go to members that take them,
weights can be learned from rows held out, and what was fitted can be saved. Members are fitted on
the classes as they came; scikit-learn fits them on codes.

References: Breiman (1996), *Stacked regressions* (weights that are not negative); Kuncheva (2014),
*Combining pattern classifiers*, section 4.3 (log odds as weights of votes).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import VotingClassifier as SklearnVotingClassifier
from sklearn.ensemble import VotingRegressor as SklearnVotingRegressor
from sklearn.utils.validation import check_is_fitted

from treewright.ensembles._combining_parameters import VOTING
from treewright.ensembles._committee import Committee, Material, answer, out_of_fold
from treewright.errors import ModelFileError, ParameterError
from treewright.estimator.parameters import keep, parameters
from treewright.estimator.target import ClassTarget
from treewright.estimator.tasks import class_names
from treewright.tree.additive import Additive, Says, additive_of, mean_of, votes_of

__all__ = ["VotingClassifier", "VotingRegressor"]

Floats = NDArray[np.float64]

LEAST_ERROR = 1e-3
"""Error rate below which a voter's weight grows no more."""


class _Voting(Committee):
    """Fitting members and weighing them."""

    weights: Any
    weights_: Floats
    held_out_scores_: Floats
    cv: Any
    random_state: Any

    def _method(self) -> str:
        """What is asked of a member."""
        raise NotImplementedError

    def _learn_weights(self, said: list[Floats], material: Material) -> Floats:
        """Weights of members by what they said of rows held out."""
        raise NotImplementedError

    def _score_held_out(self, said: Floats, material: Material) -> float:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **metadata: Any) -> Self:
        """Fit every member, and weigh them if asked.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Handed to every member; gaps and text where all members take them.
        y : array-like of shape (n_samples,)
            The target, without gaps.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, at least 0; all members must take weights then.
        **metadata
            For members and the splitter of ``cv`` that ask for it, such as ``groups``; by
            scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        material = self._material(X, y, sample_weight, metadata=metadata)
        weights, scores = self._weigh(material)
        self._keep_members(self._fit_members(material), material)
        self.weights_ = weights
        self.__dict__.pop("held_out_scores_", None)
        if scores is not None:
            self.held_out_scores_ = scores
        return self

    def _weigh(self, material: Material) -> tuple[Floats, Floats | None]:
        """Weights of the members that take part, and their scores where they were learned."""
        members = [member for _, member in self._members()]
        n = len(members)
        if self.weights is None:
            return np.full(n, 1 / n), None
        if not isinstance(self.weights, str):
            return self._given_weights(), None
        splits = self._splits(material, self.cv, self.random_state)
        said = out_of_fold(members, material, splits, [self._method()] * n, self)
        weights = self._learn_weights(said, material)
        if not weights.sum() > 0:  # nobody beats chance
            weights = np.ones(n)
        scores = [self._score_held_out(one, material) for one in said]
        return weights / weights.sum(), np.array(scores)

    def _given_weights(self) -> Floats:
        weights = np.asarray(self.weights, np.float64)
        if weights.shape != (len(self.estimators),):
            raise ParameterError(
                f"weights must hold one number for each of the {len(self.estimators)} estimators, "
                f"got shape {weights.shape}."
            )
        taken = np.array([not isinstance(e, str) for _, e in self.estimators])
        weights = weights[taken]
        if not np.all(np.isfinite(weights)) or np.any(weights < 0) or weights.sum() == 0:
            raise ParameterError(
                f"weights must be finite, at least 0 and not all 0, got {weights.tolist()}."
            )
        return np.asarray(weights / weights.sum())

    def _mean(self, X: Any, method: str) -> Floats:
        """Weighted mean of what the members say."""
        rows = self._readable(X)
        classes = getattr(self, "classes_", None)
        total: Floats = np.zeros(1)
        for weight, model in zip(self.weights_.tolist(), self.estimators_, strict=True):
            total = total + weight * answer(model, rows, method, classes)
        return total

    def _fitted_members(self) -> list[Any]:
        check_is_fitted(self)
        return self.estimators_

    # Model files

    def _state(self) -> dict[str, Any]:
        """What was learned, in values that a model file holds."""
        scores = getattr(self, "held_out_scores_", None)
        return {**self._member_state(), "weights": self.weights_, "scores": scores}

    def _restore(self, state: dict[str, Any]) -> Self:
        """Take back what ``_state`` gave."""
        self._restore_members(state)
        weights, scores = state["weights"], state["scores"]
        shape = (len(self.estimators_),)
        for array in (weights, scores):
            fits = isinstance(array, np.ndarray) and array.dtype == np.float64
            if array is not None and (not fits or array.shape != shape):
                raise ModelFileError("the weights of its members are damaged")
        if weights is None or not np.all(np.isfinite(weights)) or np.any(weights < 0):
            raise ModelFileError("the weights of its members are damaged")
        self.weights_ = weights
        if scores is not None:
            self.held_out_scores_ = scores
        return self


@parameters(**VOTING)
class VotingClassifier(_Voting, SklearnVotingClassifier):  # type: ignore[misc]
    """Classifiers of different kinds that vote.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    named_estimators_ : Bunch
        The same by name.
    weights_ : ndarray of shape (n_members,)
        What each member counts; they sum to 1.
    held_out_scores_ : ndarray of shape (n_members,)
        Accuracy of each member on the rows held out (with ``weights="learned"``).
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    StackingClassifier : Learns how to combine the members.

    References
    ----------
    Kuncheva (2014), *Combining pattern classifiers*.

    Examples
    --------
    >>> from treewright import C45Classifier, CARTClassifier, VotingClassifier, datasets
    >>> titanic = datasets.load_titanic()
    >>> model = VotingClassifier(
    ...     [("cart", CARTClassifier(cp=0.01)), ("c45", C45Classifier())], voting="soft"
    ... )
    >>> model = model.fit(titanic.data, titanic.target)
    >>> bool(model.score(titanic.data, titanic.target) > 0.8)
    True
    """

    def _additive(self) -> Additive:
        members = [additive_of(member) for member in self._fitted_members()]
        if self.voting == "hard":
            members = [votes_of(member) for member in members]
        return _weighted(members, self.weights_, "probability", class_names(self), self)

    predict_log_proba = ClassTarget.predict_log_proba

    def __init__(
        self,
        estimators: Any,
        *,
        voting: Literal["hard", "soft"] = "hard",
        weights: Any = None,
        cv: Any = None,
        flatten_transform: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _method(self) -> str:
        return "predict" if self.voting == "hard" else "predict_proba"

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: the one with most votes, or the largest mean probability.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Of classes with equally many votes the first.
        """
        mean = self._mean(X, self._method())
        return np.asarray(self.classes_[np.argmax(mean, axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """Share of the votes, or mean probability, of each class.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._mean(X, self._method())

    def transform(self, X: Any) -> Any:
        """What each member says: labels of a hard vote, probabilities of a soft one.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        answers : ndarray
            Of shape (n_samples, n_members) for a hard vote; for a soft one (n_samples, n_members *
            n_classes), or (n_members, n_samples, n_classes) without ``flatten_transform``.

        Examples
        --------
        >>> from treewright import C45Classifier, CARTClassifier, VotingClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> members = [("c45", C45Classifier()), ("cart", CARTClassifier(max_depth=2))]
        >>> model = VotingClassifier(members, voting="hard").fit(iris.data, iris.target)
        >>> model.transform(iris.data)[:2]
        array([['setosa', 'setosa'],
               ['setosa', 'setosa']], dtype=object)
        """
        rows = self._readable(X)
        if self.voting == "hard":
            return np.stack([np.asarray(m.predict(rows)) for m in self.estimators_], axis=1)
        said = [answer(m, rows, "predict_proba", self.classes_) for m in self.estimators_]
        return np.hstack(said) if self.flatten_transform else np.stack(said)

    def _learn_weights(self, said: list[Floats], material: Material) -> Floats:
        assert material.classes is not None
        truth = np.asarray(material.y[:, None] == material.classes[None, :], np.float64)
        if self.voting == "soft":
            return least_squares(
                [s.ravel() for s in said], truth.ravel(), _repeated(material, said)
            )
        scores = np.array([self._score_held_out(one, material) for one in said])
        error = np.clip(1 - scores, LEAST_ERROR, 1 - LEAST_ERROR)
        odds = np.log((1 - error) / error) + np.log(max(len(material.classes) - 1, 1))
        return np.asarray(np.maximum(odds, 0.0))

    def _score_held_out(self, said: Floats, material: Material) -> float:
        assert material.classes is not None
        right = material.classes[np.argmax(said, axis=1)] == material.y
        return float(np.average(right, weights=material.weight))


@parameters(**VOTING)
class VotingRegressor(_Voting, SklearnVotingRegressor):  # type: ignore[misc]
    """Regressors of different kinds whose mean is taken.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    named_estimators_ : Bunch
        The same by name.
    weights_ : ndarray of shape (n_members,)
        What each member counts; they sum to 1.
    held_out_scores_ : ndarray of shape (n_members,)
        R² of each member on the rows held out (with ``weights="learned"``).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    StackingRegressor : Learns how to combine the members.

    References
    ----------
    Breiman (1996), *Stacked regressions*.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from treewright import CARTRegressor, RandomForestRegressor, VotingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [
    ...     ("tree", CARTRegressor(max_depth=2)),
    ...     ("forest", RandomForestRegressor(n_estimators=20, random_state=0)),
    ... ]
    >>> model = VotingRegressor(members, weights="learned", random_state=0).fit(X, y)
    >>> bool(model.weights_[1] > model.weights_[0])
    True
    """

    def __init__(
        self,
        estimators: Any,
        *,
        weights: Any = None,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _method(self) -> str:
        return "predict"

    def _additive(self) -> Additive:
        members = [additive_of(member) for member in self._fitted_members()]
        return _weighted(members, self.weights_, "value", members[0].outputs, self)

    def predict(self, X: Any) -> Floats:
        """Weighted mean over the members of what each predicts.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        values = self._mean(X, "predict")
        return values[:, 0] if values.shape[1] == 1 else values

    def transform(self, X: Any) -> Floats:
        """What each member predicts.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        answers : ndarray of shape (n_samples, n_members)

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from treewright import CARTRegressor, MARSRegressor, VotingRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> members = [("cart", CARTRegressor(max_depth=3)), ("mars", MARSRegressor())]
        >>> model = VotingRegressor(members).fit(X, y)
        >>> model.transform(X).shape
        (442, 2)
        """
        rows = self._readable(X)
        return np.hstack([answer(model, rows, "predict", None) for model in self.estimators_])

    def _learn_weights(self, said: list[Floats], material: Material) -> Floats:
        columns = [one.ravel() for one in said]
        return least_squares(columns, material.y.ravel(), _repeated(material, said))

    def _score_held_out(self, said: Floats, material: Material) -> float:
        from sklearn.metrics import r2_score

        truth = material.y.reshape(len(said), -1)
        return float(r2_score(truth, said, sample_weight=material.weight))


def _weighted(
    members: list[Additive], weights: Any, says: Says, outputs: Sequence[str], owner: Any
) -> Additive:
    for member, estimator in zip(members, owner.estimators_, strict=True):
        if member.says != says:
            raise ParameterError(
                f"shap_values needs members that are sums of trees in what they vote with, which "
                f"{type(estimator).__name__} is not; explain the members of estimators_ one by one."
            )
        known = getattr(estimator, "classes_", None)
        if known is not None and len(known) != len(outputs):
            raise ParameterError(
                "shap_values needs members that know all classes, but "
                f"{type(estimator).__name__} knows {len(known)} of {len(outputs)}."
            )
    return mean_of(members, members[0].schema, outputs, weights=weights)


def least_squares(columns: list[Floats], truth: Floats, weight: Floats | None = None) -> Floats:
    """Weights of columns, none negative, whose sum comes closest to ``truth``.

    Parameters
    ----------
    columns
        What each member said.
    truth
        What it should have been.
    weight
        Of each entry.

    Examples
    --------
    >>> a, b = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    >>> least_squares([a, b], 2 * a + b).round(6).tolist()
    [2.0, 1.0]
    """
    from scipy.optimize import nnls

    matrix = np.column_stack(columns)
    root = 1.0 if weight is None else np.sqrt(weight)
    # the squares of a tall matrix first, so that it is gone through once
    scaled = matrix * np.reshape(root, (-1, 1))
    square, product = scaled.T @ scaled, scaled.T @ (truth * root)
    ridge = 1e-10 * max(float(np.trace(square)) / len(square), 1e-300)
    lower = np.linalg.cholesky(square + ridge * np.eye(len(square)))
    return np.asarray(nnls(lower.T, np.linalg.solve(lower, product))[0])


def _repeated(material: Material, said: list[Floats]) -> Floats | None:
    """Row weights for entries of flattened answers."""
    return None if material.weight is None else np.repeat(material.weight, said[0].shape[1])
