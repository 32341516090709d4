"""Shapley values of every model: they add up, and are shap's where shap applies."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

import treewright as tw
from tests.contract.estimators import everyone, identify, mixed_columns, seed, target_for
from treewright.errors import DataError, ParameterError
from treewright.explain import ShapValues, _result
from treewright.tree.additive import Additive, additive_of

COLUMNS = mixed_columns(80)


def says(model: Any, total: Additive, X: Any) -> np.ndarray:
    """What the values and the base value must add up to, as the estimator itself says it."""
    if total.says == "probability":
        return np.asarray(model.predict_proba(X))
    if total.says == "value":
        return np.asarray(model.predict(X))
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    if total.says == "score":
        return np.log(model.predict(X))  # of a mean whose logarithm is boosted
    votes = total.predict(X if hasattr(X, "n_rows") else model._table(X))
    assert_allclose(votes / votes.sum(axis=1, keepdims=True), model.predict_proba(X), atol=1e-12)
    return votes


def is_no_sum(estimator: Any) -> bool:
    """Models that are no sums of trees: hinges, rules, medians, leaves with models of their own."""
    name = type(estimator).__name__
    if name.startswith("Hoeffding"):
        return estimator.leaf_prediction not in ("majority", "mean")
    rules = getattr(estimator, "rules", False) or getattr(
        getattr(estimator, "estimator", None), "rules", False
    )
    return bool(
        name.startswith(("MARS", "Stacking")) or name in ("C45Rules", "AdaBoostRegressor") or rules
    )


@pytest.mark.parametrize("estimator", everyone(), ids=identify)
def test_the_values_of_every_learner_add_up_to_its_answer(estimator):
    model = clone(estimator)
    seed(model)
    X, y = pd.DataFrame(COLUMNS), target_for(model, COLUMNS)
    if "Oblique" in type(model).__name__:
        X = X[["age", "income"]].fillna(40.0)
    model.fit(X, y)
    if is_no_sum(model):
        with pytest.raises(ParameterError, match="sum of trees"):
            model.shap_values(X)
        return
    total = additive_of(model)
    rows = X[:12]
    if total.undivided and rows.isna().any(axis=None):
        with pytest.raises(DataError, match="without gaps"):
            model.shap_values(rows)
        rows = X.dropna()[:12]
    told = says(model, total, rows)
    for background in (None, rows[:5]):
        found = model.shap_values(rows, background=background)
        assert_allclose(found.values.sum(axis=1) + found.base_values, told, rtol=0, atol=1e-9)
    pairs = model.shap_values(rows, interactions=True)
    path = model.shap_values(rows)
    assert_allclose(pairs.values.sum(axis=2), path.values, atol=1e-9)


def as_shap_takes(total: Additive) -> dict[str, Any]:
    """A sum of binary trees in the form in which shap takes trees of any making."""
    trees = []
    for part in total.parts:
        tree, leaf = part.tree, part.tree.is_leaf
        inner = np.flatnonzero(~leaf)
        cut = np.full(tree.n_nodes, -2.0)
        at = tree.splits.breaks[tree.splits.break_offset[inner]]
        cut[inner] = np.where(tree.splits.closed[inner], at, np.nextafter(at, -np.inf))
        values = np.zeros((tree.n_nodes, total.n_outputs))
        values[:, part.column : part.column + part.values.shape[1]] = part.values
        trees.append(
            {
                "children_left": np.where(leaf, -1, tree.first_child),
                "children_right": np.where(leaf, -1, tree.first_child + 1),
                "children_default": np.where(leaf, -1, tree.first_child + tree.default.clip(0)),
                "features": np.where(leaf, -2, tree.splits.feature),
                "thresholds": cut,
                "values": values,
                "node_sample_weight": tree.weight.astype(float),
            }
        )
    offset = total.start if total.n_outputs > 1 else float(total.start[0])
    return {"trees": trees, "base_offset": offset, "tree_output": "raw_value",
            "objective": "squared_error", "input_dtype": np.float64,
            "internal_dtype": np.float64}  # fmt: skip


def continuous() -> tuple[Any, Any, Any]:
    """Columns, numbers and classes; no value equals a cut when it is rounded to float32."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + rng.normal(0, 0.1, 300)
    return X, y, np.digitize(y, [-0.5, 0.5])


