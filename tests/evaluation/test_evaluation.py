"""The Evaluation object: words, tables, figures, and rows that were seen before."""

from __future__ import annotations

import json
import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from treewright import (
    AdaBoostClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    Evaluation,
    GradientBoostingClassifier,
    RandomForestClassifier,
    cross_validate,
    datasets,
    evaluate,
)
from treewright.errors import DataError, ParameterError

IRIS = datasets.load_iris()
CREDIT = datasets.load_german_credit()
TITANIC = datasets.load_titanic()
X, Y = IRIS.data.to_pandas(), IRIS.target
EVEN = np.arange(150) % 2 == 0


@pytest.fixture(scope="module")
def credit():
    model = CARTClassifier(max_depth=4).fit(CREDIT.data.slice(0, 600), CREDIT.target[:600])
    costs = [[0, 5], [1, 0]]
    rest = CREDIT.data.slice(600)
    return evaluate(model, rest, CREDIT.target[600:], positive="bad", costs=costs)


@pytest.mark.parametrize(
    "model",
    [
        CARTClassifier(),
        C45Classifier(),
        RandomForestClassifier(10, random_state=0),
        DecisionTreeClassifier(),
        TheirForest(10, random_state=0),
        AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=5),
        GradientBoostingClassifier(n_estimators=5),
    ],
)
def test_the_training_rows_are_recognised(model):
    model.fit(X[EVEN], Y[EVEN])
    assert (
        "look like the rows that the model was trained on"
        in evaluate(model, X[EVEN], Y[EVEN]).warnings[0]
    )
    assert not any("trained on" in w for w in evaluate(model, X[~EVEN], Y[~EVEN]).warnings)


def test_training_rows_with_gaps_and_text_are_recognised():
    for missing in ("surrogate", "learned"):
        model = CARTClassifier(missing=missing, max_depth=5).fit(TITANIC.data, TITANIC.target)
        assert "trained on" in evaluate(model, TITANIC.data, TITANIC.target).warnings[0]


def test_few_rows_are_called_few():
    model = LogisticRegression(max_iter=500).fit(X[EVEN], Y[EVEN])
    few = np.flatnonzero(~EVEN)[::5]
    assert any(w.startswith("Few test rows") for w in evaluate(model, X.iloc[few], Y[few]).warnings)


def test_a_model_that_beats_nobody_is_told_so():
    random = np.random.default_rng(0)
    noise, y = random.normal(size=(400, 3)), np.repeat(["a", "b"], [250, 150])
    result = cross_validate(CARTClassifier(), noise, y, random_state=0)
    assert any("better than the majority" in w for w in result.warnings)
    y = random.normal(size=400)
    result = cross_validate(CARTRegressor(), noise, y, random_state=0)
    assert any("No better than the mean" in w for w in result.warnings)


def test_a_good_model_on_many_rows_needs_no_words():
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 1))
    result = cross_validate(CARTClassifier(max_depth=1), x, x[:, 0] > 0, random_state=0)
    assert result.warnings == ()


def test_frames_have_a_row_per_thing(credit):
    figures = credit.frame()
    assert set(figures.columns) == {"figure", "value", "low", "high", "interval"}
    assert figures.set_index("figure").loc["accuracy", "interval"] == "wilson"
    assert figures.set_index("figure").loc["roc_auc", "interval"] == "delong"
    classes = credit.class_frame()
    assert list(classes["class"]) == ["bad", "good", "micro", "macro", "weighted"]
    assert classes["recall"][0] == credit.recall
    assert len(credit.prediction_frame()) == 400
    gain = credit.gain_frame()
    assert gain["gain"].iloc[-1] == pytest.approx(1)
    assert gain["lift"].iloc[-1] == pytest.approx(1)
    assert credit.calibration_frame()["rows"].sum() == 400


def test_all_of_it_is_json(credit):
    found = json.loads(json.dumps(credit.to_dict(), allow_nan=False))
    assert found["figures"]["accuracy"]["value"] == credit.accuracy
    assert found["positive"] == "bad"
    folds = cross_validate(CARTClassifier(), X, Y, folds=3, random_state=0).to_dict()
    assert len(json.loads(json.dumps(folds, allow_nan=False))["folds"]) == 3


