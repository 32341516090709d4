"""Boosters that test target statistics of columns are exported as tests of the columns."""

from __future__ import annotations

import shutil
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from tests.exporting import run, zoo
from tests.exporting.test_languages import check

pytestmark = pytest.mark.filterwarnings("ignore::treewright.errors.UnseenCategoriesWarning")

KINDS = ["number", "two classes", "three classes"]


@cache
def passengers(kind: str, gaps: bool) -> zoo.Case:
    """A booster on a column with more categories than ``max_categories``; asked known ones,
    gaps and new ones."""
    random = np.random.default_rng(0)
    code = random.integers(0, 60, 400)
    X = pd.DataFrame(
        {
            "fare": random.normal(size=400),
            "ticket": [f"A/5 '{k}\"" for k in code],
            "deck": random.choice(["a", "b", "c"], 400),
        }
    )
    number = X["fare"] + np.sin(code) * 2 + (X["deck"] == "a")
    if gaps:
        X.loc[random.random(400) < 0.1, "ticket"] = None
    options: dict[str, Any] = {"n_estimators": 8, "max_categories": 20, "random_state": 0}
    asked = X[:60].copy()
    asked.loc[:9, "ticket"] = None
    asked.loc[10:19, "ticket"] = "never seen"
    if kind == "number":
        return zoo.Case(tw.GradientBoostingRegressor(**options).fit(X, number), asked)
    y = np.digitize(number, [0.0] if kind == "two classes" else [-1.0, 1.0])
    return zoo.Case(tw.GradientBoostingClassifier(**options).fit(X, y), asked)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", ["python", "sqlite", "onnx"])
def test_statistics_become_tests_of_categories(language, kind, gaps, tmp_path):
    if language == "onnx":
        pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime")
    case = passengers(kind, gaps)
    check(getattr(run, language)(case.model, case.rows, tmp_path), case)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not here")
@pytest.mark.parametrize("kind", KINDS)
def test_c_has_them_too(kind, tmp_path):
    case = passengers(kind, True)
    check(run.c(case.model, case.rows, tmp_path), case)


def test_spreadsheets_have_them_too(tmp_path):
    pytest.importorskip("formulas")
    case = passengers("two classes", True)
    few = zoo.Case(case.model, case.X.iloc[:30:3])
    check(run.excel(few.model, few.rows, tmp_path), few)


def test_diagrams_show_the_cut_of_the_statistic():
    text = str(tw.export(passengers("number", True).model, format="dot"))
    assert "ticket (mean target)" in text
    ranked = tw.export(passengers("three classes", True).model, format="dot")
    assert "more" in str(ranked)  # categories


def test_a_category_is_listed_once_where_it_has_one_statistic():
    model = passengers("two classes", True).model
    name = "A/5 '7\"".replace('"', '\\"')
    assert str(tw.export(model, format="json")).count(name) == 1


@pytest.mark.parametrize("how", ["voting", "stacking", "bagging", "adaboost"])
def test_members_may_read_a_column_in_another_order_than_its_statistics(how, tmp_path):
    asked = passengers("number", True).X
    random = np.random.default_rng(1)
    code = random.integers(0, 60, 300)
    X = pd.DataFrame({"fare": random.normal(size=300), "ticket": [f"A/5 '{k}\"" for k in code]})
    y = X["fare"] + np.sin(code) * 2
    X["deck"] = "a"
    boosting = tw.GradientBoostingRegressor(n_estimators=3, max_categories=20, random_state=0)
    members = [("boosting", boosting), ("cart", tw.CARTRegressor(max_depth=4))]
    model: Any = {
        "voting": tw.VotingRegressor(members),
        "stacking": tw.StackingRegressor(members, cv=2),
        "bagging": tw.BaggingRegressor(boosting, 2, random_state=0),
        "adaboost": tw.AdaBoostRegressor(boosting, n_estimators=2, random_state=0),
    }[how]
    case = zoo.Case(model.fit(X, y), asked)
    check(run.python(case.model, case.rows, tmp_path), case)
