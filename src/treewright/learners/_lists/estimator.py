"""What SLIQ and SPRINT share: parameters, data in memory or in files, growth, MDL pruning."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from treewright.data.frames import refuse_collection
from treewright.data.schema import Schema, Target
from treewright.data.sources import is_path
from treewright.data.table import Table
from treewright.errors import DataError, ParameterError
from treewright.estimator.base import Pruned, TreeEstimator, prune_by
from treewright.estimator.costs import class_weights
from treewright.estimator.parameters import Parameter
from treewright.estimator.progress import Progress, reported
from treewright.estimator.tasks import ClassificationMixin
from treewright.estimator.training import Training, threads
from treewright.learners._lists.prepare import (
    MOST_ROWS,
    AttributeList,
    Sums,
    as_list_values,
    sort_list,
    write_columns,
)
from treewright.learners._lists.source import FileSource, TableSource, check_target
from treewright.learners._lists.workspace import Stream, Workspace, parse_memory
from treewright.tree.growing.grow import wrap_grown
from treewright.tree.growing.levels import NodeSums, Units, grow_levels
from treewright.tree.growing.recipe import Recipe
from treewright.tree.growing.stopping import most_exhaustive, samples_to_leaf, samples_to_split
from treewright.tree.tree import Tree

__all__ = ["OWN", "ListClassifier"]

OWN = {
    "pruning": Parameter(
        [StrOptions({"mdl"}), callable, None],
        '"mdl" or callable',
        "How the grown tree is cut back: by description length, by a function of yours from "
        "Tree to Tree, or not at all.",
    ),
    "coding": Parameter(
        [StrOptions({"full", "partial", "hybrid"})],
        '{"full", "partial", "hybrid"}',
        'What pruning by description length may do: "full" keeps both branches of a test or '
        'none, "partial" may leave either to its parent, "hybrid" does the one after the other.',
    ),
    "memory_limit": Parameter(
        [str, Interval(Integral, 1, None, closed="left"), None],
        "int or str",
        'Bytes, or a text such as "1GB", that lists and buffers may take; what exceeds it goes '
        "to temporary files. None keeps everything in memory. What Python and its libraries take "
        "themselves is not counted.",
    ),
    "temp_dir": Parameter(
        [str, os.PathLike, None],
        "str or path",
        "Folder of the temporary files, which are removed in any case; None for the system's.",
    ),
}

Source = TableSource | FileSource


class ListClassifier(ClassificationMixin, TreeEstimator):
    """Grows one tree over attribute lists, level by level."""

    criterion: ClassVar[str] = "gini"
    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_impurity_decrease: float
    min_significance: float | None
    max_exhaustive: int | Literal["auto"]
    pruning: Literal["mdl"] | Callable[[Tree], Tree] | None
    coding: Literal["full", "partial", "hybrid"]
    memory_limit: int | str | None
    temp_dir: str | os.PathLike[str] | None
    class_weight: Mapping[Any, float] | Literal["balanced"] | None
    _own_pruning = "mdl"

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None
    ) -> Self:
        """Grow and prune a tree.

        Parameters
        ----------
        X : array, data frame, str or path
            Rows and features in memory, or files: a Parquet, CSV, Arrow or Feather file, a
            folder of them, or a pattern such as ``"sales/*.parquet"``.
        y : array-like of shape (n_samples,), default=None
            The classes, without gaps; where ``X`` is in memory.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, at least 0; rows of weight 0 are left out. In memory only.
        target : str, default=None
            Column of the classes; where ``X`` names files.

        Returns
        -------
        self
        """
        if not is_path(X):
            refuse_collection(X, "X")
            if target is not None:
                raise ParameterError(
                    f"target names a column of files, got {target!r} beside a table in memory; "
                    "pass the classes as y."
                )
            return super().fit(X, y, sample_weight)
        if y is not None or sample_weight is not None:
            raise ParameterError(
                "y and sample_weight are for tables in memory, but X names files; name their "
                "column with target, and leave weights out."
            )
        with reported(self, X, None, None) as progress:
            self._validate()
            return self._fit_files(X, check_target(target), progress)

    def _validate(self) -> None:
        super()._validate()
        parse_memory(self.memory_limit)

    def _fit_files(self, path: Any, target: str, progress: Progress | None) -> Self:
        source = FileSource(path, target, self.categorical_features, self.ordinal_features)
        classes = source.classes.tolist()
        if self.class_weight is not None:
            source.class_weight = class_weights(self.class_weight, classes, source.class_counts)
        of = Target(target, tuple(classes))
        tree = self._grow_source(source, of, self._rules(source.n_rows, len(classes)), progress)
        self._keep_target(of, source.classes)
        self._keep(self._pruned(tree))
        return self

    def _recipe(self, training: Training) -> Recipe:
        """What grows the same tree in memory."""
        return self._rules(training.n_rows, len(training.target.classes))

    def _rules(self, n_rows: int, n_classes: int) -> Recipe:
        leaf = samples_to_leaf(self.min_samples_leaf, n_rows)
        return Recipe(
            self.criterion,
            missing="learned",
            max_exhaustive=most_exhaustive(self.max_exhaustive, n_rows, n_classes),
            max_depth=self.max_depth,
            min_samples_split=samples_to_split(self.min_samples_split, leaf, n_rows),
            min_samples_leaf=leaf,
            min_gain=self.min_impurity_decrease,
            min_significance=self.min_significance,
        )

    def _grow(
        self,
        training: Training,
        progress: Progress | None = None,
        recipe: Recipe | None = None,
    ) -> Tree:
        source = TableSource(training.table, training.y, training.sample_weight)
        recipe = recipe or self._recipe(training)
        return self._grow_source(source, training.target, recipe, progress)

    def _grow_source(
        self, source: Source, target: Target, recipe: Recipe, progress: Progress | None
    ) -> Tree:
        if source.n_rows > MOST_ROWS:
            raise DataError(
                f"Row numbers have 32 bits, so there may be {MOST_ROWS} rows, got "
                f"{source.n_rows}; fit on a part of them."
            )
        n_threads = threads(self.n_jobs)
        n_classes = len(target.classes)
        with Workspace(parse_memory(self.memory_limit), self.temp_dir, n_threads) as space:
            sums = _sums(source)
            self._claim(space, source.n_rows, n_classes, sums)
            store, totals = self._make_store(space, source, sums, n_classes, recipe)
            grown = grow_levels(
                store,
                source.schema.features,
                NodeSums(totals[None, :], np.array([source.n_rows], np.int64)),
                recipe,
                Units(1.0 / sums.scale),
                progress=progress,
            )
        return wrap_grown(grown, source.schema, target, recipe)

    def _claim(self, space: Workspace, n_rows: int, n_classes: int, sums: Sums) -> None:
        """Take what must be in memory, or refuse a limit that is too low."""
        raise NotImplementedError

    def _make_store(
        self, space: Workspace, source: Source, sums: Sums, n_classes: int, recipe: Recipe
    ) -> tuple[Any, NDArray[np.int64]]:
        """The lists of all columns, and the class weights of all rows."""
        raise NotImplementedError

    def _prune(self, tree: Tree, training: Training, progress: Progress | None = None) -> Pruned:
        return self._pruned(tree)

    def _pruned(self, tree: Tree) -> Pruned:
        from treewright.pruning import mdl

        if self.pruning is None:
            return Pruned(tree)
        if self.pruning == "mdl":
            return Pruned(mdl(tree, self.coding))
        return Pruned(prune_by(self.pruning, tree))


def _sums(source: Source) -> Sums:
    if isinstance(source, TableSource):
        return Sums.of([source.weight])
    if source.class_weight is None:
        return Sums.of([])
    each = source.class_weight
    return Sums(
        float((each * source.class_counts).sum()),
        bool(np.all(each == np.floor(each))),
        bool(np.all(each == 1.0)),
    )


class ColumnWriter:
    """Writes the columns of blocks to streams as they come, and counts classes.

    Parameters
    ----------
    on_classes
        Gets the codes and scaled weights of each block.
    """

    def __init__(
        self,
        space: Workspace,
        source: Source,
        sums: Sums,
        n_classes: int,
        on_classes: Callable[[int, NDArray[np.int32], NDArray[np.int64] | None], None],
    ) -> None:
        self.schema: Schema = source.schema
        self.totals = np.zeros(n_classes, np.int64)
        self.columns: list[Stream] = []
        at = 0
        for block in source:
            if not self.columns:
                self.columns = write_columns(space, source.schema, source.n_rows, block.table)
            self._write(at, block.table)
            weight = sums.scaled(block.weight, len(block.y))
            on_classes(at, block.y, weight)
            # sums of integers below 2**53 are exact as floats; larger weights go one by one
            for k in range(n_classes):
                mine = block.y == k
                self.totals[k] += np.count_nonzero(mine) if weight is None else weight[mine].sum()
            at += len(block.y)

    def _write(self, at: int, table: Table) -> None:
        for feature, column, stream in zip(
            self.schema.features, table.columns, self.columns, strict=True
        ):
            stream.write(at, as_list_values(feature, column, stream.dtype))

    def lists(
        self, space: Workspace, finish: Callable[[AttributeList], AttributeList]
    ) -> list[AttributeList]:
        """The lists of all columns, ordered ones sorted; one after another, for the memory."""
        made = []
        for f, (feature, stream) in enumerate(zip(self.schema.features, self.columns, strict=True)):
            if feature.kind == "nominal":
                row = space.stream(np.uint32, stream.n)
                step = space.chunk
                for begin in range(0, stream.n, step):
                    end = min(begin + step, stream.n)
                    row.write(begin, np.arange(begin, end, dtype=np.uint32))
                item = AttributeList(f, max(1, len(feature.categories)), stream, row)
            else:
                item = AttributeList(f, 0, *sort_list(space, stream))
            made.append(finish(item))
            space.trim()
        return made
