"""A target that means nothing: CTree chooses every feature alike, CART those with many cuts."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import chisquare

from treewright import CARTClassifier, CTreeClassifier

N_SETS = 500
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "unbiased_selection.py"


@pytest.fixture(scope="module")
def example():
    """The script that draws the figure of the documentation."""
    spec = importlib.util.spec_from_file_location("unbiased_selection", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ctree_splits_each_of_ten_features_first_in_a_tenth_of_the_data_sets(example):
    model = CTreeClassifier(alpha=1.0, max_depth=1)
    shares = pd.Series(example.first_choices(model, N_SETS, seed=1))
    assert len(shares) == 10
    assert shares.sum() == pytest.approx(1)
    # the standard error of a tenth is 1.3 %
    assert shares.between(0.06, 0.14).all()
    assert chisquare(shares * N_SETS).pvalue > 0.01


def test_cart_prefers_features_with_many_cuts(example):
    model = CARTClassifier(min_samples_leaf=7, max_depth=1)
    shares = pd.Series(example.first_choices(model, N_SETS, seed=1))
    assert shares["2 categories"] < 0.03
    assert shares["8 categories"] > 0.2
    assert chisquare(shares * N_SETS).pvalue < 1e-20
