"""CART: binary trees grown by impurity and pruned by their weakest link.

Continuous features are cut at midpoints (x < t), ordinal ones between two values of their
order, nominal ones into two subsets. The best subset is found for two classes and for
regression by ordering categories by rate; for more classes all subsets are tried up to
``max_exhaustive`` categories, and above that categories are ordered by their first principal
component. Gaps stay gaps: see ``missing``.

It differs from the book in its defaults, which are scikit-learn's: no pruning until
``ccp_alpha`` or ``cp`` asks for it, and gaps learned at the split rather than by surrogates.
``CARTClassifier(min_samples_split=20, min_samples_leaf=7, max_depth=30, cp=0.01,
missing="surrogate")`` is rpart.

References: Breiman, Friedman, Olshen and Stone (1984), *Classification and Regression Trees*;
Coppersmith, Hong and Hosking (1999) for the ordering by principal component.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from numpy.typing import ArrayLike

from treewright.data.weights import without_empty_rows
from treewright.estimator.base import TreeEstimator
from treewright.estimator.blocks import ReadsBlocks
from treewright.estimator.cost_complexity import CostComplexity
from treewright.estimator.parameters import Parameter, keep, options, parameters
from treewright.estimator.recipe import make_recipe
from treewright.estimator.tasks import ClassificationMixin, RegressionMixin
from treewright.estimator.training import Training
from treewright.tree.growing.recipe import Missing, Recipe
from treewright.tree.tree import Tree

__all__ = ["CARTClassifier", "CARTRegressor"]


class _CART(ReadsBlocks, CostComplexity, TreeEstimator):
    """What classifier and regressor share."""

    drop_empty_rows: bool

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> Training:
        if self.drop_empty_rows:
            sample_weight = without_empty_rows(self._read_rows(X, None), sample_weight)
        return super()._encode(X, y, sample_weight)

    def _recipe(self, training: Training) -> Recipe:
        return make_recipe(self, training)


@parameters(
    criterion=Parameter(
        options("gini", "entropy", "error"),
        '{"gini", "entropy", "error"}',
        "Impurity that splits lower: Gini's index, entropy in bits, or the share of errors.",
    )
)
class CARTClassifier(ClassificationMixin, _CART):
    """Classification tree with binary splits and cost-complexity pruning.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    CARTRegressor : The same for numbers.
    HuntClassifier : The recipe in your own hands.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), *Classification and Regression Trees*.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CARTClassifier(max_depth=2).fit(X, y)
    >>> model.get_n_leaves()
    3
    >>> model.predict([[5.0, 3.4, 1.5, 0.2]])
    array([0])
    """

    def __init__(
        self,
        *,
        criterion: Literal["gini", "entropy", "error"] = "gini",
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | Literal["sqrt", "log2"] | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_significance: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        priors: ArrayLike | Mapping[Any, float] | Literal["uniform"] | None = None,
        costs: ArrayLike | Mapping[Any, Mapping[Any, float]] | None = None,
        cost_method: Literal["altered_priors", "generalized_gini"] = "altered_priors",
        missing: Missing = "learned",
        max_surrogates: int = 5,
        surrogate_style: Literal["count", "share"] = "count",
        surrogate_fallback: Literal["majority", "stop"] = "majority",
        drop_empty_rows: bool = False,
        max_exhaustive: int | Literal["auto"] = "auto",
        continuous_split: Literal["below", "at_most"] = "below",
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        pruning: str | Callable[[Tree], Tree] | None = "cost_complexity",
        pruning_options: Mapping[str, Any] | None = None,
        ccp_alpha: float | Literal["cv"] = 0.0,
        cp: float | Literal["cv"] | None = None,
        cv: Any = 10,
        rule: Literal["min", "1se"] = "min",
        pruning_risk: Literal["error", "impurity"] = "error",
        keep_counts: bool = True,
        teach: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())


@parameters(
    criterion=Parameter(
        options("squared_error", "absolute_error", "poisson"),
        '{"squared_error", "absolute_error", "poisson"}',
        "Impurity that splits lower: the squared error around the mean, the absolute error "
        "around the median, or half the Poisson deviance around the mean (for counts).",
    )
)
class CARTRegressor(RegressionMixin, _CART):
    """Regression tree with binary splits and cost-complexity pruning.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    CARTClassifier : The same for classes.
    HuntRegressor : The recipe in your own hands.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), *Classification and Regression Trees*.

    Examples
    --------
    >>> from treewright import CARTRegressor
    >>> model = CARTRegressor(max_depth=1).fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 1.0, 5.0, 7.0])
    >>> model.predict([[1.5], [3.5]])
    array([1., 6.])
    """

    def __init__(
        self,
        *,
        criterion: Literal["squared_error", "absolute_error", "poisson"] = "squared_error",
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | Literal["sqrt", "log2"] | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_significance: float | None = None,
        missing: Missing = "learned",
        max_surrogates: int = 5,
        surrogate_style: Literal["count", "share"] = "count",
        surrogate_fallback: Literal["majority", "stop"] = "majority",
        drop_empty_rows: bool = False,
        continuous_split: Literal["below", "at_most"] = "below",
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        pruning: str | Callable[[Tree], Tree] | None = "cost_complexity",
        pruning_options: Mapping[str, Any] | None = None,
        ccp_alpha: float | Literal["cv"] = 0.0,
        cp: float | Literal["cv"] | None = None,
        cv: Any = 10,
        rule: Literal["min", "1se"] = "min",
        pruning_risk: Literal["error", "impurity"] = "error",
        keep_counts: bool = True,
        teach: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())
