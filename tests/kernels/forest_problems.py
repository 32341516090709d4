"""Tables and targets for the tests of forest kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.schema import Feature, Schema, Target
from treewright.data.table import Table, column_has_gaps

TWO = Target("y", ("a", "b"))
FOUR = Target("y", ("a", "b", "c", "d"))
NUMBER = Target("y")


def table_of(columns: list[np.ndarray], n_categories: dict[int, int] | None = None) -> Table:
    sizes = n_categories or {}
    features = tuple(
        Feature(f"x{i}", "nominal", tuple(range(sizes[i])))
        if i in sizes
        else Feature(f"x{i}", "continuous")
        for i in range(len(columns))
    )
    gaps = np.array([column_has_gaps(column) for column in columns])
    return Table(Schema(features, False, None), len(columns[0]), gaps, tuple(columns))


def plain_problem(seed: int, target: Target, n: int = 700, dtype: Any = np.float32) -> tuple:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6)).astype(dtype)
    score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + rng.normal(scale=0.5, size=n)
    if target.is_classification:
        cuts = np.quantile(score, np.linspace(0, 1, len(target.classes) + 1)[1:-1])
        y = np.digitize(score, cuts).astype(np.int32)
    else:
        y = score
    block = np.ascontiguousarray(X)
    schema = Schema(tuple(Feature(f"x{i}", "continuous") for i in range(6)), False, None)
    return Table(schema, n, np.zeros(6, bool), block=block), y


def mixed_problem(seed: int, target: Target, n: int = 600, gaps: bool = True) -> tuple:
    """Ties, few values, categories and gaps."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.standard_normal(n),
        np.round(rng.standard_normal(n) * 3).astype(np.float32),
        rng.integers(0, 2, n).astype(np.float64),
        rng.integers(0, 5, n).astype(np.int32),
        np.exp(rng.standard_normal(n)).astype(np.float32),
    ]
    if gaps:
        columns[0][rng.random(n) < 0.1] = np.nan
        columns[3][rng.random(n) < 0.1] = -1
    score = np.nan_to_num(columns[0]) + columns[1] * columns[2] + (columns[3] == 2)
    score = score + rng.normal(scale=0.7, size=n)
    if target.is_classification:
        cuts = np.quantile(score, np.linspace(0, 1, len(target.classes) + 1)[1:-1])
        y = np.digitize(score, cuts).astype(np.int32)
    else:
        y = score
    return table_of(columns, {3: 5}), y


def laid_out(table: Table, layout: str, dtype: Any) -> Table:
    """The same table as a block of rows ("C") or of columns ("F"), or as single columns."""
    assert table.block is not None
    block = np.asarray(table.block.astype(dtype), order="F" if layout == "F" else "C")
    if layout == "columns":
        columns = tuple(np.ascontiguousarray(c) for c in block.T)
        return Table(table.schema, len(block), table.has_gaps, columns)
    return Table(table.schema, len(block), table.has_gaps, block=block)
