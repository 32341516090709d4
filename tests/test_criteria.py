"""Worked examples 4 to 8: impurities and gains by hand."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.criteria import CRITERIA, gain, gain_ratio, impurity
from treewright.data.encode import encode
from treewright.data.schema import Target
from treewright.datasets import load_cheat
from treewright.errors import ParameterError
from treewright.tree.growing.grow import candidates
from treewright.tree.growing.recipe import Recipe


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((0, 6), 0.000), ((1, 5), 0.278), ((2, 4), 0.444), ((3, 3), 0.500)],
)
def test_gini_of_a_node(counts, expected):
    assert impurity(counts) == pytest.approx(expected, abs=5e-4)


def test_gini_of_a_split():
    assert impurity([5, 3]) == pytest.approx(0.469, abs=5e-4)
    assert impurity([1, 3]) == pytest.approx(0.375, abs=5e-4)
    assert (8 * impurity([5, 3]) + 4 * impurity([1, 3])) / 12 == pytest.approx(0.438, abs=6e-4)
    assert gain([[5, 3], [1, 3]]) == pytest.approx(0.0625, abs=1e-12)


@pytest.mark.parametrize(
    ("counts", "entropy", "error"), [((0, 6), 0, 0), ((1, 5), 0.65, 1 / 6), ((3, 3), 1, 0.5)]
)
def test_entropy_and_classification_error_of_a_node(counts, entropy, error):
    assert impurity(counts, "entropy") == pytest.approx(entropy, abs=5e-4)
    assert impurity(counts, "error") == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_upper_bounds_are_reached_by_equally_frequent_classes(k):
    assert impurity(np.ones(k)) == pytest.approx(1 - 1 / k)
    assert impurity(np.ones(k), "error") == pytest.approx(1 - 1 / k)
    assert impurity(np.ones(k), "entropy") == pytest.approx(np.log2(k))


def test_gini_of_every_cut_on_taxable_income():
    data = load_cheat()
    income = np.asarray(data.data.column(data.data.column_names[-1]), float)
    y = np.unique(data.target, return_inverse=True)[1]
    deck = [0.420, 0.400, 0.375, 0.343, 0.417, 0.400, 0.300, 0.343, 0.375, 0.400, 0.420]
    positions = [55, 65, 72, 80, 87, 92, 97, 110, 122, 172, 230]
    for cut, expected in zip(positions, deck, strict=True):
        sides = [np.bincount(y[side], minlength=2) for side in (income <= cut, income > cut)]
        assert impurity(np.bincount(y)) - gain(sides) == pytest.approx(expected, abs=5e-4)
    found = candidates(
        encode(income[:, None]), y.astype(np.int32), Recipe("gini"), target=Target("y", (0, 1))
    )[0]
    assert found["breaks"] == [97.5]
    assert impurity(np.bincount(y)) - found["gain"] == pytest.approx(0.3)


def test_gain_ratio_ranks_an_identifier_below_a_useful_attribute():
    data = load_cheat()
    y = np.unique(data.target, return_inverse=True)[1]
    rows = [np.bincount([label], minlength=2) for label in y]
    income = np.asarray(data.data.column(data.data.column_names[-1]), float)
    sides = [np.bincount(y[side], minlength=2) for side in (income <= 97.5, income > 97.5)]
    assert gain(rows, "entropy") == pytest.approx(0.881, abs=5e-4)
    assert gain_ratio(rows) == pytest.approx(0.2653, abs=5e-5)
    assert gain_ratio(sides) == pytest.approx(0.2897, abs=5e-5)


def test_the_twins_of_the_number_criteria_follow_their_definitions():
    y = np.array([0.0, 1.0, 2.0, 9.0])
    assert impurity(y, "squared_error") == pytest.approx(np.var(y))
    assert impurity(y, "absolute_error") == pytest.approx(np.abs(y - 1.5).mean())
    assert impurity(y, "poisson") == pytest.approx(
        np.mean([0, np.log(1 / 3), 2 * np.log(2 / 3), 9 * np.log(3)])
    )
    assert gain([y[:3], y[3:]], "squared_error") == pytest.approx(np.var(y) - 0.75 * np.var(y[:3]))


def test_an_unknown_criterion_is_named_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"'gini', 'entropy'.*got 'ginni'"):
        impurity([1, 2], "ginni")
    assert all(name == row.name for name, row in CRITERIA.items())
