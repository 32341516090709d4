"""What estimators take, and what they refuse in one sentence."""

from __future__ import annotations

import multiprocessing
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from tests.contract.estimators import (
    has_tree,
    is_ensemble,
    predictions,
    seed,
    target_for,
    tells_classes_apart,
    trees,
    uses_folds,
)
from treewright.errors import (
    DataError,
    ExtraColumnsWarning,
    ParameterError,
    SchemaError,
    TreewrightError,
)


def is_one_sentence(error: BaseException) -> bool:
    text = str(error)
    return "\n" not in text and re.search(r"[.;:]\s+[A-Z]", text) is None and text.endswith(".")


def test_gaps_everywhere_are_no_obstacle(estimator: Any, columns: dict[str, Any]) -> None:
    y = target_for(estimator, columns)
    X = pd.DataFrame(columns)
    X["empty"] = np.nan
    model = estimator.fit(X, y)
    nothing = pd.DataFrame({name: [None, None] for name in X}, dtype=object)
    says = predictions(model, nothing)
    assert np.all(np.isfinite(says))
    assert_array_equal(says[0], says[1])


def test_an_unseen_category_counts_as_a_gap(estimator: Any, columns: dict[str, Any]) -> None:
    model = estimator.fit(columns, target_for(estimator, columns))
    row = {"age": [30.0], "income": [20.0], "colour": ["purple"], "member": [True]}
    gap = {**row, "colour": [None]}
    assert_array_equal(predictions(model, row), predictions(model, gap))


def test_extra_columns_are_ignored_with_a_warning(plain: Any, columns: dict[str, Any]) -> None:
    model = plain.fit(columns, target_for(plain, columns))
    with pytest.warns(ExtraColumnsWarning, match="'shoe'"):
        says = predictions(model, {"shoe": np.zeros(120), **columns})
    assert_array_equal(says, predictions(model, columns))


def test_missing_columns_are_an_error_that_names_them(plain: Any, columns: dict[str, Any]) -> None:
    model = plain.fit(columns, target_for(plain, columns))
    del columns["colour"]
    with pytest.raises(SchemaError, match="'colour'") as caught:
        model.predict(columns)
    assert is_one_sentence(caught.value)


def test_a_single_row_is_enough(estimator: Any) -> None:
    if uses_folds(estimator) or tells_classes_apart(estimator):
        pytest.skip("folds need rows, boosted classes need two of them")
    if getattr(estimator, "early_stopping", False) is True:
        pytest.skip("early stopping sets rows aside")
    y = ["a"] if is_classifier(estimator) else [2.5]
    model = estimator.fit([[1.0, 2.0]], y)
    assert all(tree.n_leaves == 1 and tree.depth == 0 for tree in trees(model))
    assert model.predict([[5.0, np.nan]])[0] == y[0]
    if hasattr(model, "feature_importances_"):
        assert_array_equal(model.feature_importances_, [0.0, 0.0])


def test_constant_features_make_a_root(estimator: Any) -> None:
    y = np.array(["a", "b", "b"] * 10) if is_classifier(estimator) else np.arange(30.0)
    model = estimator.fit({"x": np.ones(30), "c": ["same"] * 30}, y)
    assert all(tree.n_nodes == 1 for tree in trees(model))


def test_a_constant_target_makes_a_root(estimator: Any, columns: dict[str, Any]) -> None:
    if tells_classes_apart(estimator):
        with pytest.raises(DataError, match="at least two classes, got one class, 'only'"):
            estimator.fit(columns, np.array(["only"] * 120))
        return
    y = np.array(["only"] * 120 if is_classifier(estimator) else [7.0] * 120)
    model = estimator.fit(columns, y)
    assert all(tree.n_nodes == 1 for tree in trees(model))
    assert_array_equal(model.predict(columns), y)
    if is_classifier(estimator):
        assert_array_equal(model.predict_proba(columns), np.ones((120, 1)))


def test_rows_of_weight_zero_do_not_exist(plain: Any, columns: dict[str, Any]) -> None:
    y = target_for(plain, columns)
    weight = np.ones(120)
    weight[:30] = 0
    columns["colour"][:30] = "only here"
    seed(plain)
    model = clone(plain).fit(columns, y, sample_weight=weight)
    for tree in trees(model):
        assert "only here" not in tree.schema.features[2].categories
    rest = {name: values[30:] for name, values in columns.items()}
    without = clone(plain).fit(rest, y[30:], sample_weight=weight[30:])
    assert_array_equal(predictions(model, rest), predictions(without, rest))


