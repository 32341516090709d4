"""Targets: class codes and numbers from any column, with errors that say what is wrong.

Classes follow scikit-learn: ``classes_`` is what ``np.unique`` gives, sorted, and codes point
into it. A target has no gaps.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.categories import Coded, listed, plain_values
from treewright.data.columns import Column, as_floats, settle, to_coded, to_floats
from treewright.data.frames import (
    feature_names,
    is_frame,
    raw_column,
    read_frame,
    refuse_collection,
    sparse_error,
)
from treewright.data.sparse import is_sparse
from treewright.data.weights import EXACT, exact_sum
from treewright.errors import DataError

__all__ = [
    "class_codes",
    "class_order",
    "class_totals",
    "numeric_target",
    "output_names",
    "target_name",
]

MOST = 1e150
"""Largest number to be predicted, either side of zero: squares of 10^8 of them can be added."""


def class_codes(
    y: Any, classes: NDArray[Any] | None = None
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Codes of the classes in y, and the classes, sorted.

    Parameters
    ----------
    y
        One label per row: array, list, series or Arrow array of integers, text, booleans,
        categories or integral floats.
    classes
        Classes known already; a label outside of them is an error. None to learn them.

    Returns
    -------
    codes, classes
        One code per row, and the classes as an array.

    Examples
    --------
    >>> from treewright.data import class_codes
    >>> codes, classes = class_codes(["no", "yes", "no"])
    >>> codes.tolist(), classes.tolist()
    ([0, 1, 0], ['no', 'yes'])
    """
    column = _single_column(y)
    if column.nature == "date":
        raise DataError(
            "Unknown label type: y must hold classes, but holds dates; turn them into text first."
        )
    found, codes = _learn_classes(column)
    if isinstance(y, np.ndarray) and y.dtype.kind == "U":
        found = found.astype(y.dtype)
    if classes is None:
        return codes, found
    position = {value: k for k, value in enumerate(np.asarray(classes).tolist())}
    places = [position.get(value, -1) for value in found.tolist()]
    if -1 in places:
        strange = [v for v, k in zip(found.tolist(), places, strict=True) if k < 0]
        raise DataError(
            f"y must hold classes of training only, but has {listed(strange)}; drop those rows."
        )
    return np.array(places, np.int32)[codes], np.asarray(classes)


def class_totals(
    codes: NDArray[Any], weight: NDArray[np.float64] | None, n_classes: int
) -> NDArray[np.float64]:
    """Weight of each class.

    Examples
    --------
    >>> class_totals(np.array([0, 2, 2]), None, 3)
    array([1., 0., 2.])
    """
    if weight is None and n_classes <= 8:  # bincount would copy the codes to wider ones
        return np.array([np.count_nonzero(codes == k) for k in range(n_classes)], np.float64)
    if weight is None or np.all(weight == np.floor(weight)):
        return np.bincount(codes, weight, n_classes).astype(np.float64)
    each = [exact_sum(weight[codes == k]) / EXACT for k in range(n_classes)]  # in any order of rows
    return np.array(each, np.float64)


def class_order(y: Any) -> tuple[Any, ...] | None:
    """The classes in the order that an ordered category column declares; None for any other.

    Examples
    --------
    >>> import pandas as pd
    >>> class_order(pd.Categorical(["low", "high"], ["low", "middle", "high"], ordered=True))
    ('low', 'middle', 'high')
    >>> class_order(["low", "high"]) is None
    True
    """
    is_ordered = getattr(getattr(y, "dtype", None), "ordered", None)
    if isinstance(y, np.ndarray | list | tuple) or is_ordered is False:
        return None
    data = _single_column(y).data
    if not isinstance(data, Coded) or not data.ordered:
        return None
    return tuple(plain_values(data.values, "y"))


def numeric_target(y: Any) -> NDArray[np.float64]:
    """y as finite float64, of shape ``(n,)`` or ``(n, n_outputs)``.

    Parameters
    ----------
    y
        What ``fit`` takes: a column or a table of several outputs.

    Examples
    --------
    >>> from treewright.data import numeric_target
    >>> numeric_target([1, 2.5])
    array([1. , 2.5])
    """
    _refuse_no_column(y)
    if isinstance(y, np.ndarray) and y.ndim <= 2 and y.dtype.kind in "fiub":
        values = as_floats(np.atleast_1d(y))
    elif _is_two_dimensional(y):
        frame = read_frame(y)
        columns = [_target_floats(settle("y", column)) for column in frame.columns]
        values = np.column_stack(columns)
    else:
        values = _target_floats(_one_dimensional(y))
    if values.ndim == 2 and values.shape[1] == 1:
        _warn_column_vector()
        values = values[:, 0]
    _check_finite(values)
    return np.ascontiguousarray(values, dtype=np.float64)


def _refuse_no_column(y: Any) -> None:
    if y is None:
        raise DataError(
            "This estimator requires y to be passed, but the target y is None; "
            "pass the target as the second argument."
        )
    if is_sparse(y):
        raise sparse_error("y")


def _is_two_dimensional(y: Any) -> bool:
    refuse_collection(y, "y")
    if isinstance(y, np.ndarray):
        if y.ndim > 2:
            raise DataError(f"y must have one or two dimensions, got {y.ndim}; reshape it.")
        return y.ndim == 2
    if isinstance(y, list | tuple):
        return len(y) > 0 and isinstance(y[0], list | tuple | np.ndarray)
    if hasattr(y, "ndim"):  # before asking for frames: a series is none
        return bool(y.ndim == 2)
    return getattr(y, "type", None) is None and not hasattr(y, "dtype") and is_frame(y)


