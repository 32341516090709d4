"""The choice of C4.5 against its numpy twin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.twins.quinlan import best_cut, best_test, multiway_test
from tests.twins.quinlan_groups import group_categories
from treewright.data.encode import encode
from treewright.data.schema import Target
from treewright.tree.growing.grow import grow
from treewright.tree.growing.recipe import QuinlanRules, Recipe


def recipe(**rules) -> Recipe:
    """C4.5 with midpoints, so that cuts can be compared with the twin's."""
    return Recipe(
        criterion="entropy",
        nominal_split="multiway",
        continuous_split="at_most",
        missing="fractional",
        min_weight_leaf=rules.get("min_items", 2.0),
        max_depth=1,
        quinlan=QuinlanRules(**{"apart": 1e-5, **rules}),
    )


def problem(seed: int, n: int = 60, gaps: float = 0.0, n_classes: int = 3):
    """Two continuous columns, one of them with ties, two nominal ones, and weights."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n)
    tied = np.round(signal + rng.normal(size=n))
    colour = rng.integers(0, 4, n)
    shape = rng.integers(0, 3, n)
    X = {
        "a": signal,
        "b": tied,
        "c": np.array(["r", "g", "b", "w"], object)[colour],
        "d": np.array(["x", "y", "z"], object)[shape],
    }
    for name in ("a", "c"):
        where = rng.random(n) < gaps
        X[name] = np.where(where, np.nan if name == "a" else None, X[name])
        X[name] = X[name].astype(float) if name == "a" else X[name]
    y = np.digitize(signal + 0.5 * colour + rng.normal(size=n), [0.3, 1.2]) % n_classes
    return encode(X), y.astype(np.int32), rng.integers(1, 4, n) / 2.0


def twin(table, y, weight, n_classes, **rules):
    """Winner and its test by the definition."""
    limits = {name: rules[name] for name in ("min_items", "tolerance") if name in rules}
    tests = [
        (best_cut if feature.kind == "continuous" else multiway_test)(
            np.asarray(column), y, weight, n_classes, **limits
        )
        for feature, column in zip(table.schema.features, table.columns, strict=True)
    ]
    how = {k: v for k, v in rules.items() if k in ("ratio", "zero_gain", "tolerance")}
    winner = best_test(tests, [True] * len(tests), **how)
    return winner, tests[winner] if winner >= 0 else None


@pytest.mark.parametrize("ratio", [True, False])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(12))
def test_the_kernel_chooses_what_the_twin_chooses(seed, gaps, ratio):
    table, y, weight = problem(seed, gaps=gaps)
    rules = {"ratio": ratio, "tolerance": 1e-6, "min_items": 2.0}
    target = Target("y", (0, 1, 2))
    for w in (None, weight):
        tree = grow(table, y, recipe(**rules), target=target, sample_weight=w)
        each = np.ones(len(y)) if w is None else w
        winner, test = twin(table, y, each, 3, **rules)
        if winner < 0:
            assert tree.n_nodes == 1
            continue
        assert tree.splits.feature[0] == winner
        assert tree.gain[0] == pytest.approx(test.gain, rel=1e-9)
        if not np.isnan(test.cut):
            assert tree.splits.node_breaks(0)[0] == pytest.approx(test.cut)


@pytest.mark.parametrize("seed", range(8))
def test_single_precision_changes_only_the_last_digits(seed):
    table, y, _ = problem(seed, gaps=0.1)
    target = Target("y", (0, 1, 2))
    exact = grow(table, y, recipe(), target=target)
    single = grow(table, y, recipe(single=True), target=target)
    assert single.splits.feature[0] == exact.splits.feature[0]
    assert single.gain[0] == pytest.approx(exact.gain[0], rel=1e-4)


def test_a_test_needs_two_branches_of_the_least_weight():
    table = encode({"c": np.array(list("aaaaab"), object)})
    y = np.array([0, 0, 0, 0, 0, 1], np.int32)
    target = Target("y", (0, 1))
    assert grow(table, y, recipe(min_items=2.0), target=target).n_nodes == 1
    assert grow(table, y, recipe(min_items=1.0), target=target).n_nodes == 3


def test_a_cut_is_not_made_between_values_that_are_nearly_equal():
    x = np.array([1.0, 1.0, 1.0 + 1e-6, 1.0 + 1e-6])
    table, y = encode({"x": x}), np.array([0, 0, 1, 1], np.int32)
    target = Target("y", (0, 1))
    assert grow(table, y, recipe(), target=target).n_nodes == 1
    assert grow(encode({"x": x * 1e3}), y, recipe(), target=target).n_nodes == 3
    assert grow(table, y, recipe(apart=0.0), target=target).n_nodes == 3


def test_thresholds_are_values_of_the_data():
    x = np.array([1.0, 1.2, 3.0, 9.0, 9.5, 10.0])
    y = np.array([0, 0, 0, 1, 1, 1], np.int32)
    how = replace(recipe(), threshold="data_value")
    tree = grow(encode({"x": x}), y, how, target=Target("y", (0, 1)))
    assert tree.splits.node_breaks(0)[0] == 3.0


def test_an_attribute_that_nearly_tells_rows_apart_does_not_raise_the_average():
    n = 40
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, n).astype(np.int32)
    useful = np.where(rng.random(n) < 0.85, label, 1 - label)
    X = {
        "id": np.array([f"r{i // 2}" for i in range(n)], object),
        "useful": np.array(["no", "yes"], object)[useful],
    }
    tree = grow(encode(X), label, recipe(), target=Target("y", (0, 1)))
    assert tree.schema.features[tree.splits.feature[0]].name == "useful"


def test_grouping_merges_categories_that_behave_alike():
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(6), 30)
    y = (rng.random(180) < np.where(codes < 3, 0.1, 0.9)).astype(np.int32)
    table = encode({"c": np.array(list("abcdef"), object)[codes]})
    tree = grow(table, y, recipe(subset=True, single=True), target=Target("y", (0, 1)))
    groups = tree.splits.node_branches(0)
    assert tree.n_children[0] == 2
    assert len(set(groups[:3])) == len(set(groups[3:])) == 1


def grouped(stats: np.ndarray, **rules) -> list[list[int]] | None:
    """Groups that the kernel makes of categories with these class counts, in their order."""
    codes = np.repeat(np.arange(len(stats)), stats.sum(axis=1))
    y = np.concatenate([np.repeat(np.arange(stats.shape[1]), row) for row in stats])
    table = encode({"c": np.array([f"v{c:02d}" for c in codes], object)})
    target = Target("y", tuple(range(stats.shape[1])))
    tree = grow(table, y.astype(np.int32), recipe(subset=True, **rules), target=target)
    if tree.n_nodes == 1:
        return None
    branch = tree.splits.node_branches(0)
    return [np.flatnonzero(branch == b).tolist() for b in range(branch.max() + 1)]


@pytest.mark.parametrize("rules", [{"single": True}, {"c50": True}], ids=["release8", "c50"])
@pytest.mark.parametrize("seed", range(40))
def test_the_kernel_groups_as_the_twin_does(seed, rules):
    rng = np.random.default_rng(seed)
    most = rng.choice([1, 2, 5, 30])
    stats = rng.integers(0, most + 1, (rng.integers(3, 9), rng.integers(2, 4)))
    stats[stats.sum(axis=1) == 0, 0] = 1
    expected = group_categories(stats.astype(float), release8="single" in rules)
    found = grouped(stats, zero_gain=True, **rules)
    if found is not None:
        assert found == [sorted(group) for group in expected]


def test_with_two_groups_of_the_least_weight_release_8_leaves_the_heaviest_alone():
    stats = np.array([[0, 1], [2, 0], [1, 3]])  # joining the first and the last raises the ratio
    assert group_categories(stats.astype(float)) == [[0], [1], [2]]
    # C5.0's grouping must pay for the bits that name it, which takes more rows
    assert group_categories(stats.astype(float), release8=False) == [[0], [1], [2]]
    assert group_categories(10.0 * stats, release8=False) == [[0, 2], [1]]
    assert grouped(stats, single=True) == [[0], [1], [2]]


def test_the_last_of_tied_mergers_is_made_by_release_8():
    stats = np.array([[0, 2], [2, 0], [1, 1]])
    assert group_categories(stats.astype(float)) == [[0], [1, 2]]
    assert group_categories(10.0 * stats, release8=False) == [[0, 2], [1]]
    assert grouped(stats, single=True) == [[0], [1, 2]]


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_the_tree(n_jobs):
    table, y, weight = problem(3, n=30_000, gaps=0.1)
    how = replace(recipe(), max_depth=None, empty_branches=True)
    trees = [
        grow(table, y, how, target=Target("y", (0, 1, 2)), sample_weight=weight, n_threads=k)
        for k in (1, n_jobs)
    ]
    for name in ("first_child", "value", "default"):
        np.testing.assert_array_equal(getattr(trees[0], name), getattr(trees[1], name))
    np.testing.assert_array_equal(trees[0].splits.breaks, trees[1].splits.breaks)
