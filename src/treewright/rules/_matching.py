"""From conditions to the compiled matcher.

Rules share their tests: each distinct condition becomes one entry of flat arrays, and a rule a
list into them. Bounds are closed here (``x < b`` is ``x <= the float below b``), so that the
kernel knows one kind of comparison.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.kernels import RuleMatcher
from treewright.tree.conditions import Bounds, Condition, Interval, Members

__all__ = [
    "ConditionPool",
    "TestKind",
    "Tests",
    "collect_tests",
    "distinct_conditions",
    "make_matcher",
    "table_rows",
]

Conditions = Sequence[Condition]


class TestKind(IntEnum):
    """How a test reads a value; as in ``core/rules/rules.hpp``."""

    INTERVAL = 0
    CODES = 1
    OTHER_CODES = 2
    LINEAR = 3


@dataclass(frozen=True, eq=False, slots=True)
class Tests:
    """Distinct tests as a structure of arrays (``*_offset`` have one entry more).

    INTERVAL
        ``low <= x[feature] <= high``; the value of an ordinal feature is its code.
    CODES, OTHER_CODES
        The code of a nominal feature is listed, or is known and not listed.
    LINEAR
        ``low <= sum(term_weight * x[term_feature]) <= high``, with codes of terms as in ``Splits``.

    ``gap`` says whether a gap satisfies the test.
    """

    __test__ = False  # no test class of pytest's

    kind: NDArray[np.uint8]
    feature: NDArray[np.int32]
    gap: NDArray[np.bool_]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    code_offset: NDArray[np.int64]
    codes: NDArray[np.int32]
    term_offset: NDArray[np.int64]
    term_feature: NDArray[np.int32]
    term_weight: NDArray[np.float64]
    term_code: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.kind)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All arrays in field order, as the kernel takes them."""
        return tuple(getattr(self, f.name) for f in fields(self))


def collect_tests(
    rules: Iterable[Conditions], schema: Schema
) -> tuple[Tests, NDArray[np.int64], NDArray[np.int32]]:
    """The distinct tests among the conditions of ``rules``, and the tests of each rule.

    Returns
    -------
    tests
        In the order in which they first come.
    rule_offset, rule_tests
        Rule ``r`` has the tests ``rule_tests[rule_offset[r]:rule_offset[r + 1]]``.
    """
    distinct, offset, listed = distinct_conditions(rules)
    return _tests(distinct, schema), offset, listed


def distinct_conditions(
    rules: Iterable[Conditions],
) -> tuple[list[Condition], NDArray[np.int64], NDArray[np.int32]]:
    """The distinct conditions of ``rules``, and those of each rule as a list into them."""
    index: dict[tuple[Any, ...], int] = {}
    # Neighbouring leaves share their conditions; the objects are kept, so that ids stay theirs.
    known: dict[int, tuple[int, Condition]] = {}
    distinct: list[Condition] = []
    listed: list[int] = []
    offset = [0]
    for conditions in rules:
        for condition in conditions:
            found = known.get(id(condition))
            if found is None:
                test = index.setdefault(_key(condition), len(distinct))
                if test == len(distinct):
                    distinct.append(condition)
                found = known[id(condition)] = (test, condition)
            listed.append(found[0])
        offset.append(len(listed))
    return distinct, np.array(offset, np.int64), np.array(listed, np.int32)


def make_matcher(rules: Iterable[Conditions], schema: Schema) -> RuleMatcher:
    """The compiled matcher of rules over rows that follow ``schema``."""
    distinct, rule_offset, rule_tests = distinct_conditions(rules)
    return ConditionPool(distinct, schema).matcher(rule_offset, rule_tests)


class ConditionPool:
    """Conditions in the form of the kernel, for rules that are lists into them."""

    __slots__ = ("_n_categories", "_tests", "conditions")

    def __init__(self, conditions: list[Condition], schema: Schema) -> None:
        self.conditions = conditions
        self._tests = _tests(conditions, schema).arrays()
        n_categories = [len(f.categories) if f.is_categorical else -1 for f in schema.features]
        self._n_categories = np.array(n_categories, np.int32)

    def matcher(self, offset: NDArray[np.int64], listed: NDArray[np.int32]) -> RuleMatcher:
        """The compiled matcher of the rules ``listed[offset[r]:offset[r + 1]]``."""
        return RuleMatcher(self._n_categories, self._tests, offset, listed)


def table_rows(table: Table) -> Any:
    """The rows of a table as the kernel reads them."""
    return table.columns if table.block is None else table.block


def _key(condition: Condition) -> tuple[Any, ...]:
    """What makes two conditions one test; a feature counts by name, its categories are many."""
    if isinstance(condition, Members):
        return (condition.subject, condition.gap, condition.codes, condition.excluded)
    return (condition.subject, condition.gap, condition.bounds)


def _tests(conditions: list[Condition], schema: Schema) -> Tests:
    position = {name: i for i, name in enumerate(schema.names)}
    kind, feature, ends = [], [], []
    codes: list[tuple[int, ...]] = []
    terms: list[list[tuple[int, float, int]]] = []
    for condition in conditions:
        bounds, where = Bounds(), -1
        listed: tuple[int, ...] = ()
        parts: list[tuple[int, float, int]] = []
        if isinstance(condition, Members):
            # A code that the node did not see is a gap there, so with the gaps go all others.
            kind.append(int(TestKind.OTHER_CODES if condition.gap else TestKind.CODES))
            listed = condition.excluded if condition.gap else condition.codes
            where = position[condition.feature.name]
        elif isinstance(condition, Interval):
            kind.append(int(TestKind.INTERVAL))
            bounds, where = condition.bounds, position[condition.feature.name]
        else:
            kind.append(int(TestKind.LINEAR))
            bounds = condition.bounds
            parts = [(position[f.name], weight, code) for f, weight, code in condition.terms]
        feature.append(where)
        ends.append(_closed(bounds))
        codes.append(listed)
        terms.append(parts)
    low, high = np.array(ends, np.float64).reshape(-1, 2).T
    return Tests(
        kind=np.array(kind, np.uint8),
        feature=np.array(feature, np.int32),
        gap=np.array([condition.gap for condition in conditions], np.bool_),
        low=np.ascontiguousarray(low),
        high=np.ascontiguousarray(high),
        code_offset=_offset(codes),
        codes=np.array([code for listed in codes for code in listed], np.int32),
        term_offset=_offset(terms),
        term_feature=np.array([f for parts in terms for f, _, _ in parts], np.int32),
        term_weight=np.array([w for parts in terms for _, w, _ in parts], np.float64),
        term_code=np.array([c for parts in terms for _, _, c in parts], np.int32),
    )


def _closed(bounds: Bounds) -> tuple[float, float]:
    """Both ends inside; no finite number lies between an open end and the float next to it."""
    low, high = bounds.low, bounds.high
    if not bounds.includes_low and math.isfinite(low):
        low = math.nextafter(low, math.inf)
    if not bounds.includes_high and math.isfinite(high):
        high = math.nextafter(high, -math.inf)
    return low, high


def _offset(groups: Sequence[Sequence[Any]]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, groups)], dtype=np.int64)
