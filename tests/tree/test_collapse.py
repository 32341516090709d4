"""Collapsing nodes: against a slow twin, and what must stay true."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tree.builders import EXAMPLES, iris, play_tennis, random_tree
from treewright.errors import ParameterError
from treewright.tree.check import check_structure
from treewright.tree.tree import Tree


def survivors(tree: Tree, marked: np.ndarray) -> list[int]:
    """Old ids of the nodes that have no marked ancestor, found one by one."""
    found = []
    for node in range(tree.n_nodes):
        above = tree.parent[node]
        while above >= 0 and not marked[above]:
            above = tree.parent[above]
        if above < 0:
            found.append(node)
    return found


def marks(tree: Tree) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.booleans(), min_size=len(tree), max_size=len(tree)).map(np.array)


@given(st.data(), st.integers(0, 15))
def test_collapse_agrees_with_a_walk_up_from_every_node(data: st.DataObject, seed: int) -> None:
    tree = random_tree(seed, n_inner=8)
    marked = data.draw(marks(tree))
    small = tree.collapse(marked)
    check_structure(small)
    kept = survivors(tree, marked)
    assert small.n_nodes == len(kept)
    for new, old in enumerate(kept):
        is_leaf = bool(marked[old]) or tree.first_child[old] < 0
        assert small.node(new).is_leaf == is_leaf
        assert small.node(new).prediction == tree.node(old).prediction
        assert small.n_samples[new] == tree.n_samples[old]
        assert small.extras["statistic"][new] == tree.extras["statistic"][old]
        assert small.gain[new] == (0 if is_leaf else tree.gain[old])
        if not is_leaf:
            assert small.node(new).test == tree.node(old).test
            assert small.node(new).surrogates == tree.node(old).surrogates
            assert [kept[c] for c in small.children(new)] == list(tree.children(old))
            assert small.default[new] == tree.default[old]


@pytest.mark.parametrize("name", EXAMPLES)
def test_collapsing_nothing_changes_nothing(name: str) -> None:
    tree = EXAMPLES[name]()
    assert tree.collapse(np.zeros(len(tree), bool)).to_dict() == tree.to_dict()
    assert tree.collapse([]).to_dict() == tree.to_dict()


@pytest.mark.parametrize("name", EXAMPLES)
def test_collapsing_the_root_leaves_one_leaf(name: str) -> None:
    stump = EXAMPLES[name]().collapse([0])
    check_structure(stump)
    assert (stump.n_nodes, stump.depth, len(stump.surrogates)) == (1, 0, 0)
    assert len(stump.splits.breaks) == len(stump.splits.codes) == 0


def test_marking_leaves_changes_nothing() -> None:
    tree = play_tennis()
    assert tree.collapse(tree.is_leaf).to_dict() == tree.to_dict()


def test_ids_and_mask_mean_the_same() -> None:
    tree = play_tennis()
    by_id = tree.collapse([2])
    mask = np.zeros(8, bool)
    mask[2] = True
    assert by_id.to_dict() == tree.collapse(mask).to_dict()
    assert [rule.text() for rule in by_id.rules()] == [
        "outlook = overcast",
        "outlook = rain",
        "outlook = sunny and humidity = high",
        "outlook = sunny and humidity = normal",
    ]


def test_the_original_stays_as_it_was() -> None:
    tree = iris()
    before = tree.to_dict()
    tree.collapse([0])
    assert tree.to_dict() == before


@pytest.mark.parametrize("nodes", [[8], [-1], [0.5], [[1, 2]], np.ones(5, bool), ["a"]])
def test_nodes_that_are_none_are_refused(nodes: object) -> None:
    with pytest.raises(ParameterError, match="nodes must be"):
        play_tennis().collapse(nodes)
