"""A classifier that minds costs, made of any classifier.

Three ways: decide by least expected cost (``"threshold"``, Elkan 2001), weigh training rows by
what their class costs when it is missed (``"weights"``, Ting 1998), or relabel the training rows
with the class of least expected cost, as a bag of models sees it, and learn those (``"metacost"``,
Domingos 1999). The last two leave a model that needs no costs to predict.

References: Elkan (2001), *The foundations of cost-sensitive learning*; Ting (1998), *Inducing
cost-sensitive trees via instance weighting*; Domingos (1999), *MetaCost: a general method for
making classifiers cost-sensitive*.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from treewright.data.weights import (
    Settled,
    check_lengths,
    counting_weights,
    read_weights,
    taking_part,
)
from treewright.errors import DataError, ModelFileError, ParameterError
from treewright.estimator.explained import Explained
from treewright.estimator.parameters import (
    PARAMETERS,
    Parameter,
    check_parameters,
    keep,
    options,
    parameters,
)
from treewright.estimator.scikit import DRAWN, weights_differ
from treewright.estimator.tasks import class_names
from treewright.evaluation._costs import read_costs
from treewright.evaluation._data import Rows, as_model_takes, is_class_model, read_rows
from treewright.evaluation._folds import Split, run_folds
from treewright.tree.additive import Additive, additive_of, mean_of

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["CostSensitiveClassifier"]

Floats = NDArray[np.float64]

_ROWS: dict[str, Parameter] = {
    "estimator": Parameter(
        [HasMethods(["fit", "predict"]), None],
        "estimator",
        "Any classifier; None is CARTClassifier().",
    ),
    "costs": Parameter(
        ["array-like", dict, None],
        "array-like of shape (n_classes, n_classes) or dict of dicts",
        "``costs[i][j]`` is the cost of calling a row of class i class j, in the order of "
        "``classes_``; None counts every error as 1.",
    ),
    "method": Parameter(
        options("threshold", "weights", "metacost"),
        '{"threshold", "weights", "metacost"}',
        'How costs act: "threshold" decides by least expected cost, "weights" weighs the training '
        'rows, "metacost" relabels them.',
    ),
    "n_estimators": Parameter(
        [Interval(Integral, 1, None, closed="left")],
        "int",
        'Models in the bag that relabels (only with ``method="metacost"``).',
    ),
    "max_samples": Parameter(
        [Interval(RealNotInt, 0.0, 1.0, closed="right")],
        "float",
        'Rows drawn for each model of the bag, as a share (only with ``method="metacost"``).',
    ),
    "out_of_bag": Parameter(
        ["boolean"],
        "bool",
        "Whether a row is relabelled by the models that did not draw it, instead of by all (only "
        'with ``method="metacost"``).',
    ),
    "random_state": Parameter(["random_state"], "int or RandomState", "Seed of the bag."),
    "n_jobs": PARAMETERS["n_jobs"],
}


@parameters(**_ROWS)
class CostSensitiveClassifier(Explained, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose decisions cost little, whatever its errors count.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    cost_matrix_ : ndarray of shape (n_classes, n_classes)
        The costs in the order of ``classes_``.
    relabelled_ : ndarray of shape (n_samples,)
        The classes that the model learned (only with ``method="metacost"``).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    choose_threshold : The threshold of least cost on held-out rows.

    References
    ----------
    Domingos (1999), *MetaCost: a general method for making classifiers cost-sensitive*.

    Examples
    --------
    >>> from treewright import C45Classifier, CostSensitiveClassifier, cross_validate, datasets
    >>> credit = datasets.load_german_credit()
    >>> costs = {"bad": {"good": 5}, "good": {"bad": 1}}
    >>> model = CostSensitiveClassifier(C45Classifier(), costs)
    >>> plain = cross_validate(
    ...     C45Classifier(), credit.data, credit.target, costs=costs, random_state=0
    ... )
    >>> minding = cross_validate(model, credit.data, credit.target, costs=costs, random_state=0)
    >>> bool(minding.mean_cost < plain.mean_cost)
    True
    """

    estimator_: Any
    classes_: NDArray[Any]
    cost_matrix_: Floats

    def __init__(
        self,
        estimator: Any = None,
        costs: Any = None,
        *,
        method: Literal["threshold", "weights", "metacost"] = "threshold",
        n_estimators: int = 10,
        max_samples: float = 1.0,
        out_of_bag: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model so that its decisions cost little.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Passed on to the model.

        Returns
        -------
        self
        """
        check_parameters(self)
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        rows = read_rows(X, y, classification=True)
        assert rows.classes is not None
        costs = read_costs(self.costs, rows.classes.tolist())
        if costs is None:
            costs = 1.0 - np.eye(len(rows.classes))
        weight = _checked(sample_weight, len(rows))
        fitted, labels = self._fitted_by(rows, costs, weight)
        self.estimator_ = fitted
        self.classes_ = rows.classes
        self.cost_matrix_ = costs
        self.__dict__.pop("relabelled_", None)
        if labels is not None:
            self.relabelled_ = labels
        self._copy_names()
        return self

    def _fitted_by(
        self, rows: Rows, costs: Floats, weight: Floats | None
    ) -> tuple[Any, NDArray[Any] | None]:
        """The fitted model, and the labels that it learned where they are new."""
        model = clone(self._model())
        if not is_class_model(model):
            raise ParameterError(
                f"CostSensitiveClassifier is for classes, but {type(model).__name__} predicts "
                "numbers; pass a classifier."
            )
        X = rows.features_for(model)
        if self.method == "threshold":
            if not hasattr(model, "predict_proba"):
                raise ParameterError(
                    'method="threshold" needs class probabilities, which '
                    f'{type(model).__name__} does not give; use method="metacost".'
                )
            return _fit(model, X, rows.y, weight), None
        if self.method == "weights":
            assert rows.codes is not None
            totals = np.asarray(np.bincount(rows.codes, weight, len(costs)), np.float64)
            factor = _class_factors(costs, totals)
            weights = factor[rows.codes] if weight is None else factor[rows.codes] * weight
            return _fit(model, X, rows.y, weights.view(Settled)), None
        labels = self._relabelled(model, rows, costs, weight)
        return _fit(model, X, labels, weight), labels

    def _relabelled(
        self, model: Any, rows: Rows, costs: Floats, weight: Floats | None
    ) -> NDArray[Any]:
        """The class of least expected cost in the eyes of a bag of models."""
        random = check_random_state(self.random_state)
        n = len(rows)
        chances = None if weight is None else weight / weight.sum()
        size = max(1, round(self.max_samples * n))
        everyone = np.arange(n)
        splits = []
        for _ in range(self.n_estimators):
            drawn = np.sort(random.choice(n, size, p=chances))
            splits.append(
                Split(drawn, np.setdiff1d(everyone, drawn) if self.out_of_bag else everyone)
            )
        splits = [split for split in splits if len(split.test)]
        run = run_folds({"": model}, rows, splits, n_jobs=self.n_jobs, checked=False)[""]
        total, times = np.zeros((n, len(costs))), np.zeros(n)
        for split, answer in zip(splits, run.answers, strict=True):
            said = answer.test
            sure = said.proba if said.proba is not None and said.is_probability else None
            total[split.test] += np.eye(len(costs))[said.predicted] if sure is None else sure
            times[split.test] += 1
        assert rows.classes is not None
        assert rows.codes is not None
        codes = np.where(times > 0, (total @ costs).argmin(axis=1), rows.codes)
        return np.asarray(rows.classes[codes])

    def _model(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from treewright.learners.cart import CARTClassifier

        return CARTClassifier()

    def _reads_as(self) -> Any:
        """Who says how columns are read; see :mod:`treewright.evaluation._data`."""
        return self._model()

    def _copy_names(self) -> None:
        self.__dict__.pop("feature_names_in_", None)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: that of least expected cost, or what the cost-minded model says.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if self.method != "threshold":
            return np.asarray(self.estimator_.predict(as_model_takes(self.estimator_, X)))
        expected = self.predict_proba(X) @ self.cost_matrix_
        return np.asarray(self.classes_[expected.argmin(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, as the fitted model gives it.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        X = as_model_takes(self.estimator_, X)
        found = np.asarray(self.estimator_.predict_proba(X), np.float64)
        known = np.asarray(self.estimator_.classes_)
        if len(known) == len(self.classes_):
            return found
        # relabelling may leave a class without rows
        wide = np.zeros((len(found), len(self.classes_)))
        wide[:, np.isin(self.classes_, known)] = found
        return wide

    def _additive(self) -> Additive:
        check_is_fitted(self)
        found, known = additive_of(self.estimator_), np.asarray(self.estimator_.classes_)
        if found.says not in ("probability", "votes") or len(known) == len(self.classes_):
            return found
        places = np.searchsorted(self.classes_, known)
        return mean_of([found], found.schema, class_names(self), columns=[places])

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of the probability of each class.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _weights_differ(self) -> str | None:
        return DRAWN if self.method == "metacost" else weights_differ(self._model())

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import get_tags

        tags: Tags = super().__sklearn_tags__()
        inner = get_tags(self._model())
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags
        return tags

    # Model files

    def _state(self) -> dict[str, Any]:
        return {
            "estimator": self.estimator_,
            "classes": self.classes_,
            "costs": self.cost_matrix_,
            "relabelled": getattr(self, "relabelled_", None),
        }

    def _restore(self, state: dict[str, Any]) -> Self:
        classes, costs = state["classes"], state["costs"]
        if not hasattr(state["estimator"], "predict") or np.shape(costs) != (len(classes),) * 2:
            raise ModelFileError(f"what {type(self).__name__} learned is incomplete")
        self.estimator_, self.classes_, self.cost_matrix_ = state["estimator"], classes, costs
        if state["relabelled"] is not None:
            self.relabelled_ = state["relabelled"]
        self._copy_names()
        return self


def _checked(sample_weight: Any, n: int) -> Floats | None:
    """Weights as numbers, zeros included."""
    if sample_weight is None:
        return None
    read_weights(sample_weight, n)
    weight = np.asarray(sample_weight, np.float64)
    check_lengths(n, len(weight))
    used = taking_part(weight)
    counted = counting_weights(weight[used])
    whole = np.zeros(len(weight))
    whole[used] = 1.0 if counted is None else counted
    return whole


def _fit(model: Any, X: Any, y: NDArray[Any], weight: Floats | None) -> Any:
    if weight is None:
        model.fit(X, y)
        return model
    if not has_fit_parameter(model, "sample_weight"):
        raise ParameterError(
            f"Weights of rows need a model that takes sample_weight, which {type(model).__name__} "
            'does not; use method="threshold" or "metacost".'
        )
    model.fit(X, y, sample_weight=weight)
    return model


def _class_factors(costs: Floats, totals: Floats) -> Floats:
    """Weight of a row of each class: what it costs to miss it; the total stays as it was."""
    if len(costs) == 1:
        return np.ones(1)
    missed = (costs - np.diag(costs)[:, None]).sum(axis=1)
    if (missed <= 0).any():
        raise ParameterError(
            'method="weights" needs every class to cost more when it is missed than when it is '
            f'found, got {costs.tolist()}; use method="threshold" or "metacost".'
        )
    return np.asarray(missed * (totals.sum() / (missed @ totals)))
