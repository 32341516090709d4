"""Rows that a pruner needs: read as the tree's schema wants them, and sent down it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import DataError
from treewright.kernels.prune import subtree_sums
from treewright.tree.growing.stopped import STOPPED, Stop
from treewright.tree.growing.values import class_nodes, label_empty
from treewright.tree.predict import ends
from treewright.tree.tree import EMPTY_PROBABILITY, Tree

if TYPE_CHECKING:
    from treewright.data.table import Table
    from treewright.tree.growing.recipe import ClassCosts

__all__ = ["read_rows", "refit"]

Floats = NDArray[np.float64]


def read_rows(
    tree: Tree, X: Any, y: Any, sample_weight: Any, what: str
) -> tuple[Table, NDArray[Any], Floats | None]:
    """Table, class codes or numbers, and weights of rows; ``what`` names them in errors."""
    from treewright.data.encode import encode
    from treewright.data.target import class_codes, numeric_target
    from treewright.data.weights import check_lengths, read_weights

    target = tree.schema.target
    if _is_empty(X) or _is_empty(y):
        raise DataError(f"{what} must have at least one row, got none; hold out some rows for it.")
    table = encode(X, schema=tree.schema)
    values: NDArray[Any]
    if target is not None and target.is_classification:
        values, _ = class_codes(y, np.array(target.classes, dtype=object))
    else:
        values = numeric_target(y)
        width = 1 if values.ndim == 1 else values.shape[1]
        if width != tree.value.shape[1]:
            raise DataError(
                f"y must have {tree.value.shape[1]} outputs as the tree, got {width}; "
                "pass the columns that it was grown with."
            )
    check_lengths(table.n_rows, len(values))
    weight, rows = read_weights(sample_weight, len(values))
    if rows is not None:
        table, values = table.take(np.flatnonzero(rows)), values[rows]
    return table, values, weight


def _is_empty(values: Any) -> bool:
    shape = getattr(values, "shape", None)
    try:
        return shape[0] == 0 if shape else len(values) == 0
    except TypeError:
        return False


def refit(
    tree: Tree,
    table: Table,
    y: NDArray[Any],
    weight: Floats | None,
    criterion: str = "gini",
    costs: ClassCosts | None = None,
    n_threads: int = 1,
) -> Tree:
    """The same tests with the counts and values of other rows.

    Parameters
    ----------
    tree
        The tree.
    table, y, weight
        Encoded rows, class codes or numbers, and weights.
    criterion, costs
        What impurities and labels are made with.
    """
    rows, nodes, shares = ends(tree, table, n_threads)
    n = tree.n_nodes
    weights = shares if weight is None else shares * weight[rows]
    count = subtree_sums(tree.first_child, tree.n_children, np.bincount(nodes, minlength=n))
    figures: dict[str, Any]
    if len(tree.label):
        figures = _class_figures(tree, nodes, y[rows], weights, criterion, costs)
    else:
        figures = _number_figures(tree, nodes, y[rows], weights)
    cost = figures["weight"] / figures["weight"][0] * figures["impurity"]
    below = np.zeros(n)
    np.add.at(below, tree.parent[1:], cost[1:])
    gain = np.where(tree.is_leaf, 0.0, np.maximum(cost - below, 0.0))
    extras = {name: c for name, c in tree.extras.items() if name != EMPTY_PROBABILITY}
    if STOPPED in extras:
        changed = (count != tree.n_samples) & np.isin(extras[STOPPED], (Stop.PURE, Stop.EMPTY))
        stays = changed & (figures["impurity"] <= 0) & (extras[STOPPED] == Stop.PURE)
        extras[STOPPED] = np.where(changed & ~stays, Stop.OTHER_ROWS, extras[STOPPED]).astype(
            np.uint8
        )
    return replace(tree, n_samples=count.astype(np.int64), gain=gain, extras=extras, **figures)


def _class_figures(
    tree: Tree,
    nodes: NDArray[np.int32],
    y: NDArray[Any],
    weight: Floats,
    criterion: str,
    costs: ClassCosts | None,
) -> dict[str, Any]:
    n, k = tree.value.shape
    own = np.bincount(nodes.astype(np.int64) * k + y, weight, n * k).reshape(n, k)
    value = subtree_sums(tree.first_child, tree.n_children, own)
    label, impurity, risk = class_nodes(value, value, criterion, costs)
    total = value.sum(axis=1)
    label = label_empty(label, total, tree.first_child, tree.n_children)
    return {"value": value, "weight": total, "label": label, "impurity": impurity, "risk": risk}


def _number_figures(
    tree: Tree, nodes: NDArray[np.int32], y: NDArray[Any], weight: Floats
) -> dict[str, Any]:
    n, width = tree.value.shape
    target = y.reshape(len(y), -1)
    centre = np.average(target, axis=0, weights=weight)
    z = target - centre
    columns = [np.bincount(nodes, weight, n)]
    for k in range(width):
        columns += [np.bincount(nodes, weight * z[:, k] ** p, n) for p in (1, 2)]
    sums = subtree_sums(tree.first_child, tree.n_children, np.column_stack(columns))
    total = np.ascontiguousarray(sums[:, 0])
    is_empty = total <= 0
    safe = np.where(is_empty, 1.0, total)
    mean = sums[:, 1::2] / safe[:, None]
    spread = np.maximum(sums[:, 2::2] / safe[:, None] - mean**2, 0.0).mean(axis=1)
    value = mean + centre
    for t in np.flatnonzero(is_empty):  # few, and parents come first
        value[t] = value[tree.parent[t]]
    impurity = np.where(is_empty, 0.0, spread)
    risk = impurity * total / total[0]
    return {"value": value, "weight": total, "impurity": impurity, "risk": risk}
