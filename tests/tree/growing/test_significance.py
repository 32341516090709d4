"""Tests of independence at the nodes against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.pruning.arbitrary_trees import counted_tree
from treewright import CARTRegressor
from treewright.tree.growing.significance import fisher_exact, split_p_values


@pytest.mark.parametrize("seed", range(20))
def test_fisher_equals_scipy(seed):
    rng = np.random.default_rng(seed)
    tables = rng.integers(0, 12, (5, 2, 2)).astype(float)
    expected = [stats.fisher_exact(t).pvalue for t in tables]
    np.testing.assert_allclose(fisher_exact(tables), expected, rtol=1e-9)


CASES = [
    ([[40, 10], [12, 38]], "chi2"),  # all expected counts above 10
    ([[10, 6], [4, 12]], "yates"),  # the least is 7
    ([[1, 4], [6, 3]], "fisher"),  # the least is 2.5
]


@pytest.mark.parametrize(("counts", "test"), CASES)
def test_small_tables_of_two_by_two_are_corrected(counts, test):
    tree = counted_tree([1, -1, -1], [2, 0, 0], counts)
    expected = {
        "chi2": lambda: stats.chi2_contingency(counts, correction=False).pvalue,
        "yates": lambda: stats.chi2_contingency(counts, correction=True).pvalue,
        "fisher": lambda: stats.fisher_exact(counts).pvalue,
    }[test]()
    assert split_p_values(tree)[0] == pytest.approx(expected)
    plain = stats.chi2_contingency(counts, correction=False).pvalue
    assert split_p_values(tree, corrections=False)[0] == pytest.approx(plain)


def test_wide_tables_and_empty_branches_are_tested_by_pearson():
    tree = counted_tree([1, -1, -1, -1], [3, 0, 0, 0], [[3, 4, 0], [0, 0, 0], [5, 1, 0]], 3)
    expected = stats.fisher_exact([[3, 4], [5, 1]]).pvalue
    assert split_p_values(tree)[0] == pytest.approx(expected)
    tree = counted_tree([1, -1, -1, -1], [3, 0, 0, 0], [[3, 4, 1], [2, 0, 2], [5, 1, 0]], 3)
    expected = stats.chi2_contingency(tree.value[1:], correction=False).pvalue
    assert split_p_values(tree)[0] == pytest.approx(expected)


def test_numbers_are_tested_by_one_way_analysis_of_variance():
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 1)), rng.random(60)
    model = CARTRegressor(max_depth=2, min_samples_leaf=4).fit(X, y)
    tree = model.tree_
    path = model.decision_path(X).toarray().astype(bool)
    for t in np.flatnonzero(tree.n_children):
        groups = [y[path[:, c]] for c in tree.children(t)]
        assert split_p_values(tree)[t] == pytest.approx(stats.f_oneway(*groups).pvalue)
