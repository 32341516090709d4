"""The blocks that one process holds: bins of its pieces, and what is asked of all their rows.

A share lives in the process of the fit, or on a worker of a cluster; it is asked by method name,
and what it answers are integer sums, never rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.sources import Piece
from treewright.kernels.blocks import make_share
from treewright.kernels.boosting import BinMap, make_bins
from treewright.scale._store import BlockLayout, Store
from treewright.scale._survey import (
    Aside,
    Reading,
    block_weights,
    blocks_of,
    joined_weights,
    read_block,
    target_codes,
)

__all__ = ["BlockShare", "Fitting", "Placed", "Weighs"]

Floats = NDArray[np.float64]
Weighs = Literal["counts", "factors", "both"] | None
"""What weights are: whole numbers, others, or weights of classes beside counts; None for ones."""


@dataclass(frozen=True, eq=False)
class Placed:
    """A piece, and the numbers of its first row among all rows and among those learned from.

    ``judges``: whether its rows only judge the rounds (an ``eval_set``).
    """

    piece: Piece
    first_row: int
    first_learned: int
    judges: bool = False


@dataclass(frozen=True, eq=False)
class Fitting:
    """What all shares of a fit have in common.

    Parameters
    ----------
    params
        Growth, loss and sampling in the core's words.
    weighs
        What weights are.
    most_factor
        The largest weight that is no count; 0 where there are none.
    n_learned, n_counted
        Rows to learn from, in all shares, and how often they count; None for once each.
    is_tall
        Whether they are more than the usual sums can count.
    """

    reading: Reading
    schema: Schema
    maps: list[BinMap]
    classes: NDArray[Any] | None
    aside: Aside | None
    params: dict[str, Any]
    weighs: Weighs
    most_factor: float
    offsets: NDArray[np.int32]
    width: int
    sum_bytes: int
    n_learned: int
    n_counted: int | None
    is_tall: bool
    n_threads: int
    resident: int
    temp_dir: str | None = None

    def make(self, placed: Sequence[Placed]) -> BlockShare:
        """The share of these pieces."""
        return BlockShare(self, placed)

    def layout(self, grows: bool) -> BlockLayout:
        """What a block holds of each row."""
        n_columns = self.params["n_columns"]
        shared = self.params["loss"] == "multinomial"
        return BlockLayout(
            self.width,
            n_columns,
            1 if shared else n_columns,
            self.classes is not None,
            self.weighs in ("counts", "both"),
            self.most_factor > 0,
            self.sum_bytes if grows else 0,
            shared and grows,
        )


class BlockShare:
    """Blocks of some pieces; made where the pieces are."""

    def __init__(self, fitting: Fitting, placed: Sequence[Placed]) -> None:
        self.fitting = fitting
        self.stores = {
            grows: Store(fitting.layout(grows), fitting.resident, fitting.temp_dir)
            for grows in (True, False)
        }
        self.shares = {grows: make_share(fitting) for grows in (True, False)}
        for each in placed:
            self._bin(each)

    # Making blocks

    def _bin(self, placed: Placed) -> None:
        fitting = self.fitting
        row, learned = placed.first_row, placed.first_learned
        reading = fitting.reading
        if placed.judges:
            reading = reading.without_weights()
        for frame in blocks_of(placed.piece, reading):
            if not len(frame):
                continue
            table = read_block(frame, fitting.reading, fitting.schema)
            codes, y = target_codes(frame, fitting.reading, fitting.classes)
            bins = make_bins(table.columns, fitting.maps, fitting.n_threads).by_row()
            if placed.judges:  # a weight of one each, as of an eval_set in memory
                self._keep(False, bins, y, {}, 0)
                continue
            weights = self._weights(frame, codes)
            if fitting.aside is None:
                self._keep(True, bins, y, weights, learned)
                learned += len(y)
            else:
                aside = fitting.aside.mask(codes, row)
                for grows, rows in ((False, aside), (True, ~aside)):
                    own = {name: each[rows] for name, each in weights.items()}
                    self._keep(grows, bins[rows], y[rows], own, learned)
                learned += int(np.count_nonzero(~aside))
            row += len(codes)

    def _weights(self, frame: Any, codes: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """How often rows count, and their weight each time."""
        fitting, reading = self.fitting, self.fitting.reading
        if fitting.weighs is None:
            return {}
        if fitting.weighs == "both":
            assert reading.factors is not None
            return {"count": block_weights(frame, reading), "factor": reading.factors[codes]}
        name = "count" if fitting.weighs == "counts" else "factor"
        weight = joined_weights(frame, reading)
        assert weight is not None
        return {name: weight}

    def _keep(
        self, grows: bool, bins: NDArray[np.uint8], y: Any, weights: dict[str, Any], first: int
    ) -> None:
        if not len(bins):
            return
        block = self.stores[grows].add(len(bins), first)
        block.arrays["bins"][:] = bins
        block.y[:] = y
        for name in ("count", "factor"):
            if name in block.arrays:
                block.arrays[name][:] = weights.get(name, 1)
        self.shares[grows].add(block.arrays, block.first_row, block.is_mapped)

    # Questions

    def sizes(self) -> dict[str, int]:
        """Rows and bytes of the blocks."""
        grown = self.stores[True]
        return {
            "n_rows": sum(block.n_rows for block in grown.blocks),
            "n_judging": sum(block.n_rows for block in self.stores[False].blocks),
            "n_blocks": len(grown.blocks),
            "held": sum(store.n_held for store in self.stores.values()),
            "filed": sum(store.n_filed for store in self.stores.values()),
        }

    def sum_targets(self, unit: float) -> list[int]:
        """Sums of the targets learned from, in units, a number for each column."""
        total = [0] * self.fitting.layout(True).n_targets
        for block in self.stores[True].blocks:
            for k, y in enumerate(block.y):
                total[k] += int(np.rint(y / unit).astype(np.int64).sum())
        return total

    def _weighed(self) -> Iterator[list[Floats]]:
        """Weights of each class; or weighed targets and weights, of all rows learned from."""
        for block in self.stores[True].blocks:
            y = block.y[0]
            weight = block.arrays.get("count", np.ones(1)) * block.arrays.get("factor", 1.0)
            weight = np.broadcast_to(weight, y.shape)
            if self.fitting.params["loss"] == "multinomial":
                yield [weight[y == k] for k in range(self.fitting.params["n_columns"])]
            else:
                yield [y.astype(np.float64) * weight, weight]

    def weighed_sizes(self) -> list[list[float]]:
        """The largest size of what ``weighed_sums`` sums, and how many there are."""
        found = [
            [(float(np.abs(each).max(initial=0.0)), len(each)) for each in block]
            for block in self._weighed()
        ]
        sizes = np.array(found)
        return [sizes[..., 0].max(0).tolist(), sizes[..., 1].sum(0).tolist()]

    def weighed_sums(self, units: Sequence[float]) -> list[int]:
        """Sums of weights of each class, or of weighed targets and weights, in units."""
        total = [0] * len(units)
        for block in self._weighed():
            for k, (each, unit) in enumerate(zip(block, units, strict=True)):
                total[k] += int(np.rint(each / unit).astype(np.int64).sum())
        return total

    def start(self, start: Floats) -> float:
        """Set all scores to the start; the largest loss of a row there."""
        for store in self.stores.values():
            for block in store.blocks:
                block.arrays["score"][:] = start[:, None]
        return float(self.shares[True].most_loss())

    def set_most_loss(self, most: float) -> None:
        """The largest loss of a row of any share, which fixes the unit of losses."""
        for share in self.shares.values():
            share.set_most_loss(most)

    def losses(self) -> list[tuple[int, int, bool] | None]:
        """Sums of losses and of weights: of rows learned from, and of those that judge."""
        out: list[tuple[int, int, bool] | None] = []
        for grows, share in self.shares.items():
            if not self.stores[grows].blocks:
                out.append(None)
                continue
            loss, loss_low, weight, weight_low, is_finite = share.loss()
            out.append(((loss << 64) + loss_low, (weight << 64) + weight_low, is_finite))
        return out

    def begin_round(self) -> None:
        """Take note of the scores, where trees of one round share them."""
        self.shares[True].begin_round()

    def begin_tree(self, *about: Any) -> dict[str, Any]:
        """Slopes, and the histogram of all rows."""
        return self.shares[True].begin_tree(*about)

    def expand(self, expansions: dict[str, Any]) -> dict[str, Any]:
        """Divide nodes; histograms of the smaller children."""
        return self.shares[True].expand(expansions)

    def finish_tree(self, tree: dict[str, Any], column: int) -> dict[str, Any]:
        """Add a tree to the scores; rows and weights of its leaves."""
        if self.stores[False].blocks:
            self.shares[False].follow(tree, column)
        return {"leaves": self.shares[True].finish_tree(tree)}

    def finish_round(self, tree: dict[str, Any], column: int) -> dict[str, Any]:
        """The same, and the losses."""
        return {**self.finish_tree(tree, column), "losses": self.losses()}

    def replay(
        self, start: Floats, most: float, trees: Sequence[tuple[dict[str, Any], int]]
    ) -> None:
        """Scores as they are after the trees that were grown before this share was made."""
        self.start(start)
        self.set_most_loss(most)
        for tree, column in trees:
            for share in self.shares.values():
                share.follow(tree, column)
