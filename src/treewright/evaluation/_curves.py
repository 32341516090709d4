"""Errors against the number of training rows, or against any parameter of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from treewright.arguments import Allowed, checked, number, shown
from treewright.errors import ParameterError
from treewright.evaluation._costs import read_costs
from treewright.evaluation._data import Rows, is_class_model, read_rows
from treewright.evaluation._figures import FIGURES, figure_values
from treewright.evaluation._folds import FoldRun, Progress, Split, pooled, run_folds
from treewright.evaluation._predictions import Predictions
from treewright.evaluation._splits import make_splits, read_groups
from treewright.tree.show.tables import as_frame, html_table, significant, text_table

__all__ = ["ErrorCurve", "complexity_curve", "learning_curve"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ErrorCurve:
    """A figure against sizes or parameter values, on training, validation and test rows.

    Parameters
    ----------
    name, values
        What was varied, and its values.
    measure
        The figure, such as "error".
    mean, std
        By kind of rows: mean over the folds and standard deviation between them (0 for one fit).

    Examples
    --------
    >>> from treewright import CARTClassifier, complexity_curve, datasets
    >>> rings = datasets.two_rings(400, random_state=0)
    >>> curve = complexity_curve(
    ...     CARTClassifier(), rings.data, rings.target, "max_depth", [1, 3, 5], random_state=0
    ... )
    >>> curve.best
    5
    >>> curve.frame().columns.tolist()
    ['max_depth', 'training', 'training_std', 'validation', 'validation_std', 'test']
    >>> print(curve)
    error by max_depth
    max_depth training training_std validation validation_std test
            1   0.3567     0.009592     0.4200        0.01826 0.35
            3   0.1983     0.008640     0.2833        0.04249 0.26
            5   0.1300     0.012977     0.2167        0.06562 0.24
    >>> axes = curve.plot()
    """

    name: str
    values: tuple[Any, ...]
    measure: str
    mean: dict[str, Floats]
    std: dict[str, Floats]

    @property
    def best(self) -> Any:
        """The value with the best validation figure; the first of a tie."""
        lower = FIGURES[self.measure].better == "low"
        found = self.mean["validation"]
        return self.values[int(np.nanargmin(found if lower else -found))]

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {self.name: list(self.values)}
        for kind, mean in self.mean.items():
            columns[kind] = mean
            if self.std[kind].any():
                columns[f"{kind}_std"] = self.std[kind]
        return columns

    def frame(self) -> Any:
        """One row per value, as a data frame."""
        columns = self._columns()
        if not all(isinstance(value, int | float) for value in self.values):
            columns[self.name] = list(map(str, self.values))
        return as_frame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        from matplotlib import pyplot as plt

        ax = plt.subplots(layout="constrained")[1] if ax is None else ax
        is_number = all(
            isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in self.values
        )
        x = np.array(self.values, float) if is_number else np.arange(len(self.values))
        for kind, mean in self.mean.items():
            (line,) = ax.plot(x, mean, marker="o", markersize=4, label=kind)
            if self.std[kind].any():
                low, high = mean - self.std[kind], mean + self.std[kind]
                ax.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        if is_number and x.min() > 0 and x.max() / x.min() >= 20:
            ax.set_xscale("log")
        if not is_number:
            ax.set_xticks(x, list(map(str, self.values)))
        if len(self.values) > 1 and self.name != "training rows":
            place = x[self.values.index(self.best)]
            ax.axvline(place, color="0.6", linestyle=":", label=f"best: {self.best}")
        ax.set(xlabel=self.name, ylabel=FIGURES[self.measure].label)
        ax.legend()
        return ax

    def _cells(self) -> dict[str, list[str]]:
        cells = {self.name: list(map(str, self.values))}
        columns = self._columns()
        return cells | {n: significant(columns[n], 4) for n in list(columns)[1:]}

    def __str__(self) -> str:
        return f"{FIGURES[self.measure].label} by {self.name}\n{text_table(self._cells())}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._cells(), f"{FIGURES[self.measure].label} by {self.name}")


@checked()
def learning_curve(
    model: Any,
    X: Any,
    y: Any,
    sizes: Sequence[float] = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
    *,
    measure: str | None = None,
    costs: Any = None,
    folds: Any = 5,
    repeats: int = 1,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> ErrorCurve:
    """Training and validation error against the number of training rows.

    Parameters
    ----------
    model : estimator
    X : array or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sizes : sequence of float or int, default=(0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
        Shares of the training rows (floats up to 1.0) or counts of them (integers). Smaller parts
        lie within larger ones and have the classes in the same shares.
    measure : str, default=None
        Any figure of an :class:`Evaluation`; "error" or "rmse" by default.
    costs : array-like or dict of dicts, default=None
        Cost of each true and predicted class, for ``measure="mean_cost"``.
    folds, repeats, groups, random_state, n_jobs, progress
        As in :func:`treewright.cross_validate`.

    Returns
    -------
    ErrorCurve

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets, learning_curve
    >>> iris = datasets.load_iris()
    >>> curve = learning_curve(CARTClassifier(), iris.data, iris.target, random_state=0)
    >>> curve.values
    (12, 24, 48, 72, 96, 120)
    """
    rows = read_rows(X, y, is_class_model(model))
    measure = _measure(measure, rows)
    random = check_random_state(random_state)
    whole = make_splits(rows, folds=folds, repeats=repeats, groups=groups, random_state=random)
    counts = _counts(sizes, min(len(split.train) for split in whole))
    splits = [
        Split(np.sort(order[:count]), split.test, split.repeat)
        for split in whole
        for order in [_in_shares(split.train, rows, random)]
        for count in counts
    ]
    run = run_folds({"": model}, rows, splits, n_jobs=n_jobs, progress=progress, on_train=True)[""]
    priced = None if rows.classes is None else read_costs(costs, rows.classes.tolist())
    found = _by_fold(run, measure, priced)
    series = {kind: values.reshape(len(whole), len(counts)) for kind, values in found.items()}
    return _curve("training rows", tuple(counts), measure, series)


@checked(
    test=Allowed(
        "a pair of X and y", lambda pair: isinstance(pair, tuple | list) and len(pair) == 2
    ),
    test_size=number(0, 1),
)
def complexity_curve(
    model: Any,
    X: Any,
    y: Any,
    parameter: str,
    values: Sequence[Any],
    *,
    test: tuple[Any, Any] | None = None,
    test_size: float = 0.25,
    measure: str | None = None,
    folds: Any = 5,
    repeats: int = 1,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> ErrorCurve:
    """Training, validation and test error against a parameter.

    Training and validation errors are means over folds. The test error is that of the model
    fitted to all rows but the test rows; it judges the choice and must not make it.

    Parameters
    ----------
    model : estimator
    X : array or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    parameter : str
        Name of a parameter, ``"max_depth"`` or ``"estimator__max_depth"``.
    values : sequence
        Its values.
    test : (X_test, y_test), default=None
        Rows to test on; a part of ``X`` is held out by default.
    test_size : float, default=0.25
        That part; 0 for no test error.
    measure, folds, repeats, groups, random_state, n_jobs, progress
        As in :func:`treewright.learning_curve`.

    Returns
    -------
    ErrorCurve

    Examples
    --------
    >>> from treewright import CARTClassifier, complexity_curve, datasets
    >>> rings = datasets.two_rings(400, random_state=0)
    >>> curve = complexity_curve(
    ...     CARTClassifier(), rings.data, rings.target, "max_depth", [1, 3, 5, 12], random_state=0
    ... )
    >>> bool(curve.mean["training"][-1] < curve.mean["training"][0])
    True
    """
    is_classes = is_class_model(model)
    models = _variants(model, parameter, values)
    random = check_random_state(random_state)
    if test is not None:
        rows, learn, held_out = _joined(X, y, test, is_classes)
        groups = read_groups(groups, len(learn))
    else:
        rows = read_rows(X, y, is_classes)
        groups = read_groups(groups, len(rows))
        learn, held_out = _held_out(rows, test_size, groups, random)
    measure = _measure(measure, rows)
    part = Rows(
        None, rows.y[learn], rows.classes, None if rows.codes is None else rows.codes[learn]
    )
    inner = make_splits(
        part,
        folds=folds,
        repeats=repeats,
        groups=None if groups is None else groups[learn],
        random_state=random,
    )
    splits = [Split(learn[s.train], learn[s.test], s.repeat) for s in inner]
    if len(held_out):
        splits.append(Split(learn, held_out))
    runs = run_folds(models, rows, splits, n_jobs=n_jobs, progress=progress, on_train=True)
    found = [_by_fold(run, measure) for run in runs.values()]
    n = len(inner)
    series = {kind: np.array([f[kind][:n] for f in found]).T for kind in found[0]}
    if len(held_out):
        series["test"] = np.array([f["validation"][n:] for f in found]).T
    return _curve(parameter, tuple(values), measure, series)


def _curve(
    name: str, values: tuple[Any, ...], measure: str, series: dict[str, Floats]
) -> ErrorCurve:
    mean = {kind: found.mean(axis=0) for kind, found in series.items()}
    std = {
        kind: found.std(axis=0, ddof=1) if len(found) > 1 else np.zeros(found.shape[1])
        for kind, found in series.items()
    }
    return ErrorCurve(name, values, measure, mean, std)


def _measure(measure: str | None, rows: Rows) -> str:
    if measure is None:
        return "error" if rows.classes is not None else "rmse"
    if measure not in FIGURES:
        close = get_close_matches(str(measure), FIGURES)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(FIGURES)}."
        raise ParameterError(f"measure must be a figure of an Evaluation, got {measure!r}; {hint}")
    return measure


def _by_fold(run: FoldRun, measure: str, costs: Floats | None = None) -> dict[str, Floats]:
    """The figure of each fold on its training rows and on those held out."""

    def value(found: Predictions) -> float:
        matrix = None if found.classes is None else found.confusion
        positive = 1 if found.n_classes == 2 else None
        figures = figure_values(matrix, found, costs, positive)
        if measure not in figures:
            raise ParameterError(
                f"measure {measure!r} is not known of this model; take one of {', '.join(figures)}."
            )
        return figures[measure]

    training, validation = [], []
    for k, (split, answer) in enumerate(zip(run.splits, run.answers, strict=True)):
        assert answer.train is not None
        one = np.zeros(len(split.train), np.int32)
        training.append(value(pooled(run.rows, split.train, [answer.train], one)))
        validation.append(value(run.predictions([k])))
    return {"training": np.array(training), "validation": np.array(validation)}


def _counts(sizes: Sequence[Any], most: int) -> list[int]:
    """Counts of rows; 1 is a row and 1.0 all of them, as 2 is two rows and 2.0 no share."""
    counts = []
    for size in sizes:
        if isinstance(size, Integral):
            counts.append(int(size))
        else:
            share = float(size) if isinstance(size, Real) else 0.0
            counts.append(round(share * most) if 0 < share <= 1 else 0)
    if not counts or min(counts) < 1 or max(counts) > most:
        raise ParameterError(
            "sizes must be shares above 0 and up to 1.0 that come to a row or more, or integers "
            f"from 1 to the {most} training rows of a fold, got {shown(sizes)}."
        )
    return sorted(set(counts))


def _in_shares(
    train: NDArray[np.int64], rows: Rows, random: np.random.RandomState
) -> NDArray[np.int64]:
    """The training rows in a random order whose every beginning has all classes in their shares."""
    shuffled = random.permutation(train)
    if rows.codes is None:
        return np.asarray(shuffled)
    codes = rows.codes[shuffled]
    when = np.empty(len(shuffled))
    for code in np.unique(codes):
        of_class = np.flatnonzero(codes == code)
        when[of_class] = (np.arange(len(of_class)) + 0.5) / len(of_class)
    return np.asarray(shuffled[np.argsort(when, kind="stable")])


def _variants(model: Any, parameter: str, values: Sequence[Any]) -> dict[int, Any]:
    known = model.get_params()
    if parameter not in known:
        close = get_close_matches(str(parameter), known)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(sorted(known))}."
        raise ParameterError(
            f"parameter must be one of {type(model).__name__}, got {parameter!r}; {hint}"
        )
    if not len(values):
        raise ParameterError("values must hold one value or more, got none.")
    return {k: clone(model).set_params(**{parameter: value}) for k, value in enumerate(values)}


def _held_out(
    rows: Rows, test_size: float, groups: Any, random: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if test_size == 0:
        return np.arange(len(rows)), np.empty(0, np.int64)
    split = make_splits(rows, "holdout", test_size=test_size, groups=groups, random_state=random)[0]
    return np.sort(split.train), np.sort(split.test)


def _joined(
    X: Any, y: Any, test: tuple[Any, Any], is_classes: bool
) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64]]:
    """Both tables as one, so that they are encoded once and alike."""
    from treewright.data.frames import stack_frames

    X_test, y_test = test
    first, second = read_rows(X, y, is_classes), read_rows(X_test, y_test, is_classes)
    target = np.concatenate([first.y, second.y])
    rows = read_rows(stack_frames(X, X_test), target, is_classes)
    return rows, np.arange(len(first)), np.arange(len(first), len(rows))
