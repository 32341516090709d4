"""Hunt: the recipe in the user's hands, own criteria among it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris

from treewright import CARTClassifier, CARTRegressor, HuntClassifier, HuntRegressor, ID3Classifier
from treewright.datasets import load_play_tennis
from treewright.errors import ModelFileError, ParameterError
from treewright.tree.split import SplitKind


@pytest.fixture(scope="module")
def tennis() -> tuple[Any, Any]:
    data = load_play_tennis()
    return data.data, data.target


def test_with_its_defaults_it_is_cart() -> None:
    X, y = load_iris(return_X_y=True)
    hunt, cart = HuntClassifier().fit(X, y), CARTClassifier().fit(X, y)
    assert_array_equal(hunt.tree_.splits.breaks, cart.tree_.splits.breaks)
    X, y = load_diabetes(return_X_y=True)
    hunt, cart = HuntRegressor(max_depth=5).fit(X, y), CARTRegressor(max_depth=5).fit(X, y)
    assert_array_equal(hunt.tree_.splits.breaks, cart.tree_.splits.breaks)


def test_multiway_tests_have_a_branch_per_category(tennis: Any) -> None:
    model = HuntClassifier(criterion="entropy", nominal_split="multiway").fit(*tennis)
    tree = model.tree_
    names = tree.schema.names
    assert names[tree.splits.feature[0]].lower() == "outlook"
    assert tree.n_children[0] == 3
    assert tree.n_leaves == 5
    assert_array_equal(model.predict(tennis[0]), np.asarray(tennis[1]))


def test_subsets_have_two_branches(tennis: Any) -> None:
    tree = HuntClassifier(nominal_split="subset").fit(*tennis).tree_
    assert set(tree.n_children[tree.first_child >= 0]) == {2}


def test_ordinal_features_may_be_cut_or_spread() -> None:
    X = {"size": ["S", "M", "L", "S", "M", "L"]}
    y = [0, 1, 0, 0, 1, 0]
    order = {"size": ["S", "M", "L"]}
    cut = HuntClassifier(ordinal_features=order).fit(X, y).tree_
    assert cut.n_children[0] == 2
    spread = HuntClassifier(ordinal_features=order, ordinal_split="multiway").fit(X, y).tree_
    assert spread.n_children[0] == 3


def test_a_value_on_the_midpoint_goes_by_the_kind_of_cut() -> None:
    X, y = [[1.0], [3.0]], [0, 1]
    assert HuntClassifier(continuous_split="below").fit(X, y).predict([[2.0]])[0] == 1
    assert HuntClassifier(continuous_split="at_most").fit(X, y).predict([[2.0]])[0] == 0


def test_without_a_majority_a_gap_may_stop_at_the_node() -> None:
    X = [[1.0], [2.0], [3.0], [4.0], [5.0]]
    y = [0, 0, 0, 1, 1]
    stop = HuntClassifier(missing="surrogate", surrogate_fallback="stop").fit(X, y)
    assert_allclose(stop.predict_proba([[np.nan]]), [[0.6, 0.4]])
    go = HuntClassifier(missing="surrogate").fit(X, y)
    assert_allclose(go.predict_proba([[np.nan]]), [[1.0, 0.0]])


def own_gini(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Decrease of Gini's index."""
    gain = -((left + right) ** 2).sum(axis=1) / (left + right).sum(axis=1)
    for side in (left, right):
        gain = gain + (side**2).sum(axis=1) / side.sum(axis=1)
    return gain / (left + right).sum(axis=1)


def test_an_own_criterion_may_be_a_python_function() -> None:
    X, y = load_iris(return_X_y=True)
    ours = HuntClassifier(criterion=own_gini, max_depth=3).fit(X, y)
    gini = HuntClassifier(criterion="gini", max_depth=3).fit(X, y)
    assert_array_equal(ours.tree_.splits.feature, gini.tree_.splits.feature)
    assert_array_equal(ours.tree_.splits.breaks, gini.tree_.splits.breaks)


