"""Data for the benchmarks: made with a fixed seed, neither trivial nor hopeless.

A third of the features carry the signal (products, steps, curves), a few are noisy copies of
those, some have ties or heavy tails, the rest are noise. Labels are noisy too, so that a full
tree is large and a shallow one is not perfect.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
N_SIGNAL = 8
LEAST_FEATURES = 16


def features(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Features as float32, ``p`` at least 16."""
    if p < LEAST_FEATURES:
        raise ValueError(f"p must be at least {LEAST_FEATURES}, got {p}")
    X = rng.standard_normal((n, p), dtype=np.float32)
    X[:, 8:11] = 0.7 * X[:, 0:3] + 0.3 * X[:, 8:11]  # copies with noise
    X[:, 11:13] = np.round(X[:, 11:13] * 10) / 10  # ties
    X[:, 13:15] = np.exp(X[:, 13:15])  # tails
    return X


def signal(X: np.ndarray) -> np.ndarray:
    """What there is to learn."""
    steps = np.where(X[:, 5] > 0.5, X[:, 6], -0.5 * X[:, 7])
    return X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] + 0.3 * X[:, 4] ** 2 + steps


@lru_cache(maxsize=2)
def classes(n: int, p: int = 28, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, of which no model can tell much more than four fifths."""
    rng = np.random.default_rng(seed)
    X = features(rng, n, p)
    y = signal(X) + rng.logistic(scale=0.5, size=n) > 0.3
    y ^= rng.random(n) < 0.05
    return X, y.astype(np.int64)


@lru_cache(maxsize=2)
def numbers(n: int, p: int = 28, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A number with noise of the size of a third of its spread."""
    rng = np.random.default_rng(seed)
    X = features(rng, n, p)
    return X, signal(X) + rng.normal(scale=0.7, size=n)


@lru_cache(maxsize=2)
def mixed(n: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """A frame of ten numbers and six nominal columns, gaps in four of them, and three classes."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10))
    X[:, 6:] = np.round(X[:, 6:] * 4)  # ties
    sizes = (2, 3, 4, 6, 10, 20)
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes])
    effect = [rng.normal(size=size) for size in sizes]
    score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * X[:, 6] * (codes[:, 0] == 1)
    score += sum(0.4 * effect[k][codes[:, k]] for k in (1, 3, 5)) + rng.logistic(scale=0.4, size=n)
    columns: dict[str, Any] = {f"x{k}": X[:, k] for k in range(10)}
    for k, size in enumerate(sizes):
        names = [f"v{v}" for v in range(size)]
        columns[f"c{k}"] = pd.Categorical.from_codes(codes[:, k], names)
    frame = pd.DataFrame(columns)
    for name in ("x0", "x7", "c1", "c4"):
        frame.loc[rng.random(n) < 0.03, name] = None
    return frame, np.array(["low", "middle", "high"])[np.digitize(score, [-0.7, 0.7])]


@lru_cache(maxsize=2)
def cover(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ten numbers, 44 binary columns (one of 4, one of 40) and seven uneven classes, float32."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, 54), np.float32)
    X[:, :10] = np.round(rng.standard_normal((n, 10)) * 200)
    area = rng.choice(4, n, p=[0.45, 0.05, 0.43, 0.07])
    soil = np.minimum(rng.geometric(0.09, n) - 1, 39)
    X[np.arange(n), 10 + area] = X[np.arange(n), 14 + soil] = 1
    score = X[:, 0] + 0.5 * X[:, 1] * (area == 0) + 60 * np.sin(soil) + 0.3 * np.abs(X[:, 2])
    score += rng.normal(scale=60, size=n)
    return X, np.digitize(score, np.quantile(score, [0.36, 0.85, 0.91, 0.915, 0.93, 0.96]))


def shared(name: str) -> tuple[Any, np.ndarray] | None:
    """Predictors (a frame with categories and gaps) and target of a shared data set, if there."""
    import pandas as pd

    path = SHARED / f"{name}.schema.json"
    if not path.exists():
        return None
    schema = json.loads(path.read_text())
    file = SHARED / schema["file"]
    file = file if file.exists() else file.with_name(f"{file.name}.gz")
    frame = pd.read_csv(file, na_values=["?"], skipinitialspace=True, low_memory=False)
    kept, target = {}, None
    for column in schema["columns"]:
        values = frame[column["name"]]
        if column["role"] == "target":
            target = values.to_numpy(float if schema["task"] == "regression" else str)
        elif column["role"] == "predictor":
            nominal = column["type"] != "continuous"
            kept[column["name"]] = values.astype("category") if nominal else values
    assert target is not None
    known = pd.notna(frame[schema["target"]]).to_numpy()
    return pd.DataFrame(kept)[known].reset_index(drop=True), target[known]


def adult() -> tuple[Any, Any] | None:
    """Predictors and income (a series of categories) of the adult data, if there."""
    import pandas as pd

    found = shared("adult")
    return None if found is None else (found[0], pd.Series(found[1], dtype="category"))
