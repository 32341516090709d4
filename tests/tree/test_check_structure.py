"""The check of a tree's structure: sound trees pass, every kind of damage is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.tree.builders import (
    EXAMPLES,
    MIXED,
    N,
    Test,
    iris,
    linear,
    make_tree,
    n_ary_breaks,
    own_gap_branches,
    play_tennis,
    random_tree,
    salaries,
)
from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ModelFileError
from treewright.tree.check import check_structure
from treewright.tree.show.paths import trace_values
from treewright.tree.split import SPLIT_DTYPES
from treewright.tree.tree import TREE_DTYPES, Tree


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_sound(name: str) -> None:
    check_structure(EXAMPLES[name]())


@pytest.mark.parametrize("seed", range(25))
def test_random_trees_are_sound(seed: int) -> None:
    check_structure(random_tree(seed))
    check_structure(random_tree(seed, target=Target("y", n_outputs=3)))


def changed(tree: Tree, name: str, at: Any, value: Any) -> Tree:
    """The tree with one entry of one array changed; ``splits.x`` and ``surrogates.x`` too."""
    room, _, field = name.rpartition(".")
    owner = getattr(tree, room) if room else tree
    array = getattr(owner, field).copy()
    array[at] = value
    owner = replace(owner, **{field: array})
    return replace(tree, **{room: owner}) if room else owner


# of play tennis: node 0 has children 1, 2, 3; 2 has 4, 5; 3 has 6, 7
DAMAGES: dict[str, tuple[Callable[[], Tree], str, Any, Any, str]] = {
    "child before parent": (play_tennis, "first_child", 3, 2, "after their parent"),
    "child is itself": (play_tennis, "first_child", 2, 2, "after their parent"),
    "child at -2": (play_tennis, "first_child", 2, -2, "after their parent"),
    "child outside": (play_tennis, "first_child", 3, 7, "inside the arrays"),
    "child far outside": (play_tennis, "first_child", 3, 2**31 - 1, "inside the arrays"),
    "two parents": (play_tennis, "first_child", 3, 4, "one parent"),
    "too many children": (play_tennis, "n_children", 3, 2**31 - 1, "inside the arrays"),
    "leaf with children": (play_tennis, "n_children", 1, 2, "two children or more"),
    "one child": (play_tennis, "n_children", 3, 1, "two children or more"),
    "negative children": (play_tennis, "n_children", 3, -5, "two children or more"),
    "default too large": (play_tennis, "default", 2, 2, "branch of a gap"),
    "default too small": (play_tennis, "default", 2, -3, "branch of a gap"),
    "default of a leaf": (play_tennis, "default", 1, -1, "send gaps on"),
    "kind unknown": (play_tennis, "splits.kind", 2, 9, "known kind"),
    "leaf with test": (play_tennis, "splits.kind", 1, 2, "codes if its kind needs them"),
    "inner without test": (play_tennis, "splits.kind", 2, 0, "codes if its kind needs them"),
    "codes become breaks": (play_tennis, "splits.kind", 2, 1, "breaks if its kind needs them"),
    "feature outside": (play_tennis, "splits.feature", 2, 4, "one of the schema's"),
    "feature negative": (play_tennis, "splits.feature", 2, -1, "one of the schema's"),
    "feature of a leaf": (play_tennis, "splits.feature", 1, 0, "one of the schema's"),
    "code outside": (play_tennis, "splits.codes", 2, 3, "categories"),
    "code negative": (play_tennis, "splits.codes", 0, -1, "categories"),
    "codes fall": (play_tennis, "splits.codes", 1, 0, "ascend"),
    "branch outside": (play_tennis, "splits.branches", 3, 2, "those of its children"),
    "branch negative": (play_tennis, "splits.branches", 3, -1, "those of its children"),
    "branch never reached": (play_tennis, "splits.branches", 3, 1, "reached"),
    "offset falls": (play_tennis, "splits.code_offset", 2, 0, "must not fall"),
    "offset starts late": (play_tennis, "splits.code_offset", 0, 1, "from 0 to 7"),
    "offset ends late": (play_tennis, "splits.code_offset", -1, 8, "from 0 to 7"),
    "offset overflows": (play_tennis, "splits.code_offset", 2, -(2**63), "must not fall"),
    "break NaN": (iris, "splits.breaks", 0, np.nan, "finite or"),
    "break -inf": (iris, "splits.breaks", 0, -np.inf, "finite or"),
    "breaks fall": (n_ary_breaks, "splits.breaks", 1, 20, "ascend"),
    "reversed codes": (play_tennis, "splits.reversed", 0, True, "reversed"),
    "reversed three breaks": (n_ary_breaks, "splits.reversed", 0, True, "reversed"),
    "breaks on nominal": (n_ary_breaks, "splits.feature", 0, 3, "nominal"),
    "codes on continuous": (own_gap_branches, "splits.feature", 2, 0, "continuous"),
    "gap branch not default": (own_gap_branches, "default", 0, 1, "fit its children"),
    "gap branch of codes not default": (own_gap_branches, "default", 2, 0, "reached"),
    "term outside": (linear, "splits.term_feature", 1, 4, "one of the features"),
    "term negative": (linear, "splits.term_feature", 1, -1, "one of the features"),
    "term nominal": (linear, "splits.term_feature", 1, 3, "term of a linear"),
    "weight of a term": (linear, "splits.term_weight", 1, np.inf, "weights of terms"),
    "linear with a feature": (linear, "splits.feature", 0, 1, "one of the schema's"),
    "surrogate offset falls": (iris, "surrogate_offset", 1, -1, "must not fall"),
    "surrogate at a leaf": (iris, "surrogate_offset", 2, 4, "no surrogates"),
    "surrogate offset ends early": (iris, "surrogate_offset", -1, 3, "from 0 to 4"),
    "surrogate without a test": (iris, "surrogates.kind", 0, 0, "needs them"),
    "surrogate feature": (iris, "surrogates.feature", 0, 4, "one of the schema's"),
    "surrogate break": (iris, "surrogates.breaks", 0, np.nan, "finite or"),
    "agreement": (iris, "surrogate_agreement", 0, 1.5, "share"),
    "adjusted": (iris, "surrogate_adjusted", 0, np.nan, "at most 1"),
    "rows negative": (iris, "n_samples", 0, -1, "rows"),
    "weight negative": (iris, "weight", 0, -1.0, "weights"),
    "weight infinite": (iris, "weight", 0, np.inf, "weights"),
    "value NaN": (iris, "value", (0, 1), np.nan, "values"),
    "value negative": (iris, "value", (0, 1), -1.0, "negative"),
    "regression value infinite": (salaries, "value", (0, 0), np.inf, "values"),
    "label outside": (iris, "label", 0, 3, "labels"),
    "label negative": (iris, "label", 0, -1, "labels"),
    "impurity": (iris, "impurity", 0, np.nan, "impurity"),
    "gain": (iris, "gain", 0, np.inf, "gain"),
    "gains that overflow": (iris, "gain", slice(None), 1e308, "sum of gain"),
    "weights that overflow": (iris, "weight", slice(None), 1e308, "sum of weight"),
    "class weights that overflow": (iris, "value", 0, 1e308, "finite sums"),
    "risk": (iris, "risk", 0, np.nan, "risk"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named_in_one_sentence(damage: str) -> None:
    make, name, at, value, message = DAMAGES[damage]
    with pytest.raises(ModelFileError, match=message) as caught:
        check_structure(changed(make(), name, at, value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", TREE_DTYPES)
def test_arrays_of_a_wrong_type_or_length_are_refused(name: str) -> None:
    tree = iris()
    array = getattr(tree, name)
    other = np.int16 if array.dtype.kind == "f" else np.float64
    for wrong in (array[:-1].copy(), array.astype(other), array[None].copy()):
        with pytest.raises(ModelFileError, match="must"):
            check_structure(replace(tree, **{name: wrong}))


@pytest.mark.parametrize("name", SPLIT_DTYPES)
@pytest.mark.parametrize("room", ["splits", "surrogates"])
def test_split_arrays_of_a_wrong_type_or_length_are_refused(room: str, name: str) -> None:
    tree = iris()
    splits = getattr(tree, room)
    array = getattr(splits, name)
    other = np.int16 if array.dtype.kind == "f" else np.float64
    longer = np.concatenate([array, np.ones(1, array.dtype)])
    for wrong in (longer, array.astype(other), array[None].copy()):
        damaged = replace(tree, **{room: replace(splits, **{name: wrong})})
        with pytest.raises(ModelFileError, match="must"):
            check_structure(damaged)


def test_arrays_with_steps_are_refused() -> None:
    tree = iris()
    stepped = np.repeat(tree.gain, 2)[::2]
    with pytest.raises(ModelFileError, match="contiguous"):
        check_structure(replace(tree, gain=stepped))


def test_a_surrogate_may_not_have_more_branches_than_its_node() -> None:
    surrogate = (Test(0, [1.0, 2.0]), 0.5, 0.5)
    node = N([3, 3], Test(1, [1.0]), [N([3, 0]), N([0, 3])], surrogates=[surrogate])
    with pytest.raises(ModelFileError, match="breaks of a surrogate must fit"):
        check_structure(make_tree(MIXED, node))


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (Schema((Feature("a", "continuous"), Feature("a", "continuous"))), "differ"),
        (Schema((Feature("a", "odd"),)), "continuous, ordinal, nominal"),
        (Schema((Feature("a", "continuous", ("x",)),)), "no categories"),
        (Schema((Feature("a", "nominal", ("x", "x")),)), "differ"),
        (Schema((Feature("a", "nominal", (None,)),)), "strings, numbers"),
        (Schema((Feature(1, "continuous"),)), "string"),
        (Schema((), target=Target("y", ("a",), class_factor=(-1.0,))), "factors"),
        (Schema(()), "target"),
    ],
)
def test_schemas_are_checked_too(schema: Schema, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        check_structure(replace(iris(), schema=schema))


@pytest.mark.parametrize("seed", range(25))
def test_a_tree_with_any_entry_changed_is_refused_or_can_be_read(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(seed % 10, n_inner=6)
    names = [*TREE_DTYPES, *(f"{r}.{n}" for r in ("splits", "surrogates") for n in SPLIT_DTYPES)]
    hostile = [-(2**31), -3, -2, -1, 0, 1, 2, 3, 7, 100, 2**31 - 1]
    for name in names:
        room, _, field = name.rpartition(".")
        array = getattr(getattr(tree, room) if room else tree, field)
        if not array.size:
            continue
        at = np.unravel_index(rng.integers(array.size), array.shape)
        value = rng.choice(hostile) if array.dtype.kind != "u" else rng.integers(0, 256)
        if array.dtype.kind == "f" and rng.random() < 0.5:
            value = rng.choice([np.nan, np.inf, -np.inf, -0.5, 1e308])
        damaged = changed(tree, name, at, value)
        try:
            check_structure(damaged)
        except ModelFileError:
            continue
        read_everything(damaged, rng)


def read_everything(tree: Tree, rng: np.random.Generator) -> None:
    """What a reader does with a tree that passed."""
    assert sorted(tree.walk()) == list(range(tree.n_nodes))
    tree.to_text(surrogates=True)
    tree.rules()
    tree.to_svg()
    tree.feature_importances(surrogates=True)
    check_structure(tree.collapse(rng.random(tree.n_nodes) < 0.3))
    for _ in range(5):
        row = [*rng.normal(30, 20, 2), rng.integers(-1, 4), rng.integers(-1, 4)]
        assert 0 <= trace_values(tree, row).leaf < tree.n_nodes


def test_a_chain_of_a_hundred_thousand_nodes_is_no_obstacle() -> None:
    chain = deep_chain(50_000)
    check_structure(chain)
    assert chain.depth == 50_000
    assert chain.collapse([2]).n_nodes == 3


def deep_chain(depth: int) -> Tree:
    """Every second node is a leaf, the other goes on."""
    tree = make_tree(MIXED, N([1, 1], Test(0, [1.0]), [N([1, 0]), N([0, 1])], default=0))
    n = 2 * depth + 1
    inner = np.arange(n) % 2 == 0
    inner[-1] = False
    count = inner.astype(np.int64)
    offset = np.concatenate([[0], np.cumsum(count)])
    splits = replace(
        tree.splits,
        kind=inner.astype(np.uint8),
        feature=np.where(inner, 0, -1).astype(np.int32),
        closed=np.zeros(n, np.bool_),
        reversed=np.zeros(n, np.bool_),
        break_offset=offset,
        breaks=np.ones(depth),
        code_offset=np.zeros(n + 1, np.int64),
        term_offset=np.zeros(n + 1, np.int64),
    )
    return replace(
        tree,
        first_child=np.where(inner, np.arange(n) + 1, -1).astype(np.int32),
        n_children=np.where(inner, 2, 0).astype(np.int32),
        default=np.where(inner, 0, -2).astype(np.int32),
        surrogate_offset=np.zeros(n + 1, np.int64),
        splits=splits,
        n_samples=np.ones(n, np.int64),
        value=np.ones((n, 2)),
        label=np.zeros(n, np.int32),
        **{name: np.zeros(n) for name in ("weight", "impurity", "gain", "risk")},
    )
