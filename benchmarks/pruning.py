"""Pruning of large trees: the weakest-link path, and rows sent down to prune by reduced error."""

from __future__ import annotations

from collections.abc import Iterator

import data
import numpy as np
from results import Result, at_most, count, duration
from speed import Settings
from timing import take_turns

from treewright import CARTClassifier
from treewright.pruning import cost_complexity_path, reduced_error

ROWS = 1_200_000
"""Rows that make some 100 000 leaves."""
PATH_SHARE = 0.1
"""Most time of the path, as a share of growing the tree."""
SIZES = (50_000, 100_000, 200_000, 400_000)
MOST_GROWTH = 12.0
"""Rows grow eightfold, the tree is the same."""
DEPTHS = (6, None)
MOST_PER_LEVEL = 1.5
"""Time per row and level of its way, deep tree over shallow one."""


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
    yield from _by_depth(X[: sizes[-1]], y[: sizes[-1]], rest, target, settings)


def _by_depth(
    X: np.ndarray, y: np.ndarray, rest: np.ndarray, target: np.ndarray, settings: Settings
) -> Iterator[Result]:
    """The same rows down a shallow tree and a deep one."""
    trees = {
        str(depth): CARTClassifier(max_depth=depth, n_jobs=settings.n_jobs).fit(X, y).tree_
        for depth in DEPTHS
    }
    calls = {name: (lambda t=tree: reduced_error(t, rest, target)) for name, tree in trees.items()}
    times = take_turns(calls, settings.repeats)
    each = {}
    for name, tree in trees.items():
        leaves = tree.is_leaf
        levels = np.average(tree.node_depth[leaves], weights=tree.weight[leaves])
        each[name] = min(times[name]) / (len(rest) * levels)
    shallow, deep = each.values()
    yield at_most(
        "pruning_reduced_error",
        "reduced error per row and level of its way, full tree over depth 6",
        f"{deep * 1e9:.1f} ns",
        f"{shallow * 1e9:.1f} ns",
        deep / shallow,
        MOST_PER_LEVEL,
        times=times,
    )
