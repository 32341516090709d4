"""Every leaf knows why it was not split."""

from __future__ import annotations

import numpy as np
import pytest

import treewright
from treewright import C45Classifier, CARTClassifier, CARTRegressor, HuntClassifier, ID3Classifier
from treewright.errors import ParameterError
from treewright.pruning import pessimistic
from treewright.tree.growing.significance import split_p_values


def rings():
    data = treewright.datasets.two_rings(300, random_state=0)
    return data.data, data.target


def reasons(model):
    return {node.stopped for node in model.tree_.nodes if node.is_leaf}


REASONS = [
    ({}, "all rows are of one class"),
    ({"max_depth": 2}, "max_depth = 2 is reached"),
    ({"min_samples_split": 40}, "rows are fewer than min_samples_split = 40"),
    ({"min_samples_leaf": 30}, "rows cannot make two leaves of min_samples_leaf = 30"),
    ({"min_impurity_decrease": 0.02}, "gain, or by min_impurity_decrease = 0.02"),
    ({"max_leaf_nodes": 4}, "max_leaf_nodes = 4 are reached, or no test was left"),
    ({"min_significance": 1e-6}, "is above min_significance = 1e-06"),
]


@pytest.mark.parametrize(("settings", "words"), REASONS)
def test_the_rule_that_held_is_named(settings, words):
    model = CARTClassifier(**settings).fit(*rings())
    assert any(words in reason for reason in reasons(model))
    assert all(node.stopped is None for node in model.tree_.nodes if not node.is_leaf)


def test_rows_that_no_test_can_tell_apart_are_named_by_the_trace():
    X, y = np.zeros((6, 2)), [0, 1, 0, 1, 1, 1]
    model = CARTClassifier().fit(X, y)
    assert model.tree_.node(0).stopped.startswith("no admissible test divides these rows")
    trace = model.trace(0, X, y)
    assert trace.stopped == "all rows have the same values"
    assert "not split: all rows have the same values" in str(trace)


def test_a_pruned_leaf_says_by_what():
    tree = pessimistic(CARTClassifier().fit(*rings()).tree_)
    cut = [node for node in tree.nodes if node.stopped and node.stopped.startswith("pessimistic")]
    assert cut


def test_text_and_picture_show_the_reason():
    tree = CARTClassifier(max_depth=2).fit(*rings()).tree_
    assert "max_depth = 2 is reached" in tree.to_text(stopped=True)
    assert "max_depth" not in tree.to_text()
    assert "not split: max_depth = 2 is reached" in tree.to_svg()


def test_the_reason_survives_the_file(tmp_path):
    model = CARTClassifier(min_samples_split=40, min_significance=0.01).fit(*rings())
    treewright.save(model, tmp_path / "model.tw")
    assert reasons(treewright.load(tmp_path / "model.tw")) == reasons(model)


@pytest.mark.parametrize(
    "learner", [CARTClassifier, HuntClassifier, ID3Classifier, C45Classifier, CARTRegressor]
)
def test_no_split_that_could_be_chance_is_made(learner):
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    signal = (X[:, 0] > 0.5) ^ (rng.random(300) < 0.2)
    y = signal + rng.normal(0, 0.1, 300) if learner is CARTRegressor else signal.astype(int)
    own = {} if learner is not C45Classifier else {"pruning": None}
    whole = learner(**own).fit(X, y).tree_
    stopped = learner(min_significance=0.001, **own).fit(X, y).tree_
    assert 2 <= stopped.n_leaves <= whole.n_leaves
    assert np.all(split_p_values(stopped)[~stopped.is_leaf] <= 0.001)
    # and growth did go on wherever it was allowed to
    p = split_p_values(whole)
    expected, stack = 0, [0]
    while stack:
        t = stack.pop()
        if whole.is_leaf[t] or p[t] > 0.001:
            expected += 1
        else:
            stack.extend(whole.children(t))
    assert stopped.n_leaves == expected


def test_a_test_at_each_node_and_a_number_of_leaves_contradict_each_other():
    with pytest.raises(ParameterError, match="min_significance decides at each node by itself"):
        CARTClassifier(min_significance=0.05, max_leaf_nodes=5).fit(*rings())
    with pytest.raises(ParameterError, match="min_significance must be"):
        CARTClassifier(min_significance=1.5).fit(*rings())
