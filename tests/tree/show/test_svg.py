"""The picture: valid, safe, bounded, readable, and nothing on top of anything else."""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import treewright
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
from tests.tree.show.geometry import SVG, crossings, look, overlaps
from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ParameterError
from treewright.tree.show.colours import THEMES, colour, mix
from treewright.tree.show.measure import fit_text, text_width, wrap_text
from treewright.tree.show.split_picture import split_picture
from treewright.tree.tree import Tree


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def full_binary(depth: int) -> Tree:
    node = N([3, 1, 1])
    for _ in range(depth):
        counts = [2 * x for x in node.value]
        node = N(counts, Test(2, [2.45]), [node, node])
    return make_tree(IRIS, node)


def many_branches(n: int, empty: int = 0) -> Tree:
    """One node with ``n`` branches, the last ``empty`` of them without rows."""
    schema = Schema(
        (Feature("shop", "nominal", tuple(f"shop {k}" for k in range(n))),),
        target=Target("y", ("no", "yes")),
    )
    leaves = [N([k % 7 + 1, 3]) if k < n - empty else N([0, 0]) for k in range(n)]
    total = [sum(leaf.value[c] for leaf in leaves) for c in (0, 1)]
    test = Test(0, codes={k: k for k in range(n)})
    return make_tree(schema, N(total, test, leaves))


def letters(n: int = 26) -> Tree:
    """Two leaves and very many classes."""
    schema = Schema(IRIS.features, target=Target("y", tuple(f"class {k}" for k in range(n))))
    left = [float(k == 20) * 60 + 1 for k in range(n)]
    right = [float(k == 3) * 60 + 1 for k in range(n)]
    both = [a + b for a, b in zip(left, right, strict=True)]
    return make_tree(schema, N(both, Test(0, [1]), [N(left), N(right)]))


def counted(tree: Tree) -> Tree:
    """The tree with rows that add up: every node has those of its children."""
    n = np.where(tree.is_leaf, tree.n_samples, 0)
    for node in range(tree.n_nodes - 1, 0, -1):
        n[tree.parent[node]] += n[node]
    return replace(tree, n_samples=n, weight=n.astype(float))


# What is drawn


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("orientation", ["down", "right"])
def test_every_example_gives_valid_xml_with_all_its_nodes(name: str, orientation: str) -> None:
    tree = EXAMPLES[name]()
    seen = look(tree.to_svg(orientation=orientation))
    assert {number for _, number, _ in seen.boxes} == set(range(tree.n_nodes))
    assert len(seen.ribbons) == tree.n_nodes - 1


def test_play_tennis_is_labelled_with_tests_and_branches() -> None:
    shown = words(play_tennis().to_svg())
    for word in ("outlook", "wind", "humidity", "overcast", "rain", "sunny", "weak"):
        assert word in shown
    assert "n 14 · 100 % of rows" in shown
    assert shown.count("Yes 100 %") == 3
    assert shown.count("n 5 · 36 % of rows") == 2


def test_thresholds_stand_on_the_ribbons() -> None:
    shown = words(iris().to_svg(gaps=False))
    assert {"< 2.45", "≥ 2.45", "< 1.75", "≥ 1.75"} <= set(shown)
    assert "≥ 2.45 (or gap)" in words(iris().to_svg())


def test_a_class_that_is_a_number_is_kept_apart_from_its_share() -> None:
    tree = iris()
    target = replace(tree.schema.target, classes=(0, 1, 2))
    shown = words(replace(tree, schema=replace(tree.schema, target=target)).to_svg())
    assert "0 · 100 %" in shown


def test_names_of_classes_can_be_set() -> None:
    tree = play_tennis()
    for names in (["stay", "go"], {"No": "stay", "Yes": "go"}):
        shown = words(tree.to_svg(class_names=names))
        assert "go 100 %" in shown
        assert "Yes 100 %" not in shown
    with pytest.raises(ParameterError, match="class_names must have 2 names, got 1"):
        tree.to_svg(class_names=["a"])
    with pytest.raises(ParameterError, match="got 'maybe', which is none"):
        tree.to_svg(class_names={"maybe": "a"})
    with pytest.raises(ParameterError, match="class_names are for classes"):
        salaries().to_svg(class_names=["a"])


