"""The blocks that one process holds: bins of its pieces, and what is asked of all their rows.

A share lives in the process of the fit, or on a worker of a cluster; it is asked by method name,
and what it answers are integer sums, never rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.sources import Piece
from treewright.kernels.blocks import make_share
from treewright.kernels.boosting import BinMap, make_bins
from treewright.scale._store import BlockLayout, Store
from treewright.scale._survey import Aside, Reading, blocks_of, read_block, target_codes

__all__ = ["BlockShare", "Fitting", "Placed"]

Floats = NDArray[np.float64]


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
    factors
        Weight of each class; None for ones.
    n_learned
        Rows to learn from, in all shares.
    """

    reading: Reading
    schema: Schema
    maps: list[BinMap]
    classes: NDArray[Any] | None
    aside: Aside | None
    params: dict[str, Any]
    factors: Floats | None
    offsets: NDArray[np.int32]
    width: int
    sum_bytes: int
    n_learned: int
    n_threads: int
    resident: int
    temp_dir: str | None = None

    @property
    def most_factor(self) -> float:
        """The largest weight; 0 where there are none."""
        return 0.0 if self.factors is None else float(self.factors.max())

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
            self.factors is not None,
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
        for frame in blocks_of(placed.piece, fitting.reading):
            if not len(frame):
                continue
            table = read_block(frame, fitting.reading, fitting.schema)
            codes, y = target_codes(frame, fitting.reading, fitting.classes)
            bins = make_bins(table.columns, fitting.maps, fitting.n_threads).by_row()
            if placed.judges:
                self._keep(False, bins, codes, y, 0)
            elif fitting.aside is None:
                self._keep(True, bins, codes, y, learned)
                learned += len(y)
            else:
                aside = fitting.aside.mask(codes, row)
                self._keep(False, bins[aside], codes[aside], y[aside], 0)
                kept = ~aside
                self._keep(True, bins[kept], codes[kept], y[kept], learned)
                learned += int(np.count_nonzero(kept))
            row += len(codes)

    def _keep(self, grows: bool, bins: NDArray[np.uint8], codes: Any, y: Any, first: int) -> None:
        if not len(bins):
            return
        block = self.stores[grows].add(len(bins), first)
        block.arrays["bins"][:] = bins
        block.y[:] = y
        if self.fitting.factors is not None:
            block.arrays["factor"][:] = self.fitting.factors[codes]
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
        return self.shares[True].finish_tree(tree)

    def replay(
        self, start: Floats, most: float, trees: Sequence[tuple[dict[str, Any], int]]
    ) -> None:
        """Scores as they are after the trees that were grown before this share was made."""
        self.start(start)
        self.set_most_loss(most)
        for tree, column in trees:
            for share in self.shares.values():
                share.follow(tree, column)
