"""What users of scikit-learn expect of an ensemble: its length, its members, words on the way."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.ensemble
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    estimator_checks_generator,
)

import treewright as tw

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 9))
Y = np.where(X[:, 0] + RANDOM.normal(size=60) > 0.8, "few", "many")

SEQUENCES = [
    tw.RandomForestClassifier(4, random_state=0),
    tw.ExtraTreesRegressor(4, random_state=0),
    tw.BaggingClassifier(tw.C45Classifier(), 4, random_state=0),
    tw.BaggingClassifier(LogisticRegression(), 4, random_state=0),
    tw.AdaBoostClassifier(n_estimators=4, random_state=0),
    tw.GradientBoostingRegressor(n_estimators=4),
]


@pytest.mark.parametrize("model", SEQUENCES, ids=lambda m: type(m).__name__)
def test_an_ensemble_is_the_sequence_of_its_members(model):
    y = X[:, 1] if type(model).__name__.endswith("Regressor") else Y
    model.fit(X, y)
    assert len(model) == len(model.estimators_) == 4
    assert len(list(model)) == 4
    assert type(model[0]) is type(model.estimators_[0])
    assert len(model[1:3]) == 2
    if hasattr(model[-1], "predict"):
        assert_array_equal(model[-1].predict(X), list(model)[3].predict(X))
    with pytest.raises(IndexError):
        model[4]


def test_an_ensemble_that_is_not_fitted_has_no_length_but_is_true():
    model = tw.RandomForestClassifier()
    with pytest.raises(NotFittedError):
        len(model)
    assert (model or None) is model


@pytest.mark.parametrize("classes", [True, False])
def test_the_number_of_outputs_is_known(classes):
    model = tw.RandomForestClassifier(2) if classes else tw.RandomForestRegressor(2)
    y = Y if classes else np.column_stack([X[:, 0], X[:, 1]])
    assert model.fit(X, y).n_outputs_ == (1 if classes else 2)
    assert model[0].n_outputs_ == model.n_outputs_


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (tw.CARTClassifier(max_features="sqrt"), 3),
        (tw.CARTClassifier(), 9),
        (tw.CTreeClassifier(max_features=4), 4),
        (tw.RandomForestClassifier(2), 3),
        (tw.BaggingClassifier(n_estimators=2, method="subspaces"), 4),
        (tw.BaggingClassifier(LogisticRegression(), 2, max_features=0.7), 6),
        (tw.GradientBoostingClassifier(n_estimators=2, max_features=0.5), 5),
    ],
    ids=lambda m: type(m).__name__ if hasattr(m, "fit") else str(m),
)
def test_what_max_features_came_to_is_known_and_kept_in_files(model, expected, tmp_path):
    assert model.fit(X, Y).max_features_ == expected
    if not isinstance(getattr(model, "estimator", None), LogisticRegression):
        tw.save(model, tmp_path / "m.tw")
        assert tw.load(tmp_path / "m.tw").max_features_ == expected


def test_max_features_came_to_what_scikit_learn_makes_of_it():
    for value in ("sqrt", "log2", 0.35, 7, None):
        theirs = DecisionTreeClassifier(max_features=value).fit(X, Y)
        assert tw.CARTClassifier(max_features=value).fit(X, Y).max_features_ == theirs.max_features_


@pytest.mark.parametrize(
    ("model", "last"),
    [
        (tw.RandomForestClassifier(30), "30 of 30 members"),
        (tw.ExtraTreesClassifier(30, early_stopping=False), "30 of 30 members"),
        (tw.BaggingClassifier(DecisionTreeClassifier(), 20), "20 of 20 members"),
        (tw.VotingClassifier([("a", tw.C45Classifier()), ("b", tw.CARTClassifier())]), "2 of 2"),
        (tw.StackingClassifier([("a", tw.CARTClassifier())], cv=3), "1 of 1 members"),
    ],
    ids=lambda m: type(m).__name__ if hasattr(m, "fit") else None,
)
def test_verbose_tells_of_progress_and_silence_is_the_default(model, last, capsys):
    model.fit(X, Y)
    assert capsys.readouterr().out == ""
    model.set_params(verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert 1 <= len(lines) <= 11
    assert lines[-1].startswith(type(model).__name__)
    assert last in lines[-1]


def test_more_verbose_tells_of_every_member_those_of_before_left_out(capsys):
    model = tw.BaggingClassifier(tw.C45Classifier(), 3, warm_start=True).fit(X, Y)
    model.set_params(n_estimators=6, verbose=2).fit(X, Y)
    told = [line.split(": ")[1].split(" of")[0] for line in capsys.readouterr().out.splitlines()]
    assert told == ["4", "5", "6"]


@pytest.mark.parametrize(
    "model",
    [
        tw.ID3Classifier(max_depth=1),
        tw.CTreeClassifier(max_depth=1),
        tw.BaggingClassifier(tw.CARTClassifier(max_depth=1), 25, random_state=0),
        tw.BaggingClassifier(DecisionTreeClassifier(max_depth=1), 25, random_state=0),
    ],
    ids=lambda m: type(m).__name__,
)
def test_class_weight_moves_predictions_towards_the_rare_class(model):
    heavy = {"few": 20.0, "many": 1.0}
    plain = np.count_nonzero(model.fit(X, Y).predict(X) == "few")
    weighted = np.count_nonzero(model.set_params(class_weight=heavy).fit(X, Y).predict(X) == "few")
    assert weighted > plain
    model.set_params(class_weight="balanced").fit(X, Y)


@pytest.mark.parametrize("learner", [tw.ID3Classifier, tw.CTreeClassifier])
def test_class_weight_is_the_weight_of_the_rows_of_a_class(learner):
    by_class = learner(class_weight={"few": 3.0}).fit(X, Y)
    by_row = learner().fit(X, Y, sample_weight=np.where(Y == "few", 3.0, 1.0))
    assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))


def failing(model):
    """Names of the checks on weights that ``model`` fails."""
    found = []
    for one, check in estimator_checks_generator(model):
        name = check.func.__name__
        if "sample_weight_equivalence" in name:
            try:
                check(one)
            except AssertionError:
                found.append(name)
    return found


@pytest.mark.parametrize("name", ["RandomForestClassifier", "BaggingRegressor"])
def test_what_is_declared_to_fail_is_what_fails_for_scikit_learn_as_well(name):
    ours, theirs = getattr(tw, name)(), getattr(sklearn.ensemble, name)()
    declared = list(tw.expected_failed_checks(ours))
    assert failing(ours.set_params(n_estimators=5)) == declared
    assert failing(theirs.set_params(n_estimators=5)) == declared


def test_nothing_is_declared_to_fail_where_no_rows_are_drawn():
    without = tw.RandomForestClassifier(3, bootstrap=False, random_state=0)
    assert tw.expected_failed_checks(without) == {}
    check_sample_weight_equivalence_on_dense_data("RandomForestClassifier", without)
    team = tw.VotingClassifier([("a", tw.CARTClassifier()), ("b", tw.RandomForestClassifier())])
    assert len(tw.expected_failed_checks(team)) == 2
