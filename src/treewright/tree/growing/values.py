"""Node values of classification trees: labels, impurities and risks from class weights.

One vectorised pass over all nodes; nothing here is hot enough for the core.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.criteria import CRITERIA
from treewright.tree.growing.recipe import ClassCosts

__all__ = ["class_nodes", "clip_rates", "label_empty"]

Array = NDArray[np.float64]


def _normalise(weights: Array) -> Array:
    total = weights.sum(axis=1, keepdims=True)
    shares: Array = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return shares


def clip_rates(value: Array, rate: Array | None, costs: ClassCosts | None) -> Array:
    """Class weights of two classes moved to the rates that monotonic constraints allow.

    ``rate`` is that of the second class under the splitting factors, NaN where nothing binds;
    the weight of a node stays.
    """
    if rate is None or np.isnan(rate).all():
        return value
    first, second = (1.0, 1.0) if costs is None else costs.split_factor
    share = rate * first / (rate * first + (1.0 - rate) * second)
    weight = value.sum(axis=1)
    moved = np.column_stack([weight * (1.0 - share), weight * share])
    return np.where(np.isnan(rate)[:, None], value, moved)


def class_nodes(
    value: Array, clipped: Array, criterion: str | Callable[..., Any], costs: ClassCosts | None
) -> tuple[NDArray[np.int32], Array, Array]:
    """Label, impurity and risk of every node from its class weights.

    The label minimises the expected cost under the ``clipped`` weights, the first class winning
    a tie; the risk is what that label costs, as a share of the root's weight.
    """
    split = value if costs is None else value * costs.split_factor
    weights = value if costs is None else value * costs.proba_factor
    p = _normalise(split)
    if costs is not None and costs.generalized and costs.loss is not None:
        impurity = np.einsum("ni,ij,nj->n", p, costs.loss, p)
    else:
        # A user's own criterion has no impurity of its own; Gini's index stands in.
        name = criterion if isinstance(criterion, str) else "gini"
        impurity = CRITERIA[name].impurity(p)

    def expected_cost(of: Array) -> Array:
        if costs is None or costs.loss is None:
            return np.asarray(of.sum(axis=1, keepdims=True) - of)
        return np.asarray(of @ costs.loss)

    cost = expected_cost(weights)
    shown = cost
    if clipped is not value:
        shown = expected_cost(clipped if costs is None else clipped * costs.proba_factor)
    label = shown.argmin(axis=1).astype(np.int32)
    risk = cost[np.arange(len(cost)), label] / weights[0].sum()
    return label, impurity, np.maximum(risk, 0.0)


def label_empty(
    label: NDArray[np.int32],
    weight: NDArray[np.float64],
    first_child: NDArray[np.int32],
    n_children: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Labels with those of empty branches, which are leaves, taken from their parents."""
    if np.all(weight > 0):
        return label
    inner = np.flatnonzero(first_child >= 0)
    # siblings are adjacent, so sorting inner nodes by their first child lines up all children
    inner = inner[np.argsort(first_child[inner])]
    parent = np.concatenate([[0], np.repeat(inner, n_children[inner])])
    return np.where(weight > 0, label, label[parent]).astype(np.int32)
