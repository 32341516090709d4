"""Ensembles of any estimator: what is read for members of ours, and for those of other libraries.

Members of ours get one table, which is encoded once. Others get the rows as the user passed them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, is_classifier, is_regressor

from treewright.data.encode import encode
from treewright.ensembles.members.bodies import take_rows
from treewright.errors import ParameterError
from treewright.estimator.base import Estimator
from treewright.estimator.training import threads

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["AnyBase"]


class AnyBase(Estimator):
    """An estimator whose members are copies of a base, of ours or of another library."""

    estimator: Any

    def _default_base(self) -> Any:
        """The base where the user names none."""
        raise NotImplementedError

    def _base(self) -> Any:
        """What members are copies of."""
        return self._default_base() if self.estimator is None else self.estimator

    def _is_ours(self) -> bool:
        return isinstance(self._base(), Estimator)

    @property
    def _predicts_classes(self) -> bool:
        return isinstance(self, ClassifierMixin)  # its tags depend on the base

    def _validate(self) -> None:
        super()._validate()
        base, classes = self._base(), self._predicts_classes
        if (is_regressor if classes else is_classifier)(base):
            kind, other = ("classifier", "Regressor") if classes else ("regressor", "Classifier")
            name = type(self).__name__.removesuffix("Classifier").removesuffix("Regressor")
            raise ParameterError(
                f"estimator must be a {kind}, got {type(base).__name__}; use {name}{other}."
            )

    def _read_rows(self, X: Any, kept: NDArray[np.bool_] | None) -> Any:
        if self._is_ours():
            base = self._base()
            return encode(
                X,
                categorical_features=getattr(base, "categorical_features", "from_dtype"),
                ordinal_features=getattr(base, "ordinal_features", None),
                rows=kept,
                n_threads=threads(self.n_jobs),
                owner=type(self).__name__,
            )
        rows = _indexable(X)
        return rows if kept is None else take_rows(rows, np.flatnonzero(kept))

    def _keep_rows(self, rows: Any) -> None:
        """Set the fitted attributes that say which features rows for other libraries had."""
        from sklearn.utils.validation import validate_data

        self.__dict__.pop("feature_names_in_", None)
        validate_data(self, rows, skip_check_array=True)

    def _known_rows(self, X: Any) -> Any:
        """New rows for members of other libraries."""
        from sklearn.utils.validation import validate_data

        rows = _indexable(X)
        validate_data(self, rows, reset=False, skip_check_array=True)
        return rows

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        of_base = get_tags(self._base())
        tags.target_tags.positive_only = of_base.target_tags.positive_only
        if not self._is_ours():
            tags.input_tags.allow_nan = of_base.input_tags.allow_nan
            tags.input_tags.sparse = of_base.input_tags.sparse
            tags.input_tags.categorical = of_base.input_tags.categorical
            tags.input_tags.dict = False
        return tags


def _indexable(X: Any) -> Any:
    """Rows for estimators of other libraries: frames and matrices as they are, else an array."""
    from scipy.sparse import issparse
    from sklearn.utils import check_array

    if hasattr(X, "iloc") or hasattr(X, "__dataframe__"):
        return X
    if issparse(X):
        return X.tocsr()
    return check_array(X, dtype=None, ensure_all_finite=False)
