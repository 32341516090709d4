"""The picture: valid, safe, complete, and every word inside its box."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from tests.tree.builders import (
    EXAMPLES,
    IRIS,
    N,
    Test,
    iris,
    make_tree,
    play_tennis,
    random_tree,
    salaries,
    wide_categories,
)
from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ParameterError
from treewright.tree.show.boxes import (
    DETAIL_SIZE,
    DOWN,
    RIGHT,
    TITLE_SIZE,
    fit_text,
    make_boxes,
    text_width,
    wrap_text,
)
from treewright.tree.show.colours import OTHER, Palette, mix
from treewright.tree.tree import Tree

SVG = "{http://www.w3.org/2000/svg}"


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def size(svg: str) -> tuple[float, float]:
    root = ET.fromstring(svg)
    return float(root.get("width", "0")), float(root.get("height", "0"))


def full_binary(depth: int) -> Tree:
    node = N([1, 1, 1])
    for _ in range(depth):
        node = N([1, 1, 1], Test(2, [2.45]), [node, node])
    return make_tree(IRIS, node)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("orientation", ["down", "right"])
def test_every_example_gives_valid_xml_with_all_its_nodes(name: str, orientation: str) -> None:
    tree = EXAMPLES[name]()
    root = ET.fromstring(tree.to_svg(orientation=orientation))
    tips = [element.text or "" for element in root.iter(f"{SVG}title")]
    drawn = {int(found[1]) for tip in tips if (found := re.search(r"node (\d+):", tip))}
    assert drawn == set(range(tree.n_nodes))
    assert len(list(root.iter(f"{SVG}path"))) == tree.n_nodes - 1


def test_play_tennis_is_labelled_with_tests_and_branches() -> None:
    shown = words(play_tennis().to_svg())
    for word in ("outlook", "wind", "humidity", "overcast", "rain", "sunny", "weak", "n 14"):
        assert word in shown
    assert shown.count("Yes") == 4  # three leaves and the legend


def test_thresholds_stand_on_the_edges() -> None:
    shown = words(iris().to_svg(gaps=False))
    assert {"< 2.45", "≥ 2.45", "< 1.75", "≥ 1.75"} <= set(shown)
    assert "≥ 2.45 (or gap)" in words(iris().to_svg())


def test_nothing_of_the_data_is_taken_for_markup() -> None:
    evil = "<script>alert('x')</script>&\"\x00\ud800"
    schema = Schema(
        (Feature(evil, "nominal", (evil, evil + "2", "a")),), target=Target(evil, (evil, "b"))
    )
    test = Test(0, codes={0: 0, 1: 0, 2: 1})
    tree = make_tree(schema, N([3, 3], test, [N([3, 0]), N([0, 3])]))
    for svg in (tree.to_svg(), tree._repr_html_()):
        assert "<script" not in svg
        svg.encode("utf-8")
    tags = {element.tag.removeprefix(SVG) for element in ET.fromstring(tree.to_svg()).iter()}
    assert tags <= {"svg", "title", "rect", "g", "text", "path", "circle"}


def test_the_picture_refers_to_nothing_outside() -> None:
    svg = iris().to_svg()
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
    for attribute in ("href", "style=", "class=", " id="):
        assert attribute not in svg


@pytest.mark.parametrize("seed", range(10))
def test_boxes_and_their_labels_do_not_overlap(seed: int) -> None:
    tree = random_tree(seed, n_inner=15)
    for orientation in ("down", "right"):
        rects = boxes_of(tree.to_svg(orientation=orientation))
        assert len(rects) == tree.n_nodes
        for i, (x0, y0, x1, y1) in enumerate(rects):
            for a0, b0, a1, b1 in rects[:i]:
                assert x1 <= a0 + 0.2 or a1 <= x0 + 0.2 or y1 <= b0 + 0.2 or b1 <= y0 + 0.2


def boxes_of(svg: str) -> list[tuple[float, float, float, float]]:
    """Corners of the node boxes."""
    pattern = (
        r'translate\((-?[\d.]+),(-?[\d.]+)\)"><title>[^<]*</title>'
        r'<rect width="([\d.]+)" height="([\d.]+)"'
    )
    found = [tuple(map(float, hit)) for hit in re.findall(pattern, svg)]
    return [(x, y, x + w, y + h) for x, y, w, h in found]


@pytest.mark.parametrize("name", EXAMPLES)
def test_words_fit_their_boxes(name: str) -> None:
    tree = EXAMPLES[name]()
    for box in make_boxes(tree, Palette.of(tree), DOWN, max_depth=None, digits=4, gaps=None):
        assert all(text_width(line, TITLE_SIZE, True) <= box.width - 16 for line in box.title)
        assert text_width(box.detail, DETAIL_SIZE) <= box.width - 16
        assert box.label_width <= DOWN.words


def test_wide_trees_turn_to_the_right() -> None:
    small, large = full_binary(3).to_svg(), full_binary(6).to_svg()
    assert size(small)[0] < 1548
    assert size(large)[0] < 1548  # 64 leaves
    assert size(large)[1] > 2 * size(large)[0]
    assert size(full_binary(6).to_svg(orientation="down"))[0] > 4000


def test_max_depth_leaves_stubs() -> None:
    svg = full_binary(4).to_svg(max_depth=2)
    assert words(svg).count("⋯ 6 more") == 4
    assert svg.count("stroke-dasharray") == 4
    assert len(boxes_of(svg)) == 7


def test_notebook_displays_are_bounded() -> None:
    tree = full_binary(10)
    assert len(boxes_of(tree._repr_svg_())) == 31
    assert tree._repr_html_().startswith('<div style="overflow-x:auto')


def test_regression_shows_values_and_a_scale() -> None:
    shown = words(salaries().to_svg())
    assert {"5.107", "5.998", "6.74", "n 263 · 5.927"} <= set(shown)
    assert Palette.of(salaries()).scale == (5.107, 6.74)
    fills = re.findall(r'rx="7" fill="(#\w+)"', salaries().to_svg())
    low, high = (sum(int(f[k : k + 2], 16) for k in (1, 3, 5)) for f in (fills[1], fills[-1]))
    assert high < low  # the larger value is the darker box


def test_a_constant_target_does_not_divide_by_zero() -> None:
    schema = Schema((Feature("x", "continuous"),), target=Target("y"))
    tree = make_tree(schema, N([1.0], Test(0, [1]), [N([1.0], n=1), N([1.0], n=1)], n=2))
    assert words(tree.to_svg()).count("1") >= 2


def test_rare_classes_of_many_share_a_grey() -> None:
    n = 14
    schema = Schema(IRIS.features, target=Target("y", tuple(f"class {k}" for k in range(n))))
    value = list(range(n))
    tree = make_tree(schema, N(value, Test(0, [1]), [N(value), N(value)]))
    palette = Palette.of(tree)
    assert palette.colours.count(OTHER) == 5
    assert OTHER not in palette.colours[5:]
    assert "5 other classes" in words(tree.to_svg())
    for box in make_boxes(tree, palette, RIGHT, max_depth=None, digits=4, gaps=None):
        assert sum(share for _, share in box.shares) == pytest.approx(1)


def test_class_colours_differ() -> None:
    colours = Palette.of(play_tennis()).colours
    assert len(set(colours)) == 2
    assert mix("#000000", "#ffffff", 0.5) == "#808080"


def test_long_names_are_broken_then_shortened() -> None:
    assert wrap_text("od280/od315_of_diluted_wines", 13, 150, 2, True) == [
        "od280/od315_of_",
        "diluted_wines",
    ]
    assert fit_text("abc", 13, 100) == "abc"
    short = fit_text("a very long name indeed", 13, 60)
    assert short.endswith("…")
    assert text_width(short, 13) <= 60
    lines = wrap_text("x" * 500, 13, 100, 2)
    assert len(lines) <= 2
    assert all(text_width(line, 13) <= 100 for line in lines)


def test_long_lists_of_categories_are_counted() -> None:
    shown = words(wide_categories(40).to_svg())
    assert shown.count("… 18 more") == 2
    assert "(or gap)" in shown


def test_a_tree_without_rows_below_still_draws() -> None:
    tree = play_tennis()
    empty = replace(
        tree,
        weight=np.zeros(8),
        n_samples=np.zeros(8, np.int64),
        value=np.zeros((8, 2)),
    )
    ET.fromstring(empty.to_svg())


def test_an_unknown_orientation_is_refused() -> None:
    with pytest.raises(ParameterError, match="orientation must be 'auto', 'down' or 'right'"):
        play_tennis().to_svg(orientation="up")
