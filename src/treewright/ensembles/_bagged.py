"""What both bagging estimators do: choose the way members are grown, and read other libraries."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone, is_classifier, is_regressor

from treewright.data.encode import encode
from treewright.ensembles._ensemble import Ensemble, Plan
from treewright.ensembles.insights.methods import Insights
from treewright.ensembles.members.bodies import take_rows
from treewright.ensembles.members.draws import (
    ALL,
    DISTINCT_SHARE,
    Draws,
    FeatureDraws,
    row_sampling,
)
from treewright.ensembles.members.growers import EngineGrower, Grower, ModelGrower, TreeGrower
from treewright.ensembles.members.views import TreeViews
from treewright.errors import ParameterError
from treewright.estimator.base import TreeEstimator
from treewright.estimator.parameters import check_parameters
from treewright.estimator.tasks import ClassificationMixin, RegressionMixin
from treewright.estimator.training import Training, threads
from treewright.learners.cart import CARTClassifier, CARTRegressor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.utils import Tags

    from treewright.data.table import Table
    from treewright.ensembles.insights.out_of_bag import OobSums
    from treewright.ensembles.members.bodies import Body

__all__ = ["BaggingEstimator", "Switches", "is_plain_cart", "is_plain_tree", "switches"]


class Switches(NamedTuple):
    """What bagging, pasting, subspaces and patches differ in."""

    max_samples: float | None
    max_features: float
    bootstrap: bool
    bootstrap_features: bool


_DEFAULT = Switches(None, 1.0, True, False)
_METHODS = {
    "bagging": Switches(None, 1.0, True, False),
    "pasting": Switches(DISTINCT_SHARE, 1.0, False, False),
    "subspaces": Switches(1.0, 0.5, False, False),
    "patches": Switches(DISTINCT_SHARE, 0.5, False, False),
}
_FREE = {
    "bagging": {"max_samples"},
    "pasting": {"max_samples"},
    "subspaces": {"max_features", "bootstrap_features"},
    "patches": {"max_samples", "max_features"},
}
"""What may be set beside the name; everything else contradicts it."""


def switches(estimator: Any) -> Switches:
    """The switches as they are set, or as ``method`` sets them."""
    given = Switches(*(getattr(estimator, name) for name in Switches._fields))
    method = estimator.method
    if method is None:
        return given
    named = _METHODS[method]
    for name in Switches._fields:
        value = getattr(given, name)
        if value == getattr(_DEFAULT, name) or value == getattr(named, name):
            continue
        if name not in _FREE[method]:
            raise ParameterError(
                f'method="{method}" means {name}={getattr(named, name)!r}, got {name}={value!r} '
                "beside it; drop one of them."
            )
        named = named._replace(**{name: value})
    return named


class BaggingEstimator(Insights, Ensemble):
    """Base of both bagging estimators."""

    estimator: Any
    max_samples: float | None
    max_features: float
    bootstrap: bool
    bootstrap_features: bool
    method: str | None
    aggregation: str = "mean"

    @property
    def _predicts_classes(self) -> bool:
        return isinstance(self, ClassifierMixin)  # its tags depend on the base

    def _base(self) -> Any:
        """What is fitted to every sample."""
        if self.estimator is not None:
            return self.estimator
        kind: Any = CARTClassifier if self._predicts_classes else CARTRegressor
        return kind(continuous_split="at_most")  # the tree of our forests

    def _is_ours(self) -> bool:
        return isinstance(self._base(), TreeEstimator | Ensemble)

    def _gives_probability(self) -> bool:
        return hasattr(self._base(), "predict_proba")

    @property
    def _takes_outputs(self) -> bool:
        from sklearn.utils import get_tags

        return self._is_ours() and bool(get_tags(self._base()).target_tags.multi_output)

    # Fitting

    def _validate(self) -> None:
        super()._validate()
        self._check_base()
        switches(self)

    def _read_rows(self, X: Any, kept: NDArray[np.bool_] | None) -> Any:
        if self._is_ours():
            base = self._base()
            return encode(
                X,
                categorical_features=getattr(base, "categorical_features", "from_dtype"),
                ordinal_features=getattr(base, "ordinal_features", None),
                rows=kept,
                n_threads=threads(self.n_jobs),
                owner=type(self).__name__,
            )
        rows = _indexable(X)
        return rows if kept is None else take_rows(rows, np.flatnonzero(kept))

    def _check_base(self) -> None:
        base = self._base()
        if self._predicts_classes and is_regressor(base):
            raise ParameterError(
                f"estimator must be a classifier, got {type(base).__name__}; use BaggingRegressor."
            )
        if not self._predicts_classes and is_classifier(base):
            raise ParameterError(
                f"estimator must be a regressor, got {type(base).__name__}; use BaggingClassifier."
            )
        if self._predicts_classes and self.aggregation == "mean" and not self._gives_probability():
            raise ParameterError(
                'aggregation="mean" needs probabilities, which '
                f'{type(base).__name__} does not give; use "vote".'
            )

    def _plan(self, training: Training, seed: int) -> Plan:
        chosen = switches(self)
        n_features = _n_features(training.table)
        takes_all = not chosen.bootstrap and chosen.max_samples in (None, 1.0, training.n_rows)
        sampling = ALL
        if not takes_all:
            sampling = row_sampling(
                chosen.max_samples, chosen.bootstrap, training.sample_weight, training.n_rows
            )
        draws = Draws(seed, training.n_rows, sampling)
        features = FeatureDraws(
            seed,
            n_features,
            _n_drawn_features(chosen.max_features, n_features),
            chosen.bootstrap_features,
        )
        return Plan(draws, features, self._grower(training, draws, features))

    def _shadow_grower(self, training: Training, table: Table) -> Grower:
        """Who grows the trees of the corrected importance, on a table of twice the columns."""
        n = len(training.table.schema)
        if not self._features.takes_all:
            raise ParameterError(
                'impurity_importance(method="corrected") needs members that see all features, got '
                f'max_features={self.max_features!r}; use method="oob".'
            )
        whole = FeatureDraws(self._draws.seed, 2 * n, 2 * n, False)
        return self._grower(replace(training, table=table), self._draws, whole)

    def _grower(self, training: Training, draws: Draws, features: FeatureDraws) -> Grower:
        base, n_threads = self._base(), threads(self.n_jobs)
        if not self._is_ours():
            codes = None if training.classes is None else np.arange(len(training.classes))
            return ModelGrower(
                base,
                training.table,
                training.y,
                training.sample_weight,
                training.target,
                codes,
                draws,
                features,
                n_threads,
            )
        if features.takes_all and is_plain_cart(base):
            check_parameters(base)
            return EngineGrower(base, training, draws, "exact", self._answer(), n_threads)
        if is_plain_tree(base):
            return TreeGrower(base, training, draws, features, n_threads)
        return ModelGrower(
            base,
            training.table,
            training.y,
            training.sample_weight,
            training.target,
            training.classes,
            draws,
            features,
            n_threads,
        )

    def _store(self, training: Training, plan: Plan, body: Body, sums: OobSums | None) -> None:
        super()._store(training, plan, body, sums)
        if self._schema is None:
            from sklearn.utils.validation import validate_data

            validate_data(self, training.table, skip_check_array=True)

    # Reading the members

    def _rows(self, X: Any, later: bool = False) -> Any:
        self._fitted()
        if self._schema is not None:
            return super()._rows(X, later)
        from sklearn.utils.validation import validate_data

        rows = _indexable(X)
        validate_data(self, rows, reset=False, skip_check_array=True)
        return rows

    def _views(self, body: Body) -> Sequence[Any]:
        from treewright.ensembles.members.bodies import Models

        if isinstance(body, Models):
            return body.models
        return TreeViews(body.forest, clone(self._base()), getattr(self, "classes_", None))

    @property
    def estimator_(self) -> Any:
        """What is fitted to every sample."""
        self._fitted()
        return clone(self._base())

    @property
    def estimators_features_(self) -> list[NDArray[np.int64]]:
        """Positions of the features of each member."""
        return [self._features.features(k) for k in range(len(self._fitted()))]

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        of_base = get_tags(self._base())
        tags.target_tags.positive_only = of_base.target_tags.positive_only
        if not self._is_ours():
            tags.input_tags.allow_nan = of_base.input_tags.allow_nan
            tags.input_tags.sparse = of_base.input_tags.sparse
            tags.input_tags.categorical = of_base.input_tags.categorical
            tags.input_tags.dict = False
        return tags


def is_plain_tree(learner: Any) -> bool:
    """Whether all that a fitted ``learner`` says is said by its tree."""
    if not isinstance(learner, TreeEstimator):
        return False
    said = getattr(type(learner), "predict_proba", None) or type(learner).predict
    return said in (ClassificationMixin.predict_proba, RegressionMixin.predict)


def is_plain_cart(learner: Any) -> bool:
    """Whether ``learner`` is CART with nothing that depends on the sample but the tree itself."""
    if type(learner) not in (CARTClassifier, CARTRegressor):
        return False
    own = ("class_weight", "priors", "costs", "cp")
    return (
        all(getattr(learner, name, None) is None for name in own)
        and learner.ccp_alpha == 0.0
        and not callable(learner.pruning)
    )


def _n_features(rows: Any) -> int:
    schema = getattr(rows, "schema", None)
    return len(schema) if schema is not None and not hasattr(rows, "shape") else rows.shape[1]


def _n_drawn_features(max_features: float, n_features: int) -> int:
    if not isinstance(max_features, Integral):
        return max(1, int(max_features * n_features))
    if max_features > n_features:
        raise ParameterError(
            f"max_features must be at most the {n_features} features of X, got {max_features}."
        )
    return int(max_features)


def _indexable(X: Any) -> Any:
    """Rows for estimators of other libraries: frames and matrices as they are, else an array."""
    from scipy.sparse import issparse
    from sklearn.utils import check_array

    if hasattr(X, "iloc") or hasattr(X, "__dataframe__"):
        return X
    if issparse(X):
        return X.tocsr()
    return check_array(X, dtype=None, ensure_all_finite=False)