# shap keeps thresholds and values of trees as float32 where it has a background.
X, Y, LABELS = continuous()
NUMBERS, CLASSES = (X, Y), (X, LABELS)


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (tw.CARTRegressor(max_depth=6), NUMBERS),
        (tw.RandomForestRegressor(n_estimators=5, random_state=0), NUMBERS),
        (tw.RandomForestClassifier(n_estimators=5, random_state=0), CLASSES),
        (tw.ExtraTreesClassifier(n_estimators=5, random_state=0), CLASSES),
        (tw.GradientBoostingRegressor(n_estimators=30, max_leaf_nodes=31), NUMBERS),
        (tw.GradientBoostingClassifier(n_estimators=10), CLASSES),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_values_are_those_of_the_package_shap(model, data):
    shap = pytest.importorskip("shap")
    X, y = data
    fitted = clone(model).fit(X, y)
    total = additive_of(fitted)
    rows, background = X[:40], X[50:80]
    given = as_shap_takes(total)
    path = shap.TreeExplainer(given, feature_perturbation="tree_path_dependent")
    theirs = np.asarray(path.shap_values(rows, check_additivity=False))
    ours = fitted.shap_values(rows)
    scale = np.abs(theirs).max()
    assert_allclose(ours.values, theirs, atol=1e-6 * max(1, scale))
    assert_allclose(ours.base_values[0], path.expected_value, atol=1e-6 * max(1, scale))
    if total.n_outputs == 1:
        theirs = np.asarray(path.shap_interaction_values(rows[:10]))
        ours = fitted.shap_values(rows[:10], interactions=True)
        assert_allclose(ours.values, theirs, atol=1e-6 * max(1, scale))
    against = shap.TreeExplainer(given, background, feature_perturbation="interventional")
    theirs = np.asarray(against.shap_values(rows, check_additivity=False))
    ours = fitted.shap_values(rows, background=background)
    assert_allclose(ours.values, theirs, atol=1e-6 * max(1, scale))


def test_shaps_own_plots_take_the_result():
    shap = pytest.importorskip("shap")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    found = tw.CARTRegressor(max_depth=3).fit(X, y).shap_values(X[:20])
    assert isinstance(found, shap.Explanation)
    assert isinstance(found, ShapValues)
    assert found.shape == (20, 10)
    assert found[0].values.shape == (10,)
    assert list(found.feature_names) == list(X.columns)


