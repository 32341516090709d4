"""What C5.0 adds to the kernels, against its numpy twins."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data.encode import encode
from treewright.data.schema import Target
from treewright.kernels import error_based as compiled
from treewright.kernels.reference import c50 as twin
from treewright.learners._c50_tree import TreeSettings, tree_recipe
from treewright.tree.grow import grow


@pytest.mark.parametrize("seed", range(40))
def test_the_root_test_is_the_one_the_twin_chooses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(30, 300)), int(rng.integers(2, 5))
    y = rng.integers(0, n_classes, n).astype(np.int32)
    weight = rng.random(n) + 0.5
    number = np.where(rng.random(n) < 0.1, np.nan, (y + rng.normal(0, 2, n)).round(1))
    other = rng.integers(0, 6, n).astype(float)
    words = rng.choice(["a", "b", "c", "d"], n).astype(object)
    words[rng.random(n) < 0.1] = None
    table = encode({"number": number, "other": other, "words": words})
    target = Target("y", tuple(range(n_classes)))
    recipe = tree_recipe(TreeSettings(), float(weight.sum()))
    tree = grow(table, y, recipe, target=target, sample_weight=weight)
    offers = [
        twin.cut_offer(number, y, weight, n_classes, 2.0),
        twin.cut_offer(other, y, weight, n_classes, 2.0),
        twin.multiway_offer(table.columns[2], y, weight, n_classes, 4, 2.0),
    ]
    chosen = twin.choose(offers, weight.sum(), weight.sum() / n_classes)
    if chosen < 0:
        assert tree.n_nodes == 1
        return
    assert tree.splits.feature[0] == chosen
    if chosen < 2:
        # the same rows on either side; the threshold itself is a value of the data
        low = offers[chosen].at
        values = (number, other)[chosen]
        assert np.array_equal(
            values[~np.isnan(values)] <= tree.splits.breaks[0], values[~np.isnan(values)] <= low
        )


def random_shape(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Children of a random tree, parents first, siblings adjacent."""
    first, count = [-1], [0]
    for node in rng.permutation(8):
        if node < len(first) and not count[node]:
            first[node], count[node] = len(first), int(rng.integers(2, 5))
            first += [-1] * count[node]
            count += [0] * count[node]
    return np.array(first, np.int32), np.array(count, np.int32)


@pytest.mark.parametrize("seed", range(60))
def test_global_pruning_cuts_the_links_that_the_twin_cuts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, count = random_shape(rng)
    n = len(first)
    errors = rng.integers(0, 4, n).astype(float)
    empty = (count == 0) & (rng.random(n) < 0.2)
    errors[empty] = 0.0
    for node in reversed(range(n)):  # a node errs at least as often as its leaves
        if count[node]:
            below = errors[first[node] : first[node] + count[node]]
            errors[node] = below.sum() + rng.integers(0, 3)
    arguments = (first, count, errors, empty, 100.0 + errors[0])
    assert np.array_equal(compiled.weakest_links(*arguments), twin.weakest_links(*arguments))
