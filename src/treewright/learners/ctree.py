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

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from treewright.estimator.base import TreeEstimator
from treewright.estimator.cost_complexity import CostComplexity
from treewright.estimator.parameters import keep, parameters
from treewright.estimator.tasks import ClassificationMixin, RegressionMixin
from treewright.estimator.training import Training, threads
from treewright.learners._ctree.chooser import Adjust, ConditionalInference, Settings
from treewright.learners._ctree.parameters import (
    OWN,
    check_resampling,
    check_surrogates,
    n_surrogates,
    read_scores,
)
from treewright.tree.growing.recipe import Recipe
from treewright.tree.growing.stopping import features_per_node
from treewright.tree.node_tests import NodeTestTable
from treewright.tree.tree import Tree

__all__ = ["CTreeClassifier", "CTreeRegressor"]


class _ConditionalInferenceTree(CostComplexity, TreeEstimator):
    """What classifier and regressor share."""

    def _recipe(self: Any, training: Training) -> Recipe:
        check_surrogates(self)
        check_resampling(self, training)
        response, n_classes = self._response(training)
        chooser = ConditionalInference(
            training.table, response, n_classes, self._settings(training), threads(self.n_jobs)
        )
        return Recipe(
            # what impurities, gains and risks are measured in
            "gini" if training.target.is_classification else "squared_error",
            nominal_split=self.nominal_split,
            continuous_split="at_most",
            missing=self.missing,
            max_surrogates=n_surrogates(self),
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
            max_surrogates=n_surrogates(self),
            multiway=self.nominal_split == "multiway",
            seed=seed,
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

        Examples
        --------
        >>> from treewright import CTreeClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> model = CTreeClassifier(max_depth=1).fit(iris.data, iris.target)
        >>> tests = model.trace(0, iris.data, iris.target).frame()
        >>> tests[tests.is_split].feature.tolist()
        ['Petal.Length']
        """
        return NodeTestTable.of_tree(self._fitted(), node)


@parameters(**OWN)
class CTreeClassifier(ClassificationMixin, _ConditionalInferenceTree):
    """Classification tree by conditional inference: every split is significant.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The fitted tree; ``tree_.node_tests()`` has the tests of all nodes.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity (Gini's index).
    {attributes}

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
    node           feature statistic df        p adjusted p
       0 sepal length (cm)   92.1872  2 9.59e-21   3.84e-20
       0  sepal width (cm)   59.7166  2 1.08e-13   4.31e-13
       0 petal length (cm)  140.2644  2 3.48e-31   1.39e-30 chosen
       0  petal width (cm)  138.4036  2 8.83e-31   3.53e-30
    """

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
        max_surrogates: int | None = None,
        class_scores: ArrayLike | Mapping[Any, float] | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        priors: ArrayLike | Mapping[Any, float] | Literal["uniform"] | None = None,
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
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _heaviest_may_lose(self) -> str | None:
        is_counted = self.adjust == "monte_carlo"
        return "rows are repeated by their weights, which must be whole" if is_counted else None

    def _response(self, training: Training) -> tuple[NDArray[Any], int]:
        if self.class_scores is None:
            return super()._response(training)
        scores = read_scores(self.class_scores, list(training.target.classes))
        return scores[training.y], 0


@parameters(**OWN)
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
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity (the squared error).
    {attributes}

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
        max_surrogates: int | None = None,
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
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())
