"""Benchmarks: treewright beside scikit-learn, rpart and Weka, in one run on one machine.

Run with ``make bench``, or ``python benchmarks/run.py --quick --only full depth8``. Prints a table
and writes it, with every single time, to bench-output. What is measured and how to read it:
docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import boosting
import boosting_answers
import exports
import forests
import pruning
import quinlan
from chaid import chaid
from explaining import explain
from footprint import imports, memory
from footprint import table as encoding
from forest_quality import quality
from inference import ctree
from machine import facts
from mars import mars
from mixed import adult
from optimal import optimal
from results import Result, Skipped, save, table
from rules import growth as rules
from speed import Settings, fit_case, iris, predict, scaling
from timing import use_processor_time

Case = Callable[[Settings], Iterator[Result | Skipped]]

CASES: dict[str, Case] = {
    "full": fit_case("full", "classes", 200_000, 28, None, 20),
    "depth8": fit_case("depth8", "classes", 200_000, 28, 8, 15),
    "regression": fit_case("regression", "numbers", 200_000, 28, None, 15),
    "regression8": fit_case("regression8", "numbers", 200_000, 28, 8, 15),
    "small": fit_case("small", "classes", 10_000, 20, None, 8),
    "iris": iris,
    "predict": predict,
    "adult": adult,
    "chaid": chaid,
    "c45_adult": quinlan.adult("c45"),
    "c45_mixed": quinlan.mixed("c45"),
    "release8_adult": quinlan.adult("release8"),
    "release8_mixed": quinlan.mixed("release8"),
    "c50_adult": quinlan.adult("c50"),
    "c50_mixed": quinlan.mixed("c50"),
    "ctree": ctree,
    "mars": mars,
    "forest": forests.grow,
    "forest_numbers": forests.numbers,
    "forest_cover": forests.cover,
    "forest_adult": forests.adult,
    "forest_predict": forests.predict,
    "forest_footprint": forests.footprint,
    "forest_quality": quality,
    "boosting": boosting.grow,
    "boosting_small": boosting.small,
    "boosting_symmetric": boosting.symmetric,
    "boosting_ydf": boosting.ydf,
    "boosting_adult": boosting.shared("adult"),
    "boosting_letter": boosting.shared("letter"),
    "boosting_sparse": boosting.sparse,
    "boosting_memory": boosting.memory,
    "boosting_busy": boosting.busy,
    "boosting_predict": boosting_answers.predict,
    "boosting_predict_row": boosting_answers.one_row,
    "boosting_predict_mixed": boosting_answers.mixed,
    "boosting_predict_symmetric": boosting_answers.symmetric,
    "export_c_classes": exports.c_row("classes"),
    "export_c_numbers": exports.c_row("numbers"),
    "export_onnx": exports.onnx,
    "scaling": scaling,
    "optimal": optimal,
    "explain": explain,
    "rules": rules("rules"),
    "c50_rules": rules("c50_rules"),
    "pruning_path": pruning.path,
    "pruning_reduced_error": pruning.held_out,
    "table": encoding,
    "memory": memory,
    "import": imports,
}
QUICK = 50
"""By how much --quick divides the number of rows."""


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data, once: does it work?")
    parser.add_argument("--only", nargs="+", choices=CASES, metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--repeats", type=int, help="rounds, of which the best counts (default 3)")
    parser.add_argument("--shrink", type=int, help="divide the number of rows by this")
    parser.add_argument("--cpu", action="store_true", help="processor time; use with --n-jobs 1")
    parser.add_argument("--n-jobs", type=int, default=2, help="our threads (default 2)")
    folder = Path(__file__).resolve().parents[1] / "bench-output"
    parser.add_argument("--output-dir", type=Path, default=folder, help="default: bench-output")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the cases, print as they finish, save at the end."""
    options = parse(arguments)
    settings = Settings(
        repeats=options.repeats or (1 if options.quick else 3),
        n_jobs=options.n_jobs,
        shrink=options.shrink or (QUICK if options.quick else 1),
    )
    if options.cpu:
        use_processor_time()
    where = facts()
    print(*(f"{name}: {value}" for name, value in where.items()), sep="\n")
    results: list[Result] = []
    skipped: list[Skipped] = []
    for name in options.only or CASES:
        start = time.perf_counter()
        for found in CASES[name](settings):
            if isinstance(found, Skipped):
                skipped.append(found)
                print(f"{name}: skipped, {found.why}", flush=True)
            else:
                # The targets are about the full sizes.
                results.append(replace(found, is_met=None) if options.quick else found)
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    if options.quick:
        print("\nSmall data, timed once: this shows that the benchmarks run, nothing else.")
    print(f"\n{table(results)}")
    save(options.output_dir, where, results, skipped)
    print(f"\nWritten to {options.output_dir}.")


if __name__ == "__main__":
    main()
