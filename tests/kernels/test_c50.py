"""What C5.0 adds to the kernels, against its numpy twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.twins import c50 as twin
from tests.twins.error_based import C50, Part, prune
from treewright.data.encode import encode
from treewright.data.schema import Target
from treewright.kernels import error_based as compiled
from treewright.learners._c50.tree import Cases, TreeSettings, build_tree, tree_recipe
from treewright.pruning._c50 import Prices
from treewright.pruning._error_based import error_rules
from treewright.tree.growing.grow import grow
from treewright.tree.growing.recipe import Recipe
from treewright.tree.tree import Tree


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
    grade = np.clip(y + rng.integers(-3, 4, n), 0, 5)
    table = encode(
        {"number": number, "other": other, "words": words, "grade": grade},
        ordinal_features={"grade": list(range(6))},
    )
    target = Target("y", tuple(range(n_classes)))
    recipe = tree_recipe(TreeSettings(), float(weight.sum()))
    tree = grow(table, y, recipe, target=target, sample_weight=weight)
    offers = [
        twin.cut_offer(number, y, weight, n_classes, 2.0),
        twin.cut_offer(other, y, weight, n_classes, 2.0),
        twin.multiway_offer(table.columns[2], y, weight, n_classes, 4, 2.0),
        twin.cut_offer(grade.astype(float), y, weight, n_classes, 2.0, ordinal=True),
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
    start = float(errors[count == 0].sum()) + rng.integers(-3, 4)  # rows may not be their fractions
    arguments = (first, count, errors, empty, 100.0 + errors[0], max(start, 0.0))
    assert np.array_equal(compiled.weakest_links(*arguments), twin.weakest_links(*arguments))


def sample(seed: int, n: int = 220) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Mixed columns with gaps and three classes that hang on products, which raises subtrees."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)).round(1)
    x[rng.random(x.shape) < 0.06] = np.nan
    words = rng.choice(["a", "b", "c", "d"], n).astype(object)
    words[rng.random(n) < 0.06] = None
    z = np.nan_to_num(x)
    signal = z[:, 0] * z[:, 1] + z[:, 2] * (words == "a") + rng.normal(0, 0.7, n)
    columns = {f"x{k}": x[:, k] for k in range(4)} | {"words": words}
    return columns, np.digitize(signal, [-0.3, 0.6]).astype(np.int32), rng.integers(1, 4, n) / 2.0


class Forest:
    """A tree and those grown again for it, with nodes counted through all of them."""

    def __init__(self, cases: Cases, recipe: Recipe) -> None:
        self.cases, self.recipe = cases, recipe
        self.trees: list[Tree] = []
        self.offsets: list[int] = []

    def grow(self, weight: np.ndarray | None) -> Part:
        rows = np.arange(len(self.cases.y)) if weight is None else np.flatnonzero(weight > 0)
        each = self.cases.weight if weight is None else weight[rows]
        part = self.cases.take(rows, each)
        tree = grow(
            part.table,
            part.y,
            self.recipe,
            target=part.target,
            sample_weight=each,
            cut_values=self.cases.values,
        )
        self.offsets.append(sum(t.n_nodes for t in self.trees))
        self.trees.append(tree)
        return self._part(tree, self.offsets[-1], 0)

    def _part(self, tree: Tree, offset: int, node: int) -> Part:
        below = tuple(self._part(tree, offset, child) for child in tree.children(node))
        return Part(offset + node, branches=below)

    def node(self, source: int) -> tuple[Tree, int]:
        at = int(np.searchsorted(self.offsets, source, side="right")) - 1
        return self.trees[at], source - self.offsets[at]

    def branches(self, source: int) -> np.ndarray:
        tree, node = self.node(source)
        column = np.asarray(self.cases.table.columns[tree.splits.feature[node]])
        breaks = tree.splits.node_breaks(node)
        if len(breaks):
            return np.where(np.isnan(column), -1, column > breaks[0]).astype(np.int64)
        codes, to = tree.splits.node_codes(node), tree.splits.node_branches(node)
        lookup = dict(zip(codes, to, strict=True))
        return np.array([lookup.get(code, -1) for code in column])

    def same_cut(self, a: int, b: int) -> bool:
        (tree, i), (other, j) = self.node(a), self.node(b)
        cuts = len(tree.splits.node_breaks(i)) and len(other.splits.node_breaks(j))
        return bool(cuts) and tree.splits.feature[i] == other.splits.feature[j]


def assert_same(tree: Tree, part: Part, node: int = 0) -> None:
    np.testing.assert_allclose(tree.value[node], part.value, rtol=1e-9, atol=1e-9)
    children = list(tree.children(node))
    assert len(children) == len(part.branches)
    for child, below in zip(children, part.branches, strict=True):
        assert_same(tree, below, child)


@pytest.mark.parametrize("grow_again", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_local_pruning_and_growing_again_are_those_of_the_twin(seed, grow_again):
    columns, y, weight = sample(seed)
    cases = Cases(encode(columns), y, Target("y", (0, 1, 2)), weight if seed % 2 else None)
    recipe = tree_recipe(TreeSettings(), cases.total)
    forest = Forest(cases, recipe)
    start = forest.grow(None)
    rules = error_rules(0.25, "release8", True) | {"n_classes": 3}
    each = np.ones(len(y)) if cases.weight is None else cases.weight
    c50 = C50(2.0, forest.same_cut, forest.grow if grow_again else None)
    expected = prune(start, each, y, forest.branches, rules, c50)
    settings = TreeSettings(global_pruning=False)
    assert_same(build_tree(cases, settings, grow_again=grow_again), expected)


@pytest.mark.parametrize("seed", range(12))
def test_with_prices_the_expected_cost_decides_as_in_the_twin(seed: int) -> None:
    columns, y, weight = sample(seed)
    y = (y > 0).astype(np.int32)
    cases = Cases(encode(columns), y, Target("y", (0, 1)), weight if seed % 2 else None)
    prices = Prices(price=np.array([4.0, 1.0]), factor=np.array([0.5, 2.0]))
    each = np.ones(len(y)) if cases.weight is None else cases.weight
    priced = replace(cases, weight=each * prices.factor[y])
    forest = Forest(priced, tree_recipe(TreeSettings(), priced.total))
    start = forest.grow(None)
    rules = error_rules(0.25, "release8", True) | {"n_classes": 2, "price": [4.0, 1.0]}
    c50 = C50(2.0, forest.same_cut, lambda weight: forest.grow(weight * prices.factor[y]))
    expected = prune(start, each, y, forest.branches, rules, c50)
    settings = TreeSettings(global_pruning=False)
    assert_same(build_tree(cases, settings, prices=prices), expected)


def test_the_samples_of_the_comparison_have_something_grown_again():
    changed = 0
    for seed in range(25):
        columns, y, weight = sample(seed)
        cases = Cases(encode(columns), y, Target("y", (0, 1, 2)), weight if seed % 2 else None)
        settings = TreeSettings(global_pruning=False)
        again, once = (build_tree(cases, settings, grow_again=g) for g in (True, False))
        changed += again.n_nodes != once.n_nodes or not np.array_equal(again.value, once.value)
    assert changed >= 3
