"""Fits one model in a process of its own and prints by how much its memory grew meanwhile.

Arguments: the library, the task, rows, features and threads.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import data
import numpy as np


def _status(field: str) -> int:
    """A size from /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"{field} is not in /proc/self/status")


def _model(library: str, task: str, n_jobs: int) -> Any:
    if library == "treewright":
        from treewright import CARTClassifier, CARTRegressor

        return (CARTClassifier if task == "classes" else CARTRegressor)(n_jobs=n_jobs)
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    return (DecisionTreeClassifier if task == "classes" else DecisionTreeRegressor)()


def main(library: str, task: str, rows: str, features: str, n_jobs: str) -> None:
    """Warm up on a few rows, so that imports and thread stacks are not counted."""
    make = data.classes if task == "classes" else data.numbers
    X, y = make(int(rows), int(features))
    model = _model(library, task, int(n_jobs))
    few = slice(0, 5000)
    model.fit(np.ascontiguousarray(X[few]), y[few])
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    model.fit(X, y)
    print(json.dumps({"growth": _status("VmHWM") - before, "data": X.nbytes}))


if __name__ == "__main__":
    main(*sys.argv[1:])
