"""What any fitted model of ours says of rows whose columns are changed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import shown
from treewright.data.encode import encode
from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.errors import ParameterError, suggest

__all__ = ["Asked", "column_values"]

Floats = NDArray[np.float64]


class Asked:
    """A model, and rows as it reads them.

    Parameters
    ----------
    model
        A fitted estimator of treewright.
    X
        Rows; a table of its columns is kept.
    """

    def __init__(self, model: Any, X: Any) -> None:
        self.model = model
        self.schema = _schema_of(model)
        self.table = X if isinstance(X, Table) else encode(
            X, schema=self.schema, owner=type(model).__name__
        )  # fmt: skip
        self.is_classifier = hasattr(model, "classes_")
        self.gives_probability = self.is_classifier and hasattr(model, "predict_proba")

    @property
    def outputs(self) -> list[str]:
        """Names of what is predicted."""
        if self.is_classifier:
            return [str(name) for name in self.model.classes_]
        said = self.say(self.table.take(np.arange(1)))
        return ["prediction"] if said.shape[1] == 1 else [f"y{k}" for k in range(said.shape[1])]

    def say(self, table: Table) -> Floats:
        """Probabilities of the classes, votes, or numbers: a row per row."""
        if self.gives_probability:
            return np.asarray(self.model.predict_proba(table), np.float64)
        said = np.asarray(self.model.predict(table))
        if self.is_classifier:
            return np.asarray(said[:, None] == np.asarray(self.model.classes_), np.float64)
        return said.astype(np.float64).reshape(table.n_rows, -1)

    def labels(self, table: Table) -> NDArray[Any]:
        """What the model predicts."""
        return np.asarray(self.model.predict(table))

    def feature(self, feature: Any) -> int:
        """Position of a feature that is given by name or position."""
        names = self.schema.names
        if isinstance(feature, int | np.integer) and 0 <= feature < len(names):
            return int(feature)
        if isinstance(feature, Hashable) and feature in names:
            return names.index(feature)
        raise ParameterError(
            f"There is no feature {shown(feature)}.{suggest(str(feature), list(map(str, names)))}"
        )

    def with_columns(self, table: Table, columns: dict[int, NDArray[Any]]) -> Table:
        """The table with some columns replaced."""
        own = [columns.get(k, column) for k, column in enumerate(table.columns)]
        gaps = table.has_gaps.copy()
        for k, column in columns.items():
            missing = np.isnan(column) if column.dtype.kind == "f" else column < 0
            gaps[k] = bool(np.any(missing))
        arrays = tuple(np.ascontiguousarray(column) for column in own)
        return Table(table.schema, table.n_rows, gaps, arrays)

    def value_name(self, feature: int, value: float) -> Any:
        """A number of a column as the user knows it: a category, a number, None for a gap."""
        about = self.schema.features[feature]
        if value != value or (about.is_categorical and value < 0):
            return None
        return about.categories[int(value)] if about.is_categorical else float(value)


def _schema_of(model: Any) -> Schema:
    for holder in (model, getattr(model, "estimator_", None)):
        if holder is None:
            continue
        found = getattr(holder, "_schema", None)
        if found is None:
            found = getattr(getattr(holder, "tree_", None), "schema", None)
        if isinstance(found, Schema):
            return found
    raise ParameterError(
        "model must be a fitted estimator of treewright that reads tables itself, got "
        f"{type(model).__name__}; sklearn.inspection explains others."
    )


def column_values(table: Table, feature: int, most: int) -> Floats:
    """Values of a feature to try: all categories, or quantiles of the numbers, ascending.

    A gap where there are none.
    """
    about = table.schema.features[feature]
    if about.is_categorical:
        return (
            np.arange(len(about.categories), dtype=np.float64) if about.categories else -np.ones(1)
        )
    column = np.asarray(table.columns[feature], np.float64)
    known = np.unique(column[~np.isnan(column)])
    if len(known) <= most:
        return known if len(known) else np.array([np.nan])
    spread = np.quantile(column[~np.isnan(column)], np.linspace(0, 1, most))
    return np.unique(spread)
