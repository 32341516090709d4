"""Intervals of proportions, of areas, and of everything else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from treewright import accuracy_interval
from treewright.errors import ParameterError
from treewright.evaluation._bootstrap import bca_intervals, root_mean_interval
from treewright.evaluation._delong import roc_areas


def test_the_wald_interval_of_the_slides():
    low, high = accuracy_interval(80, 100, method="wald")
    assert (round(low, 3), round(high, 3)) == (0.722, 0.878)


@settings(max_examples=40)
@given(st.integers(1, 500), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_and_clopper_pearson_are_scipys(n, data, confidence):
    k = data.draw(st.integers(0, n))
    for ours, theirs in (("wilson", "wilson"), ("clopper-pearson", "exact")):
        expected = stats.binomtest(k, n).proportion_ci(confidence, theirs)
        found = accuracy_interval(k, n, ours, confidence)
        assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((5, 0), "n must be a positive number"),
        ((5, 4), "successes must lie between 0 and n = 4"),
        ((5, 10, "walt"), "must be one of wilson, wald, clopper-pearson"),
        ((5, 10, "wald", 95), "confidence must be a share"),
    ],
)
def test_wrong_arguments_get_a_sentence(arguments, words):
    with pytest.raises(ParameterError, match=words):
        accuracy_interval(*arguments)


# -- DeLong -------------------------------------------------------------------------------------

# Ratings of 109 CT images by one reader (Hanley and McNeil 1982, Radiology 143, table I), from
# "definitely normal" to "definitely abnormal"; they publish the area as 0.893.
NORMAL = [33, 6, 6, 11, 2]
ABNORMAL = [3, 2, 2, 11, 33]


def rated() -> tuple[np.ndarray, np.ndarray]:
    truth = np.repeat([False, True], [sum(NORMAL), sum(ABNORMAL)])
    rating = np.concatenate(
        [np.repeat(np.arange(1, 6), NORMAL), np.repeat(np.arange(1, 6), ABNORMAL)]
    )
    return truth, rating.astype(float)


def covariance_of_pairs(truth: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """DeLong's covariance as the paper writes it: every pair of an abnormal and a normal row."""
    up, down = scores[truth], scores[~truth]
    kernel = (up[:, None] > down) + 0.5 * (up[:, None] == down)  # pairs × columns of scores
    by_row = [np.atleast_2d(np.cov(kernel.mean(axis=axis).T)) for axis in (1, 0)]
    return by_row[0] / len(up) + by_row[1] / len(down)


def test_delong_on_the_ratings_of_hanley_and_mcneil():
    truth, rating = rated()
    second = rating + np.random.default_rng(0).integers(-1, 2, len(rating))  # another reader
    both = np.column_stack([rating, second])
    areas = roc_areas(truth, both)
    assert round(areas.areas[0], 3) == 0.893
    assert areas.covariance == pytest.approx(covariance_of_pairs(truth, both), rel=1e-12)
    low, high, _ = areas.interval(0.95, weights=np.array([1.0, 0.0]), logit=False)
    error = np.sqrt(covariance_of_pairs(truth, both)[0, 0])
    assert (low, high) == pytest.approx(areas.areas[0] + stats.norm.ppf([0.025, 0.975]) * error)


def test_delong_agrees_with_the_bootstrap():
    random = np.random.default_rng(0)
    truth = random.random(300) < 0.4
    scores = np.column_stack([truth + random.normal(size=300), truth + 2 * random.normal(size=300)])
    areas = roc_areas(truth, scores)
    in_order = np.array([s[truth][:, None] > s[~truth] for s in scores.T])
    drawn = []
    for _ in range(1500):
        rows = random.integers(300, size=300)
        up, down = (np.bincount(rows, minlength=300)[side] for side in (truth, ~truth))
        drawn.append(up @ in_order @ down / (up.sum() * down.sum()))
    assert areas.covariance == pytest.approx(np.cov(np.transpose(drawn)), rel=0.15, abs=1e-5)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=4, max_size=60))
