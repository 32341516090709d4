"""Every leaf knows why it was not split."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway
from sklearn.base import is_classifier

import treewright
from treewright import (
    C45Classifier,
    C50Classifier,
    CARTClassifier,
    CARTRegressor,
    CHAIDClassifier,
    CTreeClassifier,
    HoeffdingTreeClassifier,
    HuntClassifier,
    HuntRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
    OptimalTreeClassifier,
    SLIQClassifier,
    SPRINTClassifier,
)
from treewright.errors import ModelFileError, ParameterError
from treewright.pruning import pessimistic
from treewright.tree.growing.significance import split_p_values
from treewright.tree.growing.stopped import Stop


def rings():
    data = treewright.datasets.two_rings(300, random_state=0)
    return data.data, data.target


def noisy():
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    return X, ((X[:, 0] > 0.5) ^ (rng.random(300) < 0.2)).astype(int)


def categories():
    """Four columns of four categories; the first two say something of the class."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (400, 4))
    y = ((X[:, 0] + X[:, 1]) % 2) ^ (rng.random(400) < 0.3)
    return pd.DataFrame(X, columns=list("abcd")).astype("category"), y.astype(int)


def reasons_of(tree):
    return {node.stopped for node in tree.nodes if node.is_leaf}


def reasons(model):
    return reasons_of(model.tree_)


