"""Bins and boosted trees of the core against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.kernels.boosting_problems import PARAMS, columns_of
from tests.twins import binned as binned_twin
from treewright.ensembles.boosting.losses import LOSSES, multinomial_loss, probabilities
from treewright.kernels import _core
from treewright.kernels.boosting import bin_maps, make_bins, make_booster


@pytest.mark.parametrize("n_values", [1, 2, 10, 200, 1000])
@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_edges_are_those_of_the_twin(n_values: int, max_bins: int) -> None:
    rng = np.random.default_rng(n_values)
    values = rng.choice(rng.normal(size=n_values), 3000)
    values[rng.random(3000) < 0.1] = np.nan
    values[rng.random(3000) < 0.3] = 0.25
    ours = _core.bin_edges([values], 3000, None, max_bins, 10**6, 1)[0]
    assert_array_equal(ours, binned_twin.bin_edges(*binned_twin.summarize(values), max_bins))
    assert len(ours) < max_bins


def test_edges_of_merged_summaries_are_those_of_the_whole() -> None:
    values = np.random.default_rng(0).normal(size=2000).round(2)
    merged = binned_twin.merge(
        binned_twin.summarize(values[:700]), binned_twin.summarize(values[700:])
    )
    whole = _core.bin_edges([values], 2000, None, 40, 10**6, 1)[0]
    assert_array_equal(_core.summary_edges(*merged, 40), whole)


def test_bins_are_those_of_the_twin() -> None:
    columns, counts = columns_of(np.random.default_rng(1), 500)
    maps = bin_maps(columns, counts, 30)
    bins = make_bins(columns, maps, 2).by_column()
    for column, m, own in zip(columns, maps, bins, strict=True):
        if m.codes is None:
            assert m.edges is not None
            values = np.where(column < 0, np.nan, column) if column.dtype == np.int32 else column
            assert_array_equal(own, binned_twin.bin_values(values, m.edges))
        else:
            known = np.searchsorted(m.codes, column)
            assert_array_equal(own, np.where(column < 0, m.n_bins, known))


def test_rare_categories_beyond_the_bins_count_as_gaps() -> None:
    codes = np.repeat(np.arange(10, dtype=np.int32), np.arange(1, 11))
    maps = bin_maps([codes], [10], 4)
    assert maps[0].codes is not None
    assert maps[0].codes.tolist() == [6, 7, 8, 9]
    assert_array_equal(make_bins([codes], maps).by_column()[0] == 4, codes < 6)


@pytest.mark.parametrize("growth", ["leaf", "depth", "symmetric"])
@pytest.mark.parametrize("loss", ["squared_error", "logistic", "multinomial"])
def test_threads_do_not_change_a_bit(growth: str, loss: str) -> None:
    rng = np.random.default_rng(0)
    n = 9000
    columns, counts = columns_of(rng, n)
    y = np.nan_to_num(columns[0]) + (columns[3] > 4) + rng.normal(size=n)
    y = y if loss == "squared_error" else (y > 0.5) * 1.0 + (loss == "multinomial") * (y > 2)
    k = 3 if loss == "multinomial" else 1
    params = {**PARAMS, "loss": loss, "growth": growth, "max_leaves": 16, "n_columns": k}
    maps = bin_maps(columns, counts, 255)
    found = []
    for n_threads in (1, 2, 7):
        bins = make_bins(columns, maps, n_threads)
        booster = make_booster(bins, params, y[None], np.zeros((k, n)), n_threads=n_threads)
        for number in range(4):
            booster.round(number, 0.3)
        found.append((booster.scores(-1).tobytes(), booster.loss(-1)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("loss", [*LOSSES, "multinomial"])
def test_losses_are_those_of_the_twin(loss: str) -> None:
    rng = np.random.default_rng(2)
    n, k = 300, 3 if loss == "multinomial" else 1
    number = {"quantile": 0.3, "tweedie": 1.4}.get(loss, 0.0)
    y = rng.gamma(2.0, size=n)
    if loss in ("logistic", "exponential", "multinomial"):
        y = rng.integers(0, max(k, 2), n).astype(np.float64)
    score = rng.normal(size=(k, n))
    columns, counts = columns_of(rng, n)
    bins = make_bins(columns, bin_maps(columns, counts, 9))
    params = {**PARAMS, "loss": loss, "n_columns": k, "loss_number": number}
    booster = make_booster(bins, params, y[None], score)
    if loss == "multinomial":
        want = multinomial_loss(score.T, y.astype(int))
        assert_allclose(probabilities(score.T).sum(axis=1), 1.0)
    else:  # Huber's delta is known after a round only
        want = LOSSES[loss].loss(score[0], y, number)
    assert booster.loss(-1) == pytest.approx(np.mean(want), rel=1e-9)


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "huber"])
def test_slopes_are_the_derivatives_of_the_losses(loss: str) -> None:
    rng = np.random.default_rng(3)
    y = rng.gamma(2.0, size=50)
    if loss in ("logistic", "exponential"):
        y = rng.integers(0, 2, 50).astype(np.float64)
    score, number, step = (
        rng.normal(size=50),
        {"quantile": 0.3, "tweedie": 1.4}.get(loss, 0.0),
        1e-5,
    )
    row = LOSSES[loss]
    halved = 0.5 if loss in ("squared_error", "poisson", "gamma", "tweedie") else 1.0
    rise = row.loss(score + step, y, number) - row.loss(score - step, y, number)
    gradient, hessian = row.slope(score, y, number)
    assert_allclose(halved * rise / (2 * step), gradient, rtol=1e-4, atol=1e-6)
    if loss not in ("absolute_error", "quantile"):
        up, down = row.slope(score + step, y, number)[0], row.slope(score - step, y, number)[0]
        assert_allclose((up - down) / (2 * step), hessian, rtol=1e-4, atol=1e-6)
