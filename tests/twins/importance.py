"""Numpy twin of out-of-bag permutation importance: every tree, every feature, every row again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.twins import predict
from tests.twins.forest import below_each, child_path, tree_seed
from treewright.tree.tree import Tree

__all__ = ["oob_importance", "shuffled_order"]

SHUFFLE_STREAM = 0x53485546464C45
"""Stream of the orders of values, one below it for each feature."""


def shuffled_order(seed: int, tree: int, feature: int, n: int) -> NDArray[np.int64]:
    """A random order of ``n`` rows (Fisher and Yates)."""
    stream = child_path(SHUFFLE_STREAM, feature)
    bounds = range(n, 1, -1)
    order = np.arange(n)
    for bound, j in zip(bounds, below_each(tree_seed(seed, tree), stream, bounds), strict=True):
        order[[bound - 1, j]] = order[[j, bound - 1]]
    return order


def oob_importance(
    trees: Sequence[Tree],
    columns: Sequence[NDArray[Any]],
    y: NDArray[Any],
    values: Sequence[NDArray[np.float64]],
    counts: Callable[[int], NDArray[np.int32]],
    seed: int,
) -> NDArray[np.float64]:
    """What each tree loses on the rows that ``counts`` of it has 0 for, feature by feature.

    ``values`` are class probabilities or means of the nodes of each tree.
    """
    lost = np.full((len(trees), len(columns)), np.nan)
    for k, tree in enumerate(trees):
        out = np.flatnonzero(counts(k) == 0)
        if not len(out):
            continue
        rows = [column[out] for column in columns]
        before = _loss(predict.values(tree, rows, values[k]), y[out])
        for f, column in enumerate(rows):
            moved = [*rows]
            moved[f] = column[shuffled_order(seed, k, f, len(out))]
            lost[k, f] = np.mean(_loss(predict.values(tree, moved, values[k]), y[out]) - before)
    return lost


def _loss(said: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
    if y.dtype == np.int32:
        return np.asarray(said.argmax(axis=1) != y, np.float64)
    return np.asarray(((said - y.reshape(said.shape)) ** 2).mean(axis=1))
