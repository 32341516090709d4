"""Shapley values beside the package shap: the same trees, the same rows, the same answers.

shap takes trees of any making as a dict of arrays. It has one thread; ours are given beside it with
one and with ``n_jobs``. Time is that of the values alone, without making either explainer of a
fitted model; the values must agree to 1e-6 of the largest, or the case fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from results import Result, Skipped, count, faster
from speed import Settings
from timing import take_turns

import treewright
from treewright.data.encode import encode
from treewright.explain._shap import raw_values
from treewright.tree.additive import Additive, additive_of

BACKGROUND = 100
LEAST = 5.0


def as_shap_takes(total: Additive) -> dict[str, Any]:
    """A sum of binary trees as shap's dict of arrays."""
    trees = []
    for part in total.parts:
        tree, leaf = part.tree, part.tree.is_leaf
        cut = np.full(tree.n_nodes, -2.0)
        cut[~leaf] = tree.splits.breaks
        values = np.zeros((tree.n_nodes, total.n_outputs))
        values[:, part.column : part.column + part.values.shape[1]] = part.values
        trees.append(
            {
                "children_left": np.where(leaf, -1, tree.first_child),
                "children_right": np.where(leaf, -1, tree.first_child + 1),
                "children_default": np.where(leaf, -1, tree.first_child),
                "features": np.where(leaf, -2, tree.splits.feature),
                "thresholds": cut,
                "values": values,
                "node_sample_weight": tree.weight.astype(float),
            }
        )
    offset = total.start if total.n_outputs > 1 else float(total.start[0])
    return {
        "trees": trees,
        "base_offset": offset,
        "tree_output": "raw_value",
        "objective": "squared_error",
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
    }


def numbers() -> tuple[np.ndarray, np.ndarray]:
    """Columns without ties: shap rounds thresholds to float32, which must not move a row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 16))
    y = 2 * X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] + rng.normal(0, 0.3, len(X))
    return X, y


def models() -> dict[str, tuple[Any, int]]:
    """What is explained, and for how many rows."""
    boosted = treewright.GradientBoostingRegressor(
        n_estimators=100, max_leaf_nodes=31, early_stopping=False, random_state=0
    )
    forest = treewright.RandomForestRegressor(n_estimators=20, random_state=0)
    shallow = treewright.RandomForestClassifier(n_estimators=50, max_depth=8, random_state=0)
    return {
        "booster, 100 trees of 31 leaves": (boosted, 300),
        "forest, 20 full trees": (forest, 50),
        "classifier, 50 trees of depth 8": (shallow, 300),
    }


def explain(settings: Settings) -> Iterator[Result | Skipped]:
    """Path-dependent and interventional values, and interactions of the booster."""
    try:
        import shap
    except ImportError:
        yield Skipped("explain", "shap is not installed")
        return
    for name, (model, rows) in models().items():
        rows = max(rows // settings.shrink, 20)
        is_class = hasattr(model, "predict_proba")
        X, number = numbers()
        y = np.digitize(number, [-1.0, 1.0]) if is_class else number
        total = additive_of(model.fit(X, y))
        given = as_shap_takes(total)
        table = encode(X[:rows], schema=total.schema)
        others = encode(X[-BACKGROUND:], schema=total.schema)
        path = shap.TreeExplainer(given, feature_perturbation="tree_path_dependent")
        against = shap.TreeExplainer(given, X[-BACKGROUND:], feature_perturbation="interventional")
        ways = {
            "path-dependent": (path, None, LEAST),
            f"{BACKGROUND} background rows": (against, others, LEAST),
        }
        for way, (theirs, background, least) in ways.items():
            calls = {
                "treewright": partial(
                    raw_values, total, table, background, n_threads=settings.n_jobs
                ),
                "one thread": partial(raw_values, total, table, background),
                "shap": partial(theirs.shap_values, X[:rows], check_additivity=False),
            }
            check(calls["one thread"]()[0], calls["shap"]())
            times = take_turns(calls, settings.repeats)
            what = f"{name}, {way}, {count(rows)} rows"
            yield faster("explain", f"{what}, {settings.n_jobs} threads", "shap", times, least)
            one = {"treewright": times["one thread"], "shap": times["shap"]}
            yield faster("explain", f"{what}, one thread", "shap", one, None)


def check(ours: np.ndarray, theirs: Any) -> None:
    """The same values, or no comparison."""
    theirs = np.asarray(theirs).reshape(ours.shape)
    off = np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
    if off > 1e-6:
        raise RuntimeError(f"the values differ from shap's by {off:.2e}")
