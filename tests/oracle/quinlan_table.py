"""The table of docs/comparisons/c45.md: ``python -m tests.oracle.quinlan_table``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from tests.conftest import SHARED
from tests.oracle.quinlan_study import (
    DIFFERENT,
    EDGE,
    EQUAL,
    SETTINGS,
    TIED,
    Study,
    class_datasets,
    studies,
)

HEADER = "| program, run | compared | equal | tied | at the least weight | different |"


def outcomes(run: Study) -> Iterator[tuple[str, str]]:
    """What was compared and how it came out."""
    for which in run.trees:
        yield f"{which} trees".replace("tree trees", "trees"), run.outcome(which)
    if run.predictions is not None:
        equal = np.array_equal(run.fitted.predict(run.X), run.predictions)
        yield "predictions", EQUAL if equal else DIFFERENT
    if run.out_of_fold is not None:
        equal = np.array_equal(run.our_out_of_fold(), run.out_of_fold)
        yield "out-of-fold predictions", EQUAL if equal else DIFFERENT


def main() -> None:
    """Print the table."""
    print(HEADER)
    print("|---" * HEADER.count(" | ") + "|---|")
    for program in ("weka", "c45"):
        counts: dict[tuple[str, str], Counter[str]] = {}
        for name in class_datasets(SHARED, program):
            for run in studies(SHARED, program, name):
                for what, outcome in outcomes(run):
                    counts.setdefault((run.key, what), Counter())[outcome] += 1
        for key in SETTINGS[program]:
            for (run_key, what), count in counts.items():
                if run_key == key:
                    cells = [str(count[o]) for o in (EQUAL, TIED, EDGE, DIFFERENT)]
                    print(f"| {program} {key} | {what} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
