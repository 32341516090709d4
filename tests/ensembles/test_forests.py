"""Random forests and extremely randomised trees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import ensemble
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.inspection import partial_dependence
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

import treewright as tw
from tests.contract.estimators import mixed_columns, target_for
from treewright.errors import DataError, ParameterError

FORESTS = [
    tw.RandomForestClassifier,
    tw.RandomForestRegressor,
    tw.ExtraTreesClassifier,
    tw.ExtraTreesRegressor,
]


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def diabetes():
    return load_diabetes(return_X_y=True)


def same_forests(left, right):
    """Bit for bit."""
    assert len(left.estimators_) == len(right.estimators_)
    for one, other in zip(left.estimators_, right.estimators_, strict=True):
        assert one.tree_.to_dict() == other.tree_.to_dict()


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("tree_method", ["exact", "hist"])
def test_the_same_seed_is_the_same_forest_for_any_number_of_threads(kind, tree_method):
    columns = mixed_columns(400)
    y = target_for(kind(), columns)
    fit = {"n_estimators": 25, "random_state": 7, "tree_method": tree_method, "bootstrap": True}
    models = [kind(**fit, oob_score=True, n_jobs=n).fit(columns, y) for n in (1, 2, 3)]
    for model in models[1:]:
        same_forests(models[0], model)
        assert model.oob_score_ == models[0].oob_score_
    other = kind(**{**fit, "random_state": 8}).fit(columns, y)
    assert not np.array_equal(models[0].apply(columns), other.apply(columns))


@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_that_is_grown_further_is_one_grown_at_once(kind):
    columns = mixed_columns()
    y = target_for(kind(), columns)
    whole = kind(25, bootstrap=True, oob_score=True, random_state=1).fit(columns, y)
    grown = kind(4, bootstrap=True, warm_start=True, random_state=1).fit(columns, y)
    grown.set_params(n_estimators=25, oob_score=True).fit(columns, y)
    same_forests(whole, grown)
    assert whole.oob_score_ == grown.oob_score_


def test_a_warm_start_takes_the_same_data_and_no_fewer_trees(iris):
    model = tw.RandomForestClassifier(5, warm_start=True).fit(*iris)
    with pytest.raises(ParameterError, match="n_estimators must not fall"):
        model.set_params(n_estimators=3).fit(*iris)
    with pytest.raises(DataError, match="same data"):
        model.set_params(n_estimators=9).fit(iris[0][:100], iris[1][:100])
    assert len(model.set_params(n_estimators=5).fit(*iris).estimators_) == 5


def test_extra_trees_take_all_rows_and_random_cuts(iris):
    model = tw.ExtraTreesClassifier(5, random_state=0).fit(*iris)
    assert all(len(np.unique(rows)) == 150 for rows in model.estimators_samples_)
    assert model.estimators_[0].splitter == "random"
    first = {round(float(member.tree_.splits.breaks[0]), 6) for member in model.estimators_}
    assert len(first) == 5


def test_a_forest_beats_its_trees_on_new_rows():
    X, y = load_breast_cancer(return_X_y=True)
    tree = cross_val_score(tw.CARTClassifier(), X, y, cv=5).mean()
    forest = cross_val_score(tw.RandomForestClassifier(50, random_state=0), X, y, cv=5).mean()
    assert forest > tree + 0.01
    assert forest > 0.94


def test_balanced_draws_have_as_many_rows_of_every_class():
    X, y = make_classification(600, weights=[0.9], random_state=0)
    model = tw.RandomForestClassifier(5, sampling="balanced", random_state=0).fit(X, y)
    rare = int(np.sum(y == 1))
    for rows in model.estimators_samples_:
        assert np.bincount(y[rows]).tolist() == [rare, rare]
    half = tw.RandomForestClassifier(3, sampling="balanced", max_samples=50, random_state=0)
    assert np.bincount(y[half.fit(X, y).estimators_samples_[0]]).tolist() == [25, 25]


def test_balanced_subsamples_weigh_the_classes_of_every_sample_alike():
    X, y = make_classification(300, weights=[0.8], random_state=1)
    model = tw.RandomForestClassifier(4, class_weight="balanced_subsample", random_state=0)
    for member in model.fit(X, y).estimators_:
        root = member.tree_.value[0]
        assert root[0] == pytest.approx(root[1])


def test_class_weights_draw_the_rare_class_more_often():
    X, y = make_classification(500, weights=[0.9], random_state=2)
    model = tw.RandomForestClassifier(20, class_weight="balanced", random_state=0).fit(X, y)
    assert np.mean(y[np.concatenate(model.estimators_samples_)]) == pytest.approx(0.5, abs=0.03)


def test_rows_without_replacement_are_632_per_thousand(iris):
    model = tw.RandomForestClassifier(3, replace=False, random_state=0).fit(*iris)
    for rows in model.estimators_samples_:
        assert len(rows) == len(np.unique(rows)) == 94


@pytest.mark.parametrize(
    "base",
    [
        tw.C45Classifier(),
        tw.CTreeClassifier(),
        tw.CHAIDClassifier(),
        tw.ID3Classifier(),
        tw.HuntClassifier(nominal_split="multiway"),
        tw.CARTClassifier(max_depth=3),
    ],
)
def test_other_trees_draw_features_at_every_node(base):
    columns = mixed_columns(400)
    y = target_for(base, columns)
    model = tw.RandomForestClassifier(15, base=base, max_features=1, random_state=0)
    roots = {member.tree_.node(0).feature for member in model.fit(columns, y).estimators_}
    assert len(roots) >= 3  # one feature drawn: all of them have their turn
    assert type(model.estimators_[0]) is type(base)
    assert model.score(columns, y) > 0.6


@pytest.mark.parametrize("base", [None, tw.C45Classifier(), tw.HuntClassifier(min_samples_leaf=2)])
def test_a_draw_that_cannot_be_split_goes_on_in_other_trees_too(base):
    """All columns but one have a single row that differs, too few for a leaf."""
    X = (np.arange(60)[:, None] == np.arange(20, 25)).astype(float)
    X[:, 2] = y = np.arange(60) % 2
    own = {"min_samples_leaf": 2} if base is None else {}
    own |= {"max_features": 1, "bootstrap": False, "random_state": 0}
    forest = tw.RandomForestClassifier(20, base=base, **own)
    assert {member.get_n_leaves() for member in forest.fit(X, y).estimators_} == {2}


def test_trees_on_binary_columns_are_as_large_as_scikit_learns():
    """Features that no longer vary count as drawn; if only others were drawn, 12 % are missing."""
    rng = np.random.default_rng(3)
    group = np.minimum(rng.geometric(0.1, 1500) - 1, 29)
    X = np.column_stack([rng.standard_normal((1500, 4)), group[:, None] == np.arange(30)])
    y = X[:, 0] + np.sin(group) + rng.standard_normal(1500) > 0
    leaves = [
        [member.tree_.n_leaves for member in forest.fit(X, y).estimators_]
        for forest in (
            tw.RandomForestClassifier(300, tree_method="exact", random_state=0),
            ensemble.RandomForestClassifier(300, random_state=0),
        )
    ]
    ours, theirs = np.mean(leaves, axis=1)
    error = np.sqrt(np.sum(np.var(leaves, axis=1)) / 300)
    assert abs(ours - theirs) < 4 * error
    assert 4 * error < 0.02 * theirs


@pytest.mark.parametrize("tree_method", ["exact", "hist"])
@pytest.mark.parametrize("column", range(4))
def test_a_value_on_a_threshold_goes_left_as_in_scikit_learn(iris, column, tree_method):
    """Of one column there is one tree; some of its thresholds are on the grid."""
    X, y = np.asarray(iris[0], np.float32)[::2, [column]], np.asarray(iris[1])[::2]
    grid = np.arange(0, 161, dtype=np.float32)[:, None] / 20
    theirs = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert np.isin(theirs.tree_.threshold, grid).any()
    forest = tw.RandomForestClassifier(1, bootstrap=False, tree_method=tree_method).fit(X, y)
    assert_array_equal(forest.predict_proba(grid), theirs.predict_proba(grid))


@pytest.mark.parametrize("kind", ["RandomForest", "Bagging"])
def test_the_own_tree_and_cart_as_a_base_differ_on_a_threshold(kind):
    X, y = [[1.0], [3.0]], [0, 1]
    name = "estimator" if kind == "Bagging" else "base"
    every = {"n_estimators": 3, "bootstrap": False}
    for task in ("Classifier", "Regressor"):
        ensemble_of, cart = getattr(tw, kind + task), getattr(tw, "CART" + task)
        below, at_most = (cart(continuous_split=c) for c in ("below", "at_most"))
        for base, answer in ((None, 0), (cart(), 1), (below, 1), (at_most, 0)):
            model = ensemble_of(**{name: base}, **every).fit(X, y)
            assert model.predict([[2.0]])[0] == answer


def test_a_base_keeps_its_own_parameters_and_must_be_a_tree(iris):
    for parameters in ({"max_depth": 3}, {"criterion": "entropy"}, {"tree_method": "exact"}):
        with pytest.raises(ParameterError, match="with base"):
            tw.RandomForestClassifier(base=tw.C45Classifier(), **parameters).fit(*iris)
    for base in (tw.C50Classifier(), tw.C45Rules(), tw.CARTRegressor()):
        with pytest.raises(ParameterError, match="base must be a tree learner"):
            tw.RandomForestClassifier(base=base).fit(*iris)


def test_draws_that_are_not_made_are_refused(iris):
    for parameters in ({"max_samples": 0.5}, {"replace": False}, {"sampling": "balanced"}):
        with pytest.raises(ParameterError, match="bootstrap=False"):
            tw.RandomForestClassifier(bootstrap=False, **parameters).fit(*iris)


def test_pruned_forests_are_smaller(iris):
    whole = tw.RandomForestClassifier(10, random_state=0).fit(*iris)
    pruned = clone(whole).set_params(ccp_alpha=0.02).fit(*iris)
    n_leaves = [sum(m.get_n_leaves() for m in model.estimators_) for model in (whole, pruned)]
    assert n_leaves[1] < n_leaves[0]


def test_monotone_forests_are_monotone():
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = X[:, 0] - X[:, 1] + rng.normal(scale=0.5, size=300)
    grid = np.linspace(0, 1, 50)
    for kind in (tw.RandomForestRegressor, tw.ExtraTreesRegressor):
        model = kind(20, monotonic_cst=[1, -1, 0], random_state=0).fit(X, y)
        for feature, sign in ((0, 1), (1, -1)):
            rows = np.full((50, 3), 0.5)
            rows[:, feature] = grid
            assert np.all(sign * np.diff(model.predict(rows)) >= -1e-12)


def test_growth_ends_when_the_error_is_flat():
    X, y = load_breast_cancer(return_X_y=True)
    early = {"early_stopping": True, "n_iter_no_change": 10, "tol": 0.01, "random_state": 0}
    model = tw.RandomForestClassifier(500, **early).fit(X, y)
    n = len(model.estimators_)
    assert n < 500
    assert n % 10 == 0
    # and what was grown is the beginning of what would have been grown
    same_forests(model, tw.RandomForestClassifier(n, random_state=0).fit(X, y))
    with pytest.raises(ParameterError, match="early_stopping needs rows"):
        tw.RandomForestClassifier(bootstrap=False, early_stopping=True).fit(X, y)


def test_partial_dependence_works_through_scikit_learn(diabetes):
    X, y = diabetes
    model = tw.RandomForestRegressor(20, random_state=0).fit(X, y)
    found = partial_dependence(model, X, [2], grid_resolution=10)
    assert found["average"].shape == (1, 10)
    assert found["average"][0, -1] > found["average"][0, 0]  # heavier, sicker
    columns = mixed_columns()
    frame = pd.DataFrame(columns)
    labels = target_for(tw.CARTClassifier(), columns)
    forest = tw.RandomForestClassifier(10, random_state=0).fit(frame, labels)
    by_age = partial_dependence(forest, frame, ["income"], grid_resolution=5)
    assert by_age["average"].shape == (3, 5)


def test_callbacks_follow_the_growth(iris, capsys):
    tw.RandomForestClassifier(20).set_callbacks(ProgressBar()).fit(*iris)
    assert "RandomForestClassifier" in capsys.readouterr().out


def test_several_outputs_are_predicted_together(diabetes):
    X, y = diabetes
    both = np.column_stack([y, -y])
    model = tw.RandomForestRegressor(30, oob_score=True, random_state=0).fit(X, both)
    assert model.predict(X).shape == (442, 2)
    assert model.oob_prediction_.shape == (442, 2)
    assert_allclose(model.predict(X)[:, 0], -model.predict(X)[:, 1])


def test_mean_of_probabilities_and_votes_are_what_they_say(iris):
    X, y = iris
    shallow = {"n_estimators": 9, "max_depth": 2, "random_state": 0}
    mean = tw.RandomForestClassifier(**shallow).fit(X, y)
    vote = tw.RandomForestClassifier(**shallow, aggregation="vote").fit(X, y)
    same_forests(mean, vote)
    each = np.mean([member.predict_proba(X) for member in mean.estimators_], axis=0)
    assert_allclose(mean.predict_proba(X), each)
    labels = np.stack([member.predict(X) for member in vote.estimators_])
    assert_allclose(vote.predict_proba(X)[:, 1], (labels == 1).mean(axis=0))


def test_leaves_and_paths_are_those_of_the_trees(iris):
    model = tw.RandomForestClassifier(4, random_state=0).fit(*iris)
    leaves = model.apply(iris[0])
    path, offset = model.decision_path(iris[0])
    for k, member in enumerate(model.estimators_):
        assert_array_equal(leaves[:, k], member.apply(iris[0]))
        own = path[:, offset[k] : offset[k + 1]].toarray()
        assert_array_equal(own, member.decision_path(iris[0]).toarray())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("base", [None, tw.C45Classifier()])
def test_rows_with_gaps_and_infinities_among_others(
    dtype: type, base: tw.C45Classifier | None
) -> None:
    """A gap changes its own row alone, and an infinity is refused wherever it stands."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4)).astype(dtype)
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    forest = tw.RandomForestClassifier(7, base=base, random_state=0).fit(X[:400], y[:400])
    whole = forest.predict_proba(X)
    holed = X.copy()
    holed[2900, 0] = np.nan
    mean = forest.predict_proba(holed)
    others = np.arange(len(X)) != 2900
    assert_array_equal(mean[others], whole[others])
    assert mean[2900].sum() == pytest.approx(1)
    holed[2990, 1] = -np.inf
    for ask in (forest.predict, forest.predict_proba, forest.apply):
        with pytest.raises(DataError, match="column 'x1' contains infinity"):
            ask(holed)


