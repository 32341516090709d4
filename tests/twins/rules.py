"""The twin of the compiled rule matcher: every test on every row, then every rule.

Takes what the kernel takes: the columns of a table, tests as a structure of arrays, and the
tests of each rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.rules._matching import TestKind, Tests
from treewright.tree.split import NO_CODE

__all__ = ["cover", "first", "match", "sums"]

Columns = Sequence[NDArray[Any]]


def read_column(column: NDArray[Any], n_categories: int) -> NDArray[np.float64]:
    """A column as floats; a gap and a code out of range are NaN."""
    values = column.astype(np.float64)
    if n_categories >= 0:
        values[(values < 0) | (values >= n_categories)] = np.nan
    return values


def holds(tests: Tests, i: int, columns: Columns) -> NDArray[np.bool_]:
    """Whether each row satisfies test ``i``."""
    kind = tests.kind[i]
    if kind == TestKind.LINEAR:
        terms = slice(tests.term_offset[i], tests.term_offset[i + 1])
        x = np.zeros(len(columns[0]))
        parts = (tests.term_feature[terms], tests.term_weight[terms], tests.term_code[terms])
        for f, w, code in zip(*parts, strict=True):
            own = columns[f]
            x = x + w * (own if code == NO_CODE else np.where(np.isnan(own), own, own == code))
    else:
        x = columns[tests.feature[i]]
    if kind in (TestKind.INTERVAL, TestKind.LINEAR):
        inside = (x >= tests.low[i]) & (x <= tests.high[i])
    else:
        codes = tests.codes[tests.code_offset[i] : tests.code_offset[i + 1]]
        inside = np.isin(x, codes) != (kind == TestKind.OTHER_CODES)
    return np.asarray(np.where(np.isnan(x), tests.gap[i], inside), np.bool_)


def match(
    n_categories: NDArray[np.int32],
    tests: Tests,
    rule_offset: NDArray[np.int64],
    rule_tests: NDArray[np.int32],
    columns: Columns,
) -> NDArray[np.bool_]:
    """Whether each row (first axis) satisfies each rule (second)."""
    read = [read_column(c, n) for c, n in zip(columns, n_categories.tolist(), strict=True)]
    answers = [holds(tests, i, read) for i in range(len(tests))]
    n_rules = len(rule_offset) - 1
    matched = np.ones((len(columns[0]), n_rules), np.bool_)
    for rule in range(n_rules):
        for test in rule_tests[rule_offset[rule] : rule_offset[rule + 1]]:
            matched[:, rule] &= answers[test]
    return matched


def first(matched: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The first rule that holds for each row, −1 where none does."""
    found = np.full(len(matched), -1, np.int32)
    for rule in reversed(range(matched.shape[1])):
        found[matched[:, rule]] = rule
    return found


def sums(matched: NDArray[np.bool_], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of the values of the rules that hold for each row, in the order of the rules."""
    total = np.zeros((len(matched), values.shape[1]))
    for rule in range(matched.shape[1]):
        total[matched[:, rule]] += values[rule]
    return total


def cover(
    matched: NDArray[np.bool_], y: NDArray[np.int32], weight: NDArray[np.float64], n_classes: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Per rule the rows that it holds for, and their weight in each class."""
    weight = weight if len(weight) else np.ones(len(matched))
    is_class = y[:, None] == np.arange(n_classes)
    return matched.sum(axis=0), matched.T.astype(np.float64) @ (weight[:, None] * is_class)
