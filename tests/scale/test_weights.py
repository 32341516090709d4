"""Weights of rows on blocks: the model of a fit in memory with the same weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from tests.scale.conftest import mixed, write_parts
from tests.scale.test_trees import FEATURES, FOREST, assert_same_trees, few_values
from treewright import (
    CARTClassifier,
    CARTRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from treewright.errors import DataError, ParameterError
from treewright.scale import _tree_store

KINDS = ["counts", "numbers"]
BOOSTING = [
    (GradientBoostingClassifier, "two", {}),
    (GradientBoostingClassifier, "two", {"class_weight": "balanced", "early_stopping": True}),
    (GradientBoostingClassifier, "three", {"class_weight": {0: 1, 1: 2.5, 2: 1}}),
    (GradientBoostingClassifier, "three", {"class_weight": {0: 1, 1: 3, 2: 1}}),
    (GradientBoostingClassifier, "three", {"subsample": 0.5}),
    (GradientBoostingRegressor, "number", {"min_samples_leaf": 30}),
    (GradientBoostingRegressor, "positive", {"loss": "gamma", "early_stopping": True}),
]
TREES = [
    (CARTClassifier, "two", {"min_samples_leaf": 5}),
    (CARTClassifier, "three", {"class_weight": "balanced", "min_weight_fraction_leaf": 0.01}),
    (CARTRegressor, "number", {"min_samples_leaf": 3, "cp": 0.001}),
    (RandomForestClassifier, "three", {**FOREST, "max_samples": 0.5}),
    (RandomForestClassifier, "two", {**FOREST, "class_weight": "balanced"}),
    (RandomForestClassifier, "two", {**FOREST, "min_weight_fraction_leaf": 0.1}),
    (RandomForestRegressor, "number", {**FOREST, "min_samples_leaf": 20, "bootstrap": False}),
]


def weights(kind: str, n: int) -> np.ndarray:
    draw = np.random.default_rng(5)
    weight = draw.integers(0, 4, n) * 2.0 if kind == "counts" else draw.exponential(size=n)
    weight[draw.random(n) < 0.1] = 0
    return weight


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("learner", "target", "options"), BOOSTING)
def test_boosting_with_weights_has_the_bytes_of_a_fit_in_memory(
    learner, target, options, kind, tmp_path, saved
):
    table = mixed(2000).select([*FEATURES, target])
    weight = weights(kind, 2000)
    options = {"n_estimators": 4, "random_state": 3, **options}
    X, y = table.drop_columns([target]), table.column(target)
    expected = learner(**options).fit(X, y, sample_weight=weight)
    expected._name_target(target)
    write_parts(table.append_column("w", pa.array(weight)), tmp_path, [900, 903, 1500])
    found = learner(**options).fit(tmp_path, target=target, sample_weight="w")
    assert saved(found) == saved(expected)
    given = learner(**options).fit(table, target=target, sample_weight=weight)
    assert saved(given) == saved(expected)


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=4, max_bins=20, random_state=0),
        CARTClassifier(max_depth=4),
        RandomForestClassifier(**FOREST),
    ],
)
@pytest.mark.parametrize("of_class", [{"no": 1, "yes": 4}, {"no": 0.5, "yes": 1.7}])
def test_weights_of_classes_are_weights_of_their_rows(model, of_class, tmp_path):
    table = mixed(2000).select([*FEATURES, "two"])
    weight = [of_class[label] for label in table.column("two").to_pylist()]
    write_parts(table.append_column("w", pa.array(weight)), tmp_path / "w", [900, 1500])
    write_parts(table, tmp_path / "x", [900, 1500])
    of_rows = clone(model).fit(tmp_path / "w", target="two", sample_weight="w")
    found = clone(model).set_params(class_weight=of_class).fit(tmp_path / "x", target="two")
    X = table.drop_columns(["two"])
    assert_allclose(found.predict_proba(X), of_rows.predict_proba(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("learner", "target", "options"), TREES)
def test_trees_with_weights_are_those_of_a_fit_in_memory(
    learner, target, options, kind, tmp_path, monkeypatch
):
    monkeypatch.setattr(_tree_store.BlockStore, "few", 64)
    table = few_values(2000).select([*FEATURES, target])
    weight = weights(kind, 2000)
    X, y = table.drop_columns([target]), table.column(target)
    exact = {"tree_method": "exact"} if "n_estimators" in options else {}
    expected = learner(**options, **exact).fit(X, y, sample_weight=weight)
    write_parts(table.append_column("w", pa.array(weight)), tmp_path, [900, 903, 1500])
    assert_same_trees(learner(**options).fit(tmp_path, target=target, sample_weight="w"), expected)
    assert_same_trees(
        learner(**options).fit(table.to_pandas(), target=target, sample_weight=weight), expected
    )


def test_drawn_rows_follow_class_weights_as_in_memory():
    table = few_values(2000).select([*FEATURES, "two"])
    options = {**FOREST, "class_weight": {"no": 1, "yes": 3.7}}
    X, y = table.drop_columns(["two"]), table.column("two")
    expected = RandomForestClassifier(**options, tree_method="exact").fit(X, y)
    assert_same_trees(RandomForestClassifier(**options).fit(table, target="two"), expected)


def test_rows_of_an_eval_set_weigh_one_each_as_in_memory(saved):
    table = mixed(1500).select([*FEATURES, "two"])
    learn, judge = table.slice(0, 1000), table.slice(1000)
    weight = weights("numbers", 1000)
    model = GradientBoostingClassifier(n_estimators=4, random_state=0, class_weight="balanced")
    pair = judge.drop_columns(["two"]), judge.column("two")
    model.fit(learn.drop_columns(["two"]), learn.column("two"), weight, eval_set=pair)
    model._name_target("two")
    assert 0 < model.validation_score_[0] < 1
    expected = saved(model)
    for rows in (judge, judge.append_column("w", pa.array(np.full(500, 7.0)))):
        source = learn.append_column("w", pa.array(weight))
        found = model.fit(source, target="two", sample_weight="w", eval_set=rows)
        assert saved(found) == expected


def test_weights_that_are_none_are_refused():
    table = mixed(100).select([*FEATURES, "two"])
    frame = table.to_pandas()
    for model in (GradientBoostingClassifier(n_estimators=1), CARTClassifier()):

        def fit(weight, X=frame, model=model):
            return model.fit(X, target="two", sample_weight=weight)

        with pytest.raises(DataError, match="sample_weight must name a column of the source"):
            fit("none")
        with pytest.raises(ParameterError, match="sample_weight must name another column"):
            fit("two")
        with pytest.raises(DataError, match="sample_weight must name a column of numbers"):
            fit("c")
        with pytest.raises(DataError, match="sample_weight must be finite and at least 0, got nan"):
            fit("d")
        with pytest.raises(DataError, match="sample_weight must be finite and at least 0, got -"):
            fit("a")
        with pytest.raises(DataError, match="one weight for each of the 100 rows"):
            fit(np.ones(99))
        with pytest.raises(DataError, match="rows of positive weight"):
            fit("w", frame.assign(w=0.0))
        with pytest.raises(DataError, match="at most 1e"):
            fit("w", frame.assign(w=np.geomspace(1e-9, 1e101, 100)))


def test_weights_of_one_change_nothing(saved):
    frame = mixed(300).select([*FEATURES, "two"]).to_pandas()
    model = GradientBoostingClassifier(n_estimators=2, random_state=0)
    expected = saved(model.fit(frame, target="two"))
    assert saved(model.fit(frame, target="two", sample_weight=pd.Series(np.ones(300)))) == expected


def test_weights_of_an_eval_set_alone_are_not_rounded_away():
    table = mixed(600).select([*FEATURES, "two"])
    X, y = table.drop_columns(["two"]), table.column("two")
    models = [
        GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, y, eval_set=(X, y, w))
        for w in (None, np.full(600, 0.25))
    ]
    np.testing.assert_allclose(*(model.validation_score_ for model in models))
