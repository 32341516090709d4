"""Columns to be careful with: constants, copies, identifiers, and those that know the answer.

Constants, copies and identifiers cannot help and are left out. A column that alone tells the
target nearly always is kept, and pointed at: it may be the answer written down afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table

__all__ = ["Suspect", "find_suspects"]

DISTINCT = 0.95
"""Share of known rows that must differ for a column to be taken for identifiers."""
FEWEST_ROWS = 50
KNOWS = 0.95
"""Share of the error of a constant answer that a single column must do away with to be a leak."""
LOOKED_AT = 4000
"""Rows looked at for leaks."""
MOST_GAPS = 0.5
MOST_CATEGORIES = 0.4
"""Categories by known row above which a column is pointed at."""


@dataclass(frozen=True)
class Suspect:
    """A column and what is wrong with it; those that are dropped are not learned from."""

    column: str
    words: str
    is_dropped: bool = False
    is_leak: bool = False


def find_suspects(
    table: Table, target: NDArray[Any], is_class: bool, n_classes: int, seed: int
) -> tuple[Suspect, ...]:
    """Look at every column once, and at every pair that could be copies."""
    found: list[Suspect] = []
    seen: dict[bytes, str] = {}
    kept = []
    for i, feature in enumerate(table.schema.features):
        column = np.asarray(table.columns[i])
        gaps = column < 0 if feature.is_categorical else np.isnan(column)
        known = column[~gaps]
        n_distinct = len(np.unique(known))
        key = _fingerprint(column)
        if not len(known):
            found.append(Suspect(feature.name, "has no value at all; left out", True))
        elif n_distinct == 1:
            found.append(Suspect(feature.name, _constant(bool(gaps.any())), not gaps.any()))
        elif key in seen:
            found.append(Suspect(feature.name, f"is a copy of {seen[key]!r}; left out", True))
        elif _is_identifier(feature.kind, known, n_distinct):
            words = f"has {n_distinct} different values in {len(known)} rows, as identifiers have"
            found.append(Suspect(feature.name, f"{words}; left out", True))
        else:
            kept.append(i)
            if feature.kind == "nominal" and n_distinct > MOST_CATEGORIES * len(known):
                words = f"has {n_distinct} categories in {len(known)} rows"
                found.append(Suspect(feature.name, f"{words}, too few of each to learn from"))
            if gaps.mean() > MOST_GAPS:
                found.append(Suspect(feature.name, f"is a gap in {gaps.mean():.0%} of the rows"))
        seen.setdefault(key, feature.name)
    return (*found, *_leaks(table, kept, target, is_class, n_classes, seed))


def _constant(has_gaps: bool) -> str:
    if has_gaps:
        return "has one value and gaps, so that only being known tells rows apart"
    return "is the same in all rows; left out"


def _fingerprint(column: NDArray[Any]) -> bytes:
    """Equal for columns that group the rows alike in the same order of values."""
    import hashlib

    return hashlib.sha256(np.ascontiguousarray(column, np.float64).tobytes()).digest()


def _is_identifier(kind: str, known: NDArray[Any], n_distinct: int) -> bool:
    """Texts that nearly all differ, or whole numbers that count the rows."""
    if len(known) < FEWEST_ROWS:
        return False
    if kind == "nominal":
        return n_distinct >= DISTINCT * len(known)
    if kind == "ordinal" or n_distinct < len(known):
        return False
    steps = np.diff(known)
    is_whole = bool(np.all(known == np.round(known)))
    return is_whole and bool(np.all(steps > 0) or np.all(steps < 0)) and _is_dense(known)


def _is_dense(known: NDArray[Any]) -> bool:
    """Whether numbers run on nearly without holes, as row numbers do."""
    return float(np.ptp(known)) + 1 <= 1.5 * len(known)


def _leaks(
    table: Table, kept: list[int], target: NDArray[Any], is_class: bool, n_classes: int, seed: int
) -> list[Suspect]:
    """Columns that alone predict held-out rows nearly without error."""
    import treewright

    rng = np.random.default_rng(seed)
    rows = rng.permutation(table.n_rows)[:LOOKED_AT]
    train, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    if len(train) < 25:
        return []
    base = _loss(target[test], _constant_answer(target[train], is_class), is_class)
    if not base > 0.02 * (1 if is_class else float(np.var(target))):
        return []
    leaves = max(32, 2 * n_classes)
    options: dict[str, Any] = {"max_leaf_nodes": leaves, "min_samples_leaf": 3, "random_state": 0}
    maker = treewright.CARTClassifier if is_class else treewright.CARTRegressor
    found = []
    for i in kept:
        part = table.select(np.array([i]))
        model = maker(**options).fit(part.take(train), target[train])
        loss = _loss(target[test], model.predict(part.take(test)), is_class)
        if loss <= (1 - KNOWS) * base:
            known = (
                f"{1 - loss:.1%} of rows" if is_class else f"{1 - loss / base:.1%} of the variance"
            )
            words = f"alone tells the target ({known}): is it known before the answer is?"
            found.append(Suspect(table.schema.features[i].name, words, is_leak=True))
    return found


def _constant_answer(target: NDArray[Any], is_class: bool) -> Any:
    return np.bincount(target).argmax() if is_class else target.mean()


def _loss(truth: NDArray[Any], said: Any, is_class: bool) -> float:
    return float(np.mean(truth != said) if is_class else np.mean((truth - said) ** 2))