REASONS = [
    ({}, "all rows are of one class"),
    ({"max_depth": 2}, "max_depth = 2 is reached"),
    ({"min_samples_split": 40}, "fewer rows than min_samples_split = 40"),
    ({"min_samples_leaf": 30}, "too few rows for two leaves of min_samples_leaf = 30"),
    ({"min_impurity_decrease": 0.02}, "no test gains by min_impurity_decrease = 0.02"),
    ({"max_leaf_nodes": 4}, "max_leaf_nodes = 4 are reached"),
    ({"min_weight_fraction_leaf": 0.1}, "too little weight for two leaves of at least 30"),
    ({"ccp_alpha": 0.02}, "no split was found that pays for its leaves"),
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
    assert model.tree_.node(0).stopped == "all rows have the same values"
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


LEARNERS = [
    CARTClassifier,
    HuntClassifier,
    ID3Classifier,
    C45Classifier,
    C50Classifier,
    SLIQClassifier,
    SPRINTClassifier,
    CARTRegressor,
    HuntRegressor,
]


@pytest.mark.parametrize("learner", LEARNERS)
def test_no_split_that_could_be_chance_is_made(learner):
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    signal = (X[:, 0] > 0.5) ^ (rng.random(300) < 0.2)
    y = signal.astype(int) if is_classifier(learner()) else signal + rng.normal(0, 0.1, 300)
    own = {"pruning": None}
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


def test_the_p_values_of_growth_are_those_of_the_twin():
    X, y = categories()
    for model in (
        CARTClassifier(min_significance=0.5),
        C45Classifier(min_significance=0.5, pruning=None),
        SLIQClassifier(min_significance=0.5, pruning=None),
        CARTRegressor(min_significance=0.5),
    ):
        tree = model.fit(X, y).tree_
        inner = ~tree.is_leaf
        assert inner.sum() > 3
        twin = split_p_values(tree)[inner]
        np.testing.assert_allclose(tree.extras["split_p"][inner], twin, rtol=1e-9, atol=1e-300)
        stopped = tree.extras["stopped"] == Stop.SIGNIFICANCE
        assert stopped.any()
        assert np.all(tree.extras["split_p"][stopped] > 0.5)


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_the_f_test_is_about_squares_whatever_the_criterion(criterion):
    X, y = noisy()
    y = 1.0 + y + X[:, 0]
    tree = CARTRegressor(criterion=criterion, min_significance=0.01).fit(X, y).tree_
    parts = [y[X[:, tree.splits.feature[0]] < t] for t in tree.splits.breaks[:1]]
    rest = y[X[:, tree.splits.feature[0]] >= tree.splits.breaks[0]]
    expected = f_oneway(*parts, rest).pvalue
    np.testing.assert_allclose(tree.extras["split_p"][0], expected, rtol=1e-9)


def test_growth_itself_ends_where_a_split_could_be_chance():
    """What lies below is never looked at: a criterion of one's own is asked less often."""
    asked = []

    def gini(left, right):
        asked.append(len(left))

        def impurity(counts):
            total = counts.sum(axis=1)
            return total - (counts**2).sum(axis=1) / total

        return impurity(left + right) - impurity(left) - impurity(right)

    X, y = noisy()
    HuntClassifier(criterion=gini).fit(X, y)
    whole, asked[:] = sum(asked), []
    HuntClassifier(criterion=gini, min_significance=0.001).fit(X, y)
    assert sum(asked) < whole / 2


@pytest.mark.parametrize("min_significance", [None, 0.01])
def test_rows_with_gaps_have_reasons_in_release_8(min_significance):
    X, y = categories()
    X.loc[::7, "a"] = None
    tree = (
        C45Classifier(variant="release8", pruning=None, min_significance=min_significance)
        .fit(X, y)
        .tree_
    )
    assert all(node.stopped for node in tree.nodes if node.is_leaf)
    if min_significance is not None:
        assert any("is above" in (node.stopped or "") for node in tree.nodes)
        inner = ~tree.is_leaf
        twin = split_p_values(tree)[inner]
        np.testing.assert_allclose(tree.extras["split_p"][inner], twin, rtol=1e-4)


OWN_TESTS = [
    (CTreeClassifier, "no split at alpha = 0.05; the least adjusted p is"),
    (CHAIDClassifier, "no split at alpha_split = 0.05; the least adjusted p is"),
    (HoeffdingTreeClassifier, "Hoeffding's bound does not tell"),
    (OptimalTreeClassifier, "no test here makes a better tree"),
    (ObliqueTreeClassifier, "all rows are of one class"),
]


@pytest.mark.parametrize(("learner", "words"), OWN_TESTS)
def test_learners_whose_stopping_is_a_test_of_its_own_say_so(learner, words):
    own = {"leaf_penalty": 0.02} if learner is OptimalTreeClassifier else {}
    found = reasons(learner(**own).fit(*noisy()))
    assert None not in found
    assert any(words in reason for reason in found)


def test_a_branch_that_pruning_raised_does_not_claim_the_reason_of_its_growth():
    tree = C45Classifier(confidence=0.4, subset=True).fit(*categories()).tree_
    for node in tree.nodes:
        if node.is_leaf and node.stopped == "all rows are of one class":
            assert np.count_nonzero(tree.value[node.id]) == 1
    again = CARTClassifier(pruning="reduced_error", random_state=0).fit(*noisy()).tree_
    for node in again.nodes:
        if node.is_leaf and node.stopped == "all rows are of one class":
            assert np.count_nonzero(again.value[node.id]) == 1
    assert "pruning gave it rows that did not grow it" in reasons_of(tree)


def test_reasons_of_damaged_files_are_refused():
    tree = CARTClassifier(min_significance=0.01).fit(*noisy()).tree_
    data = tree.to_dict()
    assert reasons_of(type(tree).from_dict(data)) == reasons_of(tree)
    data["extras"]["stopped"]["values"][0] = 99
    with pytest.raises(ModelFileError, match="stopped must hold reasons"):
        type(tree).from_dict(data)
    data = tree.to_dict()
    del data["extras"]["split_p"]
    with pytest.raises(ModelFileError, match="names a test of significance"):
        type(tree).from_dict(data)
    data = tree.to_dict()
    data["stopping"]["max_depth"] = "deep"
    with pytest.raises(ModelFileError, match="max_depth of its stopping rules"):
        type(tree).from_dict(data)


def test_a_test_at_each_node_and_a_number_of_leaves_go_together():
    model = CARTClassifier(min_significance=0.05, max_leaf_nodes=5).fit(*noisy())
    assert 2 <= model.get_n_leaves() <= 5
    assert np.all(split_p_values(model.tree_)[~model.tree_.is_leaf] <= 0.05)


def test_a_level_of_significance_out_of_range_is_refused():
    with pytest.raises(ParameterError, match="min_significance must be"):
        CARTClassifier(min_significance=1.5).fit(*rings())
