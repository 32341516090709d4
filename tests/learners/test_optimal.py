"""Optimal trees: the least error for a depth, and the proof."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treewright as tw
from treewright.errors import OptimalityWarning, ParameterError


def least_errors(X: np.ndarray, y: np.ndarray, weight: np.ndarray, depth: int) -> float:
    """Weighted errors of the best tree over all cuts, by trying them all."""
    leaf = weight.sum() - max(weight[y == k].sum() for k in np.unique(y))
    if depth == 0 or leaf == 0:
        return leaf
    best = leaf
    for column in X.T:
        for cut in np.unique(column)[1:]:
            left = column < cut
            both = [
                least_errors(X[side], y[side], weight[side], depth - 1) for side in (left, ~left)
            ]
            best = min(best, sum(both))
    return best


def least_squares(X: np.ndarray, y: np.ndarray, depth: int) -> float:
    best = ((y - y.mean()) ** 2).sum()
    if depth == 0:
        return best
    for column in X.T:
        for cut in np.unique(column)[1:]:
            left = column < cut
            best = min(best, sum(least_squares(X[s], y[s], depth - 1) for s in (left, ~left)))
    return best


tables = st.integers(2, 14).flatmap(
    lambda n: st.tuples(
        st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=n, max_size=n),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.lists(st.integers(1, 3), min_size=n, max_size=n),
    )
)


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(1, 3))
def test_brute_force_finds_no_better_tree_of_classes(table, depth):
    X, y, weight = (np.array(part) for part in table)
    model = tw.OptimalTreeClassifier(max_depth=depth, leaf_penalty=0.0)
    model.fit(X, y, sample_weight=weight)
    wrong = weight[model.predict(X) != y].sum()
    assert wrong == least_errors(X, y, weight, depth)
    assert model.objective_ == pytest.approx(wrong / weight.sum(), abs=1e-12)
    assert model.optimality_gap_ == 0.0


@settings(max_examples=30, deadline=None)
@given(tables, st.integers(1, 2))
def test_brute_force_finds_no_better_tree_of_numbers(table, depth):
    X, y, extra = (np.array(part, float) for part in table)
    y = y + extra**2
    model = tw.OptimalTreeRegressor(max_depth=depth).fit(X, y)
    found = ((model.predict(X) - y) ** 2).sum()
    assert found == pytest.approx(least_squares(X, y, depth), abs=1e-9)
    assert model.objective_ == pytest.approx(found / len(y), abs=1e-12)


@pytest.fixture
def titanic():
    data = tw.datasets.load_titanic()
    return data.data, data.target, data.schema_hints


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_it_is_never_worse_than_the_greedy_tree_of_the_same_tests(titanic, depth):
    X, y, hints = titanic
    greedy = tw.CARTClassifier(max_depth=depth, **hints).fit(X, y)
    best = tw.OptimalTreeClassifier(
        max_depth=depth, max_cuts=None if depth < 3 else 30, leaf_penalty=0.0, **hints
    ).fit(X, y)
    assert best.optimality_gap_ == 0.0
    assert best.score(X, y) >= greedy.score(X, y)
    assert best.get_depth() <= depth


def test_the_exclusive_or_needs_two_levels_and_gets_them():
    rng = np.random.default_rng(0)
    X = rng.random((200, 5))
    y = (X[:, 3] < 0.5) ^ (X[:, 4] < 0.5)
    greedy = tw.CARTClassifier(max_depth=2).fit(X, y)
    best = tw.OptimalTreeClassifier(max_depth=2, max_cuts=None).fit(X, y)
    assert best.score(X, y) == 1.0
    assert greedy.score(X, y) < 0.8
    assert {best.tree_.node(k).feature for k in (0, 1, 2)} == {"x3", "x4"}


def test_a_leaf_must_save_its_penalty(titanic):
    X, y, hints = titanic
    sizes = []
    for penalty in (0.0, 0.005, 0.02, 0.5):
        model = tw.OptimalTreeClassifier(leaf_penalty=penalty, **hints).fit(X, y)
        error = 1 - model.score(X, y)
        assert model.objective_ == pytest.approx(error + penalty * model.get_n_leaves())
        sizes.append(model.get_n_leaves())
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1


def test_of_equally_good_trees_the_smallest_is_taken():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    model = tw.OptimalTreeClassifier(max_depth=3, leaf_penalty=0.0).fit(X, X[:, 1])
    assert model.get_n_leaves() == 2


def test_costs_decide_which_errors_are_the_least(titanic):
    X, y, hints = titanic
    costs = np.array([[0.0, 1.0], [4.0, 0.0]])
    plain = tw.OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0, **hints).fit(X, y)
    model = tw.OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0, costs=costs, **hints).fit(X, y)

    def cost(m):
        return costs[np.asarray(y, int), np.asarray(m.predict(X), int)].mean()

    assert model.objective_ == pytest.approx(cost(model))
    assert cost(model) < cost(plain)


def test_priors_and_class_weights_weigh_errors(titanic):
    X, y, hints = titanic
    prior = tw.OptimalTreeClassifier(priors="uniform", leaf_penalty=0.0, **hints).fit(X, y)
    weighted = tw.OptimalTreeClassifier(class_weight="balanced", leaf_penalty=0.0, **hints)
    weighted.fit(X, y)
    for model in (prior, weighted):
        wrong = np.asarray(model.predict(X)) != np.asarray(y)
        error = sum(wrong[np.asarray(y) == k].mean() for k in (0, 1)) / 2
        assert model.objective_ == pytest.approx(error)


def test_nominal_columns_are_tested_for_one_category_and_for_ordered_subsets():
    colour = np.repeat(["red", "green", "blue", "grey", "pink"], 20)
    one = tw.OptimalTreeClassifier(max_depth=1).fit({"c": colour}, colour == "blue")
    assert one.score({"c": colour}, colour == "blue") == 1.0
    pair = np.isin(colour, ["green", "pink"])
    two = tw.OptimalTreeClassifier(max_depth=1).fit({"c": colour}, pair)
    assert two.score({"c": colour}, pair) == 1.0
    numbers = np.select([colour == "red", colour == "grey"], [3.0, 3.5], 9.0)
    mean = tw.OptimalTreeRegressor(max_depth=1).fit({"c": colour}, numbers)
    assert mean.objective_ == pytest.approx(0.4 * 0.25**2)


def test_gaps_go_to_the_side_where_they_cost_less():
    x = np.array([1.0, 2.0, 3.0, 4.0, np.nan, np.nan] * 4)
    y = np.array([0, 0, 1, 1, 0, 0] * 4)
    model = tw.OptimalTreeClassifier(max_depth=1).fit(x[:, None], y)
    assert_array_equal(model.predict(x[:, None]), y)
    flipped = tw.OptimalTreeClassifier(max_depth=1).fit(x[:, None], np.where(np.isnan(x), 1, y))
    assert flipped.predict([[np.nan]])[0] == 1


def test_few_cuts_are_spread_over_the_rows():
    x = np.concatenate([np.arange(1000.0), [1e6]])
    model = tw.OptimalTreeClassifier(max_depth=1, max_cuts=9).fit(x[:, None], x > 480)
    assert model.n_tests_ == 9
    assert model.tree_.splits.node_breaks(0)[0] == pytest.approx(500, abs=2)
    assert tw.OptimalTreeClassifier(max_cuts=None).fit(x[:, None], x > 480).n_tests_ == 1000


def test_weights_need_not_be_whole():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (30, 3)), rng.integers(0, 2, 30)
    weight = rng.random(30)
    model = tw.OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0)
    model.fit(X, y, sample_weight=weight)
    assert model.objective_ == pytest.approx(
        least_errors(X, y, weight, 2) / weight.sum(), rel=1e-12
    )


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e12, 1e146])
def test_the_scale_of_the_numbers_changes_nothing(scale):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (60, 3))
    y = X[:, 0] * 2.0 + X[:, 1] + rng.normal(size=60)
    plain = tw.OptimalTreeRegressor(max_depth=2).fit(X, y)
    scaled = tw.OptimalTreeRegressor(max_depth=2).fit(X, y * scale)
    assert_array_equal(plain.apply(X), scaled.apply(X))
    assert scaled.optimality_gap_ == 0.0


def test_several_outputs_are_fitted_together():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (50, 3))
    y = np.column_stack([X[:, 0] + rng.normal(size=50), X[:, 1] * 1.0])
    model = tw.OptimalTreeRegressor(max_depth=2).fit(X, y)
    assert model.objective_ == pytest.approx(((model.predict(X) - y) ** 2).mean())


@pytest.fixture
def hard():
    """More than there is time for."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    return X, (X[:, 0] * X[:, 1] + rng.normal(size=3000) > 0).astype(int)


