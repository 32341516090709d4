"""Conditional inference trees beside partykit, with the defaults that both share.

R reads its table before the clock starts; both times hold the call that a user makes.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import data
import pandas as pd
from results import Result, Skipped, count, faster
from speed import Settings
from timing import take_turns

from treewright import CTreeClassifier

SCRIPT = Path(__file__).with_name("ctree.R")
PEER = "partykit"
LEAST = 20.0
FITS = 2
"""Fits of either side in a round; the first finds cold caches."""


def ctree(settings: Settings) -> Iterator[Result | Skipped]:
    """20 000 × 20 numbers, two classes."""
    if not _has_partykit():
        yield Skipped("ctree", "Rscript or its package partykit is not installed.")
        return
    X, y = data.classes(20_000 // settings.shrink, 20)
    models = {
        "treewright": CTreeClassifier(n_jobs=settings.n_jobs),
        "one thread": CTreeClassifier(),
    }
    for model in models.values():
        model.fit(X[:200], y[:200])  # whatever is loaded on first use
    times: dict[str, list[float]] = {"treewright": [], "one thread": [], PEER: []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.csv"
        pd.DataFrame(X.astype(float)).assign(**{".target": y}).to_csv(path, index=False)
        for _ in range(settings.repeats):
            for name, model in models.items():
                times[name] += take_turns({"us": lambda m=model: m.fit(X, y)}, FITS)["us"]
            leaves, seconds = _partykit(path)
            times[PEER].append(seconds)
    sizes = f"{models['treewright'].get_n_leaves()} and {leaves} leaves"
    what = f"CTree, classification, {count(len(y))} × {X.shape[1]} ({sizes})"
    yield faster("ctree", f"{what}, {settings.n_jobs} threads", PEER, times, LEAST)
    single = {"treewright": times["one thread"], PEER: times[PEER]}
    yield faster("ctree", f"{what}, one thread", PEER, single, None)


def _has_partykit() -> bool:
    if shutil.which("Rscript") is None:
        return False
    done = subprocess.run(["Rscript", "-e", "library(partykit)"], capture_output=True)
    return done.returncode == 0


def _partykit(path: Path) -> tuple[int, float]:
    """Leaves and the seconds of the faster fit."""
    command = ["Rscript", str(SCRIPT), str(path), str(FITS)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8")
    leaves, *seconds = done.stdout.split()
    return int(leaves), min(map(float, seconds))
