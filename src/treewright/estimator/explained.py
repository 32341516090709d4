"""What every model can be asked to explain its answers with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from treewright.errors import ParameterError

if TYPE_CHECKING:
    from treewright.explain import ShapValues
    from treewright.tree.additive import Additive

__all__ = ["Explained"]


class Explained:
    """A model with Shapley values."""

    def shap_values(
        self,
        X: Any,
        *,
        background: Any = None,
        interactions: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> ShapValues:
        """What every feature adds to the answer for each row: exact Shapley values.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows to explain.
        background : array or data frame, default=None
            Rows whose values stand in for features that are not known ("interventional"). None
            sends a row down every branch by training weight instead ("path-dependent").
        interactions : bool, default=False
            Divide the values of each row among pairs of features.
        progress : callable, default=None
            Called with the share that is done.

        Returns
        -------
        explanation : ShapValues
            With ``values``, ``base_values``, ``frame()``, ``plot()``; also shap's ``Explanation``
            where that package is installed. See :func:`treewright.explain.shap_values`.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> iris = datasets.load_iris()
        >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
        >>> found = model.shap_values(iris.data)
        >>> print(found)
        Shapley values of 4 features for 150 rows
        feature      mean |value| setosa versicolor virginica
        Petal.Length       0.8889 0.4444     0.2675     0.177
        Petal.Width        0.5794      0     0.2897    0.2897
        Sepal.Length            0      0          0         0
        Sepal.Width             0      0          0         0
        """
        from treewright.explain import shap_values

        return shap_values(
            self, X, background=background, interactions=interactions, progress=progress
        )

    def _additive(self) -> Additive:
        """The fitted model as a sum of trees."""
        raise ParameterError(
            f"shap_values needs a model that is a sum of trees, which {type(self).__name__} is "
            "not; treewright.explain has importances and partial dependence for any model."
        )
