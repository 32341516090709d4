"""Rows to learn from and rows held out, for choosing by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import length_hint
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from treewright.errors import ParameterError
from treewright.estimator.routing import of_rows

if TYPE_CHECKING:
    from treewright.estimator.training import Training

__all__ = ["dealt_folds", "n_folds", "row_splits", "split_by"]

Rows = NDArray[np.int64]


def row_splits(
    cv: Any, training: Training, random_state: Any, metadata: Mapping[str, Any] | None = None
) -> list[tuple[Rows, Rows]]:
    """Pairs of training and held-out rows, numbered among the rows that take part.

    Parameters
    ----------
    cv
        A number of folds, a splitter of scikit-learn, or pairs of row numbers of ``X``.
    training
        The rows that take part.
    random_state
        Shuffles the folds of a number.
    metadata
        What the splitter is given beside, such as groups of the rows of ``X``.
    """
    if cv is None or isinstance(cv, int | np.integer):
        return _shuffled_folds(n_folds(cv), training, random_state)
    if hasattr(cv, "split"):
        beside = of_rows(metadata or {}, training.kept, training.n_given)
        return split_by(cv, training.y, beside)
    return [(_places(train, training), _places(test, training)) for train, test in _pairs(cv)]


def split_by(cv: Any, y: NDArray[Any], metadata: Mapping[str, Any]) -> list[tuple[Rows, Rows]]:
    """The folds of a splitter, which may ask for metadata."""
    try:
        pairs = list(cv.split(np.zeros((len(y), 1)), y, **metadata))
    except ValueError as error:
        raise ParameterError(
            f"cv={type(cv).__name__} cannot split these {len(y)} rows: {str(error).rstrip('.')}; "
            "pass what it asks for, such as groups, to fit, or use another cv."
        ) from None
    return [(np.asarray(train), np.asarray(test)) for train, test in pairs]


def n_folds(cv: Any) -> int:
    """How many folds ``cv`` makes, as far as it can be known beforehand."""
    if cv is None:
        return 10
    if isinstance(cv, int | np.integer):
        return int(cv)
    try:
        return int(cv.get_n_splits())
    except (AttributeError, TypeError, ValueError):
        return length_hint(cv, 10)


def _shuffled_folds(n: int, training: Training, random_state: Any) -> list[tuple[Rows, Rows]]:
    classes = training.y if training.target.is_classification else None
    return dealt_folds(n, training.n_rows, classes, random_state)


def dealt_folds(
    n: int, n_rows: int, classes: NDArray[Any] | None, random_state: Any
) -> list[tuple[Rows, Rows]]:
    """Folds dealt out like cards, one class after the other, so that each gets its share."""
    if n > n_rows:
        raise ParameterError(
            f"cv must not be larger than the number of rows, got {n} folds of {n_rows} rows; "
            "use fewer folds."
        )
    order = check_random_state(random_state).permutation(n_rows)
    if classes is not None:
        order = order[np.argsort(classes[order], kind="stable")]
    fold = np.empty(n_rows, np.int64)
    fold[order] = np.arange(n_rows) % n
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n)]


def _pairs(cv: Iterable[Any]) -> list[tuple[Any, Any]]:
    try:
        return [(train, test) for train, test in cv]
    except (TypeError, ValueError):
        raise ParameterError(
            "cv must be a number of folds, a splitter, or pairs of training and held-out rows, "
            f"got {type(cv).__name__} of something else."
        ) from None


def _places(rows: Any, training: Training) -> Rows:
    """Row numbers of ``X``, or a mask over it, as places among the rows that take part."""
    n_given = training.n_given
    given = np.asarray(rows)
    if given.dtype == np.bool_ and given.shape == (n_given,):
        given = np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ParameterError(
            "cv must hold pairs of row numbers, "
            f"got an array of {given.dtype} with shape {given.shape}."
        )
    if given.size and (given.min() < 0 or given.max() >= n_given):
        raise ParameterError(
            f"cv must hold row numbers from 0 to {n_given - 1}, got {given.min()} to {given.max()}."
        )
    given = given.astype(np.int64)
    if training.kept is None:
        return given
    place = np.cumsum(training.kept) - 1
    return np.asarray(place[given[training.kept[given]]])
