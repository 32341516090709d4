"""Cost-complexity pruning of a learner that has it: a mixin and what it is made of.

From the parameters ``pruning``, ``ccp_alpha``, ``cp``, ``cv`` and ``rule`` to a pruned tree.

``cp`` orders the nested subtrees by rpart's rule and counts in root risks, ``ccp_alpha`` by
the exact weakest link and in the unit of the risk; the rest is one path for both.
"""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from treewright.criteria import Loss, row_of
from treewright.data.weights import check_lengths, read_weights
from treewright.errors import ModelFileError, ParameterError
from treewright.estimator.base import Pruned, prune_by
from treewright.estimator.costs import root_risk
from treewright.estimator.folds import n_folds, row_splits
from treewright.estimator.routing import SplitsRows
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.data.table import Table
    from treewright.estimator.progress import Progress
    from treewright.estimator.training import Training
    from treewright.pruning import (
        CostComplexityPath,
        CpTable,
        CrossValidatedErrors,
        PruningSequence,
        SizeCurve,
    )

__all__ = ["CostComplexity", "leaf_price"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


class CostComplexity(SplitsRows):
    """Weakest-link pruning, for an estimator that fits one tree and has its parameters."""

    ccp_alpha_: float
    _cp_table: CpTable | None
    _own_pruning: str | None = "cost_complexity"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **metadata: Any) -> Self:
        """Grow and prune a tree.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numpy array, pandas, polars or Arrow table, or dict of columns; gaps allowed.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for regression
            The target, without gaps.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, at least 0; rows of weight 0 are left out.
        **metadata
            For the splitter of ``cv``, such as ``groups``, by scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        with self._handing_on(metadata):
            return super().fit(X, y, sample_weight)  # type: ignore[misc, no-any-return]

    def _validate(self) -> None:
        super()._validate()  # type: ignore[misc]
        check_pruning(self)

    def _n_trees(self: Any) -> int:
        return 1 + n_folds(self.cv) if "cv" in (self.ccp_alpha, self.cp) else 1

    def _prune(self, tree: Tree, training: Training, progress: Progress | None = None) -> Pruned:
        return prune(self, tree, training, progress)

    def _keep(self, pruned: Pruned) -> None:
        super()._keep(pruned)  # type: ignore[misc]
        self.ccp_alpha_, self._cp_table = pruned.alpha, pruned.table

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = super()._state()  # type: ignore[misc]
        table = None if self._cp_table is None else asdict(self._cp_table)
        return state | {"table": table, "alpha": self.ccp_alpha_}

    def _restored_pruning(self, tree: Tree, table: Any, alpha: float) -> Pruned:
        return Pruned(tree, None if table is None else restored_table(table), alpha)

    @property
    def cp_table_(self: Any) -> CpTable:
        """Complexity, size and error of the nested subtrees, as rpart prints them.

        Cross-validated errors are in it where ``ccp_alpha`` or ``cp`` is ``"cv"``; the method
        ``cp_table`` adds them to any tree.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> tennis = datasets.load_play_tennis()
        >>> print(CARTClassifier().fit(tennis.data, tennis.target).cp_table_)
        Root node error: 0.35714
        <BLANKLINE>
        n= 14
        <BLANKLINE>
           CP nsplit rel error
        1 0.3      0       1.0
        2 0.1      2       0.4
        3 0.0      6       0.0
        """
        tree = self._fitted()
        return complexity_table(self, tree) if self._cp_table is None else self._cp_table

    def cp_table(self: Any, X: Any, y: Any, sample_weight: Any = None) -> CpTable:
        """The complexity table with cross-validated errors on the folds of ``cv``.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Returns
        -------
        table : CpTable

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> table = CARTClassifier(cv=5, random_state=0).cp_table(iris.data, iris.target)
        >>> table.best("1se").n_splits
        2
        """
        self._validate()
        training = self._encode(X, y, sample_weight)
        return complexity_table(self, self._grow(training), training)

    def cost_complexity_pruning_path(
        self: Any, X: Any, y: Any, sample_weight: Any = None
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

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> path = CARTClassifier().cost_complexity_pruning_path(iris.data, iris.target)
        >>> path.ccp_alphas.round(4).tolist()
        [0.0, 0.0033, 0.0067, 0.0133, 0.2933, 0.3333]
        >>> path.n_leaves.tolist()
        [9, 7, 4, 3, 2, 1]
        """
        from treewright.pruning import cost_complexity_path

        off = {"ccp_alpha": 0.0, "cp": None, "pruning": None, "teach": False}
        own = self.get_params(deep=False)
        whole = clone(self).set_params(**{name: off[name] for name in off if name in own})
        return cost_complexity_path(whole.fit(X, y, sample_weight).tree_, self.pruning_risk)

    def plot_pruning(self: Any, ax: Any = None) -> Any:
        """Error against the size of the pruned tree.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ax : matplotlib axes

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> model = CARTClassifier().fit(iris.data, iris.target)
        >>> axes = model.plot_pruning()
        """
        return plot_sizes(self.cp_table_, self.pruning_risk, ax)

    def size_curve(self: Any, X: Any, y: Any, sample_weight: Any = None) -> SizeCurve:
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

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> rings = datasets.two_rings(400, random_state=0)
        >>> model = CARTClassifier().fit(rings.data.slice(0, 200), rings.target[:200])
        >>> curve = model.size_curve(rings.data.slice(200), rings.target[200:])
        >>> bool(curve.best_size < model.get_n_leaves())
        True
        """
        values = self._known_target(y)
        weight, rows = read_weights(sample_weight, len(values))
        table = self._table(X)
        check_lengths(table.n_rows, len(values))
        if rows is not None:
            table, values = table.take(np.flatnonzero(rows)), values[rows]
        return held_out_curve(self, self._fitted(), table, values, weight)


def check_pruning(estimator: Any) -> None:
    """Refuse parameters that contradict each other."""
    given = [
        name for name, off in (("ccp_alpha", 0.0), ("cp", None)) if getattr(estimator, name) != off
    ]
    if len(given) == 2:
        raise ParameterError(
            "ccp_alpha and cp both set the strength of pruning, "
            f"got {estimator.ccp_alpha!r} and {estimator.cp!r}; give one of them."
        )
    if given and estimator.pruning != "cost_complexity":
        raise ParameterError(
            f'{given[0]} belongs to pruning="cost_complexity", got pruning='
            f"{estimator.pruning!r} beside it; drop one of them."
        )


def prune(
    estimator: Any, tree: Tree, training: Training, progress: Progress | None = None
) -> Pruned:
    """Cut a grown tree back as the estimator's parameters ask."""
    if callable(estimator.pruning):
        return Pruned(prune_by(estimator.pruning, tree))
    strength = estimator.ccp_alpha if estimator.cp is None else estimator.cp
    if estimator.pruning is None or (estimator.cp is None and strength == 0.0):
        return Pruned(tree)
    from treewright.pruning import CpTable
    from treewright.pruning._cost_complexity import prune_sequence

    sequence = _sequence(estimator, tree)
    unit = 1.0 if estimator.cp is None else abs(sequence.root_risk)
    if strength != "cv":
        alpha = float(strength) * unit
        table = CpTable.from_sequence(sequence.above(alpha))
    elif not sequence.root_error > 0:
        # A root without error has nothing to prune, and nothing that errors are relative to.
        alpha, table = 0.0, CpTable.from_sequence(sequence)
    else:
        errors = _cross_validate(estimator, sequence, training, progress)
        table = CpTable.from_sequence(sequence, errors)
        alpha = table.best(estimator.rule).cp * abs(sequence.root_risk)
    is_priced = tree.stopping is not None and tree.stopping.leaf_price >= 0
    return Pruned(prune_sequence(tree, sequence, alpha, is_priced=is_priced), table, alpha)


