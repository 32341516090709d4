"""What both bagging estimators do: choose the way members are grown, and read other libraries."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from treewright.ensembles._ensemble import Ensemble, Plan
from treewright.ensembles.insights.methods import Insights
from treewright.ensembles.members.any_base import AnyBase
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
from treewright.estimator.scikit import DRAWN, weights_differ
from treewright.estimator.tasks import ClassificationMixin, RegressionMixin
from treewright.estimator.training import Training, threads
from treewright.learners.cart import CARTClassifier, CARTRegressor
from treewright.learners.oblique import ObliqueTreeClassifier, ObliqueTreeRegressor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treewright.data.table import Table
    from treewright.ensembles.insights.out_of_bag import OobSums
    from treewright.ensembles.members.bodies import Body

__all__ = [
    "MOST_EXHAUSTIVE",
    "BaggingEstimator",
    "Switches",
    "grows_in_engine",
    "predicts_by_tree",
    "switches",
]


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


MOST_EXHAUSTIVE = 15
"""Most categories of which every subset is tried at the nodes of an ensemble's trees."""


class BaggingEstimator(Insights, Ensemble, AnyBase):
    """Base of both bagging estimators."""

    max_samples: float | None
    max_features: float
    bootstrap: bool
    bootstrap_features: bool
    method: str | None
    aggregation: str = "mean"

    def _default_base(self) -> Any:
        kind: Any = CARTClassifier if self._predicts_classes else CARTRegressor
        # x <= t, and no more subsets tried than by the trees of our forests
        own = {"max_exhaustive": MOST_EXHAUSTIVE} if self._predicts_classes else {}
        return kind(continuous_split="at_most", **own)

    def _gives_probability(self) -> bool:
        return hasattr(self._base(), "predict_proba")

    def _weights_differ(self) -> str | None:
        chosen = switches(self)
        takes_all = not chosen.bootstrap and chosen.max_samples in (None, 1.0)
        return weights_differ(self._base()) if takes_all else DRAWN

    @property
    def _takes_outputs(self) -> bool:
        from sklearn.utils import get_tags

        return self._is_ours() and bool(get_tags(self._base()).target_tags.multi_output)

    # Fitting

    def _validate(self) -> None:
        super()._validate()
        if self._predicts_classes and self.aggregation == "mean" and not self._gives_probability():
            raise ParameterError(
                'aggregation="mean" needs probabilities, which '
                f'{type(self._base()).__name__} does not give; use "vote".'
            )
        switches(self)

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
            self._n_drawn_features(n_features),
            chosen.bootstrap_features,
        )
        return Plan(draws, features, self._grower(training, draws, features))

    def _n_drawn_features(self, n_features: int) -> int:
        """Features drawn for each member."""
        wanted = switches(self).max_features
        if not isinstance(wanted, Integral):
            return max(1, int(wanted * n_features))
        if wanted > n_features:
            raise ParameterError(
                f"max_features must be at most the {n_features} features of X, got {wanted}."
            )
        return int(wanted)

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
        if features.takes_all and grows_in_engine(base):
            check_parameters(base)
            return EngineGrower(base, training, draws, "exact", self._answer(), n_threads)
        if predicts_by_tree(base):
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
            self._keep_rows(training.table)
            self.max_features_ = plan.features.n_drawn

    # Reading the members

    def _rows(self, X: Any, later: bool = False) -> Any:
        self._fitted()
        if self._schema is not None:
            return super()._rows(X, later)
        return self._known_rows(X)

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


def predicts_by_tree(learner: Any) -> bool:
    """Whether all that a fitted ``learner`` says is said by its tree."""
    if not isinstance(learner, TreeEstimator):
        return False
    said = getattr(type(learner), "predict_proba", None) or type(learner).predict
    return said in (ClassificationMixin.predict_proba, RegressionMixin.predict)


_ENGINE = (CARTClassifier, CARTRegressor, ObliqueTreeClassifier, ObliqueTreeRegressor)
"""Learners whose recipes the core grows forests of."""


def grows_in_engine(learner: Any) -> bool:
    """Whether nothing that ``learner`` does depends on the sample but the tree itself."""
    if type(learner) not in _ENGINE:
        return False
    own = ("class_weight", "priors", "costs", "cp")
    return (
        all(getattr(learner, name, None) is None for name in own)
        and learner.ccp_alpha == 0.0
        and learner.pruning in (None, "cost_complexity")
    )


def _n_features(rows: Any) -> int:
    schema = getattr(rows, "schema", None)
    return len(schema) if schema is not None and not hasattr(rows, "shape") else rows.shape[1]
