"""AdaBoost: the theory of its rounds, its algorithms, its files and its refusals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import treewright
from treewright import AdaBoostClassifier, AdaBoostRegressor, datasets
from treewright.errors import DataError, ParameterError, WeakMemberWarning

CANCER = load_breast_cancer(return_X_y=True)
IRIS = load_iris(return_X_y=True)
ALGORITHMS = ["samme", "m1", "real", "gentle"]


# Worked example 24


def test_member_weights_are_half_the_log_odds_of_their_errors():
    model = AdaBoostClassifier(n_estimators=20, algorithm="m1").fit(*CANCER)
    errors = model.estimator_errors_
    assert np.all((errors > 0) & (errors < 0.5))
    np.testing.assert_allclose(model.estimator_weights_, 0.5 * np.log(1 / errors - 1))
    np.testing.assert_allclose(model.edges_, 0.5 - errors)


@pytest.mark.parametrize("algorithm", ["samme", "m1"])
def test_training_error_is_below_the_product_and_that_below_the_exponential(algorithm):
    model = AdaBoostClassifier(n_estimators=30, algorithm=algorithm).fit(*CANCER)
    bound, errors = model.training_error_bound_, model.estimator_errors_
    np.testing.assert_allclose(bound.product, np.cumprod(2 * np.sqrt(errors * (1 - errors))))
    smallest = model.edges_.min()
    np.testing.assert_allclose(bound.exponential[-1], np.exp(-2 * smallest**2 * len(model)))
    assert np.all(model.training_errors_ <= bound.product)
    assert np.all(bound.product <= bound.exponential + 1e-15)
    assert bound.product[-1] < 0.05


def test_m1_has_a_bound_for_three_classes_and_samme_has_none():
    m1 = AdaBoostClassifier(n_estimators=5, algorithm="m1").fit(*IRIS)
    assert np.all(m1.training_errors_ <= m1.training_error_bound_.product)
    samme = AdaBoostClassifier(n_estimators=5).fit(*IRIS)
    with pytest.raises(AttributeError, match="two classes"):
        _ = samme.training_error_bound_
    assert samme.error_curve().bound is None


def test_samme_and_m1_vote_alike_for_two_classes():
    samme = AdaBoostClassifier(n_estimators=20).fit(*CANCER)
    m1 = AdaBoostClassifier(n_estimators=20, algorithm="m1").fit(*CANCER)
    np.testing.assert_allclose(samme.estimator_weights_, 2 * m1.estimator_weights_)
    np.testing.assert_array_equal(samme.predict(CANCER[0]), m1.predict(CANCER[0]))


def test_rounds_are_those_of_a_plain_loop():
    X, y = CANCER
    weight = np.full(len(y), 1 / len(y))
    model = AdaBoostClassifier(n_estimators=6, algorithm="m1").fit(X, y)
    for k, member in enumerate(model.estimators_):
        wrong = member.predict(X) != y
        error = weight[wrong].sum()
        np.testing.assert_allclose(model.estimator_errors_[k], error, rtol=1e-9)
        half = 0.5 * np.log(1 / error - 1)
        weight = weight * np.exp(np.where(wrong, half, -half))
        weight /= weight.sum()


@pytest.mark.parametrize(("algorithm", "step"), [("real", "log"), ("gentle", "difference")])
def test_real_and_gentle_follow_friedmans_steps(algorithm, step):
    X, y = CANCER
    sign, weight, total = np.where(y == 1, 1.0, -1.0), np.full(len(y), 1 / len(y)), 0.0
    model = AdaBoostClassifier(n_estimators=5, algorithm=algorithm).fit(X, y)
    for member in model.estimators_:
        p = np.maximum(member.predict_proba(X), 1e-5 if step == "log" else 0.0)
        said = 0.5 * np.log(p[:, 1] / p[:, 0]) if step == "log" else p[:, 1] - p[:, 0]
        mine = treewright.CARTClassifier(max_depth=1, continuous_split="at_most")
        mine.fit(X, y, sample_weight=weight * len(y))
        np.testing.assert_array_equal(member.predict(X), mine.predict(X))
        weight = weight * np.exp(-sign * said)
        weight /= weight.sum()
        total = total + said
    np.testing.assert_allclose(model.decision_function(X), 2 * total)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * total)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_weights_are_as_good_as_repeated_rows(algorithm):
    X, y = CANCER[0][:200], CANCER[1][:200]
    times = np.arange(200) % 3
    weighted = AdaBoostClassifier(n_estimators=5, algorithm=algorithm).fit(X, y, times)
    again = np.repeat(np.arange(200), times)
    repeated = AdaBoostClassifier(n_estimators=5, algorithm=algorithm).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X))


# Reading a model


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_last_stage_is_the_model(algorithm):
    X, y = CANCER
    model = AdaBoostClassifier(n_estimators=7, algorithm=algorithm).fit(X[::2], y[::2])
    *_, label = model.staged_predict(X)
    *_, probability = model.staged_predict_proba(X)
    *_, decision = model.staged_decision_function(X)
    *_, score = model.staged_score(X, y)
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_array_equal(probability, model.predict_proba(X))
    np.testing.assert_array_equal(decision, model.decision_function(X))
    assert score == model.score(X, y) > 0.9


def test_margins_are_positive_where_the_vote_is_right_and_between_minus_one_and_one():
    X, y = IRIS
    model = AdaBoostClassifier(n_estimators=8).fit(X, y)
    margins = model.margins(X, y)
    np.testing.assert_array_equal(margins > 0, model.predict(X) == y)
    assert margins.min() >= -1
    assert margins.max() <= 1


def test_more_rounds_raise_the_smallest_margin():
    X, y = CANCER
    few = AdaBoostClassifier(n_estimators=5).fit(X, y).margins(X, y)
    many = AdaBoostClassifier(n_estimators=100).fit(X, y).margins(X, y)
    assert many.min() > 0 > few.min()


def test_the_curve_has_training_bound_and_test_error_and_draws_them():
    X, y = CANCER
    model = AdaBoostClassifier(n_estimators=4, algorithm="m1").fit(X[::2], y[::2])
    curve = model.error_curve(X[1::2], y[1::2])
    assert list(curve.frame().columns) == ["round", "training", "bound", "test"]
    assert curve.test[-1] == pytest.approx(1 - model.score(X[1::2], y[1::2]))
    assert len(curve.plot().get_lines()) == 3
    assert "training" in str(curve)
    assert "<table>" in curve._repr_html_()


def test_gaps_and_categories_go_to_the_members_as_they_are():
    titanic = datasets.load_titanic()
    model = AdaBoostClassifier(treewright.C45Classifier(), n_estimators=5)
    assert model.fit(titanic.data, titanic.target).score(titanic.data, titanic.target) > 0.85
    assert "Outcome" not in model.summary()
    assert "weighted error" in model.summary()


def test_a_member_of_scikit_learn_gives_scikit_learns_model():
    X, y = CANCER
    base = DecisionTreeClassifier(max_depth=1, random_state=0)
    ours = AdaBoostClassifier(base, n_estimators=10).fit(X, y)
    theirs = SklearnAdaBoost(base, n_estimators=10).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)


def test_members_without_weights_are_given_drawn_rows():
    X, y = IRIS
    with pytest.raises(ParameterError, match='method="resample"'):
        AdaBoostClassifier(KNeighborsClassifier()).fit(X, y)
    model = AdaBoostClassifier(
        KNeighborsClassifier(1), method="resample", n_estimators=5, random_state=0
    ).fit(X, y)
    assert model.score(X, y) > 0.95


def test_the_same_seed_draws_the_same_rows():
    X, y = CANCER
    one, two, other = (
        AdaBoostClassifier(method="resample", n_estimators=5, random_state=s).fit(X, y)
        for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.estimator_errors_, two.estimator_errors_)
    assert not np.array_equal(one.estimator_errors_, other.estimator_errors_)


# The end


def test_a_perfect_member_ends_the_boosting():
    X = np.arange(10.0)[:, None]
    model = AdaBoostClassifier().fit(X, X[:, 0] > 4)
    assert len(model) == 1
    assert model.training_errors_[0] == 0


def test_a_first_member_no_better_than_chance_stays_alone_with_a_warning():
    X = np.zeros((40, 1))
    y = np.arange(40) % 4
    with pytest.warns(WeakMemberWarning, match="below 0.5"):
        model = AdaBoostClassifier(algorithm="m1").fit(X, y)
    assert len(model) == 1
    np.testing.assert_array_equal(model.predict(X), 0)


# Numbers


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("method", ["resample", "reweight"])
def test_boosted_numbers_are_better_than_one_tree(loss, method):
    X, y = load_diabetes(return_X_y=True)
    model = AdaBoostRegressor(loss=loss, method=method, random_state=0).fit(X[::2], y[::2])
    one = model.estimators_[0].score(X[1::2], y[1::2])
    assert model.score(X[1::2], y[1::2]) > one
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    *_, score = model.staged_score(X, y)
    assert score == pytest.approx(model.score(X, y))


def test_the_prediction_is_the_weighted_median_of_the_members():
    X, y = load_diabetes(return_X_y=True)
    model = AdaBoostRegressor(n_estimators=9, random_state=0).fit(X, y)
    each = np.array([m.predict(X) for m in model.estimators_])
    for row in range(0, 400, 50):
        order = np.argsort(each[:, row])
        below = np.cumsum(model.estimator_weights_[order])
        k = np.flatnonzero(below >= below[-1] / 2)[0]
        assert model.predict(X)[row] == each[order[k], row]


def test_weights_of_drucker_come_from_the_mean_loss():
    X, y = load_diabetes(return_X_y=True)
    model = AdaBoostRegressor(n_estimators=5, method="reweight").fit(X, y)
    errors = model.estimator_errors_
    np.testing.assert_allclose(model.estimator_weights_, np.log((1 - errors) / errors))


# Files and refusals


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(n_estimators=5),
        AdaBoostClassifier(treewright.C45Classifier(), n_estimators=3, algorithm="m1"),
        AdaBoostClassifier(n_estimators=3, algorithm="real", random_state=1),
    ],
)
def test_a_saved_classifier_is_the_same(model, tmp_path):
    titanic = datasets.load_titanic()
    model.fit(titanic.data, titanic.target)
    treewright.save(model, tmp_path / "m.tw")
    again = treewright.load(tmp_path / "m.tw")
    np.testing.assert_array_equal(
        again.predict_proba(titanic.data), model.predict_proba(titanic.data)
    )
    np.testing.assert_array_equal(again.training_errors_, model.training_errors_)


def test_a_saved_regressor_is_the_same(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = AdaBoostRegressor(n_estimators=4, random_state=0).fit(X, y)
    treewright.save(model, tmp_path / "m.tw")
    np.testing.assert_array_equal(treewright.load(tmp_path / "m.tw").predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("model", "y", "sentence"),
    [
        (AdaBoostClassifier(treewright.CARTRegressor()), IRIS[1], "must be a classifier"),
        (AdaBoostRegressor(treewright.CARTClassifier()), IRIS[1], "must be a regressor"),
        (AdaBoostClassifier(algorithm="gentle"), IRIS[1], "is for two classes, got 3"),
        (AdaBoostClassifier(learning_rate=0), IRIS[1], "learning_rate must be"),
        (AdaBoostClassifier(algorithm="best"), IRIS[1], "algorithm must be"),
        (AdaBoostRegressor(), np.ones((150, 2)), "predicts one number"),
    ],
)
def test_what_cannot_be_boosted_is_refused_in_one_sentence(model, y, sentence):
    with pytest.raises((ParameterError, DataError), match=sentence):
        model.fit(IRIS[0], y)


def test_margins_of_unknown_classes_are_refused():
    model = AdaBoostClassifier(n_estimators=3).fit(*IRIS)
    with pytest.raises(DataError, match="classes of training"):
        model.margins(IRIS[0], IRIS[1] + 7)


# Weights far apart, rates far from one


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rounds_go_on_when_weights_are_far_apart(algorithm):
    base = treewright.CARTClassifier(max_depth=3)
    model = AdaBoostClassifier(base, algorithm=algorithm, n_estimators=60, random_state=0)
    assert len(model.fit(*CANCER)) == 60
    assert model.training_errors_[-1] == 0


def test_scikit_learns_adaboost_goes_on_over_a_tree_of_ours():
    base = treewright.CARTClassifier(max_depth=3)
    model = SklearnAdaBoost(base, n_estimators=60, random_state=0).fit(*CANCER)
    assert len(model.estimators_) == 60
    assert model.score(*CANCER) == 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rate", [1e-100, 1, 1e3, 1e100])
@pytest.mark.parametrize("method", ["reweight", "resample"])
def test_any_learning_rate_gives_numbers_and_a_file(algorithm, rate, method, tmp_path):
    model = AdaBoostClassifier(
        algorithm=algorithm, learning_rate=rate, method=method, n_estimators=5, random_state=0
    ).fit(*CANCER)
    probability = model.predict_proba(CANCER[0])
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert np.all(np.isfinite(model.feature_importances_))
    treewright.save(model, tmp_path / "m.tw")
    loaded = treewright.load(tmp_path / "m.tw")
    np.testing.assert_array_equal(loaded.predict_proba(CANCER[0]), probability)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("rate", [1e-100, 1e10, 1e100])
def test_any_learning_rate_gives_a_median(loss, rate):
    X, y = load_diabetes(return_X_y=True)
    model = AdaBoostRegressor(loss=loss, learning_rate=rate, n_estimators=4, random_state=0)
    assert np.all(np.isfinite(model.fit(X, y).predict(X)))


def test_members_that_are_as_good_as_chance_but_for_rounding_end_the_boosting(tmp_path):
    X = np.zeros((30, 1))
    with pytest.warns(WeakMemberWarning):
        model = AdaBoostClassifier().fit(X, np.arange(30) % 3)
    assert len(model) == 1
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    treewright.export(model, tmp_path / "m.json")


class SilentTree(DecisionTreeClassifier):
    """A tree whose fit returns nothing."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    "team",
    [
        AdaBoostClassifier(SilentTree(), n_estimators=3),
        AdaBoostClassifier(SilentTree(), n_estimators=3, method="resample"),
        treewright.BaggingClassifier(SilentTree(), n_estimators=3),
        treewright.BaggingClassifier(SilentTree(), n_estimators=3, bootstrap=False),
        treewright.VotingClassifier([("silent", SilentTree())]),
        treewright.StackingClassifier([("silent", SilentTree())], final_estimator=SilentTree()),
        treewright.CostSensitiveClassifier(SilentTree()),
    ],
    ids=lambda team: type(team).__name__,
)
def test_members_need_not_return_themselves(team):
    assert team.fit(*IRIS).score(*IRIS) > 0.9


@pytest.mark.parametrize("learner", [AdaBoostClassifier, AdaBoostRegressor])
def test_threads_are_not_part_of_the_members(learner, tmp_path):
    files = []
    for n_jobs in (None, 1, 2, -1):
        model = learner(n_estimators=3, n_jobs=n_jobs, random_state=0).fit(*IRIS)
        treewright.save(model.set_params(n_jobs=None), tmp_path / "m.tw")
        files.append((tmp_path / "m.tw").read_bytes())
    assert len(set(files)) == 1


def test_importances_are_shares_where_a_member_is_a_single_leaf():
    X = {"a": [0.0, 0.0, 0.0], "b": ["red", "red", "blue"]}
    model = AdaBoostRegressor(random_state=0).fit(X, [0, 1, 0])
    assert min(member.tree_.n_nodes for member in model.estimators_) == 1
    assert model.feature_importances_.tolist() == [0.0, 1.0]