def complexity_table(estimator: Any, tree: Tree, training: Training | None = None) -> CpTable:
    """The complexity table of a grown tree, with cross-validated errors if data are given."""
    from treewright.pruning import CpTable

    sequence = _sequence(estimator, tree)
    strength = estimator.ccp_alpha if estimator.cp is None else estimator.cp
    if strength != "cv" and strength > 0:
        unit = 1.0 if estimator.cp is None else abs(sequence.root_risk)
        sequence = sequence.above(float(strength) * unit)
    if training is None or not sequence.root_error > 0:
        return CpTable.from_sequence(sequence)
    errors = _cross_validate(estimator, sequence, training, None)
    return CpTable.from_sequence(sequence, errors)


def restored_table(columns: Any) -> CpTable:
    """A complexity table from the columns that a model file held."""
    from treewright.pruning import CpTable

    if type(columns) is not dict or set(columns) != {field.name for field in fields(CpTable)}:
        raise ModelFileError("its complexity table is incomplete")
    arrays = [column for column in columns.values() if isinstance(column, np.ndarray)]
    if any(array.ndim != 1 or len(array) != len(arrays[0]) for array in arrays):
        raise ModelFileError("the columns of its complexity table differ in length")
    return CpTable(**columns)


def plot_sizes(table: CpTable, risk: Any, ax: Any) -> Any:
    """Training and, if there is any, cross-validated error against the number of leaves."""
    from treewright.pruning import CostComplexityPath

    path = CostComplexityPath(
        alphas=table.cp[::-1],
        n_leaves=table.n_leaves[::-1],
        risks=table.rel_error[::-1],
        risk=risk,
        errors=None if table.xerror is None else table.xerror[::-1],
        errors_std=None if table.xstd is None else table.xstd[::-1],
    )
    return path.plot(ax)


