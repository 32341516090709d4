"""Models that are sums of trees, as explanations take them.

A tree with a value for every node is a function of a row; a forest is the mean of such functions,
a booster their sum. :class:`Additive` is that sum, with a name for each of its outputs. What a
model says may be a function of the sum (a probability of a score): ``says`` tells which method of
the estimator the sum equals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.errors import DataError, ParameterError
from treewright.tree.predict import node_values
from treewright.tree.split import Splits
from treewright.tree.tree import Tree

__all__ = [
    "Additive",
    "Part",
    "Says",
    "additive_of",
    "mean_of",
    "node_answers",
    "tree_sum",
    "votes_of",
]

Floats = NDArray[np.float64]
Says = Literal["probability", "value", "score", "votes"]

WORDS: dict[Says, str] = {
    "probability": "the probability of each class (predict_proba)",
    "value": "the prediction (predict)",
    "score": "the score (before it becomes a probability or a mean)",
    "votes": "the votes of the members, before they are scaled to a sum of one",
}
"""What is explained, in words."""


@dataclass(frozen=True, eq=False)
class Part:
    """One tree of a sum.

    Parameters
    ----------
    tree
        The tree.
    values
        What rows get that end at each node, a column per output.
    column
        The output of the first column.
    bounds
        Lower bound, middle and upper bound of soft thresholds, by node.
    """

    tree: Tree
    values: Floats
    column: int = 0
    bounds: tuple[Floats, Floats, Floats] | None = None

    def of(self, table: Table, n_threads: int = 1) -> Floats:
        """What the tree says of rows."""
        values = np.ascontiguousarray(self.values)
        if self.bounds is None:
            return node_values(self.tree, table, values, n_threads)
        from treewright.kernels import soft

        nodes = {name: getattr(self.tree, name) for name in soft.NODES}
        nodes |= dict(zip(soft.BOUNDS, self.bounds, strict=True))
        arrays = self.tree.splits.arrays()
        return soft.soft_values(table.columns, table.n_rows, nodes, arrays, values, n_threads)


@dataclass(frozen=True, eq=False)
class Additive:
    """A sum of trees.

    Parameters
    ----------
    schema
        The features that all trees have.
    parts
        The trees.
    start
        What the sum begins with, one number per output.
    outputs
        Their names.
    says
        What the sum is.
    is_flat
        Whether there is one output, which needs no name.
    labels
        Class of every node of the only tree, for ensembles whose members vote.
    undivided
        Whether the sum is right for rows only that go one way through every tree, because
        members decide before they are added up.
    """

    schema: Schema
    parts: tuple[Part, ...]
    start: Floats
    outputs: tuple[str, ...]
    says: Says
    is_flat: bool = False
    labels: NDArray[np.integer] | None = None
    undivided: bool = False

    @property
    def n_outputs(self) -> int:
        """Numbers that the sum has for a row."""
        return len(self.start)

    def predict(self, table: Table, n_threads: int = 1) -> Floats:
        """The sum, a row per row."""
        self.check(table)
        total = np.tile(self.start, (table.n_rows, 1))
        for part in self.parts:
            said = part.of(table, n_threads)
            total[:, part.column : part.column + said.shape[1]] += said
        return total

    def check(self, table: Table) -> None:
        """Refuse rows of which the sum would be wrong."""
        if self.undivided and bool(np.any(table.has_gaps)):
            raise DataError(
                "The members of this model decide before they are added up, so rows without gaps "
                "can be explained only, but some have one; leave these rows out."
            )

    def times(self, factor: float) -> Additive:
        """The sum, multiplied."""
        parts = tuple(replace(part, values=part.values * factor) for part in self.parts)
        return replace(self, parts=parts, start=self.start * factor)


def tree_sum(
    tree: Tree,
    values: Floats,
    says: Says,
    outputs: Sequence[str],
    labels: NDArray[np.integer] | None = None,
) -> Additive:
    """One tree as a sum."""
    n = values.shape[1]
    flat = says == "value" and n == 1
    return Additive(
        tree.schema, (Part(tree, values),), np.zeros(n), tuple(outputs), says, flat, labels
    )


def additive_of(model: Any) -> Additive:
    """A fitted model as a sum of trees."""
    make = getattr(model, "_additive", None)
    if make is None:
        raise ParameterError(
            f"shap_values needs a fitted estimator of treewright, got {type(model).__name__}; "
            "shap.TreeExplainer explains trees of other libraries."
        )
    total: Additive = make()
    return total


def node_answers(member: Additive, what: Literal["vote", "probability"]) -> Floats:
    """What a member that is one tree says at each of its nodes: a vote, or probabilities."""
    if len(member.parts) != 1 or member.parts[0].bounds is not None or member.labels is None:
        raise ParameterError(
            "shap_values needs members that are one tree each, without soft thresholds, where "
            "they decide before they are added up; explain the members of estimators_ one by one."
        )
    values = member.parts[0].values
    return values if what == "probability" else np.eye(values.shape[1])[member.labels]


def votes_of(member: Additive) -> Additive:
    """One tree that votes for a class."""
    votes = node_answers(member, "vote")
    part = replace(member.parts[0], values=votes)
    return replace(member, parts=(part,), undivided=part.tree.is_fractional)


def mean_of(
    members: Sequence[Additive],
    schema: Schema,
    outputs: Sequence[str],
    *,
    weights: Sequence[float] | None = None,
    columns: Sequence[NDArray[np.integer]] | None = None,
    features: Sequence[NDArray[np.integer]] | None = None,
) -> Additive:
    """The weighted mean of sums.

    Parameters
    ----------
    members
        The sums; all must say the same.
    schema, outputs
        Of the mean.
    weights
        Of the members, of sum one; None for equal ones.
    columns
        Per member, the places of its outputs among those of the mean; None where they are the
        same.
    features
        Per member, the places of its features; None where all have all.
    """
    says = members[0].says
    if any(member.says != says for member in members):
        raise ParameterError(
            "shap_values needs members that say the same, but some give probabilities and "
            "others scores; explain the members of estimators_ one by one."
        )
    if says == "score" and len(members) > 1:
        raise ParameterError(
            "shap_values needs members that are sums in what is averaged, but these add up scores, "
            "of which probabilities or numbers are made before; explain the members of estimators_ "
            "one by one."
        )
    start = np.zeros(len(outputs))
    parts: list[Part] = []
    for k, member in enumerate(members):
        share = 1.0 / len(members) if weights is None else weights[k]
        places = np.arange(len(outputs)) if columns is None else np.asarray(columns[k])
        start[places] += share * member.start
        for part in member.parts:
            tree = part.tree
            if features is not None or tree.schema.features != schema.features:
                where = np.arange(len(schema)) if features is None else np.unique(features[k])
                tree = _moved(tree, schema, where)
            wide = np.zeros((tree.n_nodes, len(outputs)))
            own = places[part.column : part.column + part.values.shape[1]]
            wide[:, own] = share * part.values
            parts.append(replace(part, tree=tree, values=wide, column=0))
    first = members[0]
    return Additive(
        schema,
        tuple(parts),
        start,
        tuple(outputs),
        says,
        first.is_flat,
        undivided=any(member.undivided for member in members),
    )


def _moved(tree: Tree, schema: Schema, places: NDArray[np.integer]) -> Tree:
    """The tree with its features at other places of another schema."""
    own = tree.schema.features
    if len(places) != len(own) or any(
        schema.features[int(place)] != feature for place, feature in zip(places, own, strict=True)
    ):
        raise ParameterError(
            "shap_values needs members that read the columns alike, but one of them has other "
            "categories or kinds; explain the members of estimators_ one by one."
        )

    def move(splits: Splits) -> Splits:
        feature = splits.feature.copy()
        feature[feature >= 0] = places[feature[feature >= 0]]
        terms = places[splits.term_feature].astype(np.int32)
        arrays: dict[str, Any] = {
            **splits.arrays(),
            "feature": feature.astype(np.int32),
            "term_feature": terms,
        }
        return Splits(**arrays)

    moved = replace(schema, target=tree.schema.target)
    return replace(
        tree,
        schema=moved,
        splits=move(tree.splits),
        surrogates=move(tree.surrogates),
        tests=None,
        pruning_log=None,
    )
