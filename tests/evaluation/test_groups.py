"""Rows of one group never train a model that is judged on others of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GroupKFold

from treewright import compare, complexity_curve, cross_validate, learning_curve, tune
from treewright.errors import DataError


class Watchful(ClassifierMixin, BaseEstimator):
    """The first column is the group: no answer may be asked for one that trained."""

    def __init__(self, level: int = 1) -> None:
        self.level = level

    def fit(self, X: Any, y: Any) -> Watchful:
        self.classes_ = np.unique(y)
        self.known_ = set(np.asarray(X)[:, 0].tolist())
        return self

    def predict(self, X: Any) -> Any:
        asked = set(np.asarray(X)[:, 0].tolist())
        assert asked == self.known_ or asked < self.known_ or not asked & self.known_
        if not asked & self.known_:
            JUDGED.append(self)
        return np.full(len(X), self.classes_[0])


JUDGED: list[Watchful] = []
GROUP = np.repeat(np.arange(12), 5)
X = np.column_stack([GROUP, np.arange(60.0)])
Y = np.arange(60) % 2
NAMES = pd.Categorical.from_codes(GROUP, list("lkjihgfedcba"))
TWO = {"one": Watchful(1), "two": Watchful(2)}
CALLS = {
    "holdout": lambda g: cross_validate(Watchful(), X, Y, "holdout", groups=g, repeats=3),
    "k-fold": lambda g: cross_validate(Watchful(), X, Y, groups=g),
    "repeated": lambda g: cross_validate(Watchful(), X, Y, "repeated", groups=g, repeats=2),
    "loo": lambda g: cross_validate(Watchful(), X, Y, "loo", groups=g),
    "bootstrap": lambda g: cross_validate(Watchful(), X, Y, "bootstrap", groups=g, repeats=3),
    "splitter": lambda g: cross_validate(Watchful(), X, Y, folds=GroupKFold(4), groups=g),
    "compare": lambda g: compare(TWO, X, Y, groups=g, folds=3, repeats=2),
    "mcnemar": lambda g: compare(TWO, X, Y, groups=g, test="mcnemar"),
    "tune": lambda g: tune(Watchful(), {"level": [1, 2]}, X, Y, groups=g, folds=3, outer_folds=3),
    "halving": lambda g: tune(
        Watchful(), {"level": [1, 2]}, X, Y, groups=g, folds=3, search="halving", nested=False
    ),
    "learning": lambda g: learning_curve(Watchful(), X, Y, [0.5, 1.0], groups=g),
    "complexity": lambda g: complexity_curve(Watchful(), X, Y, "level", [1, 2], groups=g),
    "test rows": lambda g: complexity_curve(
        Watchful(), X, Y, "level", [1, 2], groups=g, test=(X + 100, Y)
    ),
}


@pytest.mark.parametrize("groups", [GROUP, NAMES, GROUP.astype(str).tolist()])
@pytest.mark.parametrize("call", CALLS)
def test_no_model_is_judged_on_a_group_that_trained_it(call, groups):
    JUDGED.clear()
    CALLS[call](groups)
    assert JUDGED


@pytest.mark.parametrize("call", CALLS)
def test_groups_of_another_length_are_refused(call):
    with pytest.raises(DataError, match="groups must have one value for each of the 60 rows"):
        CALLS[call](GROUP[:50])
