"""How often a test finds a difference between two learners that are equally good.

Each simulated data set has two groups of columns with the same distribution, given the class; one
learner sees the first group, the other the second. Neither can be better than the other, but by
chance: a test at the 5 % level should call them different in 5 % of the data sets.

    python docs/scripts/type_one_error.py [data sets] [folder of the figure] [processes]

prints a table and writes type-one-error.json and type-one-error.svg.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin

from treewright import accuracy_interval, compare
from treewright.evaluation._tests import corrected_t, five_by_two_f, five_by_two_t, paired_t

N_ROWS, N_COLUMNS, SHIFT = 200, 4, 0.5
LEVEL = 0.05


class Half(ClassifierMixin, BaseEstimator):
    """The nearer class mean over the first or the second half of the columns; quick to fit."""

    def __init__(self, second: bool = False) -> None:
        self.second = second

    def _columns(self, X: np.ndarray) -> np.ndarray:
        half = X.shape[1] // 2
        return X[:, half:] if self.second else X[:, :half]

    def fit(self, X: np.ndarray, y: np.ndarray) -> Half:
        rows = self._columns(X)
        self.classes_ = np.array([0, 1])
        low, high = rows[y == 0].mean(axis=0), rows[y == 1].mean(axis=0)
        self.direction_ = high - low
        self.middle_ = self.direction_ @ (high + low) / 2
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (self._columns(X) @ self.direction_ > self.middle_).astype(int)


def simulate(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes whose columns are shifted by the class, all alike."""
    rng = np.random.default_rng(seed)
    y = np.arange(N_ROWS) % 2
    return rng.normal(size=(N_ROWS, 2 * N_COLUMNS)) + SHIFT * y[:, None], y


def p_values(seed: int) -> dict[str, float]:
    """What every test says of one data set."""
    X, y = simulate(seed)
    models = {"first": Half(), "second": Half(second=True)}
    found = compare(models, X, y, random_state=seed)  # the default: 10 × 10 folds, corrected t
    d = found.scores[0][0] - found.scores[0][1]
    assert np.isclose(corrected_t(d, 20 / 180).p_value, found.pairs[0].p_value)
    halves = compare(models, X, y, test="5x2cv", random_state=seed)
    five = (halves.scores[0][0] - halves.scores[0][1]).reshape(5, 2)
    return {
        "corrected t, 10 × 10 folds (default)": found.pairs[0].p_value,
        "corrected t, 1 × 10 folds": corrected_t(d[:10], 20 / 180).p_value,
        "5 × 2 cv t": five_by_two_t(five).p_value,
        "5 × 2 cv F": five_by_two_f(five).p_value,
        "paired t, 1 × 10 folds": paired_t(d[:10]).p_value,
        "paired t, 10 × 10 folds": paired_t(d).p_value,
    }


def draw(rows: list[dict[str, float]], path: Path) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    ax = plt.subplots(figsize=(5.6, 3), layout="constrained")[1]
    ax.axvspan(0.02, 0.07, color="#8794a3", alpha=0.3, lw=0, label="2 % to 7 %")
    ax.axvline(LEVEL, color="#808080", lw=0.8, ls="--", label="the level, 5 %")
    for k, row in enumerate(rows):
        ax.plot([row["low"], row["high"]], [k, k], color="#3b6ea5", lw=2)
        ax.plot(row["rate"], k, "o", color="#3b6ea5")
    ax.set_yticks(range(len(rows)), [row["test"] for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0, None)
    ax.set_xlabel("share of data sets where equal\nlearners are called different")
    ax.legend(loc="center right")
    mpl.rcParams["svg.hashsalt"] = "treewright"
    ax.figure.savefig(path, metadata={"Date": None})


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parents[1] / "img"
    n_jobs = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    found = Parallel(n_jobs=n_jobs, verbose=1)(delayed(p_values)(seed) for seed in range(n))
    rows = []
    for test in found[0]:
        wrong = sum(one[test] < LEVEL for one in found)
        low, high = accuracy_interval(wrong, n)
        rows.append({"test": test, "rate": wrong / n, "low": low, "high": high})
        print(f"{test:40s} {wrong / n:6.1%}  ({low:.1%} to {high:.1%})")
    (folder / "type-one-error.json").write_text(
        json.dumps({"data_sets": n, "rows": N_ROWS, "tests": rows}, indent=2) + "\n"
    )
    draw(rows, folder / "type-one-error.svg")


if __name__ == "__main__":
    main()