# Size by rows, fill by lead, classes in their order


def test_leaves_grow_with_their_rows() -> None:
    few, many = N([0, 2, 0]), N([0, 315, 0])
    tree = make_tree(IRIS, N([0, 317, 0], Test(0, [1]), [few, many]))
    small, large = look(tree.to_svg()).kinds("leaf")
    assert large[2] - large[0] > small[2] - small[0] + 20
    assert large[3] - large[1] > small[3] - small[1] + 8


def test_the_fill_says_how_far_ahead_the_predicted_class_is() -> None:
    sure, ahead, close = N([0, 100, 0]), N([14, 86, 0]), N([50, 50, 0])
    tree = make_tree(IRIS, N([64, 236, 0], Test(0, [1, 2]), [sure, ahead, close]))
    svg = tree.to_svg()
    fills = re.findall(r'rx="7" class="f-class\d s-class\d"[^>]* fill-opacity="([\d.]+)"', svg)
    assert [float(x) for x in fills] == pytest.approx([0.45, 0.35], abs=0.01)
    assert "too close to call" in words(svg)
    assert "too close to call" in svg.split("leaf 3 predicts")[1][:80]


def test_of_many_classes_the_predicted_one_comes_first_and_the_rest_is_hatched() -> None:
    svg = letters().to_svg()
    shown = words(svg)
    assert "class 20 · 71 %" in shown
    assert "class 3 · 71 %" in shown
    assert "other classes" in shown
    leaf = svg.split('data-node="1"')[1]
    first = re.search(r'class="f-(class\d+)"/>', leaf)  # no opacity: saturated
    assert first is not None
    assert first[1] == "class20"
    assert leaf.count("<path") >= 1
    assert len({colour(f"class{k}", "light") for k in range(26)}) == 26


def test_ribbons_are_as_wide_as_their_rows() -> None:
    seen = look(play_tennis().to_svg())
    widths = sorted({width for _, width in seen.ribbons}, reverse=True)
    assert widths[0] / widths[-1] == pytest.approx(5 / 2, rel=0.1)


def test_words_on_thick_ribbons_stand_on_paper() -> None:
    svg = play_tennis().to_svg(detail="card")
    plates = [r for r in ET.fromstring(svg).iter(f"{SVG}rect") if r.get("rx") == "3"]
    assert 0 < len(plates) <= len(look(svg).labels)
    for plate in plates:
        x, y = float(plate.get("x")), float(plate.get("y"))
        w, h = float(plate.get("width")), float(plate.get("height"))
        assert any(x < lx < x + w and y < ly < y + h for lx, ly in _texts_of_labels(svg))


def _texts_of_labels(svg: str) -> list[tuple[float, float]]:
    found = ET.fromstring(svg).iter(f"{SVG}text")
    return [
        (float(t.get("x")), float(t.get("y"))) for t in found if "s-paper" in t.get("class", "")
    ]


def test_the_legend_explains_unfilled_folds() -> None:
    even = N([5, 5, 0], Test(2, [2.45]), [N([3, 2, 0]), N([2, 3, 0])])
    pure = N([90, 0, 0])
    tree = make_tree(IRIS, N([95, 5, 0], Test(1, [1.0]), [even, pure]))
    assert "too close to call" in words(tree.to_svg(max_depth=1))
    assert "too close to call" not in words(make_tree(IRIS, pure).to_svg())


def test_a_shortened_name_has_one_mark() -> None:
    name = "the age of the passenger as it was written down in the list of the ship"
    schema = Schema((Feature(name, "continuous"),), target=Target("y", ("no", "yes")))
    tree = make_tree(schema, N([4, 4], Test(0, [1.0]), [N([4, 0]), N([0, 4])]))
    title = [word for word in words(tree.to_svg()) if "…" in word]
    assert len(title) == 1
    assert title[0].count("…") == 1


