"""The two tasks of a tree: predicting classes and predicting numbers.

How the target is read is in :mod:`treewright.estimator.target`; here the leaves that rows reach
are turned into predictions. The mixins stand beside
:class:`treewright.estimator.base.TreeEstimator`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.estimator.costs import expected_cost_labels
from treewright.estimator.target import ClassTarget, NumberTarget
from treewright.estimator.training import threads
from treewright.tree.predict import apply, node_values

__all__ = ["ClassificationMixin", "RegressionMixin"]


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
        tree = self._fitted()
        return node_values(tree, self._table(X), tree.probability, threads(self.n_jobs))


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
        tree = self._fitted()
        values = node_values(tree, self._table(X), tree.value, threads(self.n_jobs))
        return values[:, 0] if values.shape[1] == 1 else values
