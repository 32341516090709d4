"""The two rings are where they should be, with the promised share of flipped labels."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.datasets import two_rings
from treewright.errors import ParameterError


def ring_mask(dataset):
    radius = np.hypot(*(dataset.data.column(name).to_numpy() for name in ("x1", "x2")))
    return (radius >= 0.5) & (radius <= 1.0)


def test_without_noise_circles_fill_the_ring_and_triangles_the_rest():
    dataset = two_rings(1000, noise=0.0, random_state=0)
    assert np.array_equal(ring_mask(dataset), dataset.target == "circle")
    assert np.count_nonzero(dataset.target == "circle") == 500
    for name in ("x1", "x2"):
        values = dataset.data.column(name).to_numpy()
        assert -1.5 <= values.min() < -1.4
        assert 1.4 < values.max() <= 1.5


@pytest.mark.parametrize("noise", [0.1, 0.25])
def test_noise_is_the_exact_share_of_flipped_labels(noise):
    dataset = two_rings(1000, noise=noise, random_state=3)
    flipped = ring_mask(dataset) != (dataset.target == "circle")
    assert np.count_nonzero(flipped) == noise * 1000


def test_circles_are_spread_evenly_over_the_area_of_the_ring():
    dataset = two_rings(20000, noise=0.0, random_state=1)
    radius = np.hypot(*(dataset.data.column(name).to_numpy() for name in ("x1", "x2")))
    squared = radius[dataset.target == "circle"] ** 2
    # the squared radius is uniform on [0.25, 1]: mean 0.625, standard error 0.0022
    assert squared.mean() == pytest.approx(0.625, abs=0.01)


def test_the_same_seed_gives_the_same_points():
    first, again, other = (two_rings(50, random_state=seed) for seed in (5, 5, 6))
    assert first.data.equals(again.data)
    assert first.target.tolist() == again.target.tolist()
    assert not first.data.equals(other.data)


@pytest.mark.parametrize("arguments", [{"n": 1}, {"n": 2.5}, {"noise": 1.5}, {"noise": -0.1}])
def test_impossible_sizes_and_shares_are_refused(arguments):
    with pytest.raises(ParameterError, match=f"^{next(iter(arguments))} must be"):
        two_rings(**arguments)
