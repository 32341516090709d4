"""Compact forests in model files: the same when they come back, refused when damaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.kernels.forest_problems import FOUR, NUMBER, mixed_problem, plain_problem
from tests.kernels.test_forest import same_arrays
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
