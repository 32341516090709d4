"""Gradient boosting beside LightGBM, XGBoost, CatBoost, HistGradientBoosting and YDF: speed.

All grow the same number of rounds with the same leaves (or depth), bins and learning rate, on the
same threads, without early stopping. A peer that is not installed is skipped and named. How good
boosters are at their defaults: boosting_quality.py.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from functools import partial
from typing import Any

import data
import numpy as np
from results import Result, Skipped, at_most, count, faster
from sklearn.ensemble import HistGradientBoostingClassifier
from speed import Settings
from timing import seconds, take_turns

import treewright

ROUNDS, LEAVES, RATE, BINS = 100, 31, 0.1, 255


def ours(settings: Settings, **parameters: Any) -> Any:
    """Ours with the common setting."""
    common = {"n_estimators": ROUNDS, "learning_rate": RATE, "max_bins": BINS}
    return treewright.GradientBoostingClassifier(
        **{**common, "max_leaf_nodes": LEAVES, "early_stopping": False, **parameters},
        n_jobs=settings.n_jobs,
    )


def peers(settings: Settings) -> dict[str, Any]:
    """The others with the same setting, those that are installed."""
    found: dict[str, Any] = {
        "HistGradientBoosting": HistGradientBoostingClassifier(
            max_iter=ROUNDS, learning_rate=RATE, max_leaf_nodes=LEAVES, early_stopping=False
        )
    }
    try:
        import lightgbm

        found["LightGBM"] = lightgbm.LGBMClassifier(
            n_estimators=ROUNDS,
            learning_rate=RATE,
            num_leaves=LEAVES,
            n_jobs=settings.n_jobs,
            verbose=-1,
        )
    except ImportError:
        pass
    try:
        import xgboost

        found["XGBoost"] = xgboost.XGBClassifier(
            n_estimators=ROUNDS,
            learning_rate=RATE,
            max_leaves=LEAVES,
            max_depth=0,
            grow_policy="lossguide",
            tree_method="hist",
            enable_categorical=True,
            max_bin=BINS + 1,
            n_jobs=settings.n_jobs,
        )
    except ImportError:
        pass
    return found


def loss(model: Any, X: Any, y: Any) -> float:
    """Mean log-loss."""
    share = np.clip(model.predict_proba(X)[np.arange(len(y)), y], 1e-15, 1)
    return float(-np.mean(np.log(share)))


def grow(settings: Settings) -> Iterator[Result | Skipped]:
    """1 000 000 × 28 floats, two classes; and what the models are worth on new rows."""
    rows = 1_000_000 // settings.shrink
    X, y = data.classes(rows + rows // 4)
    yield from _side_by_side("boosting", X, y, rows, settings, 2.0)


def small(settings: Settings) -> Iterator[Result | Skipped]:
    """1 000 rows."""
    X, y = data.classes(2000)
    yield from _side_by_side("boosting_small", X, y, 1000, settings, 3.0)


def _side_by_side(
    case: str, X: Any, y: Any, rows: int, settings: Settings, least: float
) -> Iterator[Result | Skipped]:
    others = peers(settings)
    for name in ("LightGBM", "XGBoost"):
        if name not in others:
            yield Skipped(case, f"{name} is not installed")
    models = {"treewright": ours(settings), **others}
    calls = {n: partial(m.fit, X[:rows], y[:rows]) for n, m in models.items()}
    times = take_turns(calls, settings.repeats)
    fastest = min(others, key=lambda n: min(times[n]))
    what = f"fit, {count(rows)} × {X.shape[1]}, {ROUNDS} rounds of {LEAVES} leaves"
    for name in others:
        yield faster(case, what, name, times, least if name == fastest else None)
    mine, theirs = loss(models["treewright"], X[rows:], y[rows:]), {}
    for name in others:
        theirs[name] = loss(models[name], X[rows:], y[rows:])
    best = min(theirs.values())
    yield at_most(
        case,
        "test log-loss beside the best of them",
        f"{mine:.5f}",
        f"{best:.5f}",
        mine / best,
        1.001,
        losses=theirs,
    )


def adult(settings: Settings) -> Iterator[Result | Skipped]:
    """The adult data with its categories, and LetterRecognition with 26 classes."""
    for case, name in (("boosting_adult", "adult"), ("boosting_letter", "letter")):
        found = data.shared(name)
        others = peers(settings)
        if found is None or "LightGBM" not in others:
            yield Skipped(case, f"needs the shared data {name} and LightGBM")
            continue
        X, y = found
        y = np.unique(y, return_inverse=True)[1]
        models = {"treewright": ours(settings), "LightGBM": others["LightGBM"]}
        calls = {n: partial(m.fit, X, y) for n, m in models.items()}
        times = take_turns(calls, settings.repeats)
        yield faster(case, f"fit, {name}, {count(len(y))} rows", "LightGBM", times, 1.5)


def predict(settings: Settings) -> Iterator[Result | Skipped]:
    """Prediction of a million rows, and of one."""
    rows = 1_000_000 // settings.shrink
    X, y = data.classes(rows)
    some = min(rows, 50_000)
    others = peers(settings)
    models = {"treewright": ours(settings), **others}
    for model in models.values():
        model.fit(X[:some], y[:some])
    for name, n, least in (("rows", rows, 4.0), ("one row", 1, 5.0)):
        calls = {k: partial(m.predict_proba, X[:n]) for k, m in models.items()}
        times = take_turns(calls, settings.repeats)
        for peer in others:
            bound = least if peer == "LightGBM" else 2.0 if peer == "XGBoost" and n > 1 else None
            yield faster("boosting_predict", f"predict, {name}: {count(n)}", peer, times, bound)


def _spin(stop: Any) -> None:
    while not stop.is_set():
        for _ in range(10_000):
            pass


def busy(settings: Settings) -> Iterator[Result | Skipped]:
    """A fit beside as many spinning processes as there are cores, against the same alone."""
    rows = 200_000 // settings.shrink
    X, y = data.classes(rows)
    models = {"treewright": ours(settings)}
    models |= {n: m for n, m in peers(settings).items() if n == "LightGBM"}
    quiet = {n: min(seconds(partial(m.fit, X, y)) for _ in range(2)) for n, m in models.items()}
    stop = multiprocessing.get_context("spawn").Event()
    spinning = [
        multiprocessing.get_context("spawn").Process(target=_spin, args=(stop,), daemon=True)
        for _ in range(multiprocessing.cpu_count())
    ]
    for process in spinning:
        process.start()
    try:
        loud = {n: seconds(partial(m.fit, X, y)) for n, m in models.items()}
    finally:
        stop.set()
        for process in spinning:
            process.join()
    for name in models:
        yield at_most(
            "boosting_busy",
            f"fit of {name} on a busy machine, beside alone",
            f"{loud[name]:.2f} s",
            f"{quiet[name]:.2f} s",
            loud[name] / quiet[name],
            3.0,
            "×",
        )
