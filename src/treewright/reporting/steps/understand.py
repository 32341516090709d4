"""The first step: what the data are. Kinds, gaps, classes, and columns to be careful with."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.encode import encode
from treewright.data.schema import Feature
from treewright.data.table import Table
from treewright.data.target import class_codes, numeric_target
from treewright.errors import (
    DataError,
    ManyCategoriesWarning,
    ParameterError,
    TreewrightWarning,
    suggest,
)
from treewright.reporting.steps.plan import Settings
from treewright.reporting.steps.suspects import Suspect, find_suspects
from treewright.tree.show.describe import number_text
from treewright.tree.show.tables import as_frame
from treewright.tree.show.words import format_value

__all__ = ["ColumnAbout", "Understanding", "understand"]

FEWEST_ROWS = 10
MOST_NUMBERED_CLASSES = 10


@dataclass(frozen=True)
class ColumnAbout:
    """One column in words."""

    name: str
    kind: str
    n_gaps: int
    n_distinct: int
    holds: str
    remark: str = ""
    is_used: bool = True


@dataclass(frozen=True, eq=False)
class Understanding:
    """What was understood of a table.

    Parameters
    ----------
    target, is_class
        What is predicted, and whether it is a class.
    features, y
        The columns that are learned from, an Arrow table, and the target.
    classes, counts
        The classes and their rows; empty for numbers.
    columns, suspects
        Every column in words, and those to be careful with.
    n_dropped
        Rows without a target, left out.
    table
        The features, encoded.
    notes
        What else was noticed.
    """

    target: str
    is_class: bool
    features: Any
    y: NDArray[Any]
    classes: tuple[Any, ...]
    counts: tuple[int, ...]
    columns: tuple[ColumnAbout, ...]
    suspects: tuple[Suspect, ...]
    n_dropped: int
    table: Table
    codes: NDArray[Any]
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Rows with a target."""
        return len(self.y)

    def frame(self) -> Any:
        """The columns as a data frame."""
        names = ("name", "kind", "n_gaps", "n_distinct", "holds", "remark")
        return as_frame({n: [getattr(c, n) for c in self.columns] for n in names})


def understand(table: Any, target: str, settings: Settings) -> Understanding:
    """Look at every column of an Arrow table; rows without a target are left out."""
    _require(table, target, "target")
    for name in settings.drop:
        _require(table, name, "drop")
    features, column, n_dropped = _known_rows(table, target)
    features = features.drop_columns([n for n in settings.drop if n != target])
    if features.num_columns == 0:
        raise DataError(
            f"There must be columns to learn from beside {target!r}, but there are none."
        )
    is_class = _is_class(settings.task, column)
    y = _values(column)
    classes, counts, codes = _classes(target, y, is_class)
    encoded, notes = _encoded(features, settings)
    suspects = find_suspects(encoded, codes, is_class, len(classes), settings.seed)
    unused = {s.column for s in suspects if s.is_dropped}
    if len(unused) == len(encoded.schema):
        raise DataError(
            "No column is left to learn from: "
            + "; ".join(f"{s.column!r} {s.words}" for s in suspects[:3])
            + "."
        )
    columns = tuple(_about(encoded, i, suspects) for i in range(len(encoded.schema)))
    keep = np.array([f.name not in unused for f in encoded.schema.features])
    return Understanding(
        target=target,
        is_class=is_class,
        features=features.drop_columns(sorted(unused)),
        y=y,
        classes=classes,
        counts=counts,
        columns=columns,
        suspects=suspects,
        n_dropped=n_dropped,
        table=encoded.select(np.flatnonzero(keep)),
        codes=codes,
        notes=tuple(notes),
    )


def _require(table: Any, name: str, what: str) -> None:
    if name not in table.column_names:
        raise DataError(
            f"{what} names a column that the data do not have: {name!r}."
            f"{suggest(name, table.column_names)}"
        )


