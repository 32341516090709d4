"""Reading the target: what every classifier and every regressor does, tree or not.

A mixin of this file and :class:`treewright.estimator.base.Estimator` make an estimator that
reads any table and target; how it predicts is its own. The parameters ``class_weight``,
``priors``, ``costs`` and ``cost_method`` count where the estimator has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from treewright.criteria import row_of
from treewright.data.schema import Target
from treewright.data.target import class_codes, class_totals, numeric_target
from treewright.errors import ModelFileError, ParameterError
from treewright.estimator.costs import class_costs, class_weights

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from treewright.tree.growing.recipe import ClassCosts

__all__ = ["ClassTarget", "NumberTarget"]

Floats = NDArray[np.float64]
Weighed = tuple[Target, Floats | None, "ClassCosts | None"]


class ClassTarget(ClassifierMixin):  # type: ignore[misc]
    """Reads classes, their weights, priors and costs."""

    classes_: NDArray[Any]
    n_classes_: int
    n_outputs_: int
    cost_matrix_: Floats | None

    def _read_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Codes, and the classes they stand for."""
        return class_codes(y)

    def _known_target(self, y: Any) -> NDArray[Any]:
        """The target of new rows in the codes of training."""
        return class_codes(y, self.classes_)[0]

    def _weigh_target(
        self, name: str, y: NDArray[Any], classes: NDArray[Any], weight: Floats | None
    ) -> Weighed:
        """The target, row weights with those of the classes, and factors on the classes."""
        _check_costs(self)
        given = classes.tolist()
        totals = class_totals(y, weight, len(given))
        class_weight = getattr(self, "class_weight", None)
        if class_weight is not None and class_weight != "balanced_subsample":
            each = class_weights(class_weight, given, totals)
            weight = each[y] if weight is None else weight * each[y]
            totals = totals * each
        names = ("priors", "costs", "cost_method")
        own = {key: getattr(self, key) for key in names if hasattr(self, key)}
        costs = class_costs(given, totals, **own)
        factor = ()
        if costs is not None and own.get("priors") is not None:
            factor = tuple(costs.proba_factor.tolist())
        return Target(name, tuple(given), class_factor=factor), weight, costs

    def _keep_target(self, target: Target, classes: Any = None, costs: Any = None) -> None:
        """Set the fitted attributes; what comes from a file is checked."""
        n_classes = len(target.classes)
        if (
            n_classes == 0
            or np.shape(classes) != (n_classes,)
            or (costs is not None and np.shape(costs) != (n_classes, n_classes))
        ):
            raise ModelFileError("its classes do not match what it learned")
        self.classes_, self.n_classes_, self.cost_matrix_ = classes, n_classes, costs
        self.n_outputs_ = 1

    def _learned_state(self) -> dict[str, Any]:
        return {"classes": self.classes_, "costs": self.cost_matrix_}

    def _restore_learned(self, target: Target, learned: dict[str, Any]) -> None:
        self._keep_target(target, learned["classes"], learned["costs"])

    def predict_log_proba(self: Any, X: Any) -> Floats:
        """Logarithm of the probability of each class.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))


class NumberTarget(RegressorMixin):  # type: ignore[misc]
    """Reads numbers, one or several to a row."""

    n_outputs_: int

    def _read_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """The numbers; no classes."""
        values = numeric_target(y)
        check = row_of(getattr(self, "criterion", None)).check
        if check is not None:
            check(values)
        return values, None

    def _known_target(self, y: Any) -> NDArray[Any]:
        """The target of new rows."""
        return self._read_target(y)[0]

    def _weigh_target(
        self, name: str, y: NDArray[Any], classes: None, weight: Floats | None
    ) -> Weighed:
        """The target, and the row weights as they are."""
        return Target(name, n_outputs=1 if y.ndim == 1 else y.shape[1]), weight, None

    def _keep_target(self, target: Target, classes: Any = None, costs: Any = None) -> None:
        """Set the fitted attributes; what comes from a file is checked."""
        if target.is_classification:
            raise ModelFileError("it learned classes, which a regressor does not predict")
        self.n_outputs_ = target.n_outputs

    def _learned_state(self) -> dict[str, Any]:
        return {}

    def _restore_learned(self, target: Target, learned: dict[str, Any]) -> None:
        self._keep_target(target)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.positive_only = row_of(getattr(self, "criterion", None)).check is not None
        return tags


def _check_costs(estimator: Any) -> None:
    """Refuse parameters that contradict each other."""
    if (
        getattr(estimator, "priors", None) is not None
        and getattr(estimator, "class_weight", None) is not None
    ):
        raise ParameterError(
            "priors and class_weight both set the shares of the classes, got both; "
            "leave one of them at None."
        )
    is_general = getattr(estimator, "cost_method", None) == "generalized_gini"
    if is_general and estimator.criterion != "gini":
        raise ParameterError(
            'cost_method="generalized_gini" changes Gini\'s index, got criterion='
            f'{estimator.criterion!r}; use criterion="gini" or cost_method="altered_priors".'
        )
