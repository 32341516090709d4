"""Linear tests of the core against their numpy twin, and forests beside trees grown one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.twins import oblique as twin
from tests.twins.forest import root_path
from treewright.data.encode import encode
from treewright.data.schema import Target
from treewright.tree.forest.grow import ForestPlan, Sampling, _grow_in_core, _grow_one_by_one
from treewright.tree.growing.grow import candidates, grow
from treewright.tree.growing.recipe import ObliqueRules, Recipe
from treewright.tree.split import SplitKind

CLASSES = Target("y", ("a", "b", "c"))
NUMBERS = Target("y", (), 2)


class Problem:
    """Columns with ties, targets of three classes or two outputs, uneven weights."""

    def __init__(
        self, seed: int, is_classes: bool = True, n: int = 80, gaps: bool = False, nominal: int = 0
    ) -> None:
        rng = np.random.default_rng(seed)
        numbers = rng.normal(size=(3, n)).round(1 if seed % 2 else 6)
        label = np.digitize(numbers[0] - numbers[1] + rng.normal(0, 0.5, n), [-0.5, 0.7])
        if gaps:
            numbers[rng.random((3, n)) < 0.1] = np.nan
        frame: dict[str, Any] = {f"x{k}": column for k, column in enumerate(numbers)}
        for k in range(nominal):
            codes = (label + rng.integers(0, 3, n)) % 4
            frame[f"c{k}"] = np.array(["p", "q", "r", "s"], object)[codes]
            if gaps:
                frame[f"c{k}"][:5] = None
        self.table = encode(frame)
        self.target = CLASSES if is_classes else NUMBERS
        self.y = label.astype(np.int32) if is_classes else rng.normal(size=(n, 2)) + label[:, None]
        self.weight = rng.integers(1, 4, n).astype(float)

    @property
    def targets(self) -> Any:
        return np.eye(3)[self.y] if self.target.is_classification else self.y

    def stump(self, rules: ObliqueRules, seed: int = 5, **changes: Any) -> Any:
        return grow(
            self.table,
            self.y,
            self.recipe(rules, max_depth=1, **changes),
            target=self.target,
            sample_weight=self.weight,
            seed=seed,
        )

    def recipe(self, rules: ObliqueRules | None, **changes: Any) -> Recipe:
        criterion = "gini" if self.target.is_classification else "squared_error"
        return Recipe(criterion, zero_gain=False, oblique=rules, **changes)

    def single_gain(self, min_leaf: int = 1) -> float:
        """Gain of the best test of one feature, on the scale of the twin."""
        found = candidates(
            self.table,
            self.y,
            self.recipe(None, min_samples_leaf=min_leaf),
            target=self.target,
            sample_weight=self.weight,
        )
        best = max((one["gain"] for one in found if one["found"]), default=0.0)
        return best if self.target.is_classification else best * self.target.n_outputs

    def expected(self, directions: Any, terms: str | None = "target", **options: Any) -> Any:
        parts = twin.design(self.table.columns, self.targets, self.weight, terms)
        if not callable(directions):
            return twin.linear_test(parts, directions, self.targets, self.weight, **options)
        return twin.linear_test(parts, directions(len(parts)), self.targets, self.weight, **options)


def given(directions: Any, **options: Any) -> ObliqueRules:
    return ObliqueRules("given", directions=lambda *_: np.asarray(directions), **options)


def check(tree: Any, expected: Any, single: float) -> None:
    """The root has the twin's test, unless one feature does as well alone."""
    splits = tree.splits
    if expected is None or expected.gain <= single * (1 + 1e-9):
        assert splits.kind[0] != SplitKind.LINEAR
        return
    assert splits.kind[0] == SplitKind.LINEAR
    terms = splits.node_terms(0)
    assert [(f, c) for f, _, c in terms] == [(f, c) for f, _, c in expected.terms]
    assert_allclose([w for _, w, _ in terms], [w for _, w, _ in expected.terms], rtol=2e-5)
    assert splits.node_breaks(0)[0] == pytest.approx(expected.threshold, rel=1e-3, abs=1e-3)
    assert tree.default[0] == expected.gap_branch


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("is_classes", [True, False])
@pytest.mark.parametrize("min_leaf", [1, 9])
def test_the_test_along_given_directions_is_that_of_the_twin(seed, is_classes, min_leaf):
    problem = Problem(seed, is_classes)
    directions = np.random.default_rng(seed).normal(size=(5, 3))
    tree = problem.stump(given(directions), min_samples_leaf=min_leaf)
    expected = problem.expected(directions, min_leaf=min_leaf)
    check(tree, expected, problem.single_gain(min_leaf))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("is_classes", [True, False])
@pytest.mark.parametrize("terms", ["target", "indicators", None])
@pytest.mark.parametrize("gaps", [False, True])
def test_random_sums_of_numbers_and_categories_are_those_of_the_twin(seed, is_classes, terms, gaps):
    problem = Problem(seed, is_classes, gaps=gaps, nominal=2)
    tree = problem.stump(ObliqueRules("sparse", terms, n_projections=12, deletion=0.02))
    expected = problem.expected(
        lambda n: twin.sparse_directions(n, 12, 5, root_path(5)), terms, deletion=0.02
    )
    check(tree, expected, problem.single_gain())


