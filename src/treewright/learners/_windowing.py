"""Windowing: trees grown from a part of the rows, and then from those they get wrong.

A window is drawn with the classes as even as they can be. The tree grown from it classifies the
other rows; some of those that it gets wrong, at least half, join the window, until there are
none or the tree no longer gets better. Several trials from different windows compete.

Reference: Quinlan (1993), *C4.5: Programs for Machine Learning*, chapter 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from treewright.estimator.training import Training
from treewright.pruning._error_based import send_down
from treewright.tree.predict import node_values
from treewright.tree.tree import Tree

__all__ = ["best_of_windows", "grow_by_window"]

Rows = NDArray[np.int64]
WINDOW_SHARE = 0.2
INCREMENT_SHARE = 0.2


def best_of_windows(
    training: Training,
    grow: Callable[[Rows], Tree],
    finish: Callable[[Tree, Training], Tree],
    trials: int,
    random_state: Any,
) -> Tree:
    """The tree of the trial with the fewest expected errors once it is finished, before that.

    Parameters
    ----------
    training
        All rows.
    grow
        Grows a tree from some of them.
    finish
        Prunes a tree, whose ``expected_errors`` then count; without them its training errors do.
    trials
        Number of windows.
    random_state
        Seed of the windows.
    """
    random = check_random_state(random_state)
    best, fewest = None, np.inf
    for _ in range(trials):
        tree = send_down(
            grow_by_window(training, grow, random),
            training.table,
            training.y,
            training.sample_weight,
        )
        finished = finish(tree, training)
        expected = finished.extras.get("expected_errors")
        leaves = finished.is_leaf
        errors = finished.weight[leaves] - finished.value[leaves].max(axis=1)
        count = float(errors.sum() if expected is None else expected[0])
        if best is None or count < fewest:
            best, fewest = tree, count
    assert best is not None
    return best


def grow_by_window(
    training: Training, grow: Callable[[Rows], Tree], random: np.random.RandomState
) -> Tree:
    """One trial: the best of the trees grown from a growing window."""
    n = training.n_rows
    order = _even_classes(training.y, random)
    size = min(n, int(max(WINDOW_SHARE * n, 2.0 * np.sqrt(n))))
    increment = max(1, int(INCREMENT_SHARE * size))
    inside = np.zeros(n, np.bool_)
    inside[order[:size]] = True
    best, fewest = None, n + 1
    while True:
        tree = grow(np.flatnonzero(inside))
        wrong = _wrong(tree, training)
        outside = order[wrong[order] & ~inside[order]]
        if wrong.sum() < fewest:
            best, fewest = tree, int(wrong.sum())
        elif best is not None:
            return best
        if not len(outside):
            return best if best is not None else tree
        added = max(increment, (len(outside) + 1) // 2)
        inside[outside[:added]] = True


def _even_classes(y: NDArray[np.int32], random: np.random.RandomState) -> Rows:
    """All rows in random order, the classes taking turns as long as they last."""
    order = random.permutation(len(y))
    turn = np.empty(len(y), np.int64)
    for code in np.unique(y):
        members = np.flatnonzero(y[order] == code)
        turn[members] = np.arange(len(members))
    return order[np.argsort(turn, kind="stable")]


def _wrong(tree: Tree, training: Training) -> NDArray[np.bool_]:
    """Rows that the tree does not classify as they are."""
    predicted = node_values(tree, training.table, tree.probability).argmax(axis=1)
    return np.asarray(predicted != training.y)
