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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.categories import levels_error
from treewright.data.encode import encode
from treewright.data.schema import Feature, Schema
from treewright.data.sources import Piece
from treewright.data.table import Table
from treewright.data.target import class_codes, numeric_target
from treewright.data.weights import (
    EXACT,
    counting_scale,
    distinct_weights,
    exact_sum,
    on_scale,
    refuse_overflow,
    taking_part,
)
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
    "WeightPart",
    "block_weights",
    "blocks_of",
    "class_totals",
    "draw_aside",
    "joined_weights",
    "look_at_features",
    "look_at_target",
    "merge_features",
    "merge_targets",
    "settle_aside",
    "weight_scale",
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
    weight
        The column of the rows' weights; rows of weight 0 are left out.
    weight_scale
        What weights are divided by; None before it is known.
    classes, factors
        The classes and the weight of a row of each, where classes weigh.
    factor_scale
        What weights times these are divided by, where that is needed.
    """

    target: str
    is_classes: bool
    rows: int
    categorical_features: Any = "from_dtype"
    ordinal_features: Any = None
    drops_gaps: bool = False
    weight: str | None = None
    weight_scale: float | None = None
    classes: NDArray[Any] | None = None
    factors: Floats | None = None
    factor_scale: float | None = None

    def without_weights(self) -> Reading:
        """The same for rows of a weight of one each."""
        return replace(self, weight=None, factors=None)


# -- the target ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WeightPart:
    """Weights of some rows of one class, or of all.

    Parameters
    ----------
    least, most
        Their range.
    distinct
        Their distinct values; None where there are very many.
    total
        Their exact sum.
    """

    least: float
    most: float
    distinct: Floats | None
    total: int

    @staticmethod
    def of(weight: Floats) -> WeightPart:
        """What is known of these weights."""
        distinct = distinct_weights(weight)
        return WeightPart(float(weight.min()), float(weight.max()), distinct, exact_sum(weight))

    @staticmethod
    def merged(parts: Sequence[WeightPart]) -> WeightPart:
        """What is known of the weights of all."""
        known = [part.distinct for part in parts if part.distinct is not None]
        return WeightPart(
            min(part.least for part in parts),
            max(part.most for part in parts),
            distinct_weights(np.concatenate(known)) if len(known) == len(parts) else None,
            sum(part.total for part in parts),
        )

    @property
    def is_whole(self) -> bool:
        """Whether these are whole numbers."""
        return self.distinct is not None and bool(np.all(self.distinct == np.rint(self.distinct)))


@dataclass(frozen=True, eq=False)
class TargetPart:
    """Targets of a piece: rows, distinct classes with their rows, or the range of the numbers.

    ``weights`` of each class, or of all rows, are None where all weigh the same.
    """

    n_rows: int
    values: Any = None
    counts: NDArray[np.int64] | None = None
    low: float = np.inf
    high: float = -np.inf
    weights: list[WeightPart] | None = None


def blocks_of(piece: Piece, reading: Reading, only_target: bool = False) -> Iterator[Any]:
    """The blocks of a piece, without rows that weigh nothing.

    Rows without a target are left out where that is asked for.
    """
    names = [reading.target] if reading.weight is None else [reading.target, reading.weight]
    for frame in piece.read(names if only_target else None, reading.rows):
        known = _rows(frame, ~_gaps(frame, reading.target)) if reading.drops_gaps else frame
        if reading.weight is not None:
            known = _rows(known, taking_part(raw_weights(known, reading)))
        yield known


def raw_weights(frame: Any, reading: Reading) -> Floats:
    """Weights of the rows of a block, as they came."""
    column = _column(frame, str(reading.weight))
    try:
        weight = np.asarray(column.to_numpy(), np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"sample_weight must name a column of numbers, got {reading.weight!r} that cannot be "
            "read as such."
        ) from None
    if not np.all(weight >= 0) or np.any(np.isinf(weight)):
        found = weight[~(weight >= 0) | np.isinf(weight)][0]
        raise DataError(
            f"sample_weight must be finite and at least 0, got {found} in column "
            f"{reading.weight!r}; give a row that is to be left out the weight 0."
        )
    return weight


def block_weights(frame: Any, reading: Reading) -> Floats:
    """Weights of the rows of a block."""
    weight = raw_weights(frame, reading)
    return weight if reading.weight_scale is None else on_scale(weight, reading.weight_scale)


def joined_weights(frame: Any, reading: Reading) -> Floats | None:
    """Weights of the rows of a block, those of their classes included; None for ones."""
    weight = None if reading.weight is None else block_weights(frame, reading)
    if reading.factors is None:
        return weight
    own = reading.factors[target_codes(frame, reading, reading.classes)[0]]
    weight = own if weight is None else weight * own
    return weight if reading.factor_scale is None else on_scale(weight, reading.factor_scale)


def look_at_target(piece: Piece, reading: Reading) -> TargetPart:
    """Rows, targets and weights of a piece."""
    parts = [
        _target_part(frame, reading)
        for frame in blocks_of(piece, reading, only_target=True)
        if len(frame)
    ]
    return merge_targets(parts) if parts else TargetPart(0)


def _target_part(frame: Any, reading: Reading) -> TargetPart:
    column = _column(frame, reading.target)
    weight = joined_weights(frame, reading)
    if not reading.is_classes:
        y = numeric_target(column)
        weights = None if weight is None else [WeightPart.of(weight)]
        return TargetPart(len(y), low=float(y.min()), high=float(y.max()), weights=weights)
    codes, classes = class_codes(column)
    weights = None
    if weight is not None:
        weights = [WeightPart.of(weight[codes == k]) for k in range(len(classes))]
    counts = np.bincount(codes, minlength=len(classes))
    return TargetPart(len(codes), classes, counts, weights=weights)


def merge_targets(parts: Sequence[TargetPart]) -> TargetPart:
    """The targets of several pieces."""
    parts = [part for part in parts if part.n_rows]
    if not parts:
        raise DataError(
            "The target must be known in some rows of positive weight, but there are none; "
            "check it."
        )
    values = counts = None
    weights: list[WeightPart] | None = None
    if parts[0].values is not None:
        values = np.unique(np.concatenate([part.values for part in parts]))
        position = {value: k for k, value in enumerate(values.tolist())}
        counts = np.zeros(len(values), np.int64)
        for part in parts:
            assert part.counts is not None
            np.add.at(counts, [position[v] for v in part.values.tolist()], part.counts)
        if parts[0].weights is not None:
            of_class: list[list[WeightPart]] = [[] for _ in values]
            for part in parts:
                for value, each in zip(part.values.tolist(), part.weights or [], strict=True):
                    of_class[position[value]].append(each)
            weights = [WeightPart.merged(each) for each in of_class]
    elif parts[0].weights is not None:
        weights = [WeightPart.merged([each for part in parts for each in part.weights or []])]
    return TargetPart(
        sum(part.n_rows for part in parts),
        values,
        counts,
        min(part.low for part in parts),
        max(part.high for part in parts),
        weights,
    )


def weight_scale(found: TargetPart) -> float:
    """What weights are divided by; refuses those that are too large."""
    all_of = WeightPart.merged(found.weights or [])
    refuse_overflow(all_of.most)
    return counting_scale(all_of.distinct, all_of.total, found.n_rows)


def class_totals(found: TargetPart) -> Floats:
    """Weight of each class."""
    if found.weights is None:
        assert found.counts is not None
        return found.counts.astype(np.float64)
    return np.array([part.total / EXACT for part in found.weights])


def _column(frame: Any, name: str) -> Any:
    return frame.column(name) if hasattr(frame, "column") else frame[name]


def _names(frame: Any) -> Any:
    return frame.column_names if hasattr(frame, "column_names") else frame.columns


def _without(frame: Any, name: str) -> Any:
    if hasattr(frame, "drop_columns"):
        return frame.drop_columns([name])
    return frame.drop(columns=[name]) if hasattr(frame, "iloc") else frame.drop(name)


def _gaps(frame: Any, name: str) -> NDArray[np.bool_]:
    """The rows whose target is not known."""
    column = _column(frame, name)
    if hasattr(frame, "iloc"):
        return np.asarray(column.isna(), np.bool_)
    if hasattr(frame, "get_column"):  # polars
        gaps = column.is_null()
        return np.asarray((gaps | column.is_nan()) if column.dtype.is_float() else gaps)
    return np.asarray(column.is_null(nan_is_null=True))


def _rows(frame: Any, kept: NDArray[np.bool_]) -> Any:
    """Some rows of a frame."""
    return frame if kept.all() else frame[kept] if hasattr(frame, "iloc") else frame.filter(kept)


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
    if reading.weight is not None and reading.weight in _names(rows):
        rows = _without(rows, reading.weight)  # rows that only judge may lack it
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
    drawn, drawn_weight
        Values of the rows that are drawn (ordered), and their weights.
    is_empty
        Whether all are gaps.
    """

    feature: Feature
    counts: NDArray[Any] | None = None
    distinct: Floats | None = None
    drawn: Floats | None = None
    is_empty: bool = True
    drawn_weight: Floats | None = None


