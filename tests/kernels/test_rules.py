"""The compiled rule matcher against its numpy twin, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from tests.twins import rules as twin
from treewright.data.schema import Feature, Schema, Target
from treewright.kernels import RuleMatcher
from treewright.rules._matching import collect_tests
from treewright.tree.conditions import Bounds, Interval, Linear, Members
from treewright.tree.split import NO_CODE

FEATURES = (
    Feature("a", "continuous"),
    Feature("b", "continuous"),
    Feature("grade", "ordinal", ("low", "middle", "high")),
    Feature("colour", "nominal", tuple(f"c{i}" for i in range(90))),
)
SCHEMA = Schema(FEATURES, True, Target("y", ("no", "yes")))


def random_columns(n, rng):
    a = rng.integers(-3, 4, n).astype(np.float64)
    a[rng.random(n) < 0.2] = np.nan
    b = rng.normal(size=n).astype(np.float32)
    b[rng.random(n) < 0.1] = np.nan
    return (
        a,
        b,
        rng.integers(-1, 3, n).astype(np.int32),
        rng.integers(-1, 90, n).astype(np.int32),
    )


def random_bounds(rng):
    low, high = np.sort(rng.integers(-3, 4, 2)).astype(float).tolist()
    low = -np.inf if rng.random() < 0.3 else low
    high = np.inf if rng.random() < 0.3 else high
    return Bounds(low, high, bool(rng.random() < 0.5), bool(rng.random() < 0.5))


def random_condition(rng):
    gap = bool(rng.random() < 0.3)
    kind = rng.integers(5)
    if kind < 3:
        return Interval(FEATURES[kind], random_bounds(rng), gap)
    if kind == 3:
        codes = rng.permutation(90)
        n, m = rng.integers(0, 45, 2)
        codes, excluded = sorted(codes[:n].tolist()), sorted(codes[n : n + m].tolist())
        return Members(FEATURES[3], tuple(codes), tuple(excluded) if gap else (), gap)
    terms = [(FEATURES[0], 0.5, NO_CODE), (FEATURES[1], -1.25, NO_CODE)]
    if rng.random() < 0.5:
        terms += [(FEATURES[3], 1.5, code) for code in range(40)]
    return Linear(tuple(terms), random_bounds(rng), gap)


def random_rules(rng, n_rules=40):
    return [tuple(random_condition(rng) for _ in range(rng.integers(0, 4))) for _ in range(n_rules)]


def both(rules, columns):
    """The kernel, and the matrix of matches by the twin."""
    arguments = collect_tests(rules, SCHEMA)
    n_categories = np.array([-1, -1, 3, 90], np.int32)
    matcher = RuleMatcher(n_categories, arguments[0].arrays(), *arguments[1:])
    return matcher, twin.match(n_categories, *arguments, columns)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 128, 1000])
def test_matches_sums_and_coverage_are_those_of_the_twin(n, n_threads):
    rng = np.random.default_rng(n)
    columns = random_columns(n, rng)
    rules = random_rules(rng)
    matcher, matched = both(rules, columns)
    assert np.array_equal(matcher.first(columns, n_threads), twin.first(matched))
    indptr, indices = matcher.matches(columns, n_threads)
    assert np.array_equal(indices, np.nonzero(matched)[1])
    assert np.array_equal(np.diff(indptr), matched.sum(axis=1))
    values = rng.normal(size=(len(rules), 3))
    assert np.array_equal(matcher.sums(columns, values, n_threads), twin.sums(matched, values))
    y = rng.integers(0, 2, n).astype(np.int32)
    for weight in (np.empty(0), rng.integers(1, 5, n).astype(float)):
        counted, wanted = (
            matcher.cover(columns, y, weight, 2, n_threads),
            twin.cover(matched, y, weight, 2),
        )
        assert np.array_equal(counted[0], wanted[0])
        assert np.array_equal(counted[1], wanted[1])


def test_threads_do_not_change_sums_of_odd_weights():
    rng = np.random.default_rng(5)
    columns = random_columns(20_000, rng)
    matcher, matched = both(random_rules(rng), columns)
    y = rng.integers(0, 2, 20_000).astype(np.int32)
    weight = rng.lognormal(size=20_000)
    one, three = (matcher.cover(columns, y, weight, 2, n)[1] for n in (1, 3))
    assert one.tobytes() == three.tobytes()
    np.testing.assert_allclose(one, twin.cover(matched, y, weight, 2)[1], rtol=1e-12)


def test_a_block_of_floats_gives_what_its_columns_give():
    rng = np.random.default_rng(6)
    schema = Schema(FEATURES[:2], True, SCHEMA.target)
    rules = [tuple(Interval(f, random_bounds(rng), True) for f in FEATURES[:2]) for _ in range(20)]
    tests, *lists = collect_tests(rules, schema)
    matcher = RuleMatcher(np.array([-1, -1], np.int32), tests.arrays(), *lists)
    block = rng.integers(-3, 4, (300, 2)).astype(np.float64)
    block[::7] = np.nan
    found = matcher.first(tuple(block.T), 1)
    for rows in (block, np.asfortranarray(block), block.astype(np.float32)):
        assert np.array_equal(matcher.first(rows, 1), found)


def test_equal_conditions_are_one_test():
    below = Interval(FEATURES[0], Bounds(high=1.0))
    tests, offset, listed = collect_tests([(below,), (below, below), ()], SCHEMA)
    assert len(tests) == 1
    assert offset.tolist() == [0, 1, 3, 3]
    assert listed.tolist() == [0, 0, 0]


def test_open_ends_are_the_float_next_to_them():
    at_most, below = (Interval(FEATURES[0], Bounds(high=1.0, includes_high=b)) for b in (1, 0))
    just_below = np.nextafter(1.0, 0.0)
    columns = (np.array([just_below, 1.0]), np.zeros(2), *np.zeros((2, 2), np.int32))
    matcher, _ = both([(below,), (at_most,)], columns)
    assert matcher.first(columns).tolist() == [0, 1]


def damaged():
    tests, offset, listed = collect_tests(random_rules(np.random.default_rng(1)), SCHEMA)
    arrays = tests.arrays()

    def change(position, value):
        changed = [a.copy() for a in arrays]
        changed[position][0] = value
        return tuple(changed), offset, listed

    yield change(0, 9)
    yield change(1, 99)
    yield change(5, 1)
    yield change(7, -1)
    codes = [a.copy() for a in arrays]
    codes[6][0] = 90
    yield tuple(codes), offset, listed
    yield (*arrays[:3], arrays[3][1:], *arrays[4:]), offset, listed
    yield arrays, offset[::-1].copy(), listed
    yield arrays, np.zeros(0, np.int64), listed
    yield arrays, offset, np.full_like(listed, len(tests))


@pytest.mark.parametrize("arguments", list(damaged()))
def test_damaged_rules_are_refused(arguments):
    with pytest.raises(ValueError):
        RuleMatcher(np.array([-1, -1, 3, 90], np.int32), *arguments)


def test_arguments_of_the_wrong_size_are_refused():
    rng = np.random.default_rng(2)
    columns = random_columns(10, rng)
    matcher, _ = both(random_rules(rng, 3), columns)
    with pytest.raises(ValueError, match="3 rules, got 2"):
        matcher.sums(columns, np.zeros((2, 1)))
    with pytest.raises(ValueError, match="one for each row"):
        matcher.cover(columns, np.zeros(9, np.int32), np.empty(0), 1)
    with pytest.raises(ValueError, match="out of range"):
        matcher.cover(columns, np.ones(10, np.int32), np.empty(0), 1)
    with pytest.raises(ValueError, match="at least 1"):
        matcher.first(columns, 0)
