"""Where the work on pieces is done, and the survey of a source that every fit begins with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treewright.data.schema import Schema
from treewright.data.sources import Source, open_source
from treewright.errors import DataError
from treewright.scale._rounds import LocalPool, Pool
from treewright.scale._share import Placed
from treewright.scale._survey import (
    Aside,
    FeatureParts,
    Reading,
    TargetPart,
    look_at_features,
    merge_features,
)

__all__ = ["Engine", "LocalEngine", "firsts", "make_engine", "survey_features"]


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
    module = type(X).__module__.partition(".")[0]
    if client is not None or module in ("dask", "dask_expr"):
        from treewright.scale._dask import DaskEngine

        return DaskEngine(client)
    return LocalEngine()


def firsts(sizes: Sequence[int]) -> list[int]:
    """Numbers of the first rows of pieces."""
    return [0, *np.cumsum(sizes)[:-1].tolist()]


def survey_features(
    engine: Engine,
    reading: Reading,
    found: TargetPart,
    placed: Sequence[Placed],
    n_learned: int,
    aside: Aside | None,
    max_bins: int,
) -> tuple[Schema, FeatureParts, float]:
    """The features, what is known of their values, and the largest size of a target."""
    looks = engine.each(
        look_at_features,
        [(p.piece, p.first_row, p.first_learned) for p in placed],
        n_learned,
        reading,
        found.values,
        aside,
        max_bins,
    )
    features = merge_features([look[0] for look in looks], max_bins)
    if all(part.is_empty for part in features):
        raise DataError("X must have a value somewhere, got gaps in all cells; check the files.")
    schema = Schema(tuple(part.feature for part in features), True)
    return schema, features, max(look[1] for look in looks)
