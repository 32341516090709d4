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
    y = _target_of(score, target)
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
    return table_of(columns, {3: 5}), _target_of(score, target)


def nominal_problem(seed: int, n: int = 900) -> tuple:
    """Two classes, categories with gaps, few and many, and numbers without."""
    rng = np.random.default_rng(seed)
    sizes = {0: 3, 1: 40, 2: 200, 4: 2}
    columns = [rng.integers(0, sizes.get(i, 9), n).astype(np.int32) for i in range(5)]
    columns[3] = np.round(rng.standard_normal(n) * 4)
    score = columns[0] + np.sin(columns[1]) + 0.3 * columns[3] * (columns[4] == 1)
    for i in (0, 1, 4):
        gap = rng.random(n) < 0.15
        columns[i][gap] = -1
        score = score + 0.5 * gap
    score = score + rng.normal(scale=0.7, size=n)
    return table_of(columns, sizes), _target_of(score, TWO)


def binary_problem(seed: int, target: Target, n: int = 600) -> tuple:
    """Two numbers among more columns of two values than a word has bits; most are rare."""
    rng = np.random.default_rng(seed)
    kinds = [(0, 1, np.float32), (-1.5, 2.25, np.float64), (0.3, 0.1, np.float64)]
    columns = []
    for i in range(70):
        low, high, dtype = kinds[i % 3]
        columns.append(np.where(rng.random(n) < 2 / (i + 4), high, low).astype(dtype))
    columns[5:5] = [rng.standard_normal(n).astype(np.float32)]
    columns.append(np.round(rng.standard_normal(n) * 20))
    score = columns[5] + 0.7 * columns[1] - 3 * columns[3] * columns[0] + 0.02 * columns[-1]
    score = score + rng.normal(scale=0.5, size=n)
    return table_of(columns), _target_of(score, target)


def whole_problem(seed: int, target: Target, n: int = 600, shift: float = 0) -> tuple:
    """Whole numbers of different ranges and columns of two values; `shift` is added to all."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, 14)) * np.repeat([2, 40, 200, 9000, 1], [2, 2, 2, 1, 7]))
    X[:, 7:] = X[:, 7:] > [0, 0.5, 1, 1.5, 2, -1, 2]
    score = X[:, 4] + 2 * X[:, 2] * X[:, 8] + 30 * X[:, 0] + rng.normal(scale=150, size=n)
    schema = Schema(tuple(Feature(f"x{i}", "continuous") for i in range(14)), False, None)
    block = np.ascontiguousarray(X + shift, np.float32)
    return Table(schema, n, np.zeros(14, bool), block=block), _target_of(score, target)


def _target_of(score: np.ndarray, target: Target) -> np.ndarray:
    if not target.is_classification:
        return score
    cuts = np.quantile(score, np.linspace(0, 1, len(target.classes) + 1)[1:-1])
    return np.digitize(score, cuts).astype(np.int32)


def laid_out(table: Table, layout: str, dtype: Any) -> Table:
    """The same table as a block of rows ("C") or of columns ("F"), or as single columns."""
    assert table.block is not None
    block = np.asarray(table.block.astype(dtype), order="F" if layout == "F" else "C")
    if layout == "columns":
        columns = tuple(np.ascontiguousarray(c) for c in block.T)
        return Table(table.schema, len(block), table.has_gaps, columns)
    return Table(table.schema, len(block), table.has_gaps, block=block)
