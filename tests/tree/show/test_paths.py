"""The way of one row, and why it took each branch."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.tree.builders import (
    cheat,
    iris,
    linear,
    n_ary_breaks,
    ordinal,
    own_gap_branches,
    play_tennis,
    random_tree,
)
from tests.twins import predict as reference
from treewright.errors import DataError, SchemaError
from treewright.tree.show.paths import trace_values

NAN = math.nan


def test_worked_example_9_ends_at_no() -> None:
    path = cheat().path({"Refund": "No", "MaritalStatus": "Married", "TaxableIncome": 80})
    assert [step.node for step in path] == [0, 1, 4]
    assert path[-1].prediction == "No"
    assert str(path).splitlines() == [
        "node 0: Refund = No → node 1  (Refund is No)",
        "node 1: MaritalStatus = Married → node 4  (MaritalStatus is Married)",
        "node 4: No  (a leaf)",
    ]


@pytest.mark.parametrize("form", ["dict", "list", "tuple", "pandas", "series", "polars"])
def test_a_row_may_come_in_many_forms(form: str) -> None:
    row = {"Refund": "No", "MaritalStatus": "Single", "TaxableIncome": 90.5}
    shuffled = {name: row[name] for name in reversed(row)}
    given: Any = shuffled
    if form in ("list", "tuple"):
        given = {"list": list, "tuple": tuple}[form](row.values())
    elif form != "dict":
        frames = pytest.importorskip("polars" if form == "polars" else "pandas")
        frame = frames.DataFrame({name: [value] for name, value in shuffled.items()})
        given = frame.iloc[0] if form == "series" else frame
    assert cheat().path(given).leaf == 6


def test_arrays_are_rows_too() -> None:
    row = np.array([5.0, 3.0, 5.0, 2.0])
    assert iris().path(row).leaf == iris().path(row[None]).leaf == 4
    unnamed = replace(iris(), schema=replace(iris().schema, named=False))
    assert unnamed.path(row).leaf == 4


def test_a_gap_takes_the_default_branch() -> None:
    path = cheat().path({"Refund": "No", "MaritalStatus": None, "TaxableIncome": 60})
    assert [step.node for step in path] == [0, 1, 3, 5]
    assert path[1].reason == "MaritalStatus is a gap; gaps go this way"


def test_a_gap_asks_the_surrogates_in_order() -> None:
    path = trace_values(iris(), [5.0, 3.0, NAN, NAN])
    assert path[0].reason == "petal_length is a gap; surrogate sepal_length < 5.45"
    assert path.leaf == 1
    reverse = trace_values(iris(), [NAN, 3.5, NAN, NAN])
    assert reverse[0].reason == "petal_length is a gap; surrogate sepal_width >= 3.35"
    assert reverse.leaf == 1
    nothing = trace_values(iris(), [NAN] * 4)
    assert nothing[0].reason == "petal_length is a gap; gaps go this way"
    assert nothing.leaf == 3


def test_a_gap_may_go_down_every_branch() -> None:
    path = trace_values(linear(), [5.0, NAN, 0, 0])
    assert path[0].child is None
    assert [(step.node, step.share) for step in path.ends] == [(1, 0.5), (2, 0.5)]
    assert path.leaf == 1
    assert "node 2 [50 % of the row]: yes" in str(path)


def test_a_gap_may_stop() -> None:
    path = trace_values(play_tennis(), [-1, 0, 0, 0])
    assert len(path) == 1
    assert path.leaf == 0
    assert path[0].prediction == "Yes"
    assert path[0].reason == "outlook is a gap; a gap stops here"


def test_a_gap_may_have_its_own_branch() -> None:
    assert trace_values(own_gap_branches(), [NAN, 0.0, 0, 0]).leaf == 3
    assert trace_values(own_gap_branches(), [1.0, NAN, 0, 0]).leaf == 5
    assert trace_values(own_gap_branches(), [1.0, 1e308, 0, 0]).leaf == 4


def test_a_category_that_the_node_did_not_see_is_a_gap() -> None:
    path = trace_values(own_gap_branches(), [40.0, 0.0, 0, 3])
    assert path.leaf == 8
    assert "colour is grey, which this node has not seen" in path[1].reason


def test_linear_tests_show_their_sum() -> None:
    path = trace_values(linear(), [6.2, 0.0, 0, 0])
    assert path.leaf == 1  # 3.1 <= 3.1
    assert path[0].reason == "the sum is 3.1"
    assert trace_values(linear(), [6.21, 0.0, 0, 0]).leaf == 2


@pytest.mark.parametrize(("age", "leaf"), [(20, 1), (20.1, 2), (35.5, 2), (50, 3), (51, 4)])
def test_breaks_closed_on_the_right_keep_their_value_left(age: float, leaf: int) -> None:
    assert trace_values(n_ary_breaks(), [age, 0.0, 0, 0]).leaf == leaf


def test_breaks_open_on_the_right_send_their_value_right() -> None:
    assert trace_values(cheat(), [0, 2, 80.0]).leaf == 6
    assert trace_values(cheat(), [0, 2, 79.9]).leaf == 5


def test_ordinal_values_are_named() -> None:
    path = trace_values(ordinal(), [0.0, 0.0, 2, 0])
    assert [step.reason for step in path] == ["size is large", "size is large", "a leaf"]
    assert path.leaf == 3


def test_several_rows_or_too_few_values_are_refused() -> None:
    with pytest.raises(DataError, match="path takes one row, got 2"):
        iris().path(np.zeros((2, 4)))
    for short in ([1, 2], "No", 5):
        with pytest.raises(DataError, match="row must have 3 values"):
            cheat().path(short)
    with pytest.raises(SchemaError, match="TaxableIncome"):
        cheat().path({"Refund": "No", "MaritalStatus": "Single"})


def test_paths_are_sequences_with_displays() -> None:
    path = trace_values(cheat(), [0, 1, 80.0])
    assert len(path) == 3
    assert path[:2] == tuple(path)[:2]
    assert repr(path) == "<Path of 3 steps to node 4>"
    assert path._repr_html_().count("<li>") == 3


@pytest.mark.parametrize("seed", range(30))
def test_the_way_agrees_with_the_twin_of_the_predictor(seed: int) -> None:
    tree = random_tree(seed)
    rng = np.random.default_rng(seed)
    columns = [*rng.normal(30, 20, (2, 40)), *rng.integers(-1, 4, (2, 40)).astype(np.int32)]
    for column in columns[:2]:
        column[rng.random(40) < 0.2] = NAN
    for row, way in enumerate(reference.ways(tree, columns)):
        path = trace_values(tree, [column[row] for column in columns])
        assert [(step.node, step.share) for step in path] == [(n, share) for n, share, _ in way]
        assert path.leaf == reference.heaviest(way)
