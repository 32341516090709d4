"""Views of single nodes."""

from __future__ import annotations

import pytest

from tests.tree.builders import cheat, iris, linear, n_ary_breaks, play_tennis, salaries
from treewright.errors import ParameterError


def test_a_node_tells_its_test_and_its_condition() -> None:
    node = cheat().node(3)
    assert node.test == "TaxableIncome < 80"
    assert node.feature == "TaxableIncome"
    assert node.condition == "MaritalStatus in {Divorced, Single} (or gap)"
    assert [child.condition for child in node.children] == [
        "TaxableIncome < 80",
        "TaxableIncome >= 80 (or gap)",
    ]
    assert node.parent is not None
    assert node.parent.id == 1
    assert node.depth == 2


def test_a_leaf_has_no_test() -> None:
    leaf = play_tennis().node(1)
    assert leaf.is_leaf
    assert leaf.test is None
    assert leaf.feature is None
    assert leaf.children == ()
    assert leaf.prediction == "Yes"
    assert leaf.condition == "outlook = overcast"


def test_the_root_has_neither_parent_nor_condition() -> None:
    root = play_tennis().node(0)
    assert root.parent is None
    assert root.condition is None
    assert root.n_samples == 14
    assert root.probabilities == {"No": pytest.approx(5 / 14), "Yes": pytest.approx(9 / 14)}


def test_tests_with_many_branches_name_them_all() -> None:
    test = "age <= 20 | 20 < age <= 35.5 | 35.5 < age <= 50 (or gap) | age > 50"
    assert n_ary_breaks().node(0).test == test


def test_linear_tests_have_no_single_feature() -> None:
    node = linear().node(0)
    assert node.feature is None
    assert node.test == "0.5·age − 2·income <= 3.1"


def test_surrogates_read_in_the_direction_of_the_first_branch() -> None:
    assert iris().node(0).surrogates == (
        "petal_width < 0.8",
        "sepal_length < 5.45",
        "sepal_width >= 3.35",
    )


def test_regression_nodes_have_numbers() -> None:
    node = salaries().node(0)
    assert node.prediction == 5.927
    assert node.probabilities is None
    assert (node.weight, node.gain, node.impurity) == (263, 0.35, 0.788)


def test_nodes_are_a_sequence() -> None:
    tree = play_tennis()
    assert len(tree.nodes) == 8
    assert [node.id for node in tree.nodes] == list(range(8))
    assert tree.nodes[-1].id == 7
    assert [node.id for node in tree.nodes[2:4]] == [2, 3]
    with pytest.raises(ParameterError, match="node must be an id from 0 to 7, got 8"):
        tree.node(8)
    with pytest.raises(IndexError):
        tree.nodes[-9]


def test_reprs_are_one_line() -> None:
    assert repr(iris().node(3)) == "<Node 3: leaf; n=54, versicolor 0.91>"
    assert repr(iris().node(0)) == "<Node 0: petal_length < 2.45; n=150, setosa 0.33>"
    assert repr(salaries().node(0)) == "<Node 0: Years < 4.5; n=263, 5.927>"
    assert repr(iris().nodes).startswith("<5 nodes of <Tree")
