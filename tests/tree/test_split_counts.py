"""What a tree keeps for its pictures: right, small, saved, and without any effect on the model."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import treewright as tw
from treewright import datasets
from treewright.errors import ModelFileError
from treewright.tree.split_counts import MAX_CELLS, MAX_SPLITS, N_BINS
from treewright.tree.tree import Tree


@pytest.fixture(scope="module")
def titanic():
    return datasets.load_titanic()


def test_counts_of_a_split_are_those_of_the_rows_that_passed_it(titanic) -> None:
    model = tw.CARTClassifier(max_depth=3).fit(titanic.data, titanic.target)
    tree, counts = model.tree_, model.tree_.counts
    path = model.decision_path(titanic.data).toarray().astype(bool)
    assert_array_equal(counts.node, np.flatnonzero(~tree.is_leaf))
    for place, node in enumerate(counts.node):
        feature = tree.schema.features[tree.splits.feature[node]]
        is_gap = np.array([value is None for value in titanic.data[feature.name].to_pylist()])
        known = path[:, node] & ~is_gap
        expected = np.bincount(np.asarray(titanic.target)[known], minlength=2)
        assert_allclose(counts.bins(place).sum(axis=0), expected)


def test_a_feature_has_one_axis_through_the_tree(titanic) -> None:
    tree = tw.CARTClassifier(max_depth=5).fit(titanic.data, titanic.target).tree_
    features = tree.splits.feature[tree.counts.node]
    axis_of = dict(zip(features.tolist(), tree.counts.axis.tolist(), strict=True))
    assert_array_equal(tree.counts.axis, [axis_of[f] for f in features.tolist()])
    for axis, (low, high) in enumerate(tree.counts.axis_range):
        feature = tree.counts.axis_feature[axis]
        mine = np.flatnonzero(tree.splits.feature == feature)
        breaks = np.concatenate([tree.splits.node_breaks(i) for i in mine])
        if not len(tree.counts.codes(int(np.flatnonzero(tree.counts.axis == axis)[0]))):
            assert low <= breaks.min() <= breaks.max() <= high


def test_counts_change_nothing_but_the_picture(titanic) -> None:
    for learner in (tw.CARTClassifier, tw.C45Classifier, tw.CHAIDClassifier, tw.C50Classifier):
        kept = learner().fit(titanic.data, titanic.target)
        bare = learner(keep_counts=False).fit(titanic.data, titanic.target)
        assert bare.tree_.counts is None
        assert kept.tree_.counts is not None
        assert_array_equal(kept.predict_proba(titanic.data), bare.predict_proba(titanic.data))
        assert kept.tree_.to_text() == bare.tree_.to_text()


def test_a_saved_model_draws_itself_without_the_data(titanic, tmp_path) -> None:
    model = tw.CARTClassifier(max_depth=3).fit(titanic.data, titanic.target)
    picture, bins = model.tree_.to_svg(), model.tree_.counts.bins(0).tolist()
    tw.save(model, tmp_path / "model.tw")
    assert tw.load(tmp_path / "model.tw").tree_.to_svg() == picture
    assert Tree.from_dict(model.tree_.to_dict()).counts.bins(0).tolist() == bins
    assert pickle.loads(pickle.dumps(model)).tree_.to_svg() == picture


def test_pruning_keeps_the_counts_of_what_is_left(titanic) -> None:
    tree = tw.CARTClassifier(max_depth=4).fit(titanic.data, titanic.target).tree_
    node = int(tree.first_child[0])
    pruned = tree.collapse([node])
    assert_array_equal(pruned.counts.node, np.flatnonzero(~pruned.is_leaf))
    assert_array_equal(pruned.counts.bins(0), tree.counts.bins(0))
    assert tree.collapse([0]).counts is None


def test_large_trees_keep_the_splits_with_most_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 3)), rng.integers(0, 2, 6000)
    tree = tw.CARTClassifier().fit(X, y).tree_
    counts = tree.counts
    assert len(counts.node) == MAX_SPLITS < (~tree.is_leaf).sum()
    assert counts.counts.size <= MAX_CELLS
    assert np.isin(tree.parent[counts.node[1:]], counts.node).all()


def test_members_of_ensembles_keep_none(titanic) -> None:
    for model in (
        tw.RandomForestClassifier(3, random_state=0),
        tw.BaggingClassifier(tw.C45Classifier(), 3, random_state=0),
        tw.AdaBoostClassifier(n_estimators=3, random_state=0),
    ):
        model.fit(titanic.data, titanic.target)
        member = model.estimators_[0]
        assert getattr(member, "tree_", member).counts is None


def test_regressors_keep_quantiles_of_every_output() -> None:
    data = datasets.load_hitters()
    rows = data.data
    y = np.column_stack([data.target, -np.asarray(data.target)])
    model = tw.CARTRegressor(max_depth=3).fit(rows, y)
    path = model.decision_path(rows).toarray().astype(bool)
    kept = model.tree_.extras["quantiles"].reshape(model.tree_.n_nodes, 2, 5)
    for node in range(model.tree_.n_nodes):
        expected = np.quantile(
            y[path[:, node]], [0, 0.25, 0.5, 0.75, 1], axis=0, method="inverted_cdf"
        )
        assert_allclose(kept[node], expected.T)
    bare = tw.CARTRegressor(max_depth=3, keep_counts=False).fit(rows, y)
    assert "quantiles" not in bare.tree_.extras


def test_outputs_have_the_names_of_their_columns() -> None:
    import pandas as pd

    data = datasets.load_hitters()
    y = pd.DataFrame({"pay": data.target, "debt": -np.asarray(data.target)})
    tree = tw.CARTRegressor(max_depth=2).fit(data.data, y).tree_
    assert tree.schema.target.outputs == ("pay", "debt")
    assert ">pay</text>" in tree.to_svg()
    assert Tree.from_dict(tree.to_dict()).schema == tree.schema


def test_damaged_counts_are_refused(titanic) -> None:
    data = tw.CARTClassifier(max_depth=2).fit(titanic.data, titanic.target).tree_.to_dict()
    for name, value in (
        ("node", [0, 99, 100]),
        ("axis", [0, 1, 9]),
        ("axis_codes", [0, 77]),
        ("counts", [[-1.0] * (2 * N_BINS)] * 3),
        ("axis_range", [["nan", 1.0]] * 3),
    ):
        broken = {**data, "counts": {**data["counts"], name: value}}
        with pytest.raises(ModelFileError):
            Tree.from_dict(broken)
