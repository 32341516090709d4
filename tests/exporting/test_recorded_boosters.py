"""Model files of other libraries are read without them, and everything works on what is read."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import treewright as tw
from tests.exporting import run, zoo
from treewright.errors import ParameterError
from treewright.explain import leaf_rules, shap_values

HERE = Path(__file__).parent / "recorded"
ANSWERS = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
FILES = {
    "lightgbm": (tw.from_lightgbm, "lightgbm.txt"),
    "xgboost": (tw.from_xgboost, "xgboost.json"),
    "catboost": (tw.from_catboost, "catboost.json"),
}


@pytest.fixture(params=FILES)
def library(request, monkeypatch) -> str:
    for name in FILES:
        monkeypatch.setitem(sys.modules, name, None)  # an import of it fails
    return request.param


@pytest.fixture
def case(library) -> zoo.Case:
    read, name = FILES[library]
    model = read(HERE / name)
    rows = pd.DataFrame(ANSWERS["rows"])
    return zoo.Case(model, rows[["age", "income"]] if library == "catboost" else rows)


def score(case: zoo.Case) -> np.ndarray:
    if case.is_classifier:
        return case.model.decision_function(case.X).reshape(len(case.X), -1)
    return np.log(case.numbers)  # the recorded regressor counts


def test_a_recorded_file_predicts_as_its_library_did(library, case):
    want = np.reshape(ANSWERS[library], case.numbers.shape)
    assert_allclose(case.numbers, want, rtol=1e-6, atol=1e-6)


def test_its_shapley_values_are_those_of_its_library(library, case):
    found = shap_values(case.model, case.X)
    want = np.array(ANSWERS[f"{library} shares"])
    if library == "catboost":
        want = want.transpose(0, 2, 1)
    shares = found.values.reshape(want[:, :-1].shape)
    base = found.base_values.reshape(want[:, -1].shape)
    assert_allclose(shares, want[:, :-1], atol=1e-5)
    assert_allclose(base, want[:, -1], atol=1e-5)
    assert_allclose((shares.sum(axis=1) + base).reshape(len(want), -1), score(case), atol=1e-12)


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
def test_it_is_exported(case, language, tmp_path):
    if language == "c" and shutil.which("gcc") is None:
        pytest.skip("gcc is not here")
    said = getattr(run, language)(case.model, case.rows, tmp_path)
    assert_allclose(said.numbers, case.numbers, atol=1e-12)
    if case.is_classifier:
        assert [str(label) for label in said.label] == [str(label) for label in case.label]


@pytest.mark.parametrize("form", ["json", "dot", "mermaid", "javascript", "pmml", "excel"])
def test_it_is_written_in_every_other_format(case, form):
    assert "age" in str(tw.export(case.model, format=form))


def changed(name: str, change: Any, folder: Path) -> Path:
    data = json.loads((HERE / name).read_text(encoding="utf-8"))
    change(data)
    (folder / name).write_text(json.dumps(data), encoding="utf-8")
    return folder / name


def test_what_a_file_holds_beyond_trees_of_ours_is_refused_in_one_sentence(tmp_path):
    def categories(data: Any) -> None:
        data["features_info"]["categorical_features"] = [{"flat_feature_index": 2}]

    def other_trees(data: Any) -> None:
        data["trees"] = data.pop("oblivious_trees")

    def ranking(data: Any) -> None:
        data["learner"]["objective"]["name"] = "rank:ndcg"

    def linear(data: Any) -> None:
        data["learner"]["gradient_booster"]["name"] = "gblinear"

    def two_targets(data: Any) -> None:
        data["learner"]["learner_model_param"]["num_target"] = "2"

    for change, words in ((categories, "numeric features"), (other_trees, "symmetric trees")):
        with pytest.raises(ParameterError, match=words):
            tw.from_catboost(changed("catboost.json", change, tmp_path))
    for change, words in (
        (ranking, "'rank:ndcg'"),
        (linear, "boosted trees, got 'gblinear'"),
        (two_targets, "one target, got 2"),
    ):
        with pytest.raises(ParameterError, match=words):
            tw.from_xgboost(changed("xgboost.json", change, tmp_path))
    text = (HERE / "lightgbm.txt").read_text(encoding="utf-8")
    with pytest.raises(ParameterError, match="got 'lambdarank'"):
        tw.from_lightgbm(text.replace("objective=poisson", "objective=lambdarank"))
