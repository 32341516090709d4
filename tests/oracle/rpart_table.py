"""The table of docs/comparisons/cart.md: ``python -m tests.oracle.rpart_table``."""

from __future__ import annotations

from collections import Counter

from tests.conftest import SHARED
from tests.oracle.recorded import load_recorded, recorded_datasets
from tests.oracle.rpart_compare import cases
from tests.oracle.rpart_folds import (
    DIFFERENT,
    EQUAL,
    NOT_COMPARED,
    TIED,
    Study,
    compare_errors,
    compare_predictions,
)

HEADER = "| data set | rows | features | gaps | runs | trees | xerror, xstd | out of fold |"


def row(name: str) -> tuple[list[str], list[Counter[str]]]:
    """Cells that describe a data set, and outcomes of its runs."""
    data = load_recorded(SHARED, "rpart", name)
    counts: list[Counter[str]] = [Counter(), Counter(), Counter()]
    for case in cases(data):
        study = Study.of(case)
        tree = DIFFERENT if study.comparison.different else TIED if study.is_tied else EQUAL
        outcomes = tree, compare_errors(study), compare_predictions(study)
        for count, outcome in zip(counts, outcomes, strict=True):
            count[outcome] += 1
    n_gaps = int(data.X.isna().sum().sum())
    return [name, *map(str, (*data.X.shape, n_gaps, len(data.runs)))], counts


def outcomes(count: Counter[str]) -> str:
    """Such as ``5 = 1 ~``; runs that are not compared are left out."""
    signs = {EQUAL: "=", TIED: "~", DIFFERENT: "≠"}
    return " ".join(f"{count[k]} {sign}" for k, sign in signs.items() if count[k]) or "–"


def main() -> None:
    """Print the table."""
    print(HEADER)
    print("|---" * HEADER.count(" | ") + "|---|")
    totals: list[Counter[str]] = [Counter(), Counter(), Counter()]
    for name in recorded_datasets(SHARED, "rpart"):
        cells, counts = row(name)
        print("| " + " | ".join([*cells, *map(outcomes, counts)]) + " |", flush=True)
        for total, count in zip(totals, counts, strict=True):
            total.update(count)
    runs = sum(totals[0].values())
    print(f"| **all** | | | | {runs} | " + " | ".join(map(outcomes, totals)) + " |")
    print([total[NOT_COMPARED] for total in totals], "not compared")


if __name__ == "__main__":
    main()
