"""Bagging: the same learner on many samples of rows and features, deciding together.

Rows drawn with replacement are bagging, without it pasting; features drawn for every member are
random subspaces, rows and features together random patches. What members do not see judges them.

Trees of CART are grown by the compiled forest engine. Other learners of treewright are fitted to
rows of one table, which is encoded once; estimators of other libraries as scikit-learn's bagging
does it, by weights where they take any and by repeated rows where they do not.

It differs from scikit-learn's bagging: rows left out may judge pasting too, gaps and text columns
are taken as they are, and ``method`` and ``aggregation`` name what is done.

References: Breiman (1996), *Bagging predictors*; Breiman (1999), *Pasting small votes for
classification in large databases and on-line*; Ho (1998), *The random subspace method for
constructing decision forests*; Louppe and Geurts (2012), *Ensembles on random patches*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from treewright.ensembles._bagged import BaggingEstimator, grows_in_engine, switches
from treewright.ensembles._parameters import BAGGING
from treewright.ensembles._tasks import EnsembleClassifierMixin, EnsembleRegressorMixin
from treewright.estimator.parameters import keep, parameters
from treewright.estimator.scikit import PURE

if TYPE_CHECKING:
    from treewright.ensembles.members.bodies import Answer

__all__ = ["BaggingClassifier", "BaggingRegressor"]


@parameters(**BAGGING)
class BaggingClassifier(EnsembleClassifierMixin, BaggingEstimator):
    """Many classifiers, each on a sample of the rows, that decide together.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity, where members are trees of treewright.
    {attributes}

    See Also
    --------
    RandomForestClassifier : Draws features at every node as well.

    References
    ----------
    Breiman (1996), *Bagging predictors*.

    Examples
    --------
    >>> from treewright import BaggingClassifier, C45Classifier, datasets
    >>> titanic = datasets.load_titanic()
    >>> model = BaggingClassifier(C45Classifier(), n_estimators=25, oob_score=True, random_state=0)
    >>> model = model.fit(titanic.data, titanic.target)
    >>> len(model.estimators_)
    25
    >>> bool(model.oob_score_ > 0.75)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        method: Literal["bagging", "pasting", "subspaces", "patches"] | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        aggregation: Literal["auto", "mean", "vote"] = "auto",
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _heaviest_may_lose(self) -> str | None:
        is_pure = not self._is_ours() or grows_in_engine(self._base())
        return PURE if is_pure and not switches(self).bootstrap else None

    def _answer(self) -> Answer:
        if self.aggregation == "vote":
            return "vote"
        return "probability" if self._gives_probability() else "vote"


@parameters(**BAGGING)
class BaggingRegressor(EnsembleRegressorMixin, BaggingEstimator):
    """Many regressors, each on a sample of the rows, whose mean is taken.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity, where members are trees of treewright.
    {attributes}

    See Also
    --------
    RandomForestRegressor : Draws features at every node as well.

    References
    ----------
    Breiman (1996), *Bagging predictors*.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from treewright import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.35)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        method: Literal["bagging", "pasting", "subspaces", "patches"] | None = None,
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())
