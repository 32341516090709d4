"""The same optimum as pystreed, where it is installed."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from tests.oracle.binary_data import bundled_table
from tests.oracle.recorded import load_data

pystreed = pytest.importorskip("pystreed", reason="an optional peer (treewright[bench])")


@pytest.mark.parametrize("name", ["iris", "titanic"])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_neither_finds_fewer_errors(name, depth):
    X, y = bundled_table(name)
    theirs = pystreed.STreeDClassifier("accuracy", max_depth=depth, max_num_nodes=2**depth - 1)
    ours = tw.OptimalTreeClassifier(max_depth=depth, leaf_penalty=0.0).fit(X, y)
    wrong = np.count_nonzero(theirs.fit(X, y).predict(X) != y)
    assert np.count_nonzero(ours.predict(X) != y) == wrong


@pytest.mark.parametrize("name", ["autoprice", "mtcars", "trees"])
def test_neither_finds_a_smaller_squared_error(shared_dir, name):
    X, y, _ = load_data(shared_dir, name)
    numbers = X.to_numpy(float)
    marks = np.quantile(numbers, [0.25, 0.5, 0.75], axis=0)
    table = np.column_stack([numbers > row for row in marks]).astype(int)
    table = np.unique(table[:, table.std(axis=0) > 0], axis=1)
    theirs = pystreed.STreeDRegressor("regression", max_depth=2, max_num_nodes=3).fit(table, y)
    ours = tw.OptimalTreeRegressor(max_depth=2).fit(table, y)
    error = ((theirs.predict(table) - y) ** 2).mean()
    assert ours.objective_ == pytest.approx(error, rel=1e-6)
