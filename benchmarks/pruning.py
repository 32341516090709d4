"""Pruning of large trees: the weakest-link path, and rows sent down to prune by reduced error."""

from __future__ import annotations

from collections.abc import Iterator

import data
from results import Result, at_most, count, duration
from speed import Settings
from timing import take_turns

from treewright import CARTClassifier
from treewright.pruning import cost_complexity_path, reduced_error

ROWS = 700_000
PATH_SHARE = 0.1
"""Most time of the path, as a share of growing the tree."""
SIZES = (50_000, 100_000, 200_000, 400_000)
MOST_GROWTH = 12.0
"""Rows grow eightfold; rows times depth a little more."""


def path(settings: Settings) -> Iterator[Result]:
    """The path of a tree with some 100 000 leaves, against growing it."""
    X, y = data.classes(ROWS // settings.shrink, 16)
    model = CARTClassifier(n_jobs=settings.n_jobs)
    model.fit(X[:200], y[:200])
    tree = model.fit(X, y).tree_
    cost_complexity_path(tree)
    calls = {"path": lambda: cost_complexity_path(tree), "grow": lambda: model.fit(X, y)}
    times = take_turns(calls, settings.repeats)
    ours, growing = min(times["path"]), min(times["grow"])
    yield at_most(
        "pruning_path",
        f"weakest-link path of {count(tree.n_leaves)} leaves over growing the tree",
        duration(ours),
        duration(growing),
        ours / growing,
        PATH_SHARE,
        times=times,
    )


def held_out(settings: Settings) -> Iterator[Result]:
    """Reduced error with 50 000 to 400 000 validation rows on one tree."""
    sizes = [n // settings.shrink for n in SIZES]
    X, y = data.classes(2 * sizes[-1], 16)
    tree = CARTClassifier(n_jobs=settings.n_jobs).fit(X[: sizes[-1]], y[: sizes[-1]]).tree_
    rest, target = X[sizes[-1] :], y[sizes[-1] :]
    calls = {count(n): (lambda n=n: reduced_error(tree, rest[:n], target[:n])) for n in sizes}
    times = take_turns(calls, settings.repeats)
    first, last = (min(times[count(n)]) for n in (sizes[0], sizes[-1]))
    yield at_most(
        "pruning_reduced_error",
        f"reduced error of {count(tree.n_leaves)} leaves, {count(sizes[-1])} validation rows over "
        f"{count(sizes[0])}",
        duration(last),
        duration(first),
        last / first,
        MOST_GROWTH,
        times=times,
    )
