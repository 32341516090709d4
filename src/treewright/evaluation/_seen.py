"""Whether a tree or forest is being judged on the rows that it was trained on.

A tree keeps how many training rows came to each leaf. Rows that fill every leaf with just as many
are those of training, for all that can be seen. A forest keeps which rows its first tree drew; the
trees of a booster have all of them, unless it draws rows or sets some aside. Other models keep
nothing to tell by.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.evaluation._data import take_rows
from treewright.tree.tree import Tree

__all__ = ["seen_in_training"]

MOST_TREES = 20
"""Trees of a booster that are looked at; other rows may fill the leaves of one by chance."""


def seen_in_training(model: Any, X: Any, n_rows: int) -> bool:
    """Whether these look like the training rows; False where nothing can be known."""
    if _is_tree(model):
        return _fills_leaves(model, X, n_rows)
    members = getattr(model, "estimators_", None)
    if members is None or not hasattr(members, "__len__") or not len(members):
        return False
    if isinstance(members[0], Tree):  # gradient boosting
        leaves = np.asarray(model.apply(X))
        trees = range(min(len(members), MOST_TREES))
        return all(_fills(members[k].n_samples, leaves[:, k], n_rows) for k in trees)
    if not hasattr(model, "estimators_samples_"):
        is_adaboost = hasattr(model, "estimator_errors_")
        return is_adaboost and _is_tree(members[0]) and _fills_leaves(members[0], X, n_rows)
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
    leaves = np.asarray(model.apply(X))
    return leaves.ndim == 1 and _fills(np.asarray(counts), leaves, n_rows)


def _fills(counts: NDArray[Any], leaves: NDArray[Any], n_rows: int) -> bool:
    if abs(counts[0] - n_rows) > 0.5 or len(counts) < 3:
        return False
    is_leaf = np.zeros(len(counts), np.bool_)
    is_leaf[np.unique(leaves)] = True
    found = np.bincount(leaves, minlength=len(counts))
    # leaves that training filled and these rows do not show in the sum
    return bool(np.abs(found - counts)[is_leaf].max() < 0.5)
