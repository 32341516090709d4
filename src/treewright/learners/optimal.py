"""Optimal trees: the tree of least training error for a depth, with proof.

Greedy learners take the best test at every node and never look back. Here all trees of at most
``max_depth`` levels over the candidate tests are searched, most of them by bounds without being
looked at, and the best is returned together with the proof that it is: ``optimality_gap_`` is 0.
With a ``time_limit`` it is the best tree so far, and the gap says how far it can be from the best.
Of equally good trees the one with the fewest leaves is taken.

The search is in ``core/optimal/``, the candidate tests in ``_optimal/candidates.py``. It differs
from the papers in that columns need not be binary: tests of a column are nested, which counts
their pairs at once and bounds neighbouring cuts.

References: Demirović and others (2022), *MurTree: Optimal Decision Trees via Dynamic Programming
and Search*, Journal of Machine Learning Research 23; van der Linden, de Weerdt and Demirović
(2023), *Necessary and Sufficient Conditions for Optimal Decision Trees using Dynamic Programming*.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval

from treewright.errors import ModelFileError, OptimalityWarning
from treewright.estimator.base import Pruned, TreeEstimator
from treewright.estimator.parameters import Parameter, keep, parameters
from treewright.estimator.progress import Progress
from treewright.estimator.tasks import ClassificationMixin, RegressionMixin
from treewright.estimator.training import Training, threads
from treewright.learners._optimal.find import Proof, find_tree
from treewright.tree.growing.recipe import Recipe
from treewright.tree.tree import Tree

__all__ = ["OptimalTreeClassifier", "OptimalTreeRegressor"]

OWN = {
    "max_depth": Parameter(
        [Interval(Integral, 1, 5, closed="both")],
        "int",
        "Longest path from the root to a leaf, up to 5.",
    ),
    "leaf_penalty": Parameter(
        [Interval(Real, 0.0, None, closed="left")],
        "float",
        "Cost of a leaf, on the scale of the training error per row: 0.01 asks a further leaf to "
        "save one error in a hundred rows, or 0.01 of the mean squared error. With 0.0 only the "
        "error counts, and the number of leaves where errors are equal.",
    ),
    "max_cuts": Parameter(
        [Interval(Integral, 1, 10_000, closed="both"), None],
        "int",
        "Most cuts of a continuous or ordinal column that are tried, spread over its rows, and "
        "most subsets and single categories of a nominal one; all of them where there are no "
        "more, or with None. The tree is the best of those that use these tests.",
    ),
    "time_limit": Parameter(
        [Interval(Real, 0.0, None, closed="neither"), None],
        "float",
        "Seconds after which the search ends with the best tree so far and a warning that "
        "says how far it can be from the best; None searches to the end.",
    ),
}


class _OptimalTree(TreeEstimator):
    """What classifier and regressor share."""

    # Not the user's to choose: impurities are only shown.
    criterion: ClassVar[str]

    objective_: float
    lower_bound_: float
    optimality_gap_: float
    n_tests_: int
    _proof: Proof
    max_depth: int
    leaf_penalty: float
    max_cuts: int | None
    time_limit: float | None

    def _recipe(self, training: Training) -> Recipe:
        """What grows the found tree again, and what ``trace`` compares features by."""
        return Recipe(self.criterion, missing="learned", max_depth=self.max_depth)

    def _grow(
        self,
        training: Training,
        progress: Progress | None = None,
        recipe: Recipe | None = None,
    ) -> Tree:
        if recipe is not None:
            return super()._grow(training, progress, recipe)
        chooser, self._proof = find_tree(
            training,
            max_depth=self.max_depth,
            leaf_penalty=self.leaf_penalty,
            max_cuts=self.max_cuts,
            time_limit=self.time_limit,
            n_threads=threads(self.n_jobs),
            progress=progress,
        )
        return super()._grow(training, None, replace(self._recipe(training), choose=chooser))

    def _store(self, pruned: Pruned, training: Training) -> Self:
        super()._store(pruned, training)
        tree, proof = pruned.tree, self._proof
        del self._proof
        risk = float(tree.risk[tree.is_leaf].sum())
        self._keep_proof(risk + self.leaf_penalty * tree.n_leaves, proof.gap, proof.n_tests)
        if proof.is_interrupted:
            raise KeyboardInterrupt  # the best tree so far is kept
        if proof.gap > 0:
            warnings.warn(
                f"{type(self).__name__} searched for {self.time_limit:g} s and found an objective "
                f"of {self.objective_:.6g}, of which {self.optimality_gap_:.6g} may be too much; "
                "raise time_limit, or lower max_depth or max_cuts, for a proof.",
                OptimalityWarning,
                stacklevel=3,
            )
        return self

    def _keep_proof(self, objective: float, gap: float, n_tests: int) -> None:
        self.objective_ = objective
        self.optimality_gap_ = gap
        self.lower_bound_ = objective - gap
        self.n_tests_ = n_tests

    def _state(self) -> dict[str, Any]:
        proof = {"objective": self.objective_, "gap": self.optimality_gap_, "n": self.n_tests_}
        return {**super()._state(), "proof": proof}

    def _restore(self, state: dict[str, Any]) -> Self:
        super()._restore(state)
        proof = state["proof"]
        kinds = {"objective": float, "gap": float, "n": int}
        if type(proof) is not dict or {k: type(v) for k, v in proof.items()} != kinds:
            raise ModelFileError("what it says of its optimality is incomplete")
        if not (np.isfinite(proof["gap"]) and proof["gap"] >= 0):
            raise ModelFileError("its optimality gap is no number from 0 on")
        self._keep_proof(proof["objective"], proof["gap"], proof["n"])
        return self


@parameters(**OWN)
class OptimalTreeClassifier(ClassificationMixin, _OptimalTree):
    """Classification tree of least training error for its depth, with proof.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The fitted tree.
    objective_ : float
        Weighted, costed training error per row, plus ``leaf_penalty`` for every leaf.
    optimality_gap_ : float
        How far the objective can be above that of the best tree; 0.0 is a proof that it is the
        best.
    lower_bound_ : float
        What no tree of this depth and these tests can be below: the objective less the gap.
    n_tests_ : int
        Number of tests that were tried.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_classes_ : int
        Their number.
    n_outputs_ : int
        Number of outputs, which is 1.
    cost_matrix_ : ndarray of shape (n_classes, n_classes) or None
        ``costs`` in the order of ``classes_``.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity (Gini's index).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    OptimalTreeRegressor : The same for numbers.
    optimality_gap : How far any tree is from the best of its depth.
    CARTClassifier : The greedy tree.

    Notes
    -----
    Ctrl-C ends the search; the estimator then holds the best tree so far.

    References
    ----------
    Demirović and others (2022), *MurTree: Optimal Decision Trees via Dynamic Programming and
    Search*.

    Examples
    --------
    The exclusive or is invisible to a greedy tree, because no single test helps.

    >>> from treewright import OptimalTreeClassifier
    >>> X = [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 0]]
    >>> model = OptimalTreeClassifier(max_depth=2).fit(X, [0, 1, 1, 0, 1, 1])
    >>> model.objective_, model.optimality_gap_
    (0.0004, 0.0)
    """

    criterion = "gini"

    def __init__(
        self,
        *,
        max_depth: int = 3,
        leaf_penalty: float = 0.0001,
        max_cuts: int | None = 20,
        time_limit: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        priors: ArrayLike | Mapping[Any, float] | Literal["uniform"] | None = None,
        costs: ArrayLike | Mapping[Any, Mapping[Any, float]] | None = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        keep_counts: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())


@parameters(**OWN)
class OptimalTreeRegressor(RegressionMixin, _OptimalTree):
    """Regression tree of least squared training error for its depth, with proof.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The fitted tree.
    objective_ : float
        Weighted mean squared error of training, plus ``leaf_penalty`` for every leaf.
    optimality_gap_ : float
        How far the objective can be above that of the best tree; 0.0 is a proof that it is the
        best.
    lower_bound_ : float
        What no tree of this depth and these tests can be below: the objective less the gap.
    n_tests_ : int
        Number of tests that were tried.
    n_outputs_ : int
        Number of outputs.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity (the squared error).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has names.

    See Also
    --------
    OptimalTreeClassifier : The same for classes.
    optimality_gap : How far any tree is from the best of its depth.
    CARTRegressor : The greedy tree.

    Notes
    -----
    Ctrl-C ends the search; the estimator then holds the best tree so far.

    References
    ----------
    Van der Linden, de Weerdt and Demirović (2023), *Necessary and Sufficient Conditions for
    Optimal Decision Trees using Dynamic Programming*.

    Examples
    --------
    >>> from treewright import OptimalTreeRegressor
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> model = OptimalTreeRegressor(max_depth=2).fit(X, [5.0, 1.0, 1.0, 5.0])
    >>> model.predict([[1, 1], [0, 1]])
    array([5., 1.])
    """

    criterion = "squared_error"

    def __init__(
        self,
        *,
        max_depth: int = 3,
        leaf_penalty: float = 0.0,
        max_cuts: int | None = 20,
        time_limit: float | None = None,
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        keep_counts: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())
