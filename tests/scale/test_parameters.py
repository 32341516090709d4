"""Every parameter and every kind of column does on blocks what it does in memory, or is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import treewright as tw
from tests.matrix.tables import COLUMNS, Description, build, write_parquet
from tests.scale.test_trees import FEATURES, assert_same_trees, few_values
from treewright.errors import DataError, ParameterError
from treewright.scale._tree_store import BlockStore

MEMBERS = {"n_estimators": 3, "random_state": 1}
ESTIMATORS: dict[str, tuple[str, dict[str, Any]]] = {
    "CARTClassifier": ("three", {"random_state": 1}),
    "CARTRegressor": ("number", {"random_state": 1}),
    "RandomForestClassifier": ("two", MEMBERS),
    "RandomForestRegressor": ("number", MEMBERS),
    "GradientBoostingClassifier": ("two", MEMBERS),
    "GradientBoostingRegressor": ("positive", MEMBERS),
}
AWAY: dict[str, list[Any]] = {
    "aggregation": ["vote"],
    "alpha": [0.5],
    "base": [tw.CARTClassifier(max_depth=2), tw.CARTRegressor(max_depth=2)],
    "bootstrap": [False],
    "categorical_features": [["b"]],
    "categorical_l2": [0.0],
    "categorical_smoothing": [0.0],
    "ccp_alpha": [0.01, "cv"],
    "class_weight": ["balanced", {"yes": 3.0, "no": 1.0}, {0: 4.0}, "balanced_subsample"],
    "continuous_split": ["at_most"],
    "cost_method": ["generalized_gini"],
    "costs": [[[0, 3, 1], [1, 0, 2], [1, 1, 0]]],
    "cp": [0.02, "cv"],
    "criterion": ["entropy", "error", "absolute_error"],
    "cv": [3],
    "drop_empty_rows": [True],
    "dropout": [0.5],
    "early_stopping": [True],
    "every": [1],
    "growth": ["leaf", "depth", "symmetric"],
    "init": ["zero", tw.CARTClassifier(), tw.CARTRegressor()],
    "interaction_cst": [[["a", "b"], ["c", "d"]]],
    "keep_targets": [True],
    "l1_regularization": [5.0],
    "l2_regularization": [50.0],
    "learning_rate": [0.5],
    "loss": ["exponential", "poisson", "gamma", "tweedie", "absolute_error", "huber", "quantile"],
    "max_bins": [8],
    "max_categories": [2, None],
    "max_depth": [2],
    "max_exhaustive": [2],
    "max_features": [1, 0.5, "sqrt"],
    "max_features_per_level": [0.5],
    "max_features_per_tree": [0.5],
    "max_leaf_nodes": [4],
    "max_samples": [0.3, 50],
    "max_surrogates": [1],
    "min_child_weight": [30.0],
    "min_gain": [5.0],
    "min_impurity_decrease": [0.02],
    "min_samples_leaf": [40, 0.1],
    "min_samples_split": [90, 0.2],
    "min_significance": [0.01],
    "min_weight_fraction_leaf": [0.1],
    "missing": ["surrogate", "majority"],
    "monotonic_cst": [{"a": 1}],
    "n_estimators": [2],
    "n_iter_no_change": [1],
    "oob_score": [True],
    "ordinal_features": [{"c": ["red", "blue", "green", "grey"]}],
    "power": [1.2],
    "priors": [{0: 0.8, 1: 0.1, 2: 0.1}],
    "pruning": [None, "pessimistic", "reduced_error", "mdl", "minimum_error", "chi_squared"],
    "pruning_options": [{"confidence": 0.1}, {"m": 5.0}],
    "pruning_risk": ["impurity"],
    "quantile": [0.9],
    "random_state": [7],
    "redraw": [False],
    "replace": [False],
    "rule": ["1se"],
    "sampling": ["balanced", "mvs", "goss"],
    "scoring": ["neg_log_loss", "r2"],
    "splitter": ["random"],
    "subsample": [0.5],
    "surrogate_fallback": ["stop"],
    "surrogate_style": ["share"],
    "teach": [True],
    "tol": [0.5],
    "tree_method": ["exact"],
    "validation_fraction": [0.3],
    "warm_start": [True],
}
"""Values away from the default; those that are for other tasks are refused in memory too."""

OF_RUNNING = {"keep_counts", "n_jobs", "snapshot", "verbose"}
BESIDE = {
    "alpha": {"loss": "huber"},
    "max_features": {"redraw": False},
    "n_iter_no_change": {"early_stopping": True, "n_estimators": 30},
    "oob_score": {"n_estimators": 30},
    "power": {"loss": "tweedie"},
    "quantile": {"loss": "quantile"},
    "sampling": {"subsample": 0.5},
    "tol": {"early_stopping": True, "n_estimators": 30},
    "validation_fraction": {"early_stopping": True},
}
"""Without these, a parameter would do nothing."""
REFUSED_ANYWHERE = {
    ("CARTClassifier", "monotonic_cst"),  # of three classes
    ("CARTRegressor", "pruning_options"),
    ("RandomForestClassifier", "base"),  # beside tree_method
    ("RandomForestRegressor", "base"),
}
"""What a fit in memory refuses as well."""


def parameters_of(name: str) -> list[str]:
    return sorted(set(getattr(tw, name)().get_params(deep=False)) - OF_RUNNING)


def with_rows_of_gaps(table: pa.Table) -> pa.Table:
    is_empty = np.arange(len(table)) % 10 == 0
    for k, name in enumerate(FEATURES):
        column = pa.array(table.column(name).to_pylist(), mask=is_empty)
        table = table.set_column(k, name, column)
    return table


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, p) for name in ESTIMATORS for p in parameters_of(name)]
)
def test_a_parameter_does_the_same_on_blocks_or_is_refused(name, parameter, monkeypatch):
    monkeypatch.setattr(BlockStore, "few", 64)
    target, given = ESTIMATORS[name]
    kind = getattr(tw, name)
    table = with_rows_of_gaps(few_values(600).select([*FEATURES, target]))
    X, y = table.drop_columns([target]), table.column(target)
    beside = {k: v for k, v in BESIDE.get(parameter, {}).items() if k in kind().get_params()}
    exact = {"tree_method": "exact"} if name.startswith("RandomForest") else {}
    tried, refusals = 0, []
    for value in AWAY[parameter]:
        options = {**given, **beside, parameter: value}
        if parameter == "pruning_options":
            options["pruning"] = "error_based" if "confidence" in value else "minimum_error"
        try:
            expected = kind(**{**exact, **options}).fit(X, y)
        except (DataError, ParameterError):
            continue
        tried += 1
        try:
            found = kind(**options).fit(table, target=target)
        except ParameterError as error:
            refusals.append(str(error))
            continue
        if name.startswith("Gradient"):
            assert found.n_iter_ == expected.n_iter_
        else:
            assert_same_trees(found, expected)
        method = "predict_proba" if hasattr(found, "predict_proba") else "predict"
        assert_allclose(getattr(found, method)(X), getattr(expected, method)(X), rtol=1e-9)
    assert all("read in blocks" in words and "\n" not in words for words in refusals)
    assert tried or (name, parameter) in REFUSED_ANYWHERE


@pytest.mark.filterwarnings("ignore::treewright.errors.TreewrightWarning")
@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("few", [64, 10**6])
def test_strange_columns_give_the_model_of_memory(kind, few, tmp_path, monkeypatch):
    monkeypatch.setattr(BlockStore, "few", few)
    described = Description(7, 200, (("x0", kind), ("x1", "integers")), "two")
    data = build(described)
    folder = write_parquet(data.frame, data.y, tmp_path)
    for model in (
        tw.CARTClassifier(),
        tw.RandomForestClassifier(2, random_state=0, tree_method="exact"),
        tw.SLIQClassifier(),
    ):
        expected = model.fit(data.frame, data.y).predict_proba(data.new)
        if hasattr(model, "tree_method"):
            model.set_params(tree_method="auto")
        found = model.fit(folder, target="target").predict_proba(data.new)
        assert_allclose(found, expected, rtol=1e-9)
