"""What was tried at the nodes: the best test of every feature, or the tests of significance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright.explain._trace import Candidate
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
        # the figure that the learner chose by: gains of splits into very many branches mislead
        by_ratio = any(c.is_chosen and not math.isnan(c.gain_ratio) for c in candidates)
        score = {c.feature: c.gain_ratio if by_ratio else c.gain for c in candidates}
        candidates = [c for c in candidates if not math.isnan(score[c.feature])]
        candidates.sort(key=lambda c: (-score[c.feature], names[c.feature]))
        found[node] = {
            "score": "gain ratio" if by_ratio else "gain",
            "rows": [
                [names[c.feature], _test_words(c), rounded(score[c.feature], 3)]
                for c in candidates[:MOST_SHOWN]
            ],
        }
    return found


def _test_words(candidate: Candidate) -> str:
    """The test of the first branch; of a split into several how many there are."""
    n = len(candidate.branches)
    return shown(candidate.test if n < 3 else f"{candidate.feature} ({n} branches)")


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
