"""Where CART leaves rows of gaps out as rpart does, and how many subsets it tries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import treewright as tw
from treewright.errors import DataError
from treewright.tree.growing.stopping import most_exhaustive

RANDOM = np.random.default_rng(3)


def with_empty_rows() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Rows of which every seventh holds gaps alone, and the mask of the others."""
    X = pd.DataFrame(
        {
            "size": RANDOM.normal(size=140),
            "colour": RANDOM.choice(["red", "green", "blue"], 140),
        }
    )
    y = np.where(X["size"] + RANDOM.normal(size=140) > 0, "a", "b")
    empty = np.arange(140) % 7 == 0
    X.loc[empty] = [[np.nan, None]] * int(empty.sum())
    X.loc[3, "size"] = np.nan  # a gap among values stays
    y[empty] = "b"
    return X, y, ~empty


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{}, {"priors": "uniform", "cp": 0.01}, {"ccp_alpha": "cv"}])
def test_rows_of_gaps_alone_can_be_left_out(options, weighted):
    X, y, full = with_empty_rows()
    weight = RANDOM.uniform(1, 2, 140) if weighted else None
    given = {"missing": "surrogate", "random_state": 0, **options}
    dropped = tw.CARTClassifier(drop_empty_rows=True, **given).fit(X, y, sample_weight=weight)
    alone = tw.CARTClassifier(**given).fit(
        X[full], y[full], sample_weight=None if weight is None else weight[full]
    )
    kept = tw.CARTClassifier(**given).fit(X, y, sample_weight=weight)
    assert_array_equal(dropped.predict_proba(X), alone.predict_proba(X))
    assert dropped.tree_.n_samples[0] == full.sum()
    assert kept.tree_.n_samples[0] == 140


def test_a_regression_leaves_them_out_too_and_nothing_changes_without_such_rows():
    X, _, full = with_empty_rows()
    y = RANDOM.normal(size=140)
    model = tw.CARTRegressor(drop_empty_rows=True, max_depth=3)
    assert_array_equal(
        model.fit(X, y).predict(X), tw.CARTRegressor(max_depth=3).fit(X[full], y[full]).predict(X)
    )
    assert model.fit(X[full], y[full]).tree_.n_samples[0] == full.sum()


def test_a_table_of_gaps_alone_is_refused():
    with pytest.raises(DataError, match="every cell is a gap"):
        tw.CARTRegressor(drop_empty_rows=True).fit(np.full((4, 2), np.nan), np.arange(4.0))


def nineteen_makes() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(1)
    makes = random.integers(0, 19, 400)
    y = random.integers(0, 6, 400)
    return pd.DataFrame({"make": np.array([f"m{k:02}" for k in range(19)])[makes]}), y


@pytest.mark.parametrize("learner", [tw.CARTClassifier, tw.HuntClassifier, tw.SLIQClassifier])
def test_the_best_of_all_subsets_of_nineteen_categories_is_found_by_default(learner):
    X, y = nineteen_makes()
    found = learner(max_depth=1).fit(X, y).tree_
    best = tw.CARTClassifier(max_depth=1, max_exhaustive=20).fit(X, y).tree_
    near = tw.CARTClassifier(max_depth=1, max_exhaustive=15).fit(X, y).tree_
    assert_array_equal(found.value, best.value)
    assert not np.array_equal(near.value, best.value)


def test_more_rows_and_more_classes_get_fewer_subsets_and_no_bound_leaves_the_core():
    assert most_exhaustive("auto", 1000, 8) == 20
    assert most_exhaustive("auto", 1000, 26) == 18
    assert most_exhaustive("auto", 10**7, 8) == 15
    assert most_exhaustive("auto", 10**7, 10**6) == 2
    bounds = [most_exhaustive("auto", 10**k, 3) for k in range(8)]
    assert bounds == sorted(bounds, reverse=True)
    assert set(bounds) <= set(range(2, 21))
