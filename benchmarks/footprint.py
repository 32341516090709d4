"""What a fit takes besides time: memory, and the import before it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from results import Result, Skipped, at_most, count, duration
from speed import PEER, Settings
from timing import take_turns

WORKER = Path(__file__).with_name("memory_worker.py")
IMPORT = """
import time
import {first}
start = time.perf_counter()
{then}
print(time.perf_counter() - start)
"""


def _run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def memory(settings: Settings) -> Iterator[Result | Skipped]:
    """Growth of resident memory during fit, in a process of its own, against the data."""
    if not Path("/proc/self/status").exists():
        yield Skipped("memory", "resident memory is read from /proc, which is not here.")
        return
    rows = 200_000 // settings.shrink
    for task in ("classes", "numbers"):
        found: dict[str, Any] = {
            name: json.loads(_run(str(WORKER), name, task, str(rows), "28", str(settings.n_jobs)))
            for name in ("treewright", PEER)
        }
        share = {name: f["growth"] / f["data"] for name, f in found.items()}
        kind = "classification" if task == "classes" else "regression"
        yield at_most(
            "memory",
            f"memory, full fit, {kind}, {count(rows)} × 28",
            f"{found['treewright']['growth'] / 2**20:.0f} MiB",
            f"{PEER} {share[PEER]:.2g}× data",
            share["treewright"],
            4.0,
            "× data",
            found=found,
        )


def table(settings: Settings) -> Iterator[Result]:
    """A plain array becomes a Table without a copy, in less than twice the time of copying it."""
    from treewright.data.encode import encode

    rows = 1_000_000 // settings.shrink
    X = np.random.default_rng(0).normal(size=(rows, 50))
    times = take_turns({"ours": lambda: encode(X), "copy": X.copy}, settings.repeats)
    ours, copy = min(times["ours"]), min(times["copy"])
    what = f"encode, {count(rows)} × 50 floats"
    yield at_most(
        "table", what, duration(ours), f"copy {duration(copy)}", ours / copy, 2.0, "× its time"
    )


def imports(settings: Settings) -> Iterator[Result]:
    """What importing treewright adds to importing scikit-learn."""
    what = {
        "import treewright, after sklearn": ("sklearn", "import treewright"),
        "import of CARTClassifier, after sklearn.tree": (
            "sklearn.tree",
            "from treewright import CARTClassifier",
        ),
    }
    for name, (first, then) in what.items():
        code = IMPORT.format(first=first, then=then)
        times = [float(_run("-c", code)) for _ in range(3 * settings.repeats)]
        best = min(times)
        yield at_most("import", name, duration(best), "", 1000 * best, 150.0, " ms", seconds=times)
