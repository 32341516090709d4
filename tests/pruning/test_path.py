"""The cost-complexity path as a result object."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pruning.arbitrary_trees import make_tree
from treewright.errors import ParameterError
from treewright.pruning import (
    CostComplexityPath,
    CrossValidatedErrors,
    cost_complexity_path,
    pruning_sequence,
)


@pytest.fixture
def tree():
    return make_tree(
        [1, 3, 5, -1, -1, -1, -1], [2, 2, 2, 0, 0, 0, 0], [0.5, 0.25, 0.15, 0.05, 0.05, 0.05, 0.05]
    )


@pytest.fixture
def validated(tree):
    errors = CrossValidatedErrors(np.array([0.62, 0.6, 1.0]), np.array([0.05, 0.05, 0.05]))
    return CostComplexityPath.from_sequence(pruning_sequence(tree), errors)


def test_the_text_lists_every_subtree(tree):
    assert str(cost_complexity_path(tree)) == (
        "Cost-complexity path, 3 subtrees, risk: error\n"
        "alpha n_leaves risk\n"
        "0.000        4 0.20\n"
        "0.050        3 0.25\n"
        "0.125        1 0.50"
    )


def test_the_frame_has_a_row_for_every_subtree(tree):
    frame = cost_complexity_path(tree).frame()
    assert list(frame.columns) == ["alpha", "n_leaves", "risk"]
    assert frame["n_leaves"].tolist() == [4, 3, 1]


def test_the_frame_is_an_arrow_table_where_pandas_is_not_installed(tree, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    frame = cost_complexity_path(tree).frame()
    assert isinstance(frame, pyarrow.Table)
    assert frame.column("n_leaves").to_pylist() == [4, 3, 1]


def test_cross_validated_errors_stand_beside_the_risks(validated):
    assert list(validated.frame().columns) == ["alpha", "n_leaves", "risk", "error", "error_std"]
    assert "error_std" in validated._repr_html_()


def test_the_best_alpha_follows_the_rule(validated):
    assert validated.best("min") == pytest.approx(0.05)
    wide = CostComplexityPath(**vars(validated) | {"errors_std": np.full(3, 0.5)})
    assert wide.best("1se") == pytest.approx(0.125)


def test_a_path_without_cross_validation_has_no_best_alpha(tree):
    with pytest.raises(ParameterError, match="best needs cross-validated errors"):
        cost_complexity_path(tree).best()


def test_the_plot_shows_risk_and_error_against_size(tree, validated):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    plain = cost_complexity_path(tree).plot()
    assert plain.lines[0].get_xdata().tolist() == [4, 3, 1]
    np.testing.assert_allclose(plain.lines[0].get_ydata(), [0.2, 0.25, 0.5])
    both = validated.plot()
    np.testing.assert_allclose(both.lines[0].get_ydata(), [0.4, 0.5, 1.0])
    assert [t.get_text() for t in both.get_legend().get_texts()] == ["training", "cross-validated"]
