"""One look at all blocks: what they share before anything is learned.

Everything here is a map over pieces and a merge that does not ask for their order: the classes and
their rows; which rows are set aside; schema and categories; bins. Bins are those that a fit in
memory chooses: exact where a column has few values, else from rows that are drawn by their number
(``DRAWN_ROWS`` of them, one from each of as many equal parts), so that summaries of blocks merge by
putting them together. A target alone is read in passes of its own; with Parquet these are cheap.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.encode import encode
from treewright.data.schema import Feature, Schema
from treewright.data.sources import Piece
from treewright.data.table import Table
from treewright.data.target import class_codes, numeric_target
from treewright.ensembles.boosting.stopping import SET_ASIDE
from treewright.errors import DataError
from treewright.kernels.boosting import (
    DRAWN_ROWS,
    BinMap,
    distinct_values,
    drawn_rows,
    row_chances,
    summary_edges,
)

__all__ = [
    "Aside",
    "FeatureParts",
    "Reading",
    "TargetPart",
    "blocks_of",
    "draw_aside",
    "look_at_features",
    "look_at_target",
    "merge_features",
    "merge_targets",
    "settle_aside",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reading:
    """How the blocks of a source are read.

    Parameters
    ----------
    target
        The column to predict.
    is_classes
        Whether it holds classes.
    rows
        Most rows of a block.
    categorical_features, ordinal_features
        As the parameters of estimators.
    drops_gaps
        Whether rows without a target are left out; otherwise they are an error.
    """

    target: str
    is_classes: bool
    rows: int
    categorical_features: Any = "from_dtype"
    ordinal_features: Any = None
    drops_gaps: bool = False


# -- the target ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TargetPart:
    """Targets of a piece: rows, distinct classes with their rows, or the range of the numbers."""

    n_rows: int
    values: Any = None
    counts: NDArray[np.int64] | None = None
    low: float = np.inf
    high: float = -np.inf
    n_gaps: int = 0


def blocks_of(piece: Piece, reading: Reading, only_target: bool = False) -> Iterator[Any]:
    """The blocks of a piece; rows without a target are left out where that is asked for."""
    for frame in piece.read([reading.target] if only_target else None, reading.rows):
        yield _known(frame, reading.target) if reading.drops_gaps else frame


def look_at_target(piece: Piece, reading: Reading) -> TargetPart:
    """Rows and targets of a piece."""
    parts, n_read = [], 0
    for frame in piece.read([reading.target], reading.rows):
        known = _known(frame, reading.target) if reading.drops_gaps else frame
        n_read += len(frame)
        if len(known):
            parts.append(_target_part(_column(known, reading.target), reading.is_classes))
    found = merge_targets(parts) if parts else TargetPart(0)
    return TargetPart(
        found.n_rows, found.values, found.counts, found.low, found.high, n_read - found.n_rows
    )


def _target_part(column: Any, is_classes: bool) -> TargetPart:
    if not is_classes:
        y = numeric_target(column)
        return TargetPart(len(y), low=float(y.min()), high=float(y.max()))
    codes, classes = class_codes(column)
    return TargetPart(len(codes), classes, np.bincount(codes, minlength=len(classes)))


def merge_targets(parts: Sequence[TargetPart]) -> TargetPart:
    """The targets of several pieces."""
    parts = [part for part in parts if part.n_rows]
    if not parts:
        raise DataError("The target must be known in some rows, but all are gaps; check it.")
    values = counts = None
    if parts[0].values is not None:
        values = np.unique(np.concatenate([part.values for part in parts]))
        position = {value: k for k, value in enumerate(values.tolist())}
        counts = np.zeros(len(values), np.int64)
        for part in parts:
            assert part.counts is not None
            np.add.at(counts, [position[v] for v in part.values.tolist()], part.counts)
    return TargetPart(
        sum(part.n_rows for part in parts),
        values,
        counts,
        min(part.low for part in parts),
        max(part.high for part in parts),
        sum(part.n_gaps for part in parts),
    )


def _column(frame: Any, name: str) -> Any:
    return frame.column(name) if hasattr(frame, "column") else frame[name]


def _without(frame: Any, name: str) -> Any:
    if hasattr(frame, "drop_columns"):
        return frame.drop_columns([name])
    return frame.drop(columns=[name]) if hasattr(frame, "iloc") else frame.drop(name)


def _known(frame: Any, name: str) -> Any:
    """The rows whose target is known."""
    if hasattr(frame, "iloc"):
        return frame[frame[name].notna()]
    import pyarrow.compute as pc

    return frame.filter(pc.invert(frame.column(name).is_null(nan_is_null=True)))


# -- rows set aside -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Aside:
    """Which rows judge the rounds: those whose number is at most that of their class."""

    seed: int
    threshold: Floats

    def mask(self, codes: NDArray[Any], first_row: int) -> NDArray[np.bool_]:
        """The rows set aside among rows of these classes, numbered from ``first_row``."""
        chance = row_chances(self.seed, SET_ASIDE, first_row, len(codes))
        return np.asarray(chance <= self.threshold[codes])


@dataclass(frozen=True, eq=False)
class AsidePart:
    """Numbers drawn in a piece: how many lie below a window of each class, and those in it."""

    below: NDArray[np.int64]
    near: list[Floats]


def aside_windows(rows: NDArray[np.int64], wanted: list[tuple[int, int]]) -> Floats:
    """A window for each class that the number of its last row set aside lies in.

    So many standard errors wide that it never lies outside.
    """
    window = np.full((len(rows), 2), -1.0)
    for k, n in wanted:
        if n:
            share = n / rows[k]
            margin = 10 * np.sqrt(share * (1 - share) / rows[k]) + 40 / rows[k]
            window[k] = share - margin, share + margin
    return window


def draw_aside(
    piece: Piece,
    first_row: int,
    reading: Reading,
    classes: NDArray[Any] | None,
    window: Floats,
    seed: int,
) -> AsidePart:
    """Numbers of the rows of a piece."""
    n = len(window)
    below = np.zeros(n, np.int64)
    near: list[list[Floats]] = [[] for _ in range(n)]
    for frame in blocks_of(piece, reading, only_target=True):
        codes = target_codes(frame, reading, classes)[0]
        chance = row_chances(seed, SET_ASIDE, first_row, len(codes))
        first_row += len(codes)
        for k in range(n):
            own = chance[codes == k]
            below[k] += np.count_nonzero(own < window[k, 0])
            near[k].append(own[(own >= window[k, 0]) & (own <= window[k, 1])])
    return AsidePart(below, [np.concatenate(each or [np.empty(0)]) for each in near])


def settle_aside(
    parts: Sequence[AsidePart], wanted: list[tuple[int, int]], seed: int
) -> tuple[Aside, list[NDArray[np.int64]]]:
    """The rows set aside, and how many of each class there are in each piece."""
    n = len(parts[0].below)
    threshold = np.full(n, -1.0)
    for k, count in wanted:
        if count:
            near = np.sort(np.concatenate([part.near[k] for part in parts]))
            threshold[k] = near[count - 1 - sum(int(part.below[k]) for part in parts)]
    return Aside(seed, threshold), [
        np.array(
            [int(part.below[k]) + np.count_nonzero(part.near[k] <= threshold[k]) for k in range(n)],
            np.int64,
        )
        for part in parts
    ]


def target_codes(
    frame: Any, reading: Reading, classes: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Classes of the rows (0 where the target is numbers), and the target itself."""
    column = _column(frame, reading.target)
    if reading.is_classes:
        codes = class_codes(column, classes)[0]
        return codes, codes
    y = numeric_target(column)
    return np.zeros(len(y), np.int32), y


