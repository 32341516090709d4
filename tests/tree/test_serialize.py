"""Trees as dicts: exact round trips, strict JSON, and one sentence for anything else."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tree.builders import (
    EXAMPLES,
    IRIS,
    N,
    Test,
    make_tree,
    play_tennis,
    random_tree,
    with_tests,
)
from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ModelFileError
from treewright.tree.serialize import FORMAT, schema_from_dict, schema_to_dict
from treewright.tree.tree import TREE_DTYPES, Tree


def through_json(tree: Tree) -> Tree:
    return Tree.from_dict(json.loads(json.dumps(tree.to_dict(), allow_nan=False)))


def assert_same(a: Tree, b: Tree) -> None:
    assert a.schema == b.schema
    for name in TREE_DTYPES:
        one, two = getattr(a, name), getattr(b, name)
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two, strict=True)
    for name in ("splits", "surrogates"):
        one, two = getattr(a, name).arrays(), getattr(b, name).arrays()
        for key, array in one.items():
            np.testing.assert_array_equal(array, two[key], strict=True)
    assert (a.tests is None) == (b.tests is None)
    if a.tests is not None and b.tests is not None:
        for key, array in a.tests.arrays().items():
            np.testing.assert_array_equal(array, b.tests.arrays()[key], strict=True)
    assert a.extras.keys() == b.extras.keys()
    for key, column in a.extras.items():
        np.testing.assert_array_equal(column, b.extras[key], strict=True)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_come_back_exactly(name: str) -> None:
    tree = EXAMPLES[name]()
    assert_same(tree, through_json(tree))


@pytest.mark.parametrize("seed", range(25))
def test_random_trees_come_back_exactly(seed: int) -> None:
    for target in (None, Target("y", n_outputs=2)):
        tree = random_tree(seed, target=target)
        assert_same(tree, through_json(tree))
        assert_same(with_tests(tree), through_json(with_tests(tree)))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_thresholds_come_back_to_the_last_bit(threshold: float) -> None:
    tree = make_tree(IRIS, N([2, 1, 1], Test(0, [threshold]), [N([1, 0, 0]), N([1, 1, 1])]))
    assert through_json(tree).splits.breaks.tobytes() == tree.splits.breaks.tobytes()


def test_infinite_breaks_and_nan_extras_are_strict_json() -> None:
    node = N([2, 1, 1], Test(0, [math.inf]), [N([1, 0, 0]), N([1, 1, 1])], default=1)
    extras = {"p_value": np.array([[0.5, math.nan], [-math.inf, 1], [0, 0]], np.float32)}
    tree = make_tree(IRIS, node, **extras)
    assert_same(tree, through_json(tree))


def test_categories_keep_their_types() -> None:
    schema = Schema(
        (
            Feature("a", "nominal", (False, True)),
            Feature("b", "ordinal", (1, 2.5, 10**30)),
            Feature("c", "nominal", ("1", "inf", math.inf, "")),
        ),
        named=False,
        target=Target("y", ("x", 3), class_factor=(0.1, 2.0)),
    )
    back = schema_from_dict(json.loads(json.dumps(schema_to_dict(schema), allow_nan=False)))
    assert back == schema
    kinds = [[type(v) for v in feature.categories] for feature in back.features]
    assert kinds == [[bool, bool], [int, float, int], [str, str, float, str]]


def test_values_that_json_cannot_hold_are_refused_when_written() -> None:
    schema = Schema((Feature("a", "nominal", (b"x",)),), target=Target("y"))
    with pytest.raises(ModelFileError, match="must be strings, numbers or booleans to be stored"):
        schema_to_dict(schema)


def test_a_newer_format_says_so() -> None:
    data = play_tennis().to_dict() | {"format": FORMAT + 1}
    with pytest.raises(ModelFileError, match="use a newer treewright"):
        Tree.from_dict(data)


DAMAGES: dict[str, Any] = {
    "no format": lambda d: d.pop("format"),
    "format zero": lambda d: d.update(format=0),
    "format true": lambda d: d.update(format=True),
    "no schema": lambda d: d.pop("schema"),
    "schema a list": lambda d: d.update(schema=[]),
    "features a dict": lambda d: d["schema"].update(features={}),
    "feature a word": lambda d: d["schema"]["features"].append("x"),
    "no target": lambda d: d["schema"].update(target=None),
    "kind unknown": lambda d: d["schema"]["features"][0].update(kind="weird"),
    "name a number": lambda d: d["schema"]["features"][0].update(name=3),
    "categories null": lambda d: d["schema"]["features"][0].update(categories=[None]),
    "category a list": lambda d: d["schema"]["features"][0].update(categories=[["a"]]),
    "category a dict": lambda d: d["schema"]["features"][0].update(categories=[{"float": "1"}]),
    "outputs zero": lambda d: d["schema"]["target"].update(n_outputs=0),
    "factor words": lambda d: d["schema"]["target"].update(class_factor=["a", "b"]),
    "factor too long": lambda d: d["schema"]["target"].update(class_factor=[1.0] * 3),
    "classes alike": lambda d: d["schema"]["target"].update(classes=["a", "a"]),
    "no nodes": lambda d: d.pop("nodes"),
    "no array": lambda d: d["nodes"].pop("gain"),
    "array a word": lambda d: d["nodes"].update(gain="abc"),
    "floats as words": lambda d: d["nodes"].update(gain=["1.5"] * 8),
    "floats as null": lambda d: d["nodes"].update(gain=[None] * 8),
    "floats as booleans": lambda d: d["nodes"].update(gain=[True] * 8),
    "floats too large": lambda d: d["nodes"].update(gain=[10**400] * 8),
    "floats nested": lambda d: d["nodes"].update(gain=[[[1.0]]] * 8),
    "integers as floats": lambda d: d["nodes"].update(default=[-2.5] * 8),
    "integers as words": lambda d: d["nodes"].update(default=["1"] * 8),
    "integers as booleans": lambda d: d["nodes"].update(default=[True] * 8),
    "integers too large": lambda d: d["nodes"].update(default=[2**40] * 8),
    "integers far too large": lambda d: d["nodes"].update(default=[2**70] * 8),
    "booleans as integers": lambda d: d["splits"].update(closed=[0] * 8),
    "ragged": lambda d: d["nodes"].update(value=[[1.0], [1.0, 2.0]]),
    "extras a list": lambda d: d.update(extras=[]),
    "extra of objects": lambda d: d["extras"].update(x={"dtype": "object", "values": [1] * 8}),
    "extra too short": lambda d: d["extras"].update(x={"dtype": "int64", "values": [1] * 3}),
    "empty": lambda d: d.clear(),
    "no rows at all": lambda d: d["nodes"].update({key: [] for key in d["nodes"]}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_dicts_are_refused_in_one_sentence(damage: str) -> None:
    data = copy.deepcopy(play_tennis().to_dict())
    DAMAGES[damage](data)
    with pytest.raises(ModelFileError) as caught:
        Tree.from_dict(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("data", [None, 3, [], "tree"])
def test_something_else_is_refused(data: Any) -> None:
    with pytest.raises(ModelFileError, match="must have an entry 'format'"):
        Tree.from_dict(data)
