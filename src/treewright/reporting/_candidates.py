"""What was tried at the nodes: the best test of every feature, or the tests of significance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright.reporting._book import rounded, shown
from treewright.tree.node_tests import format_p
from treewright.tree.tree import Tree

__all__ = ["node_candidates", "tested_candidates"]

MOST_SHOWN = 6
MOST_CELLS = 4_000_000
"""Cells searched for candidates, so that a page of large data does not take minutes."""


def node_candidates(model: Any, tree: Tree, X: Any, y: Any) -> dict[int, Any] | None:
    """The candidates of the heaviest nodes, found again on the training rows."""
    if not hasattr(model, "trace") or tree is not getattr(model, "tree_", None):
        return None
    inner = np.flatnonzero(~tree.is_leaf)
    order = inner[np.argsort(-tree.weight[inner], kind="stable")]
    n_features = len(tree.schema)
    names = {name: i for i, name in enumerate(tree.schema.names)}
    found: dict[int, Any] = {}
    cells = 0
    for node in order.tolist():
        cells += (int(tree.n_samples[node]) + int(tree.n_samples[0]) // 4) * n_features
        if cells > MOST_CELLS and found:
            break
        candidates = [c for c in model.trace(node, X, y).candidates if not math.isnan(c.gain)]
        candidates.sort(key=lambda c: (-c.gain, names[c.feature]))
        found[node] = {
            "score": "gain",
            "rows": [
                [names[c.feature], shown(c.test), rounded(c.gain, 3)]
                for c in candidates[:MOST_SHOWN]
            ],
        }
    return found


def tested_candidates(tree: Tree) -> dict[int, Any] | None:
    """The features that were tested for independence at each node, for trees that keep them."""
    tests = tree.tests
    if tests is None:
        return None
    found: dict[int, Any] = {}
    log_p = np.where(np.isnan(tests.log_adjusted_p), tests.log_p, tests.log_adjusted_p)
    for node in np.unique(tests.node).tolist():
        rows = np.flatnonzero(tests.node == node)
        rows = rows[np.argsort(log_p[rows], kind="stable")][:MOST_SHOWN]
        found[int(node)] = {
            "score": "adjusted p",
            "rows": [[int(tests.feature[r]), "", _p_words(float(log_p[r]))] for r in rows.tolist()],
        }
    return found


def _p_words(log_p: float) -> str:
    if math.isnan(log_p):
        return "–"
    return format_p(log_p).removeprefix("p = ").removeprefix("p ")
