"""Searches and division of attribute lists against their numpy twins, in chunks of any size."""

from __future__ import annotations

import numpy as np
import pytest

from tests.twins.lists import best_cut, divided
from treewright.kernels import lists as kernel


def nodes(seed, n_classes, n_slots=7, n=900):
    """Sorted entries with ties, and the node and class of each row."""
    random = np.random.default_rng(seed)
    values = np.sort(np.round(random.normal(size=n), 1))
    slot = random.integers(0, n_slots, n)
    label = random.integers(0, n_classes, n).astype(np.int32)
    totals = np.zeros((n_slots, n_classes), np.int64)
    np.add.at(totals, (slot, label), 1)
    return values, slot, label, totals


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("min_leaf", [1, 20])
@pytest.mark.parametrize("chunk", [7, 1000])
def test_cuts_of_interleaved_nodes_are_those_of_each_alone(n_classes, min_leaf, chunk):
    values, slot, label, totals = nodes(n_classes, n_classes)
    classes = kernel.ClassList(False, False)
    rows = np.random.default_rng(9).permutation(len(values)).astype(np.uint32)
    by_row = np.empty(len(values), np.int32)
    by_row[rows] = label
    classes.append(by_row, None)
    # rows are sent to their nodes by a list of node numbers
    place(classes, rows, slot, len(totals))
    search = kernel.make_search(0, totals, totals.sum(axis=1), 0, (min_leaf, 15, True))
    for begin in range(0, len(values), chunk):
        search.by_class_list(values[begin : begin + chunk], rows[begin : begin + chunk], classes)
    found = kernel.found(search, totals, totals.sum(axis=1))
    order = np.argsort(slot, kind="stable")
    offset = np.concatenate([[0], np.cumsum(totals.sum(axis=1))]).astype(np.int64)
    beside = kernel.make_search(0, totals, totals.sum(axis=1), 0, (min_leaf, 15, True))
    for begin in range(0, len(values), chunk):
        part = order[begin : begin + chunk]
        beside.by_segments(values[part], label[part].astype(np.uint16), None, begin, offset)
    again = kernel.found(beside, totals, totals.sum(axis=1))
    for name, column in found.items():
        np.testing.assert_array_equal(column, again[name], err_msg=name)
    for s in range(len(totals)):
        expected = best_cut(values[slot == s], label[slot == s], n_classes, min_leaf)
        assert (expected is not None) == bool(found["kind"][s])
        if expected is not None:
            got = [found[name][s] for name in ("gain", "below", "above")]
            np.testing.assert_allclose(got, expected, rtol=1e-9)


def place(classes, rows, slot, n_slots):
    """Move every row to the node of its slot, a level of two branches at a time."""
    base, level = 0, np.zeros(1, np.int64)
    n_levels = int(np.ceil(np.log2(n_slots)))
    for depth in range(n_levels):
        bit = 1 << (n_levels - 1 - depth)
        classes.set_level(base, np.arange(len(level), dtype=np.int32))
        first_child = (base + len(level) + 2 * np.arange(len(level))).astype(np.int32)
        divider = kernel.Divider(
            np.zeros(len(level), np.int32),
            level + bit - 0.5,
            np.zeros(len(level), np.uint8),
            np.zeros(len(level), np.uint8),
            np.zeros(len(level) + 1, np.int64),
            np.empty(0, np.int32),
            np.empty(0, np.int32),
            first_child,
            8,
        )
        divider.move_rows(slot.astype(np.float64), rows, classes, 0)
        stats, n_rows = divider.children()
        assert stats.sum() == n_rows.sum() == len(rows)
        base += len(level)
        level = (level[:, None] + np.array([0, bit])).ravel()
    slots = np.where(level < n_slots, level, -1).astype(np.int32)
    classes.set_level(base, slots)
    assert len(kernel.open_entries(rows, classes)) == len(rows)


@pytest.mark.parametrize("chunk", [5, 64, 1000])
def test_lists_are_divided_in_their_order(chunk):
    random = np.random.default_rng(chunk)
    sizes = random.integers(1, 60, 12)
    offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n = int(offset[-1])
    branch = random.integers(0, 2, n).astype(np.uint8)
    is_open = random.random(24) < 0.7
    child = 2 * np.repeat(np.arange(12), sizes) + branch
    counts = np.bincount(child, minlength=24)
    starts = np.cumsum(np.where(is_open, counts, 0)) - np.where(is_open, counts, 0)
    places = np.where(is_open, starts, -1).astype(np.int64)
    out = np.full(int(counts[is_open].sum()), -1)
    for begin in range(0, n, chunk):
        order, start, length, places = kernel.divide_chunk(
            branch[begin : begin + chunk], begin, offset, places
        )
        at = 0
        for to, k in zip(start, length, strict=True):
            out[to : to + k] = begin + order[at : at + k]
            at += k
    np.testing.assert_array_equal(out, divided(branch, offset, is_open))


def test_bits_of_rows_know_their_range():
    bits = kernel.RowBits(10, 20)
    divider = kernel.Divider(
        np.zeros(1, np.int32),
        np.array([15.0]),
        np.zeros(1, np.uint8),
        np.zeros(1, np.uint8),
        np.zeros(2, np.int64),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.array([1], np.int32),
        2,
    )
    rows = np.arange(30, dtype=np.uint32)
    label = np.zeros(30, np.uint16)
    divider.mark_rows(
        rows.astype(np.float64), rows, label, None, 0, np.array([0, 30], np.int64), 0, bits
    )
    branch = kernel.row_branches(rows, bits, np.full(30, 7, np.uint8))
    assert branch.tolist() == [7] * 10 + [0] * 5 + [1] * 5 + [7] * 10
    assert divider.children()[1].tolist() == [5, 5]
