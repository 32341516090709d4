"""The tables of docs/comparisons/ctree.md: ``python -m tests.oracle.ctree_table``."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tests.conftest import SHARED
from tests.oracle.ctree_compare import Case, compare, p_differences, statistic_differences
from tests.oracle.recorded import load_recorded, recorded_datasets
from tests.oracle.test_ctree import TIES, deviation, is_drawn

KINDS = ("=", "~", "≠", "random")


def outcome(case: Case) -> tuple[str, int, int]:
    """How a run compares, and the nodes and tests that were found equal."""
    if case.is_routed_by_chance or is_drawn(case):
        return "random", 0, 0
    found = compare(case.fit().tree_, case.run)
    if case.key == "quad_montecarlo":
        within = [abs(deviation(pair)) <= 3 for pair in found.pairs]
        if found.differences or not all(within):
            return "random", found.n_nodes, sum(within)
    elif case.key != "max_bonferroni":
        found.differences += p_differences(found)
    found.differences += statistic_differences(found)
    kind = "=" if not found.differences else "≠"
    if (case.data.name, case.key) in TIES:
        kind = "~"
    return kind, found.n_nodes, len(found.pairs)


def main() -> None:
    """Print both tables."""
    by_run: dict[str, Counter[str]] = {}
    n_nodes = n_tests = 0
    print("| data set | rows | features | gaps | runs | = | ~ | ≠ | random |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in recorded_datasets(SHARED, "ctree"):
        data = load_recorded(SHARED, "ctree", name)
        counts: Counter[str] = Counter()
        for key in data.runs:
            kind, nodes, tests = outcome(Case(data, key))
            counts[kind] += 1
            by_run.setdefault(key, Counter())[kind] += 1
            n_nodes += nodes
            n_tests += tests
        rows, features = data.X.shape
        gaps = int(np.sum(data.X.isna().to_numpy()))
        cells = [name, rows, features, gaps, len(data.runs), *(counts[kind] for kind in KINDS)]
        print("| " + " | ".join(str(cell or "") for cell in cells) + " |")
    print(f"\n{n_nodes} nodes, {n_tests} tests\n")
    print("| run | runs | = | ~ | ≠ | random |\n|---|---|---|---|---|---|")
    for key, counts in by_run.items():
        cells = [key, counts.total(), *(counts[kind] for kind in KINDS)]
        print("| " + " | ".join(str(cell or "") for cell in cells) + " |")


if __name__ == "__main__":
    main()
