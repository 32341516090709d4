"""Pages of models that are no trees, and the display of results in notebooks."""

from __future__ import annotations

import numpy as np

import treewright
from treewright.datasets import load_titanic


def test_rules_and_mars_have_a_page_that_loads_nothing():
    titanic = load_titanic()
    rules = treewright.C45Rules().fit(titanic.data, titanic.target)
    X = np.random.default_rng(0).normal(size=(80, 3))
    mars = treewright.MARSRegressor().fit(X, np.abs(X[:, 0]) + X[:, 1])
    for page, words in (
        (rules.to_html(), f"{len(rules.rules_)} rules"),
        (rules.rules_.to_html(title="<b>"), "&lt;b&gt;"),
        (mars.to_html(), "A sum of terms"),
    ):
        assert page.startswith("<!DOCTYPE html>")
        assert "default-src 'none'" in page
        assert words in page
        assert "<table>" in page
        assert "http://" not in page
        assert "<script" not in page


def test_results_have_the_display_of_the_house_in_a_notebook():
    titanic = load_titanic()
    model = treewright.CARTClassifier(max_depth=2).fit(titanic.data, titanic.target)
    for result in (
        treewright.evaluate(model, titanic.data, titanic.target),
        model.trace(0, titanic.data, titanic.target),
        model.tree_.rule_set(),
    ):
        assert '<div class="treewright"><style>' in result._repr_html_()
