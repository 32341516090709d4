"""What all estimators share, and what all that fit one tree share.

``fit`` is validate, encode, grow, prune, store. A learner adds its parameters and the recipe it
makes of them (``_recipe``); what it predicts comes from a mixin of
:mod:`treewright.estimator.tasks`, and cost-complexity pruning, where it has that, from
:mod:`treewright.estimator.cost_complexity`. What is learned sits in ``tree_`` and its schema.
An estimator that is no tree takes :class:`Estimator` and a mixin of
:mod:`treewright.estimator.target`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from treewright.data.encode import encode
from treewright.errors import ModelFileError, ParameterError
from treewright.estimator.explained import Explained
from treewright.estimator.named_pruning import check_options, hold_out, is_named, prune_by_name
from treewright.estimator.pages import Paged
from treewright.estimator.parameters import check_parameters
from treewright.estimator.progress import Followed, Progress, reported
from treewright.estimator.scikit import TableInputMixin
from treewright.estimator.training import Training, read_training, seed, threads
from treewright.tree.growing.grow import grow
from treewright.tree.growing.stopping import features_per_node
from treewright.tree.predict import apply, decision_path
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from treewright.data.schema import Schema, Target
    from treewright.data.table import Table
    from treewright.explain._teach import Lesson
    from treewright.explain._trace import Trace
    from treewright.pruning import CpTable
    from treewright.rules import RuleSet
    from treewright.tree.growing.recipe import Recipe

__all__ = ["Estimator", "Pruned", "TreeEstimator", "prune_by"]


class Estimator(Explained, Followed, TableInputMixin, BaseEstimator):  # type: ignore[misc]
    """Base of every estimator: parameters are checked, any table is read."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    max_features_: int
    categorical_features: Any = "from_dtype"
    ordinal_features: Any = None
    n_jobs: int | None

    def _validate(self) -> None:
        """Refuse parameters that break a rule, or contradict each other."""
        check_parameters(self)

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Read what ``fit`` was given."""
        return read_training(self, X, y, sample_weight, lambda kept: self._read_rows(X, kept))

    def _read_rows(self, X: Any, kept: NDArray[np.bool_] | None) -> Table:
        """The training rows in the mask ``kept``, or all."""
        return encode(
            X,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
            rows=kept,
            n_threads=threads(self.n_jobs),
            owner=type(self).__name__,
        )

    def _lazily(self, X: Any, method: str) -> Any:
        """Predictions of a collection of Dask, as one."""
        from treewright.scale._dask import predict_lazily

        check_is_fitted(self)
        return predict_lazily(self, X, method)

    # What the task brings; see treewright.estimator.target

    def _keep_target(self, target: Target, classes: Any = None, costs: Any = None) -> None:
        """Set the fitted attributes of the task; what comes from a file is checked."""
        raise NotImplementedError

    def _learned_state(self) -> dict[str, Any]:
        """What was learned beside the model itself, in values that a model file holds."""
        raise NotImplementedError

    def _restore_learned(self, target: Target, learned: dict[str, Any]) -> None:
        """Take back what ``_learned_state`` gave."""
        raise NotImplementedError

    def _keep_features(self, schema: Schema) -> None:
        """Set the fitted attributes that say which features there were."""
        self.n_features_in_ = len(schema)
        self.__dict__.pop("feature_names_in_", None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        if hasattr(self, "max_features"):
            self.max_features_ = self._n_drawn_features(len(schema))

    def _n_drawn_features(self: Any, n_features: int) -> int:
        """What ``max_features`` means for so many features."""
        return features_per_node(self.max_features, n_features) or n_features


@dataclass(frozen=True)
class Pruned:
    """A pruned tree, the complexity table of the grown one if it was made, and the alpha."""

    tree: Tree
    table: CpTable | None = None
    alpha: float = 0.0


class TreeEstimator(Paged, Estimator):
    """Base of the estimators that fit one tree."""

    tree_: Tree
    _own_pruning: str | None = None
    """The value of ``pruning`` that the learner itself carries out."""

    def _validate(self) -> None:
        super()._validate()
        check_options(self)

    def _recipe(self, training: Training) -> Recipe:
        """What this learner hands to the growth loop."""
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
        with reported(self, X, y, sample_weight, self._n_trees()) as progress:
            self._validate()
            training = self._encode(X, y, sample_weight)
            held_out = hold_out(self, training)
            growing = training if held_out is None else training.take(held_out.growing)
            tree = self._grow(growing, progress)
            if is_named(self):
                ready = self._before_pruning(tree, growing)
                pruned: Pruned = prune_by_name(self, ready, training, held_out, progress)
            else:
                pruned = self._prune(tree, training, progress)
            self._store(self._counted(pruned, growing), training)
        if getattr(self, "teach", False):
            print(self.lesson(X, y, sample_weight))
        return self

    def _counted(self, pruned: Pruned, training: Training) -> Pruned:
        """The tree with counts for its pictures, if it is to keep them."""
        if not getattr(self, "keep_counts", False):
            return pruned
        from treewright.tree.split_counts import with_counts

        table, n_threads = training.table, threads(self.n_jobs)
        tree = with_counts(pruned.tree, table, training.y, training.sample_weight, n_threads)
        return replace(pruned, tree=tree)

    def _n_trees(self) -> int:
        """Trees that a fit grows."""
        return 1

    def _as_member(self) -> dict[str, Any]:
        """Parameters that switch off what nobody looks at in one of many trees."""
        own = self.get_params(deep=False)
        return {name: False for name in ("keep_counts", "teach") if name in own}

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

    def _before_pruning(self, tree: Tree, training: Training) -> Tree:
        """What the learner does to a grown tree before a pruner that is not its own sees it."""
        return tree

    def _prune(self, tree: Tree, training: Training, progress: Progress | None = None) -> Pruned:
        return Pruned(tree)

    def _store(self, pruned: Pruned, training: Training) -> Self:
        loss = None if training.costs is None else training.costs.loss
        self._keep_target(training.target, training.classes, loss)
        self._keep(pruned)
        return self

    def _keep(self, pruned: Pruned) -> None:
        """Set the fitted attributes of the tree."""
        self.tree_ = pruned.tree
        self._keep_features(pruned.tree.schema)

    # Reading the fitted tree

    def _fitted(self) -> Tree:
        try:
            return self.tree_
        except AttributeError:
            check_is_fitted(self)
            raise

    def _whole_tree(self, what: str) -> Tree:
        """The tree for ``what``, which needs a tree that says all that the model does."""
        return self._fitted()

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

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
        >>> model.apply(iris.data)[::50].tolist()
        [1, 3, 4]
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

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
        >>> model.decision_path(iris.data)[[0, 149]].toarray().astype(int)
        array([[1, 1, 0, 0, 0],
               [1, 0, 1, 0, 1]])
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

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> rules = CARTClassifier(max_depth=2).fit(iris.data, iris.target).rule_set()
        >>> print(rules)
        Rule 1:
            Petal.Length < 2.45
            -> class setosa  [98.1%]
        <BLANKLINE>
        Rule 2:
            Petal.Length >= 2.45
            Petal.Width < 1.75
            -> class versicolor  [89.3%]
        <BLANKLINE>
        Rule 3:
            Petal.Length >= 2.45
            Petal.Width >= 1.75
            -> class virginica  [95.8%]
        <BLANKLINE>
        Default class: setosa
        """
        return self._whole_tree("rule_set").rule_set()

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

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
        >>> model.importances().round(3)
        array([0.   , 0.   , 0.562, 0.438])
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

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
        >>> print(model.trace(2, iris.data, iris.target))
        Node 2: 100 rows, impurity 0.5
                    feature                test      gain known
        chosen  Petal.Width  Petal.Width < 1.75  0.389694   100
               Petal.Length Petal.Length < 4.75  0.373535   100
               Sepal.Length Sepal.Length < 6.15  0.106869   100
                Sepal.Width  Sepal.Width < 2.45 0.0355556   100
        """
        from treewright.explain._trace import trace

        return trace(self, node, X, y, sample_weight)

    def lesson(self, X: Any, y: Any, sample_weight: Any = None) -> Lesson:
        """The whole induction step by step, in words and numbers.

        Parameters
        ----------
        X, y, sample_weight
            The training data.

        Returns
        -------
        lesson : Lesson
            Every node with its rows, its candidates and why one of them won; print it.

        Examples
        --------
        >>> from treewright import ID3Classifier, datasets
        >>> tennis = datasets.load_play_tennis()
        >>> model = ID3Classifier().fit(tennis.data, tennis.target)
        >>> print(model.lesson(tennis.data, tennis.target)[1])
        Node 1: Outlook = Overcast
        --------------------------
        4 rows: 4 Yes.
        Entropy: − 4/4 log₂ 4/4 = 0.000 bits.
        A leaf: all rows are of one class. It says Yes.
        """
        from treewright.explain._teach import tree_lesson

        return tree_lesson(self, X, y, sample_weight)

    # scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return "tree_" in vars(self)

    # Model files

    def _state(self) -> dict[str, Any]:
        """What was learned, in values that a model file holds."""
        return {
            "tree": self._fitted(),
            "table": None,
            "alpha": 0.0,
            "learned": self._learned_state(),
        }

    def _restore(self, state: dict[str, Any]) -> Self:
        """Take back what ``_state`` gave."""
        tree, learned = state["tree"], state["learned"]
        is_tree = isinstance(tree, Tree) and tree.schema.target is not None
        if not is_tree or type(state["alpha"]) is not float or type(learned) is not dict:
            raise ModelFileError(f"what {type(self).__name__} learned is incomplete")
        self._keep(self._restored_pruning(tree, state["table"], state["alpha"]))
        self._restore_learned(tree.schema.target, learned)
        return self

    def _restored_pruning(self, tree: Tree, table: Any, alpha: float) -> Pruned:
        """What pruning found, as a file held it."""
        if table is not None or alpha != 0.0:
            raise ModelFileError(f"{type(self).__name__} has no complexity table")
        return Pruned(tree)


def prune_by(pruner: Any, tree: Tree) -> Tree:
    """The tree that the user's own pruner makes of ``tree``."""
    pruned = pruner(tree)
    if not isinstance(pruned, Tree):
        raise ParameterError(
            f"pruning must be a function that returns a Tree, got {type(pruned).__name__} "
            "from it; return what a function of treewright.pruning returns."
        )
    return pruned
