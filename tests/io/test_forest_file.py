"""Compact forests in model files: the same when they come back, refused when damaged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.kernels.forest_problems import FOUR, NUMBER, mixed_problem, plain_problem
from tests.kernels.test_forest import same_arrays
from treewright import RandomForestRegressor
from treewright.data.schema import Schema
from treewright.errors import TreewrightError
from treewright.io._structures import _build_forest, _take_forest_apart
from treewright.tree.forest.grow import Forest, ForestPlan, Sampling, grow_forest
from treewright.tree.growing.recipe import Recipe


def forest_of(problem: Any, target: Any) -> Forest:
    table, y = problem(3, target, n=300)
    criterion = "gini" if target.is_classification else "squared_error"
    plan = ForestPlan(3, sampling=Sampling(300))
    return grow_forest(table, y, Recipe(criterion, min_samples_leaf=2), plan, target=target).forest


@pytest.mark.parametrize("problem", [plain_problem, mixed_problem])
@pytest.mark.parametrize("target", [FOUR, NUMBER])
def test_a_forest_comes_back_as_it_was(problem: Any, target: Any) -> None:
    forest = forest_of(problem, target)
    same_arrays(_build_forest(_take_forest_apart(forest)), forest)


@pytest.mark.parametrize("problem", [plain_problem, mixed_problem])
@pytest.mark.parametrize("target", [FOUR, NUMBER])
def test_a_damaged_forest_is_refused_or_harmless(problem: Any, target: Any) -> None:
    forest = forest_of(problem, target)
    table, _ = problem(3, target, n=300)
    rng = np.random.default_rng(0)
    assert forest.arrays is not None
    refused = 0
    for _ in range(300):
        parts = _take_forest_apart(forest)
        arrays: dict[str, Any] = {name: a.copy() for name, a in forest.arrays.items()}
        name = rng.choice([n for n in arrays if arrays[n].size])
        kind = rng.integers(0, 3)
        if kind == 0:
            arrays[name] = arrays[name][:-1]
        elif kind == 1:
            flat = arrays[name].reshape(-1).view(np.uint8)
            flat[rng.integers(0, len(flat))] ^= 1 << rng.integers(0, 8)
        else:
            del arrays[name]
        parts["arrays"] = arrays
        try:
            again = _build_forest(parts)
        except TreewrightError:
            refused += 1
            continue
        again.apply(table)  # whatever was accepted can be walked
        again.tree(0)
    assert refused > 150


def test_a_forest_takes_no_more_memory_than_its_bytes_allow() -> None:
    tree = forest_of(plain_problem, NUMBER).tree(0)
    parts = _take_forest_apart(Forest.from_trees([tree]))
    schema = parts["schema"]
    assert isinstance(schema, Schema)
    assert schema.target is not None
    for n_outputs in (0, -1, 10**8, 10**12):
        wide = replace(schema, target=replace(schema.target, n_outputs=n_outputs))
        with pytest.raises(TreewrightError, match="it is too small for its outputs"):
            _build_forest({**parts, "schema": wide})
    for name in ("n_breaks", "n_codes"):
        many = {"one": np.array([10**12]), "shape": [1]}
        columns: Any = parts["columns"]
        columns = {**columns, name: {"inner": many, "leaf": many}}
        with pytest.raises(TreewrightError, match="it is too small for its tests"):
            _build_forest({**parts, "columns": columns})


def test_a_forest_of_many_equal_numbers_is_kept_as_it_is() -> None:
    tree = (
        RandomForestRegressor(n_estimators=1).fit([[1.0], [2.0]], [3.0, 3.0]).estimators_[0].tree_
    )
    n_outputs = 2_000_000
    target = replace(tree.schema.target, n_outputs=n_outputs)
    schema = replace(tree.schema, target=target)
    wide = replace(tree, schema=schema, value=np.ones((1, n_outputs)))
    forest = Forest.from_trees([wide])
    again = _build_forest(_take_forest_apart(forest)).tree(0)
    np.testing.assert_array_equal(again.value, wide.value)
