"""How much each feature matters to a forest, in three honest ways.

Permutation importance: what a tree loses on the rows it did not see when the values of a feature
are shuffled among them (Breiman 2001). Corrected impurity importance: the decrease of impurity by a
feature less that by a shuffled copy of it, in a forest that may split on both (Nembrini, König and
Wright 2018). Out-of-bag impurity importance: decreases measured on rows that did not choose the
split (Li, Wang, Basu, Kumbier and Yu 2019). The plain decrease of impurity, which is
``feature_importances_``, favours features with many values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.ensembles.members.draws import Draws
from treewright.kernels.forest import oob_importance
from treewright.tree.forest.grow import Forest
from treewright.tree.predict import apply, category_counts
from treewright.tree.show.tables import as_frame, html_table, significant, text_table
from treewright.tree.tree import Tree

__all__ = [
    "Importances",
    "corrected_importance",
    "oob_impurity_importance",
    "permutation_importance",
    "with_shadows",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Importances:
    """Importance of every feature, mean and standard error over the trees.

    Parameters
    ----------
    names
        Features in column order.
    importance, standard_error
        One number per feature.
    measure
        What is measured.

    Examples
    --------
    >>> from treewright import RandomForestClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> forest = RandomForestClassifier(20, random_state=0).fit(iris.data, iris.target)
    >>> found = forest.permutation_importance_oob(iris.data, iris.target)
    >>> found.measure
    'mean decrease of accuracy'
    >>> sorted(found.frame().feature[:2])
    ['Petal.Length', 'Petal.Width']
    >>> axes = found.plot()
    """

    names: tuple[str, ...]
    importance: Floats
    standard_error: Floats
    measure: str

    @classmethod
    def over_trees(cls, names: tuple[str, ...], by_tree: Floats, measure: str) -> Importances:
        """Means over the rows of ``by_tree``; trees without an answer (NaN) are left out."""
        known = by_tree[~np.isnan(by_tree).any(axis=1)]
        n = max(len(known), 1)
        mean = known.mean(axis=0) if len(known) else np.full(len(names), np.nan)
        spread = known.std(axis=0, ddof=1) if len(known) > 1 else np.full(len(names), np.nan)
        return cls(names, mean, spread / np.sqrt(n), measure)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def z(self) -> Floats:
        """Importance in standard errors."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num(self.importance / self.standard_error, posinf=np.inf)

    @property
    def order(self) -> NDArray[np.intp]:
        """Features from the most to the least important."""
        return np.argsort(-self.importance, kind="stable")

    def _columns(self) -> dict[str, Any]:
        order = self.order
        return {
            "feature": [self.names[i] for i in order],
            "importance": self.importance[order],
            "standard_error": self.standard_error[order],
            "z": self.z[order],
        }

    def frame(self) -> Any:
        """The most important feature first, as a data frame."""
        return as_frame(self._columns())

    def _cells(self) -> dict[str, list[str]]:
        columns = self._columns()
        return {
            "feature": columns["feature"],
            "importance": significant(columns["importance"], 4),
            "std.error": significant(columns["standard_error"], 4),
            "z": [f"{z:.1f}" for z in columns["z"]],
        }

    def __str__(self) -> str:
        return f"{self._caption()}\n{text_table(self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._caption())

    def _caption(self) -> str:
        return f"Importance: {self.measure}"

    def plot(self, ax: Any = None, max_features: int = 30) -> Any:
        """Draw the most important features with their standard errors.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        max_features
            Most features to draw.
        """
        from matplotlib import pyplot as plt

        shown = self.order[:max_features][::-1]
        if ax is None:
            ax = plt.subplots(figsize=(6.4, 1 + 0.28 * len(shown)), layout="constrained")[1]
        ax.errorbar(
            self.importance[shown], np.arange(len(shown)), xerr=self.standard_error[shown], fmt="o"
        )
        ax.axvline(0.0, color="grey", linewidth=0.8)
        ax.set_yticks(np.arange(len(shown)), [self.names[i] for i in shown])
        ax.set_xlabel(self.measure)
        return ax


