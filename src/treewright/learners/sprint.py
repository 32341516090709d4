"""SPRINT: trees over lists on disk that carry the class; nothing in memory grows with the rows.

Each attribute is sorted once into a list of (value, class, row); the entries of a node lie
together. At a split the list of the tested attribute says which rows go right, and the other
lists are divided by that, each in the order it had. Lists are worked on in parallel. Then the tree
is pruned by description length.

Before pruning the tree is that of ``CARTClassifier()`` on the same rows, test by test; see
:mod:`treewright.learners.sliq` for where subsets of categories are searched otherwise than in the
paper. It differs from the paper in the table by which lists are divided: row numbers are dense,
so one bit at the place of the number takes the place of a hash table, for all nodes of a level
at once.

Reference: Shafer, Agrawal and Mehta (1996), *SPRINT: a scalable parallel classifier for data
mining*, VLDB.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.errors import SpaceError
from treewright.estimator.parameters import keep, parameters
from treewright.learners._lists.estimator import OWN, ColumnWriter, ListClassifier, Source
from treewright.learners._lists.prepare import AttributeList, Sums
from treewright.learners._lists.segments import SegmentStore
from treewright.learners._lists.workspace import CHUNK_BYTES, LEAST_CHUNK, Stream, Workspace
from treewright.tree.growing.recipe import Recipe
from treewright.tree.tree import Tree

__all__ = ["SPRINTClassifier"]


@parameters(**OWN)
class SPRINTClassifier(ListClassifier):
    """Classification tree from lists on disk that carry the class.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SLIQClassifier : Keeps the classes in memory and writes less.
    CARTClassifier : The same splits, in memory.

    References
    ----------
    Shafer, Agrawal and Mehta (1996), *SPRINT: a scalable parallel classifier for data mining*,
    VLDB.

    Examples
    --------
    >>> from treewright import SPRINTClassifier
    >>> from treewright.datasets import make_agrawal
    >>> data = make_agrawal(2000, 1, random_state=0)
    >>> model = SPRINTClassifier(memory_limit="10MB").fit(data.data, data.target)
    >>> model.get_n_leaves()
    3
    """

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_impurity_decrease: float = 0.0,
        min_significance: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        max_exhaustive: int | Literal["auto"] = "auto",
        categorical_features: Any = "from_dtype",
        ordinal_features: Mapping[str, Any] | None = None,
        pruning: Literal["mdl"] | Callable[[Tree], Tree] | None = "mdl",
        coding: Literal["full", "partial", "hybrid"] = "hybrid",
        memory_limit: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _claim(self, space: Workspace, n_rows: int, n_classes: int, sums: Sums) -> None:
        needed = 4 * LEAST_CHUNK * CHUNK_BYTES * space.n_threads
        if space.limit is not None and space.limit < needed:
            raise SpaceError(
                f"SPRINT needs {needed / 1e6:.1f} MB for its buffers, but memory_limit is "
                f"{space.limit / 1e6:.2f} MB; raise it, or take fewer threads with n_jobs."
            )

    def _make_store(
        self, space: Workspace, source: Source, sums: Sums, n_classes: int, recipe: Recipe
    ) -> tuple[SegmentStore, NDArray[np.int64]]:
        n = source.n_rows
        labels = space.stream(np.uint8 if n_classes <= 256 else np.uint16, n)
        weights = None if sums.is_unit else space.stream(np.int64, n)

        def keep_classes(at: int, label: NDArray[np.int32], weight: Any) -> None:
            labels.write(at, label.astype(labels.dtype))
            if weights is not None:
                weights.write(at, weight)

        columns = ColumnWriter(space, source, sums, n_classes, keep_classes)
        lists = columns.lists(space, lambda item: _with_classes(space, item, labels, weights))
        labels.close()
        if weights is not None:
            weights.close()
        store = SegmentStore(
            space,
            source.schema.features,
            recipe,
            lists,
            n,
            n_classes,
            sums.is_unit,
        )
        return store, columns.totals


def _with_classes(
    space: Workspace, item: AttributeList, labels: Stream, weights: Stream | None
) -> AttributeList:
    """A list with the class and the weight of each of its rows."""
    item.label = _in_order(space, item.row, labels)
    item.weight = None if weights is None else _in_order(space, item.row, weights)
    return item


def _in_order(space: Workspace, rows: Stream, values: Stream) -> Stream:
    """``values`` of the rows of a list, in its order; those of a range of rows at a time."""
    out = space.stream(values.dtype, rows.n)
    size = rows.n
    if space.limit is not None:
        size = max(LEAST_CHUNK, space.limit // (10 * values.dtype.itemsize))
    for low in range(0, rows.n, size):
        high = min(low + size, rows.n)
        part = values.read(low, high)
        for begin in range(0, rows.n, space.chunk):
            end = min(begin + space.chunk, rows.n)
            which = rows.read(begin, end)
            if size >= rows.n:
                out.write(begin, part[which])
                continue
            entries = np.empty(end - begin, values.dtype) if low == 0 else out.read(begin, end)
            mine = (which >= low) & (which < high)
            entries[mine] = part[which[mine] - low]
            out.write(begin, entries)
    return out
