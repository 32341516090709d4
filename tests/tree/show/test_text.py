"""Trees as text: small ones in full, then every way in which a line could go wrong."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.tree.builders import (
    EXAMPLES,
    IRIS,
    MIXED,
    N,
    Test,
    iris,
    make_tree,
    play_tennis,
    random_tree,
    wide_categories,
)
from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ParameterError
from treewright.tree.show.words import display_width

GOLDEN = Path(__file__).parent / "golden"


def body(text: str) -> list[str]:
    """The lines of the nodes, without the header."""
    return text.split("\n\n", 1)[1].splitlines()


@pytest.mark.parametrize("name", EXAMPLES)
def test_text_of_the_examples_is_as_recorded(name: str) -> None:
    text = EXAMPLES[name]().to_text(surrogates=name == "iris")
    assert text + "\n" == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_play_tennis_reads_as_in_the_textbook() -> None:
    lines = body(play_tennis().to_text())
    assert [re.search(r"\w+ = \w+", line)[0] for line in lines[1:]] == [
        "outlook = overcast",
        "outlook = rain",
        "wind = strong",
        "wind = weak",
        "outlook = sunny",
        "humidity = high",
        "humidity = normal",
    ]


@pytest.mark.parametrize("name", EXAMPLES)
def test_lines_keep_to_the_width(name: str) -> None:
    for width in (80, 100):
        text = EXAMPLES[name]().to_text(width=width)
        assert max(display_width(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("seed", range(20))
def test_there_is_one_line_per_node_and_one_star_per_leaf(seed: int) -> None:
    tree = random_tree(seed)
    lines = body(tree.to_text())
    assert [int(line.split()[0]) for line in lines] == list(tree.walk())
    assert sum(line.endswith("*") for line in lines) == tree.n_leaves


def test_max_depth_counts_what_it_leaves_out() -> None:
    lines = body(play_tennis().to_text(max_depth=1))
    assert len(lines) == 4
    assert lines[1].endswith("*")
    assert lines[2].endswith("… 2 more")
    assert body(play_tennis().to_text(max_depth=0))[0].endswith("… 7 more")


def test_thresholds_that_look_alike_get_more_digits() -> None:
    near = N([1, 1, 1], Test(0, [1.23456789]), [N([1, 0, 0]), N([0, 1, 1])])
    tree = make_tree(IRIS, N([2, 1, 1], Test(0, [1.2345679]), [near, N([1, 0, 0])]))
    text = tree.to_text()
    assert "sepal_length < 1.23456789 " in text
    assert "sepal_length < 1.2345679 " in text


def test_midpoints_of_float32_data_print_short() -> None:
    threshold = float((np.float32(2.4) + np.float32(2.5)) / np.float32(2))
    tree = make_tree(IRIS, N([2, 1, 1], Test(0, [threshold]), [N([1, 0, 0]), N([1, 1, 1])]))
    assert threshold != 2.45
    assert "sepal_length < 2.45 " in tree.to_text()


def test_names_cannot_break_the_lines() -> None:
    schema = Schema(
        (Feature("two\nlines\x1b[31m\u202e", "nominal", ("a\tb", "", " x ", "c,d", 'say "no"')),),
        target=Target("y\r", ("up\x00", "\ud800")),
    )
    test = Test(0, codes={0: 0, 1: 0, 2: 1, 3: 1, 4: 1})
    text = make_tree(schema, N([3, 3], test, [N([3, 0]), N([0, 3])])).to_text()
    assert len(body(text)) == 3
    assert all(char.isprintable() for line in text.splitlines() for char in line)
    assert r"two\nlines\x1b[31m\u202e" in text
    assert r'in {a\tb, ""}' in text
    assert r'in {" x ", "c,d", "say \"no\""}' in text
    text.encode("utf-8")


def test_wide_characters_keep_the_columns_aligned() -> None:
    schema = Schema((Feature("年齢", "continuous"),), target=Target("y", ("はい", "no")))
    tree = make_tree(schema, N([3, 3], Test(0, [30]), [N([3, 0]), N([0, 3])]))
    starts = {display_width(line.partition("(")[0]) for line in body(tree.to_text())}
    assert len(starts) == 1


def test_long_lists_of_categories_are_counted_not_cut() -> None:
    line = body(wide_categories(40).to_text())[1]
    assert "… 19 more}" in line
    full = body(wide_categories(40).to_text(width=2000))[1]
    assert full.count("District") == 20
    assert "more" not in full


def test_plain_characters_on_request() -> None:
    for make in EXAMPLES.values():
        assert make().to_text(ascii=True).isascii()


def test_gap_notes_appear_for_features_that_had_gaps() -> None:
    tree = iris()
    assert tree.to_text().count("(or gap)") == 2
    assert "gap" not in tree.to_text(gaps=False)
    assert "gap" not in replace(tree, extras={"n_gaps": np.zeros(5)}).to_text()
    some = replace(tree, extras={"n_gaps": np.array([3, 0, 0, 0, 0])})
    assert some.to_text().count("(or gap)") == 1
    assert "petal_length >= 2.45 (or gap)" in some.to_text()
    assert "gap" in replace(tree, extras={"n_gaps": np.zeros(5)}).to_text(gaps=True)


def test_many_classes_show_their_largest_shares() -> None:
    letters = Schema(IRIS.features, target=Target("letter", tuple("abcdefghij")))
    value = [1, 0, 6, 0, 3, 0, 0, 0, 0, 0]
    text = make_tree(letters, N(value)).to_text()
    assert body(text) == ["0 root  10  c  (c 0.60, e 0.30, a 0.10) *"]


def test_weights_are_shown_where_they_differ_from_rows() -> None:
    tree = play_tennis()
    assert "weight" not in tree.to_text()
    heavier = replace(tree, weight=tree.weight * 1.5)
    assert "weight" in heavier.to_text()
    assert body(heavier.to_text())[0].split()[2:4] == ["14", "21"]


def test_an_empty_leaf_says_so() -> None:
    tree = make_tree(MIXED, N([3, 3], Test(3, codes={0: 0, 1: 1}), [N([3, 3]), N([0, 0])]))
    assert body(tree.to_text())[2].split()[-2:] == ["(empty)", "*"]


def test_a_deep_tree_keeps_room_for_its_tests() -> None:
    node = N([1, 1, 1])
    for level in range(30):
        node = N([1, 1, 1], Test(level % 4, [float(level)]), [N([1, 0, 0]), node])
    text = make_tree(IRIS, node).to_text(width=100)
    assert max(len(line) for line in text.splitlines()) <= 100


def test_several_outputs_are_shown_together() -> None:
    tree = random_tree(1, target=Target("y", n_outputs=2))
    first = ", ".join(f"{x:g}" for x in tree.value[0])
    assert f"({first})" in body(tree.to_text())[0]


@pytest.mark.parametrize(("name", "value"), [("max_depth", -1), ("digits", 0), ("digits", 99)])
def test_bad_arguments_are_refused_in_a_sentence(name: str, value: int) -> None:
    with pytest.raises(ParameterError, match=f"{name} must be .* got {value}"):
        play_tennis().to_text(**{name: value})


def test_str_is_bounded_and_repr_is_one_line() -> None:
    node = N([1, 1, 1])
    for _ in range(9):
        node = N([1, 1, 1], Test(0, [1.0]), [node, node])
    tree = make_tree(IRIS, node)
    assert tree.n_nodes == 1023
    assert len(body(str(tree))) == 255
    assert "\n" not in repr(tree)
    assert repr(play_tennis()) == "<Tree 'play': 8 nodes, 5 leaves, depth 2, 14 rows>"


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", ["adult", "soybean"])
def test_large_trees_keep_the_width(name: str, width: int) -> None:
    data = Path(__file__).parents[3].parent / "shared" / "data"
    file = data / ("adult_test.csv.gz" if name == "adult" else "soybean.csv")
    if not file.exists():
        pytest.skip("needs the shared data")
    text = _grown(file, "income" if name == "adult" else "Class").to_text(width=width)
    widest = max(display_width(line) for line in text.splitlines())
    assert 0.7 * width <= widest <= width
    shown = [line for line in body(text) if line.strip()]
    assert sum(line.endswith("*") for line in shown) > 20


@cache
def _grown(file: Path, target: str):
    import pandas as pd

    import treewright as tw

    frame = pd.read_csv(file, dtype=str if target == "Class" else None)
    learner = tw.C45Classifier() if target == "Class" else tw.CARTClassifier(max_leaf_nodes=40)
    return learner.fit(frame.drop(columns=target), frame[target]).tree_


def test_shares_shrink_first_then_names_then_columns() -> None:
    long = ("quite a long name of a class", "another one of that kind")
    schema = Schema((Feature("a_feature_with_a_name", "continuous"),), target=Target("y", long))
    tree = make_tree(schema, N([60, 40], Test(0, [1]), [N([50, 1]), N([10, 39])]))
    wide, less, narrow = (tree.to_text(width=width) for width in (100, 72, 40))
    assert "(0.98 0.02)" in wide
    assert "(0.98 0.02)" not in less
    assert "(0.98)" in less
    assert "(its share)" in less
    assert "0.98" not in narrow
    assert "node, test, n, class;" in narrow
    for text, width in ((wide, 100), (less, 72), (narrow, 40)):
        assert max(display_width(line) for line in text.splitlines()) <= width


def test_shortened_names_keep_their_ends() -> None:
    names = ("num-of-cylinders-of-the-engine", "num-of-doors-of-the-car-body")
    schema = Schema(tuple(Feature(n, "continuous") for n in names), target=Target("y", ("a", "b")))
    left = N([5, 1], Test(1, [2]), [N([5, 0]), N([0, 1])])
    tree = make_tree(schema, N([6, 4], Test(0, [3]), [left, N([1, 3])]))
    tests = [line.split("(")[0] for line in body(tree.to_text(width=44))[1:]]
    assert any("gine" in test for test in tests)
    assert any("body" in test for test in tests)


def test_dates_and_times_are_written_as_such() -> None:
    when = Feature("when", "continuous", time="date")
    at = Feature("at", "continuous", time="datetime", zone="Europe/Berlin")
    hour = Feature("hour", "continuous", time="time")
    schema = Schema((when, at, hour), target=Target("y", ("a", "b")))
    inner = N([2, 2], Test(2, [0.5]), [N([2, 0]), N([0, 2])])
    right = N([3, 2], Test(1, [19753.5]), [inner, N([1, 0])])
    tree = make_tree(schema, N([5, 2], Test(0, [19754.0]), [N([2, 0]), right]))
    for shown in (tree.to_text(), str(tree.rules())):
        assert "when < 2024-02-01" in shown
        assert "at < 2024-01-31 13:00+01:00" in shown
        assert "hour < 12:00" in shown
    assert "&lt; 2024-02-01" in tree.to_svg()
    row = {"when": datetime.date(2024, 3, 1), "at": None, "hour": None}
    assert "when is 2024-03-01" in str(tree.path(row))


def test_categories_that_differ_in_the_last_digit_look_different() -> None:
    schema = Schema(
        (Feature("x", "nominal", (0.3, 0.30000000000000004, 2.0)),), target=Target("y", (0.3, 2.0))
    )
    test = Test(0, codes={0: 0, 1: 1, 2: 1})
    tree = make_tree(schema, N([3, 3], test, [N([3, 0]), N([0, 3])]))
    for shown in (tree.to_text(), tree.to_svg()):
        assert "0.30000000000000004, 2" in shown
        assert re.search(r"(= |>)0\.3\b(?!0)", shown)
