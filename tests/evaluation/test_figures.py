"""Every figure equals scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from treewright.evaluation._evaluation import make_evaluation
from treewright.evaluation._predictions import Predictions


def evaluation(truth, said, proba=None, classes=None, **options):
    truth, said = np.asarray(truth), np.asarray(said)
    classes = np.arange(int(max(truth.max(), said.max())) + 1) if classes is None else classes
    found = Predictions(truth, said, classes, proba)
    given = {"costs": None, "positive": None, "confidence": 0.95, "interval": "wilson", **options}
    return make_evaluation(found.confusion, classes.tolist(), found, **given, model="m", method="")


@st.composite
def labelled(draw):
    k = draw(st.integers(2, 4))
    code = st.integers(0, k - 1)
    rows = draw(st.lists(st.tuples(code, code), min_size=3, max_size=40))
    truth, said = np.transpose([*rows, *((c, c) for c in range(k))])
    seed = draw(st.integers(0, 99))
    proba = np.random.default_rng(seed).dirichlet(np.ones(k), len(truth)).round(2)
    proba[:, 0] += 1 - proba.sum(axis=1)
    return truth, said, np.clip(proba, 0, 1)


AVERAGED = {
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
}


@settings(max_examples=20)
@given(labelled())
def test_figures_of_classes_are_scikit_learns(case):
    truth, said, _ = case
    found = evaluation(truth, said).values
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(truth, said))
    assert found["kappa"] == pytest.approx(metrics.cohen_kappa_score(truth, said), nan_ok=True)
    assert found["mcc"] == pytest.approx(metrics.matthews_corrcoef(truth, said))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(truth, said))
    for name, score in AVERAGED.items():
        for average in ("micro", "macro", "weighted"):
            expected = score(truth, said, average=average, zero_division=0)
            assert found[f"{name}_{average}"] == pytest.approx(expected)
        if truth.max() == 1:
            assert found[name] == pytest.approx(score(truth, said, zero_division=0))


@settings(max_examples=20)
@given(labelled())
def test_figures_of_probabilities_are_scikit_learns(case):
    truth, said, proba = case
    found = evaluation(truth, said, proba).values
    assert found["log_loss"] == pytest.approx(metrics.log_loss(truth, proba))
    expected = metrics.brier_score_loss(truth, proba)
    assert found["brier"] == pytest.approx(expected)
    if truth.max() == 1:
        assert found["roc_auc"] == pytest.approx(metrics.roc_auc_score(truth, proba[:, 1]))
        expected = metrics.average_precision_score(truth, proba[:, 1])
        assert found["average_precision"] == pytest.approx(expected)
    else:
        one_hot = truth[:, None] == np.arange(proba.shape[1])
        for average in ("macro", "weighted"):
            expected = metrics.roc_auc_score(one_hot, proba, average=average)
            assert found[f"roc_auc_{average}"] == pytest.approx(expected)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=3, max_size=40))
def test_figures_of_numbers_are_scikit_learns(pairs):
    truth, said = np.transpose(pairs)
    truth = truth + np.arange(len(truth))
    found = make_evaluation(
        None, (), Predictions(truth, said), None, None, 0.95, "wilson", "m", ""
    ).values
    assert found["rmse"] == pytest.approx(metrics.root_mean_squared_error(truth, said))
    assert found["mae"] == pytest.approx(metrics.mean_absolute_error(truth, said))
    assert found["r2"] == pytest.approx(metrics.r2_score(truth, said))


def test_specificity_and_false_positive_rate_add_up():
    result = evaluation([0, 0, 0, 1, 1], [0, 1, 0, 1, 0])
    assert result["specificity"] == pytest.approx(2 / 3)
    assert result["fpr"] == pytest.approx(1 / 3)
    assert result["tpr"] == result["recall"] == 0.5


def test_every_figure_lies_in_its_interval():
    random = np.random.default_rng(4)
    truth = random.integers(3, size=200)
    proba = random.dirichlet(np.ones(3), 200) + np.eye(3)[truth]
    proba /= proba.sum(axis=1, keepdims=True)
    costs = random.integers(0, 9, size=(3, 3))
    result = evaluation(truth, proba.argmax(axis=1), proba, costs=costs, positive=1)
    assert result.intervals.keys() == result.values.keys()
    for name, (low, high, _) in result.intervals.items():
        assert low <= result[name] <= high, name


def test_weights_of_rows_predicted_often_sum_to_one():
    row = np.array([0, 1, 1, 1, 2, 2])
    found = Predictions(
        np.array([0, 1, 1, 1, 0, 0]), np.array([0, 1, 1, 0, 1, 1]), np.arange(2), row=row
    ).once()
    assert found.n_rows == 3
    assert found.confusion == pytest.approx(np.array([[1, 1], [1 / 3, 2 / 3]]))
