"""Choosing the tests of a level from attribute lists.

All lists are searched once for the best test of every slot. How a list is searched and rows are
moved is SLIQ's (:mod:`class_list`) or SPRINT's (:mod:`segments`); of the best tests of all
attributes one wins here, as in ``core/grow``, and :mod:`treewright.tree.growing.levels` does the
rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature
from treewright.tree.growing.levels import Level, NodeSums, Tests, between
from treewright.tree.growing.recipe import Recipe

__all__ = ["Found", "Level", "ListStore", "NodeSums", "Tests"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TIE = 1e-12
"""A later test wins only if it gains more by this share; see ``core/base/types.hpp``."""
CUT, ONLY_GAPS = 1, 2


@dataclass(frozen=True, eq=False)
class Found:
    """The best test of one attribute at some slots, from slot ``first`` on."""

    kind: NDArray[np.uint8]
    gain: Floats
    scale: Floats
    gaps_left: NDArray[np.uint8]
    n_gaps: Ints
    below: Floats | None = None
    above: Floats | None = None
    code_offset: Ints | None = None
    codes: NDArray[np.int32] | None = None
    branches: NDArray[np.int32] | None = None


class ListStore(ABC):
    """What SLIQ and SPRINT share: one winner for each slot.

    Parameters
    ----------
    features
        The attributes.
    recipe
        What a test must gain.
    """

    few = 0

    def __init__(self, features: tuple[Feature, ...], recipe: Recipe) -> None:
        self._features, self._recipe = features, recipe

    @abstractmethod
    def groups(self, level: Level) -> list[tuple[int, int]]:
        """Ranges of slots that are searched together."""

    @abstractmethod
    def search(
        self, level: Level, first: int, last: int, reduce: Callable[[int, Found], None]
    ) -> None:
        """Hand the best tests of every attribute to ``reduce``, attributes in order."""

    def choose(self, level: Level, gain_unit: float) -> Tests:
        """The best test of each slot."""
        return Tests.joined(
            [self._choose(level, first, last, gain_unit) for first, last in self.groups(level)]
        )

    def finish(self, level: Level) -> list[dict[str, Any]]:
        """Lists are divided to the end."""
        raise NotImplementedError

    def child_paths(self, path: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Nothing is drawn from lists."""
        raise NotImplementedError

    def _choose(self, level: Level, first: int, last: int, gain_unit: float) -> Tests:
        """The best test of each slot of a range; of equal ones that of the first attribute."""
        n = last - first
        best = Tests(
            feature=np.full(n, -1, np.int32),
            gain=np.full(n, -np.inf),
            threshold=np.zeros(n),
            closed=np.zeros(n, np.uint8),
            gap_branch=np.zeros(n, np.uint8),
            n_gaps=np.zeros(n, np.int64),
            code_offset=np.zeros(n + 1, np.int64),
            codes=np.empty(0, np.int32),
            branches=np.empty(0, np.int32),
        )
        scale = np.zeros(n)
        grouped: dict[int, Found] = {}

        def reduce(f: int, found: Found) -> None:
            bar = np.full(n, -np.inf)
            has = best.feature >= 0
            bar[has] = best.gain[has] + TIE * np.abs(best.gain[has]) + 1e-15 * scale[has]
            wins = np.flatnonzero((found.kind > 0) & (found.gain > bar))
            if not len(wins):
                return
            best.feature[wins], best.gain[wins] = f, found.gain[wins]
            scale[wins], best.n_gaps[wins] = found.scale[wins], found.n_gaps[wins]
            best.gap_branch[wins] = 1 - found.gaps_left[wins]
            only_gaps = found.kind[wins] == ONLY_GAPS
            best.closed[wins] = 0
            if found.below is None or found.above is None:
                grouped[f] = found
                return
            cut = between(self._features[f], found.below[wins], found.above[wins])
            best.threshold[wins] = np.where(only_gaps, np.inf, cut)
            best.closed[wins] = only_gaps

        self.search(level, first, last, reduce)
        best.drop_worthless(scale, self._recipe, gain_unit)
        _gather_codes(best, grouped)
        return best


def _gather_codes(best: Tests, grouped: dict[int, Found]) -> None:
    """Bring the categories of nominal tests together, slot by slot."""
    n = len(best.feature)
    length, start = np.zeros(n, np.int64), np.zeros(n, np.int64)
    pools: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
    passed = 0
    for f, found in grouped.items():
        assert found.code_offset is not None
        assert found.codes is not None
        assert found.branches is not None
        mine = np.flatnonzero(best.feature == f)
        length[mine] = np.diff(found.code_offset)[mine]
        start[mine] = found.code_offset[:-1][mine] + passed
        passed += len(found.codes)
        pools.append((found.codes, found.branches))
    best.code_offset = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    if not pools:
        return
    at = np.repeat(start - best.code_offset[:-1], length) + np.arange(best.code_offset[-1])
    best.codes = np.concatenate([codes for codes, _ in pools])[at]
    best.branches = np.concatenate([branches for _, branches in pools])[at]
