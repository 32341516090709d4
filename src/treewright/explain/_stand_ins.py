"""One tree in the place of many: the most representative member, or a tree fitted to the answers.

References: Banerjee, Ding and Noone (2012), *Identifying representative trees from ensembles*;
Craven and Shavlik (1996), *Extracting tree-structured representations of trained networks*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import SEED, checked
from treewright.errors import ParameterError
from treewright.explain._asking import Asked
from treewright.explain._paint import DOWN, FAINT, UP, axes, tidy
from treewright.tree.additive import additive_of
from treewright.tree.show.tables import as_frame, html_table, text_table
from treewright.tree.tree import Tree

__all__ = ["RepresentativeTree", "SurrogateTree", "representative_tree", "surrogate_tree"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RepresentativeTree:
    """The tree of a forest whose answers are closest to those of all.

    Parameters
    ----------
    number
        Its place in ``estimators_``.
    tree
        The tree.
    distance
        Mean squared distance of every tree's answers to those of the forest.
    fidelity
        Share of rows for which the tree says the class that the forest says; R² for numbers.
    is_classifier
        Which of the two it is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import RandomForestClassifier
    >>> from treewright.explain import representative_tree
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> found = representative_tree(forest, X)
    >>> found.frame().shape
    (20, 2)
    >>> bool(found.distance[found.number] == found.distance.min())
    True
    >>> axes = found.plot()
    """

    number: int
    tree: Tree
    distance: Floats
    fidelity: float
    is_classifier: bool

    def frame(self) -> Any:
        """Distance of each tree as a data frame."""
        return as_frame({"tree": np.arange(len(self.distance)), "distance": self.distance})

    def plot(self, ax: Any = None) -> Any:
        """Draw the distances of all trees, this one marked.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        ax = axes(ax, height=3.0)
        order = np.argsort(self.distance, kind="stable")
        ax.plot(self.distance[order], ".", color=FAINT)
        ax.plot(0, self.distance[self.number], "o", color=UP, label=f"tree {self.number}")
        ax.set_xlabel("trees, the most representative first")
        ax.set_ylabel("distance to the forest")
        ax.legend(frameon=False)
        tidy(ax)
        return ax

    def __str__(self) -> str:
        what = "agrees with the forest on" if self.is_classifier else "explains"
        rest = "of the rows" if self.is_classifier else "of the forest's variance"
        return (
            f"Tree {self.number} of {len(self.distance)} is the most representative: "
            f"{self.tree.n_leaves} leaves, {what} {self.fidelity:.1%} {rest}"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(str(self))}</p>{self.tree._repr_html_()}"


@checked()
def representative_tree(model: Any, X: Any) -> RepresentativeTree:
    """The member of a forest or bag of trees whose answers are closest to those of all.

    The mean squared distance to the other trees is least where the distance to their mean is.

    Parameters
    ----------
    model : fitted forest, extra trees or bag of trees
        The ensemble.
    X : array or data frame
        Rows on which answers are compared.

    Returns
    -------
    tree : RepresentativeTree
        With ``tree``, ``fidelity``, ``frame()``, ``plot()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import RandomForestClassifier
    >>> from treewright.explain import representative_tree
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> bool(representative_tree(forest, X).fidelity > 0.9)
    True
    """
    total = additive_of(model) if hasattr(model, "_draws") else None
    if total is None or len(total.parts) != len(model.estimators_):
        raise ParameterError(
            "representative_tree needs a forest or a bag whose members are one tree each, got "
            f"{type(model).__name__}; surrogate_tree stands in for any model."
        )
    asked = Asked(model, X)
    table = asked.table
    n = len(total.parts)
    mean = total.predict(table)
    distance = np.array(
        [((part.of(table) * n - mean) ** 2).sum(axis=1).mean() for part in total.parts]
    )
    best = int(np.argmin(distance))
    own = total.parts[best].of(table) * n
    return RepresentativeTree(
        best,
        total.parts[best].tree,
        distance,
        _fidelity(own, mean, asked.is_classifier),
        asked.is_classifier,
    )


