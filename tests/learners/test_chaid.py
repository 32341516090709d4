"""CHAID by worked examples and by what must hold of any fit."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
)
from sklearn.model_selection import cross_val_score

import treewright
from treewright import CHAIDClassifier, CHAIDRegressor, datasets, pruning
from treewright.errors import DataError, ParameterError
from treewright.learners._chaid.bins import quantile_breaks
from treewright.learners._chaid.multipliers import exhaustive_multiplier, log_multiplier
from treewright.learners._chaid.tails import _chi2_far, _f_far, log_chi2_tail, log_f_tail


def titanic():
    data = datasets.load_titanic()
    return data.data.to_pandas(), data.target


def table_of(counts, values=None):
    """Rows with the counts of a table: categories down, classes across."""
    values = values or [f"c{i}" for i in range(len(counts))]
    pairs = [
        (v, j)
        for v, row in zip(values, counts, strict=True)
        for j, n in enumerate(row)
        for _ in range(n)
    ]
    return pd.DataFrame({"x": [v for v, _ in pairs]}), np.array([j for _, j in pairs])


def groups_of(model, node=0):
    """The categories of each branch."""
    tree = model.tree_
    categories = tree.schema.features[tree.splits.feature[node]].categories
    codes, branches = tree.splits.node_codes(node), tree.splits.node_branches(node)
    n_branches = int(tree.n_children[node])
    return [[categories[c] for c in codes[branches == b]] for b in range(n_branches)]


# -- the tests ------------------------------------------------------------------------------


def test_the_root_of_titanic_is_the_textbook_chi_squared_test():
    X, y = titanic()
    tree = CHAIDClassifier().fit(X, y).tree_
    test = tree.node_tests(0).frame().set_index("feature").loc["Sex"]
    expected = stats.chi2_contingency(pd.crosstab(X["Sex"], y), correction=False)
    assert tree.node(0).feature == "Sex"
    assert test["statistic"] == pytest.approx(expected.statistic)
    assert test["adjusted_p_value"] == pytest.approx(expected.pvalue)
    assert test["df"] == 1


def test_the_likelihood_ratio_is_scipys():
    X, y = table_of([[30, 10, 5], [12, 20, 9], [3, 14, 30]])
    tree = CHAIDClassifier(statistic="likelihood", adjust=False).fit(X, y).tree_
    table = pd.crosstab(X["x"], y)
    expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert tree.tests.statistic[0] == pytest.approx(expected.statistic)
    assert np.exp(tree.tests.log_p[0]) == pytest.approx(expected.pvalue)


def test_the_f_test_is_scipys_one_way_analysis_of_variance():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "c"], 30)
    y = rng.normal(size=90) + np.repeat([0.0, 2.0, 5.0], 30)
    tree = CHAIDRegressor(adjust=False).fit({"group": group}, y).tree_
    expected = stats.f_oneway(*(y[group == g] for g in "abc"))
    assert tree.tests.statistic[0] == pytest.approx(expected.statistic)
    assert tree.tests.log_p[0] == pytest.approx(np.log(expected.pvalue), rel=1e-9)
    assert tree.extras["df_error"][0] == 87


def test_p_values_that_underflow_keep_their_logarithm():
    X = {"x": np.repeat(["a", "b"], 5000)}
    tree = CHAIDClassifier().fit(X, np.repeat([0, 1], 5000)).tree_
    assert tree.tests.statistic[0] == pytest.approx(10000)
    assert tree.tests.log_p[0] == pytest.approx(-5005.0 + 0.1, abs=0.3)
    assert "e-2174" in str(tree.node_tests())


@pytest.mark.parametrize("df", [1, 2, 3, 7, 30])
def test_far_tails_continue_those_of_scipy(df):
    x = np.array([stats.chi2.isf(1e-200, df), stats.chi2.isf(1e-285, df)])
    assert_allclose(_chi2_far(x, np.full(2, float(df))), stats.chi2.logsf(x, df), rtol=1e-10)
    f = stats.f.isf([1e-150, 1e-250], df, 400.0)
    far = _f_far(f, np.full(2, float(df)), np.full(2, 400.0))
    assert_allclose(far, stats.f.logsf(f, df, 400.0), rtol=1e-9)


def test_tails_are_scipys_where_they_are_numbers():
    assert_allclose(log_chi2_tail([0.0, 5.0], [1, 4]), stats.chi2.logsf([0.0, 5.0], [1, 4]))
    assert_allclose(log_f_tail([0.0, 5.0], 2, 10), stats.f.logsf([0.0, 5.0], 2, 10))
    assert log_chi2_tail(5.0, 0) == 0
    assert log_f_tail(np.inf, 1, 10) == -np.inf


# -- merging --------------------------------------------------------------------------------


def test_similar_categories_merge_and_the_p_value_is_multiplied_by_kass_factor():
    X, y = table_of([[60, 40], [58, 42], [20, 80], [22, 78]])
    model = CHAIDClassifier().fit(X, y)
    assert groups_of(model) == [["c0", "c1"], ["c2", "c3"]]
    tests = model.tree_.tests
    # four nominal categories fall into two groups in seven ways
    assert tests.log_adjusted_p[0] == pytest.approx(tests.log_p[0] + np.log(7))


def test_an_ordinal_predictor_has_fewer_groupings_and_a_floating_gap_more():
    counts = [[60, 40], [58, 42], [20, 80], [22, 78]]
    for order, gap, ways in [(["c0", "c1", "c2", "c3"], False, 3), (["c0", "c1", "c2"], True, 5)]:
        X, y = table_of(counts)
        if gap:
            X["x"] = X["x"].where(X["x"] != "c3")
        model = CHAIDClassifier(ordinal_features={"x": order}).fit(X, y)
        tests = model.tree_.tests
        assert tests.log_adjusted_p[0] == pytest.approx(tests.log_p[0] + np.log(ways))


def test_multipliers_count_groupings():
    def groupings(n, k, allowed):
        """Partitions of n categories into k groups that are allowed, by enumeration."""

        def grow(labels, used):
            if len(labels) == n:
                yield labels if used == k else None
                return
            for label in range(min(used + 1, k)):
                yield from grow([*labels, label], max(used, label + 1))

        return sum(labels is not None and allowed(labels) for labels in grow([], 0))

    def in_order(labels):
        return all(b - a in (0, 1) for a, b in pairwise(labels))

    def floating(labels):
        # known categories in order, whatever the last one, the gap, joins
        known = labels[:-1]
        return in_order(known)

    for c in range(2, 7):
        for r in range(2, c + 1):
            ways = {
                "nominal": groupings(c, r, lambda labels: True),
                "ordinal": groupings(c, r, in_order),
                "floating": groupings(c, r, floating),
            }
            for kind, expected in ways.items():
                assert np.exp(log_multiplier(kind, c, r)) == pytest.approx(expected), (kind, c, r)


def test_multipliers_of_hundreds_of_categories_are_finite():
    assert np.isfinite(log_multiplier("nominal", 400, 20))
    assert np.isfinite(exhaustive_multiplier("nominal", 10**6))


def test_exhaustive_search_takes_the_best_grouping_and_its_own_multiplier():
    # ordered categories whose rates rise slowly: alpha_merge stops early, the search does not
    counts = [[50, 50], [55, 45], [62, 38], [70, 30], [79, 21]]
    X, y = table_of(counts)
    order = {"x": ["c0", "c1", "c2", "c3", "c4"]}
    model = CHAIDClassifier(exhaustive=True, ordinal_features=order).fit(X, y)
    tests = model.tree_.tests
    tables = []
    for cuts in range(1, 2**4):
        ends = [k + 1 for k in range(4) if cuts >> k & 1]
        parts = np.split(np.array(counts), ends)
        tables.append(np.array([part.sum(axis=0) for part in parts]))
    best = min(stats.chi2_contingency(t, correction=False).pvalue for t in tables)
    assert np.exp(tests.log_p[0]) >= best * (1 - 1e-9)
    assert tests.log_adjusted_p[0] == pytest.approx(tests.log_p[0] + np.log(5 * 4 / 2))


def test_groups_that_are_too_small_join_the_one_they_resemble():
    X, y = table_of([[90, 10], [10, 90], [1, 3]])
    assert groups_of(CHAIDClassifier(min_samples_leaf=7).fit(X, y)) == [["c0"], ["c1", "c2"]]
    alone = CHAIDClassifier(min_samples_leaf=1).fit(X, y)
    assert alone.get_n_leaves() == 2  # it merges for its likeness too


def test_min_prob_is_the_smaller_of_two_limits_as_in_r():
    X, y = table_of([[300, 100], [100, 300], [0, 5]])
    assert CHAIDClassifier(min_samples_leaf=7).fit(X, y).get_n_leaves() == 2
    X, y = table_of([[300, 100], [100, 300], [5, 0]])
    kept = CHAIDClassifier(min_samples_leaf=7, min_prob=0.005).fit(X, y)
    weights = kept.tree_.weight[kept.tree_.is_leaf]
    assert weights.min() >= np.ceil(0.005 * 805)


def test_a_level_of_one_merges_nothing():
    X, y = table_of([[60, 40], [58, 42], [20, 80], [22, 78]])
    assert CHAIDClassifier(alpha_merge=1.0).fit(X, y).get_n_leaves() == 4


def test_resplitting_parts_a_group_whose_members_drifted_apart():
    X, y = table_of([[13, 34], [21, 16], [16, 26], [39, 29], [27, 33], [16, 32]])
    order = {"x": [f"c{i}" for i in range(6)]}
    plain = CHAIDClassifier(adjust=False, ordinal_features=order).fit(X, y)
    again = CHAIDClassifier(adjust=False, ordinal_features=order, alpha_resplit=0.049).fit(X, y)
    assert plain.tree_.splits.node_breaks(0).tolist() == [0.5]
    assert again.tree_.splits.node_breaks(0).tolist() == [0.5, 4.5]


# -- gaps, bins, weights --------------------------------------------------------------------


def test_gaps_join_the_group_they_resemble_or_stay_alone():
    X, y = table_of([[90, 10], [10, 90], [85, 15], [50, 50]], ["a", "b", None, "c"])
    tree = CHAIDClassifier().fit(X, y).tree_
    labels = [child.condition for child in tree.node(0).children]
    assert labels == ["x = a (or gap)", "x = b", "x = c"]
    X, y = table_of([[90, 10], [10, 90], [50, 50]], ["a", "b", None])
    tree = CHAIDClassifier().fit(X, y).tree_
    assert [child.condition for child in tree.node(0).children][-1] == "x is a gap"


def test_gaps_alone_may_tell_the_classes_apart():
    x = np.where(np.arange(200) % 2, np.nan, np.arange(200) % 7)
    model = CHAIDClassifier().fit({"x": x}, np.arange(200) % 2)
    assert_array_equal(model.predict({"x": [1.0, np.nan, 99.0]}), [0, 1, 0])
    copy = treewright.Tree.from_dict(model.tree_.to_dict())
    assert copy.n_leaves == 2


def test_an_unseen_category_goes_with_the_gaps_or_else_with_the_heaviest_group():
    X, y = table_of([[90, 10], [10, 190], [85, 15]], ["a", "b", None])
    model = CHAIDClassifier().fit(X, y)
    assert model.predict({"x": ["never seen"]}) == model.predict({"x": [None]}) == [0]
    X, y = table_of([[90, 10], [10, 190]], ["a", "b"])
    assert CHAIDClassifier().fit(X, y).predict({"x": ["never seen"]}) == [1]


def test_breaks_are_values_of_the_data_and_closed_on_the_right():
    x = np.arange(1.0, 101.0)
    tree = (
        CHAIDRegressor(n_bins=4).fit({"x": x}, np.repeat([0.0, 1.0, 2.0, 3.0], 25) + x / 1e6).tree_
    )
    assert tree.splits.breaks.tolist() == [25.0, 50.0, 75.0]
    assert tree.splits.closed[0]


def test_bins_hold_about_equal_weight():
    rng = np.random.default_rng(1)
    x = rng.normal(size=1000)
    counts = np.bincount(np.searchsorted(quantile_breaks(x, 10), x))
    assert_array_equal(counts, np.full(10, 100))
    weight = rng.integers(1, 5, 1000)
    weighted = quantile_breaks(x, 7, weight.astype(float))
    assert_array_equal(weighted, quantile_breaks(np.repeat(x, weight), 7))


def test_an_increasing_transformation_changes_no_prediction():
    X, y = titanic()
    Z = X.assign(Age=np.exp(X["Age"] / 10), Fare=np.sqrt(X["Fare"]))
    assert_array_equal(
        CHAIDClassifier().fit(X, y).predict_proba(X), CHAIDClassifier().fit(Z, y).predict_proba(Z)
    )


def test_weights_that_are_shares_count_as_rows():
    X, y = titanic()
    plain = CHAIDClassifier().fit(X, y)
    shares = CHAIDClassifier().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    assert_array_equal(plain.tree_.splits.feature, shares.tree_.splits.feature)
    assert_allclose(plain.tree_.weight, shares.tree_.weight)


def test_weights_that_are_no_multiples_are_tested_on_a_scale_of_mean_one():
    X, y = table_of([[60, 40], [30, 70]])
    weight = np.where(np.asarray(y) == y[0], 1.5, 0.4)
    tree = CHAIDClassifier().fit(X, y, sample_weight=weight).tree_
    counts = pd.crosstab(X["x"], y, values=weight / weight.mean(), aggfunc="sum")
    expected = stats.chi2_contingency(counts, correction=False)
    assert tree.tests.statistic[0] == pytest.approx(expected.statistic)


@pytest.mark.parametrize("scale", [1e-150, 1e146])
def test_numbers_at_the_ends_of_the_range_grow_the_same_tree(scale):
    data = datasets.load_hitters()
    X, y = data.data.to_pandas(), data.target
    plain, scaled = (CHAIDRegressor().fit(X, y * s).tree_ for s in (1.0, scale))
    assert_array_equal(plain.splits.feature, scaled.splits.feature)
    assert_allclose(plain.tests.log_p, scaled.tests.log_p, rtol=1e-9)


# -- ordered classes ------------------------------------------------------------------------


def ratings(kind):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 400)
    y = np.clip(np.rint(x / 1.5 + rng.normal(0, 0.8, 400)), 0, 3).astype(int)
    names = np.array(["poor", "fair", "good", "great"])[y]
    order = ["poor", "fair", "good", "great"]
    X = {"x": np.array(list("abcd"))[x]}
    if kind == "pandas":
        return X, pd.Series(pd.Categorical(names, order, ordered=True))
    if kind == "polars":
        return X, pl.Series(names, dtype=pl.Enum(order))
    return X, names


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_an_ordered_target_is_tested_by_row_effects(kind):
    X, y = ratings(kind)
    model = CHAIDClassifier(adjust=False).fit(X, y)
    assert model.tree_.tests.df[0] == model.tree_.n_children[0] - 1
    assert model.classes_.tolist() == ["fair", "good", "great", "poor"]
    _, names = ratings("plain")
    same = CHAIDClassifier(adjust=False, class_order=["poor", "fair", "good", "great"])
    same.fit(X, names)
    assert_allclose(same.tree_.tests.statistic, model.tree_.tests.statistic)
    nominal = CHAIDClassifier(adjust=False).fit(X, names)
    assert nominal.tree_.tests.df[0] > model.tree_.tests.df[0]
    off = CHAIDClassifier(adjust=False, class_order=None).fit(X, y)
    assert_allclose(off.tree_.tests.statistic, nominal.tree_.tests.statistic)


def test_row_effects_of_a_two_by_k_table_are_a_logistic_regression():
    from scipy.optimize import minimize
    from scipy.special import log_expit

    table = np.array([[30.0, 10.0, 5.0], [10.0, 12.0, 25.0]])
    s = np.arange(3.0)

    def minus_log_likelihood(b):
        eta = b[0] + b[1] * s
        return -(table[0] @ log_expit(eta) + table[1] @ log_expit(-eta))

    slope = minimize(minus_log_likelihood, [0.0, 0.0], tol=1e-12).fun
    p = table[0].sum() / table.sum()
    flat = -(table[0].sum() * np.log(p) + table[1].sum() * np.log(1 - p))
    X, y = table_of(table.astype(int).tolist())
    tree = CHAIDClassifier(class_order=[0, 1, 2]).fit(X, y).tree_
    assert tree.tests.statistic[0] == pytest.approx(2 * (flat - slope), rel=1e-6)


# -- parameters and bad input ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha_resplit": 0.05}, "alpha_resplit must be below alpha_merge"),
        ({"exhaustive": True, "alpha_resplit": 0.01}, "alpha_resplit must be left"),
        ({"exhaustive": True, "alpha_merge": 0.01}, "alpha_merge must be left"),
        ({"class_order": [0, 2]}, "class_order must list every class"),
        ({"alpha_split": 0.0}, "alpha_split must be"),
        ({"n_bins": 1}, "n_bins must be"),
        ({"n_bins": 2**31 - 1}, "n_bins must be"),
        ({"min_prob": 1.5}, "min_prob must be"),
    ],
)
def test_parameters_that_contradict_each_other_are_refused(parameters, message):
    X, y = table_of([[60, 40], [30, 70]])
    with pytest.raises(ParameterError, match=message):
        CHAIDClassifier(**parameters).fit(X, y)


def test_several_outputs_are_refused():
    with pytest.raises(DataError, match="one number per row"):
        CHAIDRegressor().fit({"x": ["a", "b"]}, [[1.0, 2.0], [3.0, 4.0]])


def test_costs_change_labels_but_not_splits():
    X, y = titanic()
    plain = CHAIDClassifier().fit(X, y)
    careful = CHAIDClassifier(costs={0: {1: 1.0}, 1: {0: 5.0}}).fit(X, y)
    assert_array_equal(plain.tree_.splits.feature, careful.tree_.splits.feature)
    assert_allclose(plain.predict_proba(X), careful.predict_proba(X))
    assert careful.predict(X).sum() > plain.predict(X).sum()


def test_max_depth_and_min_samples_split_stop_growth():
    X, y = titanic()
    assert CHAIDClassifier(max_depth=1).fit(X, y).get_depth() == 1
    tree = CHAIDClassifier(min_samples_split=300).fit(X, y).tree_
    assert tree.weight[~tree.is_leaf].min() >= 300
    half = CHAIDClassifier(min_samples_split=0.5).fit(X, y).tree_
    assert half.weight[~half.is_leaf].min() >= len(y) / 2


def test_a_thousand_categories_are_no_obstacle():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 1000, 20000)
    y = rng.random(20000) < np.where(code < 500, 0.3, 0.6)
    X = {"code": np.char.add("c", code.astype(str))}
    model = CHAIDClassifier(adjust=False).fit(X, y)
    assert model.get_n_leaves() >= 2
    # corrected for the 2^999 ways in which they fall into two groups, nothing is left of it
    assert CHAIDClassifier().fit(X, y).get_n_leaves() == 1


# -- an ordinary tree -----------------------------------------------------------------------


@pytest.mark.parametrize("booster", [BaggingClassifier, AdaBoostClassifier])
def test_scikit_learns_ensembles_take_it_for_classes(booster):
    X, y = datasets.load_iris().data.to_pandas(), datasets.load_iris().target
    model = booster(CHAIDClassifier(max_depth=2), n_estimators=10, random_state=0)
    assert cross_val_score(model, X.to_numpy(), y, cv=3).mean() > 0.85
    trees = model.fit(X.to_numpy(), y).estimators_
    assert all(tree.get_n_leaves() > 1 for tree in trees[:2])


@pytest.mark.parametrize("booster", [BaggingRegressor, AdaBoostRegressor])
def test_scikit_learns_ensembles_take_it_for_numbers(booster):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.sign(X[:, 0]) + X[:, 1] + rng.normal(0, 0.2, 400)
    single = cross_val_score(CHAIDRegressor(), X, y, cv=3).mean()
    model = booster(CHAIDRegressor(), n_estimators=20, random_state=0)
    assert cross_val_score(model, X, y, cv=3).mean() > single


def test_pruning_keeps_tests_and_quantiles():
    data = datasets.load_hitters()
    tree = CHAIDRegressor().fit(data.data, data.target).tree_
    path = pruning.cost_complexity_path(tree)
    pruned = pruning.cost_complexity(tree, float(path.alphas[-2]))
    assert 1 < pruned.n_leaves < tree.n_leaves
    assert pruned.extras["quantiles"].shape == (pruned.n_nodes, 5)
    assert_array_equal(pruned.tests.node, np.sort(pruned.tests.node))
    assert pruned.to_svg()
    small = CHAIDRegressor(ccp_alpha=float(path.alphas[-2])).fit(data.data, data.target)
    assert small.tree_.n_leaves == pruned.n_leaves


def test_quantiles_are_those_of_the_rows_at_each_node():
    data = datasets.load_hitters()
    model = CHAIDRegressor().fit(data.data, data.target)
    path = model.decision_path(data.data).toarray().astype(bool)
    for node, quantiles in enumerate(model.tree_.extras["quantiles"]):
        y = data.target[path[:, node]]
        expected = np.quantile(y, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
        assert_allclose(quantiles, expected)


@pytest.mark.parametrize("estimator", [CHAIDClassifier(), CHAIDRegressor()])
def test_a_saved_model_draws_the_same_picture(estimator, tmp_path):
    data = datasets.load_titanic()
    y = data.target if isinstance(estimator, CHAIDClassifier) else data.target + 0.5
    model = clone(estimator).fit(data.data, y)
    treewright.save(model, tmp_path / "model")
    copy = treewright.load(tmp_path / "model")
    assert copy.tree_.to_svg() == model.tree_.to_svg()
    assert str(copy.tree_.node_tests()) == str(model.tree_.node_tests())


def test_the_text_has_groups_shares_and_p_values():
    X, y = titanic()
    lines = str(CHAIDClassifier(max_depth=2).fit(X, y).tree_).splitlines()
    assert lines[4].split() == [
        "1",
        "├─",
        "Sex",
        "=",
        "female",
        "314",
        "p",
        "<",
        "0.001",
        "1",
        "(0.26",
        "0.74)",
    ]


def test_a_trace_names_the_feature_of_the_split():
    X, y = titanic()
    model = CHAIDClassifier(max_depth=1).fit(X, y)
    trace = model.trace(0, X, y)
    assert next(iter(trace)).feature == "Sex"
    assert trace["Sex"].gain == pytest.approx(model.tree_.gain[0])
    # every feature has groups, with the bins of the whole data
    assert trace["Age"].test == "Age <= 14"


def test_a_trace_below_the_root_uses_the_bins_of_the_tree():
    X, y = titanic()
    model = CHAIDClassifier().fit(X, y)
    tree = model.tree_
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        first = next(iter(model.trace(node, X, y)))
        assert first.is_chosen
        share = tree.weight[node] / tree.weight[0]
        assert first.gain == pytest.approx(tree.gain[node] / share)


def test_a_chooser_that_proposes_no_feature_of_the_table_is_refused():
    from treewright.tree.growing.choosing import ProposedSplit

    model = CHAIDClassifier()
    training = model._encode({"x": ["a", "b"] * 20}, ["u", "v"] * 20, None)
    recipe = replace(model._recipe(training), choose=lambda node: ProposedSplit(5, codes=(0, 1)))
    with pytest.raises(ParameterError, match="one of the 1 features"):
        model._grow(training, None, recipe)


@pytest.mark.parametrize("n_rows", [1, 3])
def test_many_categories_are_merged_in_about_the_square_of_their_number(n_rows):
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(3000), n_rows)
    y = rng.integers(0, 2, 3000)[codes]
    X = {"name": np.char.add("c", np.char.zfill(codes.astype(str), 4)).astype(object)}
    begin = time.process_time()
    CHAIDClassifier(max_depth=1, categorical_features=["name"]).fit(X, y)
    assert time.process_time() - begin < 8  # 0.6 s


@pytest.mark.filterwarnings("ignore::treewright.errors.ManyCategoriesWarning")
def test_of_very_many_categories_equal_ones_are_one():
    random = np.random.default_rng(0)
    codes = random.integers(0, 3000, 6000)
    y = random.integers(0, 2, 6000)
    counts = np.stack([np.bincount(codes, y == k, 3000) for k in (0, 1)], axis=1)
    _, first, inverse = np.unique(counts, axis=0, return_index=True, return_inverse=True)
    joined = first[inverse.ravel()][codes]
    many, few = (
        CHAIDClassifier(alpha_split=1.0, adjust=False, max_depth=1).fit(
            pd.DataFrame({"c": [f"c{i:04}" for i in c]}), y
        )
        for c in (codes, joined)
    )
    assert many.tree_.n_leaves == few.tree_.n_leaves > 1
    np.testing.assert_array_equal(many.tree_.value, few.tree_.value)
