"""What all tree estimators share: the five-call fit, reading a fitted tree, tags, callbacks.

``fit`` is validate, encode, grow, prune, store. A learner adds its parameters and the recipe
it makes of them (``_recipe``); whether it predicts classes or numbers comes from one of the
mixins of :mod:`treewright.estimator.tasks`. What is learned sits in ``tree_`` and its schema.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from treewright.data.encode import encode
from treewright.data.weights import check_lengths, read_weights
from treewright.errors import ModelFileError
from treewright.estimator.parameters import check_parameters
from treewright.estimator.progress import Followed, Progress, reported
from treewright.estimator.pruning import (
    Pruned,
    check_pruning,
    complexity_table,
    held_out_curve,
    plot_sizes,
    prune,
    restored_table,
)
from treewright.estimator.scikit import TableInputMixin
from treewright.estimator.training import (
    Sample,
    Training,
    check_sample,
    seed,
    threads,
)
from treewright.tree.growing.grow import grow
from treewright.tree.predict import apply, decision_path
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from treewright.data.table import Table
    from treewright.explain._trace import Trace
    from treewright.pruning import CostComplexityPath, CpTable, SizeCurve
    from treewright.rules import RuleSet
    from treewright.tree.growing.recipe import Recipe

__all__ = ["TreeEstimator"]


class TreeEstimator(Followed, TableInputMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators that fit one tree."""

    tree_: Tree
    ccp_alpha_: float
    n_features_in_: int
    _cp_table: CpTable | None
    pruning_risk: Any
    cv: Any
    ccp_alpha: Any
    cp: Any
    categorical_features: Any
    ordinal_features: Any
    n_jobs: int | None

    def _recipe(self, training: Training) -> Recipe:
        """What this learner hands to the growth loop."""
        raise NotImplementedError

    def _read_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Codes and classes, or numbers and None."""
        raise NotImplementedError

    def _training(self, sample: Sample, table: Table) -> Training:
        """A sample and its table, with what the task makes of the target."""
        raise NotImplementedError

    def _known_target(self, y: Any) -> NDArray[Any]:
        """The target of new rows, in the codes or units of training."""
        return self._read_target(y)[0]

    def _learned(self) -> dict[str, Any]:
        """What the task keeps beside the tree."""
        raise NotImplementedError

    def _learn(self, tree: Tree, learned: dict[str, Any]) -> None:
        """Set the fitted attributes of the task; check what may come from a file."""
        raise NotImplementedError

    # Fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow and prune a tree.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numpy array, pandas, polars or Arrow table, or dict of columns; gaps allowed.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for regression
            The target, without gaps.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, at least 0; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        with reported(self, X, y, sample_weight) as progress:
            sample = self._validate(X, y, sample_weight)
            training = self._encode(sample)
            tree = self._grow(training, progress)
            pruned = self._prune(tree, training, progress)
            return self._store(pruned, training)

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> Sample:
        check_parameters(self)
        check_pruning(self)
        return check_sample(self, X, y, sample_weight)

    def _encode(self, sample: Sample) -> Training:
        table = encode(
            sample.X,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
            rows=sample.rows,
            n_threads=threads(self.n_jobs),
            owner=type(self).__name__,
        )
        return self._training(sample, table)

    def _grow(
        self,
        training: Training,
        progress: Progress | None = None,
        recipe: Recipe | None = None,
    ) -> Tree:
        recipe = recipe or self._recipe(training)
        return grow(
            training.table,
            training.y,
            recipe,
            target=training.target,
            sample_weight=training.sample_weight,
            costs=training.costs,
            seed=seed(self, recipe),
            n_threads=threads(self.n_jobs),
            progress=progress,
        )

    def _prune(self, tree: Tree, training: Training, progress: Progress | None = None) -> Pruned:
        return prune(self, tree, training, progress)

    def _store(self, pruned: Pruned, training: Training) -> Self:
        learned = {
            "classes": training.classes,
            "costs": None if training.costs is None else training.costs.loss,
        }
        return self._keep(pruned.tree, pruned.table, pruned.alpha, learned)

    def _keep(
        self, tree: Tree, table: CpTable | None, alpha: float, learned: dict[str, Any]
    ) -> Self:
        self._learn(tree, learned)
        self.tree_ = tree
        self.ccp_alpha_ = alpha
        self._cp_table = table
        self.n_features_in_ = len(tree.schema)
        self.__dict__.pop("feature_names_in_", None)
        if tree.schema.named:
            self.feature_names_in_ = np.array(tree.schema.names, dtype=object)
        return self

    # Reading the fitted tree

    def _fitted(self) -> Tree:
        try:
            return self.tree_
        except AttributeError:
            check_is_fitted(self)
            raise

    def _table(self, X: Any) -> Table:
        schema = self._fitted().schema
        return encode(X, schema=schema, n_threads=threads(self.n_jobs), owner=type(self).__name__)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Leaf of each row; the heaviest one of a row that goes down several branches.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            Node ids in ``tree_``.
        """
        return apply(self._fitted(), self._table(X), threads(self.n_jobs))

    def decision_path(self, X: Any) -> csr_matrix:
        """Nodes that each row visits.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        path : sparse matrix of shape (n_samples, n_nodes)
            Nonzero where the row visits the node.
        """
        return decision_path(self._fitted(), self._table(X))

    def get_depth(self) -> int:
        """Length of the longest path from the root to a leaf."""
        return self._fitted().depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        return self._fitted().n_leaves

    def rule_set(self) -> RuleSet:
        """The fitted tree as a model made of rules, one per leaf.

        Returns
        -------
        rules : RuleSet
            Predicts as the tree does, except for rows with a gap that surrogates or fractional
            descent would decide; see :meth:`treewright.rules.RuleSet.from_tree`.
        """
        return self._fitted().rule_set()

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the decrease of impurity."""
        return self.importances()

    def importances(
        self, *, surrogates: bool = False, normalize: bool = True
    ) -> NDArray[np.float64]:
        """How much the splits of each feature lower the impurity.

        Parameters
        ----------
        surrogates : bool, default=False
            Credit surrogate splits too, by their adjusted agreement, as rpart does.
        normalize : bool, default=True
            Scale to a sum of 1.

        Returns
        -------
        importances : ndarray of shape (n_features,)
        """
        return self._fitted().feature_importances(normalize=normalize, surrogates=surrogates)

    def trace(self, node: int, X: Any, y: Any, sample_weight: Any = None) -> Trace:
        """Candidates at a node: the best split of every feature, and its score.

        Parameters
        ----------
        node : int
            Node id in ``tree_``.
        X, y, sample_weight
            The training data.

        Returns
        -------
        trace : Trace
            With ``frame()``, ``str()`` and a notebook display; the chosen split first, then
            its competitors, with the surrogates beside them.
        """
        from treewright.explain._trace import trace

        return trace(self, node, X, y, sample_weight)

    # Pruning

    @property
    def cp_table_(self) -> CpTable:
        """Complexity, size and error of the nested subtrees, as rpart prints them.

        Cross-validated errors are in it where ``ccp_alpha`` or ``cp`` is ``"cv"``; the method
        ``cp_table`` adds them to any tree.
        """
        tree = self._fitted()
        return complexity_table(self, tree) if self._cp_table is None else self._cp_table

    def cp_table(self, X: Any, y: Any, sample_weight: Any = None) -> CpTable:
        """The complexity table with cross-validated errors on the folds of ``cv``.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Returns
        -------
        table : CpTable
        """
        training = self._encode(self._validate(X, y, sample_weight))
        return complexity_table(self, self._grow(training), training)

    def cost_complexity_pruning_path(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> CostComplexityPath:
        """Strengths at which the pruned tree changes, and the risks in between.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Returns
        -------
        path : CostComplexityPath
            ``ccp_alphas`` and ``impurities``, the risk (see ``pruning_risk``) of the leaves of
            each subtree, as scikit-learn names them; with ``frame()`` and ``plot()``.
        """
        from treewright.pruning import cost_complexity_path

        off = {"ccp_alpha": 0.0, "cp": None, "pruning": None}
        own = self.get_params(deep=False)
        whole = clone(self).set_params(**{name: off[name] for name in off if name in own})
        return cost_complexity_path(whole.fit(X, y, sample_weight).tree_, self.pruning_risk)

    def plot_pruning(self, ax: Any = None) -> Any:
        """Error against the size of the pruned tree.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ax : matplotlib axes
        """
        return plot_sizes(self.cp_table_, self.pruning_risk, ax)

    def size_curve(self, X: Any, y: Any, sample_weight: Any = None) -> SizeCurve:
        """Error of the fitted tree's subtrees, on its training rows and on new ones.

        Fit without pruning first; ``size_curve(X, y).plot()`` then shows the training error
        fall with size while the error on new rows turns up again.

        Parameters
        ----------
        X, y, sample_weight
            Rows that were held out of ``fit``.

        Returns
        -------
        curve : SizeCurve
        """
        values = self._known_target(y)
        weight, rows = read_weights(sample_weight, len(values))
        table = self._table(X)
        check_lengths(table.n_rows, len(values))
        if rows is not None:
            table, values = table.take(np.flatnonzero(rows)), values[rows]
        return held_out_curve(self, self._fitted(), table, values, weight)

    # scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return "tree_" in vars(self)

    # Model files

    def _state(self) -> dict[str, Any]:
        """What was learned, in values that a model file holds."""
        tree = self._fitted()
        table = None if self._cp_table is None else asdict(self._cp_table)
        return {"tree": tree, "table": table, "alpha": self.ccp_alpha_, "learned": self._learned()}

    def _restore(self, state: dict[str, Any]) -> Self:
        """Take back what ``_state`` gave."""
        tree, table, alpha, learned = (state[k] for k in ("tree", "table", "alpha", "learned"))
        is_tree = isinstance(tree, Tree) and tree.schema.target is not None
        if not is_tree or type(alpha) is not float or type(learned) is not dict:
            raise ModelFileError(f"what {type(self).__name__} learned is incomplete")
        return self._keep(tree, None if table is None else restored_table(table), alpha, learned)
