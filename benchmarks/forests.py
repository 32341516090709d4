"""Random forests beside scikit-learn, scikit-learn-intelex, YDF, LightGBM and ranger.

All grow trees to purity on the same number of threads; see forest_peers.py for their settings. A
peer that is not installed is skipped and named. What forests predict: forest_quality.py.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import data
import joblib
import numpy as np
from forest_peers import GROWN, N_TREES, PEERS, Fit, Task, columns, installed, ranger, seeded
from results import Result, Skipped, at_most, count, faster, not_worse
from sklearn import ensemble
from speed import PEER, Settings
from timing import take_turns

import treewright

WORKER = Path(__file__).with_name("forest_memory_worker.py")
TARGETS = {PEER: 15.0, "intelex": 2.0, "YDF": 6.0, "ranger": 10.0, "LightGBM": 4.0}
EXACT_TARGET = 8.0
SLOW = ("LightGBM", "ranger")
"""Peers that take so long that one round is enough."""

Models = dict[str, list[Any]]
"""What each contender has fitted, round by round."""


def _ours(settings: Settings, method: str = "auto", numbers: bool = False) -> Any:
    return Task(settings, numbers).of(treewright).set_params(tree_method=method)


def _pair(settings: Settings) -> dict[str, Fit]:
    """Ours and scikit-learn's."""
    return {
        "treewright": seeded(_ours(settings)),
        PEER: seeded(Task(settings).of(ensemble)),
    }


def grow(settings: Settings) -> Iterator[Result | Skipped]:
    """Trees to purity on 200 000 × 28 floats, two classes."""
    rows = 200_000 // settings.shrink
    X, y = data.classes(2 * rows)
    models: Models = {}
    yield from _side_by_side("forest", X[:rows], y[:rows], settings, TARGETS, models)
    for name in ("treewright", "exact"):
        yield from _scores("forest", name, models[name], models[PEER], X[rows:], y[rows:])


def numbers(settings: Settings) -> Iterator[Result | Skipped]:
    """The same for a number, with a third of the features at a node."""
    rows = 200_000 // settings.shrink
    X, y = data.numbers(2 * rows)
    models: Models = {}
    yield from _side_by_side("forest_numbers", X[:rows], y[:rows], settings, {}, models)
    X_test, y_test = X[rows:], y[rows:]
    for name in ("treewright", "exact"):
        explained = [
            [1 - (m.predict(X_test) - y_test) ** 2 / y_test.var() for m in models[side]]
            for side in (name, PEER)
        ]
        yield _compared("forest_numbers", f"test R² of the same ({name})", *explained)


def _side_by_side(
    case: str,
    X: np.ndarray,
    y: np.ndarray,
    settings: Settings,
    targets: dict[str, float],
    models: Models,
) -> Iterator[Result | Skipped]:
    """Times of every contender; ``models`` receives what they fitted."""
    is_number = y.dtype.kind == "f"
    ours = {
        "treewright": _ours(settings, "hist", is_number),
        "exact": _ours(settings, "exact", is_number),
    }
    grown = ours["treewright"].fit(X, y)
    leaves = int(np.mean([grown.estimators_[k].tree_.n_leaves for k in range(3)]))
    task = Task(settings, is_number, leaves)
    contenders: dict[str, Fit] = {name: seeded(model) for name, model in ours.items()}
    for name, (package, _, make) in PEERS.items():
        if installed(name) is None:
            yield Skipped(case, f"{package} is not installed.")
        else:
            contenders[name] = make(task)
            contenders[name](X[:400], y[:400])  # whatever is loaded on first use

    calls = _calls(contenders, dict.fromkeys(contenders, (X, y)), models)
    times = take_turns({n: c for n, c in calls.items() if n not in SLOW}, settings.repeats)
    times |= take_turns({n: c for n, c in calls.items() if n in SLOW}, 1)
    for name in times.keys() & GROWN.keys():
        times[name] = [seconds * N_TREES / GROWN[name] for seconds in times[name]]
    if (seconds := ranger(X, y, task, 1)) is None:
        yield Skipped(case, "Rscript or its package ranger is not installed.")
    else:
        times["ranger"] = seconds
    what = f"fit, forest of {N_TREES}, {count(len(y))} × {X.shape[1]}"
    what += f"{', numbers' if is_number else ''}, {settings.n_jobs} threads"
    for name in [n for n in times if n not in ours]:
        known = installed(name) if name in PEERS else ""
        if name in GROWN:
            known = f"{known} ({GROWN[name]} trees, times {N_TREES // GROWN[name]})"
        pair = {"treewright": times["treewright"], name: times[name]}
        yield faster(case, f"{what}, bins; {name} {known}", name, pair, targets.get(name))
    pair = {"treewright": times["exact"], PEER: times[PEER]}
    yield faster(case, f"{what}, exact", PEER, pair, EXACT_TARGET if targets else None)


