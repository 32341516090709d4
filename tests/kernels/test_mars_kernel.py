"""The forward pass of MARS beside its numpy twin."""

from __future__ import annotations

import numpy as np
import pytest

from tests.twins import mars as twin
from treewright.kernels.mars import LINEAR, ForwardOptions, forward


def made(seed: int, n: int = 70, p: int = 4, responses: int = 1):
    """Numbers with ties, a constant column and a column in the span of two others."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(p + 2, n))
    x[1] = np.round(x[1], 1)
    x[2] = rng.integers(0, 2, n)
    x[p] = 3.0
    x[p + 1] = x[0] - 2 * x[3]
    y = np.column_stack(
        [
            np.abs(x[0] - 0.3 * k) + x[1] * x[2] + np.maximum(x[3], 0) * x[1]
            for k in range(responses)
        ]
    )
    return x, y + 0.2 * rng.normal(size=y.shape)


def assert_same(found, expected) -> None:
    for name in ("parent", "feature", "kind", "slot", "sizes"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    np.testing.assert_array_equal(found.knot, expected.knot)
    np.testing.assert_allclose(found.rss, expected.rss, rtol=1e-8)
    assert found.end == expected.end


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"degree": 2, "penalty": 3.0},
        {"degree": 3, "minspan": 1, "endspan": 1, "fast_k": 0, "auto_linear": False},
        {"degree": 2, "fast_k": 3, "fast_beta": 0.5, "adjust_endspan": 0.0},
        {"degree": 2, "minspan": -4, "endspan": 2, "max_terms": 31, "thresh": 0.0},
        {"max_terms": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", [0, 1])
def test_terms_are_those_of_the_twin(options, seed) -> None:
    x, y = made(seed)
    settings = ForwardOptions(**options)
    assert_same(forward(x, y, options=settings, n_threads=2), twin.forward(x, y, options=settings))


@pytest.mark.parametrize("responses", [2, 5])
def test_several_responses_and_weights_agree_with_the_twin(responses) -> None:
    x, y = made(3, responses=responses)
    weight = np.random.default_rng(1).uniform(0.2, 3, x.shape[1])
    settings = ForwardOptions(degree=2)
    copies = np.round(weight + 0.6)
    for given in ((weight,), (weight, copies), (None, weight)):
        found = forward(x, y, *given, options=settings)
        assert_same(found, twin.forward(x, y, *given, options=settings))


def test_linear_predictors_and_forbidden_products_agree_with_the_twin() -> None:
    x, y = made(4)
    linear = np.array([True, False, False, True, False, False])

    def offer(used):
        mask = np.ones(6, np.bool_)
        mask[1] = 2 not in used
        return mask

    settings = ForwardOptions(degree=2)
    found = forward(x, y, options=settings, linear=linear, offer=offer)
    assert_same(found, twin.forward(x, y, options=settings, linear=linear, offer=offer))
    assert set(found.kind[np.isin(found.feature, [0, 3])]) <= {2}


def test_a_narrow_predictor_enters_as_a_hinge_as_in_the_twin() -> None:
    x, y = made(0)
    x[3] = 1 + np.rint(x[3] * 5) * 1e-9
    settings = ForwardOptions(degree=2)
    found = forward(x, y + 3e9 * (x[3] - 1)[:, None], options=settings)
    assert_same(found, twin.forward(x, y + 3e9 * (x[3] - 1)[:, None], options=settings))
    assert 3 in found.feature
    assert not np.any(found.kind[found.feature == 3] == LINEAR)


def test_whole_weights_are_repeated_rows() -> None:
    x, y = made(5, n=90)
    weight = np.random.default_rng(2).integers(1, 4, x.shape[1])
    settings = ForwardOptions(degree=2)
    once = forward(x, y, weight.astype(float), weight.astype(float), options=settings)
    times = forward(np.repeat(x, weight, 1), np.repeat(y, weight, 0), options=settings)
    np.testing.assert_array_equal(once.feature, times.feature)
    np.testing.assert_array_equal(once.knot, times.knot)
    np.testing.assert_allclose(once.rss, times.rss)


@pytest.mark.parametrize("cache_bytes", [0, 5000])
def test_what_is_kept_between_steps_changes_nothing(cache_bytes) -> None:
    x, y = made(6, n=200)
    kept = forward(x, y, options=ForwardOptions(degree=2))
    again = forward(x, y, options=ForwardOptions(degree=2, cache_bytes=cache_bytes), n_threads=3)
    np.testing.assert_array_equal(kept.knot, again.knot)
    np.testing.assert_array_equal(kept.rss, again.rss)


def test_scale_and_offset_of_a_column_do_not_matter() -> None:
    x, y = made(7, n=200)
    plain = forward(x, y, options=ForwardOptions())
    moved = forward(x * 1e12 + 1e13, y * 1e12, options=ForwardOptions())
    np.testing.assert_array_equal(plain.feature, moved.feature)
    np.testing.assert_allclose(plain.rss, moved.rss / 1e24, rtol=1e-3)


@pytest.mark.parametrize(
    ("x", "y", "weight", "message"),
    [
        (np.ones((2, 3)), np.ones((4, 1)), None, "n_rows"),
        (np.full((1, 3), np.nan), np.ones((3, 1)), None, "finite"),
        (np.ones((1, 3)), np.ones((3, 1)), np.zeros(3), "above zero"),
    ],
)
def test_wrong_arrays_are_refused(x, y, weight, message) -> None:
    with pytest.raises(ValueError, match=message):
        forward(x, y, weight, options=ForwardOptions())


def test_an_answer_of_the_wrong_length_is_refused() -> None:
    x, y = made(0)
    with pytest.raises(ValueError, match="flag per feature"):
        forward(x, y, options=ForwardOptions(), offer=lambda used: np.ones(2, np.bool_))
