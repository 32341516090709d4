"""Model files of other libraries are read without them, and everything works on what is read."""

from __future__ import annotations

import json
import shutil
import struct
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import treewright as tw
from tests.exporting import run, zoo
from treewright.errors import ModelFileError, ParameterError, UnseenCategoriesWarning
from treewright.explain import leaf_rules, shap_values
from treewright.exporting._xgboost import read_ubjson

HERE = Path(__file__).parent / "recorded"
ANSWERS = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
FILES = {
    "lightgbm": (tw.from_lightgbm, "lightgbm.txt"),
    "xgboost": (tw.from_xgboost, "xgboost.json"),
    "xgboost_targets": (tw.from_xgboost, "xgboost_targets.json"),
    "catboost": (tw.from_catboost, "catboost.json"),
    "catboost_statistics": (tw.from_catboost, "catboost_statistics.json"),
    "catboost_leafwise": (tw.from_catboost, "catboost_leafwise.json"),
}
NUMBERS = ("catboost", "xgboost_targets")  # have no categories
OTHER_SHARES = {
    "catboost_statistics": "CatBoost weighs leaves that no row can come to",
    "catboost_leafwise": "those of CatBoost do not sum to its predictions",
    "xgboost_targets": "XGBoost has none",
}
"""Models whose Shapley values are not those of the library, and why."""
CLOSE = {"lightgbm": 1e-12, "catboost": 1e-12, "xgboost": 1e-6}
"""XGBoost adds in single precision, and so does a model that is made of one of its files; Shapley
values and exports are sums of doubles."""


@pytest.fixture(params=FILES)
def name(request, monkeypatch) -> str:
    for library in CLOSE:
        monkeypatch.setitem(sys.modules, library, None)  # an import of it fails
    return request.param


@pytest.fixture
def library(name) -> str:
    return name.split("_")[0]


@pytest.fixture
def case(library, name) -> zoo.Case:
    read, file = FILES[name]
    rows = pd.DataFrame(ANSWERS["rows"])
    if name in NUMBERS:
        rows = rows[["age", "income"]]
    elif library == "catboost":  # its categories have no gaps
        rows["city"] = rows["city"].fillna("?")
    if name == "catboost_statistics":
        rows = pd.concat([rows, rows.assign(city="Fulda")], ignore_index=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoriesWarning)
        return zoo.Case(read(HERE / file), rows)


def score(case: zoo.Case) -> np.ndarray:
    if case.is_classifier:
        return case.model.decision_function(case.X).reshape(len(case.X), -1)
    return np.log(case.numbers) if case.model.loss == "poisson" else case.numbers


def test_a_recorded_file_predicts_as_its_library_did(name, library, case):
    want = np.reshape(ANSWERS[name], case.numbers.shape)
    assert_allclose(case.numbers, want, rtol=1e-7, atol=1e-7 if library == "xgboost" else 1e-9)


def test_its_shapley_values_are_those_of_its_library(name, library, case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoriesWarning)
        found = shap_values(case.model, case.X)
        scores = score(case)
    shares = found.values.reshape(len(case.X), case.X.shape[1], -1)
    base = found.base_values.reshape(len(case.X), -1)
    assert_allclose(shares.sum(axis=1) + base, scores, rtol=CLOSE[library], atol=CLOSE[library])
    if name in OTHER_SHARES:
        return
    want = np.array(ANSWERS[f"{name} shares"])
    if name == "catboost":
        want = want.transpose(0, 2, 1)
    assert_allclose(shares, want[:, :-1].reshape(shares.shape), atol=1e-5)
    assert_allclose(base, want[:, -1].reshape(base.shape), atol=1e-5)


def test_its_trees_are_told_as_text_pictures_and_rules(case):
    assert len(case.model.estimators_) >= 4
    for tree in case.model.estimators_:
        assert tree.to_text().count("\n") >= tree.n_leaves
        assert "<svg" in tree.to_svg()
        assert len(tree.rules()) == tree.n_leaves
        told = leaf_rules(tree)
        assert len(told) == np.sum(tree.is_leaf & (tree.weight > 0))
    assert type(case.model).__name__ in case.model.summary()
    assert_allclose(case.model.feature_importances_.sum(), 1.0)


def test_a_file_of_many_trees_has_no_rules_of_its_own_and_says_so(case):
    with pytest.raises(ParameterError, match="needs a tree or a fitted learner of one"):
        leaf_rules(case.model)
    with pytest.raises(ParameterError, match="takes trees and forests"):
        tw.to_sklearn(case.model)


def test_it_is_saved_and_loaded(case, tmp_path):
    tw.save(case.model, tmp_path / "model.tw")
    assert_array_equal(zoo.Case(tw.load(tmp_path / "model.tw"), case.X).numbers, case.numbers)


