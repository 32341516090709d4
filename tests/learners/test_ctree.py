"""CTree: what its parameters do, its node table, and its trees in the hands of others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, BaggingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

import treewright
from treewright import CHAIDClassifier, CHAIDRegressor, CTreeClassifier, CTreeRegressor
from treewright.datasets import load_iris, load_titanic
from treewright.errors import DataError, ParameterError
from treewright.pruning import cost_complexity, pessimistic
from treewright.tree.split import GAP_FRACTION


@pytest.fixture
def steps():
    """A step in one of three columns, with noise."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    y = (X["b"] > 0.4).astype(int) ^ (rng.random(300) < 0.1)
    return X, y.to_numpy()


@pytest.fixture
def titanic():
    data = load_titanic()
    return data.data, data.target, data.schema_hints


def test_a_numeric_feature_and_two_classes_have_the_test_of_a_correlation(steps):
    X, y = steps
    table = CTreeClassifier().fit(X, y).tree_.node_tests(0).frame().set_index("feature")
    for name in X:
        statistic = (len(y) - 1) * np.corrcoef(X[name], y)[0, 1] ** 2
        assert table.loc[name, "statistic"] == pytest.approx(statistic)
        p = stats.chi2.sf(statistic, 1)
        assert table.loc[name, "p_value"] == pytest.approx(p)
        assert table.loc[name, "adjusted_p_value"] == pytest.approx(-np.expm1(3 * np.log1p(-p)))
    assert table["df"].tolist() == [1, 1, 1]
    assert table["is_split"].tolist() == [False, True, False]


def test_two_nominal_variables_have_pearsons_test():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 200)
    y = np.where(rng.random(200) < 0.3, x % 3, rng.integers(0, 3, 200))
    model = CTreeClassifier().fit(pd.DataFrame({"x": x.astype(str)}), y)
    table = pd.crosstab(x, y)
    pearson = stats.chi2_contingency(table, correction=False)
    tests = model.tree_.tests
    assert tests.statistic[0] == pytest.approx(pearson.statistic * 199 / 200)
    assert tests.df[0] == pearson.dof == 6


def test_split_values_are_values_of_the_data(steps):
    X, y = steps
    tree = CTreeClassifier().fit(X, y).tree_
    assert tree.n_leaves > 1
    inner = np.flatnonzero(~tree.is_leaf)
    for node in inner:
        assert tree.splits.node_breaks(node)[0] in X.iloc[:, tree.splits.feature[node]].to_numpy()
        assert tree.splits.closed[node]


def test_alpha_is_the_p_value_that_a_split_needs(steps):
    X, y = steps
    full = CTreeClassifier(alpha=1.0).fit(X, y).tree_
    strict = CTreeClassifier(alpha=1e-6).fit(X, y).tree_
    usual = CTreeClassifier().fit(X, y).tree_
    assert full.n_leaves > usual.n_leaves >= strict.n_leaves > 1
    assert np.all(np.exp(usual.log_p[~usual.is_leaf]) < 0.05)
    tested = usual.is_leaf & ~np.isnan(usual.log_p)
    assert tested.any()
    assert np.all(np.exp(usual.log_p[tested]) >= 0.05)
    noise = np.random.default_rng(2).permutation(y)
    assert CTreeClassifier(alpha=0.01).fit(X, noise).get_n_leaves() == 1


def test_sizes_are_limits_of_weight(steps):
    X, y = steps
    options = {"alpha": 1.0, "min_samples_split": 30, "min_samples_leaf": 12, "min_prob": 0.0}
    tree = CTreeClassifier(**options).fit(X, y).tree_
    assert tree.n_samples[tree.is_leaf].min() >= 12
    assert tree.n_samples[~tree.is_leaf].min() >= 30
    assert not np.isin(tree.tests.node, np.flatnonzero(tree.n_samples < 30)).any()
    weight = np.where(np.arange(300) % 10 == 0, 1.0, 3.0)
    heavy = CTreeClassifier(**options).fit(X, y, sample_weight=weight).tree_
    assert heavy.weight[heavy.is_leaf].min() >= 12
    assert heavy.n_samples[heavy.is_leaf].min() < 12