def leaf_price(estimator: Any, training: Training) -> float:
    """What a leaf costs where the strength of pruning is known before growth; else −1.

    Growth then leaves out what pruning would cut. Not so in best-first growth, where a leaf
    that is cut is free for another node.
    """
    strength = estimator.ccp_alpha if estimator.cp is None else estimator.cp
    if (
        strength in ("cv", 0.0)
        or estimator.pruning_risk != "error"
        or getattr(estimator, "min_significance", None) is not None
        or getattr(estimator, "max_leaf_nodes", None) is not None
        or row_of(getattr(estimator, "criterion", None)).loss is not None
    ):
        return -1.0
    # A little less than the price, because risks are sums of rounded numbers.
    price = float(strength) * (1.0 - 1e-9)
    return price if estimator.cp is None else price * _root_risk(training)


def _sequence(estimator: Any, tree: Tree) -> PruningSequence:
    from treewright.pruning import pruning_sequence

    return pruning_sequence(
        tree, estimator.pruning_risk, "exact" if estimator.cp is None else "rpart"
    )


def _cross_validate(
    estimator: Any, sequence: PruningSequence, training: Training, progress: Progress | None
) -> CrossValidatedErrors:
    from treewright.pruning import cross_validated_errors
    from treewright.pruning._cross_validation import prior_share

    price = leaf_price(estimator, training)
    costs = training.costs

    def grow(rows: Rows) -> Tree:
        if progress is not None:
            progress.next_part()
        part = training.take(rows)
        unit = 1.0 if costs is None else prior_share(part.class_totals(), costs.proba_factor)
        recipe = replace(estimator._recipe(part), leaf_price=price / unit)
        grown: Tree = estimator._grow(part, progress, recipe)
        return grown

    return cross_validated_errors(
        sequence,
        training.table,
        row_splits(
            estimator.cv, training, estimator.random_state, getattr(estimator, "_asked", {})
        ),
        grow,
        _loss(estimator, training),
        training.sample_weight,
    )


def _loss(estimator: Any, training: Training) -> Any:
    """Loss of held-out rows, in the unit of the tree's risk."""
    costs = training.costs
    if training.target.is_classification and costs is not None:
        return _row_loss(estimator, training.y, costs.loss, costs.proba_factor)
    return _row_loss(estimator, training.y)


def _row_loss(estimator: Any, y: NDArray[Any], costs: Any = None, factor: Any = None) -> Any:
    """Loss of rows with target ``y`` (class codes are integers) that end at given nodes."""
    from treewright.pruning import class_loss, squared_loss

    if y.dtype == np.int32:
        return class_loss(y, costs, factor)
    own = row_of(getattr(estimator, "criterion", None)).loss
    return squared_loss(y) if own is None else _number_loss(y, own)


def held_out_curve(
    estimator: Any, tree: Tree, table: Table, y: NDArray[Any], weight: Floats | None
) -> SizeCurve:
    """Error of the subtrees of ``tree`` on rows that did not grow it."""
    from treewright.pruning import size_curve

    factor = np.asarray(tree.schema.target.class_factor) if tree.schema.target else None
    loss = _row_loss(
        estimator,
        y,
        getattr(estimator, "cost_matrix_", None),
        factor if factor is not None and len(factor) else None,
    )
    return size_curve(tree, table, loss, weight, estimator.pruning_risk)


def _number_loss(y: Floats, loss: Loss) -> Any:
    """Loss of rows that end at given nodes; of several outputs, the mean of theirs."""
    target = y.reshape(len(y), -1)

    def rows_at_nodes(tree: Tree, nodes: NDArray[np.int32], rows: Rows) -> Floats:
        weight = tree.weight[nodes]
        columns = [
            loss(target[rows, k][:, None], tree.value[:, k][nodes], weight)
            for k in range(target.shape[1])
        ]
        return np.asarray(sum(columns) / len(columns))

    return rows_at_nodes


def _root_risk(training: Training) -> float:
    if training.target.is_classification:
        return root_risk(training.class_totals(), training.costs)
    y = training.y.reshape(training.n_rows, -1)
    mean = np.average(y, axis=0, weights=training.sample_weight)
    return float(np.average(((y - mean) ** 2).mean(axis=1), weights=training.sample_weight))
