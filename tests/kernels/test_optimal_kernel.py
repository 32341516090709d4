"""The search for optimal trees against trying all trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.twins.optimal import leaf_cost, least_cost, passes
from treewright.kernels.optimal import FoundTree, SearchProblem, optimal_tree

UNIT = 2**20


def all_tests(n_columns: int, n_bins: int) -> np.ndarray:
    """Every cut of every column, and single bins between the ends."""
    cuts = [(c, 0, high, c) for c in range(n_columns) for high in range(1, n_bins)]
    single = [(c, low, low + 1, -1) for c in range(n_columns) for low in range(1, n_bins - 1)]
    return np.array(cuts + single, np.int32)


def class_problem(
    rng: np.random.Generator,
    n: int,
    n_columns: int,
    n_bins: int,
    n_classes: int,
    *,
    penalty: int = 1,
    is_weighted: bool = False,
) -> SearchProblem:
    bins = rng.integers(0, n_bins, (n, n_columns)).astype(np.uint16)
    signal = (2 * bins[:, 0] >= n_bins) ^ (2 * bins[:, -1] >= n_bins)
    noise = rng.integers(0, n_classes, n)
    y = np.where(rng.random(n) < 0.3, noise, signal).astype(np.int32)
    weight = rng.integers(1, 5, n) if is_weighted else np.ones(n, np.int64)
    values = (y[:, None] != np.arange(n_classes)) * UNIT * weight[:, None]
    unit = 0 if is_weighted else UNIT
    tests = all_tests(n_columns, n_bins)
    return SearchProblem(bins, tests, values, values.max(axis=1), penalty, unit, y)


def number_problem(
    rng: np.random.Generator, n: int, n_columns: int, n_bins: int, penalty: int = 1
) -> SearchProblem:
    bins = rng.integers(0, n_bins, (n, n_columns)).astype(np.uint16)
    y = rng.integers(-1000, 1000, (n, 2)) + 500 * bins[:, :1]
    weight = rng.integers(1, 4, n)
    square = weight * (y**2).sum(axis=1)
    values = np.column_stack([weight, square, weight[:, None] * y])
    far = np.maximum((y - y.min(axis=0)) ** 2, (y - y.max(axis=0)) ** 2).sum(axis=1)
    tests = all_tests(n_columns, n_bins)
    none = np.empty(0, np.int32)
    return SearchProblem(bins, tests, values, weight * far + 1, penalty, 0, none, squares=True)


def cost_of(problem: SearchProblem, found: FoundTree) -> int:
    """What the leaves of a found tree cost, by sending the rows down."""
    goes_left = passes(problem)

    def cost(node: int, rows: np.ndarray) -> int:
        test = found.test[node]
        if test < 0:
            return leaf_cost(problem, rows)
        left = rows & goes_left[:, test]
        return cost(found.left[node], left) + cost(found.right[node], rows & ~left)

    return cost(0, np.ones(len(problem.bins), bool))


@pytest.mark.parametrize("seed", range(60))
def test_no_tree_of_classes_is_cheaper_than_the_one_found(seed):
    rng = np.random.default_rng(seed)
    problem = class_problem(
        rng,
        int(rng.integers(2, 40)),
        int(rng.integers(1, 4)),
        int(rng.integers(2, 5)),
        int(rng.integers(2, 4)),
        penalty=int(rng.choice([1, UNIT // 2, 2 * UNIT])),
        is_weighted=bool(rng.integers(2)),
    )
    depth = int(rng.integers(1, 5 if len(problem.tests) < 5 else 4))
    found = optimal_tree(problem, depth)
    assert found.cost == found.lower == least_cost(problem, depth)
    assert cost_of(problem, found) == found.cost


@pytest.mark.parametrize("seed", range(30))
def test_no_tree_of_numbers_is_cheaper_than_the_one_found(seed):
    rng = np.random.default_rng(seed)
    problem = number_problem(
        rng,
        int(rng.integers(2, 40)),
        int(rng.integers(1, 4)),
        int(rng.integers(2, 4)),
        int(rng.choice([1, 10**5])),
    )
    depth = int(rng.integers(1, 4))
    found = optimal_tree(problem, depth)
    assert found.cost == found.lower
    assert abs(found.cost - least_cost(problem, depth)) <= 2**depth  # leaves are rounded
    assert abs(cost_of(problem, found) - found.cost) <= 2**depth


def test_counting_bits_and_adding_up_find_the_same_tree():
    problem = class_problem(np.random.default_rng(0), 400, 6, 4, 3)
    by_bits = optimal_tree(problem, 3)
    by_sums = optimal_tree(replace(problem, unit=0), 3)
    assert by_bits.cost == by_sums.cost == by_sums.lower
    assert cost_of(problem, by_sums) == by_bits.cost


@pytest.mark.parametrize("make", [class_problem, number_problem])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_threads_find_the_same_tree(make, depth):
    arguments = (300, 5, 4, 2) if make is class_problem else (300, 5, 4)
    problem = make(np.random.default_rng(depth), *arguments)
    one, two = (optimal_tree(problem, depth, n_threads=k) for k in (1, 2))
    assert_array_equal(one.test, two.test)
    assert_array_equal(one.left, two.left)
    assert one.cost == two.cost == one.lower == two.lower


def test_a_search_without_time_still_has_a_tree_and_a_bound():
    problem = class_problem(np.random.default_rng(1), 3000, 30, 8, 2)
    found = optimal_tree(problem, 5, seconds=1e-6)
    assert cost_of(problem, found) == found.cost
    assert 0 < found.lower < found.cost
    longer = optimal_tree(problem, 5, seconds=0.5)
    assert longer.cost <= found.cost


def test_progress_is_reported_by_the_caller():
    problem = class_problem(np.random.default_rng(1), 3000, 30, 8, 2)
    told: list[float] = []
    optimal_tree(problem, 4, seconds=1.0, n_threads=2, progress=told.append)
    assert told
    assert told == sorted(told)
    assert 0 <= told[0] <= told[-1] <= 1


def test_an_error_of_the_callback_comes_through():
    def fail(share: float) -> None:
        raise RuntimeError("no more")

    problem = class_problem(np.random.default_rng(1), 3000, 30, 8, 2)
    with pytest.raises(RuntimeError, match="no more"):
        optimal_tree(problem, 5, n_threads=2, progress=fail)


def test_a_problem_without_tests_is_a_leaf():
    problem = class_problem(np.random.default_rng(0), 10, 1, 2, 2)
    found = optimal_tree(replace(problem, tests=np.empty((0, 4), np.int32)), 3)
    assert found.test.tolist() == [-1]
    assert found.cost == found.lower


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tests": np.array([[3, 0, 1, 0]], np.int32)}, "a test is on a column"),
        ({"tests": np.array([[0, 2, 1, 0]], np.int32)}, "a test is on a column"),
        ({"tests": np.array([[0, 0, 1, 0], [1, 0, 1, 0]], np.int32)}, "family"),
        ({"tests": np.array([[0, 0, 1, 9]], np.int32)}, "numbered"),
        ({"penalty": 0}, "penalty"),
        ({"worst": np.zeros(3, np.int64)}, "one entry per row"),
        ({"classes": np.full(20, 7, np.int32)}, "class code"),
        ({"worst": np.full(20, 2**58)}, "too large"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, words):
    problem = class_problem(np.random.default_rng(0), 20, 2, 2, 2)
    with pytest.raises(ValueError, match=words):
        optimal_tree(replace(problem, **change), 2)
