"""Errors to be expected of a leaf: an upper confidence limit of its training errors.

The same limit as in ``core/error_based.cpp``, for all nodes of a tree at once. Pruning by it needs
no rows as long as no branch is raised.

Quinlan (1993), *C4.5: Programs for Machine Learning*, chapter 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.pruning._bottom_up import cheapest, cut, ended_here
from treewright.pruning._minimum_error import price_of_errors
from treewright.tree.tree import Tree

__all__ = ["added_errors", "replace_subtrees"]

Floats = NDArray[np.float64]

SLACK = 0.1
"""By how many errors a leaf may exceed the subtree that it replaces."""


def added_errors(cases: Floats, errors: Floats, rules: dict[str, Any]) -> Floats:
    """What the confidence limit adds to ``errors`` among ``cases``, element by element."""
    with np.errstate(divide="ignore", invalid="ignore"):
        none = cases * (1.0 - np.exp(np.log(rules["confidence"]) / cases))
        small = none + errors * (_limit(cases, np.ones_like(errors), rules) - none)
        added = np.where(errors < 0.9999, small, _limit(cases, errors, rules))
        return np.asarray(np.where(errors < 1e-6, none, added), np.float64)


def _limit(cases: Floats, errors: Floats, rules: dict[str, Any]) -> Floats:
    """The addition for one error or more."""
    c, e = rules["z"] ** 2, errors + 0.5
    spread = np.sqrt(np.maximum(c * (e * (1.0 - e / cases) + c / 4), 0.0))
    normal = cases * (e + c / 2 + spread) / (cases + c) - errors
    tail = np.maximum(rules["tail"] * (cases - errors), rules["least_tail"])
    return np.asarray(np.where(e >= cases, tail, normal), np.float64)


def replace_subtrees(tree: Tree, rules: dict[str, Any]) -> Tree:
    """Replace subtrees by leaves, from below, by the counts that the tree holds."""
    cases = tree.weight
    errors = np.maximum(cases - tree.value[np.arange(tree.n_nodes), tree.label], 0.0)
    is_empty = cases <= max(rules["tolerance"], 0.0)
    expected = errors + added_errors(cases, errors, rules)
    as_leaf = np.where(is_empty, 0.0, expected * price_of_errors(tree))
    best = cheapest(tree, as_leaf, ended_here(tree), slack=SLACK + rules["tolerance"])
    return cut(
        tree,
        best.becomes_leaf,
        "error-based",
        "a leaf is expected to make at most 0.1 more errors than the subtree "
        f"(confidence {rules['confidence']:g})",
        best.below,
        as_leaf,
        best.n_leaves,
    )
