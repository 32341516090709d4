"""The table of docs/comparisons/mars.md: ``python -m tests.oracle.earth_table``."""

from __future__ import annotations

from tests.conftest import SHARED
from tests.oracle.earth_compare import Case, cases
from tests.oracle.recorded import recorded_datasets

HEADER = "| data set | rows | predictors | heuristics off | on | largest GCV over earth's |"


def outcome(studied: list[Case]) -> str:
    """Such as ``5 = 1 ~``: equal, tied, different."""
    same = sum(case.has_same_forward_terms() for case in studied)
    tied = sum(case.is_tied and not case.has_same_forward_terms() for case in studied)
    counts = ((same, "="), (tied, "~"), (len(studied) - same - tied, "≠"))
    return " ".join(f"{n} {sign}" for n, sign in counts if n) or "–"


def main() -> None:
    """Print the table."""
    print(HEADER)
    print("|---" * HEADER.count(" | ") + "|---|")
    for name in recorded_datasets(SHARED, "earth"):
        studied = cases(SHARED, name)
        plain = [case for case in studied if case.is_plain]
        fast = [case for case in studied if not case.is_plain]
        worst = max(case.gcv_error() for case in studied if "_noprune" not in case.key)
        shown = "equal" if abs(worst) < 1e-8 else f"{worst:+.2%}"
        model = studied[0].model
        cells = [name, len(studied[0].y), len(model._predictors), outcome(plain), outcome(fast)]
        print("| " + " | ".join(map(str, [*cells, shown])) + " |", flush=True)


if __name__ == "__main__":
    main()
