"""The fold engine: every model is fitted once on every split, and one fit serves all figures.

``make_splits`` says which rows train and which are held out (scikit-learn's splitters do it),
``run_folds`` fits and predicts, in parallel and with progress, and keeps the out-of-fold
predictions. ``cross_validate``, ``compare``, ``tune`` and the curves are made of these two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import DataError, ParameterError
from treewright.evaluation._data import Rows, take_rows
from treewright.evaluation._predictions import Predictions

__all__ = ["Answer", "FoldRun", "Progress", "Said", "Split", "ask", "run_folds"]

Progress = bool | Callable[[int, int], None] | None
"""A bar (True), a function of what is done and of all there is, or nothing."""


@dataclass(frozen=True, eq=False)
class Split:
    """Rows that train (some maybe twice) and rows that are held out; which repeat it is of."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    repeat: int = 0


@dataclass(frozen=True, eq=False)
class Said:
    """What a fitted model says of some rows: codes or numbers, and what it can say beyond."""

    predicted: NDArray[Any]
    proba: NDArray[np.float64] | None = None
    interval: NDArray[np.float64] | None = None
    is_probability: bool = True


@dataclass(frozen=True, eq=False)
class Answer:
    """One model on one split.

    ``train`` is what it says of its own training rows, ``model`` the model, where asked for.
    """

    test: Said
    fit_seconds: float
    predict_seconds: float
    train: Said | None = None
    model: Any = None


@dataclass(frozen=True, eq=False)
class FoldRun:
    """One model on all splits, in their order."""

    rows: Rows
    splits: Sequence[Split]
    answers: Sequence[Answer]

    def predictions(self, folds: Sequence[int] | None = None) -> Predictions:
        """Out-of-fold predictions of all splits, or of some; each row counts once."""
        places = range(len(self.splits)) if folds is None else folds
        said = [self.answers[k].test for k in places]
        row = np.concatenate([self.splits[k].test for k in places])
        return pooled(
            self.rows, row, said, np.repeat(list(places), [len(s.predicted) for s in said])
        )

    def training(self) -> Predictions:
        """What each model said of its own training rows."""
        said = [answer.train for answer in self.answers if answer.train is not None]
        row = np.concatenate([split.train for split in self.splits])
        sizes = [len(s.predicted) for s in said]
        return pooled(self.rows, row, said, np.repeat(np.arange(len(said)), sizes))

    @property
    def models(self) -> list[Any]:
        """The fitted models, where they were kept."""
        return [answer.model for answer in self.answers]


def pooled(
    rows: Rows, row: NDArray[np.int64], said: Sequence[Said], fold: NDArray[Any]
) -> Predictions:
    """What models said of rows, side by side with the truth."""

    def joined(name: str) -> Any:
        parts = [getattr(s, name) for s in said]
        return None if any(part is None for part in parts) else np.concatenate(parts)

    return Predictions(
        truth=rows.truth[row],
        predicted=np.concatenate([s.predicted for s in said]),
        classes=rows.classes,
        proba=joined("proba"),
        is_probability=all(s.is_probability for s in said),
        interval=joined("interval"),
        row=row,
        fold=fold.astype(np.int32),
    ).once()


def run_folds(
    models: Mapping[Any, Any],
    rows: Rows,
    splits: Sequence[Split],
    *,
    n_jobs: int | None = None,
    progress: Progress = None,
    on_train: bool = False,
    keep_models: bool = False,
    level: float | None = None,
    checked: bool = True,
) -> dict[Any, FoldRun]:
    """Fit a clone of every model on every split, and ask it for the rows held out.

    Parameters
    ----------
    models
        Name → estimator, fitted or not.
    rows
        What :func:`read_rows` made; encoded once for all models that read it alike.
    splits
        The splits, the same for all models.
    n_jobs
        Fits at a time; None for 1, −1 for all cores. Changes nothing but the time.
    progress
        See :data:`Progress`.
    on_train, keep_models
        Ask for the training rows too; keep the fitted models.
    level
        Chance to cover that intervals around numbers promise, where a model gives any.
    checked
        Refuse splits that train on one class only.
    """
    if n_jobs == 0:
        raise ParameterError("n_jobs must be fits at a time, or -1 for all cores, got 0; use 1.")
    if checked:
        check_classes(rows, splits)
    jobs = [
        (model, rows.features_for(model), split) for model in models.values() for split in splits
    ]

    settings = {"on_train": on_train, "keep_model": keep_models, "level": level}
    calls = [(model, X, rows.y, rows.classes, split) for model, X, split in jobs]
    found = list(_followed(_in_parallel(calls, settings, n_jobs), len(jobs), progress))
    n = len(splits)
    return {
        name: FoldRun(rows, splits, found[k * n : (k + 1) * n]) for k, name in enumerate(models)
    }