def read_block(frame: Any, reading: Reading, schema: Schema | None = None) -> Table:
    """The features of a block."""
    rows = _without(frame, reading.target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said once, of all blocks, if at all
        if schema is not None:
            return encode(rows, schema=schema, owner="fit")
        return encode(
            rows,
            categorical_features=reading.categorical_features,
            ordinal_features=reading.ordinal_features,
            owner="fit",
        )


# -- features -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FeaturePart:
    """One column of some rows.

    Parameters
    ----------
    feature
        Name, kind and categories.
    counts
        Rows of each category (nominal).
    distinct
        All values, ascending, where they are few; None where they are many (ordered).
    drawn
        Values of the rows that are drawn (ordered).
    is_empty
        Whether all are gaps.
    """

    feature: Feature
    counts: NDArray[np.int64] | None = None
    distinct: Floats | None = None
    drawn: Floats | None = None
    is_empty: bool = True


FeatureParts = list[FeaturePart]


def look_at_features(
    piece: Piece,
    first_row: int,
    first_learned: int,
    n_learned: int,
    reading: Reading,
    classes: NDArray[Any] | None,
    aside: Aside | None,
    max_bins: int,
) -> tuple[FeatureParts, float]:
    """The columns of a piece, and the largest target, without the rows set aside."""
    found: list[FeatureParts] = []
    most = 0.0
    for frame in blocks_of(piece, reading):
        if not len(frame):
            continue
        table = read_block(frame, reading)
        codes, y = target_codes(frame, reading, classes)
        if aside is not None:
            learned = ~aside.mask(codes, first_row)
            table, y = table.take(learned), y[learned]
        first_row += len(codes)
        if len(y):
            most = max(most, float(np.abs(y).max()))
            rows = drawn_rows(first_learned, len(y), n_learned, DRAWN_ROWS)
            found.append(_feature_parts(table, rows, max_bins))
        first_learned += len(y)
    return (merge_features(found, max_bins) if found else []), most


def _feature_parts(table: Table, rows: NDArray[np.int64], max_bins: int) -> FeatureParts:
    parts = []
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        if feature.kind == "nominal":
            counts = np.bincount(column[column >= 0], minlength=len(feature.categories))
            parts.append(FeaturePart(feature, counts, is_empty=not counts.any()))
            continue
        drawn = column[rows].astype(np.float64)
        drawn[column[rows] < 0 if feature.kind == "ordinal" else np.isnan(drawn)] = np.nan
        drawn = drawn[~np.isnan(drawn)]
        distinct = distinct_values(column, max_bins)
        empty = distinct is not None and not len(distinct)
        parts.append(FeaturePart(feature, None, distinct, drawn, empty))
    return parts


def merge_features(parts: Sequence[FeatureParts], max_bins: int) -> FeatureParts:
    """The columns of several pieces."""
    parts = [part for part in parts if part]
    if len(parts) == 1:
        return parts[0]
    return [_merge(column, max_bins) for column in zip(*parts, strict=True)]


def _merge(parts: Sequence[FeaturePart], max_bins: int) -> FeaturePart:
    first = parts[0].feature
    kinds = {part.feature.kind for part in parts if not part.is_empty} or {first.kind}
    if len(kinds) > 1:
        raise DataError(
            f"Column {first.name!r} must be of one kind in all blocks, got {sorted(kinds)}; "
            "name it in categorical_features, or convert it."
        )
    parts = [part for part in parts if part.feature.kind in kinds]
    first = parts[0].feature
    is_empty = all(part.is_empty for part in parts)
    if first.kind == "nominal":
        categories = _merged_categories([part.feature.categories for part in parts])
        position = {value: k for k, value in enumerate(categories)}
        counts = np.zeros(len(categories), np.int64)
        for part in parts:
            places = [position[value] for value in part.feature.categories]
            assert part.counts is not None
            np.add.at(counts, places, part.counts)
        return FeaturePart(Feature(first.name, "nominal", categories), counts, is_empty=is_empty)
    if any(part.feature.categories != first.categories for part in parts):
        raise DataError(
            f"Ordered categories of column {first.name!r} must be the same in all blocks, got "
            "others; pass their order as ordinal_features."
        )
    distinct: Floats | None = None
    if all(part.distinct is not None for part in parts):
        distinct = np.unique(np.concatenate([part.distinct for part in parts]))
        distinct = distinct if len(distinct) <= max_bins else None
    drawn = np.concatenate([part.drawn for part in parts])
    return FeaturePart(first, None, distinct, drawn, is_empty)


def _merged_categories(lists: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Categories in their order where all blocks agree on it, else sorted."""
    known = [each for each in lists if each]
    if not known or all(each == known[0] for each in known):
        return known[0] if known else ()
    values = {value for each in known for value in each}
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=lambda value: (isinstance(value, str), value)))


def bin_maps_of(parts: FeatureParts, max_bins: int) -> list[BinMap]:
    """How columns become bins; as :func:`treewright.kernels.boosting.bin_maps` has it."""
    maps = []
    for part in parts:
        if part.counts is not None:
            frequent = np.argsort(-part.counts, kind="stable")[:max_bins]
            codes = np.sort(frequent[part.counts[frequent] > 0]).astype(np.int32)
            maps.append(BinMap(codes=codes, n_categories=len(part.feature.categories)))
            continue
        if part.distinct is not None:
            values, counts = part.distinct, np.ones(len(part.distinct))
        else:
            assert part.drawn is not None
            values, weights = np.unique(part.drawn, return_counts=True)
            counts = weights.astype(np.float64)
        maps.append(BinMap(edges=summary_edges(values, counts, max_bins)))
    return maps
