"""Oblique trees: tests on weighted sums of features, such as x + y < 1.

At every node the best axis-parallel test is found as CART finds it, then a linear test is
searched by the chosen method. The linear one is taken only if it lowers the impurity more;
coefficients that it does not need are deleted, and the others are rounded.

Methods: ``"oc1"`` changes one coefficient after another, each to the best of all values, from the
axis-parallel test and from random starts, with steps in random directions where no coefficient
helps (Murthy, Kasif and Salzberg 1994); ``"cart-lc"`` does so from the axis-parallel test alone
(Breiman and others 1984, section 5.2.2); ``"lda"``, ``"ridge"`` and ``"logistic"`` cut along
linear discriminants and along the coefficients of regressions; ``"random"`` along sparse random
projections (Tomita and others 2020).

It differs from the papers in that impurity is Gini's index or the squared error throughout.
Nominal features enter the sums by a number per category (``nominal_terms``), ordinal ones are
tested alone. A row with a gap in a term of a linear test goes to the side of the node's mean; a
category that the node has not seen counts as its most frequent one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, Literal

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval

from treewright.estimator.base import TreeEstimator
from treewright.estimator.cost_complexity import CostComplexity
from treewright.estimator.parameters import Parameter, keep, options, parameters
from treewright.estimator.tasks import ClassificationMixin, RegressionMixin
from treewright.estimator.training import Training
from treewright.learners._oblique import directions as _directions
from treewright.tree.growing.recipe import ObliqueRules, Recipe
from treewright.tree.growing.stopping import samples_to_leaf, samples_to_split
from treewright.tree.tree import Tree

__all__ = ["ObliqueTreeClassifier", "ObliqueTreeRegressor"]

_RESTARTS = Parameter(
    [Interval(Integral, 0, None, closed="left")],
    "int",
    'Random starts at each node, besides the axis-parallel one (``method="oc1"``).',
)
_OWN = {
    "n_restarts": _RESTARTS,
    "n_jumps": Parameter(
        [Interval(Integral, 0, None, closed="left")],
        "int",
        'Random directions tried where no coefficient helps (``method="oc1"``).',
    ),
    "n_projections": Parameter(
        [Interval(Integral, 1, None, closed="left"), None],
        "int",
        'Random projections at each node (``method="random"``); None for twice the number of '
        "columns that sums are made of.",
    ),
    "deletion": Parameter(
        [Interval(Real, 0.0, 1.0, closed="left")],
        "float",
        "Share of the gain of a linear test that may be lost for each test with fewer "
        "coefficients; 0.0 deletes only those that nothing is lost with.",
    ),
    "nominal_terms": Parameter(
        [*options("target", "indicators"), None],
        '{"target", "indicators"}',
        "How nominal features enter linear tests: by one number per category in the order of the "
        "target's means at the node, or by an indicator of each category; None tests them alone.",
    ),
}


class _ObliqueTree(CostComplexity, TreeEstimator):
    """What classifier and regressor share."""

    def _recipe(self: Any, training: Training) -> Recipe:
        n_rows = training.n_rows
        leaf = samples_to_leaf(self.min_samples_leaf, n_rows)
        is_stepwise = self.method in ("oc1", "cart-lc")
        directions = getattr(_directions, self.method, None)
        return Recipe(
            "gini" if training.target.is_classification else "squared_error",
            missing="learned",
            max_depth=self.max_depth,
            min_samples_split=samples_to_split(self.min_samples_split, leaf, n_rows),
            min_samples_leaf=leaf,
            min_weight_leaf=self.min_weight_fraction_leaf * training.total_weight,
            min_significance=self.min_significance,
            zero_gain=True,
            oblique=ObliqueRules(
                "stepwise" if is_stepwise else "given" if directions else "sparse",
                nominal_terms=self.nominal_terms,
                n_projections=self.n_projections,
                n_restarts=self.n_restarts if self.method == "oc1" else 0,
                n_jumps=self.n_jumps if self.method == "oc1" else 0,
                deletion=self.deletion,
                directions=directions,
            ),
        )


@parameters(
    method=Parameter(
        options("oc1", "cart-lc", "lda", "logistic", "ridge", "random"),
        '{"oc1", "cart-lc", "lda", "logistic", "ridge", "random"}',
        "How linear tests are searched: by changing one coefficient after another from random "
        "starts, or from the axis-parallel test; along linear discriminants, or coefficients "
        "of a logistic or ridge regression; along sparse random projections.",
    ),
    **_OWN,
)
class ObliqueTreeClassifier(ClassificationMixin, _ObliqueTree):
    """Classification tree with tests on weighted sums of features.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    ObliqueTreeRegressor : The same for numbers.
    CARTClassifier : Tests of single features.

    References
    ----------
    Murthy, Kasif and Salzberg (1994), *A System for Induction of Oblique Decision Trees*, Journal
    of Artificial Intelligence Research 2.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import ObliqueTreeClassifier
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> y = X.sum(axis=1) < 1
    >>> model = ObliqueTreeClassifier(random_state=0).fit(X, y)
    >>> model.get_n_leaves(), model.score(X, y)
    (2, 1.0)
    """

    def __init__(
        self,
        *,
        method: Literal["oc1", "cart-lc", "lda", "logistic", "ridge", "random"] = "oc1",
        n_restarts: int = 20,
        n_jumps: int = 5,
        n_projections: int | None = None,
        deletion: float = 0.02,
        nominal_terms: Literal["target", "indicators"] | None = "target",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_significance: float | None = None,
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


@parameters(
    method=Parameter(
        options("oc1", "cart-lc", "ridge", "random"),
        '{"oc1", "cart-lc", "ridge", "random"}',
        "How linear tests are searched: by changing one coefficient after another from random "
        "starts, or from the axis-parallel test; along the coefficients of a ridge regression; "
        "along sparse random projections.",
    ),
    **_OWN,
)
class ObliqueTreeRegressor(RegressionMixin, _ObliqueTree):
    """Regression tree with tests on weighted sums of features.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    ObliqueTreeClassifier : The same for classes.
    CARTRegressor : Tests of single features.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), *Classification and Regression Trees*, section
    5.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import ObliqueTreeRegressor
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> y = np.where(X[:, 0] < X[:, 1], 1.0, 3.0)
    >>> ObliqueTreeRegressor(random_state=0).fit(X, y).get_n_leaves()
    2
    """

    def __init__(
        self,
        *,
        method: Literal["oc1", "cart-lc", "ridge", "random"] = "oc1",
        n_restarts: int = 20,
        n_jumps: int = 5,
        n_projections: int | None = None,
        deletion: float = 0.02,
        nominal_terms: Literal["target", "indicators"] | None = "target",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_significance: float | None = None,
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
