"""SPRINT's lists: (value, class, row), those of a node lying together; nothing else is kept.

Each level reads every list to search it, notes in one bit per row which child it goes to, and
writes every list anew, each node's part divided by these bits in the order it had. The bits are
the paper's hash table of row ids: ids are dense, so a bit at the place of the id is enough. Where
even they exceed the limit they are made for a range of rows at a time, and what they say of each
entry is kept in a stream until all ranges are through.

Shafer, Agrawal and Mehta (1996), *SPRINT: a scalable parallel classifier for data mining*, VLDB.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature
from treewright.kernels import lists as kernel
from treewright.learners._lists.growth import Found, Level, ListStore, NodeSums, Tests
from treewright.learners._lists.prepare import AttributeList
from treewright.learners._lists.work import Work, slot_groups
from treewright.learners._lists.workspace import Stream, Workspace
from treewright.tree.growing.recipe import Recipe

__all__ = ["SegmentStore"]

BITS_SHARE = 0.1
"""Share of the limit that the bits of rows may take."""


class SegmentStore(ListStore):
    """Lists of (value, class, row) that lie by node.

    Parameters
    ----------
    space
        Where lists are kept.
    features, recipe
        See :class:`ListStore`.
    lists
        One per attribute, in column order; all rows in one part.
    n_rows
        Rows of the training set: row numbers are below it.
    n_classes, is_unit
        Classes, and whether all weights are one.
    """

    def __init__(
        self,
        space: Workspace,
        features: tuple[Feature, ...],
        recipe: Recipe,
        lists: list[AttributeList],
        n_rows: int,
        n_classes: int,
        is_unit: bool,
    ) -> None:
        super().__init__(features, recipe)
        self._space, self._lists, self._n_rows = space, lists, n_rows
        self._n_classes = n_classes
        self._options = (recipe.min_samples_leaf, recipe.max_exhaustive, is_unit)
        self._work = Work(space)
        self._offset = np.array([0, n_rows], np.int64)
        self._bits: list[kernel.RowBits] = []
        self._known: list[Stream] = []

    def _row_ranges(self) -> list[tuple[int, int]]:
        """Ranges of rows whose bits fit the limit."""
        most = self._n_rows
        if self._space.limit is not None:
            most = max(64, int(self._space.limit * BITS_SHARE * 8))
        return [(b, min(b + most, self._n_rows)) for b in range(0, self._n_rows, most)]

    def groups(self, level: Level) -> list[tuple[int, int]]:
        """Ranges of slots whose searches fit into memory together."""
        return slot_groups(level.n_slots, self._lists, self._n_classes, self._space)

    def search(
        self, level: Level, first: int, last: int, reduce: Callable[[int, Found], None]
    ) -> None:
        """Read the parts of these slots of every list."""
        begin, end = int(self._offset[first]), int(self._offset[last])

        def one(item: AttributeList) -> Found:
            search = kernel.make_search(
                item.n_codes, level.totals[first:last], level.rows[first:last], first, self._options
            )
            for at, stop in self._work.chunks(end, begin):
                values, label, weight = _read(item, at, stop)
                search.by_segments(values, label, weight, at, self._offset)
            return Found(**kernel.found(search, level.totals[first:last], level.rows[first:last]))

        for item, found in self._work.each(one, self._lists):
            reduce(item.feature, found)

    def divide(self, level: Level, tests: Tests, first_child: NDArray[np.int32]) -> NodeSums:
        """Note which rows go right, by the lists of the attributes that are tested."""
        divider = kernel.make_divider(tests, first_child, self._n_classes)
        ranges = self._row_ranges()
        self._known = [] if len(ranges) == 1 else self._branch_streams()
        for begin, end in ranges:
            bits = kernel.RowBits(begin, end)
            for item in self._lists:
                if np.any(tests.feature == item.feature):
                    self._mark(divider, item, bits)
            if self._known:
                self._keep_branches(bits)
            else:
                self._bits = [bits]
        return NodeSums(*divider.children())

    def _mark(self, divider: kernel.Divider, item: AttributeList, bits: kernel.RowBits) -> None:
        for begin, end in self._work.chunks(item.value.n):
            values, label, weight = _read(item, begin, end)
            rows = item.row.read(begin, end)
            divider.mark_rows(values, rows, label, weight, begin, self._offset, item.feature, bits)

    def _branch_streams(self) -> list[Stream]:
        return [self._space.stream(np.uint8, item.value.n) for item in self._lists]

    def _keep_branches(self, bits: kernel.RowBits) -> None:
        """Note what the bits of a range of rows say of the entries of every list."""

        def one(item: AttributeList) -> None:
            known = self._known[item.feature]
            for begin, end in self._work.chunks(item.value.n):
                rows = item.row.read(begin, end)
                known.write(begin, kernel.row_branches(rows, bits, known.read(begin, end)))

        for _ in self._work.each(one, self._lists):
            pass

    def descend(self, level: Level, tests: Tests, is_open: NDArray[np.bool_], below: Level) -> None:
        """Write every list anew, without the entries of leaves."""
        ends = np.cumsum(below.rows)
        offset = np.concatenate([[0], ends]).astype(np.int64)
        next_place = np.full(2 * level.n_slots, -1, np.int64)
        children = np.flatnonzero(np.repeat(tests.feature >= 0, 2))
        next_place[children[is_open]] = offset[:-1]

        def divide(item: AttributeList) -> AttributeList:
            made = self._new_list(item, int(offset[-1]))
            places = next_place
            for begin, end in self._work.chunks(item.value.n):
                rows = item.row.read(begin, end)
                if self._known:
                    branch = self._known[item.feature].read(begin, end)
                else:
                    branch = kernel.row_branches(rows, self._bits[0], None)
                order, start, length, places = kernel.divide_chunk(
                    branch, begin, self._offset, places
                )
                for old, new in zip(item.streams, made.streams, strict=True):
                    entries = rows if old is item.row else old.read(begin, end)
                    _write_runs(new, entries[order], start, length)
            item.close()
            return made

        self._lists = [made for _, made in self._work.each(divide, self._lists)]
        self._offset, self._bits = offset, []
        for stream in self._known:
            stream.close()
        self._known = []

    def _new_list(self, item: AttributeList, n: int) -> AttributeList:
        streams = [self._space.stream(stream.dtype, n) for stream in item.streams]
        return AttributeList(item.feature, item.n_codes, *streams)


def _read(
    item: AttributeList, begin: int, end: int
) -> tuple[NDArray[np.generic], NDArray[np.uint16], NDArray[np.int64] | None]:
    assert item.label is not None
    label = item.label.read(begin, end)
    weight = None if item.weight is None else item.weight.read(begin, end)
    return item.value.read(begin, end), label.astype(np.uint16, copy=False), weight


def _write_runs(
    stream: Stream,
    entries: NDArray[np.generic],
    start: NDArray[np.int64],
    length: NDArray[np.int64],
) -> None:
    at = 0
    for to, n in zip(start.tolist(), length.tolist(), strict=True):
        stream.write(to, entries[at : at + n])
        at += n
