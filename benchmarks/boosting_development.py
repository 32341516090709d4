"""Data on which the defaults of gradient boosting were chosen: the default beside the plain fit.

    python benchmarks/boosting_development.py [--draws 2]

None of it is among what ``boosting_quality.py`` judges by. Each sample is drawn anew and judged on
other rows, by log-loss or RMSE. Printed are processor time of the default and of the plain 300
rounds, what was chosen, and how the loss changed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from boosting_quality import log_loss, read
from sklearn import datasets as made

import treewright

Draw = Callable[[np.random.Generator], tuple[Any, Any, Any, Any]]


def shared(name: str, n: int | float, n_test: int = 2000) -> Draw:
    """So many rows, or such a share, of a shared data set; others judge."""

    def draw(rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
        X, y, _, _ = read(name)
        order = rng.permutation(len(y))
        n_learned = int(n * len(y)) if isinstance(n, float) else n
        parts = order[:n_learned], order[n_learned : n_learned + n_test]
        learned, judged = (X.iloc[rows].reset_index(drop=True) for rows in parts)
        return learned, y[parts[0]], judged, y[parts[1]]

    return draw


def generated(make: Callable[[int, int], tuple[Any, Any]], n: int) -> Draw:
    """Rows of a generator, which takes their number and a seed; 3 000 more judge."""

    def draw(rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
        X, y = make(n + 3000, int(rng.integers(1 << 30)))
        X = pd.DataFrame(X).rename(columns=str)
        return X[:n], y[:n], X[n:].reset_index(drop=True), y[n:]

    return draw


def sines(n: int, seed: int, noise: float) -> tuple[Any, Any]:
    """A sum of twelve sines of sums of eight features, the same ones for every seed."""
    fixed = np.random.default_rng(5)
    to, shift, height = fixed.normal(size=(8, 12)), fixed.normal(size=12), fixed.normal(size=12)
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 8))
    return X, np.sin(0.8 * X @ to + shift) @ height + noise * rng.normal(size=n)


def waveform(n: int, seed: int) -> tuple[Any, Any]:
    """Breiman's three waves."""
    rng = np.random.default_rng(seed)
    waves = np.array([np.maximum(6 - np.abs(np.arange(1, 22) - at), 0) for at in (7, 15, 11)])
    y, u = rng.integers(0, 3, n), rng.random((n, 1))
    first, second = np.array([0, 0, 1])[y], np.array([1, 2, 2])[y]
    return u * waves[first] + (1 - u) * waves[second] + rng.normal(size=(n, 21)), y


def rings(n: int, seed: int, noise: float) -> tuple[Any, Any]:
    data = treewright.datasets.two_rings(n, noise=noise, random_state=seed)
    X = np.column_stack([np.asarray(data.data[name]) for name in ("x1", "x2")])
    return X, np.unique(np.asarray(data.target), return_inverse=True)[1]


def friedman(number: int, noise: float) -> Callable[[int, int], tuple[Any, Any]]:
    make = getattr(made, f"make_friedman{number}")
    return lambda n, seed: make(n, noise=noise, random_state=seed)


def classes(**options: Any) -> Callable[[int, int], tuple[Any, Any]]:
    return lambda n, seed: made.make_classification(n, random_state=seed, **options)


def spheres(n: int, seed: int) -> tuple[Any, Any]:
    X, y = made.make_hastie_10_2(n, random_state=seed)
    return X, (y > 0).astype(int)


FIVE = {"n_features": 15, "n_informative": 8, "n_classes": 5, "flip_y": 0.02}
NOISY = {"n_features": 20, "n_informative": 3, "flip_y": 0.3}
THREE = {"n_features": 6, "n_informative": 4, "n_redundant": 1, "n_classes": 3, "flip_y": 0.05}
THREE["n_clusters_per_class"] = 1
NUMBERS: dict[str, Draw] = {
    "california 700": shared("california_housing", 700),
    "california 3000": shared("california_housing", 3000),
    "car90": shared("car90", 0.8),
    "twodplanes 500": shared("twodplanes", 500),
    "friedman1 400": generated(friedman(1, 1.0), 400),
    "friedman1 3000": generated(friedman(1, 1.0), 3000),
    "friedman1 clean 1000": generated(friedman(1, 0.1), 1000),
    "friedman2 300": generated(friedman(2, 125.0), 300),
    "friedman3 500": generated(friedman(3, 0.1), 500),
    "sines 2000": generated(lambda n, seed: sines(n, seed, 0.1), 2000),
    "sines noisy 500": generated(lambda n, seed: sines(n, seed, 1.0), 500),
}
CLASSES: dict[str, Draw] = {
    **{f"adult {n}": shared("adult", n) for n in (800, 3000)},
    **{f"bank {n}": shared("bank_marketing", n) for n in (800, 3000)},
    **{f"pendigits {n}": shared("pendigits", n) for n in (500, 1500)},
    **{f"spheres {n}": generated(spheres, n) for n in (1000, 3000)},
    "caravan 2000": shared("caravan", 2000),
    "crabs": shared("crabs", 0.7),
    "splice 700": shared("splice", 700),
    "glaucoma": shared("glaucoma", 0.8),
    "birthwt": shared("birthwt", 0.8),
    "audiology": shared("audiology", 0.8),
    "mushroom 300": shared("mushroom", 300),
    "shuttle 1000": shared("shuttle", 1000),
    "letter 1000": shared("letter", 1000),
    "waveform 300": generated(waveform, 300),
    "rings noisy 200": generated(lambda n, seed: rings(n, seed, 0.2), 200),
    "rings 500": generated(lambda n, seed: rings(n, seed, 0.0), 500),
    "five classes 600": generated(classes(**FIVE), 600),
    "noisy classes 200": generated(classes(**NOISY), 200),
    "three classes 150": generated(classes(**THREE), 150),
}


def fitted(draw: Draw, is_classes: bool, seed: int, **options: Any) -> tuple[Any, float, float]:
    """A model, its loss on the other rows, and processor time of the fit."""
    X, y, X_test, y_test = draw(np.random.default_rng(seed))
    name = "GradientBoostingClassifier" if is_classes else "GradientBoostingRegressor"
    model = getattr(treewright, name)(random_state=0, **options)
    start = time.process_time()
    model.fit(X, y)
    took = time.process_time() - start
    if not is_classes:
        return model, float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))), took
    known = np.isin(y_test, model.classes_)
    share = model.predict_proba(X_test[known])
    return model, log_loss(share, model.classes_, y_test[known]), took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2)
    n_draws = parser.parse_args().draws
    warnings.filterwarnings("ignore")
    changes, ratios = [], []
    for name, draw in {**NUMBERS, **CLASSES}.items():
        pairs = [
            [fitted(draw, name in CLASSES, seed, **own) for own in ({}, {"n_estimators": 300})]
            for seed in range(n_draws)
        ]
        change = np.mean([np.log(new[1] / plain[1]) for new, plain in pairs])
        ratio = np.mean([new[2] / plain[2] for new, plain in pairs])
        chosen = ", ".join(f"{new[0].growth_} {new[0].n_iter_}" for new, _ in pairs)
        print(f"{name:22} loss {100 * change:+6.1f} %  time ×{ratio:4.1f}  {chosen}", flush=True)
        changes.append(change)
        ratios.append(ratio)
    for what, each in (("mean", np.mean), ("median", np.median), ("worst", np.max)):
        print(f"{what:22} loss {100 * each(changes):+6.1f} %  time ×{each(ratios):4.1f}")


if __name__ == "__main__":
    main()
