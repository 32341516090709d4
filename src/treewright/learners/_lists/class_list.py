"""SLIQ's lists: (value, row), sorted once and never moved; class and leaf of a row in memory.

Each level reads every list once for the search, and once more those whose attribute was chosen
somewhere, to move rows to their new leaves. Entries of rows that have come to rest are left out
when they are more than half of a list.

Mehta, Agrawal and Rissanen (1996), *SLIQ: a fast scalable classifier for data mining*, EDBT.
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
from treewright.learners._lists.workspace import Workspace
from treewright.tree.growing.recipe import Recipe

__all__ = ["ClassListStore", "class_list_bytes"]


def class_list_bytes(n_rows: int, n_classes: int, is_weighted: bool) -> int:
    """What the class list takes."""
    return n_rows * (4 + (1 if n_classes <= 256 else 2) + (8 if is_weighted else 0))


class ClassListStore(ListStore):
    """Lists of (value, row) and the class list.

    Parameters
    ----------
    space
        Where lists are kept.
    features, recipe
        See :class:`ListStore`.
    lists
        One per attribute, in column order.
    classes
        Class and leaf of every row.
    n_classes, is_unit
        Classes, and whether all weights are one.
    """

    def __init__(
        self,
        space: Workspace,
        features: tuple[Feature, ...],
        recipe: Recipe,
        lists: list[AttributeList],
        classes: kernel.ClassList,
        n_classes: int,
        is_unit: bool,
    ) -> None:
        super().__init__(features, recipe)
        self._space, self._lists, self._classes = space, lists, classes
        self._n_classes = n_classes
        self._options = (recipe.min_samples_leaf, recipe.max_exhaustive, is_unit)
        self._work = Work(space)

    def groups(self, level: Level) -> list[tuple[int, int]]:
        """Ranges of slots whose searches fit into memory together."""
        self._classes.set_level(level.base, level.slot_of)
        return slot_groups(level.n_slots, self._lists, self._n_classes, self._space)

    def search(
        self, level: Level, first: int, last: int, reduce: Callable[[int, Found], None]
    ) -> None:
        """Read every list once."""

        def one(item: AttributeList) -> Found:
            search = kernel.make_search(
                item.n_codes, level.totals[first:last], level.rows[first:last], first, self._options
            )
            for begin, end in self._work.chunks(item.value.n):
                values, rows = item.value.read(begin, end), item.row.read(begin, end)
                search.by_class_list(values, rows, self._classes)
            return Found(**kernel.found(search, level.totals[first:last], level.rows[first:last]))

        for item, found in self._work.each(one, self._lists):
            reduce(item.feature, found)

    def divide(self, level: Level, tests: Tests, first_child: NDArray[np.int32]) -> NodeSums:
        """Move rows to the children, by the lists of the attributes that are tested."""
        divider = kernel.make_divider(tests, first_child, self._n_classes)
        for item in self._lists:
            if not np.any(tests.feature == item.feature):
                continue
            for begin, end in self._work.chunks(item.value.n):
                values, rows = item.value.read(begin, end), item.row.read(begin, end)
                divider.move_rows(values, rows, self._classes, item.feature)
        return NodeSums(*divider.children())

    def descend(self, level: Level, tests: Tests, is_open: NDArray[np.bool_], below: Level) -> None:
        """Leave entries out whose rows have come to rest, once they are the most."""
        n_open = int(below.rows.sum())
        if not n_open or 2 * n_open > self._lists[0].value.n:
            return
        self._classes.set_level(below.base, below.slot_of)

        def compact(item: AttributeList) -> AttributeList:
            value = self._space.stream(item.value.dtype, n_open)
            row = self._space.stream(item.row.dtype, n_open)
            at = 0
            for begin, end in self._work.chunks(item.value.n):
                rows = item.row.read(begin, end)
                kept = kernel.open_entries(rows, self._classes)
                value.write(at, item.value.read(begin, end)[kept])
                row.write(at, rows[kept])
                at += len(kept)
            item.close()
            return AttributeList(item.feature, item.n_codes, value, row)

        self._lists = [made for _, made in self._work.each(compact, self._lists)]
