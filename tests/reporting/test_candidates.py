"""What a report says of candidates and of columns does not mislead."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from treewright.cli.report import notes
from treewright.errors import UnseenCategoriesWarning
from treewright.reporting._candidates import node_candidates
from treewright.reporting.steps.suspects import Suspect


def tickets(n: int = 300) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    sex = rng.choice(["male", "female"], n)
    ticket = [f"t{k}" for k in rng.integers(0, 200, n)]
    y = np.where(rng.random(n) < 0.85, sex == "female", sex == "male").astype(int)
    return pd.DataFrame({"ticket": ticket, "sex": sex, "x": rng.normal(size=n)}), pd.Series(y)


@pytest.mark.filterwarnings("ignore::treewright.errors.ManyCategoriesWarning")
def test_learners_that_choose_by_gain_ratio_list_gain_ratios() -> None:
    X, y = tickets()
    model = tw.C45Classifier().fit(X, y)
    root = node_candidates(model, model.tree_, X, y)[0]
    assert root["score"] == "gain ratio"
    chosen = [row for row in root["rows"] if X.columns[row[0]] == "sex"]
    assert root["rows"][0] == chosen[0]
    assert any("branches)" in row[1] for row in root["rows"])
    cart = tw.CARTClassifier(max_depth=2).fit(X[["sex", "x"]], y)
    assert node_candidates(cart, cart.tree_, X[["sex", "x"]], y)[0]["score"] == "gain"


def test_a_report_does_not_blame_rows_that_it_held_out_itself() -> None:
    X, y = tickets()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenCategoriesWarning)
        found = tw.report(X.assign(y=y), "y", learners=["cart"], time=1, n_jobs=1)
    words = [s.words for s in found.data.suspects if s.column == "ticket"]
    assert any("categories in 300 rows" in said for said in words)


def test_many_columns_of_gaps_are_told_in_one_line() -> None:
    few = [Suspect(f"c{k}", "is a gap in 60% of the rows") for k in range(3)]
    assert notes(few) == [f"'c{k}' is a gap in 60% of the rows" for k in range(3)]
    many = [Suspect(f"c{k}", "is a gap in 60% of the rows") for k in range(20)]
    assert notes([Suspect("id", "is a copy of 'x'; left out", True), *many]) == [
        "'id' is a copy of 'x'; left out",
        "20 columns are gaps in more than half of the rows: 'c0', 'c1', 'c2', …",
    ]
