"""The tree itself: structure, importances, immutability, copies."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from tests.tree.builders import (
    EXAMPLES,
    IRIS,
    N,
    Test,
    iris,
    linear,
    make_tree,
    play_tennis,
    random_tree,
    salaries,
)
from treewright.tree.split import SPLIT_DTYPES, Splits
from treewright.tree.tree import TREE_DTYPES, Tree


def test_structure_of_play_tennis() -> None:
    tree = play_tennis()
    assert (tree.n_nodes, tree.n_leaves, tree.depth, len(tree)) == (8, 5, 2, 8)
    assert tree.parent.tolist() == [-1, 0, 0, 0, 2, 2, 3, 3]
    assert tree.node_depth.tolist() == [0, 1, 1, 1, 2, 2, 2, 2]
    assert list(tree.walk()) == [0, 1, 2, 4, 5, 3, 6, 7]
    assert list(tree.walk(max_depth=1)) == [0, 1, 2, 3]
    assert list(tree.walk(3)) == [3, 6, 7]
    assert list(tree.children(0)) == [1, 2, 3]
    assert list(tree.children(1)) == []


@pytest.mark.parametrize("seed", range(10))
def test_depths_follow_the_parents(seed: int) -> None:
    tree = random_tree(seed)
    for node in range(1, tree.n_nodes):
        assert tree.node_depth[node] == tree.node_depth[tree.parent[node]] + 1


def test_probabilities_follow_the_priors() -> None:
    tree = play_tennis()
    assert tree.probability[0] == pytest.approx([5 / 14, 9 / 14])
    target = replace(tree.schema.target, class_factor=(9.0, 5.0))
    even = replace(tree, schema=replace(tree.schema, target=target))
    assert even.probability[0] == pytest.approx([0.5, 0.5])
    assert even.node(0).probabilities == pytest.approx({"No": 0.5, "Yes": 0.5})


def test_importances_sum_the_gains() -> None:
    raw = salaries().feature_importances(normalize=False)
    assert raw == pytest.approx([0.35, 0.15])
    assert salaries().feature_importances() == pytest.approx([0.7, 0.3])


def test_surrogates_are_credited_with_their_adjusted_agreement() -> None:
    raw = iris().feature_importances(normalize=False, surrogates=True)
    # petal_length: primary 1/3, surrogate 0.26 * 0.804; petal_width: primary 0.26, surrogate 1/3
    assert raw == pytest.approx([0.76 / 3, 0.5 / 3, 1 / 3 + 0.26 * 0.804, 0.26 + 1 / 3])
    assert iris().feature_importances(surrogates=True).sum() == pytest.approx(1)


def test_linear_tests_share_their_gain() -> None:
    tree = replace(linear(), gain=np.array([0.4, 0, 0]))
    assert tree.feature_importances(normalize=False) == pytest.approx([0.2, 0.2, 0, 0])


def test_a_single_leaf_has_no_importances() -> None:
    assert make_tree(IRIS, N([1, 2, 3])).feature_importances().tolist() == [0, 0, 0, 0]


def arrays(tree: Tree) -> list[np.ndarray]:
    own = [getattr(tree, name) for name in TREE_DTYPES]
    pools = [*tree.splits.arrays().values(), *tree.surrogates.arrays().values()]
    return [*own, *pools, *tree.extras.values()]


@pytest.mark.parametrize(
    "remake", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies_are_equal_and_read_only(remake) -> None:
    tree = random_tree(4)
    assert tree.depth > 0  # fills a cache, which the copy need not have
    other = remake(tree)
    assert other.to_dict() == tree.to_dict()
    assert not any(array.flags.writeable for array in arrays(other))


def test_a_tree_cannot_be_changed() -> None:
    tree = random_tree(4)
    for array in arrays(tree):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(FrozenInstanceError):
        tree.gain = np.zeros(3)


def test_no_array_is_copied_at_construction() -> None:
    gain = np.zeros(8)
    tree = replace(play_tennis(), gain=gain)
    assert tree.gain is gain


def test_dtypes_are_as_declared() -> None:
    for make in EXAMPLES.values():
        tree = make()
        assert {name: getattr(tree, name).dtype.type for name in TREE_DTYPES} == TREE_DTYPES
        found = {name: array.dtype.type for name, array in tree.splits.arrays().items()}
        assert found == SPLIT_DTYPES


def test_no_splits_are_an_empty_structure() -> None:
    empty = Splits.empty()
    assert len(empty) == 0
    assert {name: a.dtype.type for name, a in empty.arrays().items()} == SPLIT_DTYPES
    assert len(empty.take(np.zeros(0, np.int64))) == 0


def test_taken_splits_keep_their_pools() -> None:
    splits = random_tree(2).splits
    order = np.arange(len(splits))[::-1].copy()
    taken = splits.take(order)
    for new, old in enumerate(order.tolist()):
        assert taken.kind[new] == splits.kind[old]
        assert taken.node_breaks(new).tolist() == splits.node_breaks(old).tolist()
        assert taken.node_codes(new).tolist() == splits.node_codes(old).tolist()
        assert taken.node_branches(new).tolist() == splits.node_branches(old).tolist()
        assert taken.node_terms(new) == splits.node_terms(old)


def test_taken_leaves_lose_their_tests() -> None:
    splits = make_tree(IRIS, N([1, 1, 1], Test(1, [2.0], closed=True), [N([1, 0, 0])] * 2)).splits
    leaf = splits.take(np.array([0]), np.array([True]))
    assert (leaf.kind[0], leaf.feature[0], leaf.closed[0], len(leaf.breaks)) == (0, -1, False, 0)
