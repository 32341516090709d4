"""The tables of docs/comparisons/chaid.md: ``python -m tests.oracle.chaid_table``."""

from __future__ import annotations

from collections import Counter, defaultdict

from tests.conftest import SHARED
from tests.oracle import chaid_py_compare as py
from tests.oracle.chaid_compare import (
    DIVIDED,
    DRAWN,
    EQUAL,
    SMALL,
    UNEXPLAINED,
    WRONG_PAIR,
    Study,
    compare_trees,
)
from tests.oracle.recorded import load_data, recorded_datasets

R_COLUMNS = (EQUAL, DRAWN, SMALL, WRONG_PAIR, DIVIDED, UNEXPLAINED)
PY_COLUMNS = (py.EQUAL, py.ABOVE_ALPHA, py.NOT_CONSECUTIVE, py.PURE, py.SMALL, py.UNEXPLAINED)


def r_row(name: str) -> Counter[str]:
    """Outcomes of all tests at the nodes of all runs on a data set, and of the trees."""
    count: Counter[str] = Counter()
    for study in Study.all_of(SHARED, name, *load_data(SHARED, name)[:2]):
        outcomes = defaultdict(set)
        for test in study.tests():
            count[test.outcome] += 1
            outcomes[test.node].add(test.outcome)
        trees = compare_trees(study, outcomes)
        count["splits"] += trees.same_splits
        count["leaves"] += trees.same_leaves
        count["parted"] += len(trees.parted)
    return count


def py_row(name: str) -> Counter[str]:
    """Outcomes of the nodes of all comparable runs on a data set."""
    X, y, _ = load_data(SHARED, name)
    studies = py.PyStudy.all_of(SHARED, name, X, y) if y.dtype != float else ()
    return Counter(outcome for _, study in studies for _, outcome in study.outcomes())


def print_table(program: str, row: object, columns: tuple[str, ...]) -> None:
    """One line per data set, and their sum."""
    print(f"| data set | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    total: Counter[str] = Counter()
    for name in recorded_datasets(SHARED, program):
        count = row(name)  # type: ignore[operator]
        if not count:
            continue
        total.update(count)
        print(f"| {name} | {' | '.join(str(count[k]) for k in columns)} |", flush=True)
    print(f"| **all** | {' | '.join(str(total[k]) for k in columns)} |\n")


def main() -> None:
    """Print both tables."""
    print_table("rchaid", r_row, (*R_COLUMNS, "splits", "leaves", "parted"))
    print_table("chaid_py", py_row, PY_COLUMNS)


if __name__ == "__main__":
    main()
