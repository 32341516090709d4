"""Curves, bias and variance, boundaries, and the error of one tree."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from treewright import (
    BaggingClassifier,
    CARTClassifier,
    CARTRegressor,
    bias_variance,
    complexity_curve,
    cross_validate,
    datasets,
    decision_boundary,
    evaluate,
    generalization_error,
    learning_curve,
)
from treewright.errors import ParameterError

IRIS = datasets.load_iris()
TITANIC = datasets.load_titanic()
RINGS = datasets.two_rings(300, random_state=0)


@pytest.fixture(autouse=True)
def _close_figures():
    import matplotlib

    matplotlib.use("Agg")
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


def test_the_last_point_of_a_learning_curve_is_cross_validation():
    curve = learning_curve(
        CARTClassifier(), TITANIC.data, TITANIC.target, [0.2, 1.0], folds=4, random_state=7
    )
    whole = cross_validate(CARTClassifier(), TITANIC.data, TITANIC.target, folds=4, random_state=7)
    assert curve.mean["validation"][-1] == pytest.approx(whole.fold_frame()["error"].mean())
    assert (curve.mean["training"] < curve.mean["validation"]).all()
    assert curve.values == (134, 668)


def test_a_curve_of_another_figure():
    curve = learning_curve(
        CARTRegressor(max_depth=3),
        np.arange(60.0)[:, None],
        np.arange(60.0) ** 2,
        [10, 40],
        measure="r2",
        random_state=0,
    )
    assert curve.mean["validation"][1] > curve.mean["validation"][0]
    assert list(curve.frame()["training rows"]) == [10, 40]
    assert "R²" in str(curve)
    assert "<table>" in curve._repr_html_()
    assert curve.plot().get_xlabel() == "training rows"


def test_test_rows_of_a_complexity_curve_may_be_given():
    X, y = TITANIC.data.to_pandas(), TITANIC.target
    curve = complexity_curve(
        CARTClassifier(),
        X[:600],
        y[:600],
        "max_depth",
        [1, 4],
        test=(X[600:], y[600:]),
        folds=3,
        random_state=0,
    )
    for depth, error in zip((1, 4), curve.mean["test"], strict=True):
        model = CARTClassifier(max_depth=depth).fit(X[:600], y[:600])
        assert error == pytest.approx(evaluate(model, X[600:], y[600:]).error)
    assert curve.plot().get_xlabel() == "max_depth"


def test_a_parameter_that_is_not_there_gets_a_hint():
    with pytest.raises(ParameterError, match="did you mean 'max_depth'"):
        complexity_curve(CARTClassifier(), IRIS.data, IRIS.target, "maxdepth", [1])
    with pytest.raises(ParameterError, match="did you mean 'recall'"):
        learning_curve(CARTClassifier(), IRIS.data, IRIS.target, measure="recal")
    with pytest.raises(ParameterError, match="sizes must be shares"):
        learning_curve(CARTClassifier(), IRIS.data, IRIS.target, [5000])


# -- bias and variance --------------------------------------------------------------------------


def test_a_straight_line_has_bias_and_no_variance_without_noise():
    found = bias_variance(
        LinearRegression(), function=lambda X: X[:, 0], n_train=20, rounds=10, random_state=0
    )
    assert found["bias"] == pytest.approx(0, abs=1e-20)
    assert found["variance"] == pytest.approx(0, abs=1e-20)


def test_the_parts_of_zero_one_loss_add_up_to_the_measured_error():
    def inside(X):
        return np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) < 0.35

    noise, rounds = 0.2, 40
    found = bias_variance(
        CARTClassifier(),
        function=inside,
        n_features=2,
        noise=noise,
        rounds=rounds,
        n_test=400,
        random_state=0,
    )
    random = np.random.RandomState(5)
    errors = []
    for _ in range(rounds):
        X = random.uniform(size=(500, 2))
        y = inside(X) ^ (random.uniform(size=500) < noise)
        model = CARTClassifier().fit(X[:100], y[:100])
        errors.append(np.mean(model.predict(X[100:]) != y[100:]))
    assert found["error"] == pytest.approx(np.mean(errors), abs=0.02)
    parts = found.parts
    net = parts["variance_unbiased"] - parts["variance_biased"]
    assert parts["error"] == pytest.approx(parts["noise"] + parts["bias"] + net)


def test_bias_and_variance_on_data_of_several_models():
    models = {"tree": CARTClassifier(), "bag": BaggingClassifier(n_estimators=15, random_state=0)}
    found = bias_variance(models, TITANIC.data, TITANIC.target, rounds=15, random_state=0)
    tree, bag = found["variance"]
    assert bag < tree
    assert list(found.frame()["model"]) == ["tree", "bag"]
    assert found.plot() is not None
    assert "0/1 loss over 15 training sets" in str(found)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "needs data, X and y, or a known function"),
        ({"X": IRIS.data, "y": IRIS.target, "noise": 0.1}, "noise is for a known function"),
        ({"X": IRIS.data, "y": IRIS.target, "rounds": 1}, "rounds must be"),
    ],
)
def test_bad_wishes_get_one_sentence(settings, words):
    with pytest.raises(ParameterError, match=words):
        bias_variance(CARTClassifier(), **settings)


# -- boundaries ---------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [CARTClassifier(), KNeighborsClassifier(5)])
def test_regions_are_what_the_model_predicts(model):
    X = np.column_stack([RINGS.data["x1"].to_numpy(), RINGS.data["x2"].to_numpy()])
    model.fit(X, RINGS.target)
    display = decision_boundary(model, X, RINGS.target, resolution=30)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    expected = model.predict(grid) == "triangle"
    assert (display.response.ravel() == expected).all()


def test_regions_over_categories_and_gaps():
    model = CARTClassifier(max_depth=4).fit(TITANIC.data, TITANIC.target)
    display = decision_boundary(
        model, TITANIC.data, TITANIC.target, features=["Sex", "Age"], resolution=40
    )
    labels = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert labels == ["female", "male"]
    assert (display.response[:, 0] != display.response[:, -1]).any()


def test_regions_of_numbers_and_of_three_classes():
    X = np.random.default_rng(0).uniform(size=(80, 3))
    display = decision_boundary(CARTRegressor(max_depth=3).fit(X, X[:, 0]), X, X[:, 0], (0, 2))
    assert display.response.shape == (200, 200)
    iris = IRIS.data.to_pandas()
    model = LogisticRegression(max_iter=500).fit(iris, IRIS.target)
    display = decision_boundary(model, iris, IRIS.target, tuple(IRIS.feature_names[2:4]))
    assert set(np.unique(display.response)) == {0, 1, 2}


def test_features_that_are_not_there_are_refused():
    model = CARTClassifier().fit(IRIS.data, IRIS.target)
    with pytest.raises(ParameterError, match="got 'petal'"):
        decision_boundary(model, IRIS.data, IRIS.target, ("petal", 1))


# -- one tree -----------------------------------------------------------------------------------


def test_the_three_estimates_of_one_tree():
    X, y = IRIS.data.to_pandas(), IRIS.target
    rows = np.arange(150) % 3 != 0
    ours = CARTClassifier(max_depth=2).fit(X[rows], y[rows])
    theirs = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[rows], y[rows])
    for method in ("optimistic", "pessimistic"):
        assert float(generalization_error(ours, method)) == pytest.approx(
            float(generalization_error(theirs, method))
        )
    wrong = np.mean(ours.predict(X[rows]) != y[rows])
    assert float(generalization_error(ours.tree_, "optimistic")) == pytest.approx(wrong)
    validated = generalization_error(ours, "validation", X[~rows], y[~rows])
    assert validated.error == np.mean(ours.predict(X[~rows]) != y[~rows])
    assert validated.low < validated.error < validated.high
    assert "validation" in str(validated)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("guess",), "method must be"),
        (("validation",), "pass X and y"),
        (("optimistic", IRIS.data, IRIS.target), 'X and y are for method="validation"'),
    ],
)
def test_estimates_that_cannot_be_made(arguments, words):
    model = CARTClassifier(max_depth=2).fit(IRIS.data, IRIS.target)
    with pytest.raises(ParameterError, match=words):
        generalization_error(model, *arguments)


def test_a_tree_of_numbers_has_no_error_rate():
    model = CARTRegressor(max_depth=2).fit(np.arange(20.0)[:, None], np.arange(20.0))
    with pytest.raises(ParameterError, match="classification tree"):
        generalization_error(model)
