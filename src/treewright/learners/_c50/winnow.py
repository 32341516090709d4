"""Winnowing: leave out the features that do not seem to help, before the real work starts.

A tree is built from one half of the cases and tried on the other. Features that it does not test
are left out, and so are those whose loss (their values made gaps) lowers the errors on the second
half. If a tree without them does worse there, nothing is left out.

Reference: the published description of C5.0 and its recorded runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.learners._c50.tree import Cases, TreeSettings, build_tree
from treewright.learners._c50.votes import vote

__all__ = ["Winnowed", "blank", "winnow"]


@dataclass(frozen=True, eq=False)
class Winnowed:
    """Which features are left out, and how much each of the others seems to matter.

    ``importance`` is the relative rise of the errors on the second half without the feature.
    """

    dropped: NDArray[np.bool_]
    importance: NDArray[np.float64]


def winnow(cases: Cases, settings: TreeSettings, random: np.random.RandomState) -> Winnowed:
    """Decide which features to leave out."""
    n = len(cases.table.schema)
    nothing = Winnowed(np.zeros(n, np.bool_), np.zeros(n))
    first, second = _halves(cases, random)
    if not len(first.y) or not len(second.y):
        return nothing
    small = replace(settings, min_items=max(settings.min_items / 2.0, 2.0), least_node=0.0)
    tree = build_tree(first, small)
    errors = _errors(tree, second, second.table)
    used = np.zeros(n, np.bool_)
    used[np.unique(tree.splits.feature[~tree.is_leaf])] = True
    if not used.any():
        return nothing
    without = np.full(n, errors)
    for feature in np.flatnonzero(used):
        without[feature] = _errors(tree, second, blank(second.table, [int(feature)], gaps=True))
    dropped = ~used | (without < errors - 1e-9)
    if dropped.all():
        return nothing
    bare = replace(first, table=blank(first.table, np.flatnonzero(dropped).tolist()))
    if _errors(build_tree(bare, small), second, second.table) > errors + 1e-9:
        return nothing
    return Winnowed(dropped, np.maximum(without - errors, 0.0) / max(errors, 1.0))


def _halves(cases: Cases, random: np.random.RandomState) -> tuple[Cases, Cases]:
    """Two halves with the same shares of the classes."""
    order = random.permutation(len(cases.y))
    order = order[np.argsort(cases.y[order], kind="stable")]
    parts = (np.sort(order[::2]), np.sort(order[1::2]))
    weight = cases.weight
    first, second = (cases.take(p, None if weight is None else weight[p]) for p in parts)
    return first, second


def _errors(tree: object, cases: Cases, table: Table) -> float:
    wrong = vote(tree, table)[0] != cases.y  # type: ignore[arg-type]
    return float(wrong.sum() if cases.weight is None else cases.weight[wrong].sum())


def blank(table: Table, features: list[int], *, gaps: bool = False) -> Table:
    """A table in which some features hold one value, or only gaps."""
    columns = list(table.columns)
    has_gaps = table.has_gaps.copy()
    for feature in features:
        column = columns[feature]
        if column.dtype.kind != "f" and column.max(initial=-1) < 0:
            continue  # gaps alone: there may be no category to fill it with
        value = (np.nan if column.dtype.kind == "f" else -1) if gaps else 0
        columns[feature] = np.full(len(column), value, column.dtype)
        has_gaps[feature] = gaps
    return Table(table.schema, table.n_rows, has_gaps, tuple(columns))
