"""Examples 16 to 21 and 26 of the course, by public names."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import cohen_kappa_score

from treewright import (
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    Evaluation,
    accuracy_interval,
    bias_variance,
    complexity_curve,
    datasets,
    evaluate,
    generalization_error,
    pruning,
)

COSTS = [[-1, 100], [1, 0]]


def test_the_more_accurate_model_may_cost_more():
    first = Evaluation.from_confusion([[150, 40], [60, 250]], COSTS, classes=["+", "-"])
    second = Evaluation.from_confusion([[250, 45], [5, 200]], COSTS, classes=["+", "-"])
    assert (first.accuracy, first.total_cost) == (0.8, 3910)
    assert (second.accuracy, second.total_cost) == (0.9, 4255)


def test_accuracy_misleads_where_positives_are_rare_and_the_report_says_so():
    y = np.repeat(["negative", "positive"], [9990, 10])
    X = np.zeros((10_000, 1))
    result = evaluate(DummyClassifier().fit(X, y), X, y)
    assert (result.accuracy, result.recall) == (0.999, 0)
    printed = str(result)
    assert "99.9% of the rows are 'negative'" in printed
    assert "0 of 10 rows were found (recall 0)" in " ".join(printed.split())
    assert "No better than the majority" in printed


def test_three_intervals_of_one_accuracy():
    result = Evaluation.from_confusion([[40, 10], [10, 40]])
    low, high = result.interval("accuracy", method="wald")
    assert (round(low, 3), round(high, 3)) == (0.722, 0.878)
    for method in ("wilson", "clopper-pearson"):
        assert result.interval("accuracy", method) == accuracy_interval(80, 100, method)


def test_macro_and_micro_precision():
    # rows called A, B, C, D: 2, 100, 2, 2, of which 1, 10, 1, 1 are right
    matrix = [[1, 90, 1, 1], [1, 10, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    result = Evaluation.from_confusion(matrix, classes=list("ABCD"))
    assert round(result["precision_macro"], 3) == 0.4
    assert round(result["precision_micro"], 3) == 0.123


def test_kappa_specificity_and_f1_of_a_table():
    tp, fn, fp, tn = 40, 10, 5, 45
    result = Evaluation.from_confusion([[tn, fp], [fn, tp]])
    truth, said = (
        np.repeat([0, 0, 1, 1], [tn, fp, fn, tp]),
        np.repeat([0, 1, 0, 1], [tn, fp, fn, tp]),
    )
    assert result.kappa == pytest.approx(cohen_kappa_score(truth, said))
    assert result.specificity == pytest.approx(tn / (fp + tn))
    assert result.f1 == pytest.approx(2 * tp / (2 * tp + fp + fn))


def test_the_area_is_the_chance_that_a_positive_scores_above_a_negative():
    random = np.random.default_rng(0)
    X = random.integers(0, 6, size=(300, 2)).astype(float)
    y = (X.sum(axis=1) + random.normal(0, 2, 300) > 5).astype(int)
    model = CARTClassifier(max_depth=3).fit(X[:150], y[:150])
    score, truth = model.predict_proba(X[150:])[:, 1], y[150:] == 1
    up, down = score[truth][:, None], score[~truth]
    pairs = np.mean((up > down) + 0.5 * (up == down))
    assert evaluate(model, X[150:], y[150:]).roc_auc == pytest.approx(pairs)


def test_bagging_leaves_bias_and_lowers_variance():
    models = {"tree": CARTRegressor(), "bag": BaggingRegressor(n_estimators=25, random_state=0)}
    found = bias_variance(
        models, function=lambda X: np.sin(6 * X[:, 0]), noise=0.3, rounds=50, random_state=0
    )
    tree, bag = found["variance"]
    assert bag < 0.6 * tree
    assert np.ptp(found["bias"]) < 0.05 * tree
    assert found["error"] == pytest.approx(found["noise"] + found["bias"] + found["variance"])


def test_the_pessimistic_estimate_of_a_tree():
    assert pruning.pessimistic_error(10, 30, 1000) == 0.025
    iris = datasets.load_iris()
    model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
    found = generalization_error(model, "pessimistic")
    assert (found.errors, found.leaves, found.n) == (6, 3, 150)
    assert float(found) == (6 + 3 * 0.5) / 150


def test_training_error_falls_while_test_error_turns_up():
    rings = datasets.two_rings(1000, random_state=1)
    curve = complexity_curve(
        CARTClassifier(), rings.data, rings.target, "max_leaf_nodes", [2, 16, 300], random_state=0
    )
    assert (np.diff(curve.mean["training"]) < 0).all()
    assert curve.best == 16
    assert curve.mean["test"][2] > curve.mean["test"][1]
