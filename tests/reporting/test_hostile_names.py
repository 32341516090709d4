"""Names and values that try to break out of a page."""

from __future__ import annotations

import json
import re

import numpy as np
import pyarrow as pa
import pytest

import treewright
from tests.hostile import HOSTILE, can_be_encoded
from treewright.reporting._html import script_json

NAMES = [name for name in HOSTILE if can_be_encoded(name)]


def hostile_table() -> pa.Table:
    rng = np.random.default_rng(0)
    n = 3 * len(NAMES)
    columns = {name: rng.normal(size=n) for name in NAMES[:-6]}
    columns |= {name: rng.permutation(NAMES * 3) for name in NAMES[-6:]}
    signal = columns[NAMES[0]] + (columns[NAMES[-6]] < "M") + 0.3 * rng.normal(size=n)
    classes = np.array(NAMES[:32:8], object)
    columns["</h1><script>alert(8)</script>"] = classes[np.digitize(signal, [-0.3, 0.4, 1.0])]
    return pa.table(columns)


def test_data_inside_a_script_cannot_end_it():
    text = script_json(HOSTILE)
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == HOSTILE


@pytest.mark.filterwarnings("ignore::treewright.errors.UnseenCategoriesWarning")
@pytest.mark.filterwarnings("ignore::treewright.errors.ManyCategoriesWarning")
def test_hostile_names_and_values_pass_through_page_and_report(tab):
    table = hostile_table()
    target = table.column_names[-1]
    found = treewright.report(table, target, learners=["cart"], time=1, title=HOSTILE[1])
    model = found.readable_model
    for html in (
        found.to_html(),
        model.to_html(found.held.X_train, found.held.y_train, title=HOSTILE[1]),
    ):
        page = tab.open(html)
        assert page.locator("script").count() == 2
        assert page.locator("iframe, img, base, object, embed").count() == 0
        assert page.title() == HOSTILE[1]
        assert page.locator("#stage [data-node]").count() > 2
        page.fill("#find", "script")
        page.click('[data-action="open"]')
        page.locator("#stage [data-node]").first.click()
        if page.locator("#record-table").count():
            page.locator("#record-table tbody tr").first.click()
    assert "dialog" not in " ".join(tab.faults)


def test_a_hostile_name_is_shown_as_it_is(tab):
    n = 40
    for name in ("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "{{ 7*7 }}"):
        X = pa.table({name: np.arange(n, dtype=float)})
        model = treewright.CARTClassifier().fit(
            X, [name, "other"] * 0 + [name] * 20 + ["other"] * 20
        )
        page = tab.open(model.to_html())
        page.click('#stage [data-node="0"]')
        assert page.locator("#details h3").first.inner_text() == f"Split on {name}"
