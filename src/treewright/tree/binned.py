"""Trees grown on binned columns, told in the columns' own values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.tree.split import SplitKind, Splits
from treewright.tree.tree import Tree

__all__ = ["unbin"]

T = TypeVar("T", bound=np.generic)


def unbin(tree: Tree, schema: Schema, edges: Mapping[str, NDArray[np.float64]]) -> Tree:
    """``tree`` with multiway tests of bins as tests of values against the edges.

    Parameters
    ----------
    tree
        A tree whose tests of binned columns have a branch for every bin, in order.
    schema
        Features as they were before they were binned.
    edges
        Edges of the bins by name, ascending and closed on the right.
    """
    if not edges:
        return tree
    original = Schema(schema.features, schema.named, tree.schema.target)
    return replace(tree, schema=original, splits=_with_breaks(tree.splits, schema, edges))


def _with_breaks(
    splits: Splits, schema: Schema, edges: Mapping[str, NDArray[np.float64]]
) -> Splits:
    own = [edges.get(name, np.empty(0)) for name in schema.names]
    is_binned = np.array([name in edges for name in schema.names])
    binned = (splits.feature >= 0) & is_binned[splits.feature]
    n_edges = np.array([len(e) for e in own], np.int64)
    start = np.cumsum(n_edges) - n_edges + len(splits.breaks)  # edges lie behind the breaks
    breaks, break_offset = _gather(
        np.concatenate([splits.breaks, *own]),
        np.where(binned, start[splits.feature], splits.break_offset[:-1]),
        np.where(binned, n_edges[splits.feature], np.diff(splits.break_offset)),
    )
    listed = np.where(binned, 0, np.diff(splits.code_offset))
    codes, code_offset = _gather(splits.codes, splits.code_offset[:-1], listed)
    branches, _ = _gather(splits.branches, splits.code_offset[:-1], listed)
    return replace(
        splits,
        kind=np.where(binned, np.uint8(SplitKind.BREAKS), splits.kind).astype(np.uint8),
        closed=splits.closed | binned,
        break_offset=break_offset,
        breaks=breaks,
        code_offset=code_offset,
        codes=codes,
        branches=branches,
    )


def _gather(
    pool: NDArray[T], start: NDArray[np.int64], length: NDArray[np.int64]
) -> tuple[NDArray[T], NDArray[np.int64]]:
    """``pool[start[i]:start[i] + length[i]]`` for all i in one array, and their offsets."""
    offset = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    return pool[np.repeat(start - offset[:-1], length) + np.arange(offset[-1])], offset