@pytest.mark.parametrize("method", ["sparse", "stepwise"])
@pytest.mark.parametrize("is_classes", [True, False])
@pytest.mark.parametrize("drawn", [2, None])
def test_a_forest_has_the_trees_that_are_grown_one_by_one(method, is_classes, drawn):
    problem = Problem(1, is_classes, n=150, gaps=True, nominal=1)
    rules = ObliqueRules(method, n_projections=6, n_restarts=2, n_jumps=2, deletion=0.02)
    recipe = problem.recipe(rules, max_features=drawn)
    plan = ForestPlan(4, seed=3, sampling=Sampling(150), tree_method="exact")
    args = (problem.table, problem.y, recipe, plan, problem.target, None, None)
    whole, single = _grow_in_core(*args).forest, _grow_one_by_one(*args).forest
    n_linear = 0
    for k in range(4):
        one, other = whole.tree(k), single.tree(k)
        n_linear += np.count_nonzero(one.splits.kind == SplitKind.LINEAR)
        for name in ("first_child", "default", "n_samples"):
            assert_array_equal(getattr(one, name), getattr(other, name))
        for name in ("kind", "feature", "term_feature", "term_weight", "term_code"):
            assert_array_equal(getattr(one.splits, name), getattr(other.splits, name))
        assert_allclose(one.splits.breaks, other.splits.breaks, rtol=1e-9, atol=1e-12)
        assert_allclose(one.gain, other.gain, rtol=1e-6, atol=1e-9)
        assert_allclose(one.feature_importances(), other.feature_importances(), rtol=1e-6)
        assert_allclose(whole.arrays["importance"][k].sum(), other.gain.sum(), rtol=1e-6)
    assert n_linear > 4


@pytest.mark.parametrize("method", ["sparse", "stepwise"])
def test_a_forest_does_not_depend_on_threads(method):
    problem = Problem(2, n=200, nominal=1)
    rules = ObliqueRules(method, n_projections=6, n_restarts=2, n_jumps=2, deletion=0.02)
    recipe = problem.recipe(rules, max_features=2)
    forests = [
        _grow_in_core(
            problem.table,
            problem.y,
            recipe,
            ForestPlan(6, seed=3, sampling=Sampling(200), n_threads=n_threads, oob="probability"),
            problem.target,
            None,
            None,
        )
        for n_threads in (1, 2)
    ]
    for name, array in forests[0].forest.arrays.items():
        assert array.tobytes() == forests[1].forest.arrays[name].tobytes(), name
    assert forests[0].oob.total.tobytes() == forests[1].oob.total.tobytes()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("is_classes", [True, False])
def test_steps_never_lose_and_the_gain_is_that_of_the_division(seed, is_classes):
    problem = Problem(seed, is_classes)
    gains = []
    for n_restarts, n_jumps in ((0, 0), (8, 0), (8, 10)):
        tree = problem.stump(ObliqueRules("stepwise", n_restarts=n_restarts, n_jumps=n_jumps))
        assert tree.splits.kind[0] == SplitKind.LINEAR
        terms = tree.splits.node_terms(0)
        value = sum(w * problem.table.columns[f].astype(float) for f, w, _ in terms)
        left = value < tree.splits.node_breaks(0)[0]
        gain = twin.gain_of(left, problem.targets, problem.weight)
        outputs = 1 if is_classes else 2
        assert tree.gain[0] * outputs == pytest.approx(gain, rel=1e-9)
        gains.append(gain)
    # starts of the first are among those of the others, which take the same steps from them
    assert gains[0] <= gains[1] * (1 + 1e-9)


def test_needless_coefficients_are_deleted_within_the_tolerance():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(4, 200))
    problem = Problem(0)
    problem.table = encode({f"x{k}": column for k, column in enumerate(columns)})
    problem.y = (columns[0] + columns[1] > 0).astype(np.int32)
    problem.weight = np.ones(200)
    faint = np.array([[1.0, 1.0, 1e-4, -1e-4]])
    assert [f for f, _, _ in problem.stump(given(faint)).splits.node_terms(0)] == [0, 1]
    rough = np.array([[1.0, 1.0, 0.2, 0.0]])
    problem.y = (rough[0] @ columns > 0).astype(np.int32)
    strict, loose = (problem.stump(given(rough, deletion=share)) for share in (0.0, 0.5))
    assert [len(t.splits.node_terms(0)) for t in (strict, loose)] == [3, 2]
    assert loose.gain[0] >= 0.5 * strict.gain[0]


def test_sums_that_differ_by_rounding_alone_are_not_cut_apart():
    x = np.linspace(1, 2, 20)
    problem = Problem(0)
    problem.table = encode({"a": x, "b": 0.1 * x})
    problem.y, problem.weight = (np.arange(20) % 2).astype(np.int32), np.ones(20)
    # the difference of columns that are the same once they are standardised
    tree = problem.stump(given(np.array([[1.0, -1.0]])))
    assert tree.splits.kind[0] != SplitKind.LINEAR


def test_directions_of_another_width_are_refused():
    with pytest.raises(ValueError, match="a coefficient for each column"):
        Problem(0).stump(given(np.ones((1, 2))))
