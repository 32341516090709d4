"""What the rows left out tell: score, error path, importances."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import f1_score

import treewright as tw
from treewright.errors import DataError, OutOfBagWarning, ParameterError


@pytest.fixture
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture
def diabetes():
    return load_diabetes(return_X_y=True)


def test_the_answer_of_a_row_comes_from_the_trees_that_did_not_see_it(iris):
    X, y = iris
    model = tw.RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    total, n = np.zeros((150, 3)), np.zeros(150)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(150), rows)
        total[out] += member.predict_proba(X[out])
        n[out] += 1
    assert_allclose(model.oob_decision_function_, total / n[:, None])
    assert model.oob_score_ == np.mean(model.classes_[total.argmax(axis=1)] == y)


def test_the_score_of_numbers_is_the_coefficient_of_determination(diabetes):
    X, y = diabetes
    model = tw.RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    residual = y - model.oob_prediction_
    assert model.oob_score_ == pytest.approx(1 - np.mean(residual**2) / np.var(y))


def test_a_score_of_ones_own_replaces_it(iris):
    def mean_f1(truth, said):
        return f1_score(truth, said, average="macro")

    model = tw.RandomForestClassifier(30, oob_score=mean_f1, random_state=0).fit(*iris)
    said = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == mean_f1(iris[1], said)


def test_rows_that_every_tree_saw_are_told_of(iris):
    with pytest.warns(OutOfBagWarning, match="of 150 rows were seen by every member"):
        model = tw.RandomForestClassifier(2, oob_score=True, random_state=0).fit(*iris)
    assert np.isnan(model.oob_decision_function_).any()


def test_the_error_path_ends_at_the_error_of_the_forest(iris, diabetes):
    model = tw.RandomForestClassifier(60, oob_score=True, random_state=0).fit(*iris)
    path = model.oob_error_path(*iris)
    assert len(path) == 60
    assert path.errors[-1] == pytest.approx(1 - model.oob_score_)
    assert path.by_class[-1].mean() == pytest.approx(path.errors[-1])  # classes are equally large
    assert list(path.frame().columns) == ["members", "error", "error(a)", "error(b)", "error(c)"]
    assert "members" in str(path)
    assert "<table" in path._repr_html_()
    assert len(path.plot().get_lines()) == 4
    X, y = diabetes
    numbers = tw.RandomForestRegressor(30, oob_score=True, random_state=0).fit(X, y)
    path = numbers.oob_error_path(X, y)
    assert path.errors[-1] == pytest.approx(np.mean((y - numbers.oob_prediction_) ** 2))
    assert path.errors[-1] < path.errors[2]


def test_questions_about_training_rows_want_the_training_rows(iris):
    model = tw.RandomForestClassifier(5, random_state=0).fit(*iris)
    with pytest.raises(DataError, match="must be the training data"):
        model.oob_error_path(iris[0][:50], iris[1][:50])
    whole = tw.ExtraTreesClassifier(5).fit(*iris)
    with pytest.raises(ParameterError, match="needs rows that members did not see"):
        whole.permutation_importance_oob(*iris)


def test_shuffling_hurts_where_a_feature_matters_only(diabetes):
    X, y = diabetes
    rng = np.random.default_rng(0)
    X = np.column_stack([X[:, [2, 8]], rng.normal(size=(442, 2))])
    model = tw.RandomForestRegressor(80, max_features=2, random_state=0).fit(X, y)
    found = model.permutation_importance_oob(X, y)
    assert np.all(found.z[:2] > 5)
    assert np.all(np.abs(found.importance[2:]) < 0.1 * found.importance[:2].min())
    assert set(found.order[:2]) == {0, 1}


def test_permutation_importance_is_the_mean_loss_over_the_trees(iris):
    X, y = iris
    model = tw.RandomForestClassifier(10, random_state=0).fit(X, y)
    found = model.permutation_importance_oob(X, y)
    from treewright.kernels.forest import shuffled_order

    lost = np.zeros((10, 4))
    for k, (member, rows) in enumerate(
        zip(model.estimators_, model.estimators_samples_, strict=True)
    ):
        out = np.setdiff1d(np.arange(150), rows)
        right = np.mean(member.predict(X[out]) == y[out])
        for feature in range(4):
            moved = X[out].copy()
            order = shuffled_order(model._draws.seed, k, feature, len(out))
            moved[:, feature] = moved[order, feature]
            lost[k, feature] = right - np.mean(member.predict(moved) == y[out])
    assert_allclose(found.importance, lost.mean(axis=0), atol=1e-12)
    assert_allclose(found.standard_error, lost.std(axis=0, ddof=1) / np.sqrt(10), atol=1e-12)


@pytest.mark.parametrize("method", ["corrected", "oob"])
def test_unbiased_importance_does_not_reward_many_values(method):
    rng = np.random.default_rng(1)
    n = 400
    X = np.column_stack([rng.integers(0, 2, n), rng.integers(0, 10, n), rng.normal(size=n)])
    y = np.where(rng.random(n) < 0.2, rng.integers(0, 2, n), X[:, 0] > 0).astype(int)
    model = tw.RandomForestClassifier(150, max_features=1, random_state=0).fit(X, y)
    plain = model.feature_importances_
    assert plain[2] > 0.15  # noise, but with four hundred values
    found = model.impurity_importance(X, y, method=method)
    assert found.importance[0] > 10 * np.abs(found.importance[1:]).max()


def test_importances_are_tables_and_pictures(iris):
    model = tw.RandomForestClassifier(10, random_state=0).fit(*iris)
    found = model.permutation_importance_oob(*iris)
    assert list(found.frame().columns) == ["feature", "importance", "standard_error", "z"]
    assert len(str(found).splitlines()) == 6
    assert "<table" in found._repr_html_()
    assert len(found.plot().get_yticklabels()) == 4
    with pytest.raises(ParameterError, match="method must be"):
        model.impurity_importance(*iris, method="guess")


def test_mean_decrease_of_impurity_is_the_mean_over_the_trees(iris):
    model = tw.RandomForestClassifier(10, random_state=0).fit(*iris)
    mean = np.mean([member.feature_importances_ for member in model.estimators_], axis=0)
    assert_allclose(model.feature_importances_, mean / mean.sum())


def test_the_order_of_columns_does_not_favour_the_first():
    # of equal splits the one drawn first is made, not the one of the first column
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    X = np.column_stack([x, x, x, x])
    y = (x + rng.normal(scale=0.5, size=300) > 0).astype(int)
    model = tw.RandomForestClassifier(200, max_features=2, random_state=0).fit(X, y)
    assert_allclose(model.feature_importances_, 0.25, atol=0.08)


def test_importances_of_bags_of_other_trees(iris):
    X, y = iris
    model = tw.BaggingClassifier(tw.C45Classifier(), 20, random_state=0).fit(X, y)
    found = model.permutation_importance_oob(X, y)
    assert set(found.order[:2].tolist()) == {2, 3}
    assert set(model.impurity_importance(X, y).order[:2].tolist()) == {2, 3}
    patches = tw.BaggingClassifier(n_estimators=20, method="patches", random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match='use method="oob"'):
        patches.impurity_importance(X, y)
    assert len(patches.impurity_importance(X, y, method="oob")) == 4
    rules = tw.BaggingClassifier(tw.C50Classifier(rules=True), 3).fit(X, y)
    with pytest.raises(ParameterError, match="members that are trees"):
        rules.permutation_importance_oob(X, y)
    assert not hasattr(rules, "feature_importances_")


def test_rows_are_the_same_each_time_they_are_asked_for(iris):
    model = tw.RandomForestClassifier(5, random_state=0).fit(*iris)
    for one, other in zip(model.estimators_samples_, model.estimators_samples_, strict=True):
        assert_array_equal(one, other)