@pytest.mark.parametrize("language", ["python", "sqlite", "c"])
def test_it_is_exported(library, case, language, tmp_path):
    if language == "c" and shutil.which("gcc") is None:
        pytest.skip("gcc is not here")
    said = getattr(run, language)(case.model, case.rows, tmp_path)
    assert_allclose(said.numbers, case.numbers, rtol=CLOSE[library], atol=CLOSE[library])
    if case.is_classifier:
        assert [str(label) for label in said.label] == [str(label) for label in case.label]


@pytest.mark.parametrize("form", ["json", "dot", "mermaid", "javascript", "pmml", "excel"])
def test_it_is_written_in_every_other_format(name, case, form):
    if form == "pmml" and name == "xgboost_targets":
        with pytest.raises(ParameterError, match="PMML has models of one number"):
            tw.export(case.model, format=form)
        return
    assert "age" in str(tw.export(case.model, format=form))


def changed(name: str, change: Any, folder: Path) -> Path:
    data = json.loads((HERE / name).read_text(encoding="utf-8"))
    change(data)
    (folder / name).write_text(json.dumps(data), encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("file", ["catboost_statistics.json", "xgboost.json"])
def test_a_file_that_claims_too_much_is_refused_at_once(file, tmp_path):
    def too_many(data: Any) -> None:
        if "learner" in data:
            data["learner"]["learner_model_param"]["num_feature"] = str(10**12)
            data["learner"]["feature_names"] = []
        else:
            data["features_info"]["float_features"][0]["flat_feature_index"] = 10**12

    read = tw.from_xgboost if file.startswith("x") else tw.from_catboost
    with pytest.raises(ModelFileError, match="features"):
        read(changed(file, too_many, tmp_path))


def test_what_a_file_holds_beyond_trees_of_ours_is_refused_in_one_sentence(tmp_path):
    def no_texts(data: Any) -> None:
        del data["features_info"]["cat_features_hash"]

    def several_targets(data: Any) -> None:
        data["model_info"]["params"]["loss_function"]["type"] = "MultiRMSE"

    def texts(data: Any) -> None:
        data["oblivious_trees"][0]["splits"][0]["split_type"] = "EstimatedFeature"

    def one_against_all(data: Any) -> None:
        data["model_info"]["params"]["loss_function"]["type"] = "MultiClassOneVsAll"

    def hinge(data: Any) -> None:
        data["learner"]["objective"]["name"] = "binary:hinge"

    def linear(data: Any) -> None:
        data["learner"]["gradient_booster"]["name"] = "gblinear"

    for change, words in (
        (no_texts, "the texts of categories"),
        (several_targets, "several targets with target statistics"),
        (texts, "tests of numbers and categories, got 'EstimatedFeature'"),
        (one_against_all, "'MultiClassOneVsAll'"),
    ):
        with pytest.raises(ParameterError, match=words):
            tw.from_catboost(changed("catboost_statistics.json", change, tmp_path))
    for change, words in (
        (hinge, "'binary:hinge'"),
        (linear, "boosted trees, got 'gblinear'"),
    ):
        with pytest.raises(ParameterError, match=words):
            tw.from_xgboost(changed("xgboost.json", change, tmp_path))
    text = (HERE / "lightgbm.txt").read_text(encoding="utf-8")
    with pytest.raises(ParameterError, match="got 'multiclassova'"):
        tw.from_lightgbm(text.replace("objective=poisson", "objective=multiclassova"))


@pytest.mark.parametrize("kind", [b"Z", b"T", b"F", b"N", b"U", b"{"])
@pytest.mark.parametrize("mark", [b"[", b"{"])
def test_ubjson_of_more_elements_than_bytes_is_refused(kind, mark):
    for count in (10**12, -1):
        size = b"#L" + count.to_bytes(8, "big", signed=True)
        with pytest.raises((ModelFileError, struct.error)):
            read_ubjson(mark + b"$" + kind + size)
        with pytest.raises(ModelFileError):
            read_ubjson(mark + size)


def test_many_features_without_names_need_a_large_file(tmp_path, monkeypatch):
    monkeypatch.setattr("treewright.exporting._foreign.FREE_BYTES", 250_000)
    told = json.loads((HERE / "xgboost_targets.json").read_text())
    del told["learner"]["feature_names"], told["learner"]["feature_types"]
    path = tmp_path / "model.json"
    told["learner"]["learner_model_param"]["num_feature"] = "1000"
    path.write_text(json.dumps(told))
    assert tw.from_xgboost(path).n_features_in_ == 1000
    told["learner"]["learner_model_param"]["num_feature"] = "10000"
    path.write_text(json.dumps(told))
    with pytest.raises(ModelFileError, match="10000 features, which is more than a file"):
        tw.from_xgboost(path)
    path.write_text(json.dumps(told) + " " * 10_000)
    assert tw.from_xgboost(path).n_features_in_ == 10_000
