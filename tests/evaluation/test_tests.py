"""The statistical tests against scipy, tables and published figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from treewright.errors import DataError, ParameterError
from treewright.evaluation._ranks import friedman, groups_alike
from treewright.evaluation._tests import (
    adjust,
    corrected_t,
    correlated_posterior,
    five_by_two_f,
    five_by_two_t,
    mcnemar,
    paired_t,
    unpaired_normal,
    wilcoxon,
)

numbers = st.lists(st.integers(-500, 500).map(lambda k: k / 1000), min_size=3, max_size=40).filter(
    lambda d: len(set(d)) > 1
)


@given(numbers)
def test_the_paired_t_test_is_scipys(d: list[float]) -> None:
    ours, theirs = paired_t(d), stats.ttest_1samp(d, 0.0)
    interval = theirs.confidence_interval(0.95)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-12)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high))


@given(numbers, st.floats(0.01, 1.0))
def test_the_correction_divides_t_by_a_known_factor(d: list[float], share: float) -> None:
    plain, corrected = paired_t(d), corrected_t(d, share)
    factor = np.sqrt(1 + share * len(d))
    assert corrected.statistic == pytest.approx(plain.statistic / factor)
    assert corrected.p_value >= plain.p_value
    assert corrected.estimate == plain.estimate


@given(numbers)
def test_an_interval_holds_zero_exactly_where_the_test_does_not_reject(d: list[float]) -> None:
    found = corrected_t(d, 1 / 9)
    assert (found.low <= 0 <= found.high) == (found.p_value >= 0.05)


def test_the_5x2_tests_are_those_of_their_papers() -> None:
    d = np.array([[0.02, 0.01], [0.03, 0.01], [0.02, 0.02], [0.01, 0.03], [0.02, 0.01]])
    # by hand: variances of the repeats 0.5, 2, 0, 2, 0.5 (1e-4), their mean 1e-4
    found = five_by_two_t(d)
    assert found.statistic == pytest.approx(2.0)
    assert found.p_value == pytest.approx(2 * stats.t.sf(2.0, 5))
    combined = five_by_two_f(d)
    assert combined.statistic == pytest.approx(3.8)
    assert combined.p_value == pytest.approx(stats.f.sf(3.8, 10, 5))


def test_the_interval_of_the_f_test_holds_what_it_does_not_reject() -> None:
    d = np.random.default_rng(0).normal(0.02, 0.02, (5, 2))
    found = five_by_two_f(d)
    at_edge = five_by_two_f(d - found.low)
    assert at_edge.p_value == pytest.approx(0.05)


def test_mcnemar_is_the_binomial_test_of_the_rows_that_differ() -> None:
    # rows right: both 50, only the first 9, only the second 2, none 9
    a = np.array([1] * 50 + [1] * 9 + [0] * 2 + [0] * 9, bool)
    b = np.array([1] * 50 + [0] * 9 + [1] * 2 + [0] * 9, bool)
    found = mcnemar(a, b)
    assert found.p_value == pytest.approx(stats.binomtest(9, 11).pvalue)
    assert found.estimate == pytest.approx(7 / 70)
    assert found.low < found.estimate < found.high


def test_mcnemar_has_the_published_statistic_on_many_rows() -> None:
    # Agresti, Categorical data analysis: approval of the prime minister, 150 and 86 changed;
    # with continuity correction (64 - 1)^2 / 236
    a = np.array([1] * 794 + [1] * 150 + [0] * 86 + [0] * 570, bool)
    b = np.array([1] * 794 + [0] * 150 + [1] * 86 + [0] * 570, bool)
    found = mcnemar(a, b)
    assert found.statistic == pytest.approx(63**2 / 236)
    # Agresti's 95 % interval for the difference is 0.02 to 0.06
    assert (found.low, found.high) == pytest.approx((0.021, 0.059), abs=0.001)


def test_the_unpaired_test_gives_the_interval_of_the_slides() -> None:
    # Tan, Steinbach and Kumar: 0.15 on 30 rows against 0.25 on 5000: 0.1 ± 0.128
    found = unpaired_normal(0.15, 30, 0.25, 5000)
    assert abs(found.estimate) == pytest.approx(0.1)
    assert (found.high - found.low) / 2 == pytest.approx(0.128, abs=5e-4)
    assert found.p_value > 0.05


@given(st.lists(st.integers(1, 10**6), min_size=6, max_size=30, unique=True), st.data())
def test_the_wilcoxon_interval_holds_zero_where_the_exact_test_does_not_reject(
    sizes: list[int], data: st.DataObject
) -> None:
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    d = np.array(sizes) * np.array(signs) / 1e6
    found = wilcoxon(d)
    assert found.p_value == pytest.approx(stats.wilcoxon(d).pvalue)
    if abs(found.p_value - 0.05) > 1e-9:
        assert (found.low <= 0 <= found.high) == (found.p_value > 0.05)


def test_wilcoxon_has_the_published_result() -> None:
    # Demšar (2006), table 2: AUC of C4.5 and C4.5+m on 14 data sets; T = 12, reject at 0.05
    before = [
        0.763,
        0.599,
        0.954,
        0.628,
        0.882,
        0.936,
        0.661,
        0.583,
        0.775,
        1.0,
        0.940,
        0.619,
        0.972,
        0.957,
    ]
    after = [
        0.768,
        0.591,
        0.971,
        0.661,
        0.888,
        0.931,
        0.668,
        0.583,
        0.838,
        1.0,
        0.962,
        0.666,
        0.981,
        0.978,
    ]
    found = wilcoxon(np.array(after) - np.array(before))
    assert found.statistic == 12
    assert found.p_value < 0.05


SCORES = np.random.default_rng(3).normal([0.80, 0.82, 0.81, 0.84], 0.02, (14, 4)).round(2)


def test_friedman_is_scipys_and_the_critical_difference_the_published_one() -> None:
    found = friedman(SCORES)
    assert found.ranks == pytest.approx(stats.rankdata(-SCORES, axis=1).mean(axis=0))
    theirs = stats.friedmanchisquare(*SCORES.T)
    assert (found.statistic, found.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    # Demšar (2006), section 3.2.4: four classifiers on fourteen data sets
    assert found.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert friedman(SCORES, 0.9).critical_difference == pytest.approx(1.12, abs=5e-3)


def test_nemenyi_rejects_exactly_beyond_the_critical_difference() -> None:
    found = friedman(SCORES)
    apart = np.abs(found.ranks[:, None] - found.ranks[None, :])
    assert np.array_equal(found.pair_p_values < 0.05, apart > found.critical_difference)
    assert (found.pair_p_values < 0.05).any()


def test_ranks_turn_round_for_errors() -> None:
    up = friedman(SCORES).ranks
    assert friedman(SCORES, greater_is_better=False).ranks == pytest.approx(5 - up)


def test_models_that_do_not_differ_form_groups() -> None:
    differs = np.zeros((4, 4), bool)
    differs[0, 2] = differs[2, 0] = differs[0, 3] = differs[3, 0] = True
    assert groups_alike(np.arange(4), differs) == [(0, 1), (1, 3)]
    assert groups_alike(np.arange(4), ~np.eye(4, dtype=bool)) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_only_raise_p_values_and_keep_their_order(p: list[float]) -> None:
    given_p = np.array(p)
    bonferroni, holm, fdr = (adjust(p, c) for c in ("bonferroni", "holm", "fdr"))
    assert np.all(given_p <= fdr + 1e-12)
    assert np.all(fdr <= holm + 1e-12)
    assert np.all(holm <= bonferroni + 1e-12)
    assert bonferroni.max() <= 1
    order = np.argsort(given_p, kind="stable")
    assert np.all(np.diff(holm[order]) >= 0)


def test_holm_has_the_known_values() -> None:
    assert adjust([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjust([0.2, 0.3], None).tolist() == [0.2, 0.3]


def test_the_posterior_is_the_t_test_where_nothing_counts_as_equal() -> None:
    d = np.random.default_rng(1).normal(0.01, 0.03, 100)
    found = correlated_posterior(d, rope=0.0, correlation=0.1)
    test = corrected_t(d, 1 / 9)
    assert min(found.worse, found.better) == pytest.approx(test.p_value / 2)
    wide = correlated_posterior(d, rope=0.5, correlation=0.1)
    assert wide.equal > 0.999
    assert wide.worse + wide.equal + wide.better == pytest.approx(1.0)


def test_equal_scores_are_no_difference() -> None:
    for found in (paired_t([0.0] * 5), corrected_t([0.0] * 5, 0.2), wilcoxon([0.0] * 6)):
        assert found.p_value == 1.0
        assert found.estimate == 0.0
    assert five_by_two_t(np.zeros((5, 2))).p_value == 1.0
    assert five_by_two_f(np.zeros((5, 2))).p_value == 1.0
    assert mcnemar([True, False], [True, False]).p_value == 1.0
    assert correlated_posterior([0.0] * 5, 0.01, 0.1).equal == 1.0
    assert friedman(np.ones((4, 3))).p_value == 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: paired_t([0.1]), "two finite ones"),
        (lambda: paired_t([0.1, np.nan]), "two finite ones"),
        (lambda: five_by_two_t(np.zeros((2, 5))), "folds=2 and repeats=5"),
        (lambda: mcnemar([True], [True, False]), "same rows"),
        (lambda: friedman(np.zeros((5, 2))), "Wilcoxon"),
    ],
)
def test_too_little_is_one_sentence(call, words: str) -> None:
    with pytest.raises(DataError, match=words):
        call()


def test_an_unknown_correction_is_one_sentence() -> None:
    with pytest.raises(ParameterError, match='"holm", "bonferroni", "fdr" or None'):
        adjust([0.1], "sidak")
