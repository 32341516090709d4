"""Mixed columns with gaps beside rpart, with rpart's settings on both sides.

R reads its table before the clock starts, factors included, as our frame and target have their
categories before; both times hold the call that a user makes, on the whole table:
``rpart(target ~ ., data)`` and ``fit(frame, target)``.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import data
import numpy as np
from machine import rpart_version
from results import Result, Skipped, count, faster, not_worse
from speed import Settings
from timing import take_turns

from treewright import CARTClassifier

SCRIPT = Path(__file__).with_name("rpart.R")
PEER = "rpart"
LEAST = 10.0
FITS = 5
"""Fits of either side in a round; the first of them finds cold caches."""


def adult(settings: Settings) -> Iterator[Result | Skipped]:
    """Adult: 32 561 people, 14 columns of which 8 nominal, gaps in 3."""
    found = data.adult()
    if found is None:
        yield Skipped("adult", "the data are not beside the checkout (../shared/data).")
        return
    if rpart_version() is None:
        yield Skipped("adult", "Rscript or its package rpart is not installed.")
        return
    frame, target = found
    frame, target = frame.iloc[:: settings.shrink], target.iloc[:: settings.shrink]
    half = np.random.default_rng(0).permutation(len(target)) % 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adult.csv"
        frame.assign(**{".target": target, ".half": half}).to_csv(path, index=False)
        for cp in (0.01, 0.0001):
            yield from _compare(frame, target, half, path, cp, settings)


def _compare(
    X: Any, y: Any, half: np.ndarray, path: Path, cp: float, settings: Settings
) -> Iterator[Result]:
    model = CARTClassifier(
        criterion="gini",
        min_samples_split=20,
        min_samples_leaf=7,
        max_depth=30,
        cp=cp,
        missing="surrogate",
        max_surrogates=5,
        pruning_risk="error",
        n_jobs=settings.n_jobs,
    )
    model.fit(X.iloc[:200], y.iloc[:200])  # whatever is loaded on first use
    times: dict[str, list[float]] = {"treewright": [], PEER: []}
    for _ in range(settings.repeats):
        times["treewright"] += take_turns({"us": lambda: model.fit(X, y)}, FITS)["us"]
        accuracy, leaves, seconds = _rpart(path, cp)
        times[PEER].append(seconds)
    leaf_counts = f"{model.get_n_leaves()} and {leaves} leaves"
    what = f"fit, adult, {count(len(y))} × {X.shape[1]} mixed, cp={cp:g} ({leaf_counts})"
    yield faster("adult", what, PEER, times, LEAST)
    test = half == 1
    model.fit(X[~test], y[~test])
    ours = float(np.mean(model.predict(X[test]) == y[test].to_numpy()))
    error = float(np.sqrt(ours * (1 - ours) / test.sum()))
    yield not_worse(
        "adult",
        "test accuracy of the same, fitted on half of the rows",
        PEER,
        ours,
        accuracy,
        error,
    )


def _rpart(path: Path, cp: float) -> tuple[float, int, float]:
    """Accuracy, leaves and the seconds of the fastest fit of a process."""
    command = ["Rscript", str(SCRIPT), str(path), str(cp), str(FITS)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8")
    accuracy, leaves, *seconds = done.stdout.split()
    return float(accuracy), int(leaves), min(map(float, seconds))
