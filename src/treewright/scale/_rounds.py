"""Rounds of boosting over shares: blocks count, the driver adds integers, picks splits, sends them.

The driver has the planner of trees (``core/blocks/planner.hpp``), which scores with the code of
boosting in memory. What it asks goes to all shares of a :class:`Pool`; what comes back is added up.
Sums are integers, so that the model does not depend on how many shares there are, nor on the blocks
in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema, Target
from treewright.ensembles.boosting.rounds import Rounds, Stepping, finished, make_forest
from treewright.ensembles.boosting.tasks import Aim
from treewright.tree.forest.arrays import Forest

__all__ = ["BlockRun", "LocalPool", "LostShareError", "Pool"]

Floats = NDArray[np.float64]


class LostShareError(Exception):
    """A share is gone; its pool has made it anew, as it was before any tree."""


class Pool(Protocol):
    """Shares that answer together."""

    nodes_at_once: int
    """Nodes of a tree that one question may be about."""
    n_bytes: int
    """Bytes that questions and answers have had so far."""

    def call(self, method: str, *args: Any) -> list[Any]:
        """What each share answers; LostShareError where one is gone."""
        ...


class LocalPool:
    """The one share of this process."""

    def __init__(self, share: Any) -> None:
        self.share = share
        # Where all blocks are in memory a split at a time wastes nothing; files are read less
        # often if a pass divides more nodes.
        self.nodes_at_once = 1 if not share.sizes()["filed"] else 64
        self.n_bytes = 0

    def call(self, method: str, *args: Any) -> list[Any]:
        """What the share answers."""
        return [getattr(self.share, method)(*args)]


class BlockRun(Stepping):
    """A fit in progress; see :class:`treewright.ensembles.boosting.rounds.Run`."""

    def __init__(
        self, pool: Pool, planner: Any, aim: Aim, rounds: Rounds, schema: Schema, start: Floats
    ) -> None:
        self.pool, self.planner, self.aim, self.rounds = pool, planner, aim, rounds
        self.schema, self.start = schema, start
        self.n_done = 0
        self.n_lost = 0
        self.parts: list[dict[str, NDArray[Any]]] = []
        self.train_score: list[float] = []
        self.validation_score: list[float] = []
        self.trees: list[tuple[dict[str, Any], int]] = []
        self.most_loss = max(self._all("start", start))
        self._all("set_most_loss", self.most_loss)

    def _all(self, method: str, *args: Any) -> list[Any]:
        """Ask all shares; where one was lost, they all begin this round again."""
        return self.pool.call(method, *args)

    # One round

    def step(self) -> None:
        """Grow the trees of one round and note what they came to."""
        while True:
            try:
                trees, parts, losses = self._grow()
                break
            except LostShareError:
                self.n_lost += 1
                self._recover()
        self.trees += trees
        self.parts += parts
        self.n_done += 1
        self.train_score.append(losses[0])
        self.validation_score += losses[1:]

    def _recover(self) -> None:
        """All scores as they were when the last round was done."""
        while True:
            try:
                self._all("replay", self.start, self.most_loss, self.trees)
                return
            except LostShareError:
                self.n_lost += 1

    def _grow(
        self,
    ) -> tuple[list[tuple[dict[str, Any], int]], list[dict[str, NDArray[Any]]], list[float]]:
        """Trees of a round, as they travel and as they are kept, and the losses after it."""
        trees, parts, losses = [], [], []
        if self.aim.n_columns > 1 and self.aim.is_shared:
            self._all("begin_round")
        for column in range(self.aim.n_columns):
            tree = self._tree(column)
            is_last = column == self.aim.n_columns - 1  # whose answer brings the losses along
            answers = self._all("finish_round" if is_last else "finish_tree", tree, column)
            about = _added([answer["leaves"] for answer in answers])
            if is_last:
                losses = self._mean_losses([answer["losses"] for answer in answers])
            parts.append(finished(self.planner.tree(about["n_rows"], about["weight"])))
            trees.append((tree, column))
        return trees, parts, losses

    def _tree(self, column: int) -> dict[str, Any]:
        planner = self.planner
        number = self.n_done * self.aim.n_columns + column
        features = planner.begin(number)
        keeps_first = False
        while True:
            about = (column, *planner.scale(column), number, features, keeps_first)
            found = self._all("begin_tree", *about)
            n_rows = sum(each["n_rows"] for each in found)
            keeps_first = n_rows == 0
            slopes = list(zip(*(each["slopes"] for each in found), strict=True))
            seen = [max(slopes[0]), max(slopes[1]), sum(slopes[2]), sum(slopes[3])]
            if planner.take_slopes(column, *seen) and not keeps_first:
                break
        planner.start(column, _sum([each["histogram"] for each in found]), n_rows)
        while True:
            wanted = planner.wanted(self.pool.nodes_at_once)
            if not len(wanted["places"]):
                break
            answer = _added(self._all("expand", wanted))
            planner.take(answer["histograms"], answer["n_left"], answer["n_right"])
        tree: dict[str, Any] = planner.finish(self.rounds.learning_rate)
        return tree

    def _mean_losses(self, answers: Sequence[Any]) -> list[float]:
        """Mean losses of the rows learned from, and of those that judge if there are any."""
        out = []
        for parts in zip(*answers, strict=True):
            known = [part for part in parts if part is not None]
            if not known:
                continue
            if not all(is_finite for _, _, is_finite in known):
                out.append(float("inf"))
                continue
            words = [sum(part[i] for part in known) for i in (0, 1)]
            halves = [half for word in words for half in (word >> 64, word & (2**64 - 1))]
            out.append(self.planner.mean_loss(self.most_loss, *halves))
        return out

    def forest(self) -> Forest:
        """All trees so far."""
        target = Target(self.rounds.target)
        return make_forest(Schema(self.schema.features, self.schema.named, target), self.parts)


def _sum(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return np.ascontiguousarray(total)


def _added(answers: Sequence[dict[str, NDArray[np.int64]]]) -> dict[str, NDArray[np.int64]]:
    """Answers of all shares in one."""
    return {name: _sum([answer[name] for answer in answers]) for name in answers[0]}


Tell = Callable[[int, Any], None]
