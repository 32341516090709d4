"""Node values of classification trees: labels, impurities and risks from class weights.

One vectorised pass over all nodes; nothing here is hot enough for the core.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.criteria import CRITERIA
from treewright.tree.recipe import ClassCosts

__all__ = ["class_nodes"]

Array = NDArray[np.float64]


def _normalise(weights: Array) -> Array:
    total = weights.sum(axis=1, keepdims=True)
    shares: Array = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return shares


def class_nodes(
    value: Array, criterion: str | Callable[..., Any], costs: ClassCosts | None
) -> tuple[NDArray[np.int32], Array, Array]:
    """Label, impurity and risk of every node from its class weights.

    The label minimises the expected cost, the first class winning a tie; the risk is that cost
    as a share of the root's weight.
    """
    split = value if costs is None else value * costs.split_factor
    plain = value if costs is None else value * costs.proba_factor
    p = _normalise(split)
    if costs is not None and costs.generalized and costs.loss is not None:
        impurity = np.einsum("ni,ij,nj->n", p, costs.loss, p)
    else:
        # A user's own criterion has no impurity of its own; Gini's index stands in.
        name = criterion if isinstance(criterion, str) else "gini"
        impurity = CRITERIA[name].impurity(p)
    if costs is None or costs.loss is None:
        cost = plain.sum(axis=1, keepdims=True) - plain
    else:
        cost = plain @ costs.loss
    label = cost.argmin(axis=1).astype(np.int32)
    risk = cost[np.arange(len(cost)), label] / plain[0].sum()
    return label, impurity, np.maximum(risk, 0.0)
