"""The numbers that MARS sees of a table.

A continuous column is itself, an ordinal one its rank. A nominal column becomes one indicator
for every category but the first of those that training had. A column that had a gap in training
gets one more indicator, ``<name> is missing``; the gap itself then counts as the column's median
(the first category of a nominal one), so that the indicator says how rows with gaps differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.table import Table

__all__ = ["Predictor", "make_predictors", "predictor_matrix"]

Role = Literal["value", "category", "gap"]


@dataclass(frozen=True, slots=True)
class Predictor:
    """One column of numbers made of a feature.

    Parameters
    ----------
    name
        As terms show it.
    feature
        Position of its feature.
    role
        The value itself (an ordinal feature's rank), the indicator of a category, or that of
        a gap.
    code
        The category of an indicator.
    fill
        What a gap counts as, where the value is itself.
    """

    name: str
    feature: int
    role: Role = "value"
    code: int = -1
    fill: float = 0.0

    @property
    def is_indicator(self) -> bool:
        """Whether it is 0 or 1 by its making."""
        return self.role != "value"


def make_predictors(
    table: Table, copies: NDArray[np.float64] | None = None
) -> tuple[Predictor, ...]:
    """The predictors of a training table whose rows stand for so many each."""
    made: list[Predictor] = []
    has_gaps = table.has_gaps
    for f, feature in enumerate(table.schema.features):
        if feature.kind == "nominal":
            codes = np.unique(table.columns[f])
            made += [
                Predictor(f"{feature.name}={feature.categories[code]}", f, "category", int(code))
                for code in codes[codes >= 0][1:]
            ]
        else:
            made.append(Predictor(feature.name, f, fill=_median(table.columns[f], copies)))
        if has_gaps[f]:
            made.append(Predictor(f"{feature.name} is missing", f, "gap"))
    return tuple(made)


def predictor_matrix(
    predictors: tuple[Predictor, ...], table: Table, wanted: set[int] | None = None
) -> NDArray[np.float64]:
    """One row per predictor; those that are not wanted are left at zero."""
    matrix = np.zeros((len(predictors), table.n_rows))
    indicators: dict[int, list[tuple[int, int]]] = {}  # of a feature: codes and their rows
    for row, predictor in enumerate(predictors):
        if wanted is not None and row not in wanted:
            continue
        column = table.columns[predictor.feature]
        if predictor.role == "category":
            indicators.setdefault(predictor.feature, []).append((predictor.code, row))
            continue
        if predictor.role == "value":
            matrix[row] = column
        if table.has_gaps[predictor.feature]:
            gap = np.isnan(column) if column.dtype.kind == "f" else column < 0
            matrix[row, gap] = 1.0 if predictor.role == "gap" else predictor.fill
    for feature, places in indicators.items():  # a one for each row, not a pass for each category
        row_of = np.full(len(table.schema.features[feature].categories) + 1, -1)
        row_of[[code for code, _ in places]] = [row for _, row in places]
        rows = row_of[table.columns[feature]]  # the last, -1, is a gap's
        known = np.flatnonzero(rows >= 0)
        matrix[rows[known], known] = 1.0
    return matrix


def feature_names(predictors: tuple[Predictor, ...], schema: Schema) -> list[str]:
    """Name of the feature behind each predictor."""
    return [schema.names[predictor.feature] for predictor in predictors]


def _median(column: NDArray[Any], copies: NDArray[np.float64] | None) -> float:
    """The least value with half of the known rows at or below it."""
    known = ~np.isnan(column) if column.dtype.kind == "f" else column >= 0
    if not known.any():
        return 0.0
    values = column[known]
    order = np.argsort(values, kind="stable")
    total = np.cumsum(np.ones(len(values)) if copies is None else copies[known][order])
    return float(values[order[np.searchsorted(total, total[-1] / 2)]])
