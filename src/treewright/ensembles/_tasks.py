"""The two tasks of an ensemble: predicting classes and predicting numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score

from treewright.data.schema import Target
from treewright.data.target import class_codes, numeric_target
from treewright.ensembles._ensemble import Material
from treewright.ensembles._files import optional_floats
from treewright.ensembles.insights.out_of_bag import OobSums
from treewright.errors import DataError, ModelFileError
from treewright.estimator.costs import class_weights
from treewright.estimator.scikit import LogProbabilityMixin
from treewright.estimator.training import Sample, threads

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from treewright.ensembles.members.bodies import Answer

__all__ = ["EnsembleClassifierMixin", "EnsembleRegressorMixin"]

Floats = NDArray[np.float64]


class EnsembleClassifierMixin(LogProbabilityMixin, ClassifierMixin):  # type: ignore[misc]
    """Classes: reading them, predicting them and their probabilities."""

    classes_: NDArray[Any]
    n_classes_: int
    oob_score_: float
    oob_decision_function_: Floats
    class_weight: Any = None

    def predict(self: Any, X: Any) -> NDArray[Any]:
        """Class of each row: the one with the largest mean probability, or the most votes.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        rows = self._rows(X, later=True)
        winners = self._body.winners(rows, self._answer(), threads(self.n_jobs))
        return np.asarray(self.classes_[winners])

    def predict_proba(self: Any, X: Any) -> Floats:
        """Probability of each class: mean over the members, or share of their votes.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        rows = self._rows(X, later=True)
        mean: Floats = self._body.mean(rows, self._answer(), threads(self.n_jobs))
        return mean

    def _read_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        return class_codes(y)

    def _target(self, sample: Sample) -> tuple[Target, Floats | None]:
        """The target, and row weights with those of the classes."""
        assert sample.classes is not None
        classes = sample.classes.tolist()
        weight = sample.sample_weight
        if self.class_weight is not None and self.class_weight != "balanced_subsample":
            totals = np.bincount(sample.y, weight, len(classes)).astype(np.float64)
            each = class_weights(self.class_weight, classes, totals)[sample.y]
            weight = each if weight is None else weight * each
        return Target(sample.target_name, tuple(classes)), weight

    def _learn(self, material: Material) -> None:
        assert material.classes is not None
        self.classes_ = material.classes
        self.n_classes_ = len(material.classes)

    def _learned(self: Any) -> dict[str, Any]:
        return {
            "classes": self.classes_,
            "oob": getattr(self, "oob_decision_function_", None),
            "oob_score": getattr(self, "oob_score_", None),
        }

    def _take(self: Any, learned: dict[str, Any]) -> None:
        target, classes = self._schema.target, learned["classes"]
        n_classes = len(target.classes)
        if n_classes == 0 or np.shape(classes) != (n_classes,):
            raise ModelFileError("its classes do not match its members")
        self.classes_, self.n_classes_ = classes, n_classes
        found = optional_floats(learned["oob"], self._draws.n_rows, (2,))
        if found is not None and type(learned["oob_score"]) is float:
            self.oob_decision_function_, self.oob_score_ = found, learned["oob_score"]

    def _score_oob(self: Any, material: Material, sums: OobSums) -> None:
        sums.warn_unknown()
        known = sums.known
        self.oob_decision_function_ = sums.mean()
        labels = np.argmax(sums.total[known], axis=1)
        score = self.oob_score if callable(self.oob_score) else accuracy_score
        truth = material.y[known]
        classes = self.classes_
        self.oob_score_ = float(score(classes[truth], classes[labels])) if known.any() else np.nan


class EnsembleRegressorMixin(RegressorMixin):  # type: ignore[misc]
    """Numbers: reading them, one or several to a row, and predicting them."""

    n_outputs_: int
    oob_score_: float
    oob_prediction_: Floats
    criterion: Any = "squared_error"

    def predict(self: Any, X: Any) -> Floats:
        """Mean over the members of what each predicts.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        rows = self._rows(X, later=True)
        values: Floats = self._body.mean(rows, "value", threads(self.n_jobs))
        return values[:, 0] if values.shape[1] == 1 else values

    def _answer(self) -> Answer:
        return "value"

    def _read_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        values = numeric_target(y)
        if self.criterion == "poisson" and (np.any(values < 0) or not np.sum(values) > 0):
            raise DataError(
                'criterion="poisson" needs counts: y must be at least 0 and not all 0, '
                f'got {values.min()} to {values.max()}; use criterion="squared_error".'
            )
        return values, None

    def _target(self, sample: Sample) -> tuple[Target, Floats | None]:
        n_outputs = 1 if sample.y.ndim == 1 else sample.y.shape[1]
        return Target(sample.target_name, n_outputs=n_outputs), sample.sample_weight

    def _learn(self, material: Material) -> None:
        self.n_outputs_ = material.target.n_outputs

    def _learned(self: Any) -> dict[str, Any]:
        return {
            "oob": getattr(self, "oob_prediction_", None),
            "oob_score": getattr(self, "oob_score_", None),
        }

    def _take(self: Any, learned: dict[str, Any]) -> None:
        target = self._schema.target
        if target.is_classification:
            raise ModelFileError("its members predict classes, which a regressor does not")
        self.n_outputs_ = target.n_outputs
        found = optional_floats(learned["oob"], self._draws.n_rows, (1, 2))
        if found is not None and type(learned["oob_score"]) is float:
            self.oob_prediction_, self.oob_score_ = found, learned["oob_score"]

    def _score_oob(self: Any, material: Material, sums: OobSums) -> None:
        sums.warn_unknown()
        known = sums.known
        mean = sums.mean()
        self.oob_prediction_ = mean[:, 0] if mean.shape[1] == 1 else mean
        score = self.oob_score if callable(self.oob_score) else r2_score
        enough = np.count_nonzero(known) > 1
        found = score(material.y[known], self.oob_prediction_[known]) if enough else np.nan
        self.oob_score_ = float(found)

    def __sklearn_tags__(self: Any) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._takes_outputs
        tags.target_tags.positive_only |= self.criterion == "poisson"
        return tags
