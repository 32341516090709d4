"""The distribution inside the boxes: every number there, every word inside, nothing on top."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from tests.tree.builders import EXAMPLES, N, Test, iris, make_tree, play_tennis, salaries
from tests.tree.show.test_svg import boxes_of, words
from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ParameterError
from treewright.tree.node_tests import NodeTests
from treewright.tree.show.boxes import DOWN, PADDING, make_boxes, text_width
from treewright.tree.show.colours import Palette
from treewright.tree.show.panels import MAX_ROWS, SIZE, TEST_SIZE
from treewright.tree.tree import Tree


def with_tests(tree: Tree) -> Tree:
    """The tree with a test of the feature of every split."""
    inner = np.flatnonzero(~tree.is_leaf).astype(np.int32)
    n = len(inner)
    tests = NodeTests(
        inner,
        tree.splits.feature[inner],
        np.full(n, 12.3456),
        np.full(n, 2.0),
        np.full(n, -9.0),
        np.full(n, -8.0),
    )
    return replace(tree, tests=tests)


def with_boxes(tree: Tree) -> Tree:
    """The tree with made-up quantiles around its means."""
    spread = np.array([-2.0, -1.0, 0.1, 1.0, 3.0])
    return replace(tree, extras={**tree.extras, "quantiles": tree.value[:, :1] + spread})


def classes(n: int, names: list[str] | None = None) -> Tree:
    names = names or [f"class {k}" for k in range(n)]
    schema = Schema((Feature("x", "continuous"),), target=Target("y", tuple(names)))
    value = [float(10 + k) for k in range(n)]
    return make_tree(schema, N(value, Test(0, [1]), [N(value), N(value)]))


def test_every_class_has_a_bar_its_share_and_its_weight() -> None:
    svg = play_tennis().to_svg(distribution=True)
    shown = words(svg)
    assert {"64.3 %", "35.7 %", "9", "5", "100.0 %", "n 14 · 100 %", "n 5 · 36 %"} <= set(shown)
    n_bars = len(re.findall(r'height="9"', svg))
    assert n_bars == 2 * 2 * play_tennis().n_nodes  # a bar on its ground, for two classes


def test_the_split_and_its_test_stand_below_the_distribution() -> None:
    shown = words(with_tests(play_tennis()).to_svg())
    assert "outlook" in shown
    assert shown.count("adjusted p < 0.001") == 3
    assert shown.count("χ² = 12.346, df = 2") == 3


def test_trees_with_tests_show_the_distribution_by_themselves() -> None:
    tree = play_tennis()
    assert "64.3 %" not in words(tree.to_svg())
    assert "64.3 %" in words(with_tests(tree).to_svg())
    assert "64.3 %" not in words(with_tests(tree).to_svg(distribution=False))


def test_numbers_have_a_box_plot_on_a_common_scale() -> None:
    tree = with_boxes(salaries())
    boxes = make_boxes(
        tree, Palette.of(tree), DOWN, max_depth=None, digits=4, gaps=None, distribution=True
    )
    quantiles = np.array([box.panel.quantiles for box in boxes])
    assert quantiles.min() == 0
    assert quantiles.max() == 1
    assert np.all(np.diff(quantiles, axis=1) > 0)
    assert "F = 12.346, df = 2, 40" in words(
        replace(
            with_tests(tree),
            extras={**tree.extras, "df_error": np.full(tree.n_nodes, 40.0)},
        ).to_svg()
    )


def test_numbers_without_quantiles_have_no_distribution() -> None:
    tree = salaries()
    with pytest.raises(ParameterError, match="distribution=True needs the quantiles"):
        tree.to_svg(distribution=True)
    ET.fromstring(with_tests(tree).to_svg())


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("orientation", ["down", "right"])
def test_boxes_do_not_overlap_and_every_node_is_drawn(name: str, orientation: str) -> None:
    tree = with_tests(EXAMPLES[name]())
    if Palette.of(tree).scale is not None:
        tree = with_boxes(tree)
    rects = boxes_of(tree.to_svg(orientation=orientation))
    assert len(rects) == tree.n_nodes
    for i, (x0, y0, x1, y1) in enumerate(rects):
        for a0, b0, a1, b1 in rects[:i]:
            assert x1 <= a0 + 0.2 or a1 <= x0 + 0.2 or y1 <= b0 + 0.2 or b1 <= y0 + 0.2


def test_words_stay_inside_their_boxes() -> None:
    long = ["a class with quite a long name indeed", "another one of the same kind", "c"]
    for tree in (classes(3, long), classes(30), with_tests(iris())):
        boxes = make_boxes(
            tree, Palette.of(tree), DOWN, max_depth=None, digits=4, gaps=None, distribution=True
        )
        for box in boxes:
            room = box.width - 2 * PADDING + 0.1
            style = box.panel.style
            assert style.plot_width <= room
            for row in box.panel.rows:
                assert text_width(row.name, SIZE, row.is_label) <= style.name_width + 0.1
                assert text_width(row.percent, SIZE, True) <= style.percent_width + 0.1
            for line in (*box.panel.tests, *box.panel.notes):
                assert text_width(line, TEST_SIZE) <= room


def test_the_rarest_of_many_classes_share_a_row() -> None:
    tree = classes(30)
    shown = words(tree.to_svg(distribution=True))
    assert shown.count("23 others") == 3
    [box, *_] = make_boxes(
        tree, Palette.of(tree), DOWN, max_depth=None, digits=4, gaps=None, distribution=True
    )
    assert len(box.panel.rows) == MAX_ROWS
    assert sum(row.share for row in box.panel.rows) == pytest.approx(1)
    assert [row.is_label for row in box.panel.rows].count(True) == 1


def test_an_empty_node_still_draws() -> None:
    tree = play_tennis()
    empty = replace(tree, weight=np.zeros(8), value=np.zeros((8, 2)))
    numbers = with_boxes(salaries())
    gone = np.full((numbers.n_nodes, 5), np.nan)
    gone[0] = [0, 1, 2, 3, 4]
    for tree in (empty, replace(numbers, extras={"quantiles": gone})):
        svg = tree.to_svg(distribution=True)
        ET.fromstring(svg)
        assert "nan" not in svg


def test_nothing_of_the_data_is_taken_for_markup() -> None:
    svg = classes(2, ["<script>", "b&'\""]).to_svg(distribution=True)
    assert "<script" not in svg
    ET.fromstring(svg)
