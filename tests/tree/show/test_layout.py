"""The tidy layout: nothing overlaps, parents stand in the middle, nothing is wasted."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.tree.show.layout import tidy_positions


@st.composite
def shapes(draw: st.DrawFn) -> tuple[list[list[int]], list[float]]:
    """Children of each node, parents first, and extents."""
    parents = [-1]
    for node in range(1, draw(st.integers(1, 25))):
        parents.append(draw(st.integers(0, node - 1)))
    children = [[c for c, p in enumerate(parents) if p == node] for node in range(len(parents))]
    sizes = draw(st.lists(st.floats(1, 50), min_size=len(parents), max_size=len(parents)))
    return children, sizes


def levels(children: list[list[int]]) -> list[list[int]]:
    """Node ids of each level, in the order in which they are drawn."""
    found = [[0]]
    while found[-1]:
        found.append([child for node in found[-1] for child in children[node]])
    return found[:-1]


@given(shapes())
def test_neighbours_on_a_level_keep_their_gap_and_order(shape) -> None:
    children, sizes = shape
    centre = tidy_positions(children, sizes, gap=3)
    for level in levels(children):
        for a, b in itertools.pairwise(level):
            space = centre[b] - sizes[b] / 2 - (centre[a] + sizes[a] / 2)
            assert space >= 3 - 1e-9


@given(shapes())
def test_parents_stand_in_the_middle_of_their_children(shape) -> None:
    children, sizes = shape
    centre = tidy_positions(children, sizes, gap=3)
    for node, below in enumerate(children):
        if below:
            assert centre[node] == pytest.approx((centre[below[0]] + centre[below[-1]]) / 2)


@given(shapes())
def test_the_drawing_starts_at_zero(shape) -> None:
    children, sizes = shape
    centre = tidy_positions(children, sizes, gap=3)
    assert min(c - s / 2 for c, s in zip(centre, sizes, strict=True)) == pytest.approx(0)


@given(shapes())
def test_a_mirrored_tree_is_drawn_as_the_mirror_image(shape) -> None:
    children, sizes = shape
    centre = tidy_positions(children, sizes, gap=3)
    mirrored = tidy_positions([below[::-1] for below in children], sizes, gap=3)
    width = max(c + s / 2 for c, s in zip(centre, sizes, strict=True))
    assert mirrored == pytest.approx([width - c for c in centre])


def test_leaves_below_one_node_stand_side_by_side() -> None:
    centre = tidy_positions([[1, 2, 3], [], [], []], [10, 10, 20, 10], gap=5)
    assert centre == pytest.approx([25, 5, 25, 45])


def test_small_subtrees_between_large_ones_are_spread_evenly() -> None:
    # 1 and 3 have three children each and push apart; 2 stands half-way
    children = [[1, 2, 3], [4, 5, 6], [], [7, 8, 9], [], [], [], [], [], []]
    centre = tidy_positions(children, [10] * 10, gap=2)
    assert centre[2] == pytest.approx((centre[1] + centre[3]) / 2)