def test_the_area_is_the_share_of_pairs_in_order(pairs):
    truth = np.array([t for t, _ in pairs] + [True, False])
    score = np.array([s for _, s in pairs] + [1, 1], float)
    up, down = score[truth][:, None], score[~truth]
    share = np.mean((up > down) + 0.5 * (up == down))
    found = roc_areas(truth, score[:, None]).areas[0]
    assert found == pytest.approx(share)
    assert found == pytest.approx(roc_auc_score(truth, score))


def test_rows_predicted_twice_alike_are_rows_predicted_once():
    truth, rating = rated()
    rating += 0.1 * (np.arange(len(rating)) % 7)
    once = roc_areas(truth, rating[:, None])
    row = np.tile(np.arange(len(truth)), 2)
    twice = roc_areas(
        np.tile(truth, 2), np.tile(rating, 2)[:, None], row, np.full(2 * len(truth), 0.5)
    )
    assert twice.areas == pytest.approx(once.areas)
    assert twice.covariance == pytest.approx(once.covariance)


# -- bootstrap ----------------------------------------------------------------------------------


def test_the_bootstrap_of_a_mean_is_scipys():
    values = np.random.default_rng(1).exponential(size=60)
    expected = stats.bootstrap((values,), np.mean, n_resamples=20_000, rng=3).confidence_interval
    patterns = np.column_stack([np.ones(60), values])
    found = bca_intervals(patterns, np.ones(60, int), lambda s: s[:, 1:] / s[:, :1], 0.95)[0]
    assert found.low == pytest.approx(expected.low, abs=0.02)
    assert found.high == pytest.approx(expected.high, abs=0.02)


def test_the_bootstrap_of_counts_is_scipys_of_rows():
    from treewright import Evaluation

    def correlation(truth, said, axis):
        both = (truth * said).mean(axis)
        p, q = truth.mean(axis), said.mean(axis)
        return (both - p * q) / np.sqrt(p * (1 - p) * q * (1 - q))

    matrix = np.array([[50, 10], [20, 40]])
    truth = np.repeat([0, 0, 1, 1], matrix.ravel())
    said = np.repeat([0, 1, 0, 1], matrix.ravel())
    expected = stats.bootstrap(
        (truth, said), correlation, paired=True, vectorized=True, n_resamples=2000, rng=0
    ).confidence_interval
    found = Evaluation.from_confusion(matrix).interval("mcc")
    assert found == pytest.approx((expected.low, expected.high), abs=0.02)


def test_a_figure_that_is_not_defined_has_no_interval():
    found = bca_intervals(np.eye(2), np.array([3, 4]), lambda s: s[:, :1] * np.nan, 0.95)[0]
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_the_studentized_interval_is_that_of_resampled_rows():
    values = np.random.default_rng(3).normal(size=40) ** 2
    found = root_mean_interval(values, 0.9)
    rows = np.random.default_rng(1).integers(40, size=(20_000, 40))
    drawn = values[rows]
    t = (drawn.mean(axis=1) - values.mean()) / (drawn.std(axis=1, ddof=1) / np.sqrt(40))
    error = values.std(ddof=1) / np.sqrt(40)
    expected = np.sqrt(values.mean() - np.quantile(t, [0.95, 0.05]) * error)
    assert found[:2] == pytest.approx(expected, rel=0.03)
    assert found.method == "bootstrap-t"


def test_a_perfect_model_has_an_interval_without_width():
    assert root_mean_interval(np.zeros(20), 0.95)[:2] == (0.0, 0.0)
    assert root_mean_interval(np.full(20, 4.0), 0.95)[:2] == (2.0, 2.0)


def test_intervals_of_rmse_hold_it_about_as_often_as_they_say():
    random = np.random.default_rng(0)
    held = [
        low <= 1.0 <= high
        for low, high, _ in (
            root_mean_interval(random.normal(size=50) ** 2, 0.95) for _ in range(400)
        )
    ]
    assert 0.92 <= np.mean(held) <= 0.975
