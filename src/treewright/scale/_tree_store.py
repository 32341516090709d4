"""Growing one tree on blocks: asks the shares for tables, chooses, and has rows moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema, Target
from treewright.data.table import Table
from treewright.kernels.tree_blocks import TableSearch, child_paths, drawn_features
from treewright.scale._rounds import Pool
from treewright.scale._tree_share import BinColumn, TargetScale
from treewright.tree.growing.grow import grow_part
from treewright.tree.growing.levels import Level, NodeSums, Tests
from treewright.tree.growing.recipe import Recipe

__all__ = ["FEW_ROWS", "BlockStore", "Shape", "added"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FEW_ROWS = 1 << 14
"""Rows up to which a node is grown in memory. Part of the definition of a model on blocks."""
TABLE_BYTES = 1 << 25
"""Bytes of the tables that are asked for at once."""


@dataclass(frozen=True, eq=False)
class Shape:
    """What all trees of a fit have in common.

    Parameters
    ----------
    weighs
        Whether rows have weights, or chances to be drawn.
    rows_at_once
        Rows that may be brought together.
    """

    columns: Sequence[BinColumn]
    schema: Schema
    target: Target
    scale: TargetScale
    weighs: bool
    weight_unit: float
    recipe: Recipe
    draws: bool
    rows_at_once: int
    n_threads: int

    @property
    def counts_rows(self) -> bool:
        """Whether rows of tables begin with the number of rows."""
        return self.draws or not self.scale.n_classes or self.weighs

    @property
    def table_words(self) -> int:
        """Words of a row of a table."""
        return (self.scale.n_classes or 2) + self.counts_rows


def added(answers: Sequence[dict[str, Any]]) -> NodeSums:
    """Sums of all shares."""
    stats = sum(answer["stats"] for answer in answers)
    rows = sum(answer["rows"] for answer in answers)
    low = np.min([answer["low"] for answer in answers], axis=0)
    high = np.max([answer["high"] for answer in answers], axis=0)
    return NodeSums(stats, rows, *((low, high) if len(low) else (None, None)))


class BlockStore:
    """The rows of one tree, on the shares of a pool."""

    few = FEW_ROWS

    def __init__(self, pool: Pool, shape: Shape, seed: int, root: NodeSums) -> None:
        self._pool, self._shape, self._seed = pool, shape, seed
        self._total = float(root.weight[0])
        recipe = shape.recipe
        self._search: Any = TableSearch(
            str(recipe.criterion),
            shape.scale.n_classes,
            shape.counts_rows,
            shape.weight_unit,
            recipe.min_samples_leaf,
            recipe.min_weight_leaf,
            recipe.max_exhaustive,
            [column.n_bins for column in shape.columns],
            [int(column.is_ordered) for column in shape.columns],
            shape.n_threads,
        )

    # Choosing

    def choose(self, level: Level, gain_unit: float) -> Tests:
        """The best test of each slot."""
        n_features, recipe = len(self._shape.columns), self._shape.recipe
        n_drawn = recipe.max_features or n_features
        parts = []
        for slots in self._groups(level, n_drawn):
            wanted = np.broadcast_to(
                np.arange(n_features, dtype=np.int32), (len(slots), n_features)
            )
            if len(level.path):
                wanted = drawn_features(self._seed, level.path[slots], n_features, 0, n_drawn)
            found = self._best(level, slots, wanted)
            if len(level.path) and recipe.redraw:
                for at in range(n_drawn, n_features):
                    left = np.flatnonzero(found["feature"] < 0)
                    if not len(left):
                        break
                    wanted = drawn_features(self._seed, level.path[slots[left]], n_features, at, 1)
                    found = _replaced(found, left, self._best(level, slots[left], wanted))
            parts.append(self._tests(found, gain_unit))
        return Tests.joined(parts)

    def _groups(self, level: Level, n_wanted: int) -> Iterator[Ints]:
        """Slots whose tables are made together."""
        most = max(column.n_bins for column in self._shape.columns) + 1
        each = 8 * n_wanted * most * self._shape.table_words
        step = max(1, TABLE_BYTES // each)
        for first in range(0, level.n_slots, step):
            yield np.arange(first, min(first + step, level.n_slots))

    def _best(self, level: Level, slots: Ints, wanted: NDArray[np.int32]) -> dict[str, Any]:
        """The best of the wanted features of some slots."""
        sizes = np.array([column.n_bins + 1 for column in self._shape.columns], np.int64)
        words = sizes[wanted].ravel() * self._shape.table_words
        start = np.cumsum(words) - words
        feature, n_words = np.ascontiguousarray(wanted.ravel(), np.int32), int(words.sum())
        slot_of = np.full(len(level.slot_of), -1, np.int32)
        place = np.full(level.n_slots, -1, np.int32)
        place[slots] = np.arange(len(slots))
        is_slot = level.slot_of >= 0
        slot_of[is_slot] = place[level.slot_of[is_slot]]
        ask = (level.base, slot_of, len(slots), wanted.shape[1], feature, start, n_words)
        answers = self._pool.call("tables", *ask)
        tables = answers[0] if len(answers) == 1 else np.sum(answers, axis=0)
        totals = level.totals[slots]
        if not self._shape.scale.n_classes:
            totals = np.ascontiguousarray(totals[:, :2])
        found: dict[str, Any] = self._search.best(
            wanted.shape[1], feature, start, tables, totals, level.rows[slots]
        )
        return found

    def _tests(self, found: dict[str, Any], gain_unit: float) -> Tests:
        """What was found, in values instead of bins."""
        n, recipe = len(found["feature"]), self._shape.recipe
        tests = Tests(
            feature=found["feature"],
            gain=found["gain"],
            threshold=np.zeros(n),
            closed=np.zeros(n, np.uint8),
            gap_branch=(1 - found["gaps_left"]).astype(np.uint8),
            n_gaps=found["n_gaps"],
            code_offset=found["code_offset"],
            codes=found["codes"],
            branches=found["branches"],
        )
        slot_of_code = np.repeat(np.arange(n), np.diff(tests.code_offset))
        apart = np.flatnonzero(found["only_gaps"])
        for f, column in enumerate(self._shape.columns):
            mine = np.flatnonzero(tests.feature == f)
            if not len(mine):
                continue
            if column.bins.codes is not None:
                named = tests.feature[slot_of_code] == f
                tests.codes[named] = column.bins.codes[tests.codes[named]]
                continue
            below, above = found["below"][mine], found["above"][mine]
            closed = recipe.continuous_split == "at_most"
            tests.threshold[mine], tests.closed[mine] = column.cuts(below, above, closed)
        ordered = np.array([column.is_ordered for column in self._shape.columns])
        apart = apart[ordered[tests.feature[apart]]]
        tests.threshold[apart], tests.closed[apart] = np.inf, 1
        tests.gain[tests.feature < 0] = -np.inf
        tests.drop_worthless(found["scale"], recipe, gain_unit)
        return tests

    # Moving rows

    def divide(self, level: Level, tests: Tests, first_child: NDArray[np.int32]) -> NodeSums:
        """Send rows to the children."""
        branch = self._branches(tests)
        ask = (level.base, level.slot_of, tests.feature, branch, first_child)
        return added(self._pool.call("divide", *ask))

    def _branches(self, tests: Tests) -> NDArray[np.uint8]:
        """The branch of every bin at every slot."""
        branch = np.zeros((len(tests.feature), 256), np.uint8)
        slot_of_code = np.repeat(np.arange(len(branch)), np.diff(tests.code_offset))
        for f, column in enumerate(self._shape.columns):
            mine = np.flatnonzero(tests.feature == f)
            if not len(mine):
                continue
            n = column.n_bins
            if column.bins.codes is None:
                branch[mine, :n] = column.branches(tests.threshold[mine], tests.closed[mine])
            else:
                branch[mine, :n] = tests.gap_branch[mine, None]  # categories not seen there
                named = np.flatnonzero(tests.feature[slot_of_code] == f)
                bins = np.searchsorted(column.bins.codes, tests.codes[named])
                branch[slot_of_code[named], bins] = tests.branches[named]
            branch[mine, n] = tests.gap_branch[mine]
        return branch

    def descend(self, level: Level, tests: Tests, is_open: NDArray[np.bool_], below: Level) -> None:
        """Rows know their node."""

    def child_paths(self, path: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Paths of the two children of each node."""
        return np.asarray(child_paths(np.ascontiguousarray(path)))

    # Nodes of few rows

    def finish(self, level: Level) -> list[dict[str, Any]]:
        """Grow these nodes in memory."""
        grown: list[dict[str, Any]] = []
        ends = np.cumsum(level.rows)
        first = 0
        while first < level.n_slots:
            done = int(ends[first - 1]) if first else 0
            last = int(np.searchsorted(ends, done + self._shape.rows_at_once, side="right"))
            last = max(last, first + 1)
            grown += self._grow_parts(level, first, last)
            first = last
        return grown

    def _grow_parts(self, level: Level, first: int, last: int) -> list[dict[str, Any]]:
        slot_of = np.where(
            (level.slot_of >= first) & (level.slot_of < last), level.slot_of - first, -1
        ).astype(np.int32)
        answers = self._pool.call("gather", level.base, slot_of, last - first)
        rows = {name: np.concatenate([each[name] for each in answers]) for name in answers[0]}
        order = np.lexsort((rows["row"], rows["slot"]))  # of any number of shares the same
        bounds = np.searchsorted(rows["slot"][order], np.arange(last - first + 1))

        def one(slot: int) -> dict[str, Any]:
            mine = order[bounds[slot] : bounds[slot + 1]]
            return self._grow_part(
                level, first + slot, {n: a[mine] for n, a in rows.items() if len(a)}
            )

        with ThreadPoolExecutor(self._shape.n_threads) as threads:
            return list(threads.map(one, range(last - first)))

    def _grow_part(self, level: Level, slot: int, rows: dict[str, Any]) -> dict[str, Any]:
        shape = self._shape
        columns = tuple(
            column.column(np.ascontiguousarray(rows["bins"][:, f]))
            for f, column in enumerate(shape.columns)
        )
        n = len(rows["slot"])
        gaps = np.array([np.any(c < 0 if c.dtype == np.int32 else np.isnan(c)) for c in columns])
        y = rows["label"].astype(np.int32) if shape.scale.n_classes else rows["y"]
        weight = None
        if shape.draws:
            weight = rows["count"].astype(np.float64)
        elif shape.weighs:
            weight = rows["weight"] * shape.weight_unit
        share = float(level.sums.weight[slot]) / self._total
        recipe = shape.recipe
        depth = None if recipe.max_depth is None else recipe.max_depth - level.depth
        grown = grow_part(
            Table(shape.schema, n, gaps, columns),
            y,
            replace(recipe, min_gain=recipe.min_gain / share, max_depth=depth),
            target=shape.target,
            sample_weight=weight,
            seed=self._seed,
            path=int(level.path[slot]) if len(level.path) else 0,
        )
        grown["gain"] = grown["gain"] * share
        self._restore_edges(grown["splits"])
        return grown

    def _restore_edges(self, splits: dict[str, Any]) -> None:
        """Numbers of intervals become their edges."""
        of_break = np.repeat(splits["feature"], np.diff(splits["break_offset"]))
        has_break = np.diff(splits["break_offset"]) > 0
        closed = splits["closed"].astype(np.bool_)
        for f, column in enumerate(self._shape.columns):
            if column.values is not None or column.bins.codes is not None:
                continue
            mine = of_break == f
            splits["breaks"][mine] = column.edges(splits["breaks"][mine])[0]
            closed[has_break & (splits["feature"] == f)] = True
        splits["closed"] = closed


def _replaced(found: dict[str, Any], at: Ints, more: dict[str, Any]) -> dict[str, Any]:
    """What was found, at some slots replaced by what was found later."""
    ragged = ("codes", "branches", "code_offset")
    out = {name: column.copy() for name, column in found.items() if name not in ragged}
    for name, column in out.items():
        column[at] = more[name]
    length, start = np.diff(found["code_offset"]), found["code_offset"][:-1].copy()
    length[at] = np.diff(more["code_offset"])
    start[at] = len(found["codes"]) + more["code_offset"][:-1]
    offset = np.concatenate([[0], np.cumsum(length)])
    places = np.repeat(start - offset[:-1], length) + np.arange(offset[-1])
    for name in ("codes", "branches"):
        out[name] = np.concatenate([found[name], more[name]])[places]
    return out | {"code_offset": offset}
