"""The two tasks of an ensemble: predicting classes and predicting numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from treewright.data.sources import is_collection
from treewright.ensembles._files import optional_floats
from treewright.ensembles.insights.out_of_bag import OobSums
from treewright.estimator.target import ClassTarget, NumberTarget
from treewright.estimator.training import Training, threads

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from treewright.data.schema import Target
    from treewright.ensembles.members.bodies import Answer

__all__ = ["EnsembleClassifierMixin", "EnsembleRegressorMixin"]

Floats = NDArray[np.float64]


class EnsembleClassifierMixin(ClassTarget):
    """Classes and their probabilities, as the members have them."""

    oob_score_: float
    oob_decision_function_: Floats

    def predict(self: Any, X: Any) -> NDArray[Any]:
        """Class of each row: the one with the largest mean probability, or the most votes.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        if is_collection(X):
            return self._lazily(X, "predict")  # type: ignore[no-any-return]
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
        if is_collection(X):
            return self._lazily(X, "predict_proba")  # type: ignore[no-any-return]
        rows = self._rows(X, later=True)
        mean: Floats = self._body.mean(rows, self._answer(), threads(self.n_jobs))
        return mean

    def _learned_state(self) -> dict[str, Any]:
        return {"classes": self.classes_, **_oob_state(self, "oob_decision_function_")}

    def _restore_learned(self, target: Target, learned: dict[str, Any]) -> None:
        self._keep_target(target, learned["classes"])
        _restore_oob(self, "oob_decision_function_", learned, (2,))

    def _score_oob(self: Any, training: Training, sums: OobSums) -> None:
        sums.warn_unknown()
        known = sums.known
        self.oob_decision_function_ = sums.mean()
        labels = np.argmax(sums.total[known], axis=1)
        score = self.oob_score if callable(self.oob_score) else accuracy_score
        truth = training.y[known]
        classes = self.classes_
        self.oob_score_ = float(score(classes[truth], classes[labels])) if known.any() else np.nan


class EnsembleRegressorMixin(NumberTarget):
    """Numbers, as the members have them."""

    oob_score_: float
    oob_prediction_: Floats

    def predict(self: Any, X: Any) -> Floats:
        """Mean over the members of what each predicts.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        if is_collection(X):
            return self._lazily(X, "predict")  # type: ignore[no-any-return]
        rows = self._rows(X, later=True)
        values: Floats = self._body.mean(rows, "value", threads(self.n_jobs))
        return values[:, 0] if values.shape[1] == 1 else values

    def _answer(self) -> Answer:
        return "value"

    def _learned_state(self) -> dict[str, Any]:
        return _oob_state(self, "oob_prediction_")

    def _restore_learned(self, target: Target, learned: dict[str, Any]) -> None:
        self._keep_target(target)
        _restore_oob(self, "oob_prediction_", learned, (1, 2))

    def _score_oob(self: Any, training: Training, sums: OobSums) -> None:
        sums.warn_unknown()
        known = sums.known
        mean = sums.mean()
        self.oob_prediction_ = mean[:, 0] if mean.shape[1] == 1 else mean
        score = self.oob_score if callable(self.oob_score) else r2_score
        enough = np.count_nonzero(known) > 1
        found = score(training.y[known], self.oob_prediction_[known]) if enough else np.nan
        self.oob_score_ = float(found)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._takes_outputs
        return tags


def _oob_state(estimator: Any, name: str) -> dict[str, Any]:
    """What rows left out were told, and how good that was."""
    return {
        "oob": getattr(estimator, name, None),
        "oob_score": getattr(estimator, "oob_score_", None),
    }


def _restore_oob(
    estimator: Any, name: str, learned: dict[str, Any], n_dims: tuple[int, ...]
) -> None:
    found = optional_floats(learned["oob"], estimator._draws.n_rows, n_dims)
    if found is not None and type(learned["oob_score"]) is float:
        setattr(estimator, name, found)
        estimator.oob_score_ = learned["oob_score"]
