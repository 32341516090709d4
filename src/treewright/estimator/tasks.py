"""The two tasks: predicting classes and predicting numbers.

Each mixin reads its kind of target, says what a tree is grown from, and turns the leaves that
rows reach into predictions. They stand beside :class:`treewright.estimator.base.TreeEstimator`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from treewright.data.schema import Target
from treewright.data.target import class_codes, class_totals, numeric_target
from treewright.errors import DataError, ModelFileError, ParameterError
from treewright.estimator.costs import class_costs, class_weights, expected_cost_labels
from treewright.estimator.scikit import LogProbabilityMixin
from treewright.estimator.training import Sample, Training, threads
from treewright.tree.predict import apply, node_values

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from treewright.data.table import Table
    from treewright.tree.tree import Tree

__all__ = ["ClassificationMixin", "RegressionMixin"]


class ClassificationMixin(LogProbabilityMixin, ClassifierMixin):  # type: ignore[misc]
    """Classes: reading them, predicting them and their probabilities."""

    classes_: NDArray[Any]
    n_classes_: int
    cost_matrix_: NDArray[np.float64] | None

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

    def _read_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        return class_codes(y)

    def _known_target(self: Any, y: Any) -> NDArray[Any]:
        return class_codes(y, self.classes_)[0]

    def _training(self: Any, sample: Sample, table: Table) -> Training:
        self._check_costs()
        assert sample.classes is not None
        classes = sample.classes.tolist()
        weight = sample.sample_weight
        totals = class_totals(sample.y, weight, len(classes))
        if self.class_weight is not None:
            each = class_weights(self.class_weight, classes, totals)
            weight = each[sample.y] if weight is None else weight * each[sample.y]
            totals = totals * each
        costs = class_costs(
            classes, totals, priors=self.priors, costs=self.costs, cost_method=self.cost_method
        )
        factor = () if self.priors is None or costs is None else tuple(costs.proba_factor.tolist())
        target = Target(sample.target_name, tuple(classes), class_factor=factor)
        return Training.of(sample, table, weight, target, costs)

    def _learned(self) -> dict[str, Any]:
        return {"classes": self.classes_, "costs": self.cost_matrix_}

    def _learn(self, tree: Tree, learned: dict[str, Any]) -> None:
        classes, costs = learned["classes"], learned["costs"]
        n_classes = tree.value.shape[1]
        if (
            not _predicts_classes(tree)
            or np.shape(classes) != (n_classes,)
            or (costs is not None and np.shape(costs) != (n_classes, n_classes))
        ):
            raise ModelFileError("its classes do not match its tree")
        self.classes_ = classes
        self.n_classes_ = n_classes
        self.cost_matrix_ = costs

    def _check_costs(self: Any) -> None:
        if self.priors is not None and self.class_weight is not None:
            raise ParameterError(
                "priors and class_weight both set the shares of the classes, got both; "
                "leave one of them at None."
            )
        if self.cost_method == "generalized_gini" and self.criterion != "gini":
            raise ParameterError(
                'cost_method="generalized_gini" changes Gini\'s index, got criterion='
                f'{self.criterion!r}; use criterion="gini" or cost_method="altered_priors".'
            )


class RegressionMixin(RegressorMixin):  # type: ignore[misc]
    """Numbers: reading them, one or several to a row, and predicting them."""

    n_outputs_: int

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

    def _read_target(self: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        values = numeric_target(y)
        if self.criterion == "poisson" and (np.any(values < 0) or not np.sum(values) > 0):
            raise DataError(
                'criterion="poisson" needs counts: y must be at least 0 and not all 0, '
                f'got {values.min()} to {values.max()}; use criterion="squared_error".'
            )
        return values, None

    def _training(self, sample: Sample, table: Table) -> Training:
        n_outputs = 1 if sample.y.ndim == 1 else sample.y.shape[1]
        target = Target(sample.target_name, n_outputs=n_outputs)
        return Training.of(sample, table, sample.sample_weight, target)

    def _learned(self) -> dict[str, Any]:
        return {}

    def _learn(self, tree: Tree, learned: dict[str, Any]) -> None:
        if _predicts_classes(tree):
            raise ModelFileError("its tree predicts classes, which a regressor does not")
        self.n_outputs_ = tree.value.shape[1]

    def __sklearn_tags__(self: Any) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags


def _predicts_classes(tree: Tree) -> bool:
    return tree.schema.target is not None and tree.schema.target.is_classification
