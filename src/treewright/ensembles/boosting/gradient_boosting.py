"""Gradient boosting: trees that follow each other, each against the slope of the loss so far.

Scores begin at a constant. Every round grows a tree (for several classes or outputs one each) on
the gradients and hessians of the loss at the scores, from histograms of binned columns, and adds
its values, times the learning rate, to the scores. Sums are integers: threads, blocks of rows and
their order cannot change a model.

Names follow scikit-learn where it has them. Categories, text and gaps are taken as they are.

References: Friedman (2001), *Greedy function approximation: a gradient boosting machine*; Chen and
Guestrin (2016), *XGBoost*; Ke et al. (2017), *LightGBM*; Prokhorenkova et al. (2018), *CatBoost*.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Target
from treewright.data.sources import is_collection
from treewright.data.target import class_codes, class_totals, numeric_target
from treewright.ensembles.boosting.base import Boosting
from treewright.ensembles.boosting.material import Material
from treewright.ensembles.boosting.parameters import BOOSTING, CLASSES, NUMBERS
from treewright.ensembles.boosting.tasks import Aim, class_aim, number_aim
from treewright.errors import DataError, ModelFileError
from treewright.estimator.costs import class_weights
from treewright.estimator.parameters import keep, parameters
from treewright.estimator.target import ClassTarget, NumberTarget

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["GradientBoostingClassifier", "GradientBoostingRegressor"]

Floats = NDArray[np.float64]


@parameters(**BOOSTING, **CLASSES)
class GradientBoostingClassifier(ClassTarget, Boosting):
    """Trees that follow each other, each against the slope of the loss so far.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    estimators_ : sequence of Tree
        The trees, made when looked at: round after round, for more than two classes one for each.
    n_iter_ : int
        Rounds kept.
    growth_ : str
        How the trees grew.
    train_score_, validation_score_ : ndarray of shape (n_rounds,)
        Loss of the training rows, and loss or score of the rows set aside, after every round. Where
        folds have chosen the rounds: mean loss or score of their rows after every round at a rate
        of 0.3 (or ``learning_rate``, if larger), with the growth that was chosen.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_classes_ : int
        Their number.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in what splits gain; ``importances`` has other kinds.
    init_ : estimator
        What scores begin with, where ``init`` is an estimator.
    max_features_ : int
        What ``max_features`` came to, in features.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    GradientBoostingRegressor : The same for numbers.
    RandomForestClassifier : Trees that do not know of each other.

    References
    ----------
    Friedman (2001), *Greedy function approximation: a gradient boosting machine*.

    Examples
    --------
    >>> from treewright import GradientBoostingClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    classes_: NDArray[Any]
    n_classes_: int

    def __init__(
        self,
        loss: Any = "log_loss",
        *,
        learning_rate: Any = "auto",
        n_estimators: Any = "auto",
        growth: Literal["auto", "leaf", "depth", "symmetric"] = "auto",
        max_leaf_nodes: Any = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 2,
        min_child_weight: float = 1e-3,
        l1_regularization: float = 0.0,
        l2_regularization: Any = "auto",
        min_gain: float = 0.0,
        max_bins: int = 255,
        tree_method: Literal["hist", "exact"] = "hist",
        subsample: float = 1.0,
        sampling: Literal["uniform", "mvs", "goss"] = "uniform",
        max_features: Any = "auto",
        max_features_per_tree: float = 1.0,
        max_features_per_level: float = 1.0,
        dropout: float = 0.0,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Any = None,
        max_categories: int | None = 255,
        categorical_smoothing: float = 10.0,
        categorical_l2: float = 10.0,
        class_weight: Any = None,
        init: Any = "prior",
        warm_start: bool = False,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        scoring: Any = "loss",
        snapshot: Any = None,
        every: int = 10,
        verbose: int = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def predict(self, X: Any) -> Any:
        """Most probable class of each row.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Of a Dask data frame the predictions are a lazy collection.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        if is_collection(X):
            return self._lazily(X, "predict")
        score = self._score(X)
        best = score[:, 0] > 0 if score.shape[1] == 1 else np.argmax(score, axis=1)
        return np.asarray(self.classes_[np.asarray(best, np.intp)])

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        if is_collection(X):
            return self._lazily(X, "predict_proba")
        score = self._score(X)
        return self._aim.probability(score)

    def decision_function(self, X: Any) -> Floats:
        """Scores: log-odds of the second of two classes, or a column for each of several.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        score : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        score = self._score(X)
        return score[:, 0] if score.shape[1] == 1 else score

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """What ``predict`` gives after 1, 2, … rounds.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)

        Examples
        --------
        >>> from treewright import GradientBoostingClassifier, datasets
        >>> rings = datasets.two_rings(400, random_state=0)
        >>> model = GradientBoostingClassifier(n_estimators=20, random_state=0)
        >>> model = model.fit(rings.data, rings.target)
        >>> right = [int((said == rings.target).sum()) for said in model.staged_predict(rings.data)]
        >>> right[0] < right[-1]
        True
        """
        for share in self.staged_predict_proba(X):
            yield self.classes_[np.argmax(share, axis=1)]

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """What ``predict_proba`` gives after 1, 2, … rounds.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Yields
        ------
        probability : ndarray of shape (n_samples, n_classes)

        Examples
        --------
        >>> from treewright import GradientBoostingClassifier, datasets
        >>> rings = datasets.two_rings(400, random_state=0)
        >>> model = GradientBoostingClassifier(n_estimators=20, random_state=0)
        >>> model = model.fit(rings.data, rings.target)
        >>> [proba.shape for proba in model.staged_predict_proba(rings.data)][-1]
        (400, 2)
        """
        for score in self._staged_scores(X):
            yield self._aim.probability(score)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """What ``decision_function`` gives after 1, 2, … rounds.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Yields
        ------
        score : ndarray of shape (n_samples,) or (n_samples, n_classes)

        Examples
        --------
        >>> from treewright import GradientBoostingClassifier, datasets
        >>> rings = datasets.two_rings(400, random_state=0)
        >>> model = GradientBoostingClassifier(n_estimators=20, random_state=0)
        >>> model = model.fit(rings.data, rings.target)
        >>> len(list(model.staged_decision_function(rings.data)))
        20
        """
        for score in self._staged_scores(X):
            yield score[:, 0] if score.shape[1] == 1 else score

    # What the task adds

    def _weigh_target(self, name: str, y: Any, classes: Any, weight: Floats | None) -> Any:
        # weights of classes join those of rows in read_material
        return Target(name, tuple(classes.tolist())), weight, None

    def _code_target(self, y: Any, classes: NDArray[Any] | None) -> NDArray[Any]:
        return class_codes(y, classes)[0]

    def _class_factors(self, y: Any, classes: Any, weight: Floats | None) -> Floats | None:
        if self.class_weight is None:
            return None
        totals = class_totals(y, weight, len(classes))
        return class_weights(self.class_weight, classes.tolist(), totals)

    def _make_aim(self, material: Material) -> Aim:
        assert material.classes is not None
        n = len(material.classes)
        if n < 2:
            raise DataError(
                "y must hold at least two classes, got one class, "
                f"{material.classes.tolist()[0]!r}; there is nothing to tell apart."
            )
        return class_aim(self.loss, n)

    def _learn(self, material: Material) -> None:
        assert material.classes is not None
        self.classes_, self.n_classes_ = material.classes, len(material.classes)

    def _scores_of(self, model: Any, X: Any) -> Floats:
        share = np.clip(np.asarray(model.predict_proba(X), np.float64), 1e-9, 1 - 1e-9)
        if share.shape[1] == 2:
            odds = np.log(share[:, 1:] / share[:, :1])
            return odds / 2 if self.loss == "exponential" else odds
        return np.asarray(np.log(share))

    def _take_back(self, target: Target, classes: Any) -> None:
        n = len(target.classes)
        if n < 2 or np.shape(classes) != (n,):
            raise ModelFileError("its classes do not match its trees")
        self._aim = class_aim(self.loss, n)
        self.classes_, self.n_classes_ = classes, n


@parameters(**BOOSTING, **NUMBERS)
class GradientBoostingRegressor(NumberTarget, Boosting):
    """Trees that follow each other, each against the slope of the loss so far.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    estimators_ : sequence of Tree
        The trees, made when looked at: round after round, for several outputs one for each.
    n_iter_ : int
        Rounds kept.
    growth_ : str
        How the trees grew.
    train_score_, validation_score_ : ndarray of shape (n_rounds,)
        Loss of the training rows, and loss or score of the rows set aside, after every round. Where
        folds have chosen the rounds: mean loss or score of their rows after every round at a rate
        of 0.3 (or ``learning_rate``, if larger), with the growth that was chosen.
    n_outputs_ : int
        Numbers predicted for a row.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in what splits gain; ``importances`` has other kinds.
    init_ : estimator
        What scores begin with, where ``init`` is an estimator.
    max_features_ : int
        What ``max_features`` came to, in features.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    GradientBoostingClassifier : The same for classes.
    RandomForestRegressor : Trees that do not know of each other.

    References
    ----------
    Friedman (2001), *Greedy function approximation: a gradient boosting machine*.

    Examples
    --------
    >>> from treewright import GradientBoostingRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> model.n_iter_
    20
    """

    n_outputs_: int

    def __init__(
        self,
        loss: Any = "squared_error",
        *,
        quantile: float = 0.5,
        alpha: float = 0.9,
        power: float = 1.5,
        learning_rate: Any = "auto",
        n_estimators: Any = "auto",
        growth: Literal["auto", "leaf", "depth", "symmetric"] = "auto",
        max_leaf_nodes: Any = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 2,
        min_child_weight: float = 1e-3,
        l1_regularization: float = 0.0,
        l2_regularization: Any = "auto",
        min_gain: float = 0.0,
        max_bins: int = 255,
        tree_method: Literal["hist", "exact"] = "hist",
        subsample: float = 1.0,
        sampling: Literal["uniform", "mvs", "goss"] = "uniform",
        max_features: Any = "auto",
        max_features_per_tree: float = 1.0,
        max_features_per_level: float = 1.0,
        dropout: float = 0.0,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Any = None,
        max_categories: int | None = 255,
        categorical_smoothing: float = 10.0,
        categorical_l2: float = 10.0,
        init: Any = "prior",
        warm_start: bool = False,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        scoring: Any = "loss",
        snapshot: Any = None,
        every: int = 10,
        verbose: int = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def predict(self, X: Any) -> Any:
        """Predict numbers: means, medians or quantiles, as the loss has it.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        if is_collection(X):
            return self._lazily(X, "predict")
        score = self._score(X)
        return self._numbers(score)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """What ``predict`` gives after 1, 2, … rounds.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from treewright import GradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
        >>> errors = [((said - y) ** 2).mean() for said in model.staged_predict(X)]
        >>> len(errors), bool(errors[-1] < errors[0])
        (20, True)
        """
        for score in self._staged_scores(X):
            yield self._numbers(score)

    # What the task adds

    def _numbers(self, score: Floats, aim: Aim | None = None) -> Floats:
        found = (aim or self._aim).predict(score)
        return found[:, 0] if found.shape[1] == 1 else found

    def _code_target(self, y: Any, classes: NDArray[Any] | None) -> NDArray[Any]:
        return numeric_target(y)

    def _own_numbers(self) -> dict[str, float]:
        return {"quantile": self.quantile, "huber": self.alpha, "tweedie": self.power}

    def _make_aim(self, material: Material) -> Aim:
        aim = number_aim(self.loss, material.target.n_outputs, self._own_numbers())
        aim.check(material.y)
        return aim

    def _learn(self, material: Material) -> None:
        self.n_outputs_ = material.target.n_outputs

    def _scores_of(self, model: Any, X: Any) -> Floats:
        found = np.asarray(model.predict(X), np.float64)
        found = found.reshape(len(found), -1)
        if self.loss in ("poisson", "gamma", "tweedie"):
            return np.asarray(np.log(np.maximum(found, 1e-9)))
        return found

    def _take_back(self, target: Target, classes: Any) -> None:
        if target.is_classification:
            raise ModelFileError("its trees tell classes apart, which a regressor does not")
        self._aim = number_aim(self.loss, target.n_outputs, self._own_numbers())
        self.n_outputs_ = target.n_outputs

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss in ("poisson", "gamma", "tweedie")
        return tags