def test_a_time_limit_gives_the_best_so_far_and_its_gap(hard):
    X, y = hard
    greedy = tw.CARTClassifier(max_depth=5).fit(X, y)
    model = tw.OptimalTreeClassifier(max_depth=5, time_limit=0.3, n_jobs=2)
    start = time.perf_counter()
    with pytest.warns(OptimalityWarning, match="may be too much; raise time_limit"):
        model.fit(X, y)
    assert time.perf_counter() - start < 5.0
    assert 0.0 < model.optimality_gap_ <= model.objective_
    assert model.lower_bound_ == pytest.approx(model.objective_ - model.optimality_gap_)
    assert model.score(X, y) > greedy.score(X, y) - 0.05


def test_ctrl_c_keeps_the_best_so_far(press_ctrl_c, hard):
    X, y = hard
    model = tw.OptimalTreeClassifier(max_depth=5)
    press_ctrl_c(0.5, lambda: model.fit(X, y))
    assert model.optimality_gap_ > 0.0
    assert model.score(X, y) > 0.6


def test_callbacks_follow_the_search(titanic):
    from sklearn.callback import ProgressBar

    X, y, hints = titanic
    tw.OptimalTreeClassifier(**hints).set_callbacks(ProgressBar()).fit(X, y)


def test_a_saved_tree_keeps_its_proof(titanic, tmp_path):
    X, y, hints = titanic
    model = tw.OptimalTreeClassifier(max_depth=2, **hints).fit(X, y)
    tw.save(model, tmp_path / "tree.tw")
    copy = tw.load(tmp_path / "tree.tw")
    for name in ("objective_", "lower_bound_", "optimality_gap_", "n_tests_"):
        assert getattr(copy, name) == getattr(model, name)


def test_deeper_trees_are_refused_in_one_sentence():
    with pytest.raises(ParameterError, match="max_depth must be"):
        tw.OptimalTreeClassifier(max_depth=6).fit([[0], [1]], [0, 1])


def test_order_of_columns_changes_no_error(titanic):
    X, y, hints = titanic
    frame = pd.DataFrame({name: X[name].to_pandas() for name in X.column_names})
    names = list(frame.columns)
    models = [
        tw.OptimalTreeClassifier(max_depth=2, **hints).fit(frame[list(order)], y)
        for order in itertools.islice(itertools.permutations(names), 0, 700, 233)
    ]
    assert_allclose([m.objective_ for m in models], models[0].objective_)
