"""Errors of the subtrees of a fitted tree on rows that did not grow it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.pruning import PruningSequence, class_loss, squared_loss
from treewright.tree.predict import reach
from treewright.tree.tree import Tree

__all__ = ["errors_by_size"]

Floats = NDArray[np.float64]
Judged = tuple[Floats, Floats | None, str]


def errors_by_size(
    model: Any, test: tuple[Any, Any] | None
) -> Callable[[Tree, PruningSequence], Judged | None]:
    """A judge of sequences: by held-out rows if given, else by the model's own cross-validation."""
    if test is not None:
        X, y = test
        return lambda tree, sequence: _held_out(model, tree, sequence, X, y)
    return lambda tree, sequence: _cross_validated(model, sequence)


def _held_out(model: Any, tree: Tree, sequence: PruningSequence, X: Any, y: Any) -> Judged:
    values = model._known_target(y)
    table = model._table(X)
    nodes = reach(tree, table, sequence.node_alpha, sequence.alphas + sequence.tolerance)
    target = tree.schema.target
    if target is not None and target.is_classification:
        loss = class_loss(values, getattr(model, "cost_matrix_", None))
    else:
        loss = squared_loss(values)
    losses = loss(tree, nodes, np.arange(table.n_rows))
    n = max(len(losses), 2)
    std = losses.std(axis=0, ddof=1) / np.sqrt(n) if len(losses) > 1 else None
    return losses.mean(axis=0), std, f"{len(losses):,} rows held out".replace(",", " ")


def _cross_validated(model: Any, sequence: PruningSequence) -> Judged | None:
    """The cross-validated errors in the model's complexity table, matched by size."""
    table = getattr(model, "_cp_table", None)
    if table is None or table.xerror is None:
        return None
    row = {n: i for i, n in enumerate(table.n_leaves.tolist())}
    rows = [row.get(n) for n in sequence.n_leaves.tolist()]
    if any(i is None for i in rows):
        return None
    scale = abs(sequence.root_error)
    std = None if table.xstd is None else table.xstd[rows] * scale
    return table.xerror[rows] * scale, std, "cross-validated"
