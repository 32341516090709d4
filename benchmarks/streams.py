"""Hoeffding trees against river's on the same streams: accuracy before learning, and time.

    python benchmarks/streams.py [rows of Agrawal's streams] [stream,stream,…] [kind,kind,…] [order]

Order is the seed by which rows of shared data are shuffled, 0 if it is left out.

River is given its rows as dicts, made before the clock starts; ours come in blocks of 5000 rows.
Both answer every row before they learn it.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

SHARED = Path(__file__).resolve().parents[2] / "shared"
BLOCK = 5000


def drifting(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Agrawal's rules 1, 4, 5 and 2 one after another, perturbed and with noise."""
    import pyarrow as pa

    from treewright.datasets import make_agrawal

    parts = [
        make_agrawal(n // 4, rule, noise=0.05, perturbation=0.05, random_state=seed + rule)
        for rule in (1, 4, 5, 2)
    ]
    return pa.concat_tables([p.data for p in parts]), np.concatenate([p.target for p in parts])


def steady(n: int, rule: int) -> tuple[Any, Any]:
    """One of Agrawal's rules."""
    from treewright.datasets import make_agrawal

    data = make_agrawal(n, rule, perturbation=0.05, random_state=rule)
    return data.data, data.target


def shared(name: str, order: int, is_number: bool = False) -> tuple[Any, Any]:
    """A shared data set, its rows in random order."""
    from treewright.data.readers import read_table

    schema = json.loads((SHARED / "data" / f"{name}.schema.json").read_text())
    file = next((SHARED / "data").glob(f"{name}.csv*"))
    columns = schema["columns"]
    target = next(c["name"] for c in columns if c["role"] == "target")
    table = read_table(file)
    table = table.take(np.random.default_rng(order).permutation(table.num_rows))
    X = table.select([c["name"] for c in columns if c["role"] == "predictor"])
    y = table.column(target).to_numpy(zero_copy_only=False)
    return X, y.astype(float) if is_number else y.astype(str)


def ours(model: Any, X: Any, y: Any, classes: Any = None) -> tuple[Any, float]:
    """Answers before learning, and seconds."""
    extra = {} if classes is None else {"classes": classes}
    answers = []
    start = time.perf_counter()
    for begin in range(0, len(y), BLOCK):
        part = slice(begin, begin + BLOCK)
        answers.append(model.predict_then_learn(X.slice(begin, BLOCK), y[part], **extra))
    return np.concatenate(answers), time.perf_counter() - start


def river(model: Any, X: Any, y: Any) -> tuple[Any, float]:
    """The same, a row at a time."""
    rows, targets = X.to_pylist(), y.tolist()
    answers = []
    start = time.perf_counter()
    for row, target in zip(rows, targets, strict=True):
        answers.append(model.predict_one(row))
        model.learn_one(row, target)
    return answers, time.perf_counter() - start


def classifiers(nominal: list[str]) -> list[tuple[str, Any, Any]]:
    """Pairs of the same kind."""
    from river import tree

    from treewright import HoeffdingTreeClassifier as Ours

    names = {"nominal_attributes": nominal}
    return [
        ("vfdt", Ours(), tree.HoeffdingTreeClassifier(**names)),
        (
            "efdt",
            Ours(algorithm="efdt"),
            tree.ExtremelyFastDecisionTreeClassifier(**names),
        ),
        ("adwin", Ours(drift="adwin"), tree.HoeffdingAdaptiveTreeClassifier(**names, seed=0)),
    ]


def main(n: int, only: list[str], kinds: list[str], order: int) -> None:
    import pyarrow as pa

    streams = {
        "Agrawal 1": steady(n, 1),
        "Agrawal 5": steady(n, 5),
        "Agrawal 7": steady(n, 7),
        "Agrawal, drifting": drifting(n),
    }
    if SHARED.is_dir():
        for name in ("adult", "bank_marketing", "shuttle", "letter", "mushroom"):
            streams[name] = shared(name, order)
    print("| stream | rows | kind | ours | river | times as fast |\n|---|---|---|---|---|---|")
    for stream, (X, y) in streams.items():
        if only and stream not in only:
            continue
        nominal = [f.name for f in X.schema if pa.types.is_string(f.type)]
        for kind, own, other in classifiers(nominal):
            if kinds and kind not in kinds:
                continue
            answers, seconds = ours(own, X, y, np.unique(y))
            theirs, their_seconds = river(other, X, y)
            right = np.mean(answers == y)
            their_right = np.mean([a == b for a, b in zip(theirs, y, strict=True)])
            print(
                f"| {stream} | {len(y)} | {kind} | {right:.4f} | {their_right:.4f} | "
                f"{their_seconds / seconds:.0f} |",
                flush=True,
            )
    if SHARED.is_dir():
        numbers(only, order)


def numbers(only: list[str], order: int) -> None:
    """Regressors on shared data: mean absolute error."""
    import pyarrow as pa
    from river import tree

    from treewright import HoeffdingTreeRegressor

    for name in ("fried", "twodplanes", "cal_housing"):
        if only and name not in only:
            continue
        X, y = shared(name, order, is_number=True)
        nominal = [f.name for f in X.schema if pa.types.is_string(f.type)]
        answers, seconds = ours(HoeffdingTreeRegressor(), X, y)
        other = tree.HoeffdingTreeRegressor(nominal_attributes=nominal)
        theirs, their_seconds = river(other, X, y)
        error, their_error = np.mean(np.abs(answers - y)), np.mean(np.abs(np.array(theirs) - y))
        print(
            f"| {name} | {len(y)} | regressor | {error:.4g} | {their_error:.4g} | "
            f"{their_seconds / seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    given = [each.split(",") for each in sys.argv[2:4]] + [[], []]
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 40_000
    main(n_rows, given[0], given[1], int(sys.argv[4]) if len(sys.argv) > 4 else 0)
