"""Random forests: trees on samples of the rows, with a fresh draw of features at every node.

The trees are those of CART, grown to purity, on native categories and gaps. Each is grown from a
bootstrap sample; at every node the best split of ``max_features`` features drawn at random is made.
What trees do not see (out of bag) judges the forest and the features without a test set.

With ``max_features=None`` a random forest is bagging, tree by tree. ``base`` grows other trees of
the library in the same manner.

It follows scikit-learn in names and defaults. It differs in this: gaps and text columns are taken
as they are; ``replace``, ``sampling``, ``tree_method``, ``base`` and ``early_stopping`` are new.

References: Breiman (2001), *Random forests*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from treewright.ensembles._forest import ForestEstimator
from treewright.ensembles._parameters import CLASSES, FOREST, NUMBERS
from treewright.ensembles._tasks import EnsembleClassifierMixin, EnsembleRegressorMixin
from treewright.ensembles.insights.numbers import NumberForestMixin
from treewright.estimator.blocks import ReadsBlocks
from treewright.estimator.parameters import keep, parameters
from treewright.tree.growing.recipe import Missing

if TYPE_CHECKING:
    from treewright.ensembles.members.bodies import Answer

__all__ = ["RandomForestClassifier", "RandomForestRegressor"]


@parameters(**FOREST, **CLASSES)
class RandomForestClassifier(ReadsBlocks, EnsembleClassifierMixin, ForestEstimator):
    """Many classification trees that decide together, each on its own rows and features.

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
    RandomForestRegressor : The same for numbers.
    ExtraTreesClassifier : Random cuts, all rows.
    BaggingClassifier : Any learner on samples of rows.

    References
    ----------
    Breiman (2001), *Random forests*; Chen, Liaw and Breiman (2004), *Using random forest to learn
    imbalanced data*.

    Examples
    --------
    >>> from treewright import RandomForestClassifier, datasets
    >>> titanic = datasets.load_titanic()
    >>> model = RandomForestClassifier(oob_score=True, random_state=0)
    >>> model = model.fit(titanic.data, titanic.target)
    >>> bool(model.oob_score_ > 0.78)
    True
    >>> model.permutation_importance_oob(titanic.data, titanic.target).frame().feature[0]
    'Sex'
    """

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
        bootstrap: bool = True,
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
        base: Any = None,
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
class RandomForestRegressor(
    ReadsBlocks, NumberForestMixin, EnsembleRegressorMixin, ForestEstimator
):
    """Many regression trees whose mean is taken, each on its own rows and features.

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
    RandomForestClassifier : The same for classes.
    ExtraTreesRegressor : Random cuts, all rows.
    BaggingRegressor : Any learner on samples of rows.

    References
    ----------
    Breiman (2001), *Random forests*; Meinshausen (2006), *Quantile regression forests*; Wager,
    Hastie and Efron (2014), *Confidence intervals for random forests*.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from treewright import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(max_features=0.33, keep_targets=True, random_state=0)
    >>> model = model.fit(X, y)
    >>> low, high = model.predict_quantiles(X[:1], [0.1, 0.9])[0]
    >>> bool(low < model.predict(X[:1])[0] < high)
    True
    """

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
        bootstrap: bool = True,
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
        base: Any = None,
        keep_targets: bool = False,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())