def test_branches_without_rows_share_one_dashed_chip() -> None:
    svg = many_branches(9, empty=4).to_svg()
    seen = look(svg)
    assert len(seen.kinds("leaf")) == 5
    assert len(seen.kinds("empty")) == 1
    assert "4 branches without rows" in seen.texts
    assert "no training row came here" in seen.texts
    assert 'stroke-dasharray="4 3"' in svg.split('class="tw-empty"')[1]


# Folding


def test_more_than_25_leaves_fold_and_an_overview_stands_beside_them() -> None:
    tree = full_binary(6)
    seen = look(tree.to_svg())
    ends = [kind for kind, _, _ in seen.boxes if kind != "split"]
    assert 8 <= len(ends) <= 25
    assert any(re.match(r"\d+ leaves, mostly setosa", text) for text in seen.texts)
    assert any(text.startswith("all 64 leaves") for text in seen.texts)
    assert 'class="tw-overview"' in tree.to_svg()
    assert "tw-overview" not in full_binary(3).to_svg()


def test_small_subtrees_fold_first() -> None:
    def chain(size: int, depth: int) -> N:
        node = N([size, 0, 0])
        for k in range(depth):
            node = N([size + k + 1, 0, 0], Test(0, [k]), [node, N([0, 1, 0])])
        return node

    tree = make_tree(IRIS, N([1030, 30, 0], Test(0, [9]), [chain(1000, 12), chain(1, 20)]))
    seen = look(tree.to_svg(max_leaves=15))
    assert len(seen.kinds("fold")) >= 1
    assert any("leaves, mostly" in text for text in seen.texts)
    assert 0 in {number for kind, number, _ in seen.boxes if kind == "split"}


def test_max_depth_folds_what_is_below() -> None:
    seen = look(full_binary(4).to_svg(max_depth=2))
    assert [kind for kind, _, _ in seen.boxes].count("fold") == 4
    assert seen.texts.count("4 leaves, mostly setosa") == 4


def test_all_leaves_are_drawn_on_request() -> None:
    seen = look(full_binary(6).to_svg(max_leaves=None))
    assert len(seen.kinds("leaf")) == 64
    assert seen.kinds("fold") == []


@pytest.mark.parametrize("empty", [0, 1000])
def test_five_thousand_branches_give_a_small_picture(empty: int) -> None:
    tree = many_branches(5000, empty)
    started = time.process_time()
    page = tree._repr_html_()
    assert time.process_time() - started < 2  # 0.2 s on a quiet machine
    assert len(page) < 400_000
    assert len(tree.to_svg()) < 60_000
    seen = look(tree.to_svg())
    assert len(seen.kinds("rest")) == 1
    assert any("branches, mostly" in text for text in seen.texts)


def test_a_thousand_leaves_take_little_time_and_room() -> None:
    tree = full_binary(10)
    for most, limit in (("auto", 100_000), (None, 1_000_000)):
        started = time.process_time()
        svg = tree.to_svg(max_leaves=most)
        assert time.process_time() - started < 3  # 0.1 and 0.6 s on a quiet machine
        assert len(svg) < limit


# Geometry


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("detail", ["chip", "card", "full"])
def test_nothing_overlaps_and_no_ribbon_crosses_a_box(seed: int, detail: str) -> None:
    tree = counted(random_tree(seed, n_inner=12))
    for orientation in ("down", "right"):
        for align in ("levels", "leaves"):
            seen = look(
                tree.to_svg(orientation=orientation, detail=detail, align=align, max_leaves=None)
            )
            assert overlaps(seen) == []
            assert crossings(seen) == []
            assert max(x1 for _, _, (_, _, x1, _) in seen.boxes) <= seen.width
            assert max(y1 for _, _, (_, _, _, y1) in seen.boxes) <= seen.height


@pytest.mark.parametrize("seed", range(4))
def test_words_on_ribbons_do_not_overlap(seed: int) -> None:
    tree = counted(random_tree(seed, n_inner=12))
    for orientation in ("down", "right"):
        labels = look(tree.to_svg(orientation=orientation)).labels
        for i, (text, x, y, _) in enumerate(labels):
            half = text_width(text, 11) / 2
            for other, a, b, _ in labels[:i]:
                apart = abs(x - a) - half - text_width(other, 11) / 2
                assert apart > -1 or abs(y - b) >= 11


