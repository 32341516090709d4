"""The interactive tree in a real browser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import treewright
from tests.reporting.conftest import Tab
from treewright.datasets import load_german_credit, load_hitters, load_play_tennis

NODES = "#stage [data-node]"


@pytest.fixture(scope="module")
def credit() -> Any:
    """A tree of German credit that was not pruned, and its data."""
    data = load_german_credit()
    rows = np.arange(1000)
    train, test = data.data.take(rows[:700]), data.data.take(rows[700:])
    model = treewright.CARTClassifier(min_samples_leaf=15).fit(train, data.target[:700])
    page = model.to_html(train, data.target[:700], test=(test, data.target[700:]))
    return model, train, page


def wait_for(page: Any, words: str) -> None:
    page.wait_for_url(lambda url: words in url)


def test_a_page_is_one_small_file_that_loads_nothing(credit, tab):
    html = credit[2]
    assert len(html.encode()) < 300_000
    page = tab.open(html)
    assert page.locator(NODES).count() > 5
    assert page.locator("#static").is_hidden()


def test_a_phone_sees_few_nodes_and_the_root_whole(credit, chromium, tmp_path):
    tab = Tab(chromium, tmp_path, viewport={"width": 400, "height": 900})
    page = tab.open(credit[2])
    assert 3 <= page.locator(NODES).count() <= 7
    frame = page.locator("#picture").bounding_box()
    root = page.locator(NODES).first.bounding_box()
    assert root["x"] >= frame["x"]
    assert root["x"] + root["width"] <= frame["x"] + frame["width"]
    assert root["y"] < frame["y"] + 60  # it grows down, from the top
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    tab.check()
    tab.context.close()


def test_a_tree_of_four_levels_is_seen_whole_from_the_start(chromium, tmp_path):
    data = load_hitters()
    model = treewright.CARTRegressor(max_depth=4, max_leaf_nodes=12).fit(data.data, data.target)
    tab = Tab(chromium, tmp_path, viewport={"width": 1180, "height": 900})
    page = tab.open(model.to_html())
    frame = page.locator("#picture").bounding_box()
    boxes = [node.bounding_box() for node in page.locator(NODES).all()]
    assert len(boxes) == model.tree_.n_nodes
    assert min(box["x"] for box in boxes) >= frame["x"]
    assert max(box["x"] + box["width"] for box in boxes) <= frame["x"] + frame["width"] + 1
    tab.check()
    tab.context.close()


def test_folding_hides_a_subtree_and_stays_in_the_address(credit, tab):
    page = tab.open(credit[2])
    before = page.locator(NODES).count()
    page.locator('[data-fold="0"]').click()
    assert page.locator(NODES).count() == 1
    wait_for(page, "folded=0")
    again = page.url
    page.goto("about:blank")
    page.goto(again)
    assert page.locator(NODES).count() == 1
    page.locator('[data-fold="0"]').click()
    assert page.locator(NODES).count() == before


def test_finding_a_feature_marks_its_nodes(credit, tab):
    model, _, html = credit
    page = tab.open(html)
    page.fill("#find", "duration")
    hits = page.locator("#stage .node.hit")
    feature = model.tree_.schema.index("duration")
    n_tests = int(np.count_nonzero(model.tree_.splits.feature == feature))
    assert page.locator("#hits").inner_text() == f"{n_tests} found"
    assert 1 <= hits.count() <= n_tests
    page.press("#find", "Enter")
    assert page.locator("#details h3").first.inner_text() == "Split on duration"


def test_the_slider_cuts_the_tree_back_along_the_weakest_links(credit, tab):
    model, _, html = credit
    page = tab.open(html)
    path = treewright.pruning.cost_complexity_path(model.tree_)
    steps = int(page.get_attribute("#size", "max"))
    for place in (0, 2, steps // 2):
        page.evaluate(
            "v => { const s = document.getElementById('size'); s.value = v; "
            "s.dispatchEvent(new Event('input')); }",
            place,
        )
        words = page.inner_text("#size-words")
        n_leaves = int(re.match(r"\d+", words)[0])
        assert n_leaves == path.n_leaves[len(path) - 1 - place]
        assert "300 rows held out" in words
        page.click('[data-action="open"]')
        assert page.locator("#stage .node.leaf").count() == n_leaves


def test_the_error_beside_the_slider_is_that_of_the_pruned_tree(credit, tab):
    model, _, html = credit
    page = tab.open(html)
    data = load_german_credit()
    held_out = data.data.take(np.arange(700, 1000))
    path = treewright.pruning.cost_complexity_path(model.tree_)
    k = len(path) // 2
    page = tab.open(html, f"#size={k + (path.n_leaves[0] != model.tree_.n_leaves)}")
    pruned = treewright.CARTClassifier(min_samples_leaf=15, ccp_alpha=path.alphas[k])
    pruned.fit(data.data.take(np.arange(700)), data.target[:700])
    assert pruned.get_n_leaves() == path.n_leaves[k]
    error = np.mean(pruned.predict(held_out) != data.target[700:])
    assert f"error {100 * error:.1f} %" in page.inner_text("#size-words")


def test_a_row_that_is_tried_goes_where_the_library_sends_it(credit, tab):
    model, train, html = credit
    page = tab.open(html)
    names = model.tree_.schema.names
    for i in (0, 5, 17):
        row = {k: v[0] for k, v in train.slice(i, 1).to_pydict().items()}
        page.click('[data-action="clear"]')
        for label in page.locator("#fields .field").all():
            name = label.locator("label").inner_text()
            value = row[name]
            if label.locator("select").count():
                label.locator("select").select_option(label=str(value))
            else:
                label.locator("input").fill(str(value))
        said = page.inner_text("#answer .said")
        assert said == f"Prediction: {model.predict(train.slice(i, 1))[0]}"
        leaf = int(model.apply(train.slice(i, 1))[0])
        assert page.locator(f'#stage .leaf.on-way[data-node="{leaf}"]').count() == 1
    assert len(names) == 20


@pytest.mark.filterwarnings("ignore::treewright.errors.ConversionWarning")
def test_dates_are_written_and_tried_as_dates(tab):
    days = np.datetime64("2020-01-01") + np.arange(400)
    model = treewright.CARTClassifier(max_depth=1).fit({"joined": days}, np.arange(400) >= 31)
    page = tab.open(model.to_html())
    assert "2020-01-31 12:00" in page.locator("#stage").text_content()
    field = page.get_by_label("joined", exact=True)
    kind = field.get_attribute("type")
    assert kind in ("date", "datetime-local")
    for day, answer in (("2020-01-30", "False"), ("2020-02-02", "True")):
        field.fill(day if kind == "date" else f"{day}T00:00")
        assert page.inner_text("#answer .said") == f"Prediction: {answer}"


def test_gaps_follow_surrogates_and_fractions_as_in_the_library(tab):
    data = load_german_credit()
    for model in (
        treewright.CARTClassifier(missing="surrogate", max_depth=4),
        treewright.C45Classifier(),
        treewright.CHAIDClassifier(),
    ):
        model.fit(data.data, data.target)
        page = tab.open(model.to_html())
        gap = {name: [None] for name in data.data.column_names} | {"duration": [30]}
        import pyarrow as pa

        row = pa.table({n: pa.array(v, data.data.schema.field(n).type) for n, v in gap.items()})
        fields = page.locator("#fields .field", has=page.get_by_label("duration", exact=True))
        if fields.count():
            fields.locator("input").fill("30")
        else:
            continue
        shares = model.predict_proba(row)[0]
        best = f"{100 * shares.max():.0f} %"
        assert page.inner_text("#answer .said") == f"Prediction: {model.predict(row)[0]}"
        assert best in page.inner_text("#answer table")


def test_keys_walk_fold_and_zoom(credit, tab):
    page = tab.open(credit[2])
    page.focus('#stage [data-node="0"]')
    page.keyboard.press("ArrowDown" if "down" in turn(page) else "ArrowRight")
    first = page.evaluate("document.activeElement.dataset.node")
    assert int(first) > 0
    assert page.get_attribute(f'#stage [data-node="{first}"]', "aria-selected") == "true"
    before = page.locator(NODES).count()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.locator(NODES).count() == 1 < before
    scale = page.get_attribute("#stage", "transform")
    page.keyboard.press("+")
    assert page.get_attribute("#stage", "transform") != scale
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "find"


def turn(page: Any) -> str:
    """Which way the tree is drawn, by where the first child stands."""
    spots = [page.locator(f'#stage [data-node="{node}"]').bounding_box() for node in (0, 1)]
    return "down" if spots[1]["y"] > spots[0]["y"] + 60 else "right"


def test_hovering_tells_rule_counts_and_candidates(credit, tab):
    model, _, html = credit
    page = tab.open(html)
    page.hover('#stage [data-node="0"] .title')
    words = page.inner_text("#details")
    assert "700 training rows" in words
    assert "Candidates" in words
    page.hover('#stage [data-node="1"] .title')
    assert model.tree_.node(1).feature is None or "Node 1" in page.inner_text("#details")
    assert "checking_status" in page.inner_text("#details .rule")


def test_dragging_pans_and_the_address_keeps_the_view(credit, tab):
    page = tab.open(credit[2])
    before = page.get_attribute("#stage", "transform")
    page.mouse.move(60, 700)
    page.mouse.down()
    page.mouse.move(160, 640, steps=4)
    page.mouse.up()
    after = page.get_attribute("#stage", "transform")
    assert after != before
    wait_for(page, "view=")
    page.wait_for_timeout(120)
    again = page.url
    page.goto("about:blank")
    page.goto(again)
    numbers = [
        [float(x) for x in re.findall(r"-?[\d.]+", t)]
        for t in (after, page.get_attribute("#stage", "transform"))
    ]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.01)


def test_without_scripts_the_static_picture_stays(credit, chromium, tmp_path):
    from tests.reporting.conftest import Tab

    tab = Tab(chromium, tmp_path, java_script_enabled=False)
    page = tab.open(credit[2])
    assert page.locator("#static svg").is_visible()
    assert page.locator(".interactive").is_hidden()
    tab.check()


def test_a_damaged_address_opens_the_page_as_new(credit, tab):
    page = tab.open(
        credit[2], "#size=99999&node=99999&folded=a,b&view=x&row={bad&tree=7&opened=1e9"
    )
    assert page.locator(NODES).count() > 1


@pytest.mark.parametrize(
    "model",
    [
        treewright.RandomForestClassifier(n_estimators=4, random_state=0),
        treewright.GradientBoostingClassifier(n_estimators=3, min_samples_leaf=2),
        treewright.AdaBoostClassifier(n_estimators=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_members_of_an_ensemble_can_be_chosen(model, tab):
    data = load_play_tennis()
    page = tab.open(model.fit(data.data, data.target).to_html())
    page.select_option("#member", "1")
    wait_for(page, "tree=1")
    assert "One tree of an ensemble is not its answer" in page.inner_text("main")


def test_a_model_without_a_tree_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = treewright.VotingRegressor([("a", treewright.MARSRegressor())]).fit(X, X[:, 0])
    assert not hasattr(model, "to_html")
    bagged = treewright.BaggingRegressor(treewright.MARSRegressor(), n_estimators=2).fit(X, X[:, 0])
    with pytest.raises(treewright.errors.ParameterError, match="draws trees"):
        bagged.to_html()


def test_a_notebook_shows_the_page_in_a_frame(credit):
    model, _, _ = credit
    assert "<iframe" in model.tree_._repr_html_()
    assert "<iframe" in model._repr_mimebundle_()["text/html"]
    assert "<iframe" not in treewright.CARTClassifier()._repr_mimebundle_()["text/html"]


def test_a_notebook_shows_a_picture_of_a_very_large_tree():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8000, 3)), rng.integers(0, 2, 8000)
    texts = {"c": [f"v{k % 3000}" for k in range(8000)]}
    for model in (
        treewright.CARTClassifier().fit(X, y),
        treewright.RandomForestClassifier(3, max_features=None, bootstrap=False).fit(X, y),
        treewright.CARTClassifier(categorical_features=["c"]).fit(texts, y),
    ):
        shown = model._repr_mimebundle_()["text/html"]
        assert "<iframe" not in shown
        assert "<svg" in shown
        assert "to_html()" in shown
        assert len(shown) < 300_000


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 400)])
def test_axe_finds_no_serious_fault(credit, accessible, scheme, width):
    assert accessible(credit[2], scheme, width) == []
