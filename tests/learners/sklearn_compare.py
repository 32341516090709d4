"""Walks a tree of ours and one of scikit-learn's side by side.

Both see the same float32 values. Two splits are equal if they divide the rows of the node alike;
where they do not, the gains of both are computed here from the rows, and the difference counts as
a tie only if they agree to 1e-9. Below a tie the trees go their own ways and nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.twins.split_search import Rows, gain
from treewright.data.encode import encode
from treewright.data.schema import Target
from treewright.tree.growing.grow import candidates
from treewright.tree.growing.recipe import Recipe

TIE = 1e-9
CRITERIA = {"log_loss": "entropy"}


@dataclass
class Sample:
    """Data as both sides get them."""

    X: np.ndarray
    y: np.ndarray
    is_classes: bool
    weight: np.ndarray | None = None

    @property
    def target(self) -> Target:
        return Target("y", tuple(np.unique(self.y))) if self.is_classes else Target("y")

    @property
    def codes(self) -> np.ndarray:
        """Classes as codes, numbers as they are."""
        if self.is_classes:
            return np.unique(self.y, return_inverse=True)[1].astype(np.int32)
        return self.y.astype(np.float64)

    @property
    def weights(self) -> np.ndarray:
        return np.ones(len(self.y)) if self.weight is None else self.weight


@dataclass
class Comparison:
    """How many inner nodes agree, and the gains of both sides where they do not.

    ``other_features`` counts nodes that divide their rows alike by different features.
    """

    equal: int = 0
    other_features: int = 0
    leaves: int = 0
    ties: list[tuple[float, float]] = field(default_factory=list)
    different: list[tuple[float, float]] = field(default_factory=list)

    @property
    def is_same_tree(self) -> bool:
        return not self.ties and not self.different


def their_sides(model: Any, node: int, X: np.ndarray) -> np.ndarray:
    """Which rows go left at a node of scikit-learn's tree."""
    tree = model.tree_
    x = X[:, tree.feature[node]]
    goes_left = x.astype(np.float64) <= tree.threshold[node]
    return np.where(np.isnan(x), bool(tree.missing_go_to_left[node]), goes_left)


def our_sides(model: Any, node: int, X: np.ndarray) -> np.ndarray:
    """Which rows go left at a node of ours."""
    splits = model.tree_.splits
    x = X[:, splits.feature[node]].astype(np.float64)
    (at,) = splits.node_breaks(node)
    goes_left = x <= at if splits.closed[node] else x < at
    return np.where(np.isnan(x), model.tree_.default[node] == 0, goes_left)


def scored_rows(sample: Sample, rows: np.ndarray, criterion: str) -> Rows:
    recipe = Recipe(CRITERIA.get(criterion, criterion))
    return Rows(sample.codes[rows], sample.weights[rows], sample.target, recipe)


def compare(ours: Any, theirs: Any, sample: Sample) -> Comparison:
    """Compare two fitted trees node by node."""
    found = Comparison()
    pending = [(0, 0, np.arange(len(sample.y)))]
    while pending:
        us, them, rows = pending.pop()
        we_split, they_split = (
            ours.tree_.first_child[us] >= 0,
            theirs.tree_.children_left[them] >= 0,
        )
        if not we_split and not they_split:
            found.leaves += 1
            continue
        everything = np.ones(len(rows), bool)
        left = our_sides(ours, us, sample.X[rows]) if we_split else everything
        their_left = their_sides(theirs, them, sample.X[rows]) if they_split else everything
        first = int(ours.tree_.first_child[us])
        if np.array_equal(left, their_left):
            children = first, first + 1
        elif np.array_equal(left, ~their_left):
            children = first + 1, first
        else:
            is_tie, gains = _score(scored_rows(sample, rows, theirs.criterion), left, their_left)
            (found.ties if is_tie else found.different).append(gains)
            continue
        found.equal += 1
        found.other_features += int(ours.tree_.splits.feature[us] != theirs.tree_.feature[them])
        pending.append((children[0], int(theirs.tree_.children_left[them]), rows[their_left]))
        pending.append((children[1], int(theirs.tree_.children_right[them]), rows[~their_left]))
    return found


def _score(rows: Rows, left: np.ndarray, their_left: np.ndarray) -> tuple[bool, tuple]:
    """Whether two ways to divide the rows tie, and their gains; not to divide them gains 0."""
    gains = gain(rows, (~left).astype(int)), gain(rows, (~their_left).astype(int))
    rounding = 1e-15 * float(rows.cost()) / rows.root_weight()
    return abs(gains[0] - gains[1]) <= TIE * max(gains) + rounding, gains


def node_gains(model: Any, sample: Sample) -> Iterator[tuple[float, float]]:
    """Gain of the split at each inner node of scikit-learn's tree, and our best on the same rows.

    Theirs is computed from the rows: the impurities that their tree stores are rounded.
    """
    tree = model.tree_
    table = encode(sample.X)
    reached = model.decision_path(sample.X).tocsc()
    for node in np.flatnonzero(tree.children_left >= 0):
        rows = reached.indices[reached.indptr[node] : reached.indptr[node + 1]]
        here = scored_rows(sample, rows, model.criterion)
        theirs = gain(here, (~their_sides(model, node, sample.X[rows])).astype(int))
        scored = candidates(
            table.take(rows),
            here.y,
            here.recipe,
            target=sample.target,
            sample_weight=None if sample.weight is None else here.weight,
        )
        yield theirs, max(found["gain"] for found in scored if found["found"])