@pytest.mark.parametrize("tree", [full_binary(6), full_binary(10), many_branches(60), letters()])
@pytest.mark.parametrize("theme", ["light", "print"])
def test_text_is_never_too_small_and_the_width_is_kept(tree: Tree, theme: str) -> None:
    seen = look(tree.to_svg(theme=theme))
    assert min(size for *_, size in seen.words) >= 9
    assert seen.width <= 1300
    if theme == "print":  # on A4, 277 x 190 mm without the margins
        long, short = max(seen.width, seen.height), min(seen.width, seen.height)
        points = min(277 / long, 190 / short) * 72 / 25.4
        assert min(size for *_, size in seen.words) * points >= 6 - 0.01


@pytest.mark.parametrize("width", [500, 800, 1300])
def test_a_narrow_page_gets_a_narrow_picture(width: int) -> None:
    assert look(full_binary(5).to_svg(width=width)).width <= width


def test_leaves_stand_on_one_base_line_on_request() -> None:
    ends = look(cheat_like().to_svg(align="leaves", orientation="down")).kinds("leaf")
    assert len({y0 for _, y0, _, _ in ends}) == 1
    plain = look(cheat_like().to_svg(orientation="down")).kinds("leaf")
    assert len({y0 for _, y0, _, _ in plain}) == 3


def cheat_like() -> Tree:
    return EXAMPLES["cheat"]()


def test_wide_trees_turn_to_the_right_or_say_less() -> None:
    assert look(full_binary(2).to_svg()).width < 1300
    tree = full_binary(4)
    assert look(tree.to_svg()).width <= 1300
    assert len(look(tree.to_svg()).kinds("leaf")) == 16


# Themes


def test_colours_are_variables_with_a_plain_colour_beside_them() -> None:
    svg = iris().to_svg(theme="light")
    assert "--tw-ink:#1f2933" in svg
    assert ".f-ink{fill:#1f2933;fill:var(--tw-ink)}" in svg
    assert "prefers-color-scheme" not in svg
    auto = iris().to_svg()
    assert "prefers-color-scheme:dark" in auto
    assert 'data-jp-theme-light="false"' in auto
    assert "@media print" in auto
    assert f"--tw-paper:{THEMES['dark']['paper']}" in auto


