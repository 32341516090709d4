"""Optimal trees beside pystreed, on binary columns.

Both times hold the whole call of ``fit`` from the array to the tree. pystreed has one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from results import Result, Skipped, count, faster
from speed import Settings
from timing import take_turns

from treewright import OptimalTreeClassifier

N_ROWS, N_COLUMNS = 2000, 40
DEPTHS = (2, 3, 4)


def optimal(settings: Settings) -> Iterator[Result | Skipped]:
    """2000 rows, 40 binary columns, of which six carry the signal."""
    try:
        peer = f"pystreed {version('pystreed')}"
    except PackageNotFoundError:
        why = "the package pystreed is not installed (treewright[bench] names it)."
        yield Skipped("optimal", why)
        return
    from pystreed import STreeDClassifier

    X, y = _data(N_ROWS // settings.shrink)
    for depth in DEPTHS:
        ours = OptimalTreeClassifier(max_depth=depth, leaf_penalty=0.0, n_jobs=settings.n_jobs)
        theirs = STreeDClassifier("accuracy", max_depth=depth, max_num_nodes=2**depth - 1)
        ours.fit(X[:100], y[:100])  # whatever is loaded on first use
        calls = {"treewright": _fitting(ours, X, y), peer: _fitting(theirs, X, y)}
        times = take_turns(calls, settings.repeats)
        errors = [np.count_nonzero(model.predict(X) != y) for model in (ours, theirs)]
        what = (
            f"optimal tree, {count(len(y))} × {N_COLUMNS} binary, depth {depth} "
            f"({errors[0]} and {errors[1]} errors)"
        )
        yield faster("optimal", what, peer, times, 1.0)


def _fitting(model, X: np.ndarray, y: np.ndarray):
    return lambda: model.fit(X, y)


def _data(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n_rows, N_COLUMNS))
    signal = (X[:, 0] ^ X[:, 1]) + (X[:, 2] & X[:, 3]) + X[:, 4] * X[:, 5]
    return X, (signal + rng.normal(0, 0.7, n_rows) > 1).astype(int)
