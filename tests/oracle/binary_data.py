"""Data sets made of zeros and ones, as solvers of optimal trees take them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.oracle.recorded import load_data
from treewright import datasets

N_CUTS = 3
MOST_COLUMNS = 30


def binary_table(X: pd.DataFrame, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers above their quartiles and single categories as zeros and ones; class codes."""
    columns = []
    for series in (X[column] for column in X):
        if series.dtype.kind in "if":
            values = series.to_numpy(float)
            marks = np.unique(np.nanquantile(values, np.linspace(0, 1, N_CUTS + 2)[1:-1]))
            columns.extend(values > mark for mark in marks)
        else:
            text = series.astype(object).where(series.notna(), "gap").astype(str)
            columns.extend(text == value for value in sorted(text.unique()))
    table = np.column_stack(columns).astype(int)
    table = table[:, (table.sum(axis=0) > 0) & (table.sum(axis=0) < len(table))]
    table = np.unique(table, axis=1)[:, :MOST_COLUMNS]
    return table, np.unique(np.asarray(y).astype(str), return_inverse=True)[1]


def shared_table(shared: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """A shared data set."""
    X, y, _ = load_data(shared, name)
    return binary_table(X, y)


def bundled_table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A data set of the package."""
    data = getattr(datasets, f"load_{name}")()
    table = data.data
    frame = pd.DataFrame({column: table[column].to_pandas() for column in table.column_names})
    return binary_table(frame, np.asarray(data.target))
