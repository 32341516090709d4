"""What an ensemble is made of: trees in one forest, or fitted models side by side.

Both answer the same questions: what do the members say of these rows, together (``mean``) or one
after another (``each``). Trees are read by the compiled predictor of forests. Models are the
members that are not one tree each: estimators of other libraries, rule sets, boosted sequences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.tree.forest.grow import Forest, leaf_values
from treewright.tree.predict import node_values

__all__ = ["Answer", "Body", "Models", "Trees"]

Answer = Literal["probability", "vote", "value"]
"""What a member says of a row: class probabilities, one class, or numbers."""

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]

MOST_LEAVES = 1 << 27
"""Leaves of rows × trees that are looked up at once; above it, tree by tree."""


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees of ours, all with the schema of the ensemble."""

    forest: Forest

    def __len__(self) -> int:
        return len(self.forest)

    def joined(self, more: Trees) -> Trees:
        """These trees, then those of ``more``."""
        return Trees(self.forest.joined(more.forest))

    def with_schema(self, schema: Schema) -> Trees:
        """The same trees with other names."""
        forest = self.forest
        if forest.arrays is not None:
            return Trees(
                Forest(schema, forest.arrays, criterion=forest.criterion, costs=forest.costs)
            )
        trees = (forest.tree(k) for k in range(len(self)))
        return Trees(Forest.from_trees([replace(tree, schema=schema) for tree in trees]))

    def mean(self, table: Table, kind: Answer, n_threads: int) -> Floats:
        """Mean over the trees of what they say of each row."""
        return self.forest.predict(table, kind, n_threads)

    def winners(self, table: Table, kind: Answer, n_threads: int) -> Ints:
        """Place of the largest mean of each row, of equal ones the first."""
        return self.forest.winners(table, kind, n_threads)

    def each(
        self, table: Table, kind: Answer, members: range, n_threads: int
    ) -> Iterator[tuple[int, Floats]]:
        """What each tree says of the rows, tree by tree."""
        forest = self.forest
        if forest.arrays is None or len(forest) * table.n_rows > MOST_LEAVES:
            for member in members:
                tree = forest.tree(member)
                yield member, node_values(tree, table, leaf_values(tree, kind), n_threads)
            return
        # rows of a compact forest end in leaves, whose values stand in the order of the nodes
        values = forest._leaf_values(kind)
        place = np.cumsum(forest.arrays["n_children"] == 0) - 1
        start = forest.arrays["node_offset"]
        reached = forest.apply(table, n_threads)
        for member in members:
            yield member, values[place[reached[:, member] + start[member]]]


@dataclass(frozen=True, eq=False)
class Models:
    """Fitted estimators, each with the features it was given.

    Parameters
    ----------
    models
        The members.
    features
        Positions of the features of each; None where all have all.
    columns
        Per model the places of its classes among those of the ensemble; None for regression.
    n_outputs
        Classes or numbers that an answer has.
    """

    models: list[Any]
    features: list[NDArray[np.int64]] | None
    columns: list[NDArray[np.int64]] | None
    n_outputs: int

    def __len__(self) -> int:
        return len(self.models)

    def joined(self, more: Models) -> Models:
        """These models, then those of ``more``."""
        return Models(
            [*self.models, *more.models],
            None if self.features is None else [*self.features, *(more.features or ())],
            None if self.columns is None else [*self.columns, *(more.columns or ())],
            self.n_outputs,
        )

    def mean(self, rows: Any, kind: Answer, n_threads: int) -> Floats:
        """Mean over the models of what they say of each row."""
        total: Floats | None = None
        for _, answer in self.each(rows, kind, range(len(self)), n_threads):
            total = answer.copy() if total is None else total + answer
        assert total is not None
        return total / len(self)

    def winners(self, rows: Any, kind: Answer, n_threads: int) -> Ints:
        """Place of the largest mean of each row, of equal ones the first."""
        return np.asarray(np.argmax(self.mean(rows, kind, n_threads), axis=1))

    def each(
        self, rows: Any, kind: Answer, members: range, n_threads: int
    ) -> Iterator[tuple[int, Floats]]:
        """What each model says of the rows, one after another."""
        parallel = Parallel(n_jobs=n_threads, prefer="threads", return_as="generator")
        found = parallel(delayed(self._answer)(k, rows, kind) for k in members)
        yield from zip(members, found, strict=True)

    def _answer(self, k: int, rows: Any, kind: Answer) -> Floats:
        model = self.models[k]
        if self.features is not None:
            rows = take_features(rows, self.features[k])
        if self.columns is None:
            value = np.asarray(model.predict(rows), np.float64)
            return value.reshape(len(value), -1)
        columns = self.columns[k]
        if kind == "probability":
            own = np.asarray(model.predict_proba(rows), np.float64)
            answer = np.zeros((len(own), self.n_outputs))
            answer[:, columns] = own
            return answer
        classes = model.classes_
        label = columns[np.searchsorted(classes, model.predict(rows))]
        answer = np.zeros((len(label), self.n_outputs))
        answer[np.arange(len(label)), label] = 1.0
        return answer


Body = Trees | Models


def take_features(rows: Any, features: NDArray[np.int64]) -> Any:
    """Some of the columns of a table, array or frame."""
    if isinstance(rows, Table):
        return rows.select(np.unique(features))
    from sklearn.utils import _safe_indexing

    return _safe_indexing(rows, features, axis=1)


def take_rows(rows: Any, index: Sequence[int] | NDArray[Any]) -> Any:
    """Some of the rows of a table, array or frame."""
    if isinstance(rows, Table):
        return rows.take(np.asarray(index))
    from sklearn.utils import _safe_indexing

    return _safe_indexing(rows, index)
