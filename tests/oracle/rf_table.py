"""The tables of docs/comparisons/forests.md: ``python -m tests.oracle.rf_table``."""

from __future__ import annotations

import numpy as np

from tests.conftest import SHARED
from tests.oracle.extra_compare import Folds, all_folds
from tests.oracle.rf_compare import PROGRAMS, Outcome, outcomes


def cell(value: float) -> str:
    """An error rate, or a mean squared error of any size."""
    return f"{value:.4f}" if value < 1 else f"{value:.4g}"


def row(o: Outcome) -> str:
    """A program on a data set."""
    ranks = [
        f"{o.ranks[k]:.3f}" if k in o.ranks else ""
        for k in ("impurity", "permutation", "corrected")
    ]
    cells = [
        o.dataset,
        o.program,
        str(o.n_rows),
        f"{cell(o.oob)} / {cell(o.their_oob)} ± {cell(o.oob_spread)}",
        f"{o.oob_distance:+.2f}",
        f"{cell(o.cv)} / {cell(o.their_cv)}",
        f"{o.cv_distance:+.2f}",
        *ranks,
    ]
    return "| " + " | ".join(cells) + " |"


def extra_row(o: Folds) -> str:
    """Random cuts on a data set."""
    return f"| {o.dataset} | {o.n_rows} | {cell(o.ours)} / {cell(o.theirs)} | {o.distance:+.2f} |"


def main() -> None:
    """Print the tables."""
    found = outcomes(SHARED)
    print(
        "| data set | program | rows | OOB error, ours / theirs ± sd over seeds | in se | error on"
    )
    print(" the folds | in se | rank: impurity | permutation | corrected |")
    print("|---" * 10 + "|")
    for o in found:
        print(row(o))
    print()
    print(
        "| program | data sets | OOB within 1 se | folds within 1 se | mean OOB difference in se |"
    )
    print("|---" * 5 + "|")
    for program in PROGRAMS:
        mine = [o for o in found if o.program == program]
        oob = np.array([o.oob_distance for o in mine])
        cv = np.array([o.cv_distance for o in mine])
        print(
            f"| {program} | {len(mine)} | {np.sum(abs(oob) <= 1)} | {np.sum(abs(cv) <= 1)} "
            f"| {oob.mean():+.2f} ± {oob.std(ddof=1) / np.sqrt(len(oob)):.2f} |"
        )
    for measure in ("impurity", "permutation", "corrected"):
        ranks = [o.ranks[measure] for o in found if measure in o.ranks]
        low = [f"{o.dataset} ({o.program})" for o in found if o.ranks.get(measure, 1) < 0.95]
        enough = sum(r >= 0.95 for r in ranks)
        print(
            f"{measure}: median rank correlation {np.median(ranks):.3f}, {enough} of {len(ranks)} "
            f"at least 0.95; below: {', '.join(low)}"
        )
    print("\n| data set | rows | error on the folds, ours / theirs | in se |")
    print("|---" * 4 + "|")
    extra = all_folds(SHARED)
    for o in extra:
        print(extra_row(o))
    distance = np.array([o.distance for o in extra])
    spread = distance.std(ddof=1) / np.sqrt(len(distance))
    print(f"mean difference in se {distance.mean():+.2f} ± {spread:.2f}")


if __name__ == "__main__":
    main()
