"""The table of tests at the nodes: how it is made, kept, checked and shown."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import treewright
from tests.tree.builders import N, Test, iris, make_tree, play_tennis, random_tree, with_tests
from treewright.data.encode import encode
from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ModelFileError, ParameterError
from treewright.tree.check import check_structure
from treewright.tree.growing.choosing import GrowingNode, NoSplit, ProposedSplit, ProposedSurrogate
from treewright.tree.growing.grow import grow
from treewright.tree.growing.recipe import Recipe
from treewright.tree.node_tests import NodeTests
from treewright.tree.tree import Tree


def example() -> Tree:
    """Three nodes: a split by the second feature, one leaf that was tested and one not."""
    features = (Feature("age", "continuous"), Feature("size", "continuous"))
    root = N([30, 20], Test(1, [2.5]), [N([25, 5]), N([5, 15])], default=0)
    tree = make_tree(Schema(features, target=Target("y", ("no", "yes"))), root)
    at_root = NodeTests.of_node([0, 1], [0.5, 900.0], [1, 2], [-0.7, -2000.0], [-0.3, -1999.3])
    at_leaf = NodeTests.of_node([0], [3.0], [np.nan], [-3.0], [-2.4])
    return replace(tree, tests=NodeTests.join([(0, at_root), (1, at_leaf)]))


def scripted(answers):
    """A chooser that gives one answer after another, in the order in which nodes are asked."""
    given = iter(answers)
    return lambda node: next(given)


def fit_scripted(choose, n: int = 8, **recipe) -> Tree:
    X = np.arange(n, dtype=float)[:, None]
    y = (np.arange(n) % 2).astype(np.int32)
    return grow(
        encode(X), y, Recipe("gini", choose=choose, **recipe), target=Target("y", ("a", "b"))
    )


def test_tests_of_split_and_unsplit_nodes_arrive_at_their_nodes():
    def tests(number):
        return NodeTests.of_node([0], [number], [1], [-1], [-1])

    tree = fit_scripted(
        scripted(
            [
                ProposedSplit(0, breaks=(3.0,), tests=tests(1.0)),
                NoSplit(tests=tests(2.0)),
                ProposedSplit(0, breaks=(5.0,), tests=tests(3.0)),
                None,
                NoSplit(tests=tests(4.0), extras={"why": 7.0}),
            ]
        )
    )
    kept = dict(zip(tree.tests.node.tolist(), tree.tests.statistic.tolist(), strict=True))
    left, right = tree.children(0)
    assert kept == {0: 1.0, left: 2.0, right: 3.0, tree.children(right)[1]: 4.0}
    assert tree.extras["why"][tree.children(right)[1]] == 7.0
    check_structure(tree)


def test_a_chooser_that_never_tests_leaves_no_table():
    tree = fit_scripted(scripted([ProposedSplit(0, 1.0, breaks=(3.0,)), None, None]))
    assert tree.tests is None
    with pytest.raises(ParameterError, match="grown without any"):
        tree.node_tests()


def test_a_gain_left_out_is_the_decrease_of_impurity():
    X = np.array([[0.0], [1], [2], [3], [4], [5], [6], [7]])
    y = np.array([0, 0, 0, 1, 1, 1, 1, 0], np.int32)
    choose = scripted([ProposedSplit(0, breaks=(2.0,)), None, None])
    recipe = Recipe("gini", choose=choose)
    tree = grow(encode(X), y, recipe, target=Target("y", ("a", "b")))
    # Gini 1/2 at the root; no impurity among 3 rows, 2 · 1/5 · 4/5 among 5
    assert tree.gain[0] == pytest.approx(0.5 - 5 / 8 * 0.32)
    assert np.all(tree.gain[tree.is_leaf] == 0)


def test_the_path_of_a_node_is_its_own_and_the_same_every_time():
    def paths():
        seen: list[GrowingNode] = []

        def halve(node: GrowingNode):
            seen.append(node)
            middle = float(np.median(node.rows))
            return ProposedSplit(0, breaks=(np.floor(middle),)) if len(node.rows) > 2 else None

        fit_scripted(halve, 32)
        return [node.path for node in seen]

    first = paths()
    assert len(first) > 7
    assert len(set(first)) == len(first)
    assert first == paths()


def test_surrogates_of_a_chooser_decide_its_gaps():
    X = np.array([[0.0, 9], [1, 9], [2, 1], [3, 1], [np.nan, 9], [np.nan, 1], [np.nan, np.nan]])
    y = np.array([0, 0, 1, 1, 1, 1, 0], np.int32)
    surrogate = ProposedSurrogate(1, breaks=(5.0,), is_reversed=True, agreement=1.0, adjusted=1.0)
    split = ProposedSplit(0, breaks=(1.0,), surrogates=(surrogate,))
    recipe = Recipe("gini", choose=scripted([split, None, None]), missing="surrogate")
    tree = grow(encode(X), y, recipe, target=Target("y", ("a", "b")))
    # rows 0, 1 and by the surrogate 4 go left, rows 2, 3 and 5 right; the last follows a tie
    assert tree.n_samples[list(tree.children(0))].tolist() == [4, 3]
    assert tree.surrogate_agreement.tolist() == [1.0]
    assert tree.surrogates.reversed.tolist() == [True]


def test_collapsing_keeps_the_tests_of_the_nodes_that_stay():
    tree = with_tests(random_tree(3, n_inner=8))
    marked = np.zeros(tree.n_nodes, bool)
    marked[int(np.flatnonzero(~tree.is_leaf)[2])] = True
    small = tree.collapse(marked)
    check_structure(small)
    kept = [node for node in range(tree.n_nodes) if not has_marked_ancestor(tree, node, marked)]
    assert len(kept) == small.n_nodes < tree.n_nodes
    new_id = {old: new for new, old in enumerate(kept)}
    expected = [
        (new_id[node], feature, statistic)
        for node, feature, statistic in zip(
            tree.tests.node.tolist(), tree.tests.feature, tree.tests.statistic, strict=True
        )
        if node in new_id
    ]
    found = zip(small.tests.node, small.tests.feature, small.tests.statistic, strict=True)
    assert list(found) == expected


def has_marked_ancestor(tree: Tree, node: int, marked: np.ndarray) -> bool:
    above = int(tree.parent[node])
    return above >= 0 and (bool(marked[above]) or has_marked_ancestor(tree, above, marked))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies_have_the_same_read_only_tests(copied):
    tree = with_tests(iris())
    twin = copied(tree)
    for name, array in tree.tests.arrays().items():
        np.testing.assert_array_equal(array, getattr(twin.tests, name), strict=True)
        assert not getattr(twin.tests, name).flags.writeable


def test_a_saved_tree_comes_back_with_its_tests(tmp_path):
    tree = with_tests(random_tree(5))
    treewright.save(tree, tmp_path / "tree.treewright")
    loaded = treewright.load(tmp_path / "tree.treewright")
    for name, array in tree.tests.arrays().items():
        np.testing.assert_array_equal(array, getattr(loaded.tests, name), strict=True)


DAMAGE = {
    "a node that is not there": ("node", 99, "of a node"),
    "a node below zero": ("node", -1, "of a node"),
    "nodes out of order": ("node", 2, "order of the nodes"),
    "a feature that is not there": ("feature", 2, "one of the schema's"),
    "a probability above one": ("log_p", 0.1, "logarithm of a share"),
    "an adjusted probability above one": ("log_adjusted_p", 1.0, "logarithm of a share"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_tests_are_refused(damage):
    name, value, message = DAMAGE[damage]
    tree = example()
    array = getattr(tree.tests, name).copy()
    array[0] = value
    with pytest.raises(ModelFileError, match=message):
        check_structure(replace(tree, tests=replace(tree.tests, **{name: array})))
    with pytest.raises(ModelFileError, match="must be float64"):
        check_structure(replace(tree, tests=replace(tree.tests, df=np.zeros(3, np.float32))))
    with pytest.raises(ModelFileError, match="of shape"):
        check_structure(replace(tree, tests=replace(tree.tests, df=np.zeros(4))))


def test_the_frame_has_one_row_per_test_and_marks_the_split():
    frame = example().node_tests().frame()
    assert frame["node"].tolist() == [0, 0, 1]
    assert frame["feature"].tolist() == ["age", "size", "age"]
    assert frame["is_split"].tolist() == [False, True, False]
    assert frame["p_value"].tolist() == pytest.approx([np.exp(-0.7), 0.0, np.exp(-3)])
    assert frame["log_adjusted_p"].tolist() == [-0.3, -1999.3, -2.4]


def test_one_node_can_be_asked_for():
    tree = example()
    assert tree.node_tests(1).frame()["statistic"].tolist() == [3.0]
    assert len(tree.node_tests(2)) == 0
    assert str(tree.node_tests(2)) == "no tests"
    with pytest.raises(ParameterError, match="from 0 to 2, got 3"):
        tree.node_tests(3)


def test_the_table_reads_well_as_text_and_in_a_notebook():
    table = example().node_tests()
    assert str(table).splitlines() == [
        "node feature statistic df         p adjusted p",
        "   0     age    0.5000  1     0.497      0.741",
        "   0    size  900.0000  2 2.58e-869  5.19e-869 chosen",
        "   1     age    3.0000       0.0498     0.0907",
    ]
    assert "<td>chosen</td>" in table._repr_html_()


def test_names_from_the_data_are_escaped_in_a_notebook():
    tree = example()
    features = (Feature("<b>", "continuous"), Feature("size", "continuous"))
    odd = replace(tree, schema=replace(tree.schema, features=features))
    assert "&lt;b&gt;" in odd.node_tests()._repr_html_()
    assert "<b>" not in odd.node_tests()._repr_html_()


def test_text_rules_and_picture_show_the_p_values():
    tree = example()
    text = tree.to_text()
    assert "adjusted p" in text
    root, left, right = text.splitlines()[-3:]
    assert "p < 0.001" in root
    assert "p = 0.091" in left
    assert "p " not in right
    rules = tree.rules()
    assert [rule.log_p for rule in rules] == [-1999.3, -1999.3]
    assert "p < 0.001" in str(rules[0])
    assert "largest p" in rules.to_text()
    svg = tree.to_svg()
    assert ">p &lt; 0.001</text>" in svg
    assert "least p = 0.091 of the tests here" in svg


def test_a_tree_without_tests_shows_none():
    tree = play_tennis()
    assert "p <" not in tree.to_text()
    assert "adjusted" not in tree.to_text()
    assert tree.rules()[0].log_p is None
    assert np.isnan(tree.log_p).all()