def fit_and_ask(
    model: Any,
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any] | None,
    split: Split,
    on_train: bool = False,
    keep_model: bool = False,
    level: float | None = None,
) -> Answer:
    """Fit a clone on the training rows of a split and ask it for those held out."""
    from sklearn.base import clone

    fitted = clone(model)
    train = take_rows(X, split.train)
    start = perf_counter()
    fitted.fit(train, y[split.train])
    fit_seconds = perf_counter() - start
    test = take_rows(X, split.test)
    start = perf_counter()
    said = ask(fitted, test, classes, level)
    predict_seconds = perf_counter() - start
    return Answer(
        said,
        fit_seconds,
        predict_seconds,
        ask(fitted, train, classes) if on_train else None,
        fitted if keep_model else None,
    )


def ask(model: Any, X: Any, classes: NDArray[Any] | None, level: float | None = None) -> Said:
    """Everything that a fitted model says of rows; classes as places in ``classes``."""
    predicted = model.predict(X)
    if classes is None:
        has_interval = level is not None and hasattr(model, "predict_interval")
        return Said(
            np.asarray(predicted, np.float64),
            interval=_interval(model, X, level) if has_interval else None,
        )
    codes = places_in(predicted, classes)
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            scores = np.asarray(getattr(model, method)(X), np.float64)
            if scores.ndim == 1:
                scores = np.column_stack([-scores, scores])
            is_probability = method == "predict_proba"
            if scores.shape[1] == len(model.classes_):  # not the pairs of a support vector machine
                return Said(
                    codes,
                    _spread(scores, model.classes_, classes, is_probability),
                    is_probability=is_probability,
                )
    return Said(codes)


def _interval(model: Any, X: Any, level: float | None) -> NDArray[np.float64] | None:
    """Intervals for new observations; None where the model was not fitted to give any."""
    from treewright.errors import TreewrightError

    try:
        return np.asarray(model.predict_interval(X, level), np.float64)
    except (TreewrightError, AttributeError):
        return None


def _spread(
    scores: NDArray[np.float64],
    known: NDArray[Any],
    classes: NDArray[Any],
    is_probability: bool,
) -> NDArray[np.float64]:
    """Scores in the columns of ``classes``; a class that training lacked gets the least."""
    if len(known) == len(classes) and (np.asarray(known) == classes).all():
        return scores
    least = 0.0 if is_probability else scores.min() - 1.0
    wide = np.full((len(scores), len(classes)), least)
    wide[:, places_in(known, classes)] = scores
    return wide


def places_in(labels: Any, classes: NDArray[Any]) -> NDArray[np.int32]:
    """Place of each label among the sorted classes."""
    labels = np.asarray(labels)
    if labels.dtype.kind in "iufb" and classes.dtype.kind in "iufb":
        return np.asarray(np.searchsorted(classes, labels), np.int32)
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.fromiter((place[label] for label in labels.tolist()), np.int32, len(labels))


def check_classes(
    rows: Rows,
    splits: Sequence[Split],
    way_out: str = "pass more rows of the other classes, or other folds",
) -> None:
    """Refuse splits whose training rows are all of one class, and such without rows."""
    if rows.classes is not None and len(rows.classes) == 1:
        raise DataError(
            f"y must have two classes or more, but all {len(rows)} rows are "
            f"{rows.classes.tolist()[0]!r}; pass rows of other classes."
        )
    for k, split in enumerate(splits):
        if not len(split.train) or not len(split.test):
            raise DataError(
                f"Every fold must have rows to train on and rows held out, but fold {k + 1} has "
                f"{len(split.train)} and {len(split.test)}; use fewer folds."
            )
        if rows.codes is not None and (rows.codes[split.train] == rows.codes[split.train[0]]).all():
            assert rows.classes is not None
            label = rows.classes.tolist()[rows.codes[split.train[0]]]
            raise DataError(
                f"Every fold must train on two classes or more, but the {len(split.train)} "
                f"training rows of fold {k + 1} are all {label!r}; {way_out}."
            )


def _in_parallel(
    jobs: list[tuple[Any, ...]], settings: dict[str, Any], n_jobs: int | None
) -> Iterator[Answer]:
    if n_jobs is None or n_jobs == 1:
        return (fit_and_ask(*job, **settings) for job in jobs)
    from joblib import Parallel, delayed

    from treewright.data.table import Table

    # our kernels let other threads run, and a thread needs no copy of the data
    prefer = "threads" if all(isinstance(X, Table) for _, X, *_ in jobs) else "processes"
    calls = (delayed(fit_and_ask)(*job, **settings) for job in jobs)
    answers: Iterator[Answer] = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")(calls)
    return answers


def _followed(answers: Iterator[Answer], n: int, progress: Progress) -> Iterator[Answer]:
    """The same answers, with every one told to ``progress``."""
    if progress is None or progress is False:
        yield from answers
    elif progress is True:
        from rich.console import Console
        from rich.progress import track

        yield from track(answers, "Fitting", n, console=Console(stderr=True), transient=True)
    else:
        for done, answer in enumerate(answers, 1):
            progress(done, n)
            yield answer
