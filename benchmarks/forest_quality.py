"""What forests predict beside scikit-learn's, both at their defaults.

Half of the rows are learned from and half tested on, another half, order of columns and seed each
round; what is compared is the mean difference over the rounds with its standard error. Categories
and gaps go to ours as they are, to scikit-learn's as one-hot columns. ``python
benchmarks/forest_quality.py`` prints the table of docs/comparisons/forests.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import data
import numpy as np
from results import Result, Skipped, not_worse
from sklearn import ensemble
from speed import PEER, Settings

import treewright

ROUNDS = 5
LEAST_PROBABILITY = 1e-3
"""A forest says 0 of some classes; a row of such a class must not decide alone."""


def _shared(name: str, hot: bool = False) -> Callable[[], tuple[Any, np.ndarray] | None]:
    def load() -> tuple[Any, np.ndarray] | None:
        found = data.shared(name)
        if found is None or not hot:
            return found
        return one_hot(found[0]), found[1]

    return load


SETS: dict[str, Callable[[], tuple[Any, np.ndarray] | None]] = {
    "adult": _shared("adult"),
    "adult, one-hot for both": _shared("adult", hot=True),
    "bank_marketing": _shared("bank_marketing"),
    "credit_g": _shared("credit_g"),
    "letter": _shared("letter"),
    "satellite": _shared("satellite"),
    "spambase": _shared("spambase"),
    "splice": _shared("splice"),
    "floats (synthetic)": lambda: data.classes(40_000),
    "covertype-like (synthetic)": lambda: data.cover(40_000),
    "cal_housing": _shared("cal_housing"),
    "abalone": _shared("abalone"),
    "numbers (synthetic)": lambda: data.numbers(20_000),
}
LEARNERS = {
    "RandomForest": ("RandomForestClassifier", "RandomForestRegressor"),
    "ExtraTrees": ("ExtraTreesClassifier", "ExtraTreesRegressor"),
}


@dataclass(frozen=True)
class Compared:
    """Scores of both sides, larger is better: one entry per round."""

    ours: np.ndarray
    theirs: np.ndarray

    @property
    def gap(self) -> float:
        """Ours less theirs."""
        return float(np.mean(self.ours - self.theirs))

    @property
    def error(self) -> float:
        """Standard error of the gap."""
        return float(np.std(self.ours - self.theirs, ddof=1) / np.sqrt(len(self.ours)))


def one_hot(X: Any) -> Any:
    """Numbers for scikit-learn's forests."""
    if isinstance(X, np.ndarray):
        return X
    import pandas as pd

    return pd.get_dummies(X, dtype=np.float32).to_numpy(np.float32)


def scores(model: Any, X: Any, y: np.ndarray) -> dict[str, float]:
    """Accuracy and minus the log-loss, or R²."""
    if not hasattr(model, "classes_"):
        return {"R²": float(1 - np.mean((model.predict(X) - y) ** 2) / np.var(y))}
    p = model.predict_proba(X)
    truth = np.searchsorted(model.classes_, y)
    said = np.clip(p[np.arange(len(y)), truth], LEAST_PROBABILITY, None)
    return {
        "accuracy": float(np.mean(p.argmax(axis=1) == truth)),
        "− log-loss": float(np.mean(np.log(said))),
    }


def compare(
    X: Any, y: np.ndarray, learner: str, rounds: int, n_jobs: int | None
) -> dict[str, Compared]:
    """Both sides in every round."""
    name = LEARNERS[learner][y.dtype.kind == "f"]
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(rounds):
        random = np.random.default_rng(seed)
        order = random.permutation(len(y))
        train, test = np.sort(order[::2]), np.sort(order[1::2])
        moved = _columns(X, random.permutation(X.shape[1]))
        pair = []
        for library, rows in ((treewright, moved), (ensemble, one_hot(moved))):
            model = getattr(library, name)(random_state=seed, n_jobs=n_jobs)
            model.fit(_rows(rows, train), y[train])
            pair.append(scores(model, _rows(rows, test), y[test]))
        for measure in pair[0]:
            found.setdefault(measure, []).append((pair[0][measure], pair[1][measure]))
    return {m: Compared(*np.array(v).T) for m, v in found.items()}


def _rows(X: Any, at: np.ndarray) -> Any:
    return X[at] if isinstance(X, np.ndarray) else X.iloc[at]


def _columns(X: Any, at: np.ndarray) -> Any:
    return np.ascontiguousarray(X[:, at]) if isinstance(X, np.ndarray) else X.iloc[:, at]


def quality(settings: Settings) -> Iterator[Result | Skipped]:
    """Random forests at their defaults, real and made data."""
    for name, load in SETS.items():
        found = load()
        if found is None:
            yield Skipped("forest_quality", f"{name} is not beside the checkout (../shared/data).")
            continue
        X, y = found
        if settings.shrink > 1:
            X, y = X[: 40_000 // settings.shrink], y[: 40_000 // settings.shrink]
        for measure, c in compare(X, y, "RandomForest", ROUNDS, settings.n_jobs).items():
            what = f"{measure} on {name}, mean of {ROUNDS} seeds, defaults"
            means = float(c.ours.mean()), float(c.theirs.mean())
            yield not_worse("forest_quality", what, PEER, *means, c.error)


def main(learner: str = "RandomForest", only: str = "", rounds: str = "") -> None:
    """Print the table."""
    print("| data set | rows, features | measure | ours | scikit-learn | difference | in se |")
    print("|---" * 7 + "|")
    for name, load in SETS.items():
        found = load() if only in name else None
        if found is None:
            continue
        X, y = found
        n = int(rounds or (ROUNDS if len(y) > 10_000 else 4 * ROUNDS))
        for measure, c in compare(X, y, learner, n, 2).items():
            print(
                f"| {name} | {len(y) // 2}, {X.shape[1]} | {measure} | {c.ours.mean():.4f} "
                f"| {c.theirs.mean():.4f} | {c.gap:+.4f} ± {c.error:.4f} "
                f"| {c.gap / c.error:+.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
