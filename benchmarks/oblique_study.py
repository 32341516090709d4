"""Forests of sparse random projections beside YDF's sparse oblique forests.

    python benchmarks/oblique_study.py ../shared
    python benchmarks/oblique_study.py ../shared --threads 1 --only iris wdbc

Five shared data sets of numbers, the recorded ten folds, 100 trees of either side; accuracy over
all rows held out, with the standard error of the difference per row, and the seconds of all fits
and predictions, in turns: by the clock, and of the processor.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.oracle.recorded import load_data  # noqa: E402
from treewright import ObliqueTreeClassifier, RandomForestClassifier  # noqa: E402

DATASETS = ["glass", "heart_statlog", "ionosphere", "iris", "wdbc"]
N_TREES = 100


def ours(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, threads: int) -> np.ndarray:
    """Codes of the classes that our forest predicts."""
    base = ObliqueTreeClassifier(method="random")
    model = RandomForestClassifier(N_TREES, base=base, random_state=0, n_jobs=threads)
    return np.asarray(model.fit(X, y).predict(X_test))


def theirs(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, threads: int) -> np.ndarray:
    """The same of YDF's."""
    import ydf

    learner = ydf.RandomForestLearner(
        label="y",
        num_trees=N_TREES,
        split_axis="SPARSE_OBLIQUE",
        compute_oob_performances=False,
        winner_take_all=False,
        num_threads=threads,
    )
    model = learner.train(_columns(X) | {"y": y.astype(str)}, verbose=0)
    answer: Any = model.predict(_columns(X_test))
    classes = np.array(model.label_classes()).astype(int)
    if answer.ndim == 1:  # two classes: the probability of the second
        return classes[(answer > 0.5).astype(int)]
    return classes[answer.argmax(axis=1)]


def _columns(X: np.ndarray) -> dict[str, np.ndarray]:
    return {f"x{k}": column for k, column in enumerate(X.T)}


def main() -> None:
    """Print the table, a row for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shared", type=Path, help="folder with the shared data")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="*", choices=DATASETS, default=DATASETS)
    given = parser.parse_args()
    print(
        "| data set | accuracy, treewright | YDF | difference ± s.e. | seconds, treewright | YDF "
        "| of the processor, treewright | YDF |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in given.only:
        frame, target, fold = load_data(given.shared, name)
        X, y = frame.to_numpy(float), np.unique(target.astype(str), return_inverse=True)[1]
        is_right = np.zeros((2, len(y)))
        took, worked = np.zeros(2), np.zeros(2)
        for k in np.unique(fold):
            train, test = fold != k, fold == k
            for side, fit in enumerate((ours, theirs)):
                start = time.perf_counter(), time.process_time()
                is_right[side, test] = fit(X[train], y[train], X[test], given.threads) == y[test]
                took[side] += time.perf_counter() - start[0]
                worked[side] += time.process_time() - start[1]
        gap = is_right[0] - is_right[1]
        print(
            f"| {name} | {is_right[0].mean():.4f} | {is_right[1].mean():.4f} | {gap.mean():+.4f} ± "
            f"{gap.std() / np.sqrt(len(gap)):.4f} | {took[0]:.1f} | {took[1]:.1f} | "
            f"{worked[0]:.1f} | {worked[1]:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