@dataclass(frozen=True, eq=False)
class SurrogateTree:
    """A small tree that says what a model says, and how often.

    Parameters
    ----------
    estimator
        The fitted tree learner.
    depth, n_leaves, fidelity, fidelity_std
        For every depth that was tried: leaves of the tree, its fidelity on rows held out (mean
        over folds), and the standard error over the folds.
    is_classifier
        Whether fidelity is a share of equal classes, or R².

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import RandomForestClassifier
    >>> from treewright.explain import surrogate_tree
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> found = surrogate_tree(forest, X, max_depth=3)
    >>> found.depth
    array([1, 2, 3])
    >>> bool(found.fidelity[-1] > 0.9)
    True
    >>> found.tree.n_leaves
    5
    >>> axes = found.plot()
    >>> found.frame().columns.tolist()
    ['depth', 'n_leaves', 'fidelity', 'fidelity_std']
    """

    estimator: Any
    depth: NDArray[np.int64]
    n_leaves: NDArray[np.int64]
    fidelity: Floats
    fidelity_std: Floats
    is_classifier: bool

    @property
    def tree(self) -> Tree:
        """The surrogate."""
        found: Tree = self.estimator.tree_
        return found

    def frame(self) -> Any:
        """Fidelity by depth as a data frame."""
        return as_frame(
            {
                "depth": self.depth,
                "n_leaves": self.n_leaves,
                "fidelity": self.fidelity,
                "fidelity_std": self.fidelity_std,
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the fidelity by depth, with twice its standard error.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        ax = axes(ax, height=3.4)
        ax.errorbar(
            self.depth, self.fidelity, yerr=2 * self.fidelity_std, color=DOWN, marker="o", capsize=2
        )
        ax.plot(self.depth[-1:], self.fidelity[-1:], "o", color=UP, zorder=3)
        ax.set_xticks(self.depth)
        ax.set_xlabel("depth of the surrogate")
        ax.set_ylabel("same class as the model" if self.is_classifier else "R² to the model")
        tidy(ax)
        return ax

    def _cells(self) -> dict[str, list[str]]:
        return {
            "depth": [str(d) for d in self.depth],
            "leaves": [str(n) for n in self.n_leaves],
            "fidelity": [f"{f:.3f}" for f in self.fidelity],
            "± 2 se": [f"{2 * s:.3f}" for s in self.fidelity_std],
        }

    def _caption(self) -> str:
        what = "share of rows held out with the model's class" if self.is_classifier else "R²"
        return f"Surrogate tree of {self.tree.n_leaves} leaves; fidelity: {what}"

    def __str__(self) -> str:
        return f"{self._caption()}\n{text_table(self._cells())}\n\n{self.tree}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._caption()) + self.tree._repr_html_()


@checked(random_state=SEED)
def surrogate_tree(
    model: Any, X: Any, *, max_depth: int = 4, n_folds: int = 5, random_state: Any = 0
) -> SurrogateTree:
    """A CART tree fitted to what a model says, with its fidelity on rows held out.

    Parameters
    ----------
    model : fitted estimator of treewright
        Any.
    X : array or data frame
        Rows to ask the model about.
    max_depth : int, default=4
        Depth of the surrogate; the fidelity of smaller depths is told as well.
    n_folds : int, default=5
        Folds for the fidelity.
    random_state : int, RandomState or None, default=0
        Seed of the folds.

    Returns
    -------
    surrogate : SurrogateTree
        With ``estimator``, ``tree``, ``fidelity``, ``frame()``, ``plot()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import RandomForestClassifier
    >>> from treewright.explain import surrogate_tree
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> bool(surrogate_tree(forest, X).fidelity[-1] > 0.9)
    True
    """
    from sklearn.model_selection import KFold

    from treewright.learners.cart import CARTClassifier, CARTRegressor

    asked = Asked(model, X)
    table = asked.table
    if n_folds > table.n_rows:
        raise ParameterError(
            f"n_folds must be at most the number of rows, {table.n_rows}, got {n_folds}."
        )
    said = asked.labels(table)
    kind: Any = CARTClassifier if asked.is_classifier else CARTRegressor
    folds = list(KFold(n_folds, shuffle=True, random_state=random_state).split(np.zeros(len(said))))
    depth = np.arange(1, max_depth + 1)
    each = np.zeros((max_depth, n_folds))
    leaves = np.zeros(max_depth, np.int64)
    for d in depth:
        fitted = kind(max_depth=int(d)).fit(table, said)
        leaves[d - 1] = fitted.tree_.n_leaves
        for k, (train, test) in enumerate(folds):
            part = kind(max_depth=int(d)).fit(table.take(train), said[train])
            guess = part.predict(table.take(test))
            if asked.is_classifier:
                each[d - 1, k] = np.mean(guess == said[test])
            else:
                each[d - 1, k] = _fidelity(_wide(guess), _wide(said[test]), False)
    error = each.std(axis=1, ddof=1) / np.sqrt(n_folds)
    return SurrogateTree(fitted, depth, leaves, each.mean(axis=1), error, asked.is_classifier)


def _wide(values: Any) -> Floats:
    return np.asarray(values, np.float64).reshape(len(values), -1)


def _fidelity(own: Floats, whole: Floats, is_classifier: bool) -> float:
    if is_classifier:
        return float(np.mean(own.argmax(axis=1) == whole.argmax(axis=1)))
    total = ((whole - whole.mean(axis=0)) ** 2).sum()
    return float(1 - ((own - whole) ** 2).sum() / total) if total > 0 else 1.0
