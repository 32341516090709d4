"""Other libraries' random forests, all set to the same thing.

Bootstrap samples, √p features at a node (p/3 for numbers), trees to purity, the threads of the
settings. LightGBM draws 63.2 % of the rows without replacement, and grows best first up to a number
of leaves that is given: the mean of ours, because trees to purity are as large with anyone. It
looks at 255 bins and may make a leaf of one row. It takes seconds for a tree of so many leaves, so
it grows two of them and its time is multiplied.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from speed import PEER, Settings

# LightGBM's threads would wait by spinning otherwise, for minutes where a core is shared.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

N_TREES = 20
GROWN = {"LightGBM": 2}
"""Peers that grow fewer trees."""
RANGER = Path(__file__).with_name("ranger.R")

Fit = Callable[[np.ndarray, np.ndarray], Any]


@dataclass(frozen=True)
class Task:
    """What is grown; ``leaves`` are those of a tree of ours, where they are known."""

    settings: Settings
    numbers: bool = False
    leaves: int = 0

    def of(self, module: Any) -> Any:
        """The forest of a library with scikit-learn's interface, with our settings."""
        kind = "RandomForestRegressor" if self.numbers else "RandomForestClassifier"
        drawn = 1 / 3 if self.numbers else "sqrt"
        return getattr(module, kind)(
            N_TREES, max_features=drawn, n_jobs=self.settings.n_jobs, random_state=0
        )


def seeded(forest: Any) -> Fit:
    """Fits a new forest with another seed every time: seeds differ more than libraries do."""
    seeds = count()
    return lambda X, y: clone(forest).set_params(random_state=next(seeds)).fit(X, y)


def _scikit(module: str) -> Callable[[Task], Fit]:
    return lambda task: seeded(task.of(importlib.import_module(module)))


def _lightgbm(task: Task) -> Fit:
    lightgbm = importlib.import_module("lightgbm")

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        p = X.shape[1]
        model = (lightgbm.LGBMRegressor if task.numbers else lightgbm.LGBMClassifier)(
            boosting_type="rf",
            n_estimators=GROWN["LightGBM"],
            num_leaves=max(2, min(task.leaves or len(X) // 2, 2**17 - 1)),
            min_child_samples=1,
            min_child_weight=0.0,
            subsample=0.632,
            subsample_freq=1,
            feature_fraction_bynode=1 / 3 if task.numbers else np.sqrt(p) / p,
            max_bin=255,
            histogram_pool_size=1024,  # MiB; it would keep bins of every leaf otherwise
            n_jobs=task.settings.n_jobs,
            random_state=0,
            verbose=-1,
        )
        return model.fit(X, y)

    return fit


def _ydf(task: Task) -> Fit:
    ydf = importlib.import_module("ydf")
    learner = ydf.RandomForestLearner(
        label="y",
        task=ydf.Task.REGRESSION if task.numbers else ydf.Task.CLASSIFICATION,
        num_trees=N_TREES,
        num_threads=task.settings.n_jobs,
        max_depth=-1,
        min_examples=1,
        winner_take_all=False,
        compute_oob_performances=False,
    )

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        return learner.train({**columns(X), "y": y}, verbose=0)

    return fit


def columns(X: np.ndarray) -> dict[str, np.ndarray]:
    """Rows as YDF takes them."""
    return {f"x{i}": X[:, i] for i in range(X.shape[1])}


PEERS: dict[str, tuple[str, str, Callable[[Task], Fit]]] = {
    PEER: ("scikit-learn", "sklearn", _scikit("sklearn.ensemble")),
    "intelex": ("scikit-learn-intelex", "sklearnex", _scikit("sklearnex.ensemble")),
    "YDF": ("ydf", "ydf", _ydf),
    "LightGBM": ("lightgbm", "lightgbm", _lightgbm),
}


def installed(name: str) -> str | None:
    """The version of a peer, or None."""
    package, module, _ = PEERS[name]
    try:
        return version(package) if importlib.util.find_spec(module) else None
    except PackageNotFoundError:
        return None


def ranger(X: np.ndarray, y: np.ndarray, task: Task, rounds: int) -> list[float] | None:
    """Seconds of ranger's fits, or None where it is not installed."""
    if shutil.which("Rscript") is None:
        return None
    has = subprocess.run(
        ["Rscript", "-e", 'quit(status = !requireNamespace("ranger", quietly = TRUE))'],
        check=False,
        capture_output=True,
    )
    if has.returncode:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.bin"
        np.column_stack([X, y]).astype("<f8").T.tofile(path)
        shape = [str(len(y)), str(X.shape[1] + 1)]
        counts = [str(N_TREES), str(task.settings.n_jobs), str(rounds)]
        kind = "numbers" if task.numbers else "classes"
        command = ["Rscript", str(RANGER), str(path), *shape, *counts, kind]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return [float(word) for word in done.stdout.split()]