def test_weights_that_are_shares_count_as_many_rows_as_there_are(steps):
    X, y = steps
    weight = np.random.default_rng(0).integers(1, 3, 300)
    plain = CTreeClassifier().fit(X, y).tree_
    for unit in (1 / 300, 1e-9):
        shares = CTreeClassifier().fit(X, y, sample_weight=np.full(300, unit)).tree_
        np.testing.assert_allclose(shares.tests.statistic, plain.tests.statistic)
        assert shares.n_leaves == plain.n_leaves
    counted = CTreeClassifier().fit(X, y, sample_weight=weight).tree_
    assert counted.tests.statistic[1] > plain.tests.statistic[1] * 1.2


def test_min_prob_is_a_share_of_the_node(steps):
    X, y = steps
    tree = CTreeClassifier(alpha=1.0, min_prob=0.3).fit(X, y).tree_
    for node in np.flatnonzero(~tree.is_leaf):
        assert tree.n_samples[list(tree.children(node))].min() >= 0.3 * tree.n_samples[node]


def test_split_try_bounds_how_many_features_are_tried():
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(60), np.ones(6)].astype(int)
    end = (np.arange(66) >= 60).astype(float)  # equals y: significant, but only six rows
    good = np.where(rng.random(66) < 0.8, end, 1 - end) + (np.arange(66) > 40)
    X = np.column_stack([good, end, end + 1])
    options = {"alpha": 0.5, "max_depth": 1, "min_samples_leaf": 7}
    assert CTreeClassifier(split_try=2, **options).fit(X, y).get_n_leaves() == 1
    assert CTreeClassifier(split_try=3, **options).fit(X, y).tree_.splits.feature[0] == 0


def test_of_equal_features_the_last_is_split(steps):
    X, y = steps
    X = X.assign(again=X["b"])
    assert CTreeClassifier().fit(X, y).tree_.node(0).feature == "again"


def test_without_p_values_the_largest_statistic_wins(steps):
    X, y = steps
    tree = CTreeClassifier(adjust=None).fit(X, y).tree_
    assert np.isnan(tree.tests.log_p).all()
    assert np.isnan(tree.log_p).all()
    at_root = tree.tests.statistic[tree.tests.node == 0]
    assert tree.splits.feature[0] == np.argmax(at_root)
    assert "p <" not in tree.to_text()


def test_univariate_p_values_are_not_adjusted(steps):
    X, y = steps
    tests = CTreeClassifier(adjust="univariate").fit(X, y).tree_.tests
    np.testing.assert_array_equal(tests.log_p, tests.log_adjusted_p)


def test_monte_carlo_p_values_are_near_the_asymptotic_ones_and_follow_the_seed(steps):
    X, y = steps
    options = {"adjust": "monte_carlo", "n_resamples": 1999}
    one, again = (CTreeClassifier(random_state=0, **options).fit(X, y).tree_ for _ in range(2))
    other = CTreeClassifier(random_state=1, **options).fit(X, y).tree_
    np.testing.assert_array_equal(one.tests.log_p, again.tests.log_p)
    root = one.tests.node == 0
    assert not np.array_equal(one.tests.log_p[root], other.tests.log_p[other.tests.node == 0])
    asymptotic = np.exp(
        CTreeClassifier(adjust="univariate").fit(X, y).tree_.node_tests(0).tests.log_p
    )
    p = np.exp(one.tests.log_p[root])
    assert np.all(np.abs(p - asymptotic) < 4 * np.sqrt(asymptotic * (1 - asymptotic) / 1999) + 0.01)
    assert p.min() == pytest.approx(1 / 2000)


def test_monte_carlo_needs_whole_rows(steps):
    X, y = steps
    with pytest.raises(DataError, match="must then be multiples of the smallest"):
        CTreeClassifier(adjust="monte_carlo").fit(X, y, sample_weight=np.linspace(0.5, 1.5, 300))
    with pytest.raises(ParameterError, match="whole rows"):
        CTreeClassifier(adjust="monte_carlo", missing="fractional").fit(X, y)


def test_monte_carlo_refuses_weights_that_would_repeat_rows_without_end(steps):
    X, y = steps
    weight = np.ones(300)
    weight[7] = 1e9
    with pytest.raises(DataError, match=r"may add up to at most 10,000,000 .* use adjust="):
        CTreeClassifier(adjust="monte_carlo", n_resamples=9).fit(X, y, sample_weight=weight)


