"""The cp table: rpart's rows, its print and its choices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pruning.arbitrary_trees import chain, make_tree, risky_shapes
from treewright.errors import ParameterError
from treewright.pruning import (
    CpTable,
    CrossValidatedErrors,
    cost_complexity,
    cp_table,
    pruning_sequence,
)


@pytest.fixture
def kyphosis():
    """The table that rpart's documentation prints for its kyphosis data."""
    return CpTable(
        cp=np.array([3 / 17, 1 / 51, 0.01]),
        n_splits=np.array([0, 1, 4]),
        n_leaves=np.array([1, 2, 5]),
        rel_error=np.array([1, 14 / 17, 13 / 17]),
        root_error=17 / 81,
        n_samples=81,
        xerror=np.array([1, 16 / 17, 15 / 17]),
        xstd=np.array([0.21559, 0.21078, 0.20565]),
    )


def test_the_text_is_that_of_printcp(kyphosis):
    assert str(kyphosis) == (
        "Root node error: 0.20988\n"
        "\n"
        "n= 81\n"
        "\n"
        "        CP nsplit rel error  xerror    xstd\n"
        "1 0.176471      0   1.00000 1.00000 0.21559\n"
        "2 0.019608      1   0.82353 0.94118 0.21078\n"
        "3 0.010000      4   0.76471 0.88235 0.20565"
    )


def test_tiny_complexities_are_printed_in_scientific_form(kyphosis):
    tiny = CpTable(**vars(kyphosis) | {"cp": np.array([0.5, 1.5e-9, 0.0])})
    assert "1.5000e-09" in str(tiny)


def test_rule_min_takes_the_least_error_and_1se_the_smallest_tree_near_it(kyphosis):
    assert kyphosis.best("min").n_splits == 4
    assert kyphosis.best("1se") == (pytest.approx(3 / 17), 0, 1.0, 1.0, 0.21559)


def test_of_equal_errors_the_smaller_tree_is_chosen(kyphosis):
    level = CpTable(**vars(kyphosis) | {"xerror": np.array([1.0, 0.9, 0.9])})
    assert level.best("min").n_splits == 1


def test_an_unknown_rule_is_refused(kyphosis):
    with pytest.raises(ParameterError, match='rule must be "min" or "1se", got \'2se\''):
        kyphosis.best("2se")


def test_a_table_without_cross_validation_has_no_best_row_and_no_plot():
    table = cp_table(make_tree([1, -1, -1], [2, 0, 0], [0.5, 0.1, 0.1]))
    with pytest.raises(ParameterError, match="best needs cross-validated errors"):
        table.best()
    with pytest.raises(ParameterError, match="plot needs cross-validated errors"):
        table.plot()


def test_the_frame_has_rparts_column_names(kyphosis):
    frame = kyphosis.frame()
    assert list(frame.columns) == ["CP", "nsplit", "rel error", "xerror", "xstd"]
    assert frame["nsplit"].tolist() == [0, 1, 4]


def test_the_notebook_display_holds_every_row(kyphosis):
    assert kyphosis._repr_html_().count("<tr>") == 4


def test_the_plot_draws_a_line_one_standard_error_above_the_least(kyphosis):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = kyphosis.plot()
    limits = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    assert limits == [pytest.approx(15 / 17 + 0.20565)]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["inf", "0.059", "0.014"]


def test_rparts_rule_forgets_a_son_that_its_parent_collapsed():
    # gains 0, 4, 3 down a chain: the third counts as collapsed for the second (4 > 3), so the
    # first sees (0 + 4) / 2; exactly, all three go together at 7 / 3
    tree = make_tree(*chain([0, 4, 3]))
    assert pruning_sequence(tree, rule="rpart").alphas.tolist() == [0, 2]
    np.testing.assert_allclose(pruning_sequence(tree).alphas, [0, 7 / 3])


def test_sons_with_smaller_complexities_collapse_in_ascending_order():
    # the root gains (13 - 4) / 3 = 3, more than the 2 of node 2; without that (13 - 6) / 2 =
    # 3.5, more than the 3 of node 1; without both 13 - 9 = 4
    tree = make_tree([1, 3, 5, -1, -1, -1, -1], [2, 2, 2, 0, 0, 0, 0], [13, 6, 3, 2, 1, 1, 0])
    assert pruning_sequence(tree, rule="rpart").node_alpha[:3].tolist() == [4, 3, 2]


def test_rows_hold_complexity_size_and_risk_relative_to_the_root():
    tree = make_tree([1, 3, 5, -1, -1, -1, -1], [2, 2, 2, 0, 0, 0, 0], [10, 5, 3, 1, 1, 1, 1])
    table = cp_table(tree, cp=0.01)
    np.testing.assert_allclose(table.cp, [0.25, 0.1, 0.01])
    np.testing.assert_allclose(table.rel_error, [1, 0.5, 0.4])
    assert table.n_splits.tolist() == [0, 2, 3]
    assert table.n_leaves.tolist() == [1, 3, 4]


def test_a_cp_that_equals_a_complexity_collapses_it():
    tree = make_tree([1, 3, 5, -1, -1, -1, -1], [2, 2, 2, 0, 0, 0, 0], [10, 5, 3, 1, 1, 1, 1])
    table = cp_table(tree, cp=0.1)
    np.testing.assert_allclose(table.cp, [0.25, 0.1])
    assert table.n_splits.tolist() == [0, 2]


def test_a_root_that_gains_too_little_is_listed_with_its_own_complexity():
    table = cp_table(make_tree([1, -1, -1], [2, 0, 0], [1.0, 0.5, 0.5]), cp=0.01)
    assert (table.cp.tolist(), table.n_splits.tolist()) == ([0.0], [0])


def test_a_root_that_was_never_split_is_listed_with_the_given_cp():
    table = cp_table(make_tree([-1], [0], [1.0]), cp=0.01)
    assert (table.cp.tolist(), table.n_splits.tolist()) == ([0.01], [0])


def test_a_node_with_three_branches_is_one_split():
    table = cp_table(make_tree([1, -1, -1, -1], [3, 0, 0, 0], [1.0, 0.1, 0.1, 0.2]))
    assert table.n_splits.tolist() == [0, 1]
    assert table.n_leaves.tolist() == [1, 3]


@given(risky_shapes(max_inner=8, least_gain=0), st.sampled_from([0.0, 0.01, 0.1, 0.5]))
def test_pruning_with_the_cp_of_a_row_gives_its_tree(arrays, cp):
    tree = make_tree(*arrays)
    table = cp_table(tree, cp=cp)
    for row in range(len(table)):
        assert cost_complexity(tree, cp=table.cp[row]).n_leaves == table.n_leaves[row]


def test_errors_are_turned_round_with_the_rows():
    tree = make_tree([1, 3, 5, -1, -1, -1, -1], [2, 2, 2, 0, 0, 0, 0], [10, 5, 3, 1, 1, 1, 1])
    errors = CrossValidatedErrors(np.array([0.6, 0.7, 1.0]), np.array([0.1, 0.2, 0.3]))
    table = CpTable.from_sequence(pruning_sequence(tree, rule="rpart"), errors)
    assert table[0] == (0.25, 0, 1.0, 1.0, 0.3)
    assert table[2] == (0.0, 3, 0.4, 0.6, 0.1)


def test_a_negative_cp_is_refused():
    with pytest.raises(ParameterError, match=r"cp must be a number not below 0, got -0.01"):
        cp_table(make_tree([-1], [0], [1.0]), cp=-0.01)
