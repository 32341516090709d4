"""C4.5 and C5.0 beside J48 of Weka; C4.5 with the same tree on both sides, and as release 8.

Weka reads its rows before the clock starts, as our frame has its categories before; both times
hold the building of the model alone. The Java machine is warm: of several fits in one process the
fastest counts, and the first of them hardly ever is.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import data
import numpy as np
from machine import WEKA_JAR, weka_version
from results import Result, Skipped, count, faster, not_worse
from speed import Settings
from timing import take_turns

from treewright import C45Classifier, C50Classifier

SOURCE = Path(__file__).with_name("J48Timing.java")
PEER = "J48"
LEAST = 5.0


LEARNERS: dict[str, Callable[[int | None], Any]] = {
    "c45": lambda n_jobs: C45Classifier(variant="j48", n_jobs=n_jobs),
    "release8": lambda n_jobs: C45Classifier(variant="release8", n_jobs=n_jobs),
    "c50": lambda n_jobs: C50Classifier(n_jobs=n_jobs),
}


def adult(learner: str) -> Callable[[Settings], Iterator[Result | Skipped]]:
    """Adult: 32 561 people, 14 columns of which 8 nominal, gaps in 3."""

    def case(settings: Settings) -> Iterator[Result | Skipped]:
        found = data.adult()
        if found is None:
            message = "the data are not beside the checkout (../shared/data)."
            yield Skipped(f"{learner}_adult", message)
            return
        yield from _compare(learner, f"{learner}_adult", "adult", *found, 6, settings)

    return case


def mixed(learner: str) -> Callable[[Settings], Iterator[Result | Skipped]]:
    """100 000 rows of numbers, categories and gaps to learn from, and as many to test on."""

    def case(settings: Settings) -> Iterator[Result | Skipped]:
        X, y = data.mixed(200_000 // settings.shrink)
        yield from _compare(learner, f"{learner}_mixed", "mixed columns", X, y, 2, settings)

    return case


def _compare(
    learner: str,
    case: str,
    name: str,
    frame: Any,
    target: np.ndarray,
    fits: int,
    settings: Settings,
) -> Iterator[Result | Skipped]:
    if weka_version() is None:
        yield Skipped(case, "a Java compiler or Weka is not installed.")
        return
    half = np.random.default_rng(0).permutation(len(target)) % 2
    X, y = frame[half == 0], target[half == 0]
    X_test, y_test = frame[half == 1], target[half == 1]
    models = {
        "treewright": LEARNERS[learner](settings.n_jobs),
        "one thread": LEARNERS[learner](None),
    }
    for model in models.values():
        model.fit(X[:200], y[:200])  # whatever is loaded on first use
    calls = {key: (lambda m=model: m.fit(X, y)) for key, model in models.items()}
    times = take_turns(calls, settings.repeats)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "train.arff", Path(folder) / "test.arff"]
        _write(paths[0], frame, X, y)
        _write(paths[1], frame, X_test, y_test)
        accuracy, leaves, seconds = _weka(*paths, fits)
    ours = models["treewright"]
    sizes = f"{ours.get_n_leaves()} and {leaves} leaves"
    what = f"fit, {name}, {count(len(y))} × {X.shape[1]} ({sizes})"
    found = {"treewright": times["treewright"], PEER: seconds}
    yield faster(case, f"{what}, {settings.n_jobs} threads", PEER, found, LEAST)
    found = {"treewright": times["one thread"], PEER: seconds}
    yield faster(case, f"{what}, one thread", PEER, found, LEAST)
    score = float(np.mean(ours.predict(X_test) == y_test))
    error = float(np.sqrt(score * (1 - score) / len(y_test)))
    yield not_worse(case, "test accuracy of the same", PEER, score, accuracy, error)


def _weka(train: Path, test: Path, fits: int) -> tuple[float, int, list[float]]:
    """Accuracy, leaves and seconds of each fit."""
    files = [str(path) for path in (SOURCE, train, test)]
    command = ["java", "-Xmx4g", "-cp", str(WEKA_JAR), *files, str(fits)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8")
    accuracy, leaves, *seconds = done.stdout.split()
    return float(accuracy), int(leaves), [float(s) for s in seconds]


def _write(path: Path, declared: Any, X: Any, y: np.ndarray) -> None:
    """Rows as ARFF; the categories are those of ``declared``."""

    def quoted(value: object) -> str:
        return "'" + str(value).replace("'", "\\'") + "'"

    with path.open("w", encoding="utf-8") as out:
        out.write("@relation rows\n")
        cells = []
        for name in declared.columns:
            column, gap = X[name], X[name].isna().to_numpy()
            if hasattr(column.dtype, "categories"):
                out.write(f"@attribute {quoted(name)} {{")
                out.write(",".join(quoted(c) for c in declared[name].cat.categories) + "}\n")
                text = np.array([quoted(v) for v in column.astype(object)], dtype=object)
            else:
                out.write(f"@attribute {quoted(name)} numeric\n")
                text = np.array([repr(float(v)) for v in column], dtype=object)
            cells.append(np.where(gap, "?", text))
        classes = ",".join(quoted(c) for c in np.unique(y))
        out.write(f"@attribute class {{{classes}}}\n@data\n")
        for row in zip(*cells, [quoted(v) for v in y], strict=True):
            out.write(",".join(row) + "\n")
