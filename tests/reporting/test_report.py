"""Reports: the steps, the sentences, and the page in a browser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import treewright
from treewright.datasets import load_german_credit
from treewright.errors import DataError, ParameterError

COSTS = {"bad": {"good": 5, "bad": 0}, "good": {"bad": 1, "good": 0}}
QUICK: dict[str, Any] = {"learners": ["cart", "c50"], "time": 1, "n_jobs": 1}


def small(n: int = 120, **more: Any) -> pa.Table:
    rng = np.random.default_rng(0)
    a = rng.normal(size=n)
    b = rng.choice(["red", "green", "blue"], n)
    y = np.where(a + (b == "red") + rng.normal(size=n) > 0.4, "yes", "no")
    return pa.table({"a": a, "b": b, "y": y} | more)


@pytest.fixture(scope="module")
def credit() -> Any:
    """The report of German credit, and its page."""
    found = treewright.report(load_german_credit(), costs=COSTS, **QUICK)
    return found, found.to_html()


def test_the_sentence_holds_the_figures_of_the_held_out_rows(credit):
    found, page = credit
    model, held = found.readable_model, found.held
    said = model.predict(held.X_test)
    cost = np.mean([COSTS[t][p] for t, p in zip(held.y_test, said, strict=True)])
    assert f"mean cost of {cost:.3f}" in found.sentence
    assert len(held.test) == 250
    assert not set(held.train) & set(held.test)
    assert found.sentence.split("“")[0] in page


def test_the_same_seed_gives_the_same_bytes():
    pages = [treewright.report(small(), "y", seed=3, **QUICK).to_html() for _ in range(2)]
    first, second = (re.sub(r'id="stamp">[^<]*<', "", page) for page in pages)
    assert first == second


def test_suspicious_columns_are_named():
    table = small()
    n = table.num_rows
    y = table["y"].to_pylist()
    table = small(
        name=[f"customer {i}" for i in range(n)],
        number=np.arange(n) + 1000,
        same=np.ones(n),
        copy=table["a"],
        answer=[f"{v}!" for v in y],
        empty=pa.nulls(n, pa.float64()),
    )
    found = treewright.report(table, "y", **QUICK)
    words = {s.column: s.words for s in found.data.suspects}
    assert "identifiers" in words["name"]
    assert "identifiers" in words["number"]
    assert "same in all rows" in words["same"]
    assert "copy of 'a'" in words["copy"]
    assert "no value" in words["empty"]
    assert "alone tells the target" in words["answer"]
    assert set(found.readable_model.feature_names_in_) == {"a", "b", "answer"}
    assert "Look first" in found.to_html()
    without = treewright.report(table, "y", drop=["answer"], **QUICK)
    assert "alone tells" not in " ".join(s.words for s in without.data.suspects)


def test_ten_rows_are_enough() -> None:
    table = pa.table({"a": np.arange(10.0), "y": np.arange(10) % 2})
    assert "cart" in treewright.report(table, "y", learners=["cart"], time=1).compared.names


def test_data_that_cannot_be_reported_on_get_one_sentence():
    lone = pa.table({"a": np.arange(30.0), "y": [f"k{i}" for i in range(30)]})
    cases = [
        (lone, "y", DataError, "30 classes in 30 rows"),
        (small(5), "y", DataError, "10 rows"),
        (small(), "z", DataError, "'z'"),
        (pa.table({"a": np.arange(20.0), "y": ["k"] * 20}), "y", DataError, "one class"),
        (pa.table({"y": ["a", "b"] * 10}), "y", DataError, "columns to learn from"),
    ]
    for table, target, kind, words in cases:
        with pytest.raises(kind, match=words):
            treewright.report(table, target, **QUICK)
    with pytest.raises(ParameterError, match="random_forest"):
        treewright.report(small(), "y", learners=["random_forst"])
    with pytest.raises(ParameterError, match="single trees"):
        treewright.report(small(), "y", learners=["random_forest"])
    with pytest.raises(ParameterError, match="costs are for classes"):
        treewright.report(small(), "a", costs=COSTS, learners=["cart"], time=1)


def test_a_target_without_pattern_is_called_so():
    rng = np.random.default_rng(1)
    table = pa.table({"a": rng.normal(size=200), "y": rng.choice(["u", "v"], 200)})
    found = treewright.report(table, "y", learners=["cart"], time=1)
    assert "No tree found a pattern" in found.sentence
    assert found.to_html()


def test_numbers_gaps_and_rare_classes_get_a_page(tab):
    rng = np.random.default_rng(0)
    n = 200
    a = rng.normal(size=n)
    gaps = {f"g{i}": np.where(rng.random(n) < 0.6, np.nan, rng.normal(size=n)) for i in range(4)}
    regression = treewright.report(
        pa.table({"a": a, **gaps, "y": 3 * a + rng.normal(size=n)}), "y", learners=["cart"], time=1
    )
    assert "RMSE" in regression.sentence
    many = pa.table(
        {"a": a, "y": [f"k{i}" for i in rng.integers(0, 26, n - 3)] + ["x1", "x2", "x3"]}
    )
    classes = treewright.report(many, "y", learners=["cart"], time=1)
    for found in (regression, classes):
        page = tab.open(found.to_html())
        assert page.locator("h1").inner_text() == found.sentence


def test_a_record_is_followed_through_the_tree(credit, tab):
    found, html = credit
    page = tab.open(html)
    page.locator("#record-table tbody tr").nth(3).click()
    records = found.explained.records
    assert page.inner_text("#answer .said") == f"Prediction: {records.readable[3]}"
    row = found.held.X_test.slice(int(np.flatnonzero(found.held.test + 1 == records.rows[3])[0]), 1)
    leaf = int(found.readable_model.apply(row)[0])
    ends = [int(n.get_attribute("data-node")) for n in page.locator("#stage .leaf.on-way").all()]
    whole = found.pruned.whole
    here = whole.n_samples[ends[0]]
    assert len(ends) == 1
    assert here == found.readable_model.tree_.n_samples[leaf]
    page.check("#only-wrong")
    n_wrong = sum(records.is_wrong)
    assert page.inner_text("#record-count") == f"{n_wrong} shown"
    page.check("#learn")
    assert page.locator(".lesson").first.is_visible()
    page.wait_for_url(lambda url: "learn=1" in url)


def test_axe_finds_no_serious_fault_in_a_report(credit, accessible):
    assert accessible(credit[1], "light", 1400) == []


def test_the_report_prints_on_a4(credit, tab, tmp_path):
    page = tab.open(credit[1])
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").stat().st_size > 20_000


def test_of_an_ensemble_the_report_explains_the_ensemble():
    from treewright.reporting.steps.explain import _inner

    X, y = [[0.0], [1.0], [2.0], [3.0]] * 5, ["a", "a", "b", "b"] * 5
    bagged = treewright.BaggingClassifier(n_estimators=2).fit(X, y)
    assert _inner(bagged) is bagged  # its estimator_ is what members are made of, and not fitted
    costly = treewright.CostSensitiveClassifier(treewright.CARTClassifier(), costs=[[0, 1], [5, 0]])
    assert _inner(costly.fit(X, y)) is costly.estimator_


def test_a_booster_of_target_statistics_shares_out_its_answer():
    many = [f"t{k % 300}" for k in range(3000)]  # more than max_categories of the booster
    found = treewright.report(
        small(3000, ticket=many),
        target="y",
        learners=["cart", "gradient_boosting"],
        time=1,
        n_jobs=1,
    )
    assert found.choice.strong != found.choice.readable
    assert found.explained.shapley.learner == found.choice.strong


def test_a_model_that_cannot_share_out_its_answer_leaves_it_to_the_tree():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    data = {f"x{k}": X[:, k] for k in range(3)} | {"y": X[:, 0] + X[:, 1] ** 2}
    found = treewright.report(data, target="y", learners=["cart", "adaboost"], time=1, n_jobs=1)
    assert found.choice.strong == "adaboost"
    assert found.explained.shapley.learner == found.choice.readable == "cart"
