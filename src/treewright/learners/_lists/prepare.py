"""From blocks to attribute lists: columns are written as they come, then sorted apart.

A list has one stream of values and one of row numbers. Ordered attributes are sorted, gaps (NaN)
first; nominal ones keep the order of the rows. What does not fit into memory is sorted in runs
that are then merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from treewright.data.schema import Feature, Schema
from treewright.learners._lists.workspace import Stream, Workspace

__all__ = ["AttributeList", "Sums", "list_dtype", "sort_list", "write_columns"]

ROWS: DTypeLike = np.uint32
MOST_ROWS = 2**32 - 1


@dataclass(eq=False)
class AttributeList:
    """The entries of one attribute; SPRINT's carry classes and weights too.

    Parameters
    ----------
    feature
        Which column.
    n_codes
        Categories of a nominal attribute, 0 of an ordered one.
    """

    feature: int
    n_codes: int
    value: Stream
    row: Stream
    label: Stream | None = None
    weight: Stream | None = None

    @property
    def streams(self) -> list[Stream]:
        """All streams that it has."""
        return [s for s in (self.value, self.row, self.label, self.weight) if s is not None]

    def close(self) -> None:
        """Give back memory and files."""
        for stream in self.streams:
            stream.close()


class Sums:
    """Class weights as integers, as the growth loop in memory has them."""

    def __init__(self, total: float, is_integer: bool, is_unit: bool) -> None:
        self.is_unit = is_unit
        exponent = 0 if is_unit or (is_integer and total < 2.0**53) else 61 - _exponent(total)
        self.scale = 2.0 ** float(np.clip(exponent, -900, 900))

    @classmethod
    def of(cls, weights: Iterable[NDArray[np.float64] | None]) -> Sums:
        """Learn the scale from all weights there are."""
        total, is_integer, is_unit = 0.0, True, True
        for weight in weights:
            if weight is None:
                continue
            total += float(np.abs(weight).sum())
            is_unit &= bool(np.all(weight == 1.0))
            is_integer &= bool(np.all(weight == np.floor(weight)))
        return cls(total, is_integer, is_unit)

    def scaled(self, weight: NDArray[np.float64] | None, n: int) -> NDArray[np.int64] | None:
        """Weights in scaled units; None where all are one."""
        if self.is_unit:
            return None
        weight = np.ones(n) if weight is None else weight
        scaled: NDArray[np.int64] = np.rint(weight * self.scale).astype(np.int64)
        return scaled


def _exponent(total: float) -> int:
    return int(np.frexp(total)[1]) if total > 0 else 61


def list_dtype(feature: Feature, column_dtype: np.dtype[Any]) -> np.dtype[Any]:
    """How the values of an attribute are kept; the largest code of a nominal one is a gap."""
    if feature.kind == "continuous":
        return column_dtype
    if feature.kind == "ordinal":
        return np.dtype(np.float32 if len(feature.categories) < 2**24 else np.float64)
    n = len(feature.categories)
    return np.dtype(np.uint8 if n <= 255 else np.uint16 if n <= 65535 else np.int32)


def write_columns(space: Workspace, schema: Schema, n_rows: int, first: Any) -> list[Stream]:
    """Streams for the columns as they come; ``first`` is the first table, for its types."""
    return [
        space.stream(list_dtype(feature, column.dtype), n_rows)
        for feature, column in zip(schema.features, first.columns, strict=True)
    ]


def as_list_values(feature: Feature, column: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """A column in the type of its list."""
    if feature.kind == "continuous":
        return np.ascontiguousarray(column, dtype)
    if feature.kind == "ordinal":
        values = column.astype(dtype)
        values[column < 0] = np.nan
        return values
    return column.astype(dtype)  # −1 becomes the largest code


def sort_list(space: Workspace, values: Stream) -> tuple[Stream, Stream]:
    """Sorted values, gaps first, and the rows they came from; ``values`` is closed."""
    n, run = values.n, space.sort_run
    if n <= run:
        return _sort_one(space, values)
    runs = []
    for begin in range(0, n, run):
        part = values.read(begin, min(begin + run, n))
        order = _order(part)
        # a run is never kept in memory: the next one needs the room
        runs.append((begin, begin + len(part)))
        values.write(begin, part[order])
        if begin == 0:
            rows = space.stream(ROWS, n)
        rows.write(begin, (order + begin).astype(ROWS))
    merged = space.stream(values.dtype, n), space.stream(ROWS, n)
    at = 0
    for part, part_rows in _merge(space, values, rows, runs):
        merged[0].write(at, part)
        merged[1].write(at, part_rows)
        at += len(part)
    values.close()
    rows.close()
    return merged


def _sort_one(space: Workspace, values: Stream) -> tuple[Stream, Stream]:
    column = values.read(0, values.n)
    order = _order(column)
    rows = space.stream(ROWS, values.n)
    rows.write(0, order.astype(ROWS))
    column = column[order]
    values.write(0, column)
    return values, rows


def _order(values: NDArray[Any]) -> NDArray[np.int64]:
    """Ascending, equal values in the order of their rows, gaps first."""
    order = np.argsort(values, kind="stable")
    n_gaps = int(np.count_nonzero(np.isnan(values)))
    return np.roll(order, n_gaps) if n_gaps else order


def _merge(
    space: Workspace, values: Stream, rows: Stream, runs: list[tuple[int, int]]
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Merge sorted runs, a part of each at a time.

    Up to the least of the parts' last values all entries are there; they are taken out of each
    part and sorted together. The order of equal values is left open: no cut lies between them.
    """
    size = max(1024, space.sort_run // len(runs))
    at = [begin for begin, _ in runs]
    parts: list[tuple[NDArray[Any], NDArray[Any]]] = [_empty(values)] * len(runs)
    while True:
        for k, (_, end) in enumerate(runs):
            if not len(parts[k][0]) and at[k] < end:
                stop = min(at[k] + size, end)
                part = values.read(at[k], stop)
                parts[k] = np.where(np.isnan(part), -np.inf, part), rows.read(at[k], stop)
                at[k] = stop
        # runs that are read to their end do not hold the others up
        bounds = [
            parts[k][0][-1] for k, (_, end) in enumerate(runs) if len(parts[k][0]) and at[k] < end
        ]
        left = [k for k in range(len(runs)) if len(parts[k][0])]
        if not left:
            return
        bound = min(bounds) if bounds else np.inf
        taken_values, taken_rows = [], []
        for k in left:
            part, part_rows = parts[k]
            n = int(np.searchsorted(part, bound, side="right"))
            taken_values.append(part[:n])
            taken_rows.append(part_rows[:n])
            parts[k] = part[n:], part_rows[n:]
        together, together_rows = np.concatenate(taken_values), np.concatenate(taken_rows)
        order = np.argsort(together, kind="stable")
        sorted_values = together[order]
        sorted_values[np.isneginf(sorted_values)] = np.nan
        yield sorted_values, together_rows[order]


def _empty(values: Stream) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.empty(0, values.dtype), np.empty(0, ROWS)
