"""What both AdaBoost estimators share: the fit, reading rows, importances, model files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from treewright.data.encode import encode
from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.ensembles._adaboost.rounds import Boosted, Judge, Learner, boost
from treewright.ensembles.members.any_base import AnyBase
from treewright.ensembles.members.bodies import Models
from treewright.ensembles.members.views import Indexed
from treewright.errors import ModelFileError
from treewright.estimator.pages import Paged
from treewright.estimator.progress import reported
from treewright.estimator.scikit import DRAWN, weights_differ
from treewright.estimator.training import Training, drawn_seed, threads
from treewright.tree.show.tables import text_table

__all__ = ["AdaBoostEstimator"]

Floats = NDArray[np.float64]


class AdaBoostEstimator(Indexed, Paged, AnyBase):
    """Base of both AdaBoost estimators."""

    n_estimators: int
    learning_rate: float
    method: Any
    random_state: Any

    estimators_: list[Any]
    estimator_weights_: Floats
    estimator_errors_: Floats
    _schema: Schema | None

    # What a task adds

    def _judge(self, training: Training) -> Judge:
        """Who says what a member is worth."""
        raise NotImplementedError

    def _weights_differ(self) -> str | None:
        return DRAWN if self.method == "resample" else weights_differ(self._base())

    # Fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one member after another, each to the rows that those before get wrong.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numpy array, pandas, polars or Arrow table, or dict of columns; gaps allowed where
            the members allow them.
        y : array-like of shape (n_samples,)
            The target, without gaps.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row before the first round, at least 0; rows of weight 0 are left out.

        Returns
        -------
        self

        Notes
        -----
        Ctrl-C ends the boosting; the members of the rounds done are kept, and KeyboardInterrupt
        is raised.
        """
        with reported(self, X, y, sample_weight, n_parts=1) as progress:
            self._validate()
            training = self._encode(X, y, sample_weight)
            boosted = self._boost(training, progress)
            self._store(training, boosted)
        if boosted.interrupt is not None:
            raise boosted.interrupt
        if getattr(self, "teach", False):
            print(self.lesson(X, y, sample_weight))
        return self

    def _boost(self, training: Training, progress: Any) -> Boosted:
        y, classes, weight = training.y, training.classes, training.sample_weight
        weight = np.ones(len(y)) if weight is None else weight
        is_count = bool(np.all(weight == np.rint(weight)))  # of equal rows
        learner = Learner(
            self._base(),
            training.table,
            y if classes is None else classes[y],
            self.method,
            drawn_seed(self.random_state),
            float(weight.sum()) if is_count else len(weight),
            self.n_jobs,
        )
        return boost(learner, self._judge(training), weight, self.n_estimators, progress)

    def _store(self, training: Training, boosted: Boosted) -> None:
        self.estimators_ = boosted.members
        self.estimator_weights_ = np.array(boosted.weights, np.float64)
        self.estimator_errors_ = np.array(boosted.errors, np.float64)
        self._schema = None
        if isinstance(training.table, Table):
            schema = training.table.schema
            self._schema = Schema(schema.features, schema.named, training.target)
            self._keep_features(self._schema)
        else:
            self._keep_rows(training.table)
        self._keep_target(training.target, training.classes)

    # Reading the members

    def _rows(self, X: Any) -> Any:
        """New rows as members take them."""
        check_is_fitted(self)
        if self._schema is not None:
            return encode(
                X,
                schema=self._schema,
                n_threads=threads(self.n_jobs),
                owner=type(self).__name__,
            )
        return self._known_rows(X)

    def _models(self) -> Models:
        """The members, as something that can be asked."""
        raise NotImplementedError

    @property
    def estimator_(self) -> Any:
        """What was fitted in every round, not fitted."""
        check_is_fitted(self)
        return clone(self._base())

    @property
    def feature_importances_(self) -> Floats:
        """Importances of the members' features, averaged by the weights of the members."""
        check_is_fitted(self)
        if not hasattr(self.estimators_[0], "feature_importances_"):
            raise AttributeError(
                "feature_importances_ needs members that have it, got "
                f"{type(self.estimators_[0]).__name__}; use "
                "sklearn.inspection.permutation_importance."
            )
        each = np.array([member.feature_importances_ for member in self.estimators_])
        mean = (each * self.estimator_weights_[:, None]).sum(axis=0)
        total = mean.sum()  # less than the weights where a member is a single leaf
        return np.asarray(mean / total if total > 0 else mean)

    def size(self) -> str:
        """How many members there are, in words."""
        check_is_fitted(self)
        return f"{len(self.estimators_)} members"

    def summary(self) -> str:
        """The rounds, with error and weight of each member, as text.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from treewright import AdaBoostClassifier, datasets
        >>> titanic = datasets.load_titanic()
        >>> model = AdaBoostClassifier(n_estimators=3).fit(titanic.data, titanic.target)
        >>> print(model.summary())
        AdaBoostClassifier of 'y'
        Size: 3 members
        <BLANKLINE>
          weighted error weight
        1         0.2132 1.3055
        2         0.3186 0.7604
        3         0.4371 0.2528
        """
        check_is_fitted(self)
        target = None if self._schema is None else self._schema.target
        name = "" if target is None else f" of {target.name!r}"
        cells = {
            "weighted error": [f"{error:.4f}" for error in self.estimator_errors_],
            "weight": [f"{weight:.4f}" for weight in self.estimator_weights_],
        }
        head = [f"{type(self).__name__}{name}", f"Size: {self.size()}", ""]
        return "\n".join([*head, text_table(cells, index=True)])

    # scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return "estimators_" in vars(self)

    # Model files

    def _state(self) -> dict[str, Any]:
        """What was learned, in values that a model file holds."""
        check_is_fitted(self)
        return {
            "schema": self._schema,
            "members": list(self.estimators_),
            "weights": self.estimator_weights_,
            "errors": self.estimator_errors_,
            "learned": self._learned_state(),
        }

    def _restore(self, state: dict[str, Any]) -> Self:
        """Take back what ``_state`` gave."""
        schema, members = state["schema"], state["members"]
        weights, errors = state["weights"], state["errors"]
        fits = (
            type(schema) is Schema
            and schema.target is not None
            and type(members) is list
            and len(members) > 0
            and all(hasattr(member, "predict") for member in members)
            and all(getattr(m, "n_features_in_", None) == len(schema) for m in members)
            and all(_are_floats(array, len(members)) for array in (weights, errors))
        )
        if not fits:
            raise ModelFileError(f"what {type(self).__name__} learned is incomplete")
        self.estimators_ = members
        self.estimator_weights_, self.estimator_errors_ = weights, errors
        self._schema = schema
        self._keep_features(schema)
        self._restore_learned(schema.target, state["learned"])
        return self

    def _name_target(self, name: str) -> None:
        """Give the target a name."""
        assert self._schema is not None
        assert self._schema.target is not None
        self._schema = replace(self._schema, target=replace(self._schema.target, name=name))


def _are_floats(value: Any, n: int) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.shape == (n,)
        and bool(np.all(np.isfinite(value)))
    )