FeatureParts = list[FeaturePart]


@dataclass(frozen=True, eq=False)
class Look:
    """What is known of the rows learned from.

    Parameters
    ----------
    features
        Their columns.
    most
        The largest size of a target.
    weights
        Of each class, or of all rows, without those of classes; None where all weigh the same, or
        a class has no row.
    """

    features: FeatureParts
    most: float = 0.0
    weights: list[WeightPart | None] | None = None


def look_at_features(
    piece: Piece,
    first_row: int,
    first_learned: int,
    n_learned: int,
    reading: Reading,
    classes: NDArray[Any] | None,
    aside: Aside | None,
    max_bins: int,
) -> Look:
    """What there is in a piece, without the rows set aside."""
    found: list[Look] = []
    n_groups = 1 if classes is None else len(classes)
    for frame in blocks_of(piece, reading):
        if not len(frame):
            continue
        table = read_block(frame, reading)
        codes, y = target_codes(frame, reading, classes)
        weight = joined_weights(frame, reading)
        own = None if reading.weight is None else block_weights(frame, reading)
        n_rows = len(codes)
        if aside is not None:
            learned = ~aside.mask(codes, first_row)
            table, y, codes = table.take(learned), y[learned], codes[learned]
            weight = None if weight is None else weight[learned]
            own = None if own is None else own[learned]
        first_row += n_rows
        if len(y):
            rows = drawn_rows(first_learned, len(y), n_learned, DRAWN_ROWS)
            parts = _feature_parts(table, rows, max_bins, weight)
            weights = _by_class(own, codes, n_groups)
            found.append(Look(parts, float(np.abs(y).max()), weights))
        first_learned += len(y)
    return merge_looks(found, max_bins) if found else Look([])


