"""Artificial data are where they should be, with the promised share of swapped labels."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.datasets import make_agrawal, two_rings
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


# -- Agrawal's functions -------------------------------------------------------------------


def people(**columns):
    """Two values of each attribute that a rule looks at, the others at their middle."""
    n = len(next(iter(columns.values())))
    middle = {"salary": 85_000, "commission": 0, "age": 50, "elevel": 2, "hvalue": 500_000}
    middle |= {"hyears": 15, "loan": 250_000}
    given = {name: np.full(n, float(value)) for name, value in middle.items()}
    return given | {name: np.array(values, float) for name, values in columns.items()}


@pytest.mark.parametrize(
    ("function", "columns", "expected"),
    [
        (1, {"age": [39.9, 40, 59.9, 60]}, [1, 0, 0, 1]),
        (2, {"age": [30, 30, 50, 70], "salary": [5e4, 1.1e5, 1.1e5, 2e4]}, [1, 0, 1, 0]),
        (3, {"age": [30, 30, 50, 70], "elevel": [1, 2, 0, 4]}, [1, 0, 0, 1]),
        (4, {"age": [30, 30, 50], "elevel": [0, 3, 0], "salary": [3e4, 3e4, 1.2e5]}, [1, 0, 1]),
        (5, {"age": [30, 30, 70], "salary": [6e4, 3e4, 3e4], "loan": [2e5, 1e5, 4e5]}, [1, 0, 1]),
        (6, {"age": [30, 30], "salary": [4e4, 4e4], "commission": [2e4, 7e4]}, [1, 0]),
        (7, {"salary": [1e5, 1e5], "loan": [2e5, 3e5]}, [1, 0]),
        (8, {"salary": [4e4, 4e4], "elevel": [0, 4]}, [1, 0]),
        (9, {"salary": [1e5, 1e5], "loan": [2e5, 3e5]}, [1, 0]),
        (10, {"salary": [3e4, 3e4], "elevel": [4, 4], "hyears": [10, 30]}, [0, 1]),
    ],
)
def test_agrawals_rules_are_those_of_the_paper(function, columns, expected):
    from treewright.datasets._agrawal import RULES

    assert RULES[function](people(**columns)).astype(int).tolist() == expected


def test_agrawals_people_are_where_they_should_be():
    data = make_agrawal(5000, 2, perturbation=0.1, noise=0.0, random_state=0)
    salary, commission = (data.data.column(c).to_numpy() for c in ("salary", "commission"))
    assert salary.min() >= 20_000
    assert salary.max() <= 150_000
    assert np.mean(commission == 0) == pytest.approx(75 / 130, abs=0.03)
    assert sorted(set(data.data.column("zipcode").to_pylist())) == [f"z{k}" for k in range(9)]
    assert set(data.data.column("elevel").to_pylist()) == {f"e{k}" for k in range(5)}


def test_agrawals_noise_swaps_the_promised_share():
    clean = make_agrawal(2000, 4, random_state=5)
    noisy = make_agrawal(2000, 4, noise=0.1, random_state=5)
    assert np.count_nonzero(clean.target != noisy.target) == 200
    assert clean.data.equals(noisy.data)


@pytest.mark.parametrize(
    "wrong", [{"function": 11}, {"function": 0}, {"n": 0}, {"noise": 2}, {"perturbation": -1}]
)
def test_agrawals_arguments_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        make_agrawal(**{"n": 10, **wrong})
