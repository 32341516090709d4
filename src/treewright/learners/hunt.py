"""Hunt's algorithm with the whole recipe in the user's hands.

Split the rows by the best test, then do the same with each part, until a part is pure or too
small. Everything else is a choice: the tests for each kind of feature, the score, what
happens to gaps, when to stop, how to prune. The named learners of this package are such
choices; with its defaults this one is CART.

``criterion`` may be your own: a function of the statistics of the left and the right side that
says what a cut gains; a node is split at the largest gain, if it is above 0. The statistics
are the class weights, or the weight, Σwy of each output and Σwy² of each. A Python function is
entered once per feature and node, with one row per cut::

    def twoing(left, right):
        a, b = left.sum(axis=1), right.sum(axis=1)
        p, q = left / a[:, None], right / b[:, None]
        return a * b * np.abs(p - q).sum(axis=1) ** 2

A compiled one is called for each cut at full speed, with the length of the statistics::

    @numba.cfunc("float64(CPointer(float64), CPointer(float64), int64)")
    def gain(left, right, n): ...

References: Hunt, Marin and Stone (1966), *Experiments in Induction*; Tan, Steinbach and
Kumar (2005), *Introduction to Data Mining*, section 4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from numpy.typing import ArrayLike

from treewright.errors import ParameterError
from treewright.estimator.base import TreeEstimator
from treewright.estimator.cost_complexity import CostComplexity
from treewright.estimator.parameters import Parameter, keep, options, parameters
from treewright.estimator.recipe import make_recipe
from treewright.estimator.tasks import ClassificationMixin, RegressionMixin
from treewright.estimator.training import Training
from treewright.tree.growing.recipe import Missing, Recipe
from treewright.tree.tree import Tree

__all__ = ["HuntClassifier", "HuntRegressor"]

_OWN_CRITERION = (
    " Or your own: a function of the statistics of the left and the right side, one row per "
    "cut, that returns what each cut gains (a node is split at the largest gain above 0), or "
    "such a function of one cut, compiled by ``numba.cfunc``."
)


def check_own_criterion(estimator: Any) -> None:
    """Refuse a criterion of two sides where a node may have more."""
    if isinstance(estimator.criterion, str):
        return
    for name in ("nominal_split", "ordinal_split"):
        if getattr(estimator, name) == "multiway":
            raise ParameterError(
                f'{name}="multiway" makes more than two branches, but a criterion of your own '
                "scores a left and a right side; use a named criterion, or two branches."
            )


@parameters(
    criterion=Parameter(
        [*options("gini", "entropy", "error"), callable],
        '{"gini", "entropy", "error"} or callable',
        "Impurity that splits lower: Gini's index, entropy in bits, or the share of errors."
        + _OWN_CRITERION,
    )
)
class HuntClassifier(ClassificationMixin, CostComplexity, TreeEstimator):
    """Classification tree by Hunt's algorithm, every choice open.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    HuntRegressor : The same for numbers.
    CARTClassifier : The recipe of Breiman and others.

    References
    ----------
    Hunt, Marin and Stone (1966), *Experiments in Induction*.

    Examples
    --------
    >>> from treewright import HuntClassifier
    >>> X = {"outlook": ["sunny", "rain", "overcast", "sunny"], "wind": [1, 0, 1, 1]}
    >>> y = ["no", "yes", "yes", "no"]
    >>> model = HuntClassifier(criterion="entropy", nominal_split="multiway").fit(X, y)
    >>> model.get_n_leaves()
    3
    """

    def __init__(
        self,
        *,
        criterion: str | Callable[..., Any] = "gini",
        nominal_split: Literal["subset", "multiway"] = "subset",
        ordinal_split: Literal["cut", "multiway"] = "cut",
        continuous_split: Literal["below", "at_most"] = "below",
        splitter: Literal["best", "random"] = "best",
        missing: Missing = "learned",
        max_surrogates: int = 5,
        surrogate_style: Literal["count", "share"] = "count",
        surrogate_fallback: Literal["majority", "stop"] = "majority",
        max_exhaustive: int | Literal["auto"] = "auto",
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
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _recipe(self, training: Training) -> Recipe:
        check_own_criterion(self)
        return make_recipe(self, training)


@parameters(
    criterion=Parameter(
        [*options("squared_error", "absolute_error", "poisson"), callable],
        '{"squared_error", "absolute_error", "poisson"} or callable',
        "Impurity that splits lower: the squared error around the mean, the absolute error "
        "around the median, or half the Poisson deviance around the mean." + _OWN_CRITERION,
    )
)
class HuntRegressor(RegressionMixin, CostComplexity, TreeEstimator):
    """Regression tree by Hunt's algorithm, every choice open.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    HuntClassifier : The same for classes.
    CARTRegressor : The recipe of Breiman and others.

    References
    ----------
    Hunt, Marin and Stone (1966), *Experiments in Induction*.

    Examples
    --------
    >>> from treewright import HuntRegressor
    >>> X = {"size": ["S", "M", "L", "M"]}
    >>> model = HuntRegressor(nominal_split="multiway").fit(X, [1.0, 2.0, 4.0, 3.0])
    >>> model.predict({"size": ["M", "L"]})
    array([2.5, 4. ])
    """

    def __init__(
        self,
        *,
        criterion: str | Callable[..., Any] = "squared_error",
        nominal_split: Literal["subset", "multiway"] = "subset",
        ordinal_split: Literal["cut", "multiway"] = "cut",
        continuous_split: Literal["below", "at_most"] = "below",
        splitter: Literal["best", "random"] = "best",
        missing: Missing = "learned",
        max_surrogates: int = 5,
        surrogate_style: Literal["count", "share"] = "count",
        surrogate_fallback: Literal["majority", "stop"] = "majority",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | Literal["sqrt", "log2"] | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_significance: float | None = None,
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
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _recipe(self, training: Training) -> Recipe:
        check_own_criterion(self)
        return make_recipe(self, training)
