"""Words stay where they belong, measured with a real font: the widest that readers usually have."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import lru_cache
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.ft2font import FT2Font

import treewright as tw
from tests.tree.builders import N, Test, make_tree
from tests.tree.show.geometry import SVG, look, overlaps
from treewright.data.schema import Feature, Schema, Target
from treewright.tree.show.measure import fit_name, text_width, wrap_text
from treewright.tree.tree import Tree

FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"


@lru_cache(maxsize=2)
def font(is_bold: bool) -> FT2Font:
    face = FT2Font(str(FONTS / ("DejaVuSans-Bold.ttf" if is_bold else "DejaVuSans.ttf")))
    face.set_size(100, 72)
    return face


def real_width(words: str, size: float, is_bold: bool) -> float:
    face = font(is_bold)
    face.set_text(words)
    return face.get_width_height()[0] / 64 * size / 100


def credit(n: int, **kinds: object) -> Tree:
    data = tw.datasets.load_german_credit()
    return tw.CARTClassifier(max_leaf_nodes=n, **kinds).fit(data.data, data.target).tree_


def long_names() -> Tree:
    data = tw.datasets.load_german_credit()
    X = data.data.to_pandas().rename(columns=lambda c: f"a name nobody cut before: {c}")
    y = pd.Series(list(data.target)).map(lambda c: f"the customer is a {c} risk for the bank")
    return tw.CARTClassifier(max_leaf_nodes=8).fit(X, y).tree_


def prices() -> Tree:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(2000, 4)), columns=["medianIncome", "age", "lat", "long"])
    y = 100_000 + 90_000 * np.abs(X["medianIncome"]) + 5000 * X["age"]
    return tw.CARTRegressor(max_leaf_nodes=40).fit(X, y.rename("medianHouseValue")).tree_


TREES = {
    "10 leaves": lambda: credit(10),
    "40 leaves": lambda: credit(40),
    "long names": long_names,
    "numbers": prices,
}


def boxes_with_words(svg: str) -> list[tuple[float, list[tuple[str, float, float]]]]:
    """The width of every box, and its words with where they begin and end in it."""
    found = []
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        if group.get("data-node") is None or "overview" in group.get("class", ""):
            continue
        width = max(float(r.get("width", "0")) for r in group.iter(f"{SVG}rect"))
        said = []
        for text in group.iter(f"{SVG}text"):
            kind, size = text.get("class", "").split(), float(text.get("font-size", "11"))
            extent = real_width(text.text or "", size, "b" in kind)
            start = float(text.get("x", "0"))
            anchor = text.get("text-anchor", "start")
            anchor = "middle" if "m" in kind else "end" if "e" in kind else anchor
            start -= {"start": 0, "middle": extent / 2, "end": extent}[anchor]
            said.append((text.text or "", start, start + extent))
        found.append((width, said))
    return found


@pytest.mark.parametrize("detail", ["auto", "chip", "card", "full"])
@pytest.mark.parametrize("name", TREES)
def test_words_do_not_leave_their_boxes(name: str, detail: str) -> None:
    svg = TREES[name]().to_svg(detail=detail)
    boxes = boxes_with_words(svg)
    assert sum(len(said) for _, said in boxes) > 10
    for width, said in boxes:
        for words, start, end in said:
            assert start >= -0.5, words
            assert end <= width + 0.5, words


def test_words_are_not_wider_than_they_are_taken_to_be() -> None:
    said = "3 leaves, mostly good|other_payment_plans|n 20640 · 100 % of rows|≥ -118.3|257939"
    for words in said.split("|"):
        for is_bold in (False, True):
            assert real_width(words, 13, is_bold) <= 1.03 * text_width(words, 13, is_bold)


def test_entries_of_the_legend_do_not_overlap() -> None:
    schema = Schema((Feature("x", "continuous"),), target=Target("y", tuple("ABCDEFGHIJKLMNOP")))
    left = np.ones(16).tolist()
    tree = make_tree(schema, N([2] * 16, Test(0, [1.0]), [N(left), N(left)]))
    legend = list(ET.fromstring(tree.to_svg()).iter(f"{SVG}g"))[1]
    ends: dict[float, float] = {}

    def walk(group: ET.Element, x: float, y: float) -> None:
        for child in group:
            if child.tag == f"{SVG}g":
                dx, dy = child.get("transform", "translate(0,0)")[10:-1].split(",")
                walk(child, x + float(dx), y + float(dy))
                continue
            at = x + float(child.get("x", "0"))
            row = round((y + float(child.get("y", "0"))) / 18)
            if child.tag == f"{SVG}text":
                assert at >= ends.get(row, 0.0)
                ends[row] = at + real_width(child.text or "", 11, False)
            elif child.tag == f"{SVG}path":
                assert x >= ends.get(round((y + 10) / 18), 0.0)

    walk(legend, 0.0, 0.0)
    assert ends


def test_names_of_classes_that_begin_and_end_alike_are_told_apart() -> None:
    texts = look(long_names().to_svg()).texts
    assert any("bad" in words and "good" not in words for words in texts)
    assert any("good" in words and "bad" not in words for words in texts)


def test_a_shortened_name_keeps_its_end() -> None:
    short = fit_name("a name that nobody cut before it came: duration", 13, 150, True)
    assert short.startswith("a name")
    assert short.endswith("ation")
    assert short.count("…") == 1
    assert text_width(short, 13, True) <= 150
    assert fit_name("short", 13, 150) == "short"


def test_a_name_of_humps_breaks_at_them_and_leaves_no_empty_line() -> None:
    assert wrap_text("housingMedianAge", 13, 120, 2, True) == ["housingMedian", "Age"]
    assert wrap_text("unbreakablenameofacolumn", 13, 100, 2, True)[-1].strip()
    assert wrap_text("mean radius_of", 13, 200, 2) == ["mean radius_of"]


@pytest.mark.parametrize("n", [40, 150])
def test_the_overview_stands_on_free_paper(n: int) -> None:
    svg = credit(n, min_samples_leaf=1).to_svg()
    seen = look(svg)
    assert not overlaps(seen)
    group = next(g for g in ET.fromstring(svg).iter(f"{SVG}g") if "overview" in g.get("class", ""))
    x, y = (float(v) for v in group.get("transform")[10:-1].split(","))
    ground = next(group.iter(f"{SVG}rect"))
    right, low = x + float(ground.get("width")), y + float(ground.get("height")) + 26
    assert right <= seen.width
    assert low <= seen.height
    for _, _, (x0, y0, x1, y1) in seen.boxes:
        assert x1 <= x or right <= x0 or y1 <= y or low <= y0
    for points, _ in seen.ribbons:
        assert not any(x < px < right and y < py < low for px, py in points)


def test_a_phone_gets_a_picture_of_its_width() -> None:
    seen = look(credit(10).to_svg(width=400))
    assert seen.width <= 400
    assert len(seen.boxes) >= 3
