"""Grows one forest in a process of its own and prints by how much its memory grew meanwhile.

Arguments: the library, rows, threads and trees.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import data
import numpy as np
from memory_worker import _status


def main(library: str, rows: str, n_jobs: str, n_trees: str) -> None:
    """Warm up on a few rows, so that imports and thread stacks are not counted."""
    X, y = data.classes(int(rows), 28)
    if library == "treewright":
        from treewright import RandomForestClassifier
    else:
        from sklearn.ensemble import RandomForestClassifier
    model = RandomForestClassifier(int(n_trees), n_jobs=int(n_jobs), random_state=0)
    few = slice(0, 2000)
    model.fit(np.ascontiguousarray(X[few]), y[few])
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    model.fit(X, y)
    print(json.dumps(_status("VmHWM") - before))


if __name__ == "__main__":
    main(*sys.argv[1:])