def _single_column(y: Any) -> Column:
    """The one column of a class target."""
    _refuse_no_column(y)
    if not _is_two_dimensional(y):
        return _one_dimensional(y)
    frame = read_frame(y)
    if frame.n_columns > 1:
        raise DataError(
            f"y should be a 1d array of classes, got {frame.n_columns} columns; "
            "fit one estimator for each."
        )
    _warn_column_vector()
    return settle("y", frame.columns[0])


def target_name(y: Any) -> str:
    """The name of a series or of a frame's only column; "y" where there is none."""
    if _is_two_dimensional(y):
        names = None if isinstance(y, np.ndarray | list | tuple) else feature_names(y)
        name = names[0] if names is not None and len(names) == 1 else None
    else:
        name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"  # polars names none ""


def output_names(y: Any, n_outputs: int) -> tuple[str, ...]:
    """Names of the columns of a frame of several outputs; none where there are none."""
    names = None if isinstance(y, np.ndarray | list | tuple) else feature_names(y)
    if names is None or len(names) != n_outputs:
        return ()
    return tuple(str(name) for name in names)


def _one_dimensional(y: Any) -> Column:
    raw = raw_column(np.atleast_1d(y) if isinstance(y, np.ndarray | np.generic) else y)
    if not hasattr(raw, "__len__") or isinstance(raw, str | bytes | Mapping):
        raise DataError(f"y should be a 1d array, got {type(y).__name__}; pass a list or array.")
    return settle("y", raw)


def _warn_column_vector() -> None:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. "
        "Please change the shape of y to (n_samples, ), for example using ravel().",
        DataConversionWarning,
        stacklevel=5,
    )


def _learn_classes(column: Column) -> tuple[NDArray[Any], NDArray[np.int32]]:
    data = column.data
    if column.nature == "number" and not isinstance(data, np.ndarray) and data.null_count == 0:
        data = data.to_numpy(zero_copy_only=False)  # integers stay integers
    if isinstance(data, np.ndarray) and data.dtype.kind in "iub":
        return _integer_classes(data)
    if column.nature == "number":
        return _float_classes(column)
    coded = to_coded(column)
    _refuse_gaps(int(np.count_nonzero(coded.codes < 0)), len(coded.codes))
    used = np.flatnonzero(class_totals(coded.codes, None, len(coded.values)))
    values = _class_array([coded.values[k] for k in used.tolist()])
    order = np.argsort(values, kind="stable")
    place = np.full(len(coded.values), -1, np.int32)
    place[used[order]] = np.arange(len(used))
    return values[order], place[coded.codes]


def _class_array(values: list[Any]) -> NDArray[Any]:
    """Text as objects, numbers and booleans as numpy types."""
    if any(isinstance(value, str) for value in values):
        if not all(isinstance(value, str) for value in values):
            raise DataError(
                "Unknown label type: y must hold classes of one type, but mixes text and numbers; "
                "turn all into text."
            )
        return np.array(values, dtype=object)
    return np.array(values)


def _integer_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Integers by counting when their range is small, which spares the sort."""
    if y.dtype.kind == "b":
        y = y.view(np.uint8) if y.dtype.itemsize == 1 else y.astype(np.uint8)
        classes, codes = _integer_classes(y)
        return classes.astype(np.bool_), codes
    if len(y) == 0:
        return y, np.empty(0, np.int32)
    kept, low, high = y.dtype, int(y.min()), int(y.max())
    if high - low > 4 * len(y) + 1024:
        classes, inverse = np.unique(y, return_inverse=True)
        return classes, inverse.astype(np.int32)
    if y.dtype.kind == "i":
        y = y.astype(np.int64)  # the difference may not fit into a narrow type
    shifted = (y - y.dtype.type(low)).astype(np.int64)
    seen = np.bincount(shifted) > 0
    place = np.cumsum(seen, dtype=np.int32) - 1
    return np.flatnonzero(seen).astype(kept) + kept.type(low), place[shifted]


def _float_classes(column: Column) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Integral floats as classes; other floats are a regression target."""
    y = to_floats(column)
    _refuse_gaps(int(np.count_nonzero(np.isnan(y))), len(y))
    if np.isinf(y).any():
        raise DataError("y must hold finite classes, but contains infinity; drop those rows.")
    if (y != np.rint(y)).any():
        raise DataError(
            "Unknown label type: continuous, but a classifier needs classes, and y holds "
            "fractional numbers; use a regressor, or bin y first."
        )
    classes, inverse = np.unique(y, return_inverse=True)
    return classes, inverse.astype(np.int32)


def _target_floats(column: Column) -> NDArray[np.floating[Any]]:
    if column.nature in ("text", "category", "date"):
        held = "dates" if column.nature == "date" else "text or categories"
        raise DataError(
            f"y must hold numbers, but could not convert {held} to float; use a classifier, "
            "or convert y."
        )
    return to_floats(column)


def _check_finite(values: NDArray[np.floating[Any]]) -> None:
    _refuse_gaps(int(np.count_nonzero(np.isnan(values))), values.size)
    if np.isinf(values).any():
        raise DataError("y must hold finite numbers, but contains infinity; drop those rows.")
    if max(-float(values.min(initial=0)), float(values.max(initial=0))) > MOST:
        raise DataError(
            f"y must lie within ±{MOST:.0e}, got {values.min():g} to {values.max():g}; scale it, "
            "so that sums of squares stay finite."
        )


def _refuse_gaps(n_gaps: int, n: int) -> None:
    if n_gaps:
        raise DataError(
            f"y must have no gaps, but {n_gaps} of {n} values are missing (NaN); drop those rows."
        )
