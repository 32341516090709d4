"""The compiled stream tree behind an estimator, and the ordinary Tree that it is at any time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema, Target
from treewright.data.table import Table
from treewright.errors import DataError
from treewright.kernels.stream import StreamTree
from treewright.tree.growing.grow import wrap_grown
from treewright.tree.growing.recipe import Recipe
from treewright.tree.growing.stopped import Stop, Stopping
from treewright.tree.split import SplitKind, Splits
from treewright.tree.tree import Tree

__all__ = ["Stream", "code_counts"]

Floats = NDArray[np.float64]
WAITING = "Hoeffding's bound does not tell the best test from the second best yet"
MOST = 1e300
"""Largest number that is learned from, either side of zero; bins may span 64 times as much."""
CHUNK = 1 << 15
"""Rows that are turned into a matrix together."""


def code_counts(schema: Schema) -> list[int]:
    """Categories of each nominal feature, 0 of the others, which are numbers to a stream."""
    return [max(1, len(f.categories)) if f.kind == "nominal" else 0 for f in schema.features]


class Stream:
    """A tree that learns row by row; it can be copied and pickled.

    Parameters
    ----------
    options
        As ``core/stream/tree.hpp`` names them.
    state
        What an earlier one had learned, from :meth:`state`.
    """

    def __init__(self, options: dict[str, Any], state: Floats | None = None) -> None:
        self._options = options
        self._core = StreamTree(options)
        self._tree: Tree | None = None
        if state is not None:
            self._core.restore(np.ascontiguousarray(state, np.float64))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self._options, self.state())

    def state(self) -> Floats:
        """All that was learned, as one row of numbers."""
        numbers: Floats = self._core.state()
        return numbers

    def set_codes(self, n_codes: list[int]) -> None:
        """Allow for categories that were not there before."""
        self._options = {**self._options, "n_codes": n_codes}
        self._core.set_codes(n_codes)

    @property
    def n_active(self) -> int:
        """Nodes that remember more than their totals."""
        return int(self._core.n_active)

    def learn(
        self, table: Table, y: NDArray[Any], weight: Floats | None, *, want: bool = False
    ) -> Floats | None:
        """Learn the rows in their order; with ``want`` the answers before each was learned."""
        _refuse_huge(table)
        answers = []
        self._tree = None
        for begin in range(0, table.n_rows, CHUNK):
            end = min(begin + CHUNK, table.n_rows)
            part = None if weight is None else np.ascontiguousarray(weight[begin:end])
            target = np.ascontiguousarray(y[begin:end], np.float64)
            answers.append(self._core.learn(_matrix(table, begin, end), target, part, want))
        return np.concatenate(answers) if want else None

    def answer(self, table: Table) -> Floats:
        """Class probabilities, or a column of numbers, of new rows."""
        chunks = range(0, table.n_rows, CHUNK)
        parts = [self._core.answer(_matrix(table, b, min(b + CHUNK, table.n_rows))) for b in chunks]
        return np.concatenate(parts)

    def tree(self, schema: Schema, recipe: Recipe) -> Tree:
        """What it is now, as an ordinary tree; made once until more is learned."""
        if self._tree is None:
            target = schema.target
            assert target is not None
            arrays = _arrays(self._core.arrays(), schema, target)
            waits = arrays["first_child"] < 0
            arrays["stopped"] = np.where(waits, Stop.CHOOSER, Stop.IS_SPLIT).astype(np.uint8)
            tree = wrap_grown(arrays, schema, target, recipe)
            self._tree = replace(tree, stopping=Stopping(no_split=WAITING))
        return self._tree


def _refuse_huge(table: Table) -> None:
    """Refuse numbers around which bins would have no finite edges."""
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        if column.dtype != np.float64:
            continue
        most = max(np.fmax.reduce(column, initial=0.0), -np.fmin.reduce(column, initial=0.0))
        if most > MOST:
            raise DataError(
                f"Columns must lie within ±{MOST:.0e} for a Hoeffding tree, but {feature.name!r} "
                f"reaches {most:g}; scale it."
            )


def _matrix(table: Table, begin: int, end: int) -> Floats:
    """Rows as numbers, categories by their codes, gaps NaN."""
    if table.block is not None:
        return np.ascontiguousarray(table.block[begin:end], np.float64)
    matrix = np.empty((end - begin, len(table.columns)))
    for j, column in enumerate(table.columns):
        part = column[begin:end]
        matrix[:, j] = part
        if part.dtype.kind == "i":
            matrix[part < 0, j] = np.nan
    return matrix


def _arrays(found: dict[str, Any], schema: Schema, target: Target) -> dict[str, Any]:
    """The columns of the core in the form of a growth loop."""
    totals, feature = found["totals"], found["feature"]
    n = len(feature)
    inner = feature >= 0
    kinds = np.array([f.kind for f in schema.features])
    is_codes = inner & (kinds[feature] == "nominal")
    is_breaks = inner & ~is_codes
    is_ordinal = is_breaks & (kinds[feature] == "ordinal")
    threshold = np.where(is_ordinal, np.ceil(found["threshold"]) - 0.5, found["threshold"])
    kind = np.where(is_codes, SplitKind.CODES, np.where(is_breaks, SplitKind.BREAKS, 0))
    if target.is_classification:
        weight, value, impurity = totals.sum(axis=1), totals, np.zeros(n)
    else:
        weight = np.ascontiguousarray(totals[:, 0])
        known = np.maximum(weight, 1e-300)
        mean = totals[:, 1] / known
        value = mean[:, None]
        impurity = np.maximum(totals[:, 2] / known - mean**2, 0.0)
    share = weight / weight[0] if weight[0] > 0 else weight
    return {
        "first_child": found["first_child"],
        "n_children": found["n_children"],
        "default": found["default"],
        "n_gaps": np.zeros(n, np.int32),
        "python_id": np.full(n, -1, np.int32),
        "splits": {
            **Splits.empty().arrays(),
            "kind": kind.astype(np.uint8),
            "feature": feature,
            "closed": np.zeros(n, np.bool_),
            "reversed": np.zeros(n, np.bool_),
            "break_offset": np.concatenate([[0], np.cumsum(is_breaks)]).astype(np.int64),
            "breaks": threshold[is_breaks],
            "code_offset": found["code_offset"],
            "codes": found["codes"],
            "branches": found["branches"],
            "term_offset": np.zeros(n + 1, np.int64),
        },
        "surrogates": Splits.empty().arrays(),
        "surrogate_offset": np.zeros(n + 1, np.int64),
        "surrogate_agreement": np.empty(0),
        "surrogate_adjusted": np.empty(0),
        "n_samples": np.rint(weight).astype(np.int64),
        "weight": weight,
        "value": value,
        "impurity": impurity,
        "gain": found["merit"] * share,
    }
