"""Extremely randomised trees: random cuts instead of the best ones, on all rows.

At every node ``max_features`` features are drawn and one cut of each at random; the best of these
is made. Trees differ by their cuts, so that no rows need to be drawn; ``bootstrap=True`` draws
them all the same.

References: Geurts, Ernst and Wehenkel (2006), *Extremely randomized trees*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from treewright.ensembles._forest import ForestEstimator
from treewright.ensembles._parameters import CLASSES, FOREST, NUMBERS
from treewright.ensembles._tasks import EnsembleClassifierMixin, EnsembleRegressorMixin
from treewright.ensembles.insights.numbers import NumberForestMixin
from treewright.estimator.parameters import keep, parameters
from treewright.tree.growing.recipe import Missing

if TYPE_CHECKING:
    from treewright.ensembles.members.bodies import Answer

__all__ = ["ExtraTreesClassifier", "ExtraTreesRegressor"]


@parameters(**FOREST, **CLASSES)
class ExtraTreesClassifier(EnsembleClassifierMixin, ForestEstimator):
    """Many classification trees with random cuts that decide together.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity; favours features with many values.
    {attributes}

    See Also
    --------
    ExtraTreesRegressor : The same for numbers.
    RandomForestClassifier : The best cuts, samples of rows.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), *Extremely randomized trees*.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ExtraTreesClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    splitter = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Literal["gini", "entropy", "log_loss"] = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | Literal["sqrt", "log2"] | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        replace: bool = True,
        max_samples: float | None = None,
        sampling: Literal["balanced"] | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced", "balanced_subsample"] | None = None,
        aggregation: Literal["mean", "vote"] = "mean",
        oob_score: Any = False,
        warm_start: bool = False,
        early_stopping: bool = False,
        n_iter_no_change: int = 25,
        tol: float = 1e-3,
        ccp_alpha: float = 0.0,
        redraw: bool = True,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        missing: Missing = "learned",
        tree_method: Literal["auto", "exact", "hist"] = "auto",
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _answer(self) -> Answer:
        return "vote" if self.aggregation == "vote" else "probability"


@parameters(**FOREST, **NUMBERS)
class ExtraTreesRegressor(NumberForestMixin, EnsembleRegressorMixin, ForestEstimator):
    """Many regression trees with random cuts whose mean is taken.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity; favours features with many values.
    {attributes}

    See Also
    --------
    ExtraTreesClassifier : The same for classes.
    RandomForestRegressor : The best cuts, samples of rows.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), *Extremely randomized trees*.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from treewright import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ExtraTreesRegressor(random_state=0).fit(X, y)
    >>> model.predict(X).shape
    (442,)
    """

    splitter = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Literal["squared_error", "absolute_error", "poisson"] = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | Literal["sqrt", "log2"] | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        replace: bool = True,
        max_samples: float | None = None,
        oob_score: Any = False,
        warm_start: bool = False,
        early_stopping: bool = False,
        n_iter_no_change: int = 25,
        tol: float = 1e-3,
        ccp_alpha: float = 0.0,
        redraw: bool = True,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        missing: Missing = "learned",
        tree_method: Literal["auto", "exact", "hist"] = "auto",
        keep_targets: bool = False,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())
