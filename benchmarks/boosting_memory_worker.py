"""Fits one booster in a process of its own and prints by how many bytes its memory grew at most.

Arguments: the library, rows and threads.
"""

from __future__ import annotations

import sys
from pathlib import Path

import boosting
import data
import numpy as np
from memory_worker import _status
from speed import Settings


def main(library: str, rows: str, n_jobs: str) -> None:
    """Warm up on a few rows, so that imports and thread stacks are not counted."""
    settings = Settings(n_jobs=int(n_jobs))
    X, y = data.classes(int(rows))
    model = (
        boosting.ours(settings) if library == "treewright" else boosting.peers(settings)[library]
    )
    model.set_params(n_estimators=10)
    few = slice(0, 5000)
    model.fit(np.ascontiguousarray(X[few]), y[few])
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    model.fit(X, y)
    print(_status("VmHWM") - before)


if __name__ == "__main__":
    main(*sys.argv[1:])
