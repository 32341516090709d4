"""Gradient boosting beside LightGBM, XGBoost, CatBoost, HistGradientBoosting and YDF: speed.

All grow the same number of rounds with the same leaves (or depth), bins and learning rate, on the
same threads, without early stopping. A peer that is not installed is skipped and named. Answers of
fitted models: boosting_answers.py; how good boosters are at their defaults: boosting_quality.py.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import data
import numpy as np
from results import Result, Skipped, at_most, count, faster
from sklearn.ensemble import HistGradientBoostingClassifier
from speed import Settings
from threadpoolctl import threadpool_limits
from timing import take_turns

import treewright

ROUNDS, LEAVES, RATE, BINS = 100, 31, 0.1, 255


def ours(settings: Settings, **parameters: Any) -> Any:
    """Ours with the common setting, and LightGBM's defaults for what is not common to all."""
    common: dict[str, Any] = {
        "n_estimators": ROUNDS,
        "learning_rate": RATE,
        "max_bins": BINS,
        "max_leaf_nodes": LEAVES,
        "max_features": 1.0,
        "l2_regularization": 0.0,
        "min_samples_leaf": 20,
        "early_stopping": False,
    }
    return treewright.GradientBoostingClassifier(**{**common, **parameters}, n_jobs=settings.n_jobs)


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
            reg_lambda=0.0,  # as the others here; it knows no least number of rows in a leaf
            min_child_weight=1e-3,
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
    with threadpool_limits(settings.n_jobs):  # HistGradientBoosting has no parameter for it
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


