"""What the methods of selection are given, and what they give back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.evaluation._data import Rows

__all__ = ["Problem", "Scored"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Columns, target and settings of a selection.

    ``target`` holds class codes or numbers; ``X`` the rows as they came, for models that do not
    take a Table.
    """

    X: Any
    table: Table
    rows: Rows
    model: Any
    metric: str
    k: int | None
    alpha: float
    n_bins: int
    n_neighbors: int
    n_rounds: int
    folds: Any
    random: np.random.RandomState
    n_jobs: int | None
    tell: Callable[[int, int], None] | None = None

    @property
    def n_features(self) -> int:
        """Columns to choose from."""
        return len(self.table.schema)

    @property
    def target(self) -> NDArray[Any]:
        """Class codes, or numbers."""
        return self.rows.truth

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for numbers."""
        return 0 if self.rows.classes is None else len(self.rows.classes)


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of all columns.

    Parameters
    ----------
    scores
        The higher the better.
    chosen
        What the method itself would take, without a number to reach.
    what
        Name of the score, for tables and axes.
    p_values, errors
        Beside the scores, where the method has them.
    order
        Columns from best to worst; by score if None.
    status
        A word per column, where there are more than two.
    """

    scores: Floats
    chosen: NDArray[np.bool_]
    what: str
    p_values: Floats | None = None
    errors: Floats | None = None
    order: NDArray[np.int64] | None = None
    status: tuple[str, ...] | None = None