def test_random_cuts_of_ordered_categories_leave_no_leaf_without_rows():
    random = np.random.default_rng(7)
    n, sizes = 200, ["small", "mid", "large"]
    size = pd.Categorical(random.choice(sizes, n), sizes, ordered=True)
    X = pd.DataFrame({"size": size, "b": random.normal(size=n)})
    X.loc[random.random(n) < 0.1, "size"] = None
    model = tw.ExtraTreesClassifier(n_estimators=40, max_depth=6, random_state=0)
    model.fit(X, random.integers(0, 3, n))
    assert all(member.tree_.n_samples.min() > 0 for member in model.estimators_)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def ordered_and_numbers(code):
    """A column of ordered categories, and the same as numbers."""
    levels = [f"level {k}" for k in range(code.max() + 1)]
    ordered = pd.DataFrame({"a": pd.Categorical.from_codes(code, levels, ordered=True)})
    return ordered, np.where(code < 0, np.nan, code)[:, None].astype(float)


@pytest.mark.parametrize("n_levels", [3, 9, 300])
@pytest.mark.parametrize("has_gaps", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda: tw.ExtraTreesClassifier(5, random_state=0),
        lambda: tw.ExtraTreesClassifier(5, criterion="entropy", random_state=0),
        lambda: tw.ExtraTreesRegressor(5, random_state=0),
        lambda: tw.BaggingClassifier(tw.CARTClassifier(splitter="random"), 5, random_state=0),
    ],
)
def test_random_cuts_of_ordered_categories_are_those_of_their_positions(
    make, n_levels, has_gaps, tmp_path
):
    random = np.random.default_rng(0)
    code = random.integers(0, n_levels, 200)
    y = code % 3  # of numbers, or of more than two classes
    if has_gaps:
        code[::5] = -1
    ordered, numbers = ordered_and_numbers(code)
    found, expected = make().fit(ordered, y), make().fit(numbers, y)
    assert_array_equal(found.predict(ordered), expected.predict(numbers))
    tw.save(found, tmp_path / "model")
    assert_array_equal(tw.load(tmp_path / "model").predict(ordered), found.predict(ordered))


@pytest.mark.parametrize("make", [tw.RandomForestClassifier, tw.ExtraTreesClassifier])
def test_constraints_on_one_class_ask_for_nothing(make, tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = make(5, monotonic_cst=[1, 0], random_state=0).fit(X, np.zeros(30))
    tw.save(model, tmp_path / "model")
    assert_array_equal(tw.load(tmp_path / "model").predict(X), np.zeros(30))