def _known_rows(table: Any, target: str) -> tuple[Any, Any, int]:
    import pyarrow.compute as pc

    known = table.filter(pc.invert(table.column(target).is_null(nan_is_null=True)))
    if known.num_rows < FEWEST_ROWS:
        raise DataError(
            f"A report needs {FEWEST_ROWS} rows with a known target or more, but {target!r} is "
            f"known in {known.num_rows}; gather more rows."
        )
    column = known.column(target).combine_chunks()
    return known.drop_columns([target]), column, table.num_rows - known.num_rows


def _is_class(task: str, column: Any) -> bool:
    import pyarrow.types as kinds

    if task not in ("auto", "classification", "regression"):
        raise ParameterError(
            f'task must be "auto", "classification" or "regression", got {task!r}.'
        )
    kind = column.type
    is_number = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)
    if task == "regression" and not is_number:
        raise ParameterError(f"task='regression' needs a target of numbers, but it holds {kind}.")
    if task != "auto":
        return task == "classification"
    is_code = kinds.is_integer(kind) and len(column.unique()) <= MOST_NUMBERED_CLASSES
    return bool(is_code or not is_number)


def _values(column: Any) -> NDArray[Any]:
    import pyarrow.types as kinds

    if kinds.is_integer(column.type) or kinds.is_floating(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.array(column.to_pylist(), dtype=object)


def _classes(
    target: str, y: NDArray[Any], is_class: bool
) -> tuple[tuple[Any, ...], tuple[int, ...], NDArray[Any]]:
    if not is_class:
        numbers = numeric_target(y)
        if float(np.ptp(numbers)) == 0.0:
            raise DataError(
                f"The target {target!r} is the same in all rows; choose another column."
            )
        return (), (), numbers
    codes, classes = class_codes(y)[:2]
    counts = np.bincount(codes, minlength=len(classes))
    if len(classes) < 2:
        raise DataError(
            f"The target {target!r} has one class, {format_value(classes[0])}, in all rows; "
            "choose another column."
        )
    if np.sum(counts >= 2) < 2:
        raise DataError(
            f"The target {target!r} has {len(classes)} classes in {len(y)} rows, and no two of "
            "them have two rows or more, so nothing can be learned; choose another column"
            + (", or task='regression'." if np.issubdtype(y.dtype, np.number) else ".")
        )
    return tuple(np.asarray(classes).tolist()), tuple(counts.tolist()), codes


def _encoded(features: Any, settings: Settings) -> tuple[Table, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TreewrightWarning)
        encoded = encode(features, **settings.kinds)
    notes = [
        str(w.message)
        for w in caught
        if issubclass(w.category, TreewrightWarning)
        and not issubclass(w.category, ManyCategoriesWarning)  # suspects have them
    ]
    return encoded, notes


def _about(table: Table, i: int, suspects: Sequence[Suspect]) -> ColumnAbout:
    feature, column = table.schema.features[i], table.columns[i]
    gaps = column < 0 if feature.is_categorical else np.isnan(column)
    known = column[~gaps]
    own = [s for s in suspects if s.column == feature.name]
    return ColumnAbout(
        name=feature.name,
        kind=feature.kind,
        n_gaps=int(np.count_nonzero(gaps)),
        n_distinct=len(np.unique(known)),
        holds=_holds(feature, known),
        remark="; ".join(s.words for s in own),
        is_used=not any(s.is_dropped for s in own),
    )


def _holds(feature: Feature, known: NDArray[Any]) -> str:
    """A range, or the most frequent categories."""
    if not len(known):
        return "nothing"
    if not feature.is_categorical:
        quantiles = np.quantile(known, (0, 0.5, 1)).tolist()
        low, middle, high = (number_text(q, feature, 4) for q in quantiles)
        return f"{low} to {high}, median {middle}"
    counts = np.bincount(known, minlength=len(feature.categories))
    order = np.argsort(-counts, kind="stable")
    if feature.kind == "ordinal":
        order = np.flatnonzero(counts > 0)
    words = [
        f"{format_value(feature.categories[k])} ({100 * counts[k] / len(known):.0f} %)"
        for k in order[:4].tolist()
        if counts[k]
    ]
    rest = int(np.count_nonzero(counts)) - len(words)
    return ", ".join(words) + (f", … {rest} more" if rest > 0 else "")
