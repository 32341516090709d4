"""Which rows train and which are held out: scikit-learn's splitters by the course's names."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Iterable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from treewright.data.encode import encode
from treewright.data.table import Table
from treewright.errors import DataError, ParameterError, TreewrightWarning
from treewright.evaluation._data import Rows
from treewright.evaluation._folds import Split, check_classes

__all__ = ["Method", "check_method_name", "check_options", "make_splits", "read_groups"]

Method = Literal["holdout", "k-fold", "repeated", "loo", "bootstrap", ".632", ".632+", "oob"]


def make_splits(
    rows: Rows,
    method: str = "k-fold",
    *,
    folds: Any = 10,
    repeats: int = 1,
    test_size: float = 1 / 3,
    stratify: bool | None = None,
    groups: Any = None,
    time: Any = None,
    random_state: Any = None,
) -> list[Split]:
    """Splits of the rows.

    Parameters
    ----------
    rows
        What is split.
    method
        "holdout" (``repeats`` times), "k-fold" or "repeated" (``folds`` × ``repeats``), "loo",
        "bootstrap" (``repeats`` samples of n rows; those not drawn are held out).
    folds
        How many, or a splitter of scikit-learn, or pairs of training and held-out rows.
    repeats, test_size
        Repeats; share of the rows that a holdout keeps back.
    stratify
        Every fold has the classes in the same shares; None for yes, but not in the bootstrap.
        Not for numbers, nor by time.
    groups
        One label per row; rows with the same one stay together.
    time
        When each row was, in numbers, dates, ISO dates as text or ordered categories: every row
        of a fold is later than all rows that train. True where the rows are in order already.
    random_state
        Of the shuffling.
    """
    n = len(rows)
    if not isinstance(folds, int | np.integer):
        return _given(folds, rows, groups)
    _check_numbers(int(folds), test_size, n, method)
    if time is not None and time is not False:
        return _by_time(rows, time, int(folds), method, test_size)
    if stratify and rows.codes is None:
        raise ParameterError(
            "stratify=True is for classes, but the target holds numbers; leave it out."
        )
    if stratify is None:
        stratify = method != "bootstrap"
    labels = rows.codes if stratify else None
    together = read_groups(groups, n)
    random = check_random_state(random_state)
    if method == "loo":
        return _leave_one_out(n, together)
    seeds = [int(random.randint(np.iinfo(np.int32).max)) for _ in range(repeats)]
    if method == "holdout":
        makers = [_holdout(labels, together, test_size, seed) for seed in seeds]
    elif method in ("k-fold", "repeated"):
        makers = [_k_fold(labels, together, int(folds), seed) for seed in seeds]
    else:
        samples = [_bootstrap(n, labels, together, seed, r) for r, seed in enumerate(seeds)]
        if together is None and not stratify:
            check_classes(rows, samples, "use stratify=True, or pass more rows of the others")
        return samples
    return [
        Split(train, test, repeat)
        for repeat, maker in enumerate(makers)
        for train, test in _pairs(maker, n, labels, together)
    ]


def check_method_name(method: str) -> None:
    """Refuse an unknown way of holding rows out."""
    if method not in get_args(Method):
        raise ParameterError(
            f"method must be one of {', '.join(get_args(Method))}, got {method!r}."
        )


# what each way of holding rows out takes
_TAKES: dict[str, set[str]] = {
    "holdout": {"repeats", "test_size", "stratify", "groups", "time"},
    "k-fold": {"folds", "repeats", "stratify", "groups", "time"},
    "repeated": {"folds", "repeats", "stratify", "groups"},
    "loo": {"groups"},
    "oob": set(),
    "bootstrap": {"repeats", "stratify", "groups"},
    ".632": {"repeats", "stratify", "groups"},
    ".632+": {"repeats", "stratify", "groups"},
}


def check_options(method: str, **given: Any) -> None:
    """Refuse options that would do nothing; those that are None were not given.

    Examples
    --------
    >>> check_options("loo", folds=5, groups=None)
    Traceback (most recent call last):
    ...
    treewright.errors.ParameterError: folds does nothing with method='loo'; leave it out.
    """
    check_method_name(method)
    names = {name for name, value in given.items() if value is not None and value is not False}
    for name in sorted(names - _TAKES[method] - {"time"}):  # splits by time say more themselves
        raise ParameterError(f"{name} does nothing with method={method!r}; leave it out.")
    folds = given.get("folds")
    if folds is not None and not isinstance(folds, int | np.integer):
        beside, which = {"repeats", "stratify", "time"}, "folds that were made already"
        if not hasattr(folds, "split"):
            beside |= {"groups"}
    elif "time" in names:
        beside, which = {"repeats", "stratify", "groups"}, "time"
    elif "groups" in names and method not in ("k-fold", "repeated"):
        beside, which = {"stratify"}, f"groups with method={method!r}"
    else:
        return
    for name in sorted(names & beside):
        raise ParameterError(f"{name} does nothing beside {which}; leave one of them out.")


def _check_numbers(folds: int, test_size: float, n: int, method: str) -> None:
    if method in ("k-fold", "repeated"):
        if folds < 2:
            raise ParameterError(f"folds must be at least 2, got {folds}; use 10.")
        if folds > n:
            raise ParameterError(
                f"folds must not be more than the rows, got {folds} folds of {n} rows; use fewer "
                "folds."
            )
    if method == "holdout" and not 0 < test_size < 1:
        raise ParameterError(f"test_size must be a share between 0 and 1, got {test_size!r}.")


def read_groups(groups: Any, n: int) -> NDArray[np.int32] | None:
    """The group of each row, as a number; None where there are none."""
    if groups is None:
        return None
    codes = _column(groups, n, "groups", categorical_features=["groups"]).columns[0]
    return np.asarray(codes, np.int32)


def _times(time: Any, n: int) -> NDArray[np.generic]:
    """When each row was, as a number."""
    if time is True:
        return np.arange(n)
    table = _column(time, n, "time")
    feature = table.schema.features[0]
    if feature.kind != "nominal":
        return table.columns[0]
    moments = []
    for text in feature.categories:
        try:
            moment = datetime.datetime.fromisoformat(text)
        except (TypeError, ValueError):
            raise DataError(
                f"time must hold numbers, dates, ISO dates as text or ordered categories, but has "
                f"{text!r}, which is none of them; pass numbers in the order of time."
            ) from None
        moments.append(moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC))
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    seconds = np.array([(moment - epoch).total_seconds() for moment in moments])
    return seconds[np.asarray(table.columns[0], np.intp)]


def _column(values: Any, n: int, name: str, **wishes: Any) -> Table:
    """One value for each row and no gaps, read as a feature is."""
    if type(getattr(values, "dtype", None)).__name__ == "PeriodDtype":  # of pandas
        values = getattr(values, "dt", values).to_timestamp()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TreewrightWarning)  # they are about features
        table = encode({name: values}, owner=name, **wishes)
    if table.n_rows != n:
        raise DataError(
            f"{name} must have one value for each of the {n} rows, got {table.n_rows} values."
        )
    column = table.columns[0]
    is_gap = np.isnan(column) if column.dtype.kind == "f" else column < 0
    if is_gap.any():
        raise DataError(
            f"{name} must have no gaps, but {np.count_nonzero(is_gap)} of {n} values are missing; "
            "drop those rows, or name what they are."
        )
    return table


def _pairs(maker: Any, n: int, labels: Any, groups: Any) -> Iterable[tuple[Any, Any]]:
    y = np.zeros(n, np.int32) if labels is None else labels
    try:
        with warnings.catch_warnings():
            # "The least populated class has only …": a sentence of the evaluation says it
            warnings.simplefilter("ignore", UserWarning)
            return list(maker.split(np.empty((n, 0)), y, groups))
    except ValueError as error:
        raise DataError(_refusal(maker, n, labels, groups, error)) from error


def _refusal(maker: Any, n: int, labels: Any, groups: Any, error: ValueError) -> str:
    """What scikit-learn's splitters refuse, in our words."""
    is_holdout = hasattr(maker, "test_size")
    if groups is not None:
        n_groups = len(np.unique(groups))
        if is_holdout:
            return (
                f"A holdout must leave groups on either side, but there are {n_groups} and "
                f"test_size={maker.test_size:.3g}; pass another test_size or more groups."
            )
        if maker.n_splits > n_groups:
            return (
                f"folds must not be more than the groups, got {maker.n_splits} folds of "
                f"{n_groups} groups; use fewer folds."
            )
    if labels is not None:
        counts = ", ".join(map(str, np.bincount(labels).tolist()[:8]))
        if is_holdout:
            return (
                "A stratified holdout must have 2 rows or more of every class and a row for every "
                f"class on either side, but the classes have {counts} rows and "
                f"test_size={maker.test_size:.3g}; pass stratify=False or another test_size."
            )
        return (
            f"Stratified folds need a row of some class for every fold, but the classes have "
            f"{counts} rows and there are to be {maker.n_splits} folds; use fewer folds or "
            "stratify=False."
        )
    if is_holdout:
        return (
            f"A holdout must have rows on either side, got {n} rows and "
            f"test_size={maker.test_size:.3g}; pass another test_size or more rows."
        )
    return f"The rows cannot be split: {error}"


