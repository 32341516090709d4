"""Shares of rows as counts, by scikit-learn's rules."""

from __future__ import annotations

import pytest

from treewright.tree.growing.stopping import features_per_node, samples_to_leaf, samples_to_split


@pytest.mark.parametrize(
    ("given", "leaf", "expected"), [(2, 1, 2), (20, 7, 20), (2, 7, 14), (0.1, 1, 11), (0.001, 1, 2)]
)
def test_a_node_needs_rows_for_two_leaves(given: float, leaf: int, expected: int) -> None:
    assert samples_to_split(given, leaf, 101) == expected


@pytest.mark.parametrize(("given", "expected"), [(1, 1), (7, 7), (0.1, 11), (0.5, 51)])
def test_shares_of_rows_are_rounded_up(given: float, expected: int) -> None:
    assert samples_to_leaf(given, 101) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, None), (3, 3), (28, None), (99, None), (0.5, 14), (0.01, 1), ("sqrt", 5), ("log2", 4)],
)
def test_features_are_counted_as_scikit_learn_does(given: object, expected: int | None) -> None:
    assert features_per_node(given, 28) == expected  # type: ignore[arg-type]