def test_without_shap_the_result_is_our_own(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    _result._shap_class.cache_clear()
    X, y = load_iris(return_X_y=True, as_frame=True)
    try:
        found = tw.CARTClassifier(max_depth=2).fit(X, y).shap_values(X)
    finally:
        _result._shap_class.cache_clear()
    assert type(found) is ShapValues
    assert found.values.shape == (150, 4, 3)
    frame = found.frame("1")
    assert list(frame.columns) == ["base value", *X.columns]
    assert_allclose(frame.iloc[:, 1:].to_numpy(), found.of(1))
    assert "petal width (cm)" in str(found)
    assert "<table>" in found._repr_html_()
    assert_allclose(found.mean_abs(), np.abs(found.values).mean(axis=0).sum(axis=1))
    with pytest.raises(KeyError):
        found.of("no class")


def test_pairs_are_shown_by_name():
    X, y = load_iris(return_X_y=True, as_frame=True)
    found = tw.CARTClassifier(max_depth=3).fit(X, y).shap_values(X[:5], interactions=True)
    assert found.has_interactions
    frame = found.frame()
    assert "petal length (cm) × petal width (cm)" in frame.columns
    assert_allclose(frame.iloc[:, 1:].sum(axis=1), found.of().sum(axis=(1, 2)))


def test_categories_are_kept_beside_their_codes():
    X = pd.DataFrame({"colour": ["red", "blue", None, "red"] * 10, "n": range(40)})
    y = [0.0, 1.0, 2.0, 0.5] * 10
    found = tw.CARTRegressor().fit(X, y).shap_values(X[:4])
    assert found.display_data[:, 0].tolist() == ["red", "blue", None, "red"]
    assert_allclose(found.data[:, 0], [1, 0, np.nan, 1])


def test_a_voting_model_is_the_mean_of_its_members():
    X, y = load_iris(return_X_y=True, as_frame=True)
    members = [("tree", tw.CARTClassifier(max_depth=3)), ("c45", tw.C45Classifier())]
    for voting in ("soft", "hard"):
        model = tw.VotingClassifier(members, voting=voting, weights=[1, 3]).fit(X, y)
        found = model.shap_values(X[:10])
        total = found.values.sum(axis=1) + found.base_values
        assert_allclose(total, model.predict_proba(X[:10]), atol=1e-9)
    numbers = [("tree", tw.CARTRegressor()), ("booster", tw.GradientBoostingRegressor())]
    model = tw.VotingRegressor(numbers).fit(X, y)
    found = model.shap_values(X[:10])
    assert_allclose(found.values.sum(axis=1) + found.base_values, model.predict(X[:10]), atol=1e-9)
    mixed = [("tree", tw.CARTClassifier()), ("booster", tw.GradientBoostingClassifier())]
    with pytest.raises(ParameterError, match="one by one"):
        tw.VotingClassifier(mixed, voting="soft").fit(X, y).shap_values(X)


def test_a_stack_and_a_booster_on_another_model_are_refused():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ParameterError, match="sum of trees"):
        tw.StackingRegressor([("a", tw.CARTRegressor())]).fit(X, y).shap_values(X)
    booster = tw.GradientBoostingRegressor(n_estimators=2, init=tw.CARTRegressor()).fit(X, y)
    with pytest.raises(ParameterError, match="init"):
        booster.shap_values(X)


def test_members_that_see_some_features_are_put_in_their_places():
    X, y = load_iris(return_X_y=True, as_frame=True)
    base = tw.C50Classifier(soft_thresholds=True)
    model = tw.BaggingClassifier(base, n_estimators=4, max_features=0.5, random_state=0).fit(X, y)
    found = model.shap_values(X[:30])
    total = found.values.sum(axis=1) + found.base_values
    assert_allclose(total, model.predict_proba(X[:30]), atol=1e-9)


def test_progress_is_told_and_ends_at_one():
    X, y = load_diabetes(return_X_y=True)
    model = tw.RandomForestRegressor(n_estimators=60, random_state=0).fit(X, y)
    told: list[float] = []
    model.shap_values(X, background=X[:60], progress=told.append)
    assert told[-1] == 1.0
    assert told == sorted(told)
    assert len(told) > 1


@pytest.mark.parametrize("background", [False, True])
def test_ctrl_c_is_answered_soon(press_ctrl_c, background):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    model = tw.RandomForestRegressor(n_estimators=40, random_state=0, n_jobs=2)
    model.fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    against = X[:200] if background else None
    assert press_ctrl_c(0.3, lambda: model.shap_values(X, background=against)) < 1.0


def test_wrong_input_is_one_sentence():
    X, y = load_iris(return_X_y=True)
    model = tw.CARTClassifier().fit(X, y)
    with pytest.raises(DataError, match="minimum of 1"):
        model.shap_values(X, background=X[:0])
    from treewright.explain import shap_values

    with pytest.raises(ParameterError, match="estimator of treewright"):
        shap_values(object(), X)


def test_a_mean_of_members_that_add_up_scores_is_no_sum_of_trees():
    X, y = np.arange(40.0)[:, None], np.arange(40) % 3
    booster = tw.GradientBoostingClassifier(n_estimators=2, random_state=0)
    bagging = tw.BaggingClassifier(booster, n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="these add up scores"):
        bagging.shap_values(X)
