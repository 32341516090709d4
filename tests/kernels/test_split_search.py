"""The compiled split search against its twin, which tries everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.search_problems import (
    CLASS_CRITERIA,
    NUMBER_CRITERIA,
    SearchProblem,
    check_candidate,
    make_table,
    search_problems,
)
from tests.twins.split_search import best_way
from treewright.data.schema import Target
from treewright.tree.growing.grow import candidates, grow
from treewright.tree.growing.recipe import ClassCosts, Recipe


@pytest.mark.parametrize("criterion", [*CLASS_CRITERIA, "generalized_gini", *NUMBER_CRITERIA])
@settings(max_examples=150)
@given(data=st.data())
def test_the_search_finds_what_its_twin_finds(criterion, data):
    problem = data.draw(search_problems(criterion))
    for feature, found in enumerate(problem.candidates()):
        check_candidate(problem, feature, found)


# -- ties ----------------------------------------------------------------------------------


def classes(labels):
    return np.array(labels, np.int32), Target("y", tuple(range(max(labels) + 1)))


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
def test_the_lower_of_two_equal_cuts_wins(criterion):
    y, target = classes([0, 1, 1, 1, 1, 0])
    table = make_table(np.arange(6.0))
    (found,) = candidates(table, y, Recipe(criterion), target=target)
    assert found["breaks"] == [0.5]


@pytest.mark.parametrize("weight", [1.0, 0.1, 1 / 3])
@pytest.mark.parametrize("criterion", [*CLASS_CRITERIA, *NUMBER_CRITERIA])
def test_the_first_of_two_equal_features_wins(criterion, weight):
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    y = (x + rng.normal(size=300) > 0).astype(np.int32)
    target = Target("y", (0, 1))
    if criterion in NUMBER_CRITERIA:
        y, target = y * 2.7 + 0.1, Target("y")
    # the same cut of the rows from the other side, and once more as codes
    table = make_table(-x, x, (x > np.median(x)).astype(np.int32))
    scored = candidates(
        table, y, Recipe(criterion), target=target, sample_weight=np.full(300, weight)
    )
    assert scored[0]["gain"] == pytest.approx(scored[1]["gain"], rel=1e-12)
    tree = grow(
        table,
        y,
        Recipe(criterion, max_depth=1),
        target=target,
        sample_weight=np.full(300, weight),
    )
    assert tree.splits.feature[0] == 0


def test_gaps_on_the_right_win_over_gaps_on_the_left():
    y, target = classes([0, 0, 1, 1, 0, 1])
    table = make_table(np.array([1.0, 2.0, 3.0, 4.0, np.nan, np.nan]))
    (found,) = candidates(table, y, Recipe("gini"), target=target)
    assert found["breaks"] == [2.5]
    assert not found["gaps_left"]


# -- nominal features ----------------------------------------------------------------------


def many_categories(n_classes):
    rng = np.random.default_rng(4)
    codes = np.repeat(np.arange(9), 5).astype(np.int32)
    y = np.array([rng.choice(n_classes, p=rng.dirichlet(np.full(n_classes, 0.5))) for _ in codes])
    target = Target("y", tuple(range(n_classes)))
    return SearchProblem(make_table(codes), y.astype(np.int32), Recipe("gini"), target)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_best_subset_of_many_categories_is_found(n_classes):
    problem = many_categories(n_classes)
    check_candidate(problem, 0, problem.candidates()[0])


@pytest.mark.parametrize("n_classes", [3, 4])
def test_above_the_bound_a_subset_is_good_and_what_it_says(n_classes):
    problem = many_categories(n_classes).change(max_exhaustive=4)
    (found,) = problem.candidates()
    check_candidate(problem, 0, found)
    best = best_way(problem.rows(), problem.table.columns[0], problem.table.schema.features[0])
    assert found["gain"] > 0.7 * best.gain


# -- rounding ------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_an_offset_of_the_numbers_makes_no_gain(offset):
    x = np.repeat([0.0, 1.0], [7, 3])
    y = offset + np.array([0, 0, 0, 0, 0, 0.1, 0, 0, 0, 0])
    weight = np.array([829.56, 515.61, 942.69, 612.92, 924.72, 0.001, 612.92, 773.14, 676.8, 862.4])
    (found,) = candidates(
        make_table(x), y, Recipe("absolute_error"), target=Target("y"), sample_weight=weight
    )
    assert found["gain"] == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 3, 1e-9, 12345.678])
@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
def test_rounding_is_no_gain(criterion, unit):
    # six to one on both sides of the only cut
    y, target = classes([0, 1, 0, 1])
    weight = unit * np.array([1.5, 0.25, 2.25, 0.375])
    tree = grow(
        make_table(np.array([0.0, 0.0, 1.0, 1.0])),
        y,
        Recipe(criterion, zero_gain=False),
        target=target,
        sample_weight=weight,
        costs=ClassCosts(np.array([0.25, 0.3]), np.ones(2)),
    )
    assert tree.n_nodes == 1


def test_categories_without_events_have_no_deviance_to_compare():
    codes = np.array([0, 1, 0, 1, -1, -1, -1, -1], np.int32)
    x = np.array([0.0, 0, 0, 0, 1, 1, 2, 2])
    y = np.array([0.0, 0, 0, 0, 1, 2, 5, 6])
    table = make_table(codes, x)
    recipe = Recipe("poisson", nominal_split="multiway", missing="majority")
    assert [c["found"] for c in candidates(table, y, recipe, target=Target("y"))] == [False, True]
    tree = grow(table, y, recipe, target=Target("y"))
    assert tree.splits.feature[0] == 1
    assert np.isfinite(tree.gain).all()
