"""Optimal trees behind their checks; see ``core/optimal/problem.hpp``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import treewright.kernels._core as _compiled

__all__ = ["FoundTree", "SearchProblem", "optimal_tree"]

_core = cast(Any, _compiled)

MAX_BINS = 65_535
MAX_DEPTH = 30
MOST_COST = 2**60


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """Rows by bin, tests of them, and what leaves cost.

    Parameters
    ----------
    bins
        Bin of each row (rows) in each column.
    tests
        Per test its column, the bins ``[low, high)`` that go left, and its family: tests of a
        family have the same column and low; −1 for none.
    values
        Integers that leaves add up: what each label costs at each row, or with ``squares`` the
        weight, the weighted squares and then the weighted number of each output.
    worst
        Most that each row can cost in any leaf.
    penalty
        Cost of a leaf, at least 1, so that of two equally good trees the smaller one wins.
    unit, classes
        Where every error costs the same: that cost, and the class of each row; otherwise 0.
    squares, square_unit
        Whether leaves cost squares around the mean, and what the squared sum of a leaf, over its
        weight, is multiplied by.
    """

    bins: NDArray[np.uint16]
    tests: NDArray[np.int32]
    values: NDArray[np.int64]
    worst: NDArray[np.int64]
    penalty: int
    unit: int
    classes: NDArray[np.int32]
    squares: bool = False
    square_unit: float = 1.0


@dataclass(frozen=True, eq=False)
class FoundTree:
    """A tree of tests: node 0 is the root, test −1 a leaf; no tree costs less than ``lower``."""

    test: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    cost: int
    lower: int
    is_interrupted: bool = False


def optimal_tree(
    problem: SearchProblem,
    max_depth: int,
    seconds: float = 0.0,
    n_threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> FoundTree:
    """The cheapest tree of at most ``max_depth`` levels; the best so far after ``seconds``."""
    _check(problem, max_depth)
    terms = {
        "penalty": problem.penalty,
        "unit": problem.unit,
        "squares": problem.squares,
        "square_unit": problem.square_unit,
    }
    found = _core.optimal_tree(
        np.ascontiguousarray(problem.bins, np.uint16),
        np.ascontiguousarray(problem.tests, np.int32),
        np.ascontiguousarray(problem.values, np.int64),
        np.ascontiguousarray(problem.classes, np.int32),
        np.ascontiguousarray(problem.worst, np.int64),
        terms,
        max_depth,
        float(seconds),
        n_threads,
        progress,
    )
    return FoundTree(**found)


def _check(problem: SearchProblem, max_depth: int) -> None:
    n_rows, n_columns = problem.bins.shape
    n_channels = problem.values.shape[1]
    if n_rows == 0 or not 0 <= max_depth <= MAX_DEPTH:
        raise ValueError(f"there must be rows, and max_depth must be 0 to {MAX_DEPTH}")
    if len(problem.values) != n_rows or len(problem.worst) != n_rows:
        raise ValueError("values and worst must have one entry per row")
    if n_channels < (3 if problem.squares else 1):
        raise ValueError("values must have a column per label, or weight, squares and sums")
    column, low, high, _ = problem.tests.reshape(-1, 4).T
    if len(column) and not (
        column.min() >= 0
        and column.max() < n_columns
        and low.min() >= 0
        and np.all(low <= high)
        and high.max() <= MAX_BINS
    ):
        raise ValueError("a test is on a column or bins that there are not")
    _check_families(problem.tests)
    if problem.penalty < 1 or problem.unit < 0:
        raise ValueError("penalty must be at least 1 and unit at least 0")
    classes = problem.classes
    if problem.unit and (
        len(classes) != n_rows or classes.min() < 0 or classes.max() >= n_channels
    ):
        raise ValueError("a class code is out of range")
    if float(problem.worst.sum()) + 2.0**max_depth * problem.penalty > MOST_COST:
        raise ValueError("costs are too large to be added up")


def _check_families(tests: NDArray[np.int32]) -> None:
    member = tests[tests[:, 3] >= 0]
    if len(member) == 0:
        return
    if member[:, 3].max() >= len(tests):
        raise ValueError("families must be numbered from 0")
    first = np.zeros((len(tests), 2), np.int32)
    first[member[::-1, 3]] = member[::-1, :2]
    if not np.array_equal(first[member[:, 3]], member[:, :2]):
        raise ValueError("tests of a family must have the same column and low")