def _by_class(weight: Floats | None, codes: NDArray[Any], n: int) -> list[WeightPart | None] | None:
    if weight is None:
        return None
    each = [weight[codes == k] for k in range(n)]
    return [WeightPart.of(own) if len(own) else None for own in each]


def merge_looks(looks: Sequence[Look], max_bins: int) -> Look:
    """What there is in several pieces."""
    weights: list[WeightPart | None] | None = None
    weighed = [look.weights for look in looks if look.weights is not None]
    if weighed:
        known = [[part for part in parts if part] for parts in zip(*weighed, strict=True)]
        weights = [WeightPart.merged(parts) if parts else None for parts in known]
    features = merge_features([look.features for look in looks], max_bins)
    return Look(features, max(look.most for look in looks), weights)


def _feature_parts(
    table: Table, rows: NDArray[np.int64], max_bins: int, weight: Floats | None
) -> FeatureParts:
    parts = []
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        if feature.kind == "nominal":
            known = column >= 0
            row_weight = None if weight is None else weight[known]
            counts = np.bincount(column[known], row_weight, minlength=len(feature.categories))
            parts.append(FeaturePart(feature, counts, is_empty=not counts.any()))
            continue
        drawn = column[rows].astype(np.float64)
        drawn[column[rows] < 0 if feature.kind == "ordinal" else np.isnan(drawn)] = np.nan
        known = ~np.isnan(drawn)
        distinct = distinct_values(column, max_bins)
        empty = distinct is not None and not len(distinct)
        drawn_weight = None if weight is None else weight[rows][known]
        parts.append(FeaturePart(feature, None, distinct, drawn[known], empty, drawn_weight))
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
        counts = np.zeros(
            len(categories), parts[0].counts.dtype if parts[0].counts is not None else int
        )
        for part in parts:
            places = [position[value] for value in part.feature.categories]
            assert part.counts is not None
            np.add.at(counts, places, part.counts)
        return FeaturePart(Feature(first.name, "nominal", categories), counts, is_empty=is_empty)
    if any(part.feature.categories != first.categories for part in parts):
        raise levels_error(first.name)
    distinct: Floats | None = None
    if all(part.distinct is not None for part in parts):
        distinct = np.unique(np.concatenate([part.distinct for part in parts]))
        distinct = distinct if len(distinct) <= max_bins else None
    drawn = np.concatenate([part.drawn for part in parts])
    drawn_weight = None
    if all(part.drawn_weight is not None for part in parts):
        drawn_weight = np.concatenate([part.drawn_weight for part in parts])
    return FeaturePart(first, None, distinct, drawn, is_empty, drawn_weight)


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
        elif part.drawn_weight is None:
            assert part.drawn is not None
            values, n_each = np.unique(part.drawn, return_counts=True)
            counts = n_each.astype(np.float64)
        else:
            assert part.drawn is not None
            values, at = np.unique(part.drawn, return_inverse=True)
            counts = np.bincount(at, part.drawn_weight, len(values)).astype(np.float64)
        maps.append(BinMap(edges=summary_edges(values, counts, max_bins)))
    return maps
