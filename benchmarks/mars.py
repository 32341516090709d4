"""MARS beside R's earth, with the defaults that both share, and how time grows with rows.

R reads its table before the clock starts; both times hold the call that a user makes.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from results import Result, Skipped, count, faster
from sklearn.datasets import make_friedman1
from speed import Settings
from timing import take_turns

from treewright import MARSRegressor

SCRIPT = Path(__file__).with_name("earth.R")
PEER = "earth"
LEAST = 3.0
FITS = 2
"""Fits of either side in a round; the first finds cold caches."""
MOST_GROWTH = 12.0
"""Ten times the rows may take this many times as long."""


def mars(settings: Settings) -> Iterator[Result | Skipped]:
    """10 000 × 20 numbers of Friedman's function, terms of two predictors."""
    n = 10_000 // settings.shrink
    X, y = make_friedman1(n, 20, noise=1.0, random_state=0)
    yield from _beside_earth(settings, X, y)
    yield _growth(settings, n)


def _beside_earth(settings: Settings, X: Any, y: Any) -> Iterator[Result | Skipped]:
    if not _has_earth():
        yield Skipped("mars", "Rscript or its package earth is not installed.")
        return
    models = {
        "treewright": MARSRegressor(degree=2, n_jobs=settings.n_jobs),
        "one thread": MARSRegressor(degree=2),
    }
    for model in models.values():
        model.fit(X[:100], y[:100])  # whatever is loaded on first use
    times: dict[str, list[float]] = {"treewright": [], "one thread": [], PEER: []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.csv"
        pd.DataFrame(X).assign(y=y).to_csv(path, index=False, float_format="%.17g")
        for _ in range(settings.repeats):
            for name, model in models.items():
                times[name] += take_turns({"us": lambda m=model: m.fit(X, y)}, FITS)["us"]
            gcv, took = _earth(path)
            times[PEER].append(took)
    figures = f"GCV {models['treewright'].gcv_:.6g} and {gcv:.6g}"
    what = f"MARS of degree 2, {count(len(y))} × {X.shape[1]} ({figures})"
    yield faster("mars", f"{what}, {settings.n_jobs} threads", PEER, times, LEAST)
    single = {"treewright": times["one thread"], PEER: times[PEER]}
    yield faster("mars", f"{what}, one thread", PEER, single, None)


def _growth(settings: Settings, n: int) -> Result:
    """Processor time of ten times the rows, of the same steps, in turns."""
    model = MARSRegressor(degree=2, thresh=0.0, max_terms=21, n_jobs=settings.n_jobs)
    tables = [make_friedman1(rows, 20, noise=1.0, random_state=0) for rows in (n, 10 * n)]
    best = [float("inf")] * len(tables)
    for _ in range(settings.repeats):
        for i, (X, y) in enumerate(tables):
            start = time.process_time()
            model.fit(X, y)
            best[i] = min(best[i], time.process_time() - start)
    ratio = best[1] / best[0]
    return Result(
        "mars",
        f"MARS of degree 2, processor time of {count(10 * n)} rows over that of {count(n)}",
        f"{best[1]:.3g} s",
        f"{best[0]:.3g} s",
        ratio,
        f"{ratio:.1f} ×",
        f"≤ {MOST_GROWTH:g} ×",
        ratio <= MOST_GROWTH,
        {"seconds": best},
    )


def _has_earth() -> bool:
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(earth)"], capture_output=True).returncode == 0


def _earth(path: Path) -> tuple[float, float]:
    """GCV and the seconds of the faster fit."""
    command = ["Rscript", str(SCRIPT), str(path), str(FITS)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8")
    gcv, _, *times = done.stdout.split()
    return float(gcv), min(map(float, times))