def test_words_can_be_read_in_every_theme() -> None:
    def brightness(value: str) -> float:
        parts = [int(value[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for theme, colours in THEMES.items():
        grounds = [colours["paper"]]
        grounds += [mix(colours["paper"], colour(f"class{k}", theme), 0.45) for k in range(26)]
        for ground in grounds:
            a, b = sorted((brightness(colours["ink"]), brightness(ground)))
            assert (b + 0.05) / (a + 0.05) > 4.5, (theme, ground)


def test_a_page_of_a4_has_its_size_in_millimetres() -> None:
    assert re.search(
        r'width="(277mm" height="190mm|190mm" height="277mm)"', full_binary(3).to_svg(theme="print")
    )


# Safety, and words for those who cannot see


def test_nothing_of_the_data_is_taken_for_markup() -> None:
    evil = "<script>alert('x')</script>&\"\x00\ud800]]>"
    schema = Schema(
        (Feature(evil, "nominal", (evil, evil + "2", "a")),), target=Target(evil, (evil, "b"))
    )
    test = Test(0, codes={0: 0, 1: 0, 2: 1})
    tree = make_tree(schema, N([3, 3], test, [N([3, 0]), N([0, 3])]))
    for svg in (tree.to_svg(), tree._repr_html_()):
        assert "<script" not in svg
        svg.encode("utf-8")
    tags = {element.tag.removeprefix(SVG) for element in ET.fromstring(tree.to_svg()).iter()}
    assert tags <= {"svg", "title", "style", "rect", "g", "text", "path", "circle"}


def test_the_picture_refers_to_nothing_outside() -> None:
    svg = iris().to_svg()
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
    for attribute in ("href", "style=", " id=", "url(", "@import"):
        assert attribute not in svg


def test_every_node_says_in_words_what_it_is() -> None:
    root = ET.fromstring(play_tennis().to_svg())
    said = [e.get("aria-label") for e in root.iter(f"{SVG}g") if e.get("role") == "img"]
    assert len(said) == 8
    assert said[0] == "node 0 asks outlook; 14 rows, mostly Yes 64 %"
    assert "leaf 1 predicts Yes 100 %; 4 rows" in said


# Numbers


def test_regression_shows_values_and_a_scale() -> None:
    seen = look(salaries().to_svg())
    assert {"5.107", "5.998", "6.74", "n 263 · 100 % of rows", "n 90", "n 83"} <= set(seen.texts)
    fills = re.findall(r'rx="7" class="f-value[^>]*fill-opacity="([\d.]+)"', salaries().to_svg())
    assert float(fills[-1]) > float(fills[0])  # the larger value is the darker box


def test_several_outputs_are_named_rows() -> None:
    schema = Schema((Feature("x", "continuous"),), target=Target("y", n_outputs=2))
    leaves = [N([1.5, -20.0], n=10), N([3.25, 40.0], n=30)]
    tree = make_tree(schema, N([2.8, 25.0], Test(0, [1]), leaves, n=40))
    shown = words(tree.to_svg())
    assert shown.count("output 1") == 3
    assert {"1.5", "-20", "3.25", "40"} <= set(shown)


def test_numbers_with_quantiles_have_a_box_plot() -> None:
    tree = salaries()
    spread = np.array([-2.0, -1.0, 0.1, 1.0, 3.0])
    kept = replace(tree, extras={"quantiles": tree.value[:, :1] + spread})
    plain, boxed = tree.to_svg(), kept.to_svg()
    assert boxed.count("<rect") == plain.count("<rect") + 2 * tree.n_nodes


def test_a_constant_target_does_not_divide_by_zero() -> None:
    schema = Schema((Feature("x", "continuous"),), target=Target("y"))
    tree = make_tree(schema, N([1.0], Test(0, [1]), [N([1.0], n=1), N([1.0], n=1)], n=2))
    assert words(tree.to_svg()).count("1") >= 2


# Words and their room


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


def test_a_tree_without_rows_still_draws() -> None:
    tree = play_tennis()
    empty = replace(
        tree,
        weight=np.zeros(8),
        n_samples=np.zeros(8, np.int64),
        value=np.zeros((8, 2)),
    )
    ET.fromstring(empty.to_svg())


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        ({"orientation": "up"}, "orientation must be 'auto', 'down' or 'right', got 'up'"),
        ({"detail": "huge"}, "detail must be 'auto', 'chip', 'card' or 'full', got 'huge'"),
        ({"theme": "pink"}, "theme must be 'auto', 'light', 'dark' or 'print', got 'pink'"),
        ({"align": "top"}, "align must be 'levels' or 'leaves', got 'top'"),
        ({"max_leaves": 1}, 'max_leaves must be "auto", an integer of at least 2 or None, got 1'),
        ({"width": 10}, "width must be from 300 to 100000 pixels, got 10"),
    ],
)
def test_unknown_wishes_are_refused(wish: dict, sentence: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        play_tennis().to_svg(**wish)


def test_a_split_of_gaps_alone_has_its_picture():
    x = np.array([np.nan] * 20 + [1.0, 2.0] * 15)
    y = np.where(np.isnan(x), 5.0, 1.0)
    for target, model in ((y, treewright.CARTRegressor()), (y > 3, treewright.CARTClassifier())):
        tree = model.fit({"x": x}, target).tree_
        assert np.isinf(tree.splits.node_breaks(0)).all()
        picture = split_picture(tree, 0)
        assert picture is not None
        assert picture.cuts == (1.0,)
        assert picture.counts.sum() == 30
        assert "x is known" in tree.to_svg()