def _k_fold(labels: Any, groups: Any, folds: int, seed: int) -> Any:
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    settings = {"n_splits": folds, "shuffle": True, "random_state": seed}
    if groups is None:
        return KFold(**settings) if labels is None else StratifiedKFold(**settings)
    return GroupKFold(**settings) if labels is None else StratifiedGroupKFold(**settings)


def _holdout(labels: Any, groups: Any, test_size: float, seed: int) -> Any:
    from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

    settings = {"n_splits": 1, "test_size": test_size, "random_state": seed}
    if groups is not None:
        return GroupShuffleSplit(**settings)
    return ShuffleSplit(**settings) if labels is None else StratifiedShuffleSplit(**settings)


def _leave_one_out(n: int, groups: NDArray[Any] | None) -> list[Split]:
    """Every row, or every group, alone."""
    if n < 2:
        raise DataError(f"Leaving one out needs 2 rows or more, got {n}.")
    labels = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    order = np.argsort(labels, kind="stable")
    tests = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    if len(tests) < 2:
        raise DataError("Leaving one group out needs 2 groups or more, got 1.")
    return [Split(np.setdiff1d(np.arange(n), test), np.sort(test)) for test in tests]


def _bootstrap(n: int, labels: Any, groups: Any, seed: int, repeat: int) -> Split:
    """n rows drawn with replacement, within classes; those that were not drawn are held out."""
    random = np.random.RandomState(seed)
    if groups is not None:
        members = np.unique(groups, return_inverse=True)[1]
        drawn = random.randint(members.max() + 1, size=members.max() + 1)
        train = np.concatenate([np.flatnonzero(members == g) for g in drawn])
    elif labels is not None:
        parts = [np.flatnonzero(labels == k) for k in range(int(labels.max()) + 1)]
        train = np.concatenate([random.choice(part, len(part)) for part in parts])
    else:
        train = random.randint(n, size=n)
    train = np.sort(train).astype(np.int64)
    return Split(train, np.setdiff1d(np.arange(n), train), repeat)


