"""The commands that judge: compare, tune, select."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import treewright

TITANIC = Path(treewright.__file__).parent / "datasets" / "data" / "titanic.csv"
BASIC = ("--target", "Survived")


def test_five_learners_are_compared_in_one_line_and_one_sentence(
    command: Callable[..., Any],
) -> None:
    outcome = command("compare", TITANIC, *BASIC, "--folds", 3, "--repeats", 1)
    assert outcome.code == 0, outcome.err
    for name in ("cart", "c45", "c50", "ctree", "random_forest"):
        assert f"\n{name}" in outcome.out
    sentence = outcome.out.strip().split("\n\n")[-1]
    assert sentence.startswith("By accuracy on these 891 rows")
    assert sentence.endswith("not about other data.")
    assert outcome.err == ""


def test_compare_prints_json_and_draws(command: Callable[..., Any], tmp_path: Path) -> None:
    picture = tmp_path / "figure.svg"
    outcome = command(
        "compare", TITANIC, *BASIC, "--learners", "cart,c45", "--set", "cart.max_depth=2",
        "--folds", 3, "--repeats", 1, "--metric", "roc_auc", "--json", "--picture", picture,
    )  # fmt: skip
    found = json.loads(outcome.out)
    assert {model["model"] for model in found["models"]} == {"cart", "c45"}
    assert found["metric"] == "roc_auc"
    assert picture.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_tune_saves_the_model_and_reports_both_figures(
    command: Callable[..., Any], tmp_path: Path
) -> None:
    model = tmp_path / "best.tw"
    outcome = command(
        "tune", TITANIC, *BASIC, "--grid", "max_depth=1,3", "--folds", 3, "--outer-folds", 3,
        "--simplest-within", "1se", "--output", model,
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert "naive accuracy" in outcome.out
    assert "nested" in outcome.out
    assert treewright.load(model).get_depth() == 3
    as_json = command(
        "tune", TITANIC, *BASIC, "--grid", "criterion=gini,entropy", "--no-nested", "--json"
    )
    assert json.loads(as_json.out)["nested"] is None


def test_select_names_the_columns(command: Callable[..., Any]) -> None:
    outcome = command("select", TITANIC, *BASIC, "--method", "gain_ratio", "--k", 2)
    assert "2 of 7 columns are kept by gain ratio: Pclass, Sex" in outcome.out
    as_json = command("select", TITANIC, *BASIC, "--method", "chi2", "--json")
    assert json.loads(as_json.out)["features"][0]["feature"] == "Sex"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("compare", "--learners", "cart,cart"), 2, "2 of them are called 'cart'"),
        (("compare", "--learners", "cart,cirt"), 2, "Did you mean 'cart'?"),
        (("compare", "--learners", "cart"), 2, "two or more, got 1"),
        (("compare", "--set", "max_depth=3"), 2, "learner.key=value"),
        (("compare", "--set", "crat.max_depth=3"), 2, "Did you mean 'cart'"),
        (("compare", "--test", "mcnemer"), 2, "Did you mean 'mcnemar'"),
        (("compare", "--positive", "7", "--learners", "cart,c45"), 2, "positive must be one of"),
        (("tune", "--grid", "max_dept=3"), 2, "Did you mean 'max_depth'"),
        (("tune", "--grid", "max_depth"), 2, "key=value,value"),
        (("tune", "--grid", "max_depth=2", "--simplest-within", "2se"), 2, "1se or a number"),
        (("select", "--method", "releif"), 2, "Did you mean 'relief'"),
        (("select", "--set", "max_depth=2"), 2, "--set is for --learner"),
    ],
)
def test_bad_words_are_one_sentence(
    command: Callable[..., Any], words: tuple[str, ...], code: int, said: str
) -> None:
    name, *rest = words
    more = ("--folds", 2, "--repeats", 1) if name == "compare" and "--test" not in rest else ()
    outcome = command(name, TITANIC, *BASIC, *rest, *more)
    assert outcome.code == code, outcome.err
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_missing_target_column_is_one_sentence(command: Callable[..., Any]) -> None:
    outcome = command("compare", TITANIC, "--target", "Survive")
    assert outcome.code == 3
    assert "Did you mean 'Survived'?" in outcome.err
