"""What random forests and extremely randomised trees share: their trees, draws and checks."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone

from treewright.data.encode import encode
from treewright.data.table import Table
from treewright.ensembles._bagged import MOST_EXHAUSTIVE, grows_in_engine, predicts_by_tree
from treewright.ensembles._ensemble import Ensemble, Plan
from treewright.ensembles.insights.methods import Insights
from treewright.ensembles.members.draws import ALL, Draws, FeatureDraws, row_sampling
from treewright.ensembles.members.growers import EngineGrower, Grower, PrunedGrower, TreeGrower
from treewright.ensembles.members.views import TreeViews
from treewright.errors import ParameterError
from treewright.estimator.parameters import check_parameters
from treewright.estimator.scikit import DRAWN, weights_differ
from treewright.estimator.training import Training, threads
from treewright.learners.cart import CARTClassifier, CARTRegressor
from treewright.tree.forest.grow import Sampling
from treewright.tree.growing.stopping import features_per_node

if TYPE_CHECKING:
    from treewright.ensembles.members.bodies import Body

__all__ = ["ForestEstimator"]

TREE_PARAMETERS = (
    "criterion",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "monotonic_cst",
    "missing",
    "ccp_alpha",
    "tree_method",
)
"""What says how CART grows a tree; with another base these belong to the base."""


class ForestEstimator(Insights, Ensemble):
    """Base of the forests."""

    splitter = "best"
    base: Any = None
    sampling: Any = None
    class_weight: Any = None
    max_features: Any
    max_samples: Any
    bootstrap: bool
    replace: bool
    tree_method: Any
    redraw: bool
    ccp_alpha: float

    @property
    def _predicts_classes(self) -> bool:
        return isinstance(self, ClassifierMixin)

    def _weights_differ(self) -> str | None:
        return DRAWN if self.bootstrap else weights_differ(self._learner())

    # The trees

    def _learner(self) -> Any:
        """The estimator of a single tree."""
        if self.base is not None:
            return self.base
        own = self.get_params(deep=False)
        shared = {
            name: own[name]
            for name in (*TREE_PARAMETERS, "max_features")
            if name not in ("criterion", "tree_method")
        }
        criterion = "entropy" if own["criterion"] == "log_loss" else own["criterion"]
        kind: Any = CARTClassifier if self._predicts_classes else CARTRegressor
        if self.class_weight == "balanced_subsample":
            shared["class_weight"] = "balanced"
        return kind(
            criterion=criterion,
            splitter=self.splitter,
            # x <= t, the test of randomForest, ranger and scikit-learn
            continuous_split="at_most",
            # a forest has many nodes, and need not have the best subset at each
            **({"max_exhaustive": MOST_EXHAUSTIVE} if self._predicts_classes else {}),
            # the risk that scikit-learn's forests prune by
            pruning_risk="impurity",
            **shared,
        )

    def _check_base(self) -> None:
        """Refuse a base whose trees cannot draw features, and parameters that would not count."""
        base = self.base
        if base is None:
            return
        if (
            not predicts_by_tree(base)
            or isinstance(base, ClassifierMixin) != self._predicts_classes
        ):
            known = "CART, Hunt, CTree or CHAID"
            if self._predicts_classes:
                known = "CART, Hunt, C45, ID3, CTree or CHAID"
            raise ParameterError(
                f"base must be a tree learner of treewright for the task at hand ({known}), got "
                f"{type(base).__name__}; Bagging takes any estimator."
            )
        defaults = inspect.signature(type(self).__init__).parameters
        for name in TREE_PARAMETERS:
            if name in defaults and getattr(self, name) != defaults[name].default:
                raise ParameterError(
                    f"{name} must be left at its default with base, which has parameters of its "
                    f"own, got {getattr(self, name)!r}; set it in base."
                )

    # The data

    def _validate(self) -> None:
        super()._validate()
        self._check_base()
        self._check_draws()

    def _read_rows(self, X: Any, kept: NDArray[np.bool_] | None) -> Table:
        nominal, ordinal = self.categorical_features, self.ordinal_features
        if self.base is not None:
            if isinstance(nominal, str):
                nominal = self.base.categorical_features
            ordinal = self.base.ordinal_features if ordinal is None else ordinal
        return encode(
            X,
            categorical_features=nominal,
            ordinal_features=ordinal,
            rows=kept,
            n_threads=threads(self.n_jobs),
            owner=type(self).__name__,
        )

    def _check_draws(self) -> None:
        if self.bootstrap:
            return
        given = [
            name
            for name, off in (("max_samples", None), ("replace", True), ("sampling", None))
            if getattr(self, name) != off
        ]
        if given:
            raise ParameterError(
                f"{given[0]} says how rows are drawn, got {getattr(self, given[0])!r} with "
                "bootstrap=False, which draws none; set bootstrap=True, or leave it out."
            )

    def _sampling(self, training: Training) -> Sampling:
        if not self.bootstrap:
            return ALL
        if self.sampling is None:
            return row_sampling(
                self.max_samples, self.replace, training.sample_weight, training.n_rows
            )
        rows = np.bincount(training.y, minlength=len(training.target.classes))
        each = int(rows.min())
        if self.max_samples is not None:
            drawn: Any = row_sampling(
                self.max_samples, True, training.sample_weight, training.n_rows
            ).n_draws
            each = max(1, drawn // len(rows))
        if not self.replace and each > rows.min():
            raise ParameterError(
                f"max_samples must leave at most {int(rows.min())} rows of each class with "
                f'sampling="balanced" and replace=False, got {each}; lower it.'
            )
        return Sampling(
            np.full(len(rows), each, np.int64), self.replace, training.sample_weight, training.y
        )

    def _plan(self, training: Training, seed: int) -> Plan:
        draws = Draws(seed, training.n_rows, self._sampling(training))
        n_features = len(training.table.schema)
        features = FeatureDraws(seed, n_features, n_features, False)
        drawn = features_per_node(self.max_features, n_features)
        return Plan(draws, features, self._grower(training, draws, self._learner(), drawn))

    def _grower(self, training: Training, draws: Draws, learner: Any, drawn: int | None) -> Grower:
        """Who grows trees of ``learner`` with ``drawn`` features at every node."""
        n_threads = threads(self.n_jobs)
        if grows_in_engine(_unpruned(learner)):
            if "max_features" in learner.get_params(deep=False):
                learner = clone(learner).set_params(max_features=drawn)
            check_parameters(learner)
            engine = EngineGrower(
                learner,
                training,
                draws,
                self.tree_method,
                self._answer(),
                n_threads,
                self.redraw,
                drawn,
            )
            return PrunedGrower(engine, learner) if learner.ccp_alpha else engine
        if not self.redraw:
            raise ParameterError(
                "redraw=False is for CART and oblique trees without class weights of each sample, "
                f"got {type(learner).__name__} with others; leave it at True."
            )
        n = len(training.table.schema)
        return TreeGrower(
            learner, training, draws, FeatureDraws(draws.seed, n, n, False), n_threads, drawn
        )

    def _shadow_grower(self, training: Training, table: Table) -> Grower:
        """Who grows the trees of the corrected importance, on a table of twice the columns."""
        n_features = len(training.table.schema)
        drawn = features_per_node(self.max_features, n_features)
        learner = self._learner()
        signs = getattr(learner, "monotonic_cst", None)
        if signs is not None and not isinstance(signs, dict):
            learner = clone(learner).set_params(
                monotonic_cst=np.concatenate([np.asarray(signs), np.zeros(n_features, int)])
            )
        # all features of the data are half of those of the table
        return self._grower(
            replace(training, table=table), self._draws, learner, drawn or n_features
        )

    # Reading the trees

    def _views(self, body: Body) -> Sequence[Any]:
        return TreeViews(
            body.forest,  # type: ignore[union-attr]
            clone(self._learner()),
            getattr(self, "classes_", None),
        )

    @property
    def estimator_(self) -> Any:
        """The estimator of a single tree, not fitted."""
        self._fitted()
        return clone(self._learner())


def _unpruned(learner: Any) -> Any:
    """The learner without a fixed strength of pruning, which can follow the growth."""
    params = learner.get_params(deep=False)
    if isinstance(params.get("ccp_alpha"), float):
        return clone(learner).set_params(ccp_alpha=0.0)
    return learner
