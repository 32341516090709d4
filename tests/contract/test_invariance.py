"""What must not change a model: weights against repeats, order, frames, threads, copies."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import treewright
from tests.contract.estimators import (
    draws_rows,
    has_tree,
    is_team,
    predictions,
    seed,
    target_for,
    trees,
    uses_folds,
)


def same_tree(left: Any, right: Any, rtol: float = 0.0) -> None:
    """The same splits, and the same values up to ``rtol``, in every tree; or the same terms."""
    if is_team(type(left).__name__):
        for one, other in zip(left.estimators_, right.estimators_, strict=True):
            same_tree(one, other, rtol)
        return
    if not has_tree(left):
        assert left.basis_.terms == right.basis_.terms
        assert_allclose(left.coefficients_, right.coefficients_, rtol=rtol, atol=rtol)
    for one, other in zip(trees(left), trees(right), strict=True):
        assert_array_equal(one.first_child, other.first_child)
        for name, array in one.splits.arrays().items():
            assert_array_equal(array, getattr(other.splits, name), err_msg=name)
        assert_array_equal(one.default, other.default)
        assert_allclose(one.value, other.value, rtol=rtol, atol=rtol)


def same_leaves(left: Any, right: Any, X: Any) -> None:
    """Every row ends in the same leaf, where members are plain trees."""
    is_mixed = hasattr(left, "_body") and not hasattr(left._body, "forest")
    if is_mixed or not hasattr(left, "apply"):
        return
    assert_array_equal(left.apply(X), right.apply(X))


def test_whole_weights_equal_repeated_rows(estimator: Any, columns: dict[str, Any]) -> None:
    if type(estimator).__name__.startswith("Hoeffding"):
        pytest.skip("the second of two equal rows is answered after the first was learned")
    if uses_folds(estimator) or draws_rows(estimator):
        pytest.skip("folds and draws pick rows, and a repeated row is two of them")
    if getattr(estimator, "missing", "") == "surrogate":
        pytest.skip("a surrogate must move two rows each way, as in rpart, whatever they weigh")
    if getattr(estimator, "variant", "") == "j48":
        pytest.skip("J48 counts rows where it asks how many known values a cut has")
    X, y = pd.DataFrame(columns), target_for(estimator, columns)
    weight = np.random.default_rng(5).integers(0, 4, len(y))
    where = np.repeat(np.arange(len(y)), weight)
    seed(estimator)
    weighted = clone(estimator).fit(X, y, sample_weight=weight)
    repeated = clone(estimator).fit(X.iloc[where], y[where])
    same_leaves(weighted, repeated, X)
    # Sums of squares of floats are rounded in their own order where there is no tree.
    rtol = 1e-12 if has_tree(estimator) else 1e-6
    assert_allclose(predictions(weighted, X), predictions(repeated, X), rtol=rtol)


WEIGHTS = {
    "two and three": lambda rng, n: rng.choice([2.0, 3.0], n),
    "counts": lambda rng, n: rng.integers(1, 5, n).astype(float),
    "decimals": lambda rng, n: rng.uniform(0.5, 2.0, n).round(2),
    "all alike": lambda rng, n: np.full(n, 7.0),
    "any": lambda rng, n: rng.uniform(0.5, 2.0, n),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_the_scale_of_weights_changes_nothing(
    estimator: Any, columns: dict[str, Any], kind: str
) -> None:
    if getattr(estimator, "adjust", "") == "monte_carlo" and kind not in ("counts", "all alike"):
        pytest.skip("rows are repeated by their weights, and weights that are no counts refused")
    y = target_for(estimator, columns)
    weight = WEIGHTS[kind](np.random.default_rng(6), len(y))
    seed(estimator)
    one = predictions(clone(estimator).fit(columns, y, sample_weight=weight), columns)
    for scale in (1e-3, 0.37, 1e6):
        other = clone(estimator).fit(columns, y, sample_weight=scale * weight)
        assert_allclose(one, predictions(other, columns), rtol=1e-9, atol=1e-12)


def test_order_of_rows_changes_nothing(estimator: Any, columns: dict[str, Any]) -> None:
    if type(estimator).__name__.startswith("Hoeffding"):
        pytest.skip("a stream is learned in its order")
    if uses_folds(estimator) or draws_rows(estimator):
        pytest.skip("folds and samples are drawn by row number")
    X, y = pd.DataFrame(columns), target_for(estimator, columns)
    order = np.random.default_rng(2).permutation(len(y))
    seed(estimator)
    straight = clone(estimator).fit(X, y)
    shuffled = clone(estimator).fit(X.iloc[order], y[order])
    # Shares of rows that went down several branches are products of rounded numbers.
    fractional = getattr(estimator, "missing", "") == "fractional"
    exact = 0.0 if has_tree(estimator) else 1e-6
    same_tree(straight, shuffled, rtol=1e-12 if fractional else exact)


def test_columns_are_matched_by_name_at_prediction(estimator: Any, columns: dict[str, Any]) -> None:
    X, y = pd.DataFrame(columns), target_for(estimator, columns)
    model = estimator.fit(X, y)
    assert_array_equal(predictions(model, X), predictions(model, X[X.columns[::-1]]))


def test_all_frames_give_the_same_model(estimator: Any, columns: dict[str, Any]) -> None:
    y = target_for(estimator, columns)
    frames = [
        columns,
        pd.DataFrame(columns),
        pl.DataFrame(columns, nan_to_null=True),
        pa.Table.from_pandas(pd.DataFrame(columns)),
    ]
    seed(estimator)
    models = [clone(estimator).fit(frame, y) for frame in frames]
    for model, frame in zip(models[1:], frames[1:], strict=True):
        same_tree(models[0], model)
        assert_array_equal(predictions(models[0], columns), predictions(models[0], frame))


def test_threads_do_not_change_the_model(estimator: Any, columns: dict[str, Any]) -> None:
    y = target_for(estimator, columns)
    seed(estimator)
    one = clone(estimator).set_params(n_jobs=1).fit(columns, y)
    two = clone(estimator).set_params(n_jobs=2).fit(columns, y)
    same_tree(one, two)
    assert_array_equal(predictions(one, columns), predictions(two, columns))


@pytest.mark.parametrize("route", ["pickle", "joblib", "file"])
def test_a_copy_says_the_same(
    estimator: Any, columns: dict[str, Any], route: str, tmp_path: Any
) -> None:
    model = estimator.fit(columns, target_for(estimator, columns))
    if route == "pickle":
        copy = pickle.loads(pickle.dumps(model))
    elif route == "joblib":
        buffer = io.BytesIO()
        joblib.dump(model, buffer)
        copy = joblib.load(io.BytesIO(buffer.getvalue()))
    else:
        treewright.save(model, tmp_path / "model")
        copy = treewright.load(tmp_path / "model")
    same_tree(model, copy)
    assert repr(copy) == repr(model)
    assert_array_equal(copy.predict(columns), model.predict(columns))
    assert_array_equal(copy.feature_names_in_, model.feature_names_in_)
    if hasattr(model, "feature_importances_"):
        assert_array_equal(copy.feature_importances_, model.feature_importances_)
    if hasattr(model, "cp_table_"):
        assert str(copy.cp_table_) == str(model.cp_table_)


def held(value: Any) -> Iterator[Any]:
    """What skops writes of an object: the arguments of its constructor, or its state."""
    yield value
    parts: Any = ()
    if isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, list | tuple | set):
        parts = value
    elif type(value).__module__.startswith(("treewright", "sklearn")):
        constructor, arguments = value.__reduce__()[:2]
        parts = (arguments if constructor is type(value) else value.__getstate__(),)
    for part in parts:
        yield from held(part)


def test_what_a_model_keeps_has_no_compiled_part(estimator: Any, columns: dict[str, Any]) -> None:
    model = estimator.fit(columns, target_for(estimator, columns))
    model.predict(columns)
    assert not {type(part) for part in held(model) if type(part).__module__.endswith("_core")}


def test_fitting_twice_forgets_the_first_time(estimator: Any, columns: dict[str, Any]) -> None:
    y = target_for(estimator, columns)
    seed(estimator)
    fresh = clone(estimator).fit(columns, y)
    used = clone(estimator).fit(np.arange(20.0).reshape(-1, 1), y[:20]).fit(columns, y)
    same_tree(fresh, used)
    assert vars(fresh).keys() == vars(used).keys()
    bare = used.fit(np.arange(20.0).reshape(-1, 1), y[:20])
    assert not hasattr(bare, "feature_names_in_")
