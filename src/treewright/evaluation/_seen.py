"""Whether a tree or forest is being judged on the rows that it was trained on.

A tree keeps how many training rows came to each leaf. Rows that fill every leaf with just as many
are those of training, for all that can be seen. A forest keeps which rows its first tree drew.
Other models keep nothing to tell by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.evaluation._data import take_rows

__all__ = ["seen_in_training"]


def seen_in_training(model: Any, X: Any, n_rows: int) -> bool:
    """Whether these look like the training rows; False where nothing can be known."""
    if _is_tree(model):
        return _fills_leaves(model, X, n_rows)
    members = getattr(model, "estimators_", None)
    if members is None or not hasattr(model, "estimators_samples_") or not len(members):
        return False
    member, drawn = members[0], np.asarray(model.estimators_samples_[0])
    features = getattr(model, "estimators_features_", None)
    uses_all = features is None or len(features[0]) == getattr(member, "n_features_in_", None)
    if not _is_tree(member) or not uses_all or not len(drawn) or drawn.max() >= n_rows:
        return False
    if drawn.max() < 0.9 * n_rows:  # drawn among fewer rows
        return False
    if type(model).__module__.startswith("sklearn."):  # its members know no column names
        X = np.asarray(X)
    return _fills_leaves(member, take_rows(X, drawn), len(drawn))


def _is_tree(model: Any) -> bool:
    return hasattr(model, "tree_") and hasattr(model, "apply")


def _fills_leaves(model: Any, X: Any, n_rows: int) -> bool:
    """Whether every leaf gets as many of these rows as it got in training."""
    tree = model.tree_
    counts = getattr(tree, "weighted_n_node_samples", None)  # scikit-learn
    if counts is None:
        counts = tree.weight
    counts = np.asarray(counts)
    if abs(counts[0] - n_rows) > 0.5 or len(counts) < 3:
        return False
    leaves = np.asarray(model.apply(X))
    if leaves.ndim != 1:
        return False
    is_leaf = np.zeros(len(counts), np.bool_)
    is_leaf[np.unique(leaves)] = True
    found = np.bincount(leaves, minlength=len(counts))
    # leaves that training filled and these rows do not show in the sum
    return bool(np.abs(found - counts)[is_leaf].max() < 0.5)
