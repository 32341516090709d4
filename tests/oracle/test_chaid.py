"""CHAID against recorded runs of R's CHAID 0.1-2 and of the PyPI package CHAID 5.5.1.

docs/comparisons/chaid.md has the numbers. Every test of every predictor at every recorded node
is compared. R's own way of merging (:mod:`tests.oracle.chaid_r_merge`) gives its p-values; it is
run beside ours to tell why they differ where they do:

- *drawn*: on the way was a table of less than 100 rows with a cell below ten; R draws such
  p-values at random, also those that decide about merging;
- *small group*: where a group is too small, R merges the most similar pair, whichever that is,
  and gives the predictor up when a small one remains; ours joins the small group to the one it
  resembles most;
- *wrong pair*: R looks at the wrong rows of its table of pairs, and merges another pair than the
  most similar one;
- *divided*: after such a merger R divides the group again (once, in titanic).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pandas as pd
import pytest

from tests.conftest import SHARED
from tests.oracle import chaid_py_compare as py
from tests.oracle.chaid_compare import (
    DIVIDED,
    DRAWN,
    EQUAL,
    SETTINGS,
    UNEXPLAINED,
    NodeTest,
    Study,
    adjusted_p,
    compare_trees,
    is_same,
)
from tests.oracle.recorded import SMALL as IN_REPOSITORY
from tests.oracle.recorded import load_data, recorded_datasets
from tests.twins.measures import compare_groups, p_value
from treewright import datasets
from treewright.learners._chaid.multipliers import log_multiplier

NAMES = ["titanic in repository", *recorded_datasets(SHARED, "rchaid")]
KEYS = ("default", "alpha3", "small")


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    if not name.endswith("in repository"):
        X, y, _ = load_data(SHARED, name)
        return X, y
    data = datasets.load_titanic()
    X = data.data.to_pandas()
    X["Pclass"] = pd.Categorical(X["Pclass"], [1, 2, 3], ordered=True)
    for column in ("Sex", "Embarked"):
        X[column] = pd.Categorical(X[column])
    return X, data.target.astype(str)


@cache
def studies(name: str) -> list[Study]:
    folder = IN_REPOSITORY if name.endswith("in repository") else SHARED
    return list(Study.all_of(folder, name.split()[0], *load(name)))


@cache
def node_tests(name: str) -> dict[str, list[NodeTest]]:
    return {study.key: list(study.tests()) for study in studies(name)}


def test_the_recorded_runs_are_all_here(shared_dir):
    assert len(recorded_datasets(shared_dir, "rchaid")) == 10
    assert len(recorded_datasets(shared_dir, "chaid_py")) == 16


@pytest.mark.parametrize("name", NAMES)
def test_adjusted_p_values_are_rs_unless_a_rule_of_its_own_applies(name):
    found = [test for tests in node_tests(name).values() for test in tests]
    count = Counter(test.outcome for test in found)
    assert count[UNEXPLAINED] == 0
    assert count[DIVIDED] == (name == "titanic") + (name == "titanic in repository")
    assert count[EQUAL] + count[DRAWN] >= 0.95 * len(found)
    for test in found:
        if test.outcome == EQUAL:
            assert is_same(test.ours, test.theirs) or test.theirs == 0


@pytest.mark.parametrize("name", NAMES)
def test_rs_way_of_merging_gives_its_p_values_where_none_was_drawn(name):
    for study in studies(name):
        for test in node_tests(name)[study.key]:
            by_r = study.merge_as_r(study.rows[test.node], test.feature)
            if test.outcome not in (DRAWN, DIVIDED):
                expected = adjusted_p(by_r)
                assert is_same(expected, test.theirs) or (test.theirs == 0 and expected < 1e-300)


@pytest.mark.parametrize("name", NAMES)
def test_rs_way_of_merging_gives_its_groups_where_none_was_drawn(name):
    for study in studies(name):
        if study.key == "alpha3":
            continue
        for node in study.run["nodes"]:
            if "split" not in node:
                continue
            feature = node["split"]["var"]
            by_r = study.merge_as_r(study.rows[node["id"]], feature)
            index = node["split"]["index"]
            for group in by_r.groups if not by_r.is_drawn else []:
                assert len({index[category] for category in group}) == 1
            assert by_r.is_drawn or len(by_r.groups) == len(set(index))


@pytest.mark.parametrize("name", NAMES)
def test_trees_and_predictions_are_rs_down_to_a_node_with_an_explained_difference(name):
    for study in studies(name):
        outcomes = defaultdict(set)
        for test in node_tests(name)[study.key]:
            outcomes[test.node].add(test.outcome)
        found = compare_trees(study, outcomes)
        for node, reasons in found.parted:
            assert reasons - {EQUAL}, (name, study.key, node)
        if study.run["predictions"] is not None:
            predicted = study.estimator().fit(study.X, study.y).predict(study.X)
            expected = np.array(study.run["predictions"])
            np.testing.assert_array_equal(predicted[found.rows], expected[found.rows])


@pytest.mark.parametrize("key", KEYS)
def test_the_whole_tree_is_rs_where_nothing_was_drawn(shared_dir, key):
    [study] = [study for study in studies("titanic_2201") if study.key == key]
    found = compare_trees(study, {})
    assert (found.same_splits, found.same_leaves, found.parted) == (5, 9, [])
    assert len(found.rows) == 2201


def merged_by_r(name: str, key: str, node: int, feature: str) -> tuple[Study, np.ndarray, float]:
    """A run, the table of a predictor at one of its nodes, and R's adjusted p-value."""
    [study] = [study for study in studies(name) if study.key == key]
    [record] = [record for record in study.run["nodes"] if record["id"] == node]
    table = study.table(study.rows[node], feature)
    return study, table[table.any(axis=1)], record["adj_pvalues"][feature]