def leaves_and_paths(model: Any, X: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Every tree with the leaf of each row and the nodes on its way."""
    if not hasattr(model, "apply"):
        return
    if not is_ensemble(model):
        yield model.tree_, model.apply(X), model.decision_path(X)
        return
    leaves = model.apply(X)
    path, offset = model.decision_path(X)
    for k, tree in enumerate(trees(model)):
        yield tree, leaves[:, k], path[:, offset[k] : offset[k + 1]].tocsr()


def test_paths_end_in_the_leaves_that_apply_gives(plain: Any, columns: dict[str, Any]) -> None:
    if not has_tree(plain):
        pytest.skip("it has no leaves")
    model = plain.fit(columns, target_for(plain, columns))
    for tree, leaves, path in leaves_and_paths(model, columns):
        assert path.shape == (120, tree.n_nodes)
        assert np.all(tree.first_child[leaves] < 0)
        for row, leaf in enumerate(leaves):
            visited = path.indices[path.indptr[row] : path.indptr[row + 1]]
            assert 0 in visited
            ends = visited[tree.first_child[visited] < 0]
            assert leaf in ends
            assert len(ends) == 1 or tree.is_fractional


BAD_DATA = {
    "one dimension": (lambda X, y: (np.arange(120.0), y), "two-dimensional"),
    "no rows": (lambda X, y: (np.empty((0, 3)), y[:0]), "0 sample"),
    "no columns": (lambda X, y: (np.empty((120, 0)), y), "0 feature"),
    "infinity": (lambda X, y: (np.full((120, 2), np.inf), y), "infinit"),
    "sparse": (lambda X, y: (csr_array(np.full((120, 2), np.inf)), y), "infinit"),
    "sparse target": (lambda X, y: (X, csr_array(np.ones((120, 1)))), "y must be dense"),
    "fewer targets": (lambda X, y: (X, y[:-1]), "rows"),
    "no target": (lambda X, y: (X, None), "y"),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_are_refused_in_one_sentence(
    plain: Any, columns: dict[str, Any], case: str
) -> None:
    spoil, match = BAD_DATA[case]
    X, y = spoil(columns, target_for(plain, columns))
    with pytest.raises(DataError, match=match) as caught:
        plain.fit(X, y)
    assert is_one_sentence(caught.value)


@pytest.mark.parametrize(
    "weight",
    [np.full(120, -1.0), np.full(120, np.nan), np.full(120, np.inf), np.zeros(120), np.ones(7)],
    ids=["negative", "nan", "infinite", "all zero", "too short"],
)
def test_bad_weights_are_refused_in_one_sentence(
    plain: Any, columns: dict[str, Any], weight: Any
) -> None:
    with pytest.raises(DataError, match="sample_weight") as caught:
        plain.fit(columns, target_for(plain, columns), sample_weight=weight)
    assert is_one_sentence(caught.value)


def test_every_parameter_refuses_a_stranger_in_one_sentence(
    plain: Any, columns: dict[str, Any]
) -> None:
    stranger = type("Stranger", (), {})()
    y = target_for(plain, columns)
    for name in plain.get_params(deep=False):
        with pytest.raises(ParameterError, match=f"^{name} must be ") as caught:
            clone(plain).set_params(**{name: stranger}).fit(columns, y)
        assert is_one_sentence(caught.value)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 0},
        {"min_samples_split": 1},
        {"min_samples_leaf": 0},
        {"min_weight_fraction_leaf": 0.6},
        {"max_features": "cube"},
        {"max_leaf_nodes": 1},
        {"min_impurity_decrease": -1.0},
        {"missing": "guess"},
        {"n_jobs": 0},
        {"ccp_alpha": -0.1},
        {"ccp_alpha": 0.1, "cp": 0.1},
        {"pruning": None, "ccp_alpha": 0.1},
        {"pruning": lambda tree: None},
        {"cp": "cv", "cv": 1000},
        {"cp": "cv", "cv": [([0, 1], [5000])]},
        {"cp": "cv", "cv": [1, 2, 3]},
        {"categorical_features": ["nowhere"]},
        {"ordinal_features": {"nowhere": [1, 2]}},
        {"monotonic_cst": [1]},
        {"monotonic_cst": {"nowhere": 1}},
        {"monotonic_cst": {"age": 7}},
    ],
    ids=lambda parameters: re.sub(r" at 0x[0-9a-f]+", "", str(parameters)),
)
def test_bad_parameters_are_refused_in_one_sentence(
    plain: Any, columns: dict[str, Any], parameters: dict[str, Any]
) -> None:
    if not parameters.keys() <= plain.get_params().keys():
        pytest.skip("not a parameter of this one")
    with pytest.raises(ParameterError) as caught:
        plain.set_params(**parameters).fit(columns, target_for(plain, columns))
    assert is_one_sentence(caught.value)


def test_an_unfitted_estimator_says_so(plain: Any, columns: dict[str, Any]) -> None:
    for name in ("predict", "apply", "decision_path"):
        if hasattr(type(plain), name):
            with pytest.raises(NotFittedError):
                getattr(plain, name)(columns)
    for name in ("get_depth", "get_n_leaves", "summary"):
        if hasattr(type(plain), name):
            with pytest.raises(NotFittedError):
                getattr(plain, name)()


def test_a_failed_fit_leaves_the_last_model(plain: Any, columns: dict[str, Any]) -> None:
    y = target_for(plain, columns)
    model = plain.fit(columns, y)
    before = predictions(model, columns)
    with pytest.raises(TreewrightError):
        model.fit(columns, y[:-1])
    assert_array_equal(predictions(model, columns), before)


def test_fit_and_predict_are_silent(plain: Any, columns: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain.fit(columns, target_for(plain, columns)).predict(columns)


def _fit_in_child(estimator: Any, columns: dict[str, Any], y: Any) -> np.ndarray:
    return predictions(clone(estimator).fit(columns, y), columns)


def test_a_forked_child_can_fit_after_threads_were_used(
    plain: Any, columns: dict[str, Any]
) -> None:
    y = target_for(plain, columns)
    plain.set_params(n_jobs=2)
    seed(plain)
    here = _fit_in_child(plain, columns, y)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.apply_async(_fit_in_child, (plain, columns, y)).get(timeout=60)
    assert_array_equal(here, there)
