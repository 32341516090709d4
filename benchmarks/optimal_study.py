"""Optimal trees beside pystreed on ten shared data sets, as a table for docs/learners/optimal.md.

    python benchmarks/optimal_study.py ../shared

Columns are made binary (numbers above their quartiles, single categories; at most 30 of them).
Both times hold the whole call of ``fit``, in turns, the best of three; ours on two threads.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from timing import take_turns

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.oracle.binary_data import shared_table  # noqa: E402
from treewright import OptimalTreeClassifier  # noqa: E402

DATASETS = [
    "breast_cancer_w",
    "cmc",
    "credit_g",
    "glass",
    "heart_statlog",
    "ionosphere",
    "iris",
    "pima",
    "titanic",
    "wdbc",
]
DEPTHS = (2, 3, 4)


def main() -> None:
    """Print the table, a row for each data set."""
    from pystreed import STreeDClassifier

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shared", type=Path, help="folder with the shared data")
    shared = parser.parse_args().shared
    print("| data set | rows × columns |" + "".join(f" depth {d} |" for d in DEPTHS))
    print("|---" * (2 + len(DEPTHS)) + "|")
    ratios: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    for name in DATASETS:
        X, y = shared_table(shared, name)
        cells = []
        for depth in DEPTHS:
            ours = OptimalTreeClassifier(max_depth=depth, leaf_penalty=0.0, n_jobs=2)
            theirs = STreeDClassifier("accuracy", max_depth=depth, max_num_nodes=2**depth - 1)
            calls = {
                "ours": lambda m=ours, X=X, y=y: m.fit(X, y),
                "theirs": lambda m=theirs, X=X, y=y: m.fit(X, y),
            }
            times = take_turns(calls, 3)
            errors = [np.count_nonzero(model.predict(X) != y) for model in (ours, theirs)]
            same = str(errors[0]) if errors[0] == errors[1] else f"**{errors[0]}, {errors[1]}**"
            one, other = (min(times[k]) * 1e3 for k in ("ours", "theirs"))
            ratios[depth].append(other / one)
            cells.append(f"{same} errors, {one:.3g} : {other:.3g} ms")
        print(f"| {name} | {X.shape[0]} × {X.shape[1]} | " + " | ".join(cells) + " |", flush=True)
    means = [f"{np.exp(np.mean(np.log(r))):.2f} × as fast" for r in ratios.values()]
    print("| geometric mean | | " + " | ".join(means) + " |")


if __name__ == "__main__":
    main()
