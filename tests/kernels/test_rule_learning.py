"""Dropping conditions and choosing rules: the kernels against their twins."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.test_rules import SCHEMA, both, random_columns, random_condition
from tests.twins import rule_learning as twin
from tests.twins import rules as matching
from treewright.kernels.rules import choose_rules, choose_voting_rules, error_rate, rank_rules
from treewright.rules._matching import collect_tests

LIMIT = (0.25, 0.6925, 0.67)


def test_error_rates_are_those_of_the_twin():
    covered = np.array([0.0, 1.0, 2.0, 10.0, 10.0, 10.5, 50.0, 3.0, 7.0])
    wrong = np.array([0.0, 1.0, 0.0, 3.0, 9.8, 0.5, 0.0, 3.0, 1.0])
    found = error_rate(covered, wrong, *LIMIT)
    expected = [twin.error_rate(n, e, *LIMIT) for n, e in zip(covered, wrong, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found[6] == pytest.approx(1 - 0.25 ** (1 / 50))


def laplace_rate(covered, wrong):
    return (wrong + 1) / (covered + 2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("limit", [LIMIT, None])
def test_conditions_are_dropped_as_the_twin_drops_them(limit, weighted, n_threads):
    rng = np.random.default_rng(4)
    n = 700
    columns = random_columns(n, rng)
    rules = [tuple(random_condition(rng) for _ in range(rng.integers(0, 9))) for _ in range(60)]
    matcher, _ = both(rules, columns)
    tests, offset, listed = collect_tests(rules, SCHEMA)
    y = (np.nan_to_num(columns[0]) + rng.normal(size=n) > 0).astype(np.int32)
    weight = rng.integers(1, 4, n).astype(float) if weighted else np.empty(0)
    outcome = rng.integers(0, 2, len(rules)).astype(np.int32)
    kept, covered, wrong = matcher.generalise(columns, y, weight, 2, outcome, limit, n_threads)
    read = [matching.read_column(c, k) for c, k in zip(columns, [-1, -1, 3, 90], strict=True)]
    holds = np.array([matching.holds(tests, i, read) for i in range(len(tests))])
    n_dropped = 0
    for r in range(len(rules)):
        where = slice(offset[r], offset[r + 1])
        stays, n_covered, n_wrong = twin.generalise(
            holds[listed[where]],
            y == outcome[r],
            weight if weighted else np.ones(n),
            laplace_rate if limit is None else lambda c, e: twin.error_rate(c, e, *LIMIT),
        )
        assert kept[where].astype(bool).tolist() == stays.tolist(), r
        assert (covered[r], wrong[r]) == (n_covered, n_wrong)
        n_dropped += int((~stays).sum())
    assert 20 < n_dropped < len(listed) - 20


def test_a_rule_without_conditions_covers_everything():
    columns = random_columns(100, np.random.default_rng(0))
    matcher, _ = both([()], columns)
    y = (np.arange(100) % 4 == 0).astype(np.int32)
    kept, covered, wrong = matcher.generalise(
        columns, y, np.empty(0), 2, np.array([1], np.int32), LIMIT
    )
    assert (len(kept), covered.tolist(), wrong.tolist()) == (0, [100.0], [75.0])


def test_outcomes_that_are_no_classes_are_refused():
    columns = random_columns(10, np.random.default_rng(0))
    matcher, _ = both([()], columns)
    y = np.zeros(10, np.int32)
    for outcome in ([2], [-1], [0, 0]):
        with pytest.raises(ValueError):
            matcher.generalise(columns, y, np.empty(0), 2, np.array(outcome, np.int32), LIMIT)


def random_coverage(n_rules, n_rows, rng):
    is_class = rng.random(n_rows) < 0.4
    likely = np.where(is_class, 0.3, 0.05) * rng.random((n_rules, 1)) * 2
    return rng.random((n_rules, n_rows)) < likely, is_class, rng.uniform(4, 30, n_rules)


def chosen_by_kernel(covers, is_class, weight, bits, share, most, n_random):
    offset = np.concatenate([[0], np.cumsum(covers.sum(axis=1))])
    rows = np.nonzero(covers)[1]
    return choose_rules(offset, rows, is_class, weight, bits, share, most, n_random)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rules", [0, 1, 7, 25])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_rules_are_chosen_as_the_twin_chooses_them(n_rules, share, weighted):
    rng = np.random.default_rng(n_rules)
    covers, is_class, bits = random_coverage(n_rules, 400, rng)
    weight = rng.integers(1, 4, 400).astype(float) if weighted else np.empty(0)
    found = chosen_by_kernel(covers, is_class, weight, bits, share, 8, 20)
    weights = weight if weighted else np.ones(400)
    expected = twin.choose_rules(covers, is_class, weights, bits, share, 8, 20)
    assert found.tolist() == expected.tolist()
    if n_rules == 25 and share == 0.1:
        assert 0 < found.sum() < n_rules


def test_many_rules_end_where_no_move_saves_a_bit():
    rng = np.random.default_rng(9)
    covers, is_class, bits = random_coverage(1200, 600, rng)
    found = chosen_by_kernel(covers, is_class, np.empty(0), bits, 0.1, 8, 2)
    least = twin.subset_cost(covers, is_class, np.ones(600), bits, 0.1, found)
    for r in range(0, 1200, 7):
        moved = found.copy()
        moved[r] = ~moved[r]
        assert twin.subset_cost(covers, is_class, np.ones(600), bits, 0.1, moved) > least - 1e-6


def test_random_starts_save_bits():
    covers, is_class, bits = random_coverage(60, 600, np.random.default_rng(3))
    without, found = (
        twin.subset_cost(covers, is_class, np.ones(600), bits, 0.1, chosen)
        for chosen in (
            chosen_by_kernel(covers, is_class, np.empty(0), bits, 0.1, 8, n) for n in (0, 50)
        )
    )
    assert found < without - 0.1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_rules", "n_classes"), [(1, 2), (6, 1), (20, 2), (30, 3)])
def test_rules_that_vote_are_chosen_as_the_twin_chooses_them(n_rules, n_classes, weighted):
    rng = np.random.default_rng(n_rules)
    n = 300
    y = rng.integers(0, n_classes, n).astype(np.int32)
    label = rng.integers(0, n_classes, n_rules).astype(np.int32)
    likely = np.where(label[:, None] == y, 0.35, 0.1) * rng.random((n_rules, 1)) * 2
    covers = rng.random((n_rules, n)) < likely
    strength = (1 + (covers & (label[:, None] == y)).sum(axis=1)) / (2 + covers.sum(axis=1))
    bits = rng.uniform(4, 30, n_rules)
    weight = rng.integers(1, 4, n).astype(float) if weighted else np.empty(0)
    offset = np.concatenate([[0], np.cumsum(covers.sum(axis=1))])
    rows = np.nonzero(covers)[1]
    found = choose_voting_rules(offset, rows, label, strength, y, weight, bits, n_classes, 0.23)
    weights = weight if weighted else np.ones(n)
    expected = twin.choose_voting_rules(covers, label, strength, y, weights, bits, n_classes, 0.23)
    assert found.tolist() == expected.tolist()
    if n_rules == 30:
        assert 0 < found.sum() < n_rules


def test_many_rules_that_vote_end_where_no_move_saves_a_bit():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 500).astype(np.int32)
    label = rng.integers(0, 2, 1100).astype(np.int32)
    covers = rng.random((1100, 500)) < np.where(label[:, None] == y, 0.06, 0.02)
    strength = rng.integers(1, 1000, 1100) / 1000.0
    bits = rng.uniform(2, 30, 1100)
    offset = np.concatenate([[0], np.cumsum(covers.sum(axis=1))])
    rows = np.nonzero(covers)[1]
    found = choose_voting_rules(offset, rows, label, strength, y, np.empty(0), bits, 2, 0.23)
    told = (covers, label, strength, y, np.ones(500), bits, 2, 0.23)
    least = twin.voting_cost(*told, found)
    for r in range(0, 1100, 7):
        moved = found.copy()
        moved[r] = ~moved[r]
        assert twin.voting_cost(*told, moved) > least - 1e-6


def test_votes_over_rows_that_do_not_exist_are_refused():
    one = np.ones(1)
    with pytest.raises(ValueError, match="out of range"):
        choose_voting_rules([0, 1], [5], [0], one, [0, 1], np.empty(0), one, 2, 0.2)
    with pytest.raises(ValueError, match="do not fit"):
        choose_voting_rules([0, 2], [0], [0], one, [0, 1], np.empty(0), one, 2, 0.2)
    with pytest.raises(ValueError, match="differ in length"):
        choose_voting_rules([0, 1], [0], [0], one, [0, 1], np.ones(3), one, 2, 0.2)


def test_rows_out_of_range_are_refused():
    is_class = np.zeros(3, np.bool_)
    for offset, rows in (([0, 1], [3]), ([0, 1], [-1]), ([0, 2], [0]), ([1, 1], [0])):
        with pytest.raises(ValueError):
            choose_rules(
                np.array(offset), np.array(rows), is_class, np.empty(0), np.ones(1), 0.5, 8, 2
            )


@pytest.mark.parametrize("seed", range(20))
def test_utility_is_that_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    n, n_rules, n_classes = 120, int(rng.integers(1, 15)), int(rng.integers(2, 4))
    covers = rng.random((n_rules, n)) < 0.2
    label = rng.integers(0, n_classes, n_rules).astype(np.int32)
    # sums of eighths are exact, whatever their order
    strength = rng.integers(1, 8, n_rules) / 8.0
    y = rng.integers(0, n_classes, n).astype(np.int32)
    weight = rng.integers(1, 4, n).astype(float)
    offset = np.concatenate([[0], np.cumsum(covers.sum(axis=1))])
    rows = np.concatenate([np.flatnonzero(c) for c in covers])
    order, errors = rank_rules(offset, rows, label, strength, y, weight, n_classes, 0)
    expected = twin.rank_rules(covers, label, strength, y, weight, n_classes, 0)
    assert (order.tolist(), errors.tolist()) == expected


def test_rules_over_rows_that_do_not_exist_are_refused():
    one = np.ones(1)
    with pytest.raises(ValueError, match="out of range"):
        rank_rules([0, 1], [5], [0], one, [0, 1], np.ones(2), 2, 0)
    with pytest.raises(ValueError, match="do not fit"):
        rank_rules([0, 2], [0], [0], one, [0, 1], np.ones(2), 2, 0)
