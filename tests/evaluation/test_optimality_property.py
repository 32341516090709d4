"""No tree that our learners grow is below the bound, and the bound is that of trying all trees."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw

SHOWN = {
    "cart": tw.CARTClassifier,
    "hunt": tw.HuntClassifier,
    "surrogates": lambda max_depth: tw.CARTClassifier(max_depth=max_depth, missing="surrogate"),
    "chaid": lambda max_depth: tw.CHAIDClassifier(
        max_depth=max_depth, alpha_split=1.0, min_samples_split=2, min_samples_leaf=1
    ),
    "c45": lambda max_depth: tw.C45Classifier(min_samples_leaf=1, pruning=None),
    "ctree": lambda max_depth: tw.CTreeClassifier(max_depth=max_depth, alpha=0.9),
}


def bipartitions(column: pd.Series) -> set[int]:
    """Tests of a column, as bits of the rows that go left; rows with gaps go either way."""
    is_gap = column.isna().to_numpy()
    if isinstance(column.dtype, pd.CategoricalDtype):
        levels = [column.to_numpy() == level for level in column.cat.categories]
        sides = [
            np.any([levels[i] for i in chosen], axis=0)
            for size in range(1, len(levels) + 1)
            for chosen in itertools.combinations(range(len(levels)), size)
        ]
    else:
        sides = [column.to_numpy() <= value for value in np.unique(column.dropna())]
    masks = [mask for side in sides for mask in (side & ~is_gap, side | is_gap)]
    return {sum(1 << i for i in np.flatnonzero(mask).tolist()) for mask in masks}


def least(tests: set[int], leaf, n_rows: int, depth: int) -> float:
    """What the best tree of a depth costs, by trying them all."""

    @cache
    def best(rows: int, levels: int) -> float:
        found = leaf(rows)
        if levels:
            for test in tests:
                left, right = rows & test, rows & ~test
                if left and right:
                    found = min(found, best(left, levels - 1) + best(right, levels - 1))
        return found

    return best((1 << n_rows) - 1, depth)


def chosen(rows: int, n_rows: int) -> np.ndarray:
    return np.array([rows >> i & 1 for i in range(n_rows)], bool)


rows = st.tuples(
    st.sampled_from([np.nan, np.nan, 0.0, 1.0, 2.0]),
    st.sampled_from([None, "a", "b", "c"]),
    st.sampled_from([np.nan, 5.0]),
    st.integers(0, 2),
    st.integers(1, 3),
)
tables = st.lists(rows, min_size=2, max_size=14)


def parts(table):
    frame = pd.DataFrame(table, columns=["number", "category", "constant", "y", "weight"])
    X = frame[["number", "category", "constant"]].astype({"category": "category"})
    tests = set().union(*(bipartitions(X[name]) for name in X))
    return X, frame["y"].to_numpy(), frame["weight"].to_numpy(float), tests


@settings(max_examples=20, deadline=None)
@given(tables, st.integers(1, 3), st.booleans())
def test_brute_force_finds_no_better_tree_of_classes_with_gaps(table, depth, weighted):
    X, y, weight, tests = parts(table)
    if not weighted:
        weight = np.ones(len(y))

    def errors(bits: int) -> float:
        in_leaf = chosen(bits, len(y))
        return weight[in_leaf].sum() - np.bincount(y[in_leaf], weight[in_leaf]).max()

    best = least(tests, errors, len(y), depth)
    model = tw.OptimalTreeClassifier(max_depth=depth, leaf_penalty=0.0)
    model.fit(X, y, sample_weight=weight)
    assert weight[model.predict(X) != y].sum() == best
    assert model.optimality_gap_ == 0.0
    for make in SHOWN.values():
        shown = make(max_depth=depth).fit(X, y, sample_weight=weight)
        gap = tw.optimality_gap(shown, X, y, weight, max_depth=depth)
        assert gap.is_proven
        assert gap.best_error == best
        assert gap.best_error <= gap.error or gap.outside


@settings(max_examples=20, deadline=None)
@given(tables, st.integers(1, 3), st.booleans())
def test_brute_force_finds_no_better_tree_of_numbers_with_gaps(table, depth, weighted):
    X, y, weight, tests = parts(table)
    y = y + np.linspace(0, 0.5, len(y))
    if not weighted:
        weight = np.ones(len(y))

    def squares(bits: int) -> float:
        in_leaf = chosen(bits, len(y))
        mean = np.average(y[in_leaf], weights=weight[in_leaf])
        return float((weight[in_leaf] * (y[in_leaf] - mean) ** 2).sum())

    best = least(tests, squares, len(y), depth) / weight.sum()
    model = tw.OptimalTreeRegressor(max_depth=depth).fit(X, y, sample_weight=weight)
    assert model.objective_ == pytest.approx(best, abs=1e-9)
    shown = tw.CARTRegressor(max_depth=depth).fit(X, y, sample_weight=weight)
    gap = tw.optimality_gap(shown, X, y, weight, max_depth=depth)
    assert not gap.outside
    assert gap.is_proven
    assert gap.lower_bound == pytest.approx(best, abs=1e-9)
    assert gap.lower_bound <= gap.best_error <= gap.error
