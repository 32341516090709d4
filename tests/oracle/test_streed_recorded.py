"""Optima that pystreed found, recorded; see small/README.md."""

from __future__ import annotations

import json

import numpy as np
import pytest

import treewright as tw
from tests.oracle.binary_data import bundled_table, shared_table
from tests.oracle.recorded import SMALL

RUNS = json.loads((SMALL / "oracle" / "streed" / "errors.json").read_text())


def check(X: np.ndarray, y: np.ndarray, errors: dict[str, int]) -> None:
    for depth, least in errors.items():
        model = tw.OptimalTreeClassifier(max_depth=int(depth), leaf_penalty=0.0, n_jobs=2)
        model.fit(X, y)
        assert model.optimality_gap_ == 0.0
        assert np.count_nonzero(model.predict(X) != y) == least


@pytest.mark.parametrize("name", RUNS["bundled"])
def test_the_same_optimum_on_bundled_data(name):
    check(*bundled_table(name), RUNS["bundled"][name])


@pytest.mark.parametrize("name", RUNS["shared"])
def test_the_same_optimum_on_shared_data(shared_dir, name):
    check(*shared_table(shared_dir, name), RUNS["shared"][name])
