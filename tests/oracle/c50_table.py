"""The tables of docs/comparisons/c50.md: ``python -m tests.oracle.c50_table``."""

from __future__ import annotations

from tests.conftest import SHARED
from tests.oracle.c50_compare import Outcome, outcomes, paired, sizes

RUNS = ("tree", "rules", "boost10")
OTHERS = (
    "tree_subset",
    "fuzzy",
    "winnow",
    "boost10_noearly",
    "rules_boost10",
    "bands10",
    "costs_1_4",
    "costs_1_4_rules",
)


def cell(ours: object, theirs: object) -> str:
    """Two numbers beside each other."""
    return "–" if ours is None else f"{ours} / {theirs}"


def row(found: tuple[Outcome, ...]) -> str:
    """A data set: its tree, then size and held-out errors of each run."""
    first = found[0]
    tree = "–" if first.same is None else "=" if first.same else "≠"
    cells = [first.dataset, str(first.n_rows), tree]
    for o in found:
        cells += [cell(o.size, o.their_size), cell(o.errors, o.their_errors)]
    return "| " + " | ".join(cells) + " |"


def other_runs() -> None:
    """The runs beside the three: size, errors, trees."""
    print(
        "| run | data sets | size, ours | C5.0's | training errors | C5.0's | held-out | C5.0's |"
    )
    print("|---" * 8 + "|")
    for run in OTHERS:
        found = outcomes(SHARED, run)
        held = [o for o in found if o.errors is not None]
        cells = [run, len(found), *sizes(found)]
        cells += [sum(o.training_errors for o in found)]
        cells += [sum(o.their_training_errors for o in found)]
        cells += [sum(o.errors or 0 for o in held) if held else "–"]
        cells += [sum(o.their_errors or 0 for o in held) if held else "–"]
        print("| " + " | ".join(map(str, cells)) + " |")
        different = [o.dataset for o in found if o.same is False]
        models = (sum(o.n_equal for o in found), sum(o.n_models for o in found))
        print(f"  {run}: {models[0]} of {models[1]} trees equal; not {different}", flush=True)


def main() -> None:
    """Print the tables."""
    runs = [outcomes(SHARED, run) for run in RUNS]
    print("| data set | rows | tree | leaves | errors | rules | errors | boosted leaves | errors |")
    print("|---" * 9 + "|")
    for found in zip(*runs, strict=True):
        print(row(found))
    print()
    print("| run | data sets | mean difference of error | standard error | size, ours | C5.0's |")
    print("|---" * 6 + "|")
    for run, found in zip(RUNS, runs, strict=True):
        mean, error = paired(found)
        n = sum(o.errors is not None for o in found)
        ours, theirs = sizes(found)
        print(f"| {run} | {n} | {mean:+.4f} | {error:.4f} | {ours} | {theirs} |")
    print()
    other_runs()
    print()
    for run in ("tree", "tree_noglobal", "CF05_M5"):
        found = outcomes(SHARED, run)
        other = [o.dataset for o in found if not o.same]
        print(f"{run}: {sum(bool(o.same) for o in found)} of {len(found)}; not {', '.join(other)}")


if __name__ == "__main__":
    main()
