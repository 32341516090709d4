"""Sparse matrices are tables of zeros with some entries."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array, csc_matrix, csr_array, hstack

import treewright
from treewright.data.encode import encode
from treewright.data.sparse import SparseTable
from treewright.errors import DataError, ParameterError, SchemaError


def one_hot(n: int = 300, seed: int = 0) -> tuple[csr_array, Any]:
    """Two features one-hot and three columns of rare numbers, some of them gaps."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, k, n) for k in (5, 25)]
    parts = [csr_array((np.ones(n), (np.arange(n), c)), shape=(n, 25)) for c in codes]
    rare = np.where(rng.random((n, 3)) < 0.2, rng.normal(size=(n, 3)), 0.0)
    rare[rng.random((n, 3)) < 0.02] = np.nan
    y = ((codes[0] == 1) | (codes[1] > 18) | (rare[:, 0] > 0.3)).astype(int)
    return csr_array(hstack([*parts, csr_array(rare)])), y ^ (rng.random(n) < 0.1)


@pytest.mark.parametrize("kind", [csr_array, csc_matrix, coo_array])
def test_a_sparse_table_has_the_columns_of_the_dense_one(kind: Any) -> None:
    X, _ = one_hot()
    table = encode(kind(X))
    assert isinstance(table, SparseTable)
    dense = encode(X.toarray())
    assert_array_equal(np.column_stack(table.columns), X.toarray())
    assert_array_equal(table.has_gaps, dense.has_gaps)
    assert table.schema == dense.schema
    rows = np.array([5, 2, 2, 90])
    assert_array_equal(np.column_stack(table.take(rows).columns), X.toarray()[rows])
    again = pickle.loads(pickle.dumps(table))
    assert_array_equal(np.column_stack(again.columns), X.toarray())


@pytest.mark.parametrize("growth", ["leaf", "symmetric"])
def test_sparse_columns_of_one_value_and_gaps_are_learned(growth: str) -> None:
    gap = np.random.default_rng(0).random((300, 3)) < 0.3
    gap[:, 1] &= ~gap[:, 0]  # so that the two share a byte
    X = np.where(gap, np.nan, [0.0, 0.0, 4.0])
    y = 2.0 * gap[:, 0] + gap[:, 1] - gap[:, 2]
    model = treewright.GradientBoostingRegressor(growth=growth, n_estimators=30, random_state=0)
    dense = model.fit(X, y).predict(X)
    assert np.abs(dense - y).max() < 0.6
    assert_array_equal(model.fit(csc_matrix(X), y).predict(X), dense)


def test_entries_that_come_twice_are_added_up() -> None:
    X = coo_array((np.array([1.0, 2.0]), (np.array([0, 0]), np.array([1, 1]))), shape=(2, 2))
    assert_array_equal(np.column_stack(encode(X).columns), [[0, 3], [0, 0]])


@pytest.mark.parametrize(
    "model",
    [
        treewright.CARTClassifier(),
        treewright.RandomForestClassifier(n_estimators=5, random_state=0),
        treewright.GradientBoostingClassifier(n_estimators=12, random_state=0),
        treewright.GradientBoostingClassifier(n_estimators=6, random_state=0, growth="symmetric"),
        treewright.GradientBoostingClassifier(
            n_estimators=8, random_state=0, subsample=0.7, sampling="mvs", early_stopping=True
        ),
    ],
)
def test_a_model_of_sparse_rows_is_that_of_dense_ones(model: Any) -> None:
    X, y = one_hot()
    model.fit(X, y)
    sparse = model.predict_proba(X)
    assert_array_equal(sparse, model.predict_proba(X.toarray()))
    model.fit(X.toarray(), y)
    assert_array_equal(sparse, model.predict_proba(X))


def test_an_eval_set_may_be_sparse_or_dense() -> None:
    X, y = one_hot()
    scores = []
    for a, b in ((X, X), (X, X.toarray()), (X.toarray(), X.toarray())):
        model = treewright.GradientBoostingClassifier(n_estimators=10, random_state=0)
        model.fit(a[:200], y[:200], eval_set=(b[200:], y[200:]))
        scores.append(model.validation_score_.tolist())
    assert scores[0] == scores[1] == scores[2]


def test_bad_sparse_input_is_refused_in_one_sentence() -> None:
    X, y = one_hot()
    model = treewright.GradientBoostingClassifier(n_estimators=2)
    with pytest.raises(ParameterError, match="dense X"):
        model.set_params(categorical_features=[0]).fit(X, y)
    model.set_params(categorical_features="from_dtype").fit(X, y)
    with pytest.raises(SchemaError, match="expecting 53"):
        model.predict(X[:, :7])
    infinite = X.copy()
    infinite.data[0] = np.inf
    with pytest.raises(DataError, match="infinit"):
        model.predict(infinite)
    with pytest.raises(DataError, match="numbers"):
        model.fit(X.astype(complex), y)
    named = treewright.CARTClassifier().fit({"a": ["x", "y"] * 20, "b": np.arange(40)}, y[:40])
    with pytest.raises(SchemaError, match="frame"):
        named.predict(csr_array(np.eye(2)))
