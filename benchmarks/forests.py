"""Random forests beside scikit-learn, scikit-learn-intelex, YDF, LightGBM and ranger.

All grow trees to purity from bootstrap samples, √p features at a node, on the same number of
threads. A peer that is not installed is skipped and named.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import data
import joblib
import numpy as np
from results import Result, Skipped, at_most, count, faster, not_worse
from sklearn.ensemble import RandomForestClassifier as SklearnForest
from sklearn.metrics import log_loss
from speed import PEER, Settings
from timing import take_turns

import treewright
from treewright import RandomForestClassifier

N_TREES = 20
WORKER = Path(__file__).with_name("forest_memory_worker.py")
RANGER = Path(__file__).with_name("ranger.R")
TARGETS = {PEER: 15.0, "intelex": 2.0, "YDF": 6.0, "ranger": 10.0, "LightGBM": 4.0}
EXACT_TARGET = 8.0

Fit = Callable[[np.ndarray, np.ndarray], Any]


def _sklearn(settings: Settings) -> Fit:
    return SklearnForest(N_TREES, n_jobs=settings.n_jobs, random_state=0).fit


def _intelex(settings: Settings) -> Fit:
    forest = importlib.import_module("sklearnex.ensemble").RandomForestClassifier
    return forest(N_TREES, n_jobs=settings.n_jobs, random_state=0).fit


def _lightgbm(settings: Settings) -> Fit:
    lightgbm = importlib.import_module("lightgbm")
    model = lightgbm.LGBMClassifier(
        boosting_type="rf",
        n_estimators=N_TREES,
        num_leaves=2**17 - 1,
        min_child_samples=1,
        min_child_weight=0.0,
        subsample=0.632,
        subsample_freq=1,
        feature_fraction_bynode=0.19,
        n_jobs=settings.n_jobs,
        random_state=0,
        verbose=-1,
    )
    return model.fit


def _ydf(settings: Settings) -> Fit:
    ydf = importlib.import_module("ydf")
    learner = ydf.RandomForestLearner(
        label="y",
        num_trees=N_TREES,
        num_threads=settings.n_jobs,
        max_depth=-1,
        min_examples=1,
        winner_take_all=False,
        compute_oob_performances=False,
    )

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        return learner.train({**{f"x{i}": X[:, i] for i in range(X.shape[1])}, "y": y}, verbose=0)

    return fit


PEERS: dict[str, tuple[str, str, Callable[[Settings], Fit]]] = {
    PEER: ("scikit-learn", "sklearn", _sklearn),
    "intelex": ("scikit-learn-intelex", "sklearnex", _intelex),
    "YDF": ("ydf", "ydf", _ydf),
    "LightGBM": ("lightgbm", "lightgbm", _lightgbm),
}


def _installed(name: str) -> str | None:
    """The version of a peer, or None."""
    package, module, _ = PEERS[name]
    try:
        return version(package) if importlib.util.find_spec(module) else None
    except PackageNotFoundError:
        return None


def _ours(settings: Settings, method: str = "auto") -> RandomForestClassifier:
    return RandomForestClassifier(
        N_TREES, tree_method=method, n_jobs=settings.n_jobs, random_state=0
    )


def _warm(fit: Fit) -> Fit:
    X, y = data.classes(400)
    fit(X, y)  # whatever is loaded on first use
    return fit


def grow(settings: Settings) -> Iterator[Result | Skipped]:
    """Trees to purity on 200 000 × 28 floats."""
    rows = 200_000 // settings.shrink
    X, y = data.classes(2 * rows)
    X, X_test, y, y_test = X[:rows], X[rows:], y[:rows], y[rows:]
    contenders: dict[str, Fit] = {
        "treewright": _ours(settings, "hist").fit,
        "exact": _ours(settings, "exact").fit,
    }
    for name, (package, _, make) in PEERS.items():
        if _installed(name) is None:
            yield Skipped("forest", f"{package} is not installed.")
        else:
            contenders[name] = make(settings)
    models: dict[str, Any] = {}

    def calling(name: str, fit: Fit) -> Callable[[], None]:
        return lambda: models.update({name: fit(X, y)})

    calls = {name: calling(name, _warm(fit)) for name, fit in contenders.items()}
    times = take_turns(calls, settings.repeats)
    if (seconds := _ranger(X, y, settings)) is None:
        yield Skipped("forest", "Rscript or its package ranger is not installed.")
    else:
        times["ranger"] = seconds
    what = f"fit, forest of {N_TREES}, {count(rows)} × 28, {settings.n_jobs} threads"
    for name in times.keys() - {"treewright", "exact"}:
        known = _installed(name) if name in PEERS else ""
        pair = {"treewright": times["treewright"], name: times[name]}
        yield faster("forest", f"{what}, bins; {name} {known}", name, pair, TARGETS[name])
    pair = {"treewright": times["exact"], PEER: times[PEER]}
    yield faster("forest", f"{what}, exact", PEER, pair, EXACT_TARGET)
    for name in ("treewright", "exact"):
        yield from _scores("forest", name, models[name], models[PEER], X_test, y_test)


def _scores(
    case: str, name: str, ours: Any, theirs: Any, X: Any, y: np.ndarray, X_peer: Any = None
) -> Iterator[Result]:
    """Accuracy and log-loss on rows not seen in training."""
    classes = list(ours.classes_)
    probability = [
        ours.predict_proba(X),
        theirs.predict_proba(X if X_peer is None else X_peer),
    ]
    right = [np.asarray(classes)[p.argmax(axis=1)] == y for p in probability]
    gap = right[0].astype(float) - right[1]
    error = float(gap.std() / np.sqrt(len(y)))
    label = f"test accuracy of the same ({name})"
    yield not_worse(case, label, PEER, right[0].mean(), right[1].mean(), error)
    # a forest of a few trees says 0 of some classes; that must not decide alone
    losses = [log_loss(y, np.clip(p, 1e-3, None), labels=classes) for p in probability]
    at = np.searchsorted(classes, y)
    each = [-np.log(np.clip(p[np.arange(len(y)), at], 1e-3, None)) for p in probability]
    error = float((each[0] - each[1]).std() / np.sqrt(len(y)))
    yield not_worse(case, f"minus test log-loss ({name})", PEER, -losses[0], -losses[1], error)


def _ranger(X: np.ndarray, y: np.ndarray, settings: Settings) -> list[float] | None:
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
        counts = [str(N_TREES), str(settings.n_jobs), str(settings.repeats)]
        command = ["Rscript", str(RANGER), str(path), *shape, *counts]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return [float(word) for word in done.stdout.split()]


def cover(settings: Settings) -> Iterator[Result]:
    """Like covertype: 54 columns of which 44 are binary, seven classes."""
    rows = 200_000 // settings.shrink
    X, y = data.cover(2 * rows)
    ours, theirs = _ours(settings), SklearnForest(N_TREES, n_jobs=settings.n_jobs, random_state=0)
    calls = {
        "treewright": lambda: ours.fit(X[:rows], y[:rows]),
        PEER: lambda: theirs.fit(X[:rows], y[:rows]),
    }
    what = f"fit, forest of {N_TREES}, {count(rows)} × 54, 44 binary, 7 classes"
    yield faster("forest_cover", what, PEER, take_turns(calls, settings.repeats), 10.0)
    yield from _scores("forest_cover", "cover", ours, theirs, X[rows:], y[rows:])


def adult(settings: Settings) -> Iterator[Result | Skipped]:
    """Adult with its categories and gaps, beside scikit-learn on one-hot columns."""
    import pandas as pd

    found = data.adult()
    if found is None:
        yield Skipped("forest_adult", "the data are not beside the checkout (../shared/data).")
        return
    X, y = found
    hot = pd.get_dummies(X, dtype=np.float32).to_numpy(np.float32)
    y = y.astype(str).to_numpy()
    test = np.random.default_rng(0).permutation(len(y)) % 2 == 1
    ours, theirs = _ours(settings), SklearnForest(N_TREES, n_jobs=settings.n_jobs, random_state=0)
    train, hot_train, y_train = X[~test], hot[~test], y[~test]
    calls = {
        "treewright": lambda: ours.fit(train, y_train),
        PEER: lambda: theirs.fit(hot_train, y_train),
    }
    what = f"fit, forest of {N_TREES}, adult, {count(len(y_train))} × 14 mixed (peer: one-hot)"
    yield faster("forest_adult", what, PEER, take_turns(calls, settings.repeats), 5.0)
    yield from _scores("forest_adult", "adult", ours, theirs, X[test], y[test], hot[test])


def predict(settings: Settings) -> Iterator[Result | Skipped]:
    """Probabilities of a million rows."""
    X, y = data.classes(200_000 // settings.shrink)
    big = data.features(np.random.default_rng(1), 1_000_000 // settings.shrink, X.shape[1])
    ours, theirs = _ours(settings).fit(X, y), _sklearn(settings)(X, y)
    calls: dict[str, Callable[[], Any]] = {
        "treewright": lambda: ours.predict_proba(big),
        PEER: lambda: theirs.predict_proba(big),
    }
    if _installed("YDF") is None:
        yield Skipped("forest_predict", "ydf is not installed.")
    else:
        model = _ydf(settings)(X, y)
        columns = {f"x{i}": big[:, i] for i in range(big.shape[1])}
        calls["YDF"] = lambda: model.predict(columns, num_threads=settings.n_jobs)
    times = take_turns(calls, settings.repeats)
    what = f"predict_proba, forest of {N_TREES}, {count(len(big))} rows"
    for name in calls.keys() - {"treewright"}:
        pair = {"treewright": times["treewright"], name: times[name]}
        yield faster("forest_predict", what, name, pair, 10.0 if name == PEER else 1.0)


def footprint(settings: Settings) -> Iterator[Result | Skipped]:
    """Memory while a forest is grown, and the size of its file."""
    rows = 200_000 // settings.shrink
    X, y = data.classes(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forest.tw"
        treewright.save(_ours(settings).fit(X, y), path)
        ours = path.stat().st_size
    buffer = io.BytesIO()
    joblib.dump(_sklearn(settings)(X, y), buffer)
    theirs = len(buffer.getvalue())
    shown = f"{ours / 2**20:.1f} MiB", f"{PEER} {theirs / 2**20:.1f} MiB"
    what = f"file, forest of {N_TREES}, {count(rows)} × 28"
    yield at_most("forest_footprint", what, *shown, ours / theirs, 1 / 3, "× its size")
    if not Path("/proc/self/status").exists():
        yield Skipped("forest_footprint", "resident memory is read from /proc, which is not here.")
        return
    grown = {
        name: json.loads(
            subprocess.run(
                [sys.executable, str(WORKER), name, str(rows), str(settings.n_jobs), str(N_TREES)],
                check=True,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            ).stdout
        )
        for name in ("treewright", PEER)
    }
    shown = f"{grown['treewright'] / 2**20:.0f} MiB", f"{PEER} {grown[PEER] / 2**20:.0f} MiB"
    share = grown["treewright"] / grown[PEER]
    what = f"memory, forest of {N_TREES}, {count(rows)} × 28"
    yield at_most("forest_footprint", what, *shown, share, 1.0, "× its memory")
