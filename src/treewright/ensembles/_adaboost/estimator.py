"""What both AdaBoost estimators share: the fit, reading rows, importances, model files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from treewright.data.encode import encode
from treewright.data.schema import Schema, Target
from treewright.data.table import Table
from treewright.data.weights import check_lengths
from treewright.ensembles._adaboost.rounds import Boosted, Judge, Learner, boost
from treewright.ensembles._bagged import _indexable
from treewright.ensembles._ensemble import Ensemble
from treewright.ensembles.members.bodies import Models, take_rows
from treewright.errors import ModelFileError, ParameterError
from treewright.estimator.base import TreeEstimator
from treewright.estimator.parameters import check_parameters
from treewright.estimator.progress import Followed, reported
from treewright.estimator.scikit import TableInputMixin
from treewright.estimator.training import Sample, check_sample, drawn_seed, threads
from treewright.tree.show.tables import text_table

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["AdaBoostEstimator"]

Floats = NDArray[np.float64]


class AdaBoostEstimator(Followed, TableInputMixin, BaseEstimator):  # type: ignore[misc]
    """Base of both AdaBoost estimators."""

    estimator: Any
    n_estimators: int
    learning_rate: float
    method: Any
    random_state: Any
    n_jobs: int | None

    estimators_: list[Any]
    estimator_weights_: Floats
    estimator_errors_: Floats
    n_features_in_: int
    _schema: Schema | None

    # What a task adds

    def _default_base(self) -> Any:
        """The member where the user names none."""
        raise NotImplementedError

    def _judge(self, rows: Any, sample: Sample) -> Judge:
        """Who says what a member is worth."""
        raise NotImplementedError

    def _store_task(self, rows: Any, sample: Sample, boosted: Boosted) -> None:
        """Set the fitted attributes of the task."""
        raise NotImplementedError

    def _read_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        raise NotImplementedError

    # Fitting

    def _base(self) -> Any:
        return self._default_base() if self.estimator is None else self.estimator

    def _is_ours(self) -> bool:
        return isinstance(self._base(), TreeEstimator | Ensemble | AdaBoostEstimator)

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
            check_parameters(self)
            self._check_base()
            sample = check_sample(self, X, y, sample_weight)
            rows = self._training_rows(sample)
            target = sample.y if sample.classes is None else sample.classes[sample.y]
            weight = sample.sample_weight
            weight = np.ones(len(target)) if weight is None else weight
            is_count = bool(np.all(weight == np.rint(weight)))  # of equal rows
            learner = Learner(
                self._base(),
                rows,
                target,
                self.method,
                drawn_seed(self.random_state),
                float(weight.sum()) if is_count else len(weight),
            )
            boosted = boost(learner, self._judge(rows, sample), weight, self.n_estimators, progress)
            self._store(rows, sample, boosted)
        if boosted.interrupt is not None:
            raise boosted.interrupt
        return self

    def _check_base(self) -> None:
        base, classes = self._base(), isinstance(self, ClassifierMixin)
        if (is_regressor if classes else is_classifier)(base):
            kind, other = ("classifier", "Regressor") if classes else ("regressor", "Classifier")
            raise ParameterError(
                f"estimator must be a {kind}, got {type(base).__name__}; use AdaBoost{other}."
            )

    def _training_rows(self, sample: Sample) -> Any:
        """The rows as members take them: one table for ours, otherwise as they came."""
        base = self._base()
        if self._is_ours():
            rows: Any = encode(
                sample.X,
                categorical_features=getattr(base, "categorical_features", "from_dtype"),
                ordinal_features=getattr(base, "ordinal_features", None),
                rows=sample.rows,
                n_threads=threads(self.n_jobs),
                owner=type(self).__name__,
            )
            check_lengths(rows.n_rows, len(sample.y))
            return rows
        rows = _indexable(sample.X)
        check_lengths(rows.shape[0], sample.n_given)
        return rows if sample.rows is None else take_rows(rows, np.flatnonzero(sample.rows))

    def _store(self, rows: Any, sample: Sample, boosted: Boosted) -> None:
        self.estimators_ = boosted.members
        self.estimator_weights_ = np.array(boosted.weights)
        self.estimator_errors_ = np.array(boosted.errors)
        self.__dict__.pop("feature_names_in_", None)
        self._schema = None
        if isinstance(rows, Table):
            classes = () if sample.classes is None else tuple(sample.classes.tolist())
            schema = rows.schema
            self._take_schema(
                Schema(schema.features, schema.named, Target(sample.target_name, classes))
            )
        else:
            from sklearn.utils.validation import validate_data

            validate_data(self, rows, skip_check_array=True)
        self._store_task(rows, sample, boosted)

    def _take_schema(self, schema: Schema) -> None:
        self._schema = schema
        self.n_features_in_ = len(schema)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)

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
        from sklearn.utils.validation import validate_data

        rows = _indexable(X)
        validate_data(self, rows, reset=False, skip_check_array=True)
        return rows

    def _models(self) -> Models:
        """The members, as something that can be asked."""
        raise NotImplementedError

    @property
    def estimator_(self) -> Any:
        """What was fitted in every round, not fitted."""
        from sklearn.base import clone

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
        each = [member.feature_importances_ for member in self.estimators_]
        return np.asarray(np.average(each, axis=0, weights=self.estimator_weights_))

    def __len__(self) -> int:
        """Number of members."""
        return len(self.estimators_)

    def __getitem__(self, k: int) -> Any:
        """Member ``k``."""
        return self.estimators_[k]

    def size(self) -> str:
        """How many members there are, in words."""
        check_is_fitted(self)
        return f"{len(self.estimators_)} members"

    def summary(self) -> str:
        """The rounds, with error and weight of each member, as text.

        Returns
        -------
        text : str
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

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        if not self._is_ours():
            inner = get_tags(self._base()).input_tags
            tags.input_tags.allow_nan = inner.allow_nan
            tags.input_tags.sparse = inner.sparse
            tags.input_tags.categorical = inner.categorical
            tags.input_tags.dict = False
        return tags

    # Model files

    def _state(self) -> dict[str, Any]:
        """What was learned, in values that a model file holds."""
        check_is_fitted(self)
        return {
            "schema": self._schema,
            "members": list(self.estimators_),
            "weights": self.estimator_weights_,
            "errors": self.estimator_errors_,
            "learned": self._learned(),
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
        self._take_schema(schema)
        self._take_learned(state["learned"])
        return self

    def _learned(self) -> dict[str, Any]:
        """What the task keeps beside the members."""
        raise NotImplementedError

    def _take_learned(self, learned: dict[str, Any]) -> None:
        """Check and take back what ``_learned`` gave."""
        raise NotImplementedError

    def _name_target(self, name: str) -> None:
        """Give the target a name."""
        from dataclasses import replace

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