def test_text_fits_a_page(credit):
    printed = str(credit)
    assert max(map(len, printed.splitlines())) <= 100
    assert "Wrong in" in printed
    assert "mean cost" in printed
    html = credit._repr_html_()
    assert html.count("<table>") == 3


def test_names_of_classes_are_escaped():
    html = Evaluation.from_confusion([[5, 1], [2, 6]], classes=["<b>", "&"])._repr_html_()
    assert "<b>" not in html.replace("<p><b>", "").replace("</b>", "")
    assert "&lt;b&gt;" in html


def test_a_copy_by_pickle_says_the_same(credit):
    assert str(pickle.loads(pickle.dumps(credit))) == str(credit)


@pytest.mark.parametrize("kind", ["roc", "pr", "confusion", "calibration", "gain"])
def test_figures_are_displays(credit, kind):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    display = credit.plot(kind)
    assert type(display).__name__.endswith("Display")
    assert display.ax_.figure is display.figure_
    if kind != "gain":
        many = cross_validate(CARTClassifier(max_depth=2), X, Y, folds=3, random_state=0)
        assert many.plot(kind).ax_ is not None
    plt.close("all")


def test_residuals_of_numbers():
    import matplotlib

    matplotlib.use("Agg")
    x = np.arange(60.0)[:, None]
    result = evaluate(LinearRegression().fit(x[:30], x[:30, 0] ** 2), x[30:], x[30:, 0] ** 2)
    assert result.plot().ax_ is not None
    with pytest.raises(ParameterError, match="'roc' is not for a model of numbers"):
        result.plot("roc")
    with pytest.raises(ParameterError, match="costs is for classes"):
        evaluate(LinearRegression().fit(x, x[:, 0]), x, x[:, 0], costs=[[0, 1], [1, 0]])


def test_frames_of_all_kinds_are_judged_alike():
    model = CARTClassifier(max_depth=4).fit(TITANIC.data, TITANIC.target)
    tables = (TITANIC.data, TITANIC.data.to_pandas(), pl.from_arrow(TITANIC.data))
    assert len({evaluate(model, table, TITANIC.target).accuracy for table in tables}) == 1


def test_a_class_that_training_lacked_is_an_error_of_the_model():
    model = CARTClassifier().fit(X[Y != "virginica"], Y[Y != "virginica"])
    result = evaluate(model, X, Y)
    assert result.confusion[2].sum() == 50
    assert result.class_frame()["recall"][2] == 0


def test_an_attribute_that_is_not_there_is_named(credit):
    with pytest.raises(AttributeError, match="There are accuracy"):
        _ = credit.rmse
    with pytest.raises(KeyError, match="no figure 'speed'"):
        credit["speed"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: evaluate(CARTClassifier(), X, Y), "takes a fitted model"),
        (lambda: evaluate("cart", X, Y), "must be an estimator with fit and predict, got str"),
        (lambda: Evaluation.from_confusion([[1, 2, 3]]), "must be square"),
        (lambda: Evaluation.from_confusion([[1, -2], [0, 1]]), "not below 0"),
        (lambda: Evaluation.from_confusion([[1, 2], [0, 1]], classes="abc"), "name the 2 classes"),
        (lambda: Evaluation.from_confusion([[1, 2], [0, 1]], positive="no"), "positive must be"),
        (
            lambda: Evaluation.from_confusion([[1, 2], [0, 1]], costs=[1, 2]),
            "costs must be a 2 × 2",
        ),
        (lambda: Evaluation.from_confusion([[1, 2], [0, 1]], confidence=95), "confidence must"),
        (lambda: Evaluation.from_confusion([[1, 2], [0, 1]]).plot("pie"), "kind must be one of"),
        (lambda: Evaluation.from_confusion([[1, 2], [0, 1]]).plot("roc"), "needs probabilities"),
        (lambda: Evaluation.from_confusion([[1, 2], [0, 1]]).fold_frame(), "no folds here"),
    ],
)
def test_bad_input_gets_one_sentence(make, words):
    with pytest.raises((ParameterError, DataError), match=words):
        make()