def test_the_maximum_form_is_the_largest_standardised_statistic(steps):
    X, y = steps
    quadratic = CTreeClassifier().fit(X, y).tree_.tests
    maximum = CTreeClassifier(test_statistic="maximum").fit(X, y).tree_.tests
    root = quadratic.node == 0
    # one component: both are the same test
    np.testing.assert_allclose(maximum.statistic[root] ** 2, quadratic.statistic[root])
    np.testing.assert_allclose(maximum.log_p[root], quadratic.log_p[root], rtol=1e-9)
    assert np.isnan(maximum.df).all()


def test_features_are_drawn_per_node_and_by_the_seed(steps):
    X, y = steps
    X = pd.concat([X, X.add_suffix("2") + 1e-3], axis=1)
    options = {"alpha": 1.0, "max_features": 2}
    tree = CTreeClassifier(random_state=0, **options).fit(X, y).tree_
    drawn = [tuple(tree.tests.feature[tree.tests.node == n]) for n in np.unique(tree.tests.node)]
    assert all(len(features) <= 2 for features in drawn)
    assert len(set(drawn)) > 3
    again = CTreeClassifier(random_state=0, **options).fit(X, y).tree_
    np.testing.assert_array_equal(tree.tests.feature, again.tests.feature)
    other = CTreeClassifier(random_state=3, **options).fit(X, y).tree_
    assert tree.tests.feature.tolist() != other.tests.feature.tolist()


def test_multiway_splits_have_a_branch_per_category_and_one_for_the_small():
    x = np.repeat(["a", "b", "c", "d", "e"], [40, 40, 40, 3, 4])
    y = np.repeat([0, 1, 0, 1, 1], [40, 40, 40, 3, 4])
    X = pd.DataFrame({"x": x})
    tree = CTreeClassifier(nominal_split="multiway").fit(X, y).tree_
    assert tree.n_samples[list(tree.children(0))].tolist() == [40, 40, 40, 7]
    binary = CTreeClassifier().fit(X, y).tree_
    assert binary.n_samples[list(binary.children(0))].tolist() == [80, 47]


def test_several_numbers_are_tested_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]) * 3.0 + rng.normal(size=(200, 2))
    tree = CTreeRegressor().fit(X, Y).tree_
    assert tree.tests.df[:3].tolist() == [2, 2, 2]
    assert set(tree.splits.feature[~tree.is_leaf]) == {0, 1}
    assert CTreeRegressor().fit(X, Y).predict(X).shape == (200, 2)


def test_scores_of_classes_make_a_test_of_trend(steps):
    X, _ = steps
    y = np.digitize(X["c"] + np.random.default_rng(0).normal(size=300), [-1, 0, 1])
    nominal = CTreeClassifier().fit(X, y).tree_.tests
    trend = CTreeClassifier(class_scores=[1, 2, 3, 4]).fit(X, y)
    assert nominal.df[0] == 3
    assert trend.tree_.tests.df[0] == 1
    expected = 299 * np.corrcoef(X["c"], y)[0, 1] ** 2
    assert trend.tree_.tests.statistic[2] == pytest.approx(expected)
    named = CTreeClassifier(class_scores={0: 1, 1: 2, 2: 3, 3: 4}).fit(X, y)
    np.testing.assert_array_equal(named.tree_.tests.statistic, trend.tree_.tests.statistic)
    assert set(trend.predict(X)) <= set(range(4))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1, 2], "each of the 4 classes"),
        ({0: 1, 1: 2, 9: 3}, "name all"),
        ([1, 2, 3, np.nan], "finite"),
    ],
)
def test_scores_must_be_one_number_per_class(steps, scores, message):
    X, _ = steps
    with pytest.raises(ParameterError, match=message):
        CTreeClassifier(class_scores=scores).fit(X, np.arange(300) % 4)


