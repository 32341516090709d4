"""CTree: conditional inference trees.

At every node each feature is tested for independence of the target by a permutation test
(Strasser and Weber): the sum of products of feature and target scores, standardised by its
mean and covariance over all permutations. The feature with the least p-value is split if that
is significant; otherwise the node is a leaf. So the test stops the growth, no pruning is
needed, and features with many values have no advantage. The split itself is the one whose two
sides differ most by the same kind of statistic, at a value of the data (x <= a).

It differs from R's partykit in that nothing is left to chance unless you ask for it: a gap
goes with the majority, where partykit draws a side by default.

References: Hothorn, Hornik and Zeileis (2006), *Unbiased Recursive Partitioning*, Journal of
Computational and Graphical Statistics 15; Strasser and Weber (1999), *On the asymptotic theory
of permutation statistics*.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from treewright.base import TreeEstimator
from treewright.errors import DataError, ParameterError
from treewright.learners._inference import Adjust, ConditionalInference, Settings
from treewright.learners._parameters import Parameter, keep, options, parameters
from treewright.learners._tasks import ClassificationMixin, RegressionMixin
from treewright.learners._training import Training, threads
from treewright.tree.node_tests import NodeTestTable
from treewright.tree.recipe import Recipe
from treewright.tree.stopping import features_per_node
from treewright.tree.tree import Tree

__all__ = ["CTreeClassifier", "CTreeRegressor"]

_OWN = {
    "alpha": Parameter(
        [Interval(Real, 0.0, 1.0, closed="right")],
        "float",
        "Largest adjusted p-value of a feature that is split, exclusive; partykit's "
        "mincriterion is 1 - alpha. 1.0 splits as long as the other limits allow.",
    ),
    "test_statistic": Parameter(
        options("quadratic", "maximum"),
        '{"quadratic", "maximum"}',
        "Form of the statistics, for choosing the feature and the split: the quadratic form, "
        "which is chi-squared, or the largest standardised component.",
    ),
    "adjust": Parameter(
        [*options("bonferroni", "monte_carlo", "univariate"), None],
        '{"bonferroni", "monte_carlo", "univariate"}',
        'P-values: "bonferroni" adjusts the asymptotic ones for the number of features tested, '
        'by 1 - (1 - p)^n as partykit does; "univariate" takes them as they are; "monte_carlo" '
        "counts permutations, without adjustment. None computes no p-values: the largest "
        "statistic wins, and must exceed 1 - alpha.",
    ),
    "n_resamples": Parameter(
        [Interval(Integral, 1, None, closed="left")],
        "int",
        'Permutations drawn at a node (only with ``adjust="monte_carlo"``).',
    ),
    "min_samples_split": Parameter(
        [Interval(Integral, 2, None, closed="left")],
        "int",
        "Weight a node needs before it is tested: the number of rows, where they have no "
        "weights. Weights count repeated rows; if they sum to less than the number of rows they "
        "are scaled up to it.",
    ),
    "min_samples_leaf": Parameter(
        [Interval(Integral, 1, None, closed="left")],
        "int",
        "Weight that both sides of a split need, among the rows whose value is known.",
    ),
    "min_prob": Parameter(
        [Interval(Real, 0.0, 0.5, closed="both")],
        "float",
        "Share of the node's weight that both sides of a split need.",
    ),
    "split_try": Parameter(
        [Interval(Integral, 1, None, closed="left")],
        "int",
        "Significant features that are tried, best first, where one has no admissible split.",
    ),
    "nominal_split": Parameter(
        options("subset", "multiway"),
        '{"subset", "multiway"}',
        'Split of a nominal feature: "subset" makes two branches, "multiway" one branch per '
        "category seen at the node; those that are too small for a leaf share the last branch.",
    ),
    "max_features": Parameter(
        [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0.0, 1.0, closed="right"),
            *options("sqrt", "log2"),
            None,
        ],
        'int, float or {"sqrt", "log2"}',
        "Features drawn at each node to be tested (partykit's mtry): a count, a share, the "
        "square root or the logarithm of their number, or None for all.",
    ),
    "max_exhaustive": Parameter(
        [Interval(Integral, 2, 20, closed="both")],
        "int",
        "Most categories of a nominal feature at a node for which every partition is tried; "
        "above it categories are ordered by their mean response, or its first principal "
        "component, and cut there.",
    ),
    "missing": Parameter(
        options("majority", "surrogate", "fractional"),
        '{"majority", "surrogate", "fractional"}',
        "Where a row with a gap in the split feature goes; it takes no part in the test of that "
        'feature. "majority" goes with most rows; "surrogate" asks the splits of other features '
        'that agree best with the chosen one, then goes with most rows; "fractional" goes down '
        "both branches with a share of the weight, the average of what partykit draws.",
    ),
    "max_surrogates": Parameter(
        [Interval(Integral, 0, None, closed="left")],
        "int",
        'Surrogate splits kept at each node: at least 1 with ``missing="surrogate"``, otherwise 0.',
    ),
    "class_scores": Parameter(
        ["array-like", dict, None],
        "array-like or dict",
        "Scores of classes that have an order, such as 1, 2, 3, in the order of ``classes_`` or "
        "by class: tests then look for a trend. None takes classes without an order.",
    ),
    "random_state": Parameter(
        ["random_state"],
        "int or RandomState",
        "Seed of drawn features, permutations and shuffled folds.",
    ),
}


class _ConditionalInferenceTree(TreeEstimator):
    """What classifier and regressor share."""

    # Not the user's to choose: what impurities, gains and risks are measured in.
    criterion: ClassVar[str]
    max_leaf_nodes: ClassVar[None] = None

    def _recipe(self: Any, training: Training) -> Recipe:
        _check_surrogates(self)
        _check_resampling(self, training)
        response, n_classes = self._response(training)
        chooser = ConditionalInference(
            training.table, response, n_classes, self._settings(training), threads(self.n_jobs)
        )
        return Recipe(
            self.criterion,
            nominal_split=self.nominal_split,
            continuous_split="at_most",
            missing=self.missing,
            max_surrogates=self.max_surrogates,
            max_depth=self.max_depth,
            choose=chooser,
        )

    def _settings(self: Any, training: Training) -> Settings:
        drawn = features_per_node(self.max_features, len(training.table.schema))
        seed = 0
        if drawn is not None or self.adjust == "monte_carlo":
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        return Settings(
            alpha=self.alpha,
            form=self.test_statistic,
            adjust=self.adjust,
            n_resamples=self.n_resamples,
            min_split=self.min_samples_split,
            min_leaf=self.min_samples_leaf,
            min_prob=self.min_prob,
            split_try=self.split_try,
            max_features=drawn,
            max_exhaustive=self.max_exhaustive,
            max_surrogates=self.max_surrogates,
            multiway=self.nominal_split == "multiway",
            seed=seed,
            # Counts of repeated rows are at least 1; smaller weights, such as those of boosting,
            # are shares of the rows.
            weight_scale=max(1.0, training.n_rows / training.total_weight),
        )

    def _response(self, training: Training) -> tuple[NDArray[Any], int]:
        """What is tested: class codes and their number, or numbers and 0."""
        return training.y, len(training.target.classes)

    def trace(self, node: int, X: Any = None, y: Any = None, sample_weight: Any = None) -> Any:
        """Candidates at a node: the test of every feature.

        Parameters
        ----------
        node : int
            Node id in ``tree_``.
        X, y, sample_weight
            Not needed: the tests of training are kept in the tree.

        Returns
        -------
        tests : NodeTestTable
            As from ``tree_.node_tests(node)``.
        """
        return NodeTestTable.of_tree(self._fitted(), node)


def _check_resampling(estimator: Any, training: Training) -> None:
    """Permutations are of rows: refuse fractions of them."""
    if estimator.adjust != "monte_carlo":
        return
    if estimator.missing == "fractional":
        raise ParameterError(
            'adjust="monte_carlo" permutes whole rows, but missing="fractional" divides those '
            'with gaps; use missing="majority".'
        )
    weights = training.sample_weight
    if weights is not None and np.any(weights % 1):
        raise DataError(
            'adjust="monte_carlo" repeats rows by their weights, which must then be whole '
            'numbers, got fractions in sample_weight; use adjust="bonferroni".'
        )


def _check_surrogates(estimator: Any) -> None:
    if (estimator.missing == "surrogate") == (estimator.max_surrogates > 0):
        return
    if estimator.missing == "surrogate":
        raise ParameterError(
            'missing="surrogate" needs surrogate splits, got max_surrogates=0; '
            "set it to 3, for instance."
        )
    raise ParameterError(
        f'max_surrogates belongs to missing="surrogate", got {estimator.max_surrogates} with '
        f'missing="{estimator.missing}"; drop one of them.'
    )


@parameters(**_OWN)
class CTreeClassifier(ClassificationMixin, _ConditionalInferenceTree):
    """Classification tree by conditional inference: every split is significant.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The fitted tree; ``tree_.node_tests()`` has the tests of all nodes.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_classes_ : int
        Their number.
    cost_matrix_ : ndarray of shape (n_classes, n_classes) or None
        ``costs`` in the order of ``classes_``.
    ccp_alpha_ : float
        Strength of pruning that was used.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity (Gini's index).
    cp_table_ : CpTable
        Complexity, size and error of the nested subtrees.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    CTreeRegressor : The same for numbers.
    CARTClassifier : Splits by impurity.

    References
    ----------
    Hothorn, Hornik and Zeileis (2006), *Unbiased Recursive Partitioning*.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = CTreeClassifier().fit(X, y)
    >>> model.get_n_leaves()
    4
    >>> print(model.tree_.node_tests(0))
    node             feature statistic df        p adjusted p
       0 sepal length (cm)     92.1872  2 9.59e-21   3.84e-20
       0  sepal width (cm)     59.7166  2 1.08e-13   4.31e-13
       0 petal length (cm) *  140.2644  2 3.48e-31   1.39e-30
       0  petal width (cm)    138.4036  2 8.83e-31   3.53e-30
    """

    criterion = "gini"
    class_weight: ClassVar[None] = None
    cost_method: ClassVar[str] = "altered_priors"
    class_scores: Any

    def __init__(
        self,
        *,
        alpha: float = 0.05,
        test_statistic: Literal["quadratic", "maximum"] = "quadratic",
        adjust: Adjust | None = "bonferroni",
        n_resamples: int = 9999,
        min_samples_split: int = 20,
        min_samples_leaf: int = 7,
        min_prob: float = 0.01,
        max_depth: int | None = None,
        split_try: int = 2,
        nominal_split: Literal["subset", "multiway"] = "subset",
        max_features: float | Literal["sqrt", "log2"] | None = None,
        max_exhaustive: int = 15,
        missing: Literal["majority", "surrogate", "fractional"] = "majority",
        max_surrogates: int = 0,
        class_scores: ArrayLike | Mapping[Any, float] | None = None,
        priors: ArrayLike | Mapping[Any, float] | Literal["uniform"] | None = None,
        costs: ArrayLike | Mapping[Any, Mapping[Any, float]] | None = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        pruning: Literal["cost_complexity"] | Callable[[Tree], Tree] | None = "cost_complexity",
        ccp_alpha: float | Literal["cv"] = 0.0,
        cp: float | Literal["cv"] | None = None,
        cv: Any = 10,
        rule: Literal["min", "1se"] = "min",
        pruning_risk: Literal["error", "impurity"] = "error",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _response(self, training: Training) -> tuple[NDArray[Any], int]:
        if self.class_scores is None:
            return super()._response(training)
        scores = _read_scores(self.class_scores, list(training.target.classes))
        return scores[training.y], 0


def _read_scores(given: Any, classes: list[Any]) -> NDArray[np.float64]:
    """One finite number per class."""
    if isinstance(given, Mapping):
        if set(given) != set(classes):
            odd = sorted(map(repr, set(given) ^ set(classes)))[0]
            raise ParameterError(
                f"class_scores must have one score for each class of y, but {odd} is in one of "
                "them only; name all classes."
            )
        given = [given[label] for label in classes]
    try:
        scores = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        scores = np.empty(0)
    if scores.shape != (len(classes),) or not np.isfinite(scores).all():
        raise ParameterError(
            f"class_scores must hold a finite number for each of the {len(classes)} classes, "
            f"got {reprlib.repr(given)}; list them in the order of classes_."
        )
    return scores


@parameters(**_OWN)
class CTreeRegressor(RegressionMixin, _ConditionalInferenceTree):
    """Regression tree by conditional inference: every split is significant.

    Several targets at once are tested together.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The fitted tree; ``tree_.node_tests()`` has the tests of all nodes.
    n_outputs_ : int
        Number of outputs.
    ccp_alpha_ : float
        Strength of pruning that was used.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity (the squared error).
    cp_table_ : CpTable
        Complexity, size and error of the nested subtrees.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    CTreeClassifier : The same for classes.
    CARTRegressor : Splits by impurity.

    References
    ----------
    Hothorn, Hornik and Zeileis (2006), *Unbiased Recursive Partitioning*.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from treewright import CTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = CTreeRegressor(max_depth=2).fit(X, y)
    >>> model.tree_.node(0).feature
    'bmi'
    """

    criterion = "squared_error"

    def __init__(
        self,
        *,
        alpha: float = 0.05,
        test_statistic: Literal["quadratic", "maximum"] = "quadratic",
        adjust: Adjust | None = "bonferroni",
        n_resamples: int = 9999,
        min_samples_split: int = 20,
        min_samples_leaf: int = 7,
        min_prob: float = 0.01,
        max_depth: int | None = None,
        split_try: int = 2,
        nominal_split: Literal["subset", "multiway"] = "subset",
        max_features: float | Literal["sqrt", "log2"] | None = None,
        max_exhaustive: int = 15,
        missing: Literal["majority", "surrogate", "fractional"] = "majority",
        max_surrogates: int = 0,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        pruning: Literal["cost_complexity"] | Callable[[Tree], Tree] | None = "cost_complexity",
        ccp_alpha: float | Literal["cv"] = 0.0,
        cp: float | Literal["cv"] | None = None,
        cv: Any = 10,
        rule: Literal["min", "1se"] = "min",
        pruning_risk: Literal["error", "impurity"] = "error",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())
