"""The table "What each format can say" of docs/guide/deploying.md, against what is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import treewright as tw
from tests.exporting import zoo
from treewright.errors import ParameterError
from treewright.exporting._export import FORMATS

PAGE = Path(__file__).parents[2] / "docs/guide/deploying.md"
CASES = {
    "one tree": ["hunt multiway", "oblique", "ctree"],
    "gaps: learned": ["cart", "cart surrogates", "hunt own branch"],
    "gaps: divided": ["c45", "c50 soft"],
    "costs": ["cart costs", "cost sensitive"],
    "C4.5 rules": ["c45 rules"],
    "C5.0 rules": ["c50 rules"],
    "bagging": ["bagging", "forest", "extra trees"],
    "gradient boosting": ["boosting", "boosting regressor"],
    "AdaBoost": ["adaboost", "c50 boosted"],
    "MARS": ["mars", "mars regressor"],
    "voting": ["voting"],
    "stacking": ["stacking", "stacking regressor"],
    "several numbers": ["two outputs"],
}
"""How a row begins, and models that it is about."""


def table() -> dict[str, dict[str, str]]:
    """What is said of each model, by format."""
    text = PAGE.read_text(encoding="utf-8").split("## What each format can say")[1]
    first = next(block for block in text.split("\n\n") if block.startswith("| model"))
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in first.splitlines()]
    head, _, *body = rows
    return {
        row[0]: {
            form: said
            for forms, said in zip(head[1:], row[1:], strict=True)
            for form in forms.split(", ")
        }
        for row in body
    }


def test_the_table_has_a_row_for_each_kind_of_model_and_no_other():
    assert [next(k for k in CASES if row.startswith(k)) for row in table()] == list(CASES)
    assert {form for row in table().values() for form in row} == set(FORMATS)


@pytest.mark.parametrize("kind", CASES)
def test_each_format_says_what_the_table_says(kind):
    row = next(said for name, said in table().items() if name.startswith(kind))
    for name in CASES[kind]:
        model = zoo.case(name).model
        for form in set(row) - {"onnx", "json", "python", "javascript", "c", "sql"}:
            try:
                text = str(tw.export(model, format=form))
            except ParameterError:
                assert row[form] == "refused", (name, form)
                continue
            assert row[form] != "refused", (name, form)
            if form == "pmml" and row[form] != "yes":
                # the table names the element, or says that formulas in derived fields do it
                word = row[form] if row[form].endswith("Model") else "DerivedField"
                assert re.search(f"<{word}\\b", text), (name, word)
