"""Estimators that are no trees read tables and targets by the same parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treewright.errors import DataError, ModelFileError, ParameterError
from treewright.estimator.base import Estimator
from treewright.estimator.parameters import keep, parameters
from treewright.estimator.target import ClassTarget, NumberTarget


@parameters()
class Prior(ClassTarget, Estimator):
    """Predicts the shares of the classes, whatever the row.

    Attributes
    ----------
    {attributes}
    """

    def __init__(self, *, class_weight: Any = None, costs: Any = None, n_jobs: Any = None) -> None:
        keep(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Prior:
        self._validate()
        training = self._encode(X, y, sample_weight)
        loss = None if training.costs is None else training.costs.loss
        self._keep_target(training.target, training.classes, loss)
        self._keep_features(training.table.schema)
        self.share_ = training.class_totals() / training.total_weight
        return self


@parameters()
class Mean(NumberTarget, Estimator):
    """Predicts the mean, whatever the row."""

    def __init__(self, *, n_jobs: Any = None) -> None:
        keep(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Mean:
        self._validate()
        training = self._encode(X, y, sample_weight)
        self._keep_target(training.target)
        self.mean_ = np.average(training.y, axis=0, weights=training.sample_weight)
        return self


X = {"colour": ["red", "red", "grey", None], "size": [1.0, 2.0, np.nan, 4.0]}


def test_classes_are_read_without_a_tree_and_without_parameters_of_trees():
    model = Prior(class_weight={"a": 3.0}).fit(X, ["b", "a", "b", "c"], [1, 1, 1, 0])
    assert model.classes_.tolist() == ["a", "b"]  # the row of weight zero is gone
    assert model.share_.tolist() == pytest.approx([0.6, 0.4])
    assert model.cost_matrix_ is None
    assert model.feature_names_in_.tolist() == ["colour", "size"]
    assert model._known_target(["b", "a"]).tolist() == [1, 0]


def test_costs_are_those_of_the_classes_in_order():
    costs = {"a": {"b": 2.0}, "b": {"a": 1.0}}
    model = Prior(costs=costs).fit(X, ["b", "a", "b", "a"])
    assert model.cost_matrix_.tolist() == [[0.0, 2.0], [1.0, 0.0]]
    with pytest.raises(ParameterError, match="costs must"):
        Prior(costs=[[0.0, 1.0]]).fit(X, ["b", "a", "b", "a"])


def test_numbers_are_read_with_their_outputs():
    assert Mean().fit(X, [1.0, 2.0, 3.0, 4.0], [1, 1, 1, 3]).mean_ == pytest.approx(3.0)
    model = Mean().fit(X, np.arange(8.0).reshape(4, 2))
    assert model.n_outputs_ == 2
    with pytest.raises(DataError, match="requires y"):
        Mean().fit(X, None)


def test_what_a_file_says_of_the_target_must_fit():
    model = Prior().fit(X, ["b", "a", "b", "a"])
    state = model._learned_state()
    target = Prior()._encode(X, ["b", "a", "b", "a"], None).target
    Prior(n_jobs=1)._restore_learned(target, state)
    with pytest.raises(ModelFileError):
        Prior()._restore_learned(target, state | {"classes": np.array(["a"])})
    with pytest.raises(ModelFileError):
        Mean()._restore_learned(target, {})


def test_the_docstring_lists_the_attributes_that_the_parts_bring():
    listed = [line.split(" : ")[0] for line in Prior.__doc__.splitlines() if " : " in line]
    assert listed == [
        "classes_",
        "n_classes_",
        "cost_matrix_",
        "n_outputs_",
        "n_features_in_",
        "feature_names_in_",
    ]
