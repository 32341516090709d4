"""The blocks of a tree that one process holds: rows as bins, each of which knows its node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Schema
from treewright.kernels.boosting import BinMap, make_bins
from treewright.kernels.tree_blocks import TreeShare
from treewright.scale._share import Placed
from treewright.scale._store import Store, TreeLayout
from treewright.scale._survey import (
    Reading,
    block_weights,
    blocks_of,
    read_block,
    target_codes,
)
from treewright.tree.growing.levels import between

__all__ = ["BinColumn", "TargetScale", "TreeBlocks", "TreeFitting"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BinColumn:
    """What the bins of a column stand for.

    Parameters
    ----------
    feature
        The column.
    bins
        How it becomes bins.
    values
        The value of each bin of an ordered column, where there are few; None where bins are
        intervals, or the column is nominal.
    """

    feature: Feature
    bins: BinMap
    values: Floats | None = None

    @property
    def n_bins(self) -> int:
        """Bins of values."""
        return self.bins.n_bins

    @property
    def is_ordered(self) -> bool:
        """Whether bins have an order."""
        return self.bins.codes is None

    def column(self, bins: NDArray[np.uint8]) -> NDArray[Any]:
        """A column in memory of which the same tree is grown: intervals are their numbers."""
        gap: Any = np.nan
        known: NDArray[Any]
        if self.bins.codes is not None:
            known, gap = self.bins.codes, -1
        elif self.values is None:
            known = np.arange(self.n_bins, dtype=np.float64)
        elif self.feature.kind == "ordinal":
            known, gap = self.values.astype(np.int32), -1
        else:
            known = self.values
        return np.asarray(np.append(known, np.array(gap, known.dtype))[bins])

    def cuts(
        self, below: NDArray[np.int32], above: NDArray[np.int32], closed: bool
    ) -> tuple[Floats, NDArray[np.uint8]]:
        """Thresholds between two bins each, and whether what equals them goes left."""
        if self.values is not None:
            threshold = between(self.feature, self.values[below], self.values[above], closed)
            return threshold, np.full(len(below), closed, np.uint8)
        return self.edges((below + above) / 2.0)

    def branches(self, threshold: Floats, closed: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Whether each bin goes right, for each threshold."""
        if self.values is None:
            assert self.bins.edges is not None
            return np.asarray(np.append(self.bins.edges, np.inf)[None, :] > threshold[:, None])
        equal = (self.values[None, :] == threshold[:, None]) & (closed[:, None] == 0)
        return np.asarray((self.values[None, :] > threshold[:, None]) | equal)

    def edges(self, number: Floats) -> tuple[Floats, NDArray[np.uint8]]:
        """Thresholds that part intervals at a number between theirs."""
        assert self.bins.edges is not None
        at = np.floor(np.where(np.isfinite(number), number, 0.0)).astype(np.int64)
        at = np.minimum(at, max(len(self.bins.edges) - 1, 0))
        edge = self.bins.edges[at] if len(self.bins.edges) else np.zeros(len(at))
        # a bin holds its upper edge
        return np.where(np.isfinite(number), edge, number), np.ones(len(number), np.uint8)


@dataclass(frozen=True)
class TargetScale:
    """How targets are summed as integers; see ``core/blocks/tree_share.hpp``."""

    n_classes: int
    shift: float = 0.0
    scale: float = 1.0
    square_scale: float = 1.0
    weight_scale: float = 1.0


@dataclass(frozen=True, eq=False)
class TreeFitting:
    """What all shares of a fit have in common.

    Parameters
    ----------
    factors
        Weight of each class; None for ones.
    weighs
        Whether rows have weights: those of their column, of their class, or both. Where rows are
        drawn, these are their chances.
    """

    reading: Reading
    schema: Schema
    columns: list[BinColumn]
    classes: NDArray[Any] | None
    target: TargetScale
    width: int
    draws: bool
    weighs: bool
    factors: Floats | None
    n_threads: int
    resident: int
    temp_dir: str | None = None

    def make(self, placed: Sequence[Placed]) -> TreeBlocks:
        """The share of these pieces."""
        return TreeBlocks(self, placed)


