"""How the trees and rule sets of C5.0 vote, and what their votes come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.learners._c50.soft import is_soft, soft_values
from treewright.rules import RuleSet
from treewright.tree.additive import Additive, Part
from treewright.tree.predict import apply, node_values
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.data.table import Table

__all__ = ["boosted_probability", "leaf_probability", "model_probability", "vote", "votes_sum"]

Floats = NDArray[np.float64]


def leaf_probability(tree: Tree) -> Floats:
    """Class probabilities of each node: one case more, divided as the root's are.

    An empty leaf has those of its parent. Where two classes tie, the node's label is the more
    probable one.
    """
    source = np.where((tree.weight > 0) | (tree.parent < 0), np.arange(tree.n_nodes), tree.parent)
    value, weight = tree.value[source], tree.weight[source]
    prior = tree.value[0] / tree.weight[0]
    probability: Floats = (value + prior) / (weight + 1.0)[:, None]
    nodes = np.arange(tree.n_nodes)
    top = probability.argmax(axis=1)
    swapped = probability[nodes, top].copy()
    probability[nodes, top] = probability[nodes, tree.label]
    probability[nodes, tree.label] = swapped
    return probability


def model_probability(model: Tree | RuleSet, table: Table, n_threads: int = 1) -> Floats:
    """Class probabilities of rows under one model."""
    if isinstance(model, RuleSet):
        return model.probability_of(table, n_threads)
    values = leaf_probability(model)
    if is_soft(model):
        return soft_values(model, table, values, n_threads)
    return node_values(model, table, values, n_threads)


def vote(
    model: Tree | RuleSet, table: Table, n_threads: int = 1
) -> tuple[NDArray[np.intp], Floats]:
    """The class that a model votes for in each row, and how strongly."""
    if isinstance(model, Tree) and not model.is_fractional and not is_soft(model):
        leaf = apply(model, table, n_threads)
        label = model.label[leaf].astype(np.intp)
        return label, leaf_probability(model)[leaf, label]
    probability = model_probability(model, table, n_threads)
    label = probability.argmax(axis=1)
    return label, probability[np.arange(len(label)), label]


def boosted_probability(
    models: Sequence[Tree | RuleSet], table: Table, n_classes: int, n_threads: int = 1
) -> Floats:
    """Shares of the votes of several models."""
    votes = np.zeros((table.n_rows, n_classes))
    rows = np.arange(table.n_rows)
    for model in models:
        label, strength = vote(model, table, n_threads)
        votes[rows, label] += strength
    return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def votes_sum(models: Sequence[Tree], outputs: Sequence[str]) -> Additive:
    """The mean of the votes of several trees, before they are scaled to a sum of one."""
    if any(is_soft(model) for model in models):
        raise ParameterError(
            "shap_values needs votes that add up, but trees with soft thresholds decide before "
            "they vote; fit with soft_thresholds=False, or with trials=1."
        )
    parts = []
    for model in models:
        probability = leaf_probability(model)
        label = probability.argmax(axis=1) if model.is_fractional else model.label
        votes = np.zeros_like(probability)
        nodes = np.arange(model.n_nodes)
        votes[nodes, label] = probability[nodes, label] / len(models)
        parts.append(Part(model, votes))
    return Additive(
        models[0].schema,
        tuple(parts),
        np.zeros(len(outputs)),
        tuple(outputs),
        "votes",
        undivided=any(model.is_fractional for model in models),
    )
