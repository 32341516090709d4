"""Speed and accuracy beside scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import data
import numpy as np
from results import Result, at_most, count, duration, faster, not_worse
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from timing import take_turns

from treewright import CARTClassifier, CARTRegressor

PEER = "scikit-learn"
TASKS: dict[str, tuple[Callable[..., Any], type, type]] = {
    "classes": (data.classes, CARTClassifier, DecisionTreeClassifier),
    "numbers": (data.numbers, CARTRegressor, DecisionTreeRegressor),
}


@dataclass(frozen=True)
class Settings:
    """How large and how often; ``shrink`` divides the number of rows."""

    repeats: int = 3
    n_jobs: int = 2
    shrink: int = 1


def _halves(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    middle = len(y) // 2
    return X[:middle], y[:middle], X[middle:], y[middle:]


def fit_case(
    case: str, task: str, n: int, p: int, depth: int | None, least: float
) -> Callable[[Settings], Iterator[Result]]:
    """Fit on one half of the data, test on the other."""
    make, ours, theirs = TASKS[task]

    def run(settings: Settings) -> Iterator[Result]:
        rows = n // settings.shrink
        X, y, X_test, y_test = _halves(*make(2 * rows, p))
        models = {
            "treewright": ours(max_depth=depth, n_jobs=settings.n_jobs),
            "one thread": ours(max_depth=depth),
            PEER: theirs(max_depth=depth, random_state=0),
        }
        for model in models.values():
            model.fit(X[:200], y[:200])  # whatever is loaded on first use
        calls = {name: _fitting(model, X, y) for name, model in models.items()}
        times = take_turns(calls, settings.repeats)
        size = "full tree" if depth is None else f"depth {depth}"
        kind = "classification" if task == "classes" else "regression"
        what = f"fit, {kind}, {count(rows)} × {p}, {size}"
        yield faster(case, f"{what}, {settings.n_jobs} threads", PEER, times, least)
        single = {"treewright": times["one thread"], PEER: times[PEER]}
        yield faster(case, f"{what}, one thread", PEER, single, None)
        yield _scores(case, what, models["treewright"], models[PEER], X_test, y_test)

    return run


def _fitting(model: Any, X: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    return lambda: model.fit(X, y)


def _scores(case: str, what: str, ours: Any, theirs: Any, X: np.ndarray, y: np.ndarray) -> Result:
    """Accuracy, or one less the share of unexplained variance, on rows not seen in training."""
    loss = np.not_equal if y.dtype.kind == "i" else lambda a, b: (a - b) ** 2 / y.var()
    ours_at, theirs_at = (loss(model.predict(X), y).astype(float) for model in (ours, theirs))
    error = float((ours_at - theirs_at).std() / np.sqrt(len(y)))  # of the paired difference
    name = "accuracy" if y.dtype.kind == "i" else "R²"
    label = f"test {name} of the same"
    return not_worse(case, label, PEER, 1 - ours_at.mean(), 1 - theirs_at.mean(), error)


def iris(settings: Settings) -> Iterator[Result]:
    """The smallest things: a fit on 150 rows, a prediction of one."""
    X, y = load_iris(return_X_y=True)
    ours, theirs = CARTClassifier(), DecisionTreeClassifier(random_state=0)
    fits = {"treewright": lambda: ours.fit(X, y), PEER: lambda: theirs.fit(X, y)}
    yield _share("iris", "fit, iris", take_turns(fits, 5 * settings.repeats), 1.0)
    row = X[100:101]
    calls = {"treewright": lambda: ours.predict(row), PEER: lambda: theirs.predict(row)}
    yield _share("iris", "predict, one row", take_turns(calls, 5 * settings.repeats), 1 / 3)


def _share(case: str, what: str, times: dict[str, list[float]], most: float) -> Result:
    """Our time as a share of the peer's."""
    ours, theirs = min(times["treewright"]), min(times[PEER])
    shown = f"{PEER} {duration(theirs)}"
    return at_most(
        case,
        what,
        duration(ours),
        shown,
        ours / theirs,
        round(most, 3),
        "× its time",
        seconds=times,
    )


def predict(settings: Settings) -> Iterator[Result]:
    """Probabilities of a million rows from trees grown on 200 000."""
    X, y = data.classes(200_000 // settings.shrink)
    big = data.features(np.random.default_rng(1), 1_000_000 // settings.shrink, X.shape[1])
    for depth, least in ((None, 3.0), (8, None)):
        ours = CARTClassifier(max_depth=depth, n_jobs=settings.n_jobs).fit(X, y)
        theirs = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
        calls = {"treewright": _predicting(ours, big), PEER: _predicting(theirs, big)}
        size = "full tree" if depth is None else f"depth {depth}"
        what = f"predict_proba, {count(len(big))} rows, {size}"
        yield faster("predict", what, PEER, take_turns(calls, settings.repeats), least)


def _predicting(model: Any, X: np.ndarray) -> Callable[[], Any]:
    return lambda: model.predict_proba(X)


def scaling(settings: Settings) -> Iterator[Result]:
    """The exponent of the time of a full fit in the number of rows."""
    sizes = [n // settings.shrink for n in (50_000, 100_000, 200_000, 400_000, 800_000)]
    X, y = data.classes(sizes[-1])
    model = CARTClassifier(n_jobs=settings.n_jobs)
    calls = {str(n): _fitting(model, X[:n], y[:n]) for n in sizes}
    times = take_turns(calls, settings.repeats)
    best = [min(times[str(n)]) for n in sizes]
    exponent = float(np.polyfit(np.log(sizes), np.log(best), 1)[0])
    ends = f"{duration(best[0])} … {duration(best[-1])}"
    what = f"growth of fit from {count(sizes[0])} to {count(sizes[-1])} rows"
    yield at_most("scaling", what, ends, "", exponent, 1.15, seconds=times)