class TreeBlocks:
    """Blocks of some pieces; made where the pieces are."""

    def __init__(self, fitting: TreeFitting, placed: Sequence[Placed]) -> None:
        self.fitting = fitting
        target = fitting.target
        layout = TreeLayout(fitting.width, target.n_classes > 0, fitting.draws, fitting.weighs)
        self.store = Store(layout, fitting.resident, fitting.temp_dir)
        self.share: Any = TreeShare(
            [column.n_bins for column in fitting.columns],
            fitting.width,
            target.n_classes,
            target.shift,
            target.scale,
            target.square_scale,
            1 / target.weight_scale,
            fitting.draws,
            fitting.weighs,
            fitting.n_threads,
        )
        for each in sorted(placed, key=lambda p: p.first_row):
            self._bin(each)

    def _bin(self, placed: Placed) -> None:
        fitting, first = self.fitting, placed.first_row
        maps = [column.bins for column in fitting.columns]
        for frame in blocks_of(placed.piece, fitting.reading):
            if not len(frame):
                continue
            table = read_block(frame, fitting.reading, fitting.schema)
            codes, y = target_codes(frame, fitting.reading, fitting.classes)
            block = self.store.add(len(y), first)
            block.arrays["bins"][:] = make_bins(table.columns, maps, fitting.n_threads).by_row()
            block.arrays["label" if fitting.target.n_classes else "y"][:] = y
            if fitting.weighs:
                weight = self._scaled_weights(frame, codes)
                block.arrays["weight"][:] = np.cumsum(weight) if fitting.draws else weight
            self.share.add(block.arrays, first, block.is_mapped)
            first += len(y)

    def _scaled_weights(self, frame: Any, codes: NDArray[Any]) -> NDArray[np.int64]:
        fitting = self.fitting
        weight = np.ones(len(codes)) if fitting.factors is None else fitting.factors[codes]
        if fitting.reading.weight is not None:
            weight = block_weights(frame, fitting.reading) * weight
        scaled = np.rint(weight * fitting.target.weight_scale).astype(np.int64)
        # as in memory: a chance may be rounded away, a weight never
        return scaled if fitting.draws else np.maximum(scaled, weight > 0)

    def chances(self) -> dict[str, NDArray[np.int64]]:
        """First rows of the blocks, and the chances of all their rows together."""
        blocks = self.store.blocks
        return {
            "first_row": np.array([block.first_row for block in blocks], np.int64),
            "total": np.array([block.arrays["weight"][-1] for block in blocks], np.int64),
        }

    def sizes(self) -> dict[str, int]:
        """Bytes of the blocks."""
        return {"held": self.store.n_held, "filed": self.store.n_filed}

    def begin_tree(self, *about: Any) -> Any:
        """All rows, or those drawn, at the root; its sums."""
        return self.share.begin_tree(*_aligned(about))

    def tables(self, *wanted: Any) -> Any:
        """Tables of features of open nodes."""
        return self.share.tables(*_aligned(wanted))

    def divide(self, *tests: Any) -> Any:
        """Move rows to the children; their sums."""
        return self.share.divide(*_aligned(tests))

    def gather(self, *level: Any) -> Any:
        """The rows of some nodes."""
        return self.share.gather(*_aligned(level))


def _aligned(arguments: tuple[Any, ...]) -> list[Any]:
    """What came over a network may lie anywhere in memory."""

    def settled(array: NDArray[Any]) -> NDArray[Any]:
        # numpy takes an empty array to be aligned wherever it lies
        return np.require(array, requirements="A") if array.size else array.copy()

    return [settled(each) if isinstance(each, np.ndarray) else each for each in arguments]
