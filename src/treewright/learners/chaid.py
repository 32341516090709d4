"""CHAID: multiway trees whose splits are chosen by significance tests.

At each node the categories of every predictor are merged until all groups differ, the test of
the merged predictor is corrected for the number of ways it could have been merged, and the most
significant predictor splits the node into its groups. Continuous predictors are cut into
quantile bins first, which merge with their neighbours only. A gap is a category of its own that
may join any group.

Where it parts from Kass (1980): merging ends at two groups, so that every predictor has a
p-value, and ``alpha_split`` alone decides about them; groups that are too small join the most
similar one (as SPSS does); weights count as repeated rows.
``CHAIDClassifier(min_prob=0.01)`` has the size rule of R's CHAID package.

References: Kass (1980), *An exploratory technique for investigating large quantities of
categorical data*; Biggs, de Ville and Suen (1991), *A method of choosing multiway partitions
for classification and decision trees*; Goodman (1979) for ordered classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from treewright.errors import DataError
from treewright.estimator.base import TreeEstimator
from treewright.estimator.cost_complexity import CostComplexity
from treewright.estimator.parameters import Parameter, keep, options, parameters
from treewright.estimator.tasks import ClassificationMixin, RegressionMixin
from treewright.estimator.training import Training
from treewright.learners._chaid.recipe import chaid_recipe
from treewright.tree.growing.recipe import Recipe
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from sklearn.utils import Tags


__all__ = ["CHAIDClassifier", "CHAIDRegressor"]

_LEVEL = Interval(Real, 0.0, 1.0, closed="right")
_SHARE = Interval(RealNotInt, 0.0, 1.0, closed="neither")
_OWN = {
    "alpha_merge": Parameter(
        [_LEVEL],
        "float",
        "The two most similar categories merge while their p-value is above this. 1.0 merges "
        "nothing.",
    ),
    "alpha_split": Parameter(
        [_LEVEL], "float", "Largest adjusted p-value at which a node is split."
    ),
    "alpha_resplit": Parameter(
        [_LEVEL, None],
        "float",
        "Merged groups of three or more categories are divided again where the best division "
        "in two has a p-value of at most this, which must be below ``alpha_merge``. None "
        "never divides.",
    ),
    "exhaustive": Parameter(
        ["boolean"],
        "bool",
        "Merge every predictor down to two groups and take the most significant grouping on "
        "the way (Biggs, de Ville and Suen), instead of stopping at ``alpha_merge``.",
    ),
    "adjust": Parameter(
        ["boolean"],
        "bool",
        "Multiply p-values by the number of ways in which the categories could have been "
        "merged (Bonferroni).",
    ),
    "n_bins": Parameter(
        [Interval(Integral, 2, 2**16, closed="both")],
        "int",
        "Bins of about equal weight that a continuous predictor is cut into; breaks are values "
        "of the training data.",
    ),
    "min_samples_split": Parameter(
        [Interval(Real, 2, None, closed="left"), _SHARE],
        "float",
        "Weight a node needs before it is split; below 1 a share of all weight.",
    ),
    "min_samples_leaf": Parameter(
        [Interval(Real, 1, None, closed="left"), _SHARE],
        "float",
        "Weight that every group, and so every leaf, needs; smaller groups join the most "
        "similar one. Below 1 a share of all weight.",
    ),
    "min_prob": Parameter(
        [Interval(Real, 0.0, 1.0, closed="both"), None],
        "float",
        "If given, a group needs this share of its node's weight (rounded up) where that is "
        "less than ``min_samples_leaf``, the rule of R's CHAID package.",
    ),
}


@parameters(
    **_OWN,
    statistic=Parameter(
        options("pearson", "likelihood"),
        '{"pearson", "likelihood"}',
        "Test for classes without an order: Pearson's chi-squared or the likelihood ratio. "
        "Classes with an order have their own, see ``class_order``.",
    ),
    class_order=Parameter(
        [StrOptions({"from_dtype"}), "array-like", None],
        '"from_dtype" or array-like',
        "Order of the classes; with one, groups are tested by the likelihood ratio of "
        'Goodman\'s row-effects model, with the ranks as scores. "from_dtype" takes the order '
        "of an ordered category column, and none from any other; None ignores it.",
    ),
)
class CHAIDClassifier(ClassificationMixin, CostComplexity, TreeEstimator):
    """Classification tree with multiway splits chosen by chi-squared tests.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The fitted tree; ``tree_.node_tests()`` lists the tests at every node.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of Gini's index.
    {attributes}

    See Also
    --------
    CHAIDRegressor : The same for numbers, by F tests.
    CARTClassifier : Binary splits by impurity.

    Notes
    -----
    Weights that are multiples of the smallest count as repeated rows; others are scaled to a
    mean of one.

    A category that training did not have, or that a node did not see, is a gap there: it goes
    with the group that the gaps joined, or with the heaviest where there were none.

    References
    ----------
    Kass (1980), *An exploratory technique for investigating large quantities of categorical
    data*; Biggs, de Ville and Suen (1991), *A method of choosing multiway partitions for
    classification and decision trees*; Goodman (1979), *Simple models for the analysis of
    association in cross-classifications having ordered categories*.

    Examples
    --------
    >>> from treewright import CHAIDClassifier, datasets
    >>> titanic = datasets.load_titanic()
    >>> model = CHAIDClassifier(max_depth=2).fit(titanic.data, titanic.target)
    >>> model.tree_.node(0).feature
    'Sex'
    >>> model.get_n_leaves()
    4
    """

    def __init__(
        self,
        *,
        alpha_merge: float = 0.05,
        alpha_split: float = 0.05,
        alpha_resplit: float | None = None,
        exhaustive: bool = False,
        statistic: Literal["pearson", "likelihood"] = "pearson",
        adjust: bool = True,
        n_bins: int = 10,
        class_order: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        max_depth: int | None = None,
        min_samples_split: float = 20,
        min_samples_leaf: float = 7,
        min_prob: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        costs: ArrayLike | Mapping[Any, Mapping[Any, float]] | None = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        pruning: str | Callable[[Tree], Tree] | None = "cost_complexity",
        pruning_options: Mapping[str, Any] | None = None,
        ccp_alpha: float | Literal["cv"] = 0.0,
        cp: float | Literal["cv"] | None = None,
        cv: Any = 10,
        rule: Literal["min", "1se"] = "min",
        pruning_risk: Literal["error", "impurity"] = "error",
        random_state: Any = None,
        keep_counts: bool = True,
        teach: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _recipe(self, training: Training) -> Recipe:
        return chaid_recipe(self, training)


@parameters(**_OWN)
class CHAIDRegressor(RegressionMixin, CostComplexity, TreeEstimator):
    """Regression tree with multiway splits chosen by F tests.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The fitted tree; ``tree_.node_tests()`` lists the tests at every node.
    n_outputs_ : int
        Number of outputs, always 1.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of variance.
    {attributes}

    See Also
    --------
    CHAIDClassifier : The same for classes.

    Notes
    -----
    Weights that are multiples of the smallest count as repeated rows; others are scaled to a
    mean of one.

    References
    ----------
    Kass (1980), *An exploratory technique for investigating large quantities of categorical
    data*; Biggs, de Ville and Suen (1991), *A method of choosing multiway partitions for
    classification and decision trees*.

    Examples
    --------
    >>> from treewright import CHAIDRegressor
    >>> X = {"group": ["a", "b", "c"] * 20}
    >>> y = [1.0, 1.1, 5.0, 1.2, 1.1, 5.2] * 10
    >>> model = CHAIDRegressor().fit(X, y)
    >>> model.get_n_leaves()
    2
    >>> model.predict({"group": ["a", "c"]}).round(2)
    array([1.1, 5.1])
    """

    def __init__(
        self,
        *,
        alpha_merge: float = 0.05,
        alpha_split: float = 0.05,
        alpha_resplit: float | None = None,
        exhaustive: bool = False,
        adjust: bool = True,
        n_bins: int = 10,
        max_depth: int | None = None,
        min_samples_split: float = 20,
        min_samples_leaf: float = 7,
        min_prob: float | None = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        pruning: str | Callable[[Tree], Tree] | None = "cost_complexity",
        pruning_options: Mapping[str, Any] | None = None,
        ccp_alpha: float | Literal["cv"] = 0.0,
        cp: float | Literal["cv"] | None = None,
        cv: Any = 10,
        rule: Literal["min", "1se"] = "min",
        pruning_risk: Literal["error", "impurity"] = "error",
        random_state: Any = None,
        keep_counts: bool = True,
        teach: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _read_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        values, classes = super()._read_target(y)
        if values.ndim > 1:
            raise DataError(
                f"CHAIDRegressor tests one number per row, got {values.shape[1]} outputs; fit "
                "one estimator for each."
            )
        return values, classes

    def _recipe(self, training: Training) -> Recipe:
        return chaid_recipe(self, training)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags
