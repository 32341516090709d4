"""The tests among which an optimal tree chooses.

A column becomes bins, a test the interval of bins that goes left. Ordered columns are cut between
two of their values: at most ``max_cuts`` cuts, with like weight between them where there are more
values. Nominal columns are tested for single categories, and for the first of them in the order
of their target. Where a column has gaps, each of these tests is there twice, with the gaps on
either side, and what is known is tested against the gaps. Tests that divide the rows alike are one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.tree.growing.choosing import ProposedSplit

__all__ = ["Candidates", "Wanted", "candidate_tests"]

FEW_BINS = 4
"""Packing so few takes longer than it saves."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Tests as the search takes them, and each as a split of the tree.

    ``tests`` holds column of ``bins``, low, high and family of each test.
    """

    bins: NDArray[np.uint16]
    tests: NDArray[np.int32]
    splits: tuple[ProposedSplit, ...]

    def __len__(self) -> int:
        return len(self.splits)

    def passes(self, test: int) -> NDArray[np.bool_]:
        """Which rows go left."""
        column, low, high, _ = self.tests[test]
        bins = self.bins[:, column]
        return np.asarray((bins >= low) & (bins < high))


@dataclass(frozen=True)
class Wanted:
    """Tests that a given tree makes, by feature.

    Cuts are thresholds, each with whether the threshold itself is on the left; subsets are the
    codes of one side.
    """

    cuts: Mapping[int, Sequence[tuple[float, bool]]] = field(default_factory=dict)
    subsets: Mapping[int, Sequence[frozenset[int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Interval:
    """A test before bins are numbered for good."""

    low: int
    high: int
    family: int
    split: ProposedSplit


def candidate_tests(
    table: Table,
    response: Floats,
    weight: Floats,
    max_cuts: int | None,
    wanted: Wanted | None = None,
) -> Candidates:
    """All tests of all columns.

    Parameters
    ----------
    table
        The rows.
    response
        A column per class or output, whose means order the categories.
    weight
        Of each row.
    max_cuts
        Most cuts of an ordered column, subsets and single categories of a nominal one; None for
        all.
    wanted
        Tests that must be among them.
    """
    wanted = wanted or Wanted()
    columns: list[NDArray[np.uint16]] = []
    tests: list[tuple[int, int, int, int]] = []
    splits: list[ProposedSplit] = []
    seen: set[bytes] = set()

    def add(bins: Ints, found: list[_Interval]) -> None:
        fresh = [test for test in found if _is_new(bins, test, seen)]
        if columns and not fresh:
            return
        packed, edges = _pack(bins, fresh)
        number = len(columns)
        columns.append(packed)
        tests.extend(
            (number, int(low), int(high), 2 * number + test.family if test.family >= 0 else -1)
            for test, (low, high) in zip(fresh, edges, strict=True)
        )
        splits.extend(test.split for test in fresh)

    for feature, described in enumerate(table.schema.features):
        values = table.columns[feature]
        if described.kind == "nominal":
            bins, found, single = _nominal(feature, values, response, weight, max_cuts)
            add(bins, found)
            for codes in (*single, *wanted.subsets.get(feature, ())):
                add(*_subset(feature, values, codes))
        else:
            cuts = wanted.cuts.get(feature, ())
            add(*_ordered(feature, values, weight, max_cuts, cuts))
    described_tests = np.array(tests, np.int32).reshape(-1, 4)
    described_tests[:, 3] = _renumbered(described_tests[:, 3])
    return Candidates(np.column_stack(columns), described_tests, tuple(splits))


def _ordered(
    feature: int,
    column: NDArray[np.generic],
    weight: Floats,
    max_cuts: int | None,
    wanted: Sequence[tuple[float, bool]],
) -> tuple[Ints, list[_Interval]]:
    values = column.astype(np.float64)
    # np.unique would take three times as long, and more with its inverse; gaps of floats come last
    ascending = np.sort(values)
    if column.dtype.kind == "f":
        n_gaps = len(values) - int(np.searchsorted(ascending, np.nan))
        ascending = ascending[: len(values) - n_gaps]
    else:
        n_gaps = int(np.searchsorted(ascending, 0.0))
        ascending = ascending[n_gaps:]
    shift = int(n_gaps > 0)
    distinct = ascending[:1]
    if len(ascending) and ascending[0] != ascending[-1]:
        is_last = np.ones(len(ascending), np.bool_)
        np.not_equal(ascending[1:], ascending[:-1], out=is_last[:-1])
        distinct = ascending[is_last]
    if len(distinct) + shift < 2 or not len(distinct):
        return np.zeros(len(values), np.int64), []
    known: Any = slice(None)
    if shift:
        known = ~np.isnan(values) if column.dtype.kind == "f" else values >= 0
    place = np.searchsorted(distinct, values[known])
    positions, of_value = _cuts(distinct, place, weight[known], max_cuts, wanted)
    if of_value is not None:
        place = of_value[place]
    bins = place
    if shift:
        bins = np.zeros(len(values), np.int64)
        bins[known] = place + 1
    found: list[_Interval] = []
    for k, cut in enumerate(positions):
        split = ProposedSplit(feature, breaks=(_between(distinct, cut),), closed=False)
        found.extend(_with_gaps(k + 1, shift, split))
    if shift:
        split = ProposedSplit(feature, breaks=(np.inf,), gap_branch=1)
        found.append(_Interval(1, len(positions) + 2, 1, split))
    return bins, found


def _cuts(
    distinct: Floats,
    place: Ints,
    weight: Floats,
    max_cuts: int | None,
    wanted: Sequence[tuple[float, bool]],
) -> tuple[list[int], Ints | None]:
    """Values after which a column is cut, and the bin of each value; None if that is the value."""
    n_cuts = len(distinct) - 1
    if max_cuts is None or n_cuts <= max_cuts:
        return list(range(n_cuts)), None
    cuts = set(_spread(place, weight, len(distinct), max_cuts))
    for threshold, is_closed in wanted:
        cut = int(np.searchsorted(distinct, threshold, "right" if is_closed else "left")) - 1
        if 0 <= cut < n_cuts:
            cuts.add(cut)
    positions = sorted(cuts)
    return positions, np.searchsorted(np.array(positions), np.arange(len(distinct)))


def _with_gaps(high: int, shift: int, split: ProposedSplit) -> Iterator[_Interval]:
    """The bins below ``high``, once without gaps, otherwise with gaps on either side."""
    if not shift:
        yield _Interval(0, high, 0, split)
        return
    yield _Interval(0, high + 1, 0, replace(split, gap_branch=0))
    yield _Interval(1, high + 1, 1, replace(split, gap_branch=1))


def _between(distinct: Floats, cut: int) -> float:
    """The midpoint of two values, or the upper one where no number lies between them."""
    low, high = distinct[cut], distinct[cut + 1]
    middle = low / 2 + high / 2
    return float(middle if low < middle else high)


def _spread(place: Ints, weight: Floats, n_values: int, most: int | None) -> list[int]:
    """Cuts after some of the values, all of them or those with like weight between them.

    ``place`` is the value of each row, as its number.
    """
    n_cuts = n_values - 1
    if most is None or n_cuts <= most:
        return list(range(n_cuts))
    below = np.cumsum(np.bincount(place, weight))  # and at each value
    aims = below[-1] * np.arange(1, most + 1) / (most + 1)
    right = np.clip(np.searchsorted(below, aims), 0, n_cuts - 1)
    left = np.maximum(right - 1, 0)
    is_left_nearer = aims - below[left] <= below[right] - aims
    return [int(cut) for cut in np.unique(np.where(is_left_nearer, left, right))]


def _nominal(
    feature: int,
    codes: NDArray[np.generic],
    response: Floats,
    weight: Floats,
    max_cuts: int | None,
) -> tuple[Ints, list[_Interval], list[frozenset[int]]]:
    """Bins in the order of the target, their tests, and categories to be joined by the gaps."""
    is_gap = codes < 0  # type: ignore[operator]
    known, place = np.unique(codes[~is_gap], return_inverse=True)
    if len(known) + is_gap.any() < 2 or not len(known):
        return np.zeros(len(codes), np.int64), [], []
    own_weight = np.bincount(place, weight[~is_gap]).astype(np.float64)
    rank = np.argsort(_target_order(place, response[~is_gap], weight[~is_gap], own_weight))
    order = np.argsort(rank)  # the category at each position
    shift = int(is_gap.any())
    bins = np.zeros(len(codes), np.int64)
    bins[~is_gap] = rank[place] + shift

    def subset(positions: NDArray[np.int64]) -> ProposedSplit:
        branch = np.ones(len(known), np.int64)
        branch[order[positions]] = 0
        codes_of = tuple(int(c) for c in known)
        return ProposedSplit(feature, codes=codes_of, branches=tuple(branch.tolist()))

    found: list[_Interval] = []
    for cut in _spread(rank[place], weight[~is_gap], len(known), max_cuts):
        found.extend(_with_gaps(cut + 1, shift, subset(np.arange(cut + 1))))
    if shift:
        everything = replace(subset(np.arange(len(known))), gap_branch=1)
        found.append(_Interval(1, len(known) + 1, 1, everything))
    heaviest = np.sort(np.lexsort((known[order], -own_weight[order]))[:max_cuts])
    for position in heaviest.tolist():
        split = replace(subset(np.array([position])), gap_branch=1 if shift else -2)
        found.append(_Interval(position + shift, position + shift + 1, -1, split))
    single = [frozenset([int(code)]) for code in known[order[heaviest]]] if shift else []
    return bins, found, single


def _subset(
    feature: int, codes: NDArray[np.generic], chosen: frozenset[int]
) -> tuple[Ints, list[_Interval]]:
    """One given set of categories against the others, as a column of its own."""
    is_gap = codes < 0  # type: ignore[operator]
    known = [int(code) for code in np.unique(codes[~is_gap])]
    branches = tuple(0 if code in chosen else 1 for code in known)
    if len(set(branches)) < 2:
        return np.zeros(len(codes), np.int64), []
    shift = int(is_gap.any())
    bins = np.where(np.isin(codes, list(chosen)), 0, 1) + shift
    bins[is_gap] = 0
    split = ProposedSplit(feature, codes=tuple(known), branches=branches)
    return bins, list(_with_gaps(1, shift, split))


def _target_order(place: Ints, response: Floats, weight: Floats, own_weight: Floats) -> Ints:
    """Categories by the mean of their target; of several, by its first principal component."""
    means = np.column_stack(
        [np.bincount(place, weight * column) / own_weight for column in response.T]
    )
    centred = means - np.average(means, axis=0, weights=own_weight)
    axes = np.linalg.svd(np.sqrt(own_weight)[:, None] * centred, full_matrices=False)[2]
    axis = axes[0] * np.sign(axes[0][np.argmax(np.abs(axes[0]))])
    score = centred @ axis
    # Sums in another order may differ in the last bit; that must not order categories.
    spread = np.abs(score).max()
    score = np.round(score / spread, 12) if spread > 0 else score
    return np.lexsort((np.arange(len(score)), score))


def _is_new(bins: Ints, test: _Interval, seen: set[bytes]) -> bool:
    """Whether a test divides the rows, and as no test before it does."""
    mask = bins < test.high
    if test.low:
        mask &= bins >= test.low
    if not 0 < np.count_nonzero(mask) < len(mask):
        return False
    mark = np.packbits(~mask if mask[0] else mask).tobytes()
    if mark in seen:
        return False
    seen.add(mark)
    return True


def _pack(bins: Ints, tests: list[_Interval]) -> tuple[NDArray[np.uint16], Ints]:
    """Bins that no test tells apart become one; the tests' edges with them."""
    edges = np.array([(test.low, test.high) for test in tests], np.int64).reshape(-1, 2)
    if bins.max() <= FEW_BINS:
        return bins.astype(np.uint16), edges
    bounds = np.unique(edges)
    table = np.searchsorted(bounds, np.arange(bins.max() + 1), "right").astype(np.uint16)
    return table[bins], np.searchsorted(bounds, edges, "right").astype(np.int64)


def _renumbered(family: NDArray[np.int32]) -> NDArray[np.int32]:
    """Families from 0 without holes; −1 stays."""
    numbers = np.unique(family[family >= 0])
    return np.where(family >= 0, np.searchsorted(numbers, family), -1).astype(np.int32)
