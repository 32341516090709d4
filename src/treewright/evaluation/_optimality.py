"""How far a tree is from the best one of its depth.

The best tree is searched among all trees with two branches to a node and tests of one column,
candidate tests that include those of the given tree; see :mod:`treewright.learners.optimal`. So a
given tree of this kind is one of those that are searched, and never better than the best of them;
what makes a tree one of another kind is said in the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import checked
from treewright.errors import ParameterError, TreewrightError
from treewright.estimator.costs import expected_cost_labels
from treewright.estimator.training import Training, threads
from treewright.learners._optimal.candidates import Wanted
from treewright.learners._optimal.find import find_tree
from treewright.pruning._rows import read_rows
from treewright.tree.growing.grow import grow
from treewright.tree.growing.recipe import ClassCosts, Recipe
from treewright.tree.of_model import tree_of
from treewright.tree.predict import decision_path, node_values
from treewright.tree.show.tables import as_frame, html_table, text_table
from treewright.tree.split import SplitKind
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.data.schema import Target

__all__ = ["OptimalityGap", "optimality_gap"]

DEEPEST = 30
"""No search goes deeper; the bound then is that of rows which no test tells apart."""


@dataclass(frozen=True, eq=False)
class OptimalityGap:
    """The error of a tree beside the least of its depth.

    Parameters
    ----------
    error, best_error, lower_bound
        Errors of the tree, of the best tree found, and what no tree is below: weighted, costed
        errors for classes, the mean squared error for numbers.
    tree, best_tree
        The two trees.
    max_depth, n_tests
        Depth and number of tests of the search.
    total
        Weight of all rows, of which errors are a part.
    time_limit
        Seconds that the search had; None for as many as it took.
    outside
        Why the tree is none of those that are searched, so that the bound does not hold for it;
        empty if it is one of them.

    Examples
    --------
    >>> from treewright import CARTClassifier, optimality_gap
    >>> X = [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 0]]
    >>> y = [0, 1, 1, 0, 1, 1]
    >>> gap = optimality_gap(CARTClassifier(max_depth=2).fit(X, y), X, y)
    >>> gap.gap, gap.is_proven, gap.is_optimal
    (0.0, True, True)
    >>> gap.frame().errors.tolist()
    [0.0, 0.0, 0.0]
    >>> axes = gap.plot()
    >>> print(gap.words())
    This tree of depth 2 with 4 leaves makes 0 errors on 6 rows. It is optimal: no tree of
    depth 2 over 3 tests makes less.
    """

    error: float
    best_error: float
    lower_bound: float
    tree: Tree
    best_tree: Tree
    max_depth: int
    n_tests: int
    total: float
    time_limit: float | None = None
    outside: str = ""

    @property
    def gap(self) -> float:
        """How much the error could be lower: the tree's error less the best one."""
        return max(0.0, self.error - self.best_error)

    @property
    def is_proven(self) -> bool:
        """Whether the best tree found is proven to be the best."""
        return self.best_error <= self.lower_bound

    @property
    def is_optimal(self) -> bool:
        """Whether the given tree is one of those searched, and proven to be the best of them."""
        return not self.outside and self.error <= self.lower_bound + 1e-9 * abs(self.error)

    @property
    def _counts(self) -> bool:
        target = self.tree.schema.target
        return target is not None and target.is_classification

    def _amount(self, error: float) -> str:
        if not self._counts:
            return f"{error:.6g}"
        return f"{round(error):d}" if abs(error - round(error)) < 1e-6 else f"{error:.6g}"

    def _what(self, amount: str) -> str:
        if not self._counts:
            return f"a mean squared error of {amount}"
        return f"{amount} {'error' if amount == '1' else 'errors'}"

    def words(self) -> str:
        """The result in two sentences, three for a tree that is none of those searched."""
        has = "makes" if self._counts else "has"
        on = f" on {self._amount(self.total)} rows" if self._counts else ""
        first = (
            f"This tree of depth {self.tree.depth} with {_leaves(self.tree)} {has} "
            f"{self._what(self._amount(self.error))}{on}."
        )
        scope = f"tree of depth {self.max_depth} over {self.n_tests} tests"
        if self.is_optimal:
            return f"{first} It is optimal: no {scope} {has} less."
        if self.outside:
            first += f" It is none of the trees that are searched: {self.outside}."
        best = self._what(self._amount(self.best_error))
        less = f"{self._amount(self.gap)} less" if self.gap else "no less"
        if self.is_proven:
            return f"{first} The best {scope} {has} {best} with {_leaves(self.best_tree)}, {less}."
        return (
            f"{first} The best {scope} that was found in {self.time_limit:g} s {has} {best}, "
            f"{less}, and none {has} less than {self._amount(self.lower_bound)}."
        )

    def _columns(self) -> dict[str, list[Any]]:
        trees = [self.tree, self.best_tree]
        best = "best tree" if self.is_proven else "best tree found"
        return {
            "": ["this tree", best, "no tree is below"],
            "errors" if self._counts else "mean squared error": [
                self.error,
                self.best_error,
                self.lower_bound,
            ],
            "leaves": [*(tree.n_leaves for tree in trees), None],
            "depth": [*(tree.depth for tree in trees), None],
        }

    def _cells(self) -> dict[str, list[str]]:
        def cell(value: Any) -> str:
            if value is None:
                return ""
            return self._amount(value) if isinstance(value, float) else str(value)

        return {name: [cell(value) for value in values] for name, values in self._columns().items()}

    def frame(self) -> Any:
        """The three errors as a data frame."""
        columns = self._columns()
        return as_frame({"tree": columns.pop(""), **columns})

    def __str__(self) -> str:
        return f"{self.words()}\n{text_table(self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self.words())

    def plot(self, ax: Any = None) -> Any:
        """Draw the errors of both trees, and the bound, as bars.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        from matplotlib import pyplot as plt

        if ax is None:
            ax = plt.subplots(figsize=(6.0, 1.8))[1]
        columns = self._columns()
        names = columns.pop("")[:2]
        label, errors = next(iter(columns.items()))
        bars = ax.barh(names, errors[:2], color=["C1", "C0"])
        ax.bar_label(bars, [self._amount(error) for error in errors[:2]], padding=3)
        ax.axvline(self.lower_bound, color="black", linestyle=":", label="no tree is below")
        ax.invert_yaxis()
        ax.set_xlabel(label)
        ax.legend(loc="lower right")
        return ax


@checked()
def optimality_gap(
    tree: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    max_depth: int | None = None,
    max_cuts: int | None = 20,
    time_limit: float | None = 60.0,
    n_jobs: int | None = None,
) -> OptimalityGap:
    """How far a tree is from the best tree of its depth on these rows.

    Parameters
    ----------
    tree : estimator or Tree
        A fitted estimator with a ``tree_``, or that tree; of any learner.
    X, y, sample_weight
        The rows on which errors are counted, most often those of training.
    max_depth : int or None, default=None
        Depth of the best tree; None for that of the tree.
    max_cuts : int or None, default=20
        Most cuts of a column that are tried, besides the tests of the tree itself; None for all.
    time_limit : float or None, default=60.0
        Seconds for the search; when they are over, the answer has a bound instead of a proof.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all.

    Returns
    -------
    gap : OptimalityGap
        With ``error``, ``best_error``, ``lower_bound``, ``best_tree``, ``words()``, ``frame()``,
        ``plot()``, ``str()`` and a notebook display.

    Notes
    -----
    The bound holds for all trees of at most ``max_depth`` levels, two branches to a node and these
    tests: cuts of a continuous or ordinal column, sets of categories of a nominal one, both with
    the gaps on either side, and known against gap. Cuts and sets are those of
    :class:`OptimalTreeClassifier` with this ``max_cuts``, and all that the given tree makes.

    The tree itself may be of another kind and then be better than the best of them: with more
    levels than ``max_depth``, linear tests, more branches to a node, or rows with gaps that end at
    a node, go down several branches, or are sent by surrogates. ``outside`` and ``words()`` say
    so, and ``is_optimal`` is False.

    Examples
    --------
    >>> from treewright import CARTClassifier, optimality_gap
    >>> X = [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 0]]
    >>> y = [0, 1, 1, 0, 1, 1]
    >>> greedy = CARTClassifier(max_depth=1).fit(X, y)
    >>> gap = optimality_gap(greedy, X, y, max_depth=2)
    >>> gap.error, gap.best_error
    (2.0, 0.0)
    """
    costs_of = getattr(tree, "cost_matrix_", None)
    given = tree_of(tree)
    if given.schema.target is None:
        raise ParameterError("tree must have a target, got one without; grow it by an estimator.")
    training = _training(given, X, y, sample_weight, costs_of)
    depth = min(given.depth if max_depth is None else max_depth, DEEPEST)
    chooser, proof = find_tree(
        training,
        max_depth=depth,
        max_cuts=max_cuts,
        time_limit=time_limit,
        n_threads=threads(n_jobs),
        wanted=_tests_of(given),
    )
    if proof.is_interrupted:
        raise KeyboardInterrupt
    criterion = "gini" if training.target.is_classification else "squared_error"
    best = grow(
        training.table,
        training.y,
        Recipe(criterion, missing="learned", choose=chooser),
        target=training.target,
        sample_weight=training.sample_weight,
        costs=training.costs,
    )
    error, best_error = _error(given, training), _error(best, training)
    unit = training.total_weight if training.target.is_classification else 1.0
    if training.costs is not None:
        unit = float((_weights(training) * training.costs.proba_factor[training.y]).sum())
    lower_bound = best_error - proof.gap * unit
    outside = _why_outside(given, training, depth)
    if not outside and error < best_error:
        # Sums of floats may differ in their last bits, and a search that ran out of time may
        # not have come so far.
        scale = unit if training.target.is_classification else float(np.square(training.y).max())
        if error < lower_bound - 1e-9 * scale:
            raise TreewrightError(
                f"No tree of depth {depth} should be below {lower_bound!r}, but the given one has "
                f"{error!r}; please report this with the data."
            )
        best, best_error, lower_bound = given, error, min(lower_bound, error)
    return OptimalityGap(
        error=error,
        best_error=best_error,
        lower_bound=lower_bound,
        tree=given,
        best_tree=best,
        max_depth=depth,
        n_tests=proof.n_tests,
        total=training.total_weight,
        time_limit=time_limit,
        outside=outside,
    )


def _leaves(tree: Tree) -> str:
    return f"{tree.n_leaves} {'leaf' if tree.n_leaves == 1 else 'leaves'}"


def _why_outside(tree: Tree, training: Training, max_depth: int) -> str:
    """What keeps a tree from being one of those that are searched, on these rows."""
    inner = ~tree.is_leaf
    if tree.depth > max_depth:
        return f"it is {tree.depth} levels deep"
    if np.any(tree.splits.kind[inner] == SplitKind.LINEAR):
        return "its tests are of several columns"
    if np.any(tree.n_children[inner] > 2):
        return "a node has more than two branches"
    has_surrogates = np.diff(tree.surrogate_offset) > 0
    asked = np.flatnonzero(inner & (has_surrogates | (tree.default < 0)))
    if not len(asked):
        return ""
    visits = decision_path(tree, training.table).tocsc()
    for node in asked.tolist():
        rows = visits.indices[visits.indptr[node] : visits.indptr[node + 1]]
        values = training.table.columns[int(tree.splits.feature[node])][rows]
        if values.dtype.kind == "f":
            is_gap = np.isnan(values)
        elif tree.splits.kind[node] == SplitKind.CODES:
            is_gap = ~np.isin(values, tree.splits.node_codes(node))
        else:
            is_gap = values < 0
        if is_gap.any():
            return (
                "surrogates decide where rows with gaps go"
                if has_surrogates[node]
                else "rows with gaps end at a node or go down several branches"
            )
    return ""


def _training(tree: Tree, X: Any, y: Any, sample_weight: Any, loss: Any) -> Training:
    """The rows as the tree knows them."""
    target: Target = tree.schema.target  # type: ignore[assignment]
    table, values, weight = read_rows(tree, X, y, sample_weight, "X")
    classes = np.array(target.classes) if target.is_classification else None
    costs = None
    if target.is_classification and (loss is not None or target.class_factor):
        factor = np.asarray(target.class_factor or (1.0,) * len(target.classes))
        costs = ClassCosts(factor, factor, loss)
    return Training(table, values, weight, target, costs, classes)


def _weights(training: Training) -> NDArray[np.float64]:
    weight = training.sample_weight
    return np.ones(training.n_rows) if weight is None else weight


def _error(tree: Tree, training: Training) -> float:
    """Weighted, costed errors, or the weighted mean squared error."""
    weight = _weights(training)
    if not training.target.is_classification:
        y = training.y.reshape(training.n_rows, -1)
        squares = (y - node_values(tree, training.table, tree.value)) ** 2
        return float(np.average(squares.mean(axis=1), weights=weight))
    costs = training.costs
    loss = None if costs is None else costs.loss
    if tree.is_fractional:
        share = node_values(tree, training.table, tree.probability)
        label = expected_cost_labels(share, loss)
    else:
        said = np.eye(len(training.target.classes))[tree.label]
        label = node_values(tree, training.table, said).argmax(axis=1)
    cost = (label != training.y).astype(float) if loss is None else loss[training.y, label]
    factor = 1.0 if costs is None else costs.proba_factor[training.y]
    return float((weight * factor * cost).sum())


def _tests_of(tree: Tree) -> Wanted:
    """The tests of a tree: its cuts, and every branch of categories against the others.

    A category that a node does not list goes with the gaps.
    """
    cuts: dict[int, list[tuple[float, bool]]] = {}
    subsets: dict[int, list[frozenset[int]]] = {}
    splits = tree.splits
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        feature = int(splits.feature[node])
        if splits.kind[node] == SplitKind.BREAKS:
            closed = bool(splits.closed[node])
            cuts.setdefault(feature, []).extend(
                (float(b), closed) for b in splits.node_breaks(node)
            )
        elif splits.kind[node] == SplitKind.CODES:
            codes, branches = splits.node_codes(node), splits.node_branches(node)
            n_categories = len(tree.schema.features[feature].categories)
            branch_of = np.full(n_categories, tree.default[node])
            branch_of[codes] = branches
            for branch in range(tree.n_children[node]):
                chosen = frozenset(np.flatnonzero(branch_of == branch).tolist())
                subsets.setdefault(feature, []).append(chosen)
    return Wanted(cuts, subsets)
