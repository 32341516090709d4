"""A pruned tree knows what was cut and why."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import treewright
from treewright import C45Classifier, C50Classifier, CARTClassifier
from treewright.errors import ModelFileError
from treewright.pruning import chi_squared, cost_complexity, error_based, pessimistic
from treewright.tree.tree import Tree


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X = rng.random((300, 4))
    return X, ((X[:, 0] > 0.5) ^ (rng.random(300) < 0.2)).astype(int)


@pytest.fixture(scope="module")
def categories():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 5, (600, 5))
    y = ((X[:, 0] + X[:, 1] > 4) ^ (rng.random(600) < 0.15)).astype(int)
    return {f"f{j}": X[:, j].astype(str) for j in range(5)}, y


@pytest.fixture(scope="module")
def grown(noisy):
    return CARTClassifier().fit(*noisy).tree_


def test_a_grown_tree_has_no_log(grown):
    assert grown.pruning_log is None


def test_every_cut_is_a_row_with_the_figures_of_its_node(grown):
    pruned = pessimistic(grown)
    log = pruned.pruning_log
    frame = log.frame()
    assert list(frame.columns) == [
        "node", "was", "rows", "weight", "leaves", "before", "after", "method", "rule",
    ]  # fmt: skip
    assert len(frame) == len(log) > 1
    assert (frame["after"] <= frame["before"] + 1e-9).all()
    np.testing.assert_array_equal(log.n_samples, grown.n_samples[log.was])
    np.testing.assert_allclose(log.after, grown.risk[log.was] * 300 + 0.5)
    there = log.node >= 0
    assert pruned.is_leaf[log.node[there]].all()
    np.testing.assert_array_equal(pruned.n_samples[log.node[there]], log.n_samples[there])
    # what is gone and what is left make up the tree that was pruned
    assert grown.n_leaves - pruned.n_leaves == (log.n_leaves - 1).sum()


def test_a_second_pruner_adds_to_the_log(grown):
    once = pessimistic(grown)
    twice = chi_squared(once, 1e-6)
    log = twice.pruning_log
    assert [method for method, _ in log.rules] == ["pessimistic", "chi-squared"]
    assert len(log) > len(once.pruning_log)
    assert str(log).startswith("Pruned by pessimistic, then chi-squared: ")
    there = log.node[log.node >= 0]
    assert twice.is_leaf[there].all()


def test_a_pruner_that_cuts_nothing_says_so(grown):
    log = cost_complexity(pessimistic(grown), 0.0).pruning_log
    assert log.rules[-1][0] == "cost complexity"
    assert "Pruned by cost complexity: no cut" in str(cost_complexity(grown, 0.0).pruning_log)


def test_raised_branches_are_told_from_leaves(noisy):
    X, y = noisy
    tree = CARTClassifier().fit(X, y).tree_
    log = error_based(tree, X, y).pruning_log
    words = log.frame()["rule"]
    assert words.str.contains("of a leaf").any()
    assert words.str.contains("largest branch").any()


@pytest.mark.parametrize("learner", [C45Classifier, C50Classifier])
def test_the_pruning_of_a_learner_itself_is_logged(categories, learner):
    tree = learner().fit(*categories).tree_
    log = tree.pruning_log
    assert len(log) > 0
    assert log.node.max() < tree.n_nodes
    assert "error-based" in {method for method, _ in log.rules}


def test_the_log_survives_the_file_the_dict_and_copies(categories, tmp_path):
    model = C45Classifier().fit(*categories)
    path = tmp_path / "model.tw"
    treewright.save(model, path)
    ours = model.tree_.pruning_log
    others = [
        treewright.load(path).tree_,
        Tree.from_dict(model.tree_.to_dict()),
        copy.deepcopy(model.tree_),
        pickle.loads(pickle.dumps(model.tree_)),
    ]
    for tree in others:
        log = tree.pruning_log
        assert log.rules == ours.rules
        for name, array in ours.arrays().items():
            np.testing.assert_array_equal(array, log.arrays()[name])


def test_a_damaged_log_is_refused(grown):
    data = pessimistic(grown).to_dict()
    data["pruning_log"]["rule"][0] = 5
    with pytest.raises(ModelFileError, match="a cut must have a rule"):
        Tree.from_dict(data)


def test_a_log_can_be_seen_in_a_notebook_and_drawn(grown):
    log = pessimistic(grown).pruning_log
    assert log._repr_html_().count("<table><caption>Pruned by pessimistic") == 1
    assert log.plot().get_xlabel() == "estimate for the subtree"
    assert repr(log).startswith("<PruningLog: Pruned by pessimistic")