def test_gaps_go_with_the_majority_or_down_both_branches(titanic):
    X, y, hints = titanic
    majority = CTreeClassifier(**hints).fit(X, y).tree_
    inner = ~majority.is_leaf
    for node in np.flatnonzero(inner):
        kids = majority.n_samples[list(majority.children(node))].copy()
        kids[majority.default[node]] -= majority.extras["n_gaps"][node]
        assert kids[majority.default[node]] == kids.max()
    fractional = CTreeClassifier(missing="fractional", **hints).fit(X, y).tree_
    assert np.all(fractional.default[~fractional.is_leaf] == GAP_FRACTION)
    assert np.any(fractional.weight % 1 != 0)


def test_surrogates_are_kept_in_the_order_of_their_p_values(titanic):
    X, y, hints = titanic
    model = CTreeClassifier(missing="surrogate", max_surrogates=2, **hints).fit(X, y)
    tree = model.tree_
    n_surrogates = np.diff(tree.surrogate_offset)
    assert np.all(n_surrogates[tree.is_leaf] == 0)
    assert np.all(n_surrogates[~tree.is_leaf] == 2)
    first = tree.surrogates.feature[0]
    assert tree.schema.names[tree.splits.feature[0]].lower() == "sex"
    assert tree.schema.names[first].lower() == "parch"


@pytest.mark.parametrize(
    ("counts", "is_reversed"),
    [
        ([[40, 10], [10, 40]], False),
        ([[10, 40], [40, 10]], True),
        ([[20, 60], [4, 36]], False),  # most rows would go right the other way
        ([[4, 36], [20, 60]], True),  # and here
        ([[30, 90], [40, 40]], True),
        ([[25, 75], [25, 25]], False),  # as many of the first side went either way
    ],
)
def test_the_first_side_of_a_surrogate_goes_where_most_of_it_went(counts, is_reversed):
    # rows by the sides of split and surrogate; partykit 1.2-16 turns these as listed
    side = np.repeat([0, 0, 1, 1], np.ravel(counts))
    other = np.repeat([0, 1, 0, 1], np.ravel(counts))
    model = CTreeClassifier(missing="surrogate", max_surrogates=1, max_depth=1)
    X = pd.DataFrame({"a": [*side, np.nan, np.nan], "b": [*other, 0, 1]})
    tree = model.fit(X, np.array([*side, 0, 1])).tree_
    assert tree.splits.feature[0] == 0
    assert tree.surrogates.feature[0] == 1
    # the rows with gaps in the split go where the surrogate sends them
    went = model.apply(X[-2:]) == tree.children(0)[1]
    assert went.tolist() == [is_reversed, not is_reversed]
    agree = np.trace(np.array(counts)[::-1] if is_reversed else np.array(counts))
    assert tree.surrogate_agreement[0] == pytest.approx(agree / np.sum(counts))


def test_surrogates_have_a_number_of_their_own_which_nothing_else_takes(steps):
    X, y = steps
    CTreeClassifier(missing="surrogate").fit(X, y)
    with pytest.raises(ParameterError, match="belongs to"):
        CTreeClassifier(max_surrogates=2).fit(X, y)


def test_policies_that_make_no_sense_here_are_refused(steps):
    X, y = steps
    for missing in ("learned", "own_branch"):
        with pytest.raises(ParameterError, match="missing must be"):
            CTreeClassifier(missing=missing).fit(X, y)


def test_a_trace_is_the_table_of_the_node(steps):
    X, y = steps
    model = CTreeClassifier()
    with pytest.raises(NotFittedError):
        model.trace(0)
    model.fit(X, y)
    assert str(model.trace(0, X, y)) == str(model.tree_.node_tests(0))


@pytest.mark.parametrize(
    "model",
    [CTreeClassifier(), CTreeRegressor(), CHAIDClassifier(), CHAIDRegressor()],
    ids=lambda model: type(model).__name__,
)
def test_the_table_of_a_tree_whose_nodes_were_not_tested_is_empty(model, steps):
    X, y = steps
    for rows, target in ((slice(None), np.zeros(300)), (slice(10), y[:10])):
        tree = model.fit(X[rows], target).tree_
        for copy in (tree, treewright.Tree.from_dict(tree.to_dict())):
            assert len(copy.node_tests()) == len(copy.node_tests(0)) == 0
            assert str(copy.node_tests(0)) == "no tests"
        assert "p = " not in str(tree)


