"""Candidates with their counts, lessons and rules of leaves."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes

import treewright as tw
from treewright.datasets import load_cheat, load_play_tennis, load_titanic
from treewright.errors import ParameterError
from treewright.explain import leaf_rules, teach

TENNIS = load_play_tennis()


def test_play_tennis_reads_as_the_course_does():
    model = tw.ID3Classifier().fit(TENNIS.data, TENNIS.target)
    lesson = teach(model, TENNIS.data, TENNIS.target)
    text = str(lesson)
    assert "14 rows: 5 No, 9 Yes." in text
    assert "Entropy: − 5/14 log₂ 5/14 − 9/14 log₂ 9/14 = 0.940 bits." in text
    told = re.findall(r"^(\w+):$|^  gain .* = ([\d.]+)$", "\n".join(lesson[0].text), re.M)
    gains = {told[k][0]: told[k + 1][1] for k in range(0, len(told), 2)}
    for feature, deck in {
        "Outlook": 0.246,
        "Humidity": 0.151,
        "Wind": 0.048,
        "Temperature": 0.029,
    }.items():
        assert abs(float(gains[feature]) - deck) < 0.0011
    assert "Outlook wins (0.247; next Humidity, 0.152): the node gets 3 branches." in text
    sunny = next(s for s in lesson if s.heading.endswith("Outlook = Sunny"))
    assert "Humidity wins (0.971; next Temperature, 0.571): the node gets 2 branches." in sunny.text
    assert "A leaf: all rows are of one class. It says Yes." in text
    assert len(lesson) == model.tree_.n_nodes


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (tw.ID3Classifier(), "Outlook wins (0.247; next Humidity, 0.152): the node gets 3"),
        (tw.C45Classifier(), "Outlook wins by gain ratio"),
        (tw.CARTClassifier(min_samples_split=2, min_samples_leaf=1), "Gini's index: 1 − (5/14)²"),
        (tw.CHAIDClassifier(), "A leaf: no test is significant, the smallest p is 0.0943 (Humid"),
        (tw.AdaBoostClassifier(n_estimators=2), "All 14 rows weigh 1/14 = 0.0714."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_teach_prints_the_whole_induction_of_play_tennis(learner, words, capsys):
    model = learner.fit(TENNIS.data, TENNIS.target)
    assert capsys.readouterr().out == ""
    model.set_params(teach=True).fit(TENNIS.data, TENNIS.target)
    told = capsys.readouterr().out
    assert words in told
    assert told == f"{model.lesson(TENNIS.data, TENNIS.target)}\n"


def test_members_and_paths_of_pruning_do_not_teach(capsys):
    base = tw.CARTClassifier(teach=True)
    base.cost_complexity_pruning_path(TENNIS.data, TENNIS.target)
    tw.BaggingClassifier(base, n_estimators=2).fit(TENNIS.data, TENNIS.target)
    tw.AdaBoostClassifier(base, n_estimators=2).fit(TENNIS.data, TENNIS.target)
    assert capsys.readouterr().out == ""
    drawn = tw.AdaBoostClassifier(method="resample", teach=True)
    with pytest.raises(ParameterError, match='teach needs method="reweight"'):
        drawn.fit(TENNIS.data, TENNIS.target)


def test_every_tree_learner_can_be_taught():
    titanic = load_titanic()
    X, y = titanic.data, titanic.target
    for learner, word in (
        (tw.C45Classifier(min_samples_leaf=20), "gain ratio"),
        (tw.CARTClassifier(max_depth=2), "Gini's index"),
        (tw.CHAIDClassifier(max_depth=1), "adjusted p"),
        (tw.CTreeClassifier(max_depth=1), "smallest p"),
        (tw.C50Classifier(min_samples_leaf=50), "wins"),
    ):
        lesson = learner.fit(X, y).lesson(X, y)
        assert word in str(lesson), type(learner)
        assert len(lesson.frame()) == len(lesson)
        assert "<h4>" in lesson._repr_html_()
    X, z = load_diabetes(return_X_y=True, as_frame=True)
    assert "mean" in str(tw.CARTRegressor(max_depth=1).fit(X, z).lesson(X, z))


def test_the_rounds_of_adaboost_are_told_with_their_weights():
    model = tw.AdaBoostClassifier(n_estimators=3, algorithm="m1").fit(TENNIS.data, TENNIS.target)
    text = str(teach(model, TENNIS.data, TENNIS.target))
    assert "All 14 rows weigh 1/14 = 0.0714." in text
    for error, vote in zip(model.estimator_errors_, model.estimator_weights_, strict=True):
        assert f"= {error:.3f}." in text
        assert f"½ ln(1/{error:.3f} − 1) = {vote:.3f}." in text
    last = f"The first 3 together get {model.training_errors_[-1]:.1%} of the training rows wrong."
    assert last in text
    drawn = tw.AdaBoostClassifier(n_estimators=2, method="resample", random_state=0)
    with pytest.raises(ParameterError, match="reweight"):
        drawn.fit(TENNIS.data, TENNIS.target).lesson(TENNIS.data, TENNIS.target)
    with pytest.raises(ParameterError, match="learner of one tree"):
        teach(tw.RandomForestClassifier(), TENNIS.data, TENNIS.target)


def test_measures_of_candidates_do_not_depend_on_the_learner():
    found = []
    for learner in (
        tw.ID3Classifier(),
        tw.HuntClassifier(criterion="gini", nominal_split="multiway"),
    ):
        trace = learner.fit(TENNIS.data, TENNIS.target).trace(0, TENNIS.data, TENNIS.target)
        table = trace.measures()
        found.append(dict(zip(table["feature"], table["information_gain"], strict=True)))
    assert_allclose(found[0]["Outlook"], 0.24675, atol=1e-5)
    assert found[0].keys() == found[1].keys()
    assert_allclose([found[0][k] for k in found[0]], [found[1][k] for k in found[0]])


def test_counts_add_up_to_the_node():
    cheat = load_cheat()
    model = tw.CARTClassifier(min_samples_split=2, min_samples_leaf=1).fit(cheat.data, cheat.target)
    trace = model.trace(0, cheat.data, cheat.target)
    for candidate in trace:
        table = trace.counts(candidate.feature)
        assert table["n_samples"].sum() == 10
        assert table[["No", "Yes"]].to_numpy().sum(axis=0).tolist() == [7, 3]
    numbers = tw.CARTRegressor(max_depth=1).fit([[1.0], [2.0]], [1.0, 2.0])
    trace = numbers.trace(0, [[1.0], [2.0]], [1.0, 2.0])
    assert trace.counts(0)["mean"].tolist() == [1.0, 2.0]
    with pytest.raises(ParameterError, match="predicts numbers"):
        trace.measures()


def test_learners_that_choose_by_a_test_show_p():
    titanic = load_titanic()
    model = tw.CHAIDClassifier(max_depth=1).fit(titanic.data, titanic.target)
    trace = model.trace(0, titanic.data, titanic.target)
    assert trace.has_p
    assert_allclose(np.log(trace[0].p_value), model.tree_.log_p[0])
    assert "p_value" in trace.frame().columns
    assert trace.plot().get_xlabel() == "−log₁₀ p"


@pytest.mark.parametrize("leaves", ["majority", "naive_bayes"])
def test_rules_of_a_stream_are_refused_where_leaves_hold_models(leaves):
    X = np.random.default_rng(0).normal(size=(400, 2))
    model = tw.HoeffdingTreeClassifier(leaf_prediction=leaves).fit(X, (X[:, 0] > 0).astype(int))
    if leaves == "majority":
        assert len(leaf_rules(model)) == model.tree_.n_leaves
        return
    for what, ask in (("leaf_rules", leaf_rules), ("rule_set", lambda m: m.rule_set())):
        with pytest.raises(ParameterError, match=f"{what} needs leaves that answer"):
            ask(model)


def test_a_star_is_a_leaf_and_nothing_else():
    titanic = load_titanic()
    model = tw.CTreeClassifier(max_depth=1).fit(titanic.data, titanic.target)
    cart = tw.CARTClassifier(max_depth=1).fit(titanic.data, titanic.target)
    trace = cart.trace(0, titanic.data, titanic.target)
    X = np.random.default_rng(0).normal(size=(60, 2))
    linear = tw.ObliqueTreeClassifier(max_depth=1).fit(X, X.sum(axis=1) > 0)
    for told in (str(trace), str(trace.cuts("Fare")), str(model.tree_.node_tests())):
        assert "*" not in told
    assert "chosen" in str(trace)
    for model_text in (model.tree_.to_text(ascii=True), linear.tree_.to_text(ascii=True)):
        for line in model_text.splitlines()[2:]:
            assert "*" not in line.rstrip(" *")


def test_rules_of_leaves_come_with_support_confidence_and_lift():
    model = tw.ID3Classifier().fit(TENNIS.data, TENNIS.target)
    rules = leaf_rules(model)
    frame = rules.frame()
    assert frame["rule"][0] == "Outlook = Overcast"
    assert_allclose(frame["support"][0], 4 / 14)
    assert_allclose(frame["lift"][0], 14 / 9)
    assert frame["support"].sum() == pytest.approx(1)
    assert leaf_rules(model, order="lift")[0].outcome == "No"
    assert "lift 1.56" in str(rules)
    assert "<table>" in rules._repr_html_()
    with pytest.raises(ParameterError, match="order must be"):
        leaf_rules(model, order="length")  # type: ignore[arg-type]
    X, z = load_diabetes(return_X_y=True)
    numbers = leaf_rules(tw.CARTRegressor(max_depth=2).fit(X, z)).frame()
    assert "lift" not in numbers.columns
    assert numbers["outcome"].is_monotonic_decreasing
