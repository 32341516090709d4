"""Quantiles and intervals of forests that predict numbers; see :mod:`._distribution`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from treewright.ensembles._files import optional_floats, targets_of, targets_state
from treewright.ensembles.insights.distribution import (
    LeafTargets,
    jackknife_variance,
    residual_interval,
)
from treewright.ensembles.insights.out_of_bag import check_left_out
from treewright.errors import FewTreesWarning, ParameterError
from treewright.estimator.training import threads

if TYPE_CHECKING:
    from treewright.data.schema import Target
    from treewright.ensembles._ensemble import Plan
    from treewright.ensembles.insights.out_of_bag import OobSums
    from treewright.ensembles.members.bodies import Body
    from treewright.estimator.training import Training

__all__ = ["NumberForestMixin"]

Floats = NDArray[np.float64]


class NumberForestMixin:
    """What a forest of numbers says beyond the mean."""

    _targets: LeafTargets | None
    _residuals: Floats | None
    keep_targets: bool

    def _store(self: Any, training: Training, plan: Plan, body: Body, sums: OobSums | None) -> None:
        super()._store(training, plan, body, sums)  # type: ignore[misc]
        self._targets = self._residuals = None
        if training.target.n_outputs > 1:
            return
        if self.keep_targets:
            n_threads = threads(self.n_jobs)
            offset = np.concatenate([[0], np.cumsum(body.forest.n_nodes)])  # type: ignore[union-attr]
            leaves = body.forest.apply(training.table, n_threads)  # type: ignore[union-attr]
            self._targets = LeafTargets.of(
                leaves, offset, training.y, plan.draws, training.sample_weight
            )
        if sums is not None and self.oob_score:
            known = sums.known
            self._residuals = np.sort(training.y[known] - sums.mean()[known, 0])

    def _learned_state(self: Any) -> dict[str, Any]:
        learned: dict[str, Any] = super()._learned_state()  # type: ignore[misc]
        return learned | {"targets": targets_state(self._targets), "residuals": self._residuals}

    def _restore_learned(self: Any, target: Target, learned: dict[str, Any]) -> None:
        super()._restore_learned(target, learned)  # type: ignore[misc]
        total = int(self._body.forest.n_nodes.sum())
        self._targets = targets_of(learned["targets"], total)
        self._residuals = optional_floats(learned["residuals"], self._draws.n_rows, (1,))

    def predict_quantiles(self: Any, X: Any, q: ArrayLike = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of the target given the features, by a quantile forest.

        Every training row has the weight with which it enters the forest's prediction: the mean,
        over the trees, of its share in the leaf that the new row reaches. A quantile is the first
        training target with at least the weight ``q`` up to it.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        q : float or array-like, default=(0.05, 0.5, 0.95)
            Between 0 and 1.

        Returns
        -------
        quantiles : ndarray of shape (n_samples, n_quantiles), or (n_samples,) for a single number
        """
        from treewright.ensembles.insights.proximity import leaf_matrix

        forest = self._trees("predict_quantiles").forest
        if self._targets is None:
            raise ParameterError(
                "predict_quantiles needs the training targets of every leaf, got a forest that "
                "did not keep them; fit it with keep_targets=True, for a single output."
            )
        levels = np.atleast_1d(np.asarray(q, np.float64))
        if levels.ndim > 1 or not np.all((levels >= 0) & (levels <= 1)):
            raise ParameterError(f"q must hold numbers from 0 to 1, got {q!r}.")
        leaves = leaf_matrix(self.apply(X), forest.n_nodes).astype(np.float64)
        found: Floats = self._targets.quantiles(leaves, len(forest), levels)
        return found[:, 0] if np.ndim(q) == 0 else found

    def predict_interval(
        self: Any, X: Any, level: float = 0.95, *, method: Literal["oob", "jackknife"] = "oob"
    ) -> Floats:
        """An interval around the prediction of each row.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        level : float, default=0.95
            Chance to cover what the interval is for.
        method : {"oob", "jackknife"}, default="oob"
            "oob" covers a new observation: the prediction and quantiles of the out-of-bag
            residuals, the same width everywhere (needs ``oob_score=True``). "jackknife" covers
            the expected prediction of such a forest, with the infinitesimal jackknife's variance,
            corrected for the number of trees; it needs many (a warning says where they are too
            few), and says nothing of the noise in y.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Lower and upper end.

        See Also
        --------
        predict_quantiles : Intervals whose width follows the data.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from treewright import RandomForestRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> forest = RandomForestRegressor(50, oob_score=True, random_state=0).fit(X[:300], y[:300])
        >>> low, high = forest.predict_interval(X[300:], level=0.8).T
        >>> bool(0.7 < ((low <= y[300:]) & (y[300:] <= high)).mean() < 0.9)
        True
        """
        if method not in ("oob", "jackknife"):
            raise ParameterError(f'method must be "oob" or "jackknife", got {method!r}.')
        if not 0.0 < level < 1.0:
            raise ParameterError(f"level must lie between 0 and 1, got {level!r}.")
        body = self._trees("predict_interval")
        if self.n_outputs_ > 1:
            raise ParameterError(
                f"predict_interval is for a single output, got {self.n_outputs_}; fit one forest "
                "for each."
            )
        if method == "oob":
            if self._residuals is None:
                raise ParameterError(
                    'method="oob" needs out-of-bag residuals, got a forest fitted without them; '
                    "fit it with oob_score=True."
                )
            return residual_interval(self.predict(X), self._residuals, level)
        check_left_out(self._draws, 'method="jackknife"')
        rows = self._rows(X)
        mean, variance = jackknife_variance(body, rows, self._draws, threads(self.n_jobs))
        if np.any(variance < 0):
            warnings.warn(
                f"{len(body)} trees do not tell how much {np.count_nonzero(variance < 0)} of "
                f"{len(mean)} predictions vary, so that their intervals have no width; raise "
                "n_estimators.",
                FewTreesWarning,
                stacklevel=2,
            )
        half = norm.ppf(0.5 + level / 2.0) * np.sqrt(np.maximum(variance, 0.0))
        return np.column_stack([mean - half, mean + half])
