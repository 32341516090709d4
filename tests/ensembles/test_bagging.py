"""Bagging: what is drawn, who is fitted, how members decide together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import treewright as tw
from tests.contract.estimators import mixed_columns, target_for
from treewright.ensembles.members.bodies import Models, Trees
from treewright.errors import ParameterError


@pytest.fixture
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@parametrize_with_checks(
    [
        tw.BaggingClassifier(DecisionTreeClassifier(), 5, bootstrap=False, max_features=0.99),
        tw.BaggingRegressor(DecisionTreeRegressor(), 5, bootstrap=False),
    ],
    expected_failed_checks=tw.expected_failed_checks,
)
def test_scikit_learn_finds_no_fault_with_trees_of_its_own(estimator, check):
    check(estimator)


@pytest.mark.parametrize("base", [tw.C45Classifier(), tw.C50Classifier(rules=True), LinearSVC()])
def test_members_are_estimators_that_predict(iris, base):
    model = tw.BaggingClassifier(base, 4, random_state=0).fit(*iris)
    assert len(model.estimators_) == 4
    assert all(type(member) is type(base) for member in model.estimators_)
    assert len(model.estimators_[0].predict(iris[0])) == 150


def test_cart_by_the_engine_is_cart_by_its_own_fit(iris):
    X, y = iris
    engine = tw.BaggingClassifier(tw.CARTClassifier(max_depth=3), 6, random_state=3).fit(X, y)
    # a function that changes nothing keeps pruning out of the engine's hands
    own = tw.CARTClassifier(max_depth=3, pruning=_unchanged)
    fitted = tw.BaggingClassifier(own, 6, random_state=3).fit(X, y)
    for one, other in zip(engine.estimators_, fitted.estimators_, strict=True):
        assert_array_equal(one.tree_.first_child, other.tree_.first_child)
        assert_array_equal(one.tree_.splits.breaks, other.tree_.splits.breaks)
        assert_allclose(one.tree_.value, other.tree_.value)


def _unchanged(tree):
    return tree


def test_a_member_is_the_learner_on_its_rows(iris):
    X, y = iris
    model = tw.BaggingClassifier(tw.C45Classifier(), 3, random_state=1).fit(X, y)
    rows = model.estimators_samples_[2]
    alone = tw.C45Classifier().fit(X[rows], y[rows])
    assert str(alone.tree_) == str(model.estimators_[2].tree_)


def test_foreign_members_get_the_same_rows_as_ours(iris):
    X, y = iris
    ours = tw.BaggingClassifier(n_estimators=3, random_state=5).fit(X, y)
    knn = tw.BaggingClassifier(KNeighborsClassifier(1), 3, random_state=5).fit(X, y)
    for one, other in zip(ours.estimators_samples_, knn.estimators_samples_, strict=True):
        assert_array_equal(one, other)
    rows = knn.estimators_samples_[0]
    codes = np.searchsorted(knn.classes_, y[rows])
    alone = KNeighborsClassifier(1).fit(X[rows], codes)
    assert_array_equal(alone.predict(X), knn.estimators_[0].predict(X))


def test_votes_and_means_are_what_they_say(iris):
    X, y = iris
    vote = tw.BaggingClassifier(
        tw.CARTClassifier(max_depth=1), 9, aggregation="vote", random_state=0
    ).fit(X, y)
    labels = np.stack([member.predict(X) for member in vote.estimators_])
    shares = np.stack([(labels == label).mean(axis=0) for label in vote.classes_], axis=1)
    assert_allclose(vote.predict_proba(X), shares)
    mean = tw.BaggingClassifier(
        tw.CARTClassifier(max_depth=1), 9, aggregation="mean", random_state=0
    ).fit(X, y)
    each = np.mean([member.predict_proba(X) for member in mean.estimators_], axis=0)
    assert_allclose(mean.predict_proba(X), each)
    assert_array_equal(mean.predict(X), mean.classes_[each.argmax(axis=1)])


def test_a_base_without_probabilities_votes_or_is_refused(iris):
    model = tw.BaggingClassifier(LinearSVC(), 5, random_state=0).fit(*iris)
    assert set(np.unique(model.predict_proba(iris[0]) * 5)) <= {0, 1, 2, 3, 4, 5}
    with pytest.raises(ParameterError, match='use "vote"'):
        tw.BaggingClassifier(LinearSVC(), aggregation="mean").fit(*iris)


def test_numbers_are_averaged():
    X, y = load_diabetes(return_X_y=True)
    model = tw.BaggingRegressor(tw.CTreeRegressor(), 7, random_state=0).fit(X, y)
    each = np.mean([member.predict(X) for member in model.estimators_], axis=0)
    assert_allclose(model.predict(X), each)


@pytest.mark.parametrize(
    ("method", "rows", "features"),
    [("bagging", "repeat", 4), ("pasting", 94, 4), ("subspaces", 150, 2), ("patches", 94, 2)],
)
def test_methods_by_name_draw_what_they_are_known_for(iris, method, rows, features):
    model = tw.BaggingClassifier(n_estimators=3, method=method, random_state=0).fit(*iris)
    for drawn in model.estimators_samples_:
        if rows == "repeat":
            assert len(drawn) == 150
            assert len(np.unique(drawn)) < 150
        else:
            assert len(drawn) == len(np.unique(drawn)) == rows
    for drawn in model.estimators_features_:
        assert len(np.unique(drawn)) == features


@pytest.mark.parametrize(
    "parameters",
    [
        {"method": "bagging", "bootstrap": False},
        {"method": "bagging", "max_features": 0.5},
        {"method": "pasting", "bootstrap_features": True},
        {"method": "subspaces", "max_samples": 0.5},
        {"method": "patches", "bootstrap_features": True},
    ],
)
def test_a_name_and_a_switch_that_contradict_each_other_are_an_error(iris, parameters):
    with pytest.raises(ParameterError, match=r"method=.* means .* drop one of them"):
        tw.BaggingClassifier(**parameters).fit(*iris)


def test_a_name_takes_the_shares_that_belong_to_it(iris):
    model = tw.BaggingClassifier(
        n_estimators=2, method="patches", max_samples=0.2, max_features=3, random_state=0
    ).fit(*iris)
    assert [len(rows) for rows in model.estimators_samples_] == [30, 30]
    assert [len(features) for features in model.estimators_features_] == [3, 3]


@pytest.mark.parametrize("base", [None, tw.C45Classifier(), KNeighborsClassifier()])
def test_members_do_not_depend_on_threads(iris, base):
    one = tw.BaggingClassifier(base, 6, n_jobs=1, random_state=2).fit(*iris)
    two = tw.BaggingClassifier(base, 6, n_jobs=2, random_state=2).fit(*iris)
    assert_array_equal(one.predict_proba(iris[0]), two.predict_proba(iris[0]))


@pytest.mark.parametrize("base", [None, tw.CTreeClassifier(), KNeighborsClassifier()])
def test_a_bag_that_is_grown_further_is_one_grown_at_once(iris, base):
    X, y = iris
    whole = tw.BaggingClassifier(base, 30, oob_score=True, random_state=4).fit(X, y)
    grown = tw.BaggingClassifier(base, 3, warm_start=True, random_state=4).fit(X, y)
    grown.set_params(n_estimators=30, oob_score=True).fit(X, y)
    assert_array_equal(whole.predict_proba(X), grown.predict_proba(X))
    assert whole.oob_score_ == grown.oob_score_


def test_trees_of_subspaces_are_trees_of_all_features(iris):
    X, y = iris
    model = tw.BaggingClassifier(n_estimators=5, method="subspaces", random_state=0).fit(X, y)
    for member, features in zip(model.estimators_, model.estimators_features_, strict=True):
        used = set(member.tree_.splits.feature[~member.tree_.is_leaf].tolist())
        assert used <= set(features.tolist())
        alone = tw.CARTClassifier().fit(X[:, features], y)
        assert_array_equal(member.predict(X), alone.predict(X[:, features]))


def test_text_and_gaps_reach_members_of_ours_and_pipelines_of_others():
    columns = mixed_columns()
    y = target_for(tw.CARTClassifier(), columns)
    ours = tw.BaggingClassifier(tw.C45Classifier(), 5, random_state=0).fit(columns, y)
    assert isinstance(ours._body, Trees)
    assert ours.score(columns, y) > 0.6
    frame = pd.DataFrame(columns)[["colour", "member"]].fillna("none")
    pipe = make_pipeline(
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["colour", "member"])),
        LogisticRegression(),
    )
    theirs = tw.BaggingClassifier(pipe, 25, oob_score=True, random_state=0).fit(frame, y)
    assert isinstance(theirs._body, Models)
    assert theirs.predict(frame).shape == (120,)
    assert list(theirs.feature_names_in_) == ["colour", "member"]


def test_the_wrong_kind_of_base_is_refused(iris):
    with pytest.raises(ParameterError, match="BaggingRegressor"):
        tw.BaggingClassifier(tw.CARTRegressor()).fit(*iris)
    with pytest.raises(ParameterError, match="BaggingClassifier"):
        tw.BaggingRegressor(tw.CARTClassifier()).fit(iris[0], np.arange(150.0))


def test_weights_are_chances_of_being_drawn(iris):
    X, y = iris
    weight = np.where(np.arange(150) < 50, 20.0, 1.0)
    model = tw.BaggingClassifier(n_estimators=20, random_state=0).fit(X, y, sample_weight=weight)
    drawn = np.concatenate(model.estimators_samples_)
    assert np.mean(drawn < 50) == pytest.approx(1000 / 1100, abs=0.02)


def test_judging_by_rows_left_out_needs_rows_left_out(iris):
    with pytest.raises(ParameterError, match="oob_score needs rows"):
        tw.BaggingClassifier(bootstrap=False, oob_score=True).fit(*iris)
    pasted = tw.BaggingClassifier(method="pasting", n_estimators=30, oob_score=True).fit(*iris)
    assert pasted.oob_score_ > 0.85


@pytest.mark.parametrize("learner", [tw.BaggingRegressor, tw.RandomForestRegressor])
def test_more_rows_than_a_number_can_count_are_refused(learner):
    with pytest.raises(ParameterError, match=r"max_samples must be at most .* got 1e\+308"):
        learner(max_samples=1e308).fit(*load_diabetes(return_X_y=True))
