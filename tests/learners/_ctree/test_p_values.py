"""P-values on the log scale against scipy, plain sampling and identities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal, norm

from treewright.learners._ctree.p_values import log_chi2, log_largest_normal, log_sidak


@pytest.mark.parametrize("df", [1, 2, 7, 40])
def test_chi_squared_is_scipys_where_scipy_has_a_number(df):
    x = np.array([1e-8, 0.5, 3.0, 50.0, 700.0, 1200.0])
    np.testing.assert_allclose(log_chi2(x, df), chi2.logsf(x, df), rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("df", [1, 2, 7, 40, 2000])
def test_chi_squared_has_no_step_where_scipy_ends(df):
    x = np.linspace(900, 40_000, 4000)
    log_p = log_chi2(x, df)
    assert np.isfinite(log_p).all()
    slope = np.diff(log_p)
    assert np.all(slope[x[:-1] > df] < 0)
    assert np.abs(np.diff(slope)).max() < np.abs(slope).max() * 0.05
    # with two degrees of freedom the logarithm is −x / 2
    np.testing.assert_allclose(log_chi2(x, 2), -x / 2, rtol=1e-12)


def test_one_degree_of_freedom_is_the_square_of_a_normal():
    t = np.array([0.1, 2.0, 10.0, 60.0])
    np.testing.assert_allclose(log_chi2(t**2, 1), np.log(2) + norm.logsf(t), rtol=1e-10)


def test_sidak_is_the_chance_of_any_of_n():
    p = np.array([0.5, 0.01, 1e-12])
    np.testing.assert_allclose(np.exp(log_sidak(np.log(p), 4)), -np.expm1(4 * np.log1p(-p)))
    assert log_sidak(-5000.0, 3) == pytest.approx(-5000 + np.log(3))
    assert log_sidak(0.0, 3) == 0.0


def correlation(weights):
    covariance = np.diag(weights) * weights.sum() - np.outer(weights, weights)
    scale = 1 / np.sqrt(np.diag(covariance))
    return covariance * np.outer(scale, scale)


def test_one_component_or_its_copies_are_a_single_normal():
    expected = np.log(2) + norm.logsf(2.5)
    one = np.ones((1, 1))
    two = correlation(np.array([3.0, 7.0]))  # perfectly opposed
    assert log_largest_normal(2.5, [one]) == pytest.approx(expected)
    assert log_largest_normal(2.5, [two, two]) == pytest.approx(expected)
    assert log_largest_normal(60.0, [two]) == pytest.approx(np.log(2) + norm.logsf(60.0))


def test_independent_components_multiply():
    expected = np.log(-np.expm1(5 * np.log1p(-2 * norm.sf(2.0))))
    assert log_largest_normal(2.0, [np.eye(5)]) == pytest.approx(expected, rel=2e-3)


def test_correlated_components_agree_with_scipys_integration():
    weights = np.array([5.0, 9.0, 20.0])
    for t in (1.0, 2.4, 3.5):
        root = correlation(weights)[:2, :2]  # scipy wants a regular matrix
        corner = np.full(2, t)
        inside = multivariate_normal(cov=root).cdf(corner, lower_limit=-corner)
        assert np.exp(log_largest_normal(t, [root])) == pytest.approx(1 - inside, rel=5e-3)


def test_a_singular_product_agrees_with_plain_sampling():
    factors = [correlation(np.array([5.0, 9.0, 20.0])), correlation(np.array([1.0, 2.0, 3.0, 3.0]))]
    whole = np.kron(*factors)
    values, vectors = np.linalg.eigh(whole)
    draws = np.random.default_rng(0).normal(size=(100_000, 12))
    largest = np.abs(draws * np.sqrt(np.maximum(values, 0)) @ vectors.T).max(axis=1)
    for t in (1.5, 2.5, 3.0):
        share = np.mean(largest > t)
        error = np.sqrt(share * (1 - share) / len(draws))
        assert abs(np.exp(log_largest_normal(t, factors)) - share) < 4 * error + 0.003 * share


def test_a_p_value_far_out_is_the_sum_of_single_ones():
    factors = [correlation(np.array([5.0, 9.0, 20.0]))]
    single = np.log(2) + norm.logsf(12.0)
    assert log_largest_normal(12.0, factors) == pytest.approx(single + np.log(3), abs=1e-3)
