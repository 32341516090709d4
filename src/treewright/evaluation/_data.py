"""The rows that models are judged on: read once, encoded once, handed out in parts.

Our own estimators take a Table as it is, so that fifty fits on parts of one frame cost one
encoding. A category that a part lacks counts there as one that was not seen, as it would have
if the part had been encoded alone. Other estimators get rows of what the user passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import shown
from treewright.data.encode import encode
from treewright.data.frames import for_other_libraries, refuse_collection
from treewright.data.table import Table
from treewright.data.target import class_codes, numeric_target
from treewright.data.weights import check_lengths
from treewright.errors import DataError, ParameterError

__all__ = ["Rows", "as_model_takes", "check_fitted", "is_class_model", "read_rows", "take_rows"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Features and target.

    ``y`` holds labels or numbers as models are trained on them, ``codes`` the places of the
    labels in ``classes``.
    """

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any] | None = None
    codes: NDArray[np.int32] | None = None
    _seen: dict[str, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def truth(self) -> NDArray[Any]:
        """Codes, or numbers."""
        return self.y if self.codes is None else self.codes

    def with_classes(self, known: Any) -> Rows:
        """The same rows, where models may say classes that y does not have."""
        assert self.classes is not None
        assert self.codes is not None
        known = np.asarray(known)
        is_number = [np.asarray(one.tolist()).dtype.kind in "biuf" for one in (known, self.classes)]
        if is_number[0] != is_number[1]:
            raise DataError(
                f"y must hold classes of the model, such as {known.tolist()[0]!r}, but holds "
                f"{'numbers' if is_number[1] else 'text'}, such as {self.classes.tolist()[0]!r}; "
                "convert it."
            )
        if not is_number[0]:
            known = known.astype(self.classes.dtype)
        both = np.union1d(self.classes, known)
        place = np.searchsorted(both, self.classes).astype(np.int32)
        return Rows(self.X, self.y, both, place[self.codes], self._seen)

    def features_for(self, model: Any) -> Any:
        """What parts for this model are taken of: a Table, or the frame as it came."""
        reader = _reader(model)
        if reader is None:
            if "others" not in self._seen:
                self._seen["others"] = for_other_libraries(self.X)
            return self._seen["others"]
        wishes: dict[str, Any] = {
            "categorical_features": getattr(reader, "categorical_features", "from_dtype"),
            "ordinal_features": getattr(reader, "ordinal_features", None),
        }
        key = repr(wishes)
        if key not in self._seen:
            self._seen[key] = encode(self.X, **wishes, owner=type(reader).__name__)
        return self._seen[key]


def read_rows(X: Any, y: Any, classification: bool) -> Rows:
    """Features and target of a task."""
    refuse_collection(X, "X")
    if hasattr(X, "__array__") and not hasattr(X, "__len__"):
        X = np.asarray(X)
    if classification:
        codes, classes = class_codes(y)
        rows = Rows(X, classes[codes], classes, codes)
    else:
        target = numeric_target(y)
        if target.ndim > 1:
            raise DataError(
                f"y must be one column of numbers, got {target.shape[1]}; judge each of them alone."
            )
        rows = Rows(X, target)
    check_lengths(_n_rows(X), len(rows))
    if not len(rows):
        raise DataError("X and y must have a row or more, got none; check what was filtered.")
    return rows


def is_class_model(model: Any) -> bool:
    """Whether a model predicts classes; a sentence for what is no model."""
    from sklearn.base import is_classifier, is_regressor

    is_class = isinstance(model, type)
    if is_class or not hasattr(model, "fit") or not hasattr(model, "predict"):
        raise ParameterError(
            "model must be an estimator with fit and predict, "
            f"got {f'the class {model.__name__}' if is_class else type(model).__name__}; "
            f"pass an instance such as {model.__name__ if is_class else 'CARTClassifier'}()."
        )
    if is_classifier(model):
        return True
    if is_regressor(model):
        return False
    raise ParameterError(
        f"model must be a classifier or a regressor, but {type(model).__name__} says it is "
        "neither; derive it from scikit-learn's ClassifierMixin or RegressorMixin."
    )


def check_fitted(model: Any, caller: str) -> None:
    """Refuse a model that was not fitted, or is none."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    is_class_model(model)
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ParameterError(
            f"{caller} takes a fitted model, but this {type(model).__name__} is not; call fit first"
            f"{', or use cross_validate' if caller == 'evaluate' else ''}."
        ) from None


def as_model_takes(model: Any, X: Any) -> Any:
    """X for the methods of a fitted model: as it came, or as other libraries take it."""
    return X if _reader(model) is not None else for_other_libraries(X)


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a Table, frame, array, list or dict of columns."""
    if isinstance(X, Table):
        return X.take(rows)
    if isinstance(X, Mapping):
        return {name: take_rows(column, rows) for name, column in X.items()}
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)


def _n_rows(X: Any) -> int:
    shape = getattr(X, "shape", None)  # sparse matrices may be mappings
    if shape:
        return int(shape[0])
    try:
        return len(next(iter(X.values()), ())) if isinstance(X, Mapping) else len(X)
    except TypeError:
        raise DataError(
            "X must be a table: an array, a data frame, a list of rows or a dict of columns, got "
            f"{shown(X)}."
        ) from None


def _reader(model: Any) -> Any:
    """The estimator of ours that says how columns are read; None if X must stay as it came."""
    if hasattr(model, "_reads_as"):  # a model around another
        inner = model._reads_as()
        return None if inner is None else _reader(inner)
    if not type(model).__module__.startswith("treewright.") or not hasattr(
        model, "categorical_features"
    ):
        return None
    own = model.get_params(deep=False)
    inner = [_reader(value) for value in own.values() if hasattr(value, "fit")]
    if any(reader is None for reader in inner):
        return None
    # bagging has no say in how columns are read, its members have
    return model if "categorical_features" in own or not inner else inner[0]
