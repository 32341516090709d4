"""A source of few rows: they are brought together where the number of rounds is chosen.

Below 10 000 rows cross-validation inside the fit chooses it (``ensembles/boosting/folds.py``). So
few rows fit into any memory, and the choice is that of a fit in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.sources import Piece
from treewright.data.table import Table
from treewright.ensembles.boosting.base import Plan
from treewright.ensembles.boosting.folds import chooses_rounds
from treewright.ensembles.boosting.material import Material, weigh
from treewright.ensembles.boosting.settings import length
from treewright.scale._survey import Reading, block_weights, blocks_of, read_block, target_codes

__all__ = ["choose_rounds"]

Rows = tuple[list[NDArray[Any]], NDArray[Any], NDArray[np.float64]]
"""Columns, target and weights."""


def choose_rounds(
    plan: Plan, estimator: Any, engine: Any, pieces: Sequence[Piece], reading: Reading
) -> Plan:
    """The plan with the rounds that a fit of these rows in memory would have."""
    few = _gathered(plan.learn, estimator, engine, pieces, reading)
    if not chooses_rounds(estimator, plan.aim, few, False):
        return plan
    size = length(estimator, plan.n_rows, True)
    whole = estimator._plan(plan.aim, plan.seed, plan.n_rows, size, few, None)
    chosen = estimator._choose(whole, few, None)
    return replace(
        plan,
        growth=chosen.growth,
        n_rounds=chosen.n_rounds,
        rate=chosen.rate,
        fold_scores=chosen.fold_scores,
    )


def _gathered(
    learn: Material, estimator: Any, engine: Any, pieces: Sequence[Piece], reading: Reading
) -> Material:
    """All rows of a source, as a fit in memory has them; ``learn`` says what they are."""
    schema, classes = learn.table.schema, learn.classes
    parts = engine.each(_read, [(piece,) for piece in pieces], reading, schema, classes)
    blocks: list[Rows] = [block for part in parts for block in part]
    columns = tuple(
        np.concatenate([block[0][k] for block in blocks]) for k in range(len(schema.features))
    )
    y = np.concatenate([block[1] for block in blocks])
    weight = None
    if reading.weight is not None:
        weight = np.concatenate([block[2] for block in blocks])
        weight = None if np.all(weight == 1.0) else weight
    gaps = np.array([np.isnan(c).any() if c.dtype.kind == "f" else (c < 0).any() for c in columns])
    count, factor = weigh(estimator, y, classes, weight, False)
    given = y if classes is None else classes[y]
    table = Table(schema, len(y), gaps, columns)
    return Material(None, None, table, y, given, count, factor, learn.target, classes)


def _read(
    piece: Piece, reading: Reading, schema: Schema, classes: NDArray[Any] | None
) -> list[Rows]:
    found = []
    for frame in blocks_of(piece, reading):
        if len(frame):
            weight = np.ones(0) if reading.weight is None else block_weights(frame, reading)
            columns = list(read_block(frame, reading, schema).columns)
            found.append((columns, target_codes(frame, reading, classes)[1], weight))
    return found
