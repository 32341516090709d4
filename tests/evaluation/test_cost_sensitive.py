"""Models that mind costs, and thresholds that do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import treewright
from treewright import (
    C45Classifier,
    CARTClassifier,
    CostSensitiveClassifier,
    choose_threshold,
    cross_validate,
    datasets,
    evaluate,
    expected_failed_checks,
)
from treewright.errors import DataError, ParameterError

CREDIT = datasets.load_german_credit()
COSTS = {"bad": {"good": 5}, "good": {"bad": 1}}
METHODS = ("threshold", "weights", "metacost")


@parametrize_with_checks(
    [CostSensitiveClassifier(method=method, n_estimators=3) for method in METHODS],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("inner", [C45Classifier(), CARTClassifier(max_depth=4)])
def test_minding_costs_costs_less(method, inner):
    model = CostSensitiveClassifier(inner, COSTS, method=method, random_state=0)
    settings = {"costs": COSTS, "folds": 5, "random_state": 0}
    plain = cross_validate(inner, CREDIT.data, CREDIT.target, **settings)
    minding = cross_validate(model, CREDIT.data, CREDIT.target, **settings)
    assert minding.mean_cost < 0.9 * plain.mean_cost


def test_the_threshold_is_where_expected_costs_cross():
    X, y = np.arange(40.0)[:, None], np.repeat(["no", "yes"], [30, 10])
    model = CostSensitiveClassifier(LogisticRegression(), [[0, 1], [4, 0]]).fit(X, y)
    chance = model.predict_proba(X)[:, 1]
    assert (model.predict(X) == np.where(chance > 1 / 5, "yes", "no")).all()


def test_weights_are_class_weights():
    X, y = CREDIT.data, CREDIT.target
    model = CostSensitiveClassifier(CARTClassifier(max_depth=4), COSTS, method="weights").fit(X, y)
    weighed = CARTClassifier(max_depth=4, class_weight={"bad": 5, "good": 1}).fit(X, y)
    assert (model.predict(X) == weighed.predict(X)).all()


def test_equal_costs_change_no_threshold():
    X, y = CREDIT.data, CREDIT.target
    model = CostSensitiveClassifier(CARTClassifier(max_depth=4)).fit(X, y)
    assert (model.predict(X) == CARTClassifier(max_depth=4).fit(X, y).predict(X)).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_saved_model_predicts_the_same(method, tmp_path):
    model = CostSensitiveClassifier(C45Classifier(), COSTS, method=method, random_state=0)
    model.fit(CREDIT.data, CREDIT.target)
    treewright.save(model, tmp_path / "model.tw")
    loaded = treewright.load(tmp_path / "model.tw")
    assert (loaded.predict(CREDIT.data) == model.predict(CREDIT.data)).all()
    assert (loaded.predict_proba(CREDIT.data) == model.predict_proba(CREDIT.data)).all()


def test_threads_do_not_change_the_relabelling():
    labels = [
        CostSensitiveClassifier(C45Classifier(), COSTS, method="metacost", random_state=0, n_jobs=n)
        .fit(CREDIT.data, CREDIT.target)
        .relabelled_
        for n in (1, 2)
    ]
    assert (labels[0] == labels[1]).all()


def test_relabelling_out_of_the_bag():
    model = CostSensitiveClassifier(
        CARTClassifier(), COSTS, method="metacost", out_of_bag=True, random_state=0
    ).fit(CREDIT.data, CREDIT.target)
    # rows of "good" that look dear become "bad", hardly any the other way round
    changed = pd.crosstab(CREDIT.target, model.relabelled_)
    assert changed.loc["good", "bad"] > 5 * changed.loc["bad", "good"]


def test_other_libraries_take_costs_too():
    X = np.column_stack([CREDIT.data[n].to_numpy() for n in ("duration", "credit_amount", "age")])
    for method in METHODS:
        model = CostSensitiveClassifier(GaussianNB(), COSTS, method=method, random_state=0)
        result = cross_validate(model, X, CREDIT.target, folds=3, costs=COSTS, random_state=0)
        assert result.mean_cost < 1.0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"costs": [[0, 1, 2]]}, "costs must be a 2 × 2 matrix"),
        ({"costs": {"bad": {"goood": 1}}}, "costs must name classes, got 'goood'"),
        ({"costs": {"bad": {"good": 1}}}, "calling 'good' 'bad' has no cost"),
        ({"costs": [[0, 0], [0, 0]], "method": "weights"}, "cost more when it is missed"),
        (
            {"estimator": KNeighborsClassifier(), "method": "weights"},
            "takes sample_weight, which KNeighborsClassifier does not",
        ),
        ({"method": "magic"}, "method must be"),
    ],
)
def test_bad_costs_get_one_sentence(settings, words):
    X = CREDIT.data.select(["duration", "age"]).to_pandas()
    with pytest.raises(ParameterError, match=words):
        CostSensitiveClassifier(**settings).fit(X, CREDIT.target)


# -- thresholds ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged():
    model = CARTClassifier(max_depth=5).fit(CREDIT.data.slice(0, 600), CREDIT.target[:600])
    return model, CREDIT.data.slice(600), CREDIT.target[600:]


def test_the_threshold_of_least_cost_is_the_best_of_all(judged):
    model, X, y = judged
    choice = choose_threshold(model, X, y, by="cost", costs=COSTS, positive="bad")
    found = evaluate(choice.apply(), X, y, costs=COSTS).mean_cost
    assert found == pytest.approx(choice.figures["cost"].min())
    assert found <= evaluate(model, X, y, costs=COSTS).mean_cost


def test_the_threshold_of_largest_f1(judged):
    model, X, y = judged
    choice = choose_threshold(model, X, y, by="f1", positive="bad")
    chance = model.predict_proba(X)[:, 0]
    scores = [f1_score(y == "bad", chance >= t) for t in np.unique(chance)]
    assert choice.figures["f1"][choice.best] == pytest.approx(max(scores))


def test_a_recall_to_reach_is_reached_by_the_highest_threshold(judged):
    model, X, y = judged
    choice = choose_threshold(model, X, y, by=0.8, positive="bad")
    chance = model.predict_proba(X)[:, 0]
    recall = [np.mean(chance[y == "bad"] >= t) for t in np.unique(chance)]
    assert choice.threshold == np.unique(chance)[np.array(recall) >= 0.8].max()
    assert evaluate(choice.apply(), X, y, positive="bad").recall >= 0.8


def test_youden_and_display(judged):
    model, X, y = judged
    choice = choose_threshold(model, X, y, by="youden")
    assert choice.figures["youden"][choice.best] == choice.figures["youden"].max()
    assert "Call 'good' from a probability" in str(choice)
    assert len(choice.frame()) == len(choice.thresholds)
    assert choice.plot() is not None
    assert "<table>" in choice._repr_html_()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"by": "cost"}, 'by="cost" needs costs'),
        ({"by": "f2"}, "by must be"),
        ({"by": 1.5}, "by must be"),
        ({"positive": "worst"}, "positive must be one of the classes 'bad', 'good'"),
    ],
)
def test_bad_wishes_for_a_threshold_get_one_sentence(judged, settings, words):
    with pytest.raises(ParameterError, match=words):
        choose_threshold(*judged, **settings)


def test_a_threshold_needs_two_classes(judged):
    model, X, _ = judged
    with pytest.raises(DataError, match="has only 'good'"):
        choose_threshold(model, X.slice(0, 1), np.array(["good"]))
    iris = datasets.load_iris()
    three = CARTClassifier().fit(iris.data, iris.target)
    with pytest.raises(ParameterError, match="the model has 3"):
        choose_threshold(three, iris.data, iris.target)


def test_shapley_values_cover_classes_that_relabelling_left_without_rows():
    iris = datasets.load_iris()
    costs = [[0, 1, 9], [1, 0, 9], [0, 0, 0]]  # no row is called the third
    model = CostSensitiveClassifier(costs=costs, method="metacost", random_state=0)
    model.fit(iris.data, iris.target)
    assert len(model.estimator_.classes_) == 2
    found = model.shap_values(iris.data)
    assert list(found.output_names) == model.classes_.tolist()
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.predict_proba(iris.data), atol=1e-9)