def _by_time(rows: Rows, time: Any, folds: int, method: str, test_size: float) -> list[Split]:
    """Folds in the order of time, each trained on all that was before it.

    Where rows share a time, cuts move to the nearest place where it changes.
    """
    n = len(rows)
    if method not in ("k-fold", "holdout"):
        raise ParameterError(
            f'time goes with method "k-fold" or "holdout", got {method!r}; earlier rows cannot '
            "be told by later ones."
        )
    when = _times(time, n)
    order = np.argsort(when, kind="stable")
    changes = np.flatnonzero(np.diff(when[order])) + 1
    n_cuts = 1 if method == "holdout" else folds
    if len(changes) < n_cuts:
        ways_out = {0: "leave time out", 1: 'use method="holdout"'}
        raise ParameterError(
            f"time must have {n_cuts + 1} or more different values for {n_cuts} "
            f"{'parts' if n_cuts > 1 else 'part'} held out, got {len(changes) + 1} in {n} rows; "
            f"{ways_out.get(len(changes), 'use fewer folds')}."
        )
    size = max(1, round(n * test_size)) if method == "holdout" else n // (folds + 1)
    cuts: list[int] = []
    first = 0
    for k in range(n_cuts):
        # as many changes stay as there are cuts to come
        free = changes[first : len(changes) - (n_cuts - 1 - k)]
        nearest = int(np.argmin(np.abs(free - (n - (n_cuts - k) * size))))
        cuts.append(int(free[nearest]))
        first += nearest + 1
    return [
        Split(np.sort(order[:start]), np.sort(order[start:stop]))
        for start, stop in zip(cuts, [*cuts[1:], n], strict=True)
    ]


def _given(folds: Any, rows: Rows, groups: Any) -> list[Split]:
    """The splits of a splitter, or pairs that the user made."""
    n = len(rows)
    if hasattr(folds, "split") and not isinstance(folds, str | bytes):
        pairs = folds.split(np.empty((n, 0)), rows.truth, read_groups(groups, n))
    else:
        pairs = folds
    try:
        splits = [Split(_numbers(train, n), _numbers(test, n)) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise ParameterError(
            "folds must be a number, a splitter of scikit-learn, or pairs of training and "
            f"held-out rows from 0 to {n - 1}; got {type(folds).__name__} ({error})."
        ) from error
    if not splits:
        raise ParameterError("folds must hold one split or more, got none.")
    return splits


def _numbers(rows: Any, n: int) -> NDArray[np.int64]:
    found = np.asarray(rows)
    if found.dtype == np.bool_ and found.shape == (n,):
        return np.flatnonzero(found)
    found = found.astype(np.int64)
    if found.ndim != 1 or (found.size and (found.min() < 0 or found.max() >= n)):
        raise ValueError("a row is out of range")
    return found