def symmetric(settings: Settings) -> Iterator[Result | Skipped]:
    """1 000 000 × 28 floats, symmetric trees of depth 6, beside CatBoost."""
    try:
        from catboost import CatBoostClassifier
    except ImportError:
        yield Skipped("boosting_symmetric", "CatBoost is not installed")
        return
    rows = 1_000_000 // settings.shrink
    X, y = data.classes(rows + rows // 4)
    models = {
        "treewright": ours(
            settings, growth="symmetric", max_depth=6, max_leaf_nodes=64, l2_regularization=3.0
        ),
        "CatBoost": CatBoostClassifier(
            iterations=ROUNDS,
            learning_rate=RATE,
            depth=6,
            border_count=BINS - 1,
            bootstrap_type="No",
            random_strength=0,
            leaf_estimation_method="Newton",  # one step, as ours; its default takes ten
            leaf_estimation_iterations=1,
            score_function="L2",
            thread_count=settings.n_jobs,
            verbose=0,
            allow_writing_files=False,
        ),
    }
    what = f"fit, symmetric trees, {count(rows)} × 28, {ROUNDS} rounds of depth 6"
    yield from _with_loss("boosting_symmetric", what, models, X, y, rows, settings, 2.0)


def ydf(settings: Settings) -> Iterator[Result | Skipped]:
    """200 000 × 28 floats beside YDF, with its histograms."""
    try:
        import ydf as peer
    except ImportError:
        yield Skipped("boosting_ydf", "YDF is not installed")
        return
    peer.verbose(0)
    rows = 200_000 // settings.shrink
    X, y = data.classes(rows)
    columns = {f"x{k}": X[:, k] for k in range(X.shape[1])} | {"y": y}
    learner = peer.GradientBoostedTreesLearner(
        label="y",
        num_trees=ROUNDS,
        shrinkage=RATE,
        growing_strategy="BEST_FIRST_GLOBAL",
        max_num_nodes=LEAVES,
        max_depth=-1,
        early_stopping="NONE",
        validation_ratio=0.0,
        discretize_numerical_columns=True,
        num_discretized_numerical_bins=BINS,
        num_threads=settings.n_jobs,
    )
    calls = {
        "treewright": partial(ours(settings).fit, X, y),
        "YDF": partial(learner.train, columns),
    }
    times = take_turns(calls, settings.repeats)
    what = f"fit, {count(rows)} × 28, {ROUNDS} rounds of {LEAVES} leaves"
    yield faster("boosting_ydf", what, "YDF", times, 10.0)


def shared(name: str) -> Any:
    """A shared data set: adult with its categories, or LetterRecognition with 26 classes."""
    case = f"boosting_{name}"

    def run(settings: Settings) -> Iterator[Result | Skipped]:
        found = data.shared(name)
        others = peers(settings)
        if found is None or "LightGBM" not in others:
            yield Skipped(case, f"needs the shared data {name} and LightGBM")
            return
        X, y = found
        codes = np.unique(y, return_inverse=True)[1]
        order = np.random.default_rng(0).permutation(len(codes))
        X, codes = X.iloc[order].reset_index(drop=True), codes[order]
        models = {"treewright": ours(settings), "LightGBM": others["LightGBM"]}
        rows = len(codes) * 4 // 5
        what = f"fit, {name}, {count(rows)} rows, {ROUNDS} rounds"
        yield from _with_loss(case, what, models, X, codes, rows, settings, 1.5)

    return run


def _with_loss(
    case: str,
    what: str,
    models: dict[str, Any],
    X: Any,
    y: Any,
    rows: int,
    settings: Settings,
    least: float,
) -> Iterator[Result]:
    """Ours beside one peer: times, and the loss of the other rows."""
    calls = {n: partial(m.fit, X[:rows], y[:rows]) for n, m in models.items()}
    times = take_turns(calls, settings.repeats)
    peer = next(name for name in models if name != "treewright")
    yield faster(case, what, peer, times, least)
    mine, theirs = (loss(models[n], X[rows:], y[rows:]) for n in ("treewright", peer))
    label = "test log-loss of the same"
    yield at_most(case, label, f"{mine:.5f}", f"{peer} {theirs:.5f}", mine / theirs, 1.001)


def sparse(settings: Settings) -> Iterator[Result | Skipped]:
    """One hundred features of a hundred categories each, one-hot: 100 000 × 10 000."""
    from scipy.sparse import csr_matrix

    others = peers(settings)
    if "LightGBM" not in others:
        yield Skipped("boosting_sparse", "LightGBM is not installed")
        return
    rows, n, each = 100_000 // settings.shrink, 100, 100
    rng = np.random.default_rng(0)
    codes = np.minimum(rng.exponential(20, size=(rows, n)).astype(int), each - 1)
    place = (np.repeat(np.arange(rows), n), (codes + np.arange(n) * each).ravel())
    X = csr_matrix((np.ones(rows * n, np.float32), place), shape=(rows, n * each))
    effect = rng.normal(size=(20, each))
    score = sum(effect[j][codes[:, j]] for j in range(20))
    y = (score + rng.logistic(size=rows) > 0).astype(int)
    models = {"treewright": ours(settings), "LightGBM": others["LightGBM"]}
    calls = {name: partial(m.fit, X, y) for name, m in models.items()}
    times = take_turns(calls, settings.repeats)
    what = f"fit, one-hot {count(rows)} × {count(n * each)}"
    yield faster("boosting_sparse", what, "LightGBM", times, 1.0)


def memory(settings: Settings) -> Iterator[Result | Skipped]:
    """Most memory of a process that fits 1 000 000 × 28 floats, beyond what it had before."""
    if "LightGBM" not in peers(settings):
        yield Skipped("boosting_memory", "LightGBM is not installed")
        return
    rows = 1_000_000 // settings.shrink
    here = Path(__file__).parent
    found = {}
    for name in ("treewright", "LightGBM"):
        command = [sys.executable, str(here / "boosting_memory_worker.py"), name, str(rows)]
        done = subprocess.run(
            [*command, str(settings.n_jobs)], capture_output=True, encoding="utf-8", check=True
        )
        found[name] = int(done.stdout.splitlines()[-1])
    yield at_most(
        "boosting_memory",
        f"peak memory of a fit, {count(rows)} × 28, 10 rounds",
        f"{found['treewright'] / 2**20:.0f} MiB",
        f"LightGBM {found['LightGBM'] / 2**20:.0f} MiB",
        found["treewright"] / found["LightGBM"],
        1.0,
        "× its growth",
    )


def _waited(call: Any) -> float:
    """Seconds by the clock, whatever else is counted in."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _spin(ready: Any, stop: Any) -> None:
    ready.release()
    while not stop.is_set():
        for _ in range(10_000):
            pass


def busy(settings: Settings) -> Iterator[Result | Skipped]:
    """A fit beside as many spinning processes as there are cores, against the same alone."""
    rows = 100_000 // settings.shrink
    X, y = data.classes(rows)
    models = {"treewright": ours(settings)}
    models |= {n: m for n, m in peers(settings).items() if n == "LightGBM"}
    quiet = {n: min(_waited(partial(m.fit, X, y)) for _ in range(2)) for n, m in models.items()}
    context = multiprocessing.get_context("spawn")
    ready, stop = context.Semaphore(0), context.Event()
    spinning = [
        context.Process(target=_spin, args=(ready, stop), daemon=True)
        for _ in range(multiprocessing.cpu_count())
    ]
    for process in spinning:
        process.start()
    try:
        for _ in spinning:
            ready.acquire()  # a new process loads modules for longer than a fit takes
        loud = {n: _waited(partial(m.fit, X, y)) for n, m in models.items()}
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