def pair_p(table: np.ndarray, first: list[int], second: list[int]) -> float:
    pair = np.array([table[first].sum(axis=0), table[second].sum(axis=0)])
    return p_value("pearson", compare_groups("pearson", pair, np.empty(0)))


def test_with_an_empty_level_r_does_not_merge_the_most_similar_pair():
    # men of the Titanic: nobody among them embarked at an unknown port, the fourth level
    _, table, recorded = merged_by_r("titanic in repository", "default", 9, "Embarked")
    assert len(table) == 3
    # Cherbourg has joined the empty level. Then Queenstown and Southampton are alike, but their
    # p-value stands in the row of Cherbourg
    assert pair_p(table, [1], [2]) > 0.09 > 0.004 > pair_p(table, [0], [2])
    assert recorded == pytest.approx(3 * pair_p(table, [0, 2], [1]), rel=1e-9)


def test_without_an_empty_level_r_merges_another_pair_too(shared_dir):
    _, table, recorded = merged_by_r("credit_g", "default", 33, "property_magnitude")
    # after the first and the last category have joined, the other two are nearly equal ...
    assert pair_p(table, [1], [2]) > 0.84 > 0.09 > pair_p(table, [0, 3], [2])
    # ... but R's p-value is that of the last three against the second
    assert recorded == pytest.approx(7 * pair_p(table, [0, 2, 3], [1]), rel=1e-9)


def test_r_puts_edible_and_poisonous_mushrooms_into_one_group_by_their_odor(shared_dir):
    [study] = [study for study in studies("mushroom") if study.key == "default"]
    root = study.run["nodes"][0]["split"]
    assert root["var"] == "odor"
    assert ["a", "l", "m", "p", "s"] in root["groups"]  # almond and anise against the others
    table = study.table(study.rows[1], "odor")
    assert pair_p(table, [0], [4]) < 1e-90
    by_r = study.merge_as_r(study.rows[1], "odor")
    assert by_r.groups == [[0, 3, 4, 6, 7], [1, 2], [5], [8]]
    tidy = study.merge_as_r(study.rows[1], "odor", is_tidy=True)
    assert tidy.groups == [[0, 3], [1, 2, 4, 6, 7, 8], [5]]


def test_the_divided_group_came_from_a_wrong_pair():
    study, table, recorded = merged_by_r("titanic in repository", "alpha3", 1, "Age")
    # the same predictor without dividing: R merges the ages 1, 4, 5 with 10, the unknown ones,
    # which differ, and that is enough to divide them again
    assert 0.04 < pair_p(table, [1, 4, 5], [10]) < SETTINGS["alpha3"]["alpha_resplit"]
    assert study.merge_as_r(study.rows[1], "Age").has_divided
    tidy = study.merge_as_r(study.rows[1], "Age", is_tidy=True)
    assert not tidy.has_divided
    # its groups are known from its p-value; alike ones (3 and 9, p = 0.74) have not merged again.
    # Neither program splits by it
    groups = [[0], [1, 4, 5], [2, 7, 10], [3], [6, 8], [9]]
    tidy.groups = groups
    p = p_value("pearson", tidy.test())
    assert recorded == pytest.approx(p * np.exp(log_multiplier("nominal", 11, 6)), rel=1e-9)
    assert pair_p(table, [3], [9]) > 0.7
    assert recorded > 1


PY_NAMES = [
    name
    for name in recorded_datasets(SHARED, "chaid_py")
    if load_data(SHARED, name)[1].dtype != float
]
NOT_RECORDED = {"mushroom"}  # no rows of its nodes


@pytest.mark.parametrize("name", ["titanic in repository", *PY_NAMES])
def test_splits_of_the_pypi_package_are_ours_where_it_follows_kass(name):
    folder = IN_REPOSITORY if name.endswith("in repository") else SHARED
    count: Counter[str] = Counter()
    for _, study in py.PyStudy.all_of(folder, name.split()[0], *load(name)):
        count.update(outcome for _, outcome in study.outcomes())
    assert count[py.UNEXPLAINED] == 0
    assert count[py.EQUAL] > 0 or name in NOT_RECORDED