# Permutation


def permutation_importance(
    forest: Forest, table: Table, y: NDArray[Any], draws: Draws, n_threads: int
) -> Floats:
    """What each tree (row) loses on rows it did not see when each feature (column) is shuffled.

    The loss is of accuracy or, for numbers, of the squared error. NaN for a tree that saw all.
    """
    target = forest.schema.target
    assert target is not None
    if target.is_classification:
        y = y.astype(np.int32, copy=False)
    trees, values = forest.core_trees("probability" if target.is_classification else "value")
    rows = table.columns if table.block is None else table.block
    plan = {"seed": draws.seed, **draws.sampling.core_plan(table.n_rows)}
    return oob_importance(category_counts(forest.schema), trees, rows, y, values, plan, n_threads)


# Impurity


def with_shadows(table: Table, order: NDArray[np.int64]) -> Table:
    """The table with a shuffled copy of every column, in the same order of rows, behind it."""
    features = table.schema.features
    shadows = tuple(replace(f, name=f"{f.name} (shuffled)") for f in features)
    schema = Schema(features + shadows, table.schema.named)
    columns = (*table.columns, *(column[order] for column in table.columns))
    return Table(schema, table.n_rows, np.tile(table.has_gaps, 2), columns)


def corrected_importance(forest: Forest) -> Floats:
    """Decrease of impurity by each feature less that by its copy, for each tree.

    ``forest`` was grown on a table made by :func:`with_shadows`.
    """
    if forest.arrays is not None:
        found = forest.arrays["importance"]
    else:
        trees = (forest.tree(k) for k in range(len(forest)))
        found = np.array([tree.feature_importances(normalize=False) for tree in trees])
    n = found.shape[1] // 2
    return np.asarray(found[:, :n] - found[:, n:])


def oob_impurity_importance(
    forest: Forest, table: Table, y: NDArray[Any], draws: Draws, n_threads: int
) -> Floats:
    """Decrease of impurity by each feature on rows left out, for each tree.

    Of a split with mean μ and children of means μ_c it is Σ (μ_c − μ)·y over the rows left out
    that go to each child: how far the split moves the prediction of new rows towards their
    target. Class probabilities stand for means, indicators of the class for targets.
    """
    n_features = len(table.schema)
    lost = np.full((len(forest), n_features), np.nan)
    target = forest.schema.target
    assert target is not None
    if target.is_classification:
        truth = np.eye(len(target.classes))[y]
    else:
        truth = y.reshape(len(y), -1)
    for k in range(len(forest)):
        rows = np.flatnonzero(draws.left_out(k))
        if len(rows):
            tree = forest.tree(k)
            leaf = apply(tree, table.take(rows), n_threads)
            lost[k] = _moved(tree, leaf, truth[rows], n_features) / len(rows)
    return lost


def _moved(tree: Tree, leaf: NDArray[np.int32], truth: Floats, n_features: int) -> Floats:
    """Σ (μ_child − μ_parent)·(sum of the truth of rows in the child), by feature of the parent."""
    target = tree.schema.target
    assert target is not None
    said = tree.probability if target.is_classification else tree.value
    sums = np.column_stack(
        [np.bincount(leaf, column, minlength=tree.n_nodes) for column in truth.T]
    )
    parent, depth = tree.parent, tree.node_depth
    for level in range(tree.depth, 0, -1):  # children hand their rows to their parents
        nodes = np.flatnonzero(depth == level)
        np.add.at(sums, parent[nodes], sums[nodes])
    below = np.arange(1, tree.n_nodes)
    above = parent[below]
    gain = ((said[below] - said[above]) * sums[below]).sum(axis=1)
    return np.bincount(tree.splits.feature[above], gain, n_features).astype(np.float64)