def _calls(
    contenders: dict[str, Fit], data: dict[str, tuple[Any, np.ndarray]], models: Models
) -> dict[str, Callable[[], None]]:
    """A fit of each contender to its data, which ``models`` keeps."""

    def calling(name: str) -> Callable[[], None]:
        kept = models.setdefault(name, [])
        return lambda: kept.append(contenders[name](*data[name]))

    return {name: calling(name) for name in contenders}


def _scores(
    case: str,
    name: str,
    ours: list[Any],
    theirs: list[Any],
    X: Any,
    y: np.ndarray,
    X_peer: Any = None,
) -> Iterator[Result]:
    """Accuracy and log-loss on rows not seen in training."""
    classes = ours[0].classes_
    at = np.searchsorted(classes, y)
    right, log = [], []
    for models, rows in ((ours, X), (theirs, X if X_peer is None else X_peer)):
        probability = [model.predict_proba(rows) for model in models]
        right.append([(p.argmax(axis=1) == at).astype(float) for p in probability])
        # a forest of a few trees says 0 of some classes; that must not decide alone
        log.append([np.log(np.clip(p[np.arange(len(y)), at], 1e-3, None)) for p in probability])
    yield _compared(case, f"test accuracy of the same ({name})", *right)
    yield _compared(case, f"minus test log-loss ({name})", *log)


def _compared(case: str, label: str, ours: list[np.ndarray], theirs: list[np.ndarray]) -> Result:
    """Means over seeds of what each row of the test is worth; errors of rows and of seeds."""
    gap = np.mean(ours, axis=0) - np.mean(theirs, axis=0)
    variance = gap.var() / len(gap)
    for side in (ours, theirs):
        if len(side) > 1:
            variance += np.var([each.mean() for each in side], ddof=1) / len(side)
    seeds = f"{label}, mean of {len(ours)} seeds" if len(ours) > 1 else label
    means = float(np.mean(ours)), float(np.mean(theirs))
    return not_worse(case, seeds, PEER, *means, float(np.sqrt(variance)))


def cover(settings: Settings) -> Iterator[Result]:
    """Like covertype: 54 columns of which 44 are binary, seven classes."""
    rows = 200_000 // settings.shrink
    X, y = data.cover(2 * rows)
    models: Models = {}
    train = X[:rows], y[:rows]
    calls = _calls(_pair(settings), {"treewright": train, PEER: train}, models)
    what = f"fit, forest of {N_TREES}, {count(rows)} × 54, 44 binary, 7 classes"
    yield faster("forest_cover", what, PEER, take_turns(calls, settings.repeats), 10.0)
    yield from _scores("forest_cover", "cover", *models.values(), X[rows:], y[rows:])


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
    models: Models = {}
    y_train = y[~test]
    rows = {"treewright": (X[~test], y_train), PEER: (hot[~test], y_train)}
    calls = _calls(_pair(settings), rows, models)
    what = f"fit, forest of {N_TREES}, adult, {count(len(y_train))} × 14 mixed (peer: one-hot)"
    yield faster("forest_adult", what, PEER, take_turns(calls, settings.repeats), 5.0)
    yield from _scores("forest_adult", "adult", *models.values(), X[test], y[test], hot[test])


def predict(settings: Settings) -> Iterator[Result | Skipped]:
    """Probabilities and classes of a million rows."""
    X, y = data.classes(200_000 // settings.shrink)
    big = data.features(np.random.default_rng(1), 1_000_000 // settings.shrink, X.shape[1])
    ours, theirs = _ours(settings).fit(X, y), Task(settings).of(ensemble).fit(X, y)
    calls: dict[str, Callable[[], Any]] = {
        "treewright": lambda: ours.predict_proba(big),
        PEER: lambda: theirs.predict_proba(big),
    }
    if installed("YDF") is None:
        yield Skipped("forest_predict", "ydf is not installed.")
    else:
        model, named = PEERS["YDF"][2](Task(settings))(X, y), columns(big)
        calls["YDF"] = lambda: model.predict(named, num_threads=settings.n_jobs)
    times = take_turns(calls, settings.repeats)
    what = f"forest of {N_TREES}, {count(len(big))} rows"
    for name in calls.keys() - {"treewright"}:
        pair = {"treewright": times["treewright"], name: times[name]}
        target = 10.0 if name == PEER else 1.0
        yield faster("forest_predict", f"predict_proba, {what}", name, pair, target)
    classes = {"treewright": lambda: ours.predict(big), PEER: lambda: theirs.predict(big)}
    pair = take_turns(classes, settings.repeats)
    yield faster("forest_predict", f"predict, {what}", PEER, pair, 10.0)


def footprint(settings: Settings) -> Iterator[Result | Skipped]:
    """Memory while a forest is grown, and the size of its file."""
    rows = 200_000 // settings.shrink
    X, y = data.classes(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forest.tw"
        treewright.save(_ours(settings).fit(X, y), path)
        ours = path.stat().st_size
    buffer = io.BytesIO()
    joblib.dump(Task(settings).of(ensemble).fit(X, y), buffer)
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
