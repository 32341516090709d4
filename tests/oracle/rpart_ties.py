"""Ties in a tree of ours: nodes where another split, or another label, is just as good.

Recorded runs hold no trees of the folds, only what they predicted. Where that differs from
ours, the row must have passed a node whose best split is not the only one: every admissible
cut and subset of every column is scored here by the definition.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.oracle.rpart_compare import TOLERANCE, Case, Routes, Score

MOST_SUBSETS = 10
"""Categories up to which all subsets are looked at; above, cuts along their mean."""


class Ties:
    """The ties of a tree grown on some rows of a case."""

    def __init__(self, case: Case, tree, rows, score: Score | None = None) -> None:
        self.case, self.tree = case, tree
        self._routes = Routes(tree, case.data.X.iloc[rows])
        self._statistics = (score or Score(case)).rows[rows]
        self._score = score or Score(case)
        self._known: dict[int, bool] = {}

    def at(self, node: int) -> bool:
        """Whether a rival split or label of a node is as good as its own."""
        if node not in self._known:
            self._known[node] = self._has_rival_label(node) or (
                self.tree.first_child[node] >= 0 and self._has_rival_split(node)
            )
        return self._known[node]

    def anywhere(self) -> bool:
        return any(self.at(node) for node in range(self.tree.n_nodes))

    def explain(self, path: np.ndarray, depth: int) -> bool:
        """Whether a row that took ``path`` and ended at ``depth`` could end elsewhere.

        A tie on its way, or, since it decides what is pruned, below its end.
        """
        end = int(path[depth])
        return any(self.at(int(node)) for node in [*path[:depth], *self.tree.walk(end)])

    def _has_rival_label(self, node: int) -> bool:
        if not self.case.classes:
            return False
        weight = self.tree.probability[node]
        costs = np.array(self.case.parameters.get("costs", 1 - np.eye(len(self.case.classes))))
        if len(weight) != len(costs):  # a class that the fold does not have
            costs = 1 - np.eye(len(weight))
        expected = np.sort(weight @ costs)
        return bool(expected[1] - expected[0] <= TOLERANCE * expected[1])

    def _has_rival_split(self, node: int) -> bool:
        rows = self._routes.rows(node)
        chosen = self._routes.sides(node, rows)
        left, right = (self._statistics[rows[chosen == side]].sum(axis=0) for side in (0, 1))
        best = float(self._score.gain(left, right))
        for feature, sides, gain, is_sure in self._candidates(rows, best * (1 - TOLERANCE)):
            if is_sure:
                assert gain <= best * (1 + TOLERANCE), f"node {node}: {gain!r} is above {best!r}"
            # another column may part these rows alike, and others not
            if feature != self.tree.splits.feature[node] or not _is_same(sides, chosen):
                return True
        return False

    def _candidates(self, rows, least: float) -> Iterator[tuple[int, np.ndarray, float, bool]]:
        """Column, sides and gain of all splits that gain ``least``; whether all look at it."""
        table = self._routes.table
        for i, (feature, column) in enumerate(
            zip(table.schema.features, table.columns, strict=True)
        ):
            search = self._subsets if feature.kind == "nominal" else self._cuts
            for sides, gain, is_sure in search(column[rows], rows, least):
                yield i, sides, gain, is_sure

    def _cuts(self, values, rows, least):
        gap = values < 0 if values.dtype == np.int32 else np.isnan(values)
        known = np.flatnonzero(~gap)
        order = known[np.argsort(values[known], kind="stable")]
        below = np.cumsum(self._statistics[rows[order]], axis=0)
        n_left = np.arange(1, len(order))
        cut = np.flatnonzero(
            (values[order[1:]] != values[order[:-1]])
            & (n_left >= self.case.min_leaf)
            & (len(order) - n_left >= self.case.min_leaf)
        )
        if not len(cut):
            return
        gains = self._score.gain(below[cut], below[-1] - below[cut])
        for i in np.flatnonzero(gains >= least):
            sides = np.full(len(values), -1)
            sides[order] = 1
            sides[order[: cut[i] + 1]] = 0
            yield sides, float(gains[i]), True

    def _subsets(self, values, rows, least):
        present = np.unique(values[values >= 0])
        if len(present) < 2:
            return
        member = values[:, None] == present
        total = np.array([self._statistics[rows[m]].sum(axis=0) for m in member.T])
        count = member.sum(axis=0)
        rate = total[:, 1] / (total.sum(axis=1) if self.case.classes else total[:, 0])
        subsets, is_sure = _subsets(rate, is_ordered=len(self.case.classes) <= 2)
        n_left = subsets @ count
        enough = np.minimum(n_left, count.sum() - n_left) >= self.case.min_leaf
        gains = self._score.gain(subsets @ total, ~subsets @ total)
        for i in np.flatnonzero(enough & (gains >= least)):
            sides = np.where(member.any(axis=1), member @ ~subsets[i], -1)
            yield sides, float(gains[i]), bool(is_sure[i])


def _subsets(rate, is_ordered: bool) -> tuple[np.ndarray, np.ndarray]:
    """Ways to part categories in two, one per row, and whether each is sure to be looked at.

    Two classes and numbers are parted along their rates. Among categories of one rate any may
    come first, and with a least size of leaves that matters.
    """
    n = len(rate)
    if n > MOST_SUBSETS:
        along = np.argsort(np.argsort(rate)) < np.arange(1, n)[:, None]
        return along, np.zeros(len(along), bool)
    subsets = (np.arange(1, 2**n - 1)[:, None] >> np.arange(n)) % 2 == 1
    if not is_ordered:
        return subsets[: len(subsets) // 2], np.ones(len(subsets) // 2, bool)
    largest = np.where(subsets, rate, -np.inf).max(axis=1)
    smallest = np.where(subsets, np.inf, rate).min(axis=1)
    close = 1e-12 * np.abs(rate).max()
    keeps_order = largest <= smallest + close
    return subsets[keeps_order], (largest < smallest - close)[keeps_order]


def _is_same(a, b) -> bool:
    return np.array_equal(a, b) or np.array_equal(np.where(a >= 0, 1 - a, a), b)


# Runs with a tie, so that no new ones slip in: in the tree itself, in the folds of the cp table,
# and in the folds of the out-of-fold predictions.
TREE_TIES = {
    "audiology": "information_full",
    "boston_housing": "anova_full",
    "breast_cancer_w": "loss_1_4_information",
    "cmc": "gini_full information_full",
    "credit_g": "gini_full",
    "cu_summary": "anova_full",
    "digits": "gini_full information_full",
    "glass": "gini_full information_full",
    "glaucoma": "loss_1_4_information",
    "haberman": "information_full",
    "oj": "information_full",
    "pima2": "gini_full",
    "soybean": "gini_default gini_full information_full usesurrogate0 surrogatestyle1",
    "vowel": "gini_full information_full",
}
XERROR_TIES = {
    "autoprice": "anova_full",
    "birthwt": "loss_1_4_information",
    "breast_cancer_w": "gini_default surrogatestyle1 prior_65_35 loss_1_4",
    "california_housing": "anova_cp001",
    "carseats": "anova_full",
    "credit_g": "information_full loss_1_4 loss_1_4_information",
    "diabetes_reg": "anova_full",
    "glaucoma": "gini_full prior_65_35 loss_1_4",
    "haberman": "gini_default information_default gini_full loss_1_4",
    "hitters": "anova_full",
    "ionosphere": "loss_1_4",
    "mtcars": "anova_full",
    "oj": "gini_full",
    "pima": "gini_default gini_full prior_65_35 loss_1_4",
    "pima2": "gini_default surrogatestyle1",
    "soybean": "information_default",
    "trees": "anova_full",
    "wdbc": "prior_65_35",
}
OOF_TIES = {
    "airquality": "anova_full",
    "audiology": "gini_full information_full",
    "autoprice": "anova_full",
    "boston_housing": "anova_full",
    "breast_cancer_w": "gini_default gini_full information_full "
    "usesurrogate0 usesurrogate1 surrogatestyle1",
    "california_housing": "anova_cp001",
    "car_test_frame": "anova_full",
    "carseats": "anova_full",
    "cmc": "gini_full information_full",
    "credit_g": "gini_full information_full",
    "cu_summary": "anova_full",
    "diabetes_reg": "anova_full",
    "digits": "gini_full information_full",
    "glass": "gini_full information_full",
    "haberman": "gini_default information_default gini_full information_full",
    "hitters": "anova_full",
    "mtcars": "anova_full",
    "oj": "gini_full information_full",
    "pima": "gini_default gini_full",
    "pima2": "gini_default usesurrogate0 surrogatestyle1",
    "soybean": "gini_full information_full usesurrogate0",
    "trees": "anova_full",
    "vowel": "information_default gini_full information_full",
}
