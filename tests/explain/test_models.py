"""Partial dependence, importances, stand-ins and nearest changes of any model."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_iris
from sklearn.inspection import partial_dependence as sklearn_dependence

import treewright as tw
from tests.hostile import HOSTILE, can_be_encoded
from treewright import explain
from treewright.datasets import load_titanic
from treewright.errors import DataError, ParameterError


@pytest.fixture(scope="module")
def titanic() -> tuple[Any, Any]:
    data = load_titanic()
    return data.data.to_pandas(), np.asarray(data.target)


@pytest.fixture(scope="module")
def forest(titanic: Any) -> Any:
    return tw.RandomForestClassifier(n_estimators=15, random_state=0, max_depth=6).fit(*titanic)


def test_partial_dependence_is_scikit_learns_on_numbers():
    X, y = load_diabetes(return_X_y=True)
    model = tw.CARTRegressor(max_depth=4).fit(X, y)
    ours = explain.partial_dependence(model, X, 2, grid=500, max_rows=None)
    theirs = sklearn_dependence(
        model, X, [2], method="brute", grid_resolution=500, percentiles=(0, 1)
    )
    assert_allclose(ours.grid[0], theirs["grid_values"][0])
    assert_allclose(ours.average[:, 0], theirs["average"][0])


@pytest.mark.parametrize("feature", ["number", "category", ["x", "category"], ["number", "x"]])
def test_partial_dependence_of_a_column_of_gaps_is_that_of_a_gap(feature):
    X = pd.DataFrame(
        {"x": np.arange(20.0), "number": np.nan, "category": pd.Categorical([None] * 20)}
    )
    model = tw.CARTClassifier(max_depth=2).fit(X, X["x"] > 8)
    found = explain.partial_dependence(model, X, feature)
    assert (None,) in found.grid
    assert "None" in str(found) or len(feature) == 2
    found.plot()


def test_partial_dependence_on_mixed_columns(titanic, forest):
    X, _ = titanic
    found = explain.partial_dependence(forest, X, "Sex", max_rows=None)
    assert found.grid[0] == ("female", "male")
    as_if = X.assign(Sex="female")
    assert_allclose(found.average[0], forest.predict_proba(as_if).mean(axis=0))
    assert found.individual.shape == (len(X), 2, 2)
    assert list(found.frame().columns) == ["Sex", *found.outputs]
    pair = explain.partial_dependence(forest, X, ("Age", "Sex"), grid=4, max_rows=50)
    assert pair.average.shape == (4, 2, 2)
    assert len(pair.frame()) == 8
    for ax in (found.plot(), found.plot(centre=True, output=0), pair.plot()):
        plt.close(ax.figure)
    with pytest.raises(ParameterError, match="no feature 'sex'"):
        explain.partial_dependence(forest, X, "sex")
    with pytest.raises(ParameterError, match="one feature or two"):
        explain.partial_dependence(forest, X, ["Sex", "Age", "Fare"])


@pytest.mark.parametrize(
    "model",
    [
        tw.MARSRegressor(),
        tw.CTreeRegressor(),
        tw.GradientBoostingRegressor(n_estimators=5),
        tw.StackingRegressor([("a", tw.CARTRegressor(max_depth=2))]),
        tw.AdaBoostRegressor(n_estimators=3),
    ],
    ids=lambda m: type(m).__name__,
)
def test_every_kind_of_model_can_be_asked(model):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model.fit(X, y)
    assert explain.partial_dependence(model, X, "bmi", grid=4).average.shape == (4, 1)
    assert explain.importances(model, X, y, n_repeats=2).importance.shape == (10,)
    assert explain.surrogate_tree(model, X, max_depth=2).fidelity[-1] > 0.3
    said = model.predict(X)
    change = explain.nearest_change(model, X.iloc[[said.argmin()]], X, wanted=(said.mean(), None))
    assert change.new_answer >= said.mean()


def test_importances_have_intervals_that_tell_noise_from_signal():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"signal": rng.normal(size=400), "noise": rng.normal(size=400)})
    y = (X.signal + rng.normal(0, 0.3, 400) > 0).to_numpy()
    model = tw.RandomForestClassifier(n_estimators=20, random_state=0).fit(X[:200], y[:200])
    found = explain.importances(model, X[200:], y[200:], n_repeats=5)
    assert found.low[0] > 0.2
    assert found.low[1] <= 0.02
    assert np.all(found.low <= found.importance)
    assert np.all(found.importance <= found.high)
    assert found.frame()["feature"].tolist()[0] == "signal"
    again = explain.importances(model, X[200:], y[200:], n_repeats=5)
    np.testing.assert_array_equal(found.importance, again.importance)
    sure = explain.importances(model, X[200:], y[200:], loss="log_loss", n_repeats=2)
    assert sure.importance[0] > 0
    with pytest.raises(ParameterError, match="for classes"):
        explain.importances(model, X, y, loss="squared_error")
    with pytest.raises(DataError, match="as many rows"):
        explain.importances(model, X, y[:5])


def test_the_most_representative_tree_is_the_nearest_to_all_others(titanic, forest):
    X, _ = titanic
    found = explain.representative_tree(forest, X)
    said = [member.predict_proba(X) for member in forest.estimators_]
    apart = [sum(((a - b) ** 2).sum() for b in said) for a in said]
    assert found.number == int(np.argmin(apart))
    agreement = np.mean(said[found.number].argmax(axis=1) == forest.predict_proba(X).argmax(axis=1))
    assert found.fidelity == pytest.approx(agreement)
    assert len(found.frame()) == 15
    booster = tw.GradientBoostingClassifier(n_estimators=3).fit(*titanic)
    with pytest.raises(ParameterError, match="forest or a bag"):
        explain.representative_tree(booster, X)


def test_a_surrogate_of_a_small_tree_is_that_tree(titanic):
    X, y = titanic
    model = tw.CARTClassifier(max_depth=2).fit(X, y)
    found = explain.surrogate_tree(model, X, max_depth=2)
    assert np.array_equal(found.estimator.predict(X), model.predict(X))
    assert found.fidelity[-1] > 0.98
    assert found.frame()["depth"].tolist() == [1, 2]
    assert "fidelity" in str(found)


def brute_force(model: Any, row: Any, X: Any, columns: dict[str, Any]) -> float:
    """The least distance of any change over a fine grid of two features."""
    one, two = columns
    scale = X.std(ddof=0)
    best = np.inf
    grid = [(a, b) for a in columns[one] for b in columns[two]]
    tries = pd.concat([row] * len(grid), ignore_index=True)
    tries[one], tries[two] = zip(*grid, strict=True)
    said = model.predict(tries) != model.predict(row)[0]
    far = (tries[said] - row.iloc[0]).abs() / scale
    return min(best, float(far.sum(axis=1).min()))


@pytest.mark.parametrize("kind", ["CARTClassifier", "RandomForestClassifier"])
def test_the_change_is_the_nearest_one(kind):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.iloc[:, 2:]
    options = {"n_estimators": 5, "random_state": 0} if "Forest" in kind else {}
    model = getattr(tw, kind)(**options).fit(X, y)
    grid = {name: np.arange(0, 7.5, 0.1) + 0.0500001 for name in X.columns}
    for i in (0, 60, 83, 120):
        row = X.iloc[[i]]
        change = explain.nearest_change(model, row, X)
        assert change.is_nearest
        changed = row.assign(**dict(zip(change.features, change.after, strict=True)))
        assert model.predict(changed)[0] == change.new_answer != model.predict(row)[0]
        assert change.distance <= brute_force(model, row, X, grid) + 1e-9


def test_changes_keep_to_what_is_asked(titanic, forest):
    X, _ = titanic
    row = X.iloc[[0]]
    free = explain.nearest_change(forest, row, X, wanted=1)
    assert free.new_answer == 1
    kept = explain.nearest_change(forest, row, X, wanted=1, fixed=list(free.features[:1]))
    assert free.features[0] not in kept.features
    assert kept.distance >= free.distance - 1e-12
    assert all(float(v).is_integer() for f, v in zip(kept.features, kept.after, strict=True)
               if f in ("SibSp", "Parch", "Pclass"))  # fmt: skip
    as_dict = explain.nearest_change(forest, row.iloc[0].to_dict(), X, wanted=1)
    assert as_dict.features == free.features
    assert "to" in str(free)
    with pytest.raises(ParameterError, match="already"):
        explain.nearest_change(forest, row, X, wanted=0)
    with pytest.raises(ParameterError, match="one of the classes"):
        explain.nearest_change(forest, row, X, wanted="yes")
    tree = tw.CARTClassifier(max_depth=2).fit(*titanic)
    with pytest.raises(DataError, match="No change"):
        explain.nearest_change(tree, row, X, fixed=list(X.columns))


@pytest.mark.filterwarnings("ignore::treewright.errors.ManyCategoriesWarning")
def test_hostile_names_break_no_output():
    rng = np.random.default_rng(0)
    names = [name for name in HOSTILE if can_be_encoded(name)]
    n = 2 * len(names)
    X = pd.DataFrame({name: rng.normal(size=n) for name in names})
    X["category"] = pd.Series(names + names, dtype=object)
    y = np.array(names + names, object)
    model = tw.RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    few = X[["category", *names[:2]]]
    tree = tw.C45Classifier(min_samples_leaf=1).fit(few, y)  # a branch and a class for each name
    values = model.shap_values(X[:20])
    results = [
        values,
        explain.partial_dependence(model, X, names[1], grid=4),
        explain.partial_dependence(model, X, "category"),
        explain.importances(model, X, y, n_repeats=1),
        explain.representative_tree(model, X),
        explain.surrogate_tree(model, X, max_depth=2),
        explain.nearest_change(model, X.iloc[[0]], X),
        explain.leaf_rules(tree),
        tree.trace(0, few, y),
        tree.lesson(few, y),
    ]
    pictures = [r.plot for r in results if not isinstance(r, explain.Lesson)]
    pictures += [lambda k=k: values.plot(k) for k in ("bar", "waterfall", "dependence")]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        for draw in pictures:
            figure = draw().figure
            figure.draw_without_rendering()
            plt.close(figure)
    for result in results:
        page = result._repr_html_()
        assert "<script" not in page
        assert "\x00" not in page
        text = str(result)
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert len(text) < 200_000
        result.frame()
