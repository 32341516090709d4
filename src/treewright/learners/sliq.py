"""SLIQ: trees over presorted lists on disk, with only the class list in memory.

Each attribute is sorted once into a list of (value, row). The class list holds class and leaf of
every row and stays in memory. The tree grows breadth first: one pass over all lists finds the best
test, by Gini's index, of every node of a level. Then the tree is pruned by description length.

Before pruning the tree is that of ``CARTClassifier()`` on the same rows, test by test. From the
paper it differs in how large sets of categories are searched: with two classes the best subset is
found for any number (by ordering categories by rate), with more classes all subsets are tried up
to ``max_exhaustive`` categories, and above that categories are ordered by their first principal
component where the paper adds them one by one as long as that helps.

Reference: Mehta, Agrawal and Rissanen (1996), *SLIQ: a fast scalable classifier for data mining*,
EDBT.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.errors import SpaceError
from treewright.estimator.parameters import keep, parameters
from treewright.kernels import lists as kernel
from treewright.learners._lists.class_list import ClassListStore, class_list_bytes
from treewright.learners._lists.estimator import OWN, ColumnWriter, ListClassifier, Source
from treewright.learners._lists.prepare import Sums
from treewright.learners._lists.workspace import Workspace
from treewright.tree.growing.recipe import Recipe
from treewright.tree.tree import Tree

__all__ = ["SLIQClassifier"]


@parameters(**OWN)
class SLIQClassifier(ListClassifier):
    """Classification tree from lists on disk and a class list in memory.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SPRINTClassifier : Without the class list in memory.
    CARTClassifier : The same splits, in memory.

    References
    ----------
    Mehta, Agrawal and Rissanen (1996), *SLIQ: a fast scalable classifier for data mining*, EDBT.

    Examples
    --------
    >>> from treewright import SLIQClassifier
    >>> from treewright.datasets import make_agrawal
    >>> data = make_agrawal(2000, 1, random_state=0)
    >>> model = SLIQClassifier().fit(data.data, data.target)
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
        needed = class_list_bytes(n_rows, n_classes, not sums.is_unit)
        # 30 % of the limit are left to chunks and searches
        if space.limit is not None and needed > 0.7 * space.limit:
            raise SpaceError(
                f"SLIQ keeps the class list in memory, {needed / 1e6:.1f} MB for {n_rows} rows, "
                f"but memory_limit is {space.limit / 1e6:.1f} MB; raise it to "
                f"{needed / 0.7 / 1e6:.0f} MB, or use SPRINTClassifier."
            )
        space.claim(needed)

    def _make_store(
        self, space: Workspace, source: Source, sums: Sums, n_classes: int, recipe: Recipe
    ) -> tuple[ClassListStore, NDArray[np.int64]]:
        classes = kernel.ClassList(n_classes > 256, not sums.is_unit)
        classes.reserve(source.n_rows)
        columns = ColumnWriter(
            space, source, sums, n_classes, lambda _, label, weight: classes.append(label, weight)
        )
        store = ClassListStore(
            space,
            source.schema.features,
            recipe,
            columns.lists(space, lambda item: item),
            classes,
            n_classes,
            sums.is_unit,
        )
        return store, columns.totals
