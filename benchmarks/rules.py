"""Rules from trees: how the time grows with the rows.

c4.5rules compares every rule with every row at every step, so that its time grows with the square
of the rows where leaves grow with them, as on these noisy labels. Ours must stay far from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import data
import numpy as np
import pandas as pd
from results import Result, at_most, count, duration
from speed import Settings
from timing import take_turns

from treewright import C45Rules, C50Classifier

SIZES = (10_000, 20_000, 40_000, 80_000)
MOST = 16.0
"""Twice as much as the rows; the square would be 64."""


def mixed(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Sixteen columns, of which six are nominal with six categories each."""
    X, y = data.classes(n, 16)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(16)])
    for name in frame.columns[2:8]:
        codes = np.searchsorted(np.array([-1.2, -0.6, 0.0, 0.6, 1.2]), frame[name])
        frame[name] = pd.Categorical.from_codes(codes, list("abcdef"))
    return frame, y


LEARNERS: dict[str, tuple[str, Callable[[int | None], Any]]] = {
    "rules": ("C45Rules", lambda n_jobs: C45Rules(n_jobs=n_jobs)),
    "c50_rules": (
        "C50Classifier(rules=True)",
        lambda n_jobs: C50Classifier(rules=True, n_jobs=n_jobs),
    ),
}


def growth(case: str) -> Callable[[Settings], Iterator[Result]]:
    """A rule learner on 10 000 to 80 000 rows of one distribution."""
    name, make = LEARNERS[case]

    def run(settings: Settings) -> Iterator[Result]:
        sizes = [n // settings.shrink for n in SIZES]
        X, y = mixed(sizes[-1])
        model = make(settings.n_jobs)
        model.fit(X[:200], y[:200])  # whatever is loaded on first use
        calls = {count(n): (lambda n=n: model.fit(X[:n], y[:n])) for n in sizes}
        times = take_turns(calls, settings.repeats)
        first, last = (min(times[count(n)]) for n in (sizes[0], sizes[-1]))
        yield at_most(
            case,
            f"{name}, {count(sizes[-1])} rows over {count(sizes[0])} ({len(model.rules_)} rules "
            f"from {model.get_n_leaves()} leaves)",
            duration(last),
            f"itself {duration(first)}",
            last / first,
            MOST,
            "×",
            seconds=times,
        )

    return run