def test_importances_are_decreases_of_impurity(steps):
    X, y = steps
    model = CTreeClassifier().fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert np.argmax(model.feature_importances_) == 1
    tree = model.tree_
    share = tree.weight / tree.weight[0]
    left, right = tree.children(0)
    decrease = tree.impurity[0] - share[[left, right]] @ tree.impurity[[left, right]]
    assert tree.gain[0] == pytest.approx(decrease)


def test_trees_can_be_pruned_by_every_pruner():
    data = load_iris()
    tree = CTreeClassifier(alpha=1.0).fit(data.data, data.target).tree_
    for pruned in (cost_complexity(tree, 0.05), pessimistic(tree)):
        assert 1 < pruned.n_leaves < tree.n_leaves
        assert set(pruned.tests.node) <= set(range(pruned.n_nodes))
        assert "p <" in pruned.to_text()
    model = CTreeClassifier(alpha=1.0, ccp_alpha="cv", random_state=0).fit(data.data, data.target)
    assert model.get_n_leaves() < tree.n_leaves
    assert len(model.cp_table_) > 1
    path = CTreeClassifier(alpha=1.0).cost_complexity_pruning_path(data.data, data.target)
    assert len(path.ccp_alphas) > 1


def test_a_saved_model_keeps_its_tests(titanic, tmp_path):
    X, y, hints = titanic
    model = CTreeClassifier(**hints).fit(X, y)
    treewright.save(model, tmp_path / "model")
    loaded = treewright.load(tmp_path / "model")
    assert str(loaded.tree_.node_tests()) == str(model.tree_.node_tests())
    assert loaded.tree_.to_text() == model.tree_.to_text()
    assert (loaded.predict(X) == model.predict(X)).all()


def test_it_bags_and_boosts_in_scikit_learn(steps):
    X, y = steps
    single = cross_val_score(CTreeClassifier(), X, y).mean()
    for ensemble in (
        BaggingClassifier(CTreeClassifier(alpha=1.0, max_features=2), 10, random_state=0),
        AdaBoostClassifier(
            CTreeClassifier(max_depth=2, alpha=0.5), n_estimators=10, random_state=0
        ),
    ):
        assert cross_val_score(ensemble, X, y).mean() > single - 0.1
    number = X["b"] + 0.1 * X["a"]
    forest = BaggingRegressor(CTreeRegressor(alpha=1.0), 10, random_state=0)
    assert cross_val_score(forest, X, number).mean() > 0.7


def test_every_node_of_the_diagram_says_its_p_value(steps):
    X, y = steps
    tree = CTreeClassifier().fit(X, y).tree_
    assert tree.to_svg().count("p &lt; 0.001") >= 1
    assert "adjusted p" in tree.to_text()
    assert tree.rules()[0].log_p == pytest.approx(max(tree.log_p[n] for n in path_to(tree)))


def path_to(tree):
    """Inner nodes on the way to the first leaf."""
    node, passed = 0, []
    while not tree.is_leaf[node]:
        passed.append(node)
        node = tree.children(node)[0]
    return passed


def test_numbers_of_any_size_are_taken():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=100)
    plain = CTreeRegressor().fit(X, y).tree_
    for scale, of_target in ((1e250, 1e140), (1e-250, 1e-250)):
        other = CTreeRegressor().fit(X * scale, y * of_target).tree_
        np.testing.assert_allclose(other.tests.statistic, plain.tests.statistic, rtol=1e-9)


def test_a_surrogate_that_agrees_less_than_chance_gets_no_credit():
    rng = np.random.default_rng(0)
    a = rng.random(300) < 0.25
    b = np.where(a, rng.random(300) < 0.55, rng.random(300) < 0.75)
    gaps = np.where(rng.random(300) < 0.1, np.nan, a.astype(float))
    X = pd.DataFrame({"a": gaps, "b": b.astype(float), "c": rng.normal(size=300)})
    tree = CTreeClassifier(missing="surrogate", max_surrogates=2).fit(X, a.astype(int)).tree_
    assert tree.surrogate_adjusted.min() < 0
    importance = tree.feature_importances(surrogates=True)
    assert importance.min() >= 0
    assert np.isclose(importance.sum(), 1)