def test_an_own_criterion_may_be_compiled() -> None:
    numba = pytest.importorskip("numba")
    pointer = numba.types.CPointer(numba.types.float64)

    @numba.cfunc(numba.types.float64(pointer, pointer, numba.types.int64))
    def compiled(left: Any, right: Any, n: Any) -> Any:
        a = b = squares_a = squares_b = squares = 0.0
        for i in range(n):
            a += left[i]
            b += right[i]
            squares_a += left[i] ** 2
            squares_b += right[i] ** 2
            squares += (left[i] + right[i]) ** 2
        return (squares_a / a + squares_b / b - squares / (a + b)) / (a + b)

    X, y = load_iris(return_X_y=True)
    ours = HuntClassifier(criterion=compiled, max_depth=3).fit(X, y)
    gini = HuntClassifier(criterion="gini", max_depth=3).fit(X, y)
    assert_array_equal(ours.tree_.splits.feature, gini.tree_.splits.feature)
    assert_array_equal(ours.tree_.splits.breaks, gini.tree_.splits.breaks)


def test_an_own_criterion_for_numbers_sees_weight_sum_and_squares() -> None:
    def variance(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        def scatter(side: np.ndarray) -> np.ndarray:
            return side[:, 2] - side[:, 1] ** 2 / side[:, 0]

        return scatter(left + right) - scatter(left) - scatter(right)

    X, y = load_diabetes(return_X_y=True)
    ours = HuntRegressor(criterion=variance, max_depth=3).fit(X, y)
    theirs = HuntRegressor(max_depth=3).fit(X, y)
    assert_array_equal(ours.tree_.splits.feature, theirs.tree_.splits.feature)
    assert_array_equal(ours.tree_.splits.breaks, theirs.tree_.splits.breaks)


@pytest.mark.parametrize(
    "wrong",
    [lambda left, right: 1.0, lambda left, right: left, lambda left, right: None],
    ids=["a number", "a matrix", "nothing"],
)
def test_an_own_criterion_must_return_one_number_per_cut(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="one number for each of the 1 cuts"):
        HuntClassifier(criterion=wrong).fit([[1.0], [2.0]], [0, 1])


def test_an_error_in_an_own_criterion_reaches_the_user() -> None:
    def broken(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        HuntClassifier(criterion=broken).fit([[1.0], [2.0]], [0, 1])


def test_an_own_criterion_cannot_be_constrained_or_saved(tmp_path: Any) -> None:
    import treewright

    with pytest.raises(ParameterError, match="function"):
        HuntClassifier(criterion=own_gini, monotonic_cst=[1]).fit([[1.0], [2.0]], [0, 1])
    model = HuntClassifier(criterion=own_gini).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ModelFileError, match="criterion"):
        treewright.save(model, tmp_path / "model")


def test_trees_with_multiway_nodes_are_pruned_too(tennis: Any) -> None:
    model = HuntClassifier(criterion="entropy", nominal_split="multiway", cp=0.3).fit(*tennis)
    assert SplitKind.CODES in model.tree_.splits.kind or model.tree_.n_nodes == 1
    assert model.get_n_leaves() < 5


def test_a_criterion_of_two_sides_is_refused_where_a_node_may_have_more():
    with pytest.raises(ValueError, match='nominal_split="multiway" makes more than two branches'):
        HuntClassifier(criterion=lambda left, right: left[:, 0], nominal_split="multiway").fit(
            {"a": ["x", "y", "z", "x"]}, [0, 1, 0, 1]
        )


def test_gaps_may_make_a_branch_of_a_category_without_events() -> None:
    X = {"g": [None] * 6 + ["a", None, "b"]}
    y = np.array([0.0] * 7 + [1.0, 1.0])
    tree = HuntRegressor(criterion="poisson", nominal_split="multiway").fit(X, y).tree_
    assert tree.n_samples.tolist() == [9, 8, 1]
    assert tree.gain[0] == pytest.approx(0.10319036131919025, rel=1e-12)


def test_shares_of_a_divided_row_add_up_to_one_at_most():
    X = {
        "a": [
            "green",
            "red",
            "blue",
            "green",
            "red",
            "green",
            "red",
            "green",
            None,
            "green",
            "red",
        ],
        "b": [0.36, 0.31, 0.51, -3.0, 0.44, 0.28, 0.05, 2.95, 0.13, -1.23, 0.4],
        "c": ["green", "green", None, None, "red", "green", "red", "red", "green", "red", "blue"],
    }
    y = ["yes"] * 3 + ["no"] + ["yes"] * 5 + ["no"] * 2
    model = ID3Classifier(discretize="equal_width").fit(X, y)
    assert model.predict_proba(X).max() == 1.0
