"""Working through lists: chunk by chunk, several lists at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from treewright.learners._lists.prepare import AttributeList
from treewright.learners._lists.workspace import Workspace

__all__ = ["Work", "slot_groups"]

Result = TypeVar("Result")

SLOT_BYTES = 400
"""What a search and a test take per slot, apart from counts."""
SLOT_SHARE = 0.2
"""Share of the limit that the searches of a level may take."""


class Work:
    """Hands lists out to threads; an error or Ctrl-C ends all of them at their next chunk."""

    def __init__(self, space: Workspace) -> None:
        self._space = space
        self._stopped = threading.Event()

    def chunks(self, end: int, begin: int = 0) -> Iterator[tuple[int, int]]:
        """Ranges of entries that are worked on together."""
        size = self._space.chunk
        for at in range(begin, end, size):
            if self._stopped.is_set():
                raise KeyboardInterrupt
            yield at, min(at + size, end)

    def each(
        self, work: Callable[[AttributeList], Result], lists: list[AttributeList]
    ) -> Iterator[tuple[AttributeList, Result]]:
        """What ``work`` makes of each list, in order."""
        if self._space.n_threads == 1 or len(lists) == 1 or lists[0].value.n < self._space.chunk:
            for item in lists:
                yield item, work(item)
            self._space.trim()
            return
        with ThreadPoolExecutor(min(self._space.n_threads, len(lists))) as pool:
            try:
                yield from zip(lists, pool.map(work, lists), strict=True)
            except BaseException:
                self._stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        self._space.trim()


def slot_groups(
    n_slots: int, lists: list[AttributeList], n_classes: int, space: Workspace
) -> list[tuple[int, int]]:
    """Ranges of slots whose searches fit the limit together."""
    if space.limit is None:
        return [(0, n_slots)]
    most_codes = max(item.n_codes for item in lists)
    per_slot = SLOT_BYTES + 16 * n_classes + (most_codes + 1) * (n_classes + 1) * 8
    size = max(1, int(SLOT_SHARE * space.limit / (per_slot * space.n_threads)))
    return [(first, min(first + size, n_slots)) for first in range(0, n_slots, size)]
