"""Pruners take a tree or its estimator, and refuse everything else in one sentence."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import treewright as tw
from treewright import pruning
from treewright.errors import ParameterError

X = np.random.default_rng(0).random((60, 2))
Y = ((X[:, 0] > 0.5) ^ (np.arange(60) % 7 == 0)).astype(int)
MODEL = tw.CARTClassifier().fit(X, Y)

OTHERS = {
    "critical_value": (0.1,),
    "error_based": (X, Y),
    "reduced_error": (X, Y),
    "cost_complexity": (0.01,),
    "size_curve": (MODEL._table(X), pruning.class_loss(Y)),
}
PRUNERS = [
    name
    for name in pruning.__all__
    if next(iter(inspect.signature(getattr(pruning, name)).parameters), "") == "tree"
]


@pytest.mark.parametrize("name", PRUNERS)
def test_an_estimator_stands_for_its_tree(name):
    function, others = getattr(pruning, name), OTHERS.get(name, ())
    assert str(function(MODEL, *others)) == str(function(MODEL.tree_, *others))


@pytest.mark.parametrize("name", PRUNERS)
@pytest.mark.parametrize(
    ("model", "way_out"),
    [
        (None, "got NoneType; pass model.tree_"),
        (tw.CARTClassifier, "got the class CARTClassifier; create one and fit it"),
        (tw.CARTClassifier(), "got CARTClassifier; fit it first"),
        (tw.RandomForestClassifier(2).fit(X, Y), "take a member of estimators_"),
        (DecisionTreeClassifier().fit(X, Y), "by treewright.from_sklearn"),
    ],
    ids=["None", "class", "unfitted", "forest", "sklearn"],
)
def test_what_is_no_tree_is_refused_in_one_sentence(name, model, way_out):
    with pytest.raises(ParameterError, match=way_out):
        getattr(pruning, name)(model, *OTHERS.get(name, ()))
