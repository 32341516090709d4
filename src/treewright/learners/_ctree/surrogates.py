"""Surrogates found by tests: splits of other features that tell the two sides of a split apart.

The sides of the chosen split are the response. Features are ranked by the p-value of their
association with it, and each is cut where that tells the sides apart best, whatever the sizes. Its
first side goes where most of that side went, and the second one the other way. All this is as
partykit does; docs/comparisons/ctree.md has the exceptions. The rows are those that the chosen
split decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.association import Associator, BinarySplit
from treewright.learners._ctree.p_values import log_chi2
from treewright.tree.growing.choosing import GrowingNode, ProposedSplit, ProposedSurrogate

__all__ = ["find_surrogates"]


def find_surrogates(
    kernel: Associator,
    columns: Sequence[NDArray[Any]],
    node: GrowingNode,
    split: ProposedSplit,
    n_wanted: int,
) -> tuple[ProposedSurrogate, ...]:
    """The surrogates of a split with two branches, best first.

    Parameters
    ----------
    kernel
        Tests of the features; its response does not matter here.
    columns
        The features.
    node
        The node that is split.
    split
        Its split.
    n_wanted
        Most surrogates to return.
    """
    side = _sides(columns[split.feature][node.rows], split)
    known = side >= 0
    rows, side = node.rows[known], side[known]
    weights = None if node.weights is None else node.weights[known]
    response = np.zeros(len(columns[split.feature]), np.int32)
    response[rows] = side
    against = kernel.against(response)
    others = [feature for feature in range(len(columns)) if feature != split.feature]
    found = against.test(rows, weights, others)
    tested = np.flatnonzero(~np.isnan(found.quadratic))
    statistic = found.quadratic[tested]
    order = np.lexsort((-tested, -statistic, log_chi2(statistic, found.rank[tested])))
    surrogates: list[ProposedSurrogate] = []
    for feature in (others[tested[place]] for place in order.tolist()):
        best = against.split(rows, weights, feature, "quadratic", 0.0)
        if best is not None and len(surrogates) < n_wanted:
            surrogates.append(_surrogate(feature, best, columns[feature][rows], side, weights))
    return tuple(surrogates)


def _sides(values: NDArray[Any], split: ProposedSplit) -> NDArray[np.int32]:
    """Branch of each value; −1 for a gap."""
    if split.codes:
        branch = np.full(max(split.codes) + 2, -1, np.int32)  # the last entry is for the gaps
        branch[list(split.codes)] = split.branches
        return branch[np.where(values < len(branch) - 1, values, -1)]
    side = (values > split.breaks[0]).astype(np.int32)
    side[np.isnan(values) if values.dtype.kind == "f" else values < 0] = -1
    return side


def _surrogate(
    feature: int,
    split: BinarySplit,
    values: NDArray[Any],
    side: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
) -> ProposedSurrogate:
    """A split of ``feature``, turned so that most rows of its first side go where they went."""
    own = ProposedSplit(
        feature,
        breaks=() if len(split.codes) else (split.value,),
        codes=split.codes,
        branches=split.branches,
    )
    branch = _sides(values, own)
    known = branch >= 0
    weight = np.bincount(
        2 * branch[known] + side[known], None if weights is None else weights[known], 4
    ).reshape(2, 2)
    is_reversed = bool(weight[0, 1] > weight[0, 0])
    agreement = float(np.trace(weight[::-1] if is_reversed else weight) / weight.sum())
    most = float(weight.sum(axis=0).max() / weight.sum())
    return ProposedSurrogate(
        feature,
        breaks=own.breaks,
        codes=own.codes,
        branches=tuple(1 - b if is_reversed else b for b in own.branches),
        is_reversed=is_reversed and not own.codes,
        agreement=agreement,
        adjusted=(agreement - most) / (1.0 - most),
    )
