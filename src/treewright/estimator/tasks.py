"""The two tasks of a tree: predicting classes and predicting numbers.

How the target is read is in :mod:`treewright.estimator.target`; here the leaves that rows reach
are turned into predictions. The mixins stand beside
:class:`treewright.estimator.base.TreeEstimator`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.sources import is_collection
from treewright.estimator.costs import expected_cost_labels
from treewright.estimator.target import ClassTarget, NumberTarget
from treewright.estimator.training import threads
from treewright.tree.additive import Additive, tree_sum
from treewright.tree.predict import apply, node_values

__all__ = ["ClassificationMixin", "RegressionMixin", "class_names", "output_names"]


class ClassificationMixin(ClassTarget):
    """Classes and their probabilities, as the leaves have them."""

    def predict(self: Any, X: Any) -> NDArray[Any]:
        """Class of each row: the most probable one, or the one of least expected cost.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        if is_collection(X):
            return self._lazily(X, "predict")  # type: ignore[no-any-return]
        tree = self._fitted()
        table = self._table(X)
        classes: NDArray[Any] = self.classes_
        n_threads = threads(self.n_jobs)
        if tree.is_fractional:
            probability = node_values(tree, table, tree.probability, n_threads)
            return classes[expected_cost_labels(probability, self.cost_matrix_)]
        label: NDArray[np.int32] = tree.label
        return classes[label[apply(tree, table, n_threads)]]

    def predict_proba(self: Any, X: Any) -> NDArray[np.float64]:
        """Probability of each class, under the priors and weights but without the costs.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        if is_collection(X):
            return self._lazily(X, "predict_proba")  # type: ignore[no-any-return]
        tree = self._fitted()
        found = node_values(tree, self._table(X), tree.probability, threads(self.n_jobs))
        # shares of a row that goes down several branches may add up to a little more than 1
        return np.minimum(found, 1.0) if tree.is_fractional else found

    def _additive(self: Any) -> Additive:
        tree = self._fitted()
        if tree.is_fractional:
            label = expected_cost_labels(tree.probability, self.cost_matrix_)
        else:
            label = tree.label
        return tree_sum(tree, tree.probability, "probability", class_names(self), label)


class RegressionMixin(NumberTarget):
    """Numbers, as the leaves have them."""

    def predict(self: Any, X: Any) -> NDArray[np.float64]:
        """Mean (or median, for the absolute error) of the leaf that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        if is_collection(X):
            return self._lazily(X, "predict")  # type: ignore[no-any-return]
        tree = self._fitted()
        values = node_values(tree, self._table(X), tree.value, threads(self.n_jobs))
        return values[:, 0] if values.shape[1] == 1 else values

    def _additive(self: Any) -> Additive:
        tree = self._fitted()
        return tree_sum(tree, tree.value, "value", output_names(tree.schema.target))


def class_names(estimator: Any) -> list[str]:
    """Names of the classes, in their order."""
    return [str(name) for name in estimator.classes_]


def output_names(target: Any) -> list[str]:
    """Names of the numbers that are predicted."""
    n = target.n_outputs
    return [target.name] if n == 1 else [f"{target.name} {k}" for k in range(n)]
