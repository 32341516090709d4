"""Priors and costs as factors on class weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from treewright.errors import ParameterError
from treewright.estimator.costs import (
    class_costs,
    class_weights,
    expected_cost_labels,
    root_risk,
)

CLASSES = ["a", "b", "c"]
TOTALS = np.array([50.0, 30.0, 20.0])


def test_without_priors_and_costs_there_are_no_factors() -> None:
    assert class_costs(CLASSES, TOTALS) is None


def test_priors_turn_class_weights_into_their_shares() -> None:
    costs = class_costs(CLASSES, TOTALS, priors=[0.2, 0.3, 0.5])
    assert costs is not None
    assert_allclose(TOTALS * costs.proba_factor, [20.0, 30.0, 50.0])
    assert_array_equal(costs.split_factor, costs.proba_factor)


def test_priors_of_the_data_are_factors_of_one() -> None:
    costs = class_costs(CLASSES, TOTALS, priors=[0.5, 0.3, 0.2])
    assert costs is not None
    assert_allclose(costs.proba_factor, 1.0, rtol=1e-15)


@pytest.mark.parametrize(
    "priors", ["uniform", [1 / 3, 1 / 3, 1 / 3], {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}]
)
def test_priors_may_be_named_in_three_ways(priors: Any) -> None:
    costs = class_costs(CLASSES, TOTALS, priors=priors)
    assert costs is not None
    assert_allclose(TOTALS * costs.proba_factor, 100 / 3)


def test_priors_of_classes_that_a_fold_lacks_are_spread() -> None:
    costs = class_costs(["a", "b"], TOTALS[:2], priors={"a": 0.2, "b": 0.3, "c": 0.5})
    assert costs is not None
    assert_allclose(TOTALS[:2] * costs.proba_factor, [32.0, 48.0])


def test_altered_priors_multiply_each_class_by_the_sum_of_its_costs() -> None:
    loss = [[0, 1, 1], [4, 0, 2], [1, 1, 0]]
    costs = class_costs(CLASSES, TOTALS, costs=loss)
    assert costs is not None
    assert_array_equal(costs.proba_factor, 1.0)
    altered = np.array([0.5 * 2, 0.3 * 6, 0.2 * 2])
    assert_allclose(TOTALS * costs.split_factor / 100, altered / altered.sum())


def test_equal_costs_alter_nothing() -> None:
    costs = class_costs(CLASSES, TOTALS, costs=3 * (1 - np.eye(3)))
    assert costs is not None
    assert_array_equal(costs.split_factor, 1.0)


def test_generalised_gini_leaves_the_priors_alone() -> None:
    loss = np.array([[0.0, 1, 1], [4, 0, 2], [1, 1, 0]])
    costs = class_costs(CLASSES, TOTALS, costs=loss, cost_method="generalized_gini")
    assert costs is not None
    assert costs.generalized
    assert_array_equal(costs.split_factor, 1.0)
    assert_array_equal(costs.loss, loss)


def test_costs_may_be_a_dict_of_dicts() -> None:
    named = {"b": {"a": 5}, "a": {"b": 1}}
    costs = class_costs(["a", "b"], TOTALS[:2], costs=named)
    assert costs is not None
    assert_array_equal(costs.loss, [[0, 1], [5, 0]])


def test_balanced_class_weights_give_every_class_the_same_total() -> None:
    weights = class_weights("balanced", CLASSES, TOTALS)
    assert_allclose(weights * TOTALS, 100 / 3)


def test_a_class_left_out_of_class_weight_has_one() -> None:
    assert_array_equal(class_weights({"b": 3}, CLASSES, TOTALS), [1, 3, 1])


def test_labels_minimise_the_expected_cost_and_the_first_wins_a_tie() -> None:
    probability = np.array([[0.7, 0.3], [0.9, 0.1], [0.5, 0.5]])
    assert_array_equal(expected_cost_labels(probability, None), [0, 0, 0])
    loss = np.array([[0.0, 1.0], [5.0, 0.0]])
    assert_array_equal(expected_cost_labels(probability, loss), [1, 0, 1])
    tie = np.array([[5 / 6, 1 / 6]])
    assert_array_equal(expected_cost_labels(np.array([[0.5, 0.5]]), None), [0])
    assert expected_cost_labels(tie, np.array([[0.0, 1.0], [1.0, 0.0]]))[0] == 0


def test_the_risk_of_the_root_is_its_least_expected_cost() -> None:
    assert root_risk(TOTALS, None) == pytest.approx(0.5)
    costs = class_costs(["a", "b"], np.array([70.0, 30.0]), costs=[[0, 1], [4, 0]])
    assert root_risk(np.array([70.0, 30.0]), costs) == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"priors": [0.5, 0.5]}, "3 classes"),
        ({"priors": [0.5, 0.6, 0.1]}, "sum to 1"),
        ({"priors": [1.5, -0.6, 0.1]}, "non-negative"),
        ({"priors": {"a": 0.5, "b": 0.5}}, "'c' is missing"),
        ({"priors": {"a": 0.5, "b": 0.5, "d": 0.0}}, "'d'"),
        ({"priors": ["x", "y", "z"]}, "numbers"),
        ({"costs": [[0, 1], [1, 0]]}, "3 × 3"),
        ({"costs": -(1 - np.eye(3))}, "at least 0"),
        ({"costs": np.ones((3, 3))}, "diagonal"),
        ({"costs": np.zeros((3, 3))}, "above 0"),
        ({"costs": {"a": {"b": 1}}}, "no cost"),
        ({"costs": {"a": 3, "b": 1, "c": 1}}, "dict of dicts"),
        ({"costs": {"a": {"b": "much", "c": 1}}}, "numbers"),
    ],
    ids=str,
)
def test_impossible_priors_and_costs_are_refused(given: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        class_costs(CLASSES, TOTALS, **given)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"x": 2}, "'x'"),
        ({"a": 0}, "above 0"),
        ({"a": np.nan}, "finite"),
        ({"a": "big"}, "numbers"),
    ],
)
def test_impossible_class_weights_are_refused(given: Any, match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        class_weights(given, CLASSES, TOTALS)
