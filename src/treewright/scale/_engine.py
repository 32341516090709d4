"""Where the work on pieces is done, and the survey of a source that every fit begins with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.frames import is_collection
from treewright.data.moments import warn_moments
from treewright.data.schema import Schema
from treewright.data.sources import Piece, Source, open_source
from treewright.data.weights import EXACT, counting_factors, counting_scale, read_weights
from treewright.ensembles.boosting.material import are_counts
from treewright.errors import DataError, ParameterError
from treewright.kernels.boosting import MOST_COUNTED
from treewright.scale._rounds import LocalPool, Pool
from treewright.scale._share import Placed, Weighs
from treewright.scale._survey import (
    Aside,
    Look,
    Reading,
    TargetPart,
    WeightPart,
    class_totals,
    look_at_features,
    look_at_target,
    merge_looks,
    merge_targets,
    weight_scale,
)

__all__ = [
    "Engine",
    "LocalEngine",
    "firsts",
    "make_engine",
    "require_target",
    "survey_classes",
    "survey_features",
    "survey_targets",
    "weigh",
    "weighs",
]

Floats = NDArray[np.float64]


class LocalEngine:
    """Does what is asked of pieces in this process."""

    def source(self, X: Any) -> Source:
        """The source that X names."""
        return open_source(X)

    def each(self, function: Callable[..., Any], pieces: Sequence[Any], *rest: Any) -> list[Any]:
        """``function(piece, *own, *rest)`` of every piece; ``pieces`` are tuples of the first."""
        return [function(*own, *rest) for own in pieces]

    def pool(self, fitting: Any, placed: Sequence[Placed]) -> Pool:
        """The shares of the fit."""
        return LocalPool(fitting.make(placed))

    def close(self) -> None:
        """Nothing is left to be done."""


Engine = Any
"""LocalEngine, or the one of a cluster."""


def make_engine(X: Any, client: Any) -> Engine:
    """The engine for X: a cluster where there is a client, or X is a collection of Dask."""
    if client is not None or is_collection(X):
        from treewright.scale._dask import DaskEngine

        return DaskEngine(client)
    return LocalEngine()


def require_target(y: Any, target: Any) -> None:
    """Refuse a fit on blocks whose target is no column of the source."""
    if y is None and isinstance(target, str):
        return
    got = f"target={target!r}" if y is None else f"y ({type(y).__name__})"
    raise ParameterError(
        "target must name the column of X to predict where X is read in blocks (a file, a folder "
        f"or a Dask data frame), got {got}; pass fit(X, target='name')."
    )


def firsts(sizes: Sequence[int]) -> list[int]:
    """Numbers of the first rows of pieces."""
    return [0, *np.cumsum(sizes)[:-1].tolist()]


def survey_targets(
    engine: Engine, source: Source, reading: Reading
) -> tuple[Reading, list[TargetPart], TargetPart]:
    """Targets of the pieces and of all, and how weights are read: on the scale of counts."""
    pieces = [(piece,) for piece in source.pieces]
    parts = engine.each(look_at_target, pieces, reading)
    found = merge_targets(parts)
    if found.weights is None:
        return reading, parts, found
    reading = replace(reading, weight_scale=weight_scale(found))
    parts = engine.each(look_at_target, pieces, reading)
    found = merge_targets(parts)
    weights = WeightPart.merged(found.weights or [])
    if weights.least == weights.most == 1.0:
        found = replace(found, weights=None)
    return reading, parts, found


def weighs(found: TargetPart) -> Weighs:
    """What weights of rows are."""
    if found.weights is None:
        return None
    weights = WeightPart.merged(found.weights)
    is_count = weights.is_whole and weights.total / EXACT < MOST_COUNTED
    return "counts" if is_count else "factors"


def survey_classes(
    engine: Engine, source: Source, reading: Reading, found: TargetPart, factors: Floats
) -> tuple[Reading, Weighs]:
    """How weights are read where classes weigh, too; see ``weigh`` in boosting/material.py."""
    of_rows = weighs(found)
    if of_rows == "factors":
        reading = replace(reading, classes=found.values, factors=factors)
        pieces = [(piece,) for piece in source.pieces]
        parts = merge_targets(engine.each(look_at_target, pieces, reading)).weights
        all_of = WeightPart.merged(parts or [])
        scale = counting_scale(all_of.distinct, all_of.total, found.n_rows)
        return replace(reading, factor_scale=scale), "factors"
    totals = class_totals(found)
    factors = counting_factors(factors, totals)
    if np.all(factors == 1.0):
        return reading, of_rows
    reading = replace(reading, classes=found.values, factors=factors)
    if are_counts(factors):
        return reading, "counts" if (totals * factors).sum() < MOST_COUNTED else "factors"
    return reading, "both" if of_rows == "counts" else "factors"


def survey_features(
    engine: Engine,
    reading: Reading,
    found: TargetPart,
    placed: Sequence[Placed],
    n_learned: int,
    aside: Aside | None,
    max_bins: int,
) -> tuple[Schema, Look]:
    """The features, and what is known of the rows to learn from."""
    looks = engine.each(
        look_at_features,
        [(p.piece, p.first_row, p.first_learned) for p in placed],
        n_learned,
        reading,
        found.values,
        aside,
        max_bins,
    )
    look = merge_looks(looks, max_bins)
    if all(part.is_empty for part in look.features):
        raise DataError("X must have a value somewhere, got gaps in all cells; check the files.")
    schema = Schema(tuple(part.feature for part in look.features), True)
    moments = [feature.name for feature in schema.features if feature.time]
    if moments:
        warn_moments(moments)
    return schema, look


# -- weights ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WeighedPiece:
    """A piece with a column of weights that came as an array."""

    piece: Piece
    name: str
    weight: NDArray[np.float64]

    @property
    def n_rows(self) -> int:
        """Rows of the piece."""
        return self.piece.n_rows

    def read(self, columns: Sequence[str] | None, most: int) -> Iterator[Any]:
        """Tables of at most ``most`` rows, in order."""
        first = 0
        own = None if columns is None else [name for name in columns if name != self.name]
        for frame in self.piece.read(own, most):
            weight = self.weight[first : first + len(frame)]
            first += len(frame)
            yield _with_column(frame, self.name, weight)


def _with_column(frame: Any, name: str, values: NDArray[np.float64]) -> Any:
    if hasattr(frame, "iloc"):
        return frame.assign(**{name: values})
    if hasattr(frame, "append_column"):
        import pyarrow as pa

        return frame.append_column(name, pa.array(values))
    import polars as pl

    return frame.with_columns(pl.Series(name, values))


def weigh(source: Source, sample_weight: Any, target: str) -> tuple[Source, str | None]:
    """The source, and which of its columns holds the weights of rows, if they have any."""
    if sample_weight is None:
        return source, None
    if isinstance(sample_weight, str):
        source.require(sample_weight, "sample_weight")
        if sample_weight == target:
            raise ParameterError(
                f"sample_weight must name another column than target, got {target!r} for both; "
                "name the column of weights."
            )
        return source, sample_weight
    if any(hasattr(piece, "future") for piece in source.pieces):
        raise ParameterError(
            "sample_weight must name a column where X is a Dask data frame, got "
            f"{type(sample_weight).__name__}; add the weights as a column and pass its name."
        )
    read_weights(sample_weight, source.n_rows)  # refuses what are no weights
    weight = np.broadcast_to(np.asarray(sample_weight, np.float64), source.n_rows)
    name = "sample_weight"
    while name in source.names:
        name += "_"
    begins = firsts([piece.n_rows for piece in source.pieces])
    pieces = tuple(
        WeighedPiece(piece, name, np.ascontiguousarray(weight[first : first + piece.n_rows]))
        for piece, first in zip(source.pieces, begins, strict=True)
    )
    return replace(source, names=(*source.names, name), pieces=pieces), name
