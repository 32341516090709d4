"""CART and random forests on sources: the trees of memory, whatever the blocks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.scale.conftest import mixed, write_parts
from treewright import (
    CARTClassifier,
    CARTRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from treewright.errors import DataError, ParameterError
from treewright.scale import _tree_store, _trees, predict_files
from treewright.scale._memory import Budget

FEATURES = ["a", "b", "c", "d"]
FOREST = {"n_estimators": 3, "random_state": 1}
CASES = [
    (CARTClassifier, "two", {}),
    (CARTClassifier, "two", {"criterion": "entropy", "min_samples_leaf": 5}),
    (CARTClassifier, "two", {"max_features": 2, "random_state": 3}),
    (CARTClassifier, "two", {"continuous_split": "at_most", "ccp_alpha": 0.001}),
    (CARTClassifier, "two", {"pruning": "pessimistic"}),
    (CARTClassifier, "three", {"min_impurity_decrease": 1e-4}),
    (CARTClassifier, "three", {"class_weight": "balanced", "max_depth": 6}),
    (CARTRegressor, "number", {"min_samples_leaf": 3, "cp": 0.001}),
    (RandomForestClassifier, "two", FOREST),
    (RandomForestClassifier, "three", {**FOREST, "min_samples_leaf": 4, "max_samples": 0.5}),
    (RandomForestClassifier, "two", {**FOREST, "class_weight": "balanced", "bootstrap": False}),
    (RandomForestRegressor, "number", {**FOREST, "min_samples_leaf": 20}),
]


@pytest.fixture
def by_tables(monkeypatch):
    """Nodes of more than 64 rows are split from tables, though there are few rows."""
    monkeypatch.setattr(_tree_store.BlockStore, "few", 64)


def few_values(n: int) -> pa.Table:
    """A table with gaps, whose columns have at most 255 values."""
    table = mixed(n)
    for at, name in ((0, "a"), (3, "d")):
        rounded = np.round(table.column(name).to_numpy(), 1)
        table = table.set_column(at, name, pa.array(rounded))
    return table


def trees_of(model):
    return [model.tree_] if hasattr(model, "tree_") else [m.tree_ for m in model.estimators_]


def assert_same_trees(found, expected):
    for tree, other in zip(trees_of(found), trees_of(expected), strict=True):
        for name in ("first_child", "n_children", "n_samples", "default"):
            assert_array_equal(getattr(tree, name), getattr(other, name), name)
        splits, others = tree.splits.arrays(), other.splits.arrays()
        for name in ("kind", "feature", "breaks", "codes", "branches"):
            assert_array_equal(splits[name], others[name], name)
        is_cut = splits["kind"] == 1
        assert_array_equal(splits["closed"][is_cut], others["closed"][is_cut])
        for name in ("value", "weight", "impurity", "gain"):
            assert_allclose(getattr(tree, name), getattr(other, name), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("kind", "target", "options"), CASES)
def test_a_folder_gives_the_trees_of_a_fit_in_memory(kind, target, options, tmp_path, by_tables):
    table = few_values(3000).select([*FEATURES, target])
    write_parts(table, tmp_path / "data", [900, 903, 2000], row_group_size=500)
    X, y = table.drop_columns([target]), table.column(target)
    exact = {"tree_method": "exact"} if "n_estimators" in options else {}
    expected = kind(**options, **exact).fit(X, y)
    found = kind(**options).fit(tmp_path / "data", target=target)
    assert_same_trees(found, expected)
    if target == "number":
        assert_allclose(found.predict(X), expected.predict(X))
    else:
        assert_array_equal(found.predict(X), expected.predict(X))


@pytest.mark.parametrize(
    ("kind", "target", "options"),
    [(CARTRegressor, "number", {"min_samples_leaf": 9}), (RandomForestClassifier, "three", FOREST)],
)
def test_blocks_threads_and_files_change_no_byte(
    kind, target, options, tmp_path, saved, monkeypatch, by_tables
):
    table = mixed(1500).select([*FEATURES, target])
    expected = saved(kind(**options).fit(table, target=target))
    for rows, jobs in ((200, 1), (700, 2)):
        monkeypatch.setattr(_trees, "make_budget", lambda *a, r=rows: Budget(r, 0))
        model = kind(**options, n_jobs=jobs).fit(table, target=target, temp_dir=tmp_path)
        assert saved(model.set_params(n_jobs=None)) == expected
        assert not list(tmp_path.iterdir())


def test_rows_go_where_training_sent_them_though_bins_are_intervals(by_tables):
    table = mixed(5000).select([*FEATURES, "number"])
    assert len(np.unique(table.column("a").to_numpy(zero_copy_only=False))) > 1000
    model = CARTRegressor(min_samples_leaf=5).fit(table, target="number")
    leaves = np.bincount(model.apply(table.drop_columns(["number"])), minlength=model.tree_.n_nodes)
    is_leaf = model.tree_.n_children == 0
    assert_array_equal(leaves[is_leaf], model.tree_.n_samples[is_leaf])
    exact = CARTRegressor(min_samples_leaf=5).fit(table.select(FEATURES), table.column("number"))
    assert abs(model.get_n_leaves() / exact.get_n_leaves() - 1) < 0.1


def test_few_rows_are_grown_in_memory_and_the_tree_is_the_same(monkeypatch):
    table = few_values(3000).select([*FEATURES, "two"])
    models = []
    for few in (64, 500, 10**6):
        monkeypatch.setattr(_tree_store.BlockStore, "few", few)
        models.append(CARTClassifier().fit(table, target="two"))
    assert_same_trees(models[0], models[2])
    assert_same_trees(models[1], models[2])


def test_predictions_stream_to_files(tmp_path):
    table = mixed(1000).select([*FEATURES, "two"])
    write_parts(table, tmp_path / "data", [400])
    model = RandomForestClassifier(**FOREST).fit(tmp_path / "data", target="two")
    assert "1000 predictions" in str(predict_files(model, tmp_path / "data", tmp_path / "out"))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (CARTClassifier(missing="surrogate"), "missing must be left out"),
        (CARTClassifier(max_leaf_nodes=5), "max_leaf_nodes must be left out"),
        (CARTClassifier(ccp_alpha="cv"), "pruning must be left out"),
        (CARTClassifier(criterion="error"), "criterion must be left out"),
        (RandomForestClassifier(oob_score=True), "oob_score must be left out"),
        (RandomForestClassifier(replace=False), "replace must be left out"),
        (RandomForestClassifier(tree_method="exact"), "tree_method must be left out"),
    ],
)
def test_what_blocks_cannot_do_is_refused_in_one_sentence(model, words):
    table = mixed(100).select([*FEATURES, "two"])
    with pytest.raises(ParameterError, match=words) as error:
        model.fit(table, target="two")
    assert "\n" not in str(error.value)


def test_wrong_sources_are_refused():
    table = mixed(100).select([*FEATURES, "number"])
    with pytest.raises(ParameterError, match="target must name"):
        CARTRegressor().fit("folder")
    with pytest.raises(ParameterError, match="memory_limit is for data that are read in blocks"):
        CARTRegressor().fit(table, table.column("number"), memory_limit="1GB")
    large = table.set_column(4, "number", pa.array(np.full(100, 1e200)))
    with pytest.raises(DataError, match="must lie within"):
        CARTRegressor().fit(large, target="number")
    small = table.set_column(4, "number", pa.array(np.arange(100) * 1e-200))
    with pytest.raises(DataError, match="Targets must lie 1e-100 apart"):
        CARTRegressor().fit(small, target="number")


def test_ctrl_c_ends_a_fit_on_blocks(press_ctrl_c):
    table = mixed(3000).select([*FEATURES, "two"])
    model = RandomForestClassifier(10_000, random_state=0)
    assert press_ctrl_c(1.0, lambda: model.fit(table, target="two")) < 5.0
    assert 0 < len(model.estimators_) < 10_000
