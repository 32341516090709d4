"""Where the rows of a table end in a tree, and what is found there.

Each tree has one compiled :class:`treewright.kernels.Predictor`, made when it is first needed
and kept as long as the tree. It checks the tree's arrays and the table's columns, so nothing
is checked twice here. A table that lies in one block of floats is read where it lies.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.errors import DataError, ParameterError
from treewright.kernels import Predictor
from treewright.tree.split import SPLIT_DTYPES, Splits
from treewright.tree.tree import Tree

__all__ = [
    "apply",
    "category_counts",
    "core_arrays",
    "decision_path",
    "ends",
    "forest_path",
    "node_values",
    "predictor",
    "reach",
]

_PREDICTORS: WeakKeyDictionary[Tree, Predictor] = WeakKeyDictionary()


def apply(tree: Tree, table: Table, n_threads: int = 1) -> NDArray[np.int32]:
    """Node where each row ends: a leaf, or the node where a gap stops it.

    Of a row that went down several branches it is the end with the largest share, the first
    node id among equals.

    Parameters
    ----------
    tree
        The tree.
    table
        Rows with the columns of the tree's schema.
    n_threads
        Most threads to use; the result does not depend on it.

    Returns
    -------
    nodes
        One node id per row.
    """
    try:
        return predictor(tree).apply(_rows(table), n_threads)
    except ValueError as error:
        raise DataError(str(error)) from None


def node_values(
    tree: Tree, table: Table, values: NDArray[np.float64], n_threads: int = 1
) -> NDArray[np.float64]:
    """Entries of ``values`` for the node where each row ends.

    For a row that went down several branches, the mean over its ends, weighted by their shares.

    Parameters
    ----------
    tree, table, n_threads
        As in :func:`apply`.
    values
        One row per node of the tree, contiguous, such as ``tree.probability``.

    Returns
    -------
    values
        One row per row of the table.
    """
    try:
        return predictor(tree).values(_rows(table), values, n_threads)
    except ValueError as error:
        raise DataError(str(error)) from None


def decision_path(tree: Tree, table: Table, n_threads: int = 1) -> csr_matrix:
    """Nodes that each row visits.

    Parameters
    ----------
    tree, table, n_threads
        As in :func:`apply`.

    Returns
    -------
    path
        Sparse matrix with a row per row of the table and a column per node, 1 where visited.
    """
    try:
        indptr, indices = predictor(tree).path(_rows(table), n_threads)
    except ValueError as error:
        raise DataError(str(error)) from None
    visited = np.ones(len(indices), np.int64)
    return csr_matrix((visited, indices, indptr), shape=(table.n_rows, tree.n_nodes))


def ends(
    tree: Tree, table: Table, n_threads: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Where the parts of each row end, and their shares; a row that is not divided has one part.

    Parameters
    ----------
    tree, table, n_threads
        As in :func:`apply`.

    Returns
    -------
    rows, nodes, shares
        One entry per part; the shares of a row add up to one.
    """
    try:
        indptr, nodes, shares = predictor(tree).ends(_rows(table), n_threads)
    except ValueError as error:
        raise DataError(str(error)) from None
    return np.repeat(np.arange(table.n_rows), np.diff(indptr)), nodes, shares


def forest_path(forest: Any, table: Table) -> tuple[csr_matrix, NDArray[np.int64]]:
    """Nodes that each row visits in all trees of a forest, and where each tree's begin."""
    from scipy.sparse import hstack

    parts = [decision_path(forest.tree(k), table) for k in range(len(forest))]
    offset = np.concatenate([[0], np.cumsum([part.shape[1] for part in parts])])
    return hstack(parts).tocsr(), offset


def reach(
    tree: Tree,
    table: Table,
    node_alpha: NDArray[np.float64],
    alphas: NDArray[np.float64],
    n_threads: int = 1,
) -> NDArray[np.int32]:
    """Node where each row ends once the tree is pruned, for every ``alpha`` in one walk.

    The row ends at the first node of its path with ``node_alpha <= alpha``, or where the path
    ends. Of a row that went down several branches, the path to the node that :func:`apply`
    gives is taken.

    Parameters
    ----------
    tree, table, n_threads
        As in :func:`apply`.
    node_alpha
        Complexity from which each node is a leaf; NaN and inf for never.
    alphas
        Complexities asked for, ascending.

    Returns
    -------
    nodes
        One row per row of the table, one column per alpha.
    """
    try:
        return predictor(tree).reach(_rows(table), node_alpha, alphas, n_threads)
    except ValueError as error:
        raise DataError(str(error)) from None


def predictor(tree: Tree) -> Predictor:
    """The compiled predictor of ``tree``."""
    try:
        return _PREDICTORS[tree]
    except KeyError:
        made = _PREDICTORS[tree] = _make(tree)
        return made


def category_counts(schema: Schema) -> NDArray[np.int32]:
    """Categories of each feature, −1 for continuous ones."""
    counts = [len(f.categories) if f.is_categorical else -1 for f in schema.features]
    return np.array(counts, np.int32)


def core_arrays(tree: Tree) -> tuple[Any, ...]:
    """The arrays of structure and tests as the core takes them."""
    return (
        tree.first_child,
        tree.n_children,
        tree.default,
        tree.weight,
        tree.surrogate_offset,
        _arrays(tree.splits),
        _arrays(tree.surrogates),
    )


def _make(tree: Tree) -> Predictor:
    try:
        return Predictor(category_counts(tree.schema), *core_arrays(tree))
    except ValueError as error:
        raise ParameterError(str(error)) from None


def _arrays(splits: Splits) -> tuple[NDArray[Any], ...]:
    return tuple(getattr(splits, name) for name in SPLIT_DTYPES)


def _rows(table: Table) -> NDArray[Any] | tuple[NDArray[Any], ...]:
    return table.columns if table.block is None else table.block
