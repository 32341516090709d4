"""Answers of fitted boosters beside those of their peers: a million rows, one row, categories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import data
import numpy as np
from boosting import RATE, ROUNDS, ours, peers
from results import Result, Skipped, count, faster
from speed import Settings
from threadpoolctl import threadpool_limits
from timing import take_turns

FITTED = 50_000
"""Rows that the models are fitted on."""


def predict(settings: Settings) -> Iterator[Result | Skipped]:
    """Probabilities of a million rows."""
    rows = 1_000_000 // settings.shrink
    X, y = data.classes(rows)
    models = {"treewright": ours(settings), **peers(settings)}
    for model in models.values():
        model.fit(X[:FITTED], y[:FITTED])
    calls = {name: partial(model.predict_proba, X) for name, model in models.items()}
    calls |= _treelite(models, X, settings)
    with threadpool_limits(settings.n_jobs):
        times = take_turns(calls, settings.repeats)
    least = {"LightGBM": 4.0, "XGBoost": 2.0, "treelite": 1.0}
    what = f"predict_proba, {count(rows)} × 28, {ROUNDS} trees"
    for peer in calls:
        if peer != "treewright":
            yield faster("boosting_predict", what, peer, times, least.get(peer))


def _treelite(models: dict[str, Any], X: Any, settings: Settings) -> dict[str, Callable[[], Any]]:
    """LightGBM's model in treelite (its interpreter; compiling the model takes minutes)."""
    try:
        import treelite
    except ImportError:
        return {}
    if "LightGBM" not in models:
        return {}
    model = treelite.frontend.from_lightgbm(models["LightGBM"].booster_)
    return {"treelite": lambda: treelite.gtil.predict(model, X, nthread=settings.n_jobs)}


def one_row(settings: Settings) -> Iterator[Result | Skipped]:
    """Probabilities of one row."""
    X, y = data.classes(FITTED)
    models = {"treewright": ours(settings), **peers(settings)}
    for model in models.values():
        model.fit(X, y)
    calls = {name: partial(model.predict_proba, X[:1]) for name, model in models.items()}
    times = take_turns(calls, 5 * settings.repeats)
    for peer in calls:
        if peer != "treewright":
            least = 5.0 if peer == "LightGBM" else None
            yield faster("boosting_predict_row", "predict_proba, one row", peer, times, least)


def mixed(settings: Settings) -> Iterator[Result | Skipped]:
    """Probabilities of 500 000 rows of a frame with categories and gaps."""
    others = peers(settings)
    if "LightGBM" not in others:
        yield Skipped("boosting_predict_mixed", "LightGBM is not installed")
        return
    rows = 500_000 // settings.shrink
    X, y = data.mixed(rows)
    y = (y == "high").astype(np.int64)
    models = {"treewright": ours(settings), "LightGBM": others["LightGBM"]}
    for model in models.values():
        model.fit(X[:FITTED], y[:FITTED])
    calls = {name: partial(model.predict_proba, X) for name, model in models.items()}
    times = take_turns(calls, settings.repeats)
    what = f"predict_proba, frame of {count(rows)} × 16, six nominal, gaps"
    yield faster("boosting_predict_mixed", what, "LightGBM", times, 4.0)


def symmetric(settings: Settings) -> Iterator[Result | Skipped]:
    """Probabilities of a million rows from symmetric trees."""
    try:
        from catboost import CatBoostClassifier
    except ImportError:
        yield Skipped("boosting_predict_symmetric", "CatBoost is not installed")
        return
    rows = 1_000_000 // settings.shrink
    X, y = data.classes(rows)
    mine = ours(settings, growth="symmetric", max_depth=6, max_leaf_nodes=64)
    theirs = CatBoostClassifier(
        iterations=ROUNDS,
        learning_rate=RATE,
        depth=6,
        verbose=0,
        thread_count=settings.n_jobs,
        allow_writing_files=False,
    )
    mine.fit(X[:FITTED], y[:FITTED])
    theirs.fit(X[:FITTED], y[:FITTED])
    calls = {
        "treewright": partial(mine.predict_proba, X),
        "CatBoost": partial(theirs.predict_proba, X, thread_count=settings.n_jobs),
    }
    what = f"predict_proba, symmetric trees, {count(rows)} × 28"
    times = take_turns(calls, settings.repeats)
    yield faster("boosting_predict_symmetric", what, "CatBoost", times, 1.0)
