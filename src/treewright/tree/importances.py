"""Importances of features: the impurity that their splits took away.

The gain of a node already carries the node's share of the weight, so importances are sums.
Surrogates are credited as rpart does: the gain of the split times the adjusted agreement, where
that is above zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treewright.tree.split import SplitKind, Splits
from treewright.tree.tree import Tree

__all__ = ["impurity_importances"]


def impurity_importances(tree: Tree, *, normalize: bool, surrogates: bool) -> NDArray[np.float64]:
    """Sum of gains per feature; see :meth:`Tree.feature_importances`."""
    total = _credit(tree.splits, tree.gain, len(tree.schema))
    if surrogates and len(tree.surrogates):
        owner = np.repeat(np.arange(tree.n_nodes), np.diff(tree.surrogate_offset))
        # partykit's may agree less than the larger side alone would: such a one gets nothing
        credit = tree.gain[owner] * np.maximum(tree.surrogate_adjusted, 0.0)
        total = total + _credit(tree.surrogates, credit, len(tree.schema))
    scale = total.sum()
    return total / scale if normalize and scale > 0 else total


def _credit(splits: Splits, credit: NDArray[np.float64], n_features: int) -> NDArray[np.float64]:
    """Hand ``credit[i]`` to the feature, or the features, of split ``i``."""
    single = (splits.kind == SplitKind.BREAKS) | (splits.kind == SplitKind.CODES)
    total = np.zeros(n_features)
    total += np.bincount(splits.feature[single], credit[single], minlength=n_features)
    if len(splits.term_feature):
        owner = np.repeat(np.arange(len(splits)), np.diff(splits.term_offset))
        # a nominal feature has a term for each of several categories
        owner, feature = np.unique([owner, splits.term_feature], axis=1)
        each = credit[owner] / np.bincount(owner)[owner]
        total += np.bincount(feature, each, minlength=n_features)
    return total
