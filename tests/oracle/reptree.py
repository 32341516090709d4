"""REPTree's growth, from what its recorded unpruned trees show, as a chooser for the growth loop.

A column's cut is the best by entropy or variance of the rows whose value is known. Columns are
compared by the gain with the gaps shared out among the branches by what the known rows weigh. A
node is a leaf if the best test does not give two branches the weight 2, gaps included, if it weighs
less than 4, or if its variance is below a thousandth of that of all rows. The weight above a cut is
that of all rows less each row below it: where rows are fractions, rounding leaves 2 - 4e-16 of 2 at
three nodes of the recorded trees (two of titanic, one of pima2), and there they end in leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright import C45Classifier, CARTRegressor
from treewright.tree.growing.choosing import ProposedSplit
from treewright.tree.growing.grow import grow
from treewright.tree.growing.recipe import Recipe
from treewright.tree.predict import node_values
from treewright.tree.split import GAP_FRACTION

MIN_WEIGHT, MIN_VARIANCE = 2.0, 1e-3
TIE = 1e-11  # of the impurity
PRINTED = 0.00501  # a cut is printed with two digits


def unpruned(training):
    """The tree that REPTree -P grows."""
    return grow(
        training.table,
        training.y,
        Recipe(
            "entropy" if training.target.is_classification else "squared_error",
            nominal_split="multiway",
            ordinal_split="multiway",
            missing="fractional",
            choose=Chooser(training),
        ),
        target=training.target,
    )


@dataclass
class Chooser:
    """``choose(node)`` as REPTree does it."""

    training: Any

    def __post_init__(self):
        y = self.training.y
        if self.training.target.is_classification:
            self.sums = np.eye(len(self.training.target.classes))[y]
        else:
            y = y.ravel() - y.mean()
            self.sums = np.column_stack([np.ones(len(y)), y, y * y])
            self.least = MIN_VARIANCE * np.var(y)

    def __call__(self, node):
        weight, stats = self.counted(node)
        total = stats.sum(axis=0)
        if weight.sum() < 2 * MIN_WEIGHT or self.is_even(total):
            return None
        tie = TIE * float(self.impurity(total))
        best, found = tie, None
        for gain, heavy, proposal in self.candidates(node):
            if gain > best + tie:
                best, found = gain, proposal if heavy else None
        return found

    def counted(self, node):
        """The weight of each row of a node, and its weighted sums."""
        weight = np.ones(len(node.rows)) if node.weights is None else node.weights
        return weight, self.sums[node.rows] * weight[:, None]

    def candidates(self, node):
        """Gain, whether heavy enough, and proposal of each column's best test."""
        return [self.candidate(f, node) for f in range(len(self.training.table.columns))]

    def candidate(self, f, node, printed=None):
        """Of one column; with ``printed``, only cuts that print so in two digits."""
        column = self.training.table.columns[f][node.rows]
        stats = self.counted(node)[1]
        if self.training.table.schema.features[f].kind != "continuous":
            return self.categories(f, column, stats)
        return self.cut(f, column, stats, printed)

    def is_even(self, total):
        if self.training.target.is_classification:
            return np.count_nonzero(total) < 2
        return self.impurity(total) / total[0] < max(self.least, 1e-12)

    def impurity(self, stats):
        """Entropy times weight, or the sum of squared deviations."""
        if not self.training.target.is_classification:
            n = np.maximum(stats[..., 0], 1e-300)
            return np.where(stats[..., 0] > 0, stats[..., 2] - stats[..., 1] ** 2 / n, 0.0)
        stats = np.maximum(stats, 0.0)  # what rounding leaves of an empty class
        n = stats.sum(axis=-1, keepdims=True)
        share = stats / np.maximum(n, 1e-300)
        logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
        return -(stats * logs).sum(axis=-1)

    def weight_of(self, stats):
        classes = self.training.target.is_classification
        return stats.sum(axis=-1) if classes else stats[..., 0]

    def scored(self, branches, gaps):
        """The gain with the gaps shared out, and whether two branches weigh enough."""
        share = self.weight_of(branches) / self.weight_of(branches).sum()
        before = self.impurity(branches.sum(axis=0) + gaps)
        branches = branches + share[:, None] * gaps
        heavy = np.count_nonzero(self.weight_of(branches) >= MIN_WEIGHT) >= 2
        return before - self.impurity(branches).sum(), heavy

    def cut(self, f, column, stats, printed):
        known = np.flatnonzero(~np.isnan(column))
        order = known[np.argsort(column[known], kind="stable")]
        value = column[order]
        ends = np.flatnonzero(value[1:] > value[:-1])
        between = (value[ends] + value[ends + 1]) / 2
        if printed is not None:
            alike = np.abs(between - printed) < PRINTED
            ends, between = ends[alike], between[alike]
        if not len(ends):
            return -1.0, False, None
        below = np.cumsum(stats[order], axis=0)
        above = np.subtract.accumulate(np.vstack([below[-1:], stats[order]]))[1:]
        branches = np.stack([below[ends], above[ends]], axis=1)
        left = self.impurity(branches).sum(axis=-1)
        at = int(np.argmax(left < left.min() + TIE * float(self.impurity(below[-1]))))
        proposal = ProposedSplit(f, breaks=(between[at],), closed=False, gap_branch=GAP_FRACTION)
        return *self.scored(branches[at], stats[np.isnan(column)].sum(axis=0)), proposal

    def categories(self, f, column, stats):
        n = len(self.training.table.schema.features[f].categories)
        known = column >= 0
        if len(np.unique(column[known])) < 2:
            return -1.0, False, None
        branches = np.zeros((n, stats.shape[1]))
        np.add.at(branches, column[known], stats[known])
        codes = tuple(range(n))
        proposal = ProposedSplit(f, codes=codes, branches=codes, gap_branch=GAP_FRACTION)
        return *self.scored(branches, stats[~known].sum(axis=0)), proposal


def encoded(recorded):
    """The rows of a recorded data set; classes by the order that Weka had, which decides ties."""
    if recorded.y.dtype.kind == "f":
        return CARTRegressor()._encode(recorded.X, recorded.y, None)
    y = np.array([recorded.classes.index(label) for label in recorded.y])
    return C45Classifier(variant="j48")._encode(recorded.X, y, None)


def predictions(tree, training):
    """Class numbers, or numbers."""
    if not training.target.is_classification:
        return node_values(tree, training.table, np.ascontiguousarray(tree.value))[:, 0]
    shares = node_values(tree, training.table, np.ascontiguousarray(tree.probability))
    return training.classes[shares.argmax(axis=1)].astype(float)
