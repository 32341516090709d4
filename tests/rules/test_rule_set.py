"""Rule sets: predicting, counting, reading and storing them."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import treewright
from treewright import CARTClassifier, CARTRegressor, HuntClassifier
from treewright.data.schema import Feature, Schema, Target
from treewright.datasets import load_play_tennis, load_titanic
from treewright.errors import DataError, ModelFileError, ParameterError
from treewright.rules import Rule, RuleSet
from treewright.tree.conditions import Bounds, Interval, Members

AGE = Feature("age", "continuous")
COLOUR = Feature("colour", "nominal", ("blue", "green", "red"))
SCHEMA = Schema((AGE, COLOUR), True, Target("y", ("no", "yes")))


def by_hand(decision="first") -> RuleSet:
    rules = (
        Rule((Interval(AGE, Bounds(high=30.0)),), "no", 4, 4.0, 0.6, value=(3.0, 1.0), vote=0.6),
        Rule(
            (Members(COLOUR, (2,)), Interval(AGE, Bounds(low=20.0, includes_low=True))),
            "yes",
            5,
            5.0,
            0.9,
            value=(0.0, 5.0),
            vote=0.9,
        ),
        Rule((Members(COLOUR, (0, 1)),), "no", 6, 6.0, 0.7, value=(5.0, 1.0), vote=0.7),
    )
    return RuleSet(SCHEMA, rules, "yes", (1.0, 3.0), decision)


ROWS = {
    "age": [25.0, 10.0, 40.0, None, None, 25.0],
    "colour": ["red", "red", "red", "red", "blue", None],
}


def test_the_first_rule_that_holds_decides():
    rules = by_hand()
    assert rules.apply(ROWS).tolist() == [0, 0, 1, -1, 2, 0]
    assert rules.predict(ROWS).tolist() == ["no", "no", "yes", "yes", "no", "no"]
    expected = [[0.75, 0.25], [0.75, 0.25], [0, 1], [0.25, 0.75], [5 / 6, 1 / 6], [0.75, 0.25]]
    np.testing.assert_allclose(rules.predict_proba(ROWS), expected)


def test_rules_that_hold_vote_with_their_weight():
    rules = by_hand("vote")
    assert rules.predict(ROWS).tolist() == ["yes", "no", "yes", "yes", "no", "no"]
    proba = rules.predict_proba(ROWS)
    np.testing.assert_allclose(proba[0], [0.6 / 1.5, 0.9 / 1.5])
    np.testing.assert_allclose(proba[3], [0.25, 0.75])


def test_a_condition_on_a_gap_is_false_unless_it_takes_gaps():
    rules = by_hand()
    with_gap = replace(rules.rules[0].conditions[0], gap=True)
    taking = replace(rules, rules=(replace(rules.rules[0], conditions=(with_gap,)),))
    assert rules.apply({"age": [None], "colour": [None]}).tolist() == [-1]
    assert taking.apply({"age": [None], "colour": [None]}).tolist() == [0]


def test_matches_and_coverage_count_every_rule_that_holds():
    rules = by_hand()
    assert rules.matches(ROWS).toarray().tolist() == [
        [1, 1, 0],
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 0],
        [0, 0, 1],
        [1, 0, 0],
    ]
    assert rules.coverage(ROWS).tolist() == [3, 2, 1]
    assert rules.confidence.tolist() == [0.6, 0.9, 0.7]


def test_threads_do_not_change_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    rules = CARTClassifier(max_depth=6).fit(X, X[:, 0] * X[:, 1] > 0).rule_set()
    assert np.array_equal(rules.predict(X), rules.predict(X, n_threads=3))


def titanic():
    data = load_titanic()
    return data.data.to_pandas(), data.target


@pytest.mark.parametrize(
    "model",
    [
        CARTClassifier(),
        CARTClassifier(missing="own_branch"),
        CARTClassifier(missing="majority", priors="uniform"),
        HuntClassifier(nominal_split="multiway", ordinal_split="multiway"),
    ],
)
def test_the_rules_of_a_tree_predict_as_the_tree_does(model):
    X, y = titanic()
    model.fit(X, y)
    rules = model.rule_set()
    assert len(rules) == model.get_n_leaves()
    assert np.array_equal(rules.predict(X), model.predict(X))
    np.testing.assert_allclose(rules.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(rules.coverage(X), [rule.n_samples for rule in rules])


def test_the_rules_of_a_regression_tree_predict_numbers():
    X, _ = titanic()
    y = X.pop("Fare").to_numpy()
    model = CARTRegressor(max_depth=4).fit(X, y)
    rules = model.tree_.rule_set()
    np.testing.assert_array_equal(rules.predict(X), model.predict(X))
    by_vote = replace(rules, decision="vote")
    np.testing.assert_allclose(by_vote.predict(X), model.predict(X))
    two = CARTRegressor(max_depth=3).fit(X, np.column_stack([y, -y]))
    np.testing.assert_array_equal(two.rule_set().predict(X), two.predict(X))
    with pytest.raises(ParameterError, match="predict numbers"):
        rules.predict_proba(X)


def test_recounting_on_the_training_rows_gives_the_support_of_the_tree():
    X, y = titanic()
    rules = CARTClassifier(max_depth=4).fit(X, y).rule_set()
    again = rules.recount(X, y)
    for old, new in zip(rules, again, strict=True):
        assert new.n_samples == old.n_samples
        assert (new.value, new.errors, new.confidence) == (old.value, old.errors, old.confidence)
    doubled = rules.recount(X, y, sample_weight=np.full(len(y), 2.0))
    assert [rule.weight for rule in doubled] == [2 * rule.weight for rule in rules]
    half = np.arange(len(y)) % 2 == 0
    weighted = rules.recount(X, y, sample_weight=half.astype(float))
    taken = rules.recount(X[half], np.asarray(y)[half])
    assert [rule.value for rule in weighted] == [rule.value for rule in taken]


def test_confidence_is_laplaces_and_lift_is_relative_to_the_class():
    data = load_play_tennis()
    model = HuntClassifier(criterion="entropy", nominal_split="multiway")
    rule = model.fit(data.data, data.target).rule_set()[0]
    assert (rule.outcome, rule.n_samples, rule.errors) == ("Yes", 4, 0.0)
    assert rule.confidence == pytest.approx(5 / 6)
    assert rule.lift == pytest.approx(5 / 6 / (9 / 14))


def test_frames_are_matched_by_name_and_unknown_categories_are_gaps():
    frame = pd.DataFrame({"colour": ["red", "pink"], "age": [40, 40]})
    assert by_hand().apply(frame).tolist() == [1, -1]
    with pytest.raises(DataError, match="'age'"):
        by_hand().predict({"colour": ["red"]})


def test_text_reads_like_the_programs():
    assert by_hand().to_text() == (
        "Rule 1:\n"
        "    age < 30\n"
        "    -> class no  [60.0%]\n"
        "\n"
        "Rule 2:\n"
        "    colour = red\n"
        "    age >= 20\n"
        "    -> class yes  [90.0%]\n"
        "\n"
        "Rule 3:\n"
        "    colour in {blue, green}\n"
        "    -> class no  [70.0%]\n"
        "\n"
        "Default class: yes"
    )
    counted = by_hand("vote").recount({"age": [25.0, 5.0], "colour": ["red"] * 2}, ["yes", "no"])
    assert str(counted).startswith(
        "Rule 1: (2/1, lift 1.0)\n    age < 30\n    -> class no  [0.500]"
    )


def test_two_ends_of_a_range_are_two_lines():
    between = Interval(AGE, Bounds(20.0, 30.0, False, True))
    rules = replace(by_hand(), rules=(replace(by_hand()[0], conditions=(between,)),))
    assert "    age > 20\n    age <= 30\n" in rules.to_text()


def test_a_slice_is_a_rule_set_and_frames_have_a_row_per_rule():
    rules = by_hand()
    assert rules[1:].apply(ROWS).tolist() == [0, -1, 0, -1, 1, -1]
    frame = rules.frame()
    assert frame["outcome"].tolist() == ["no", "yes", "no"]
    assert "Members" not in repr(rules)
    assert "<table>" in rules._repr_html_()


def test_names_from_the_data_are_escaped_in_html():
    strange = Feature("<b>", "continuous")
    schema = Schema((strange,), True, SCHEMA.target)
    rule = Rule((Interval(strange, Bounds(high=1.0)),), "no", 1, 1.0, 0.5, value=(1.0, 0.0))
    assert "<b>" not in RuleSet(schema, (rule,), "no", (1.0, 0.0))._repr_html_()


def assert_same(a: RuleSet, b: RuleSet) -> None:
    assert a.rules == b.rules
    assert (a.schema, a.default, a.default_value) == (b.schema, b.default, b.default_value)
    assert (a.decision, a.gap_names) == (b.decision, b.gap_names)


def stored():
    X, y = titanic()
    yield by_hand("vote")
    yield CARTClassifier(missing="own_branch", max_depth=5).fit(X, y).rule_set()
    yield HuntClassifier(nominal_split="multiway").fit(X, y == 1).rule_set()
    yield CARTRegressor(max_depth=3).fit(X, X.pop("Age").fillna(0.0)).rule_set()


@pytest.mark.parametrize("rules", list(stored()), ids=repr)
def test_what_was_stored_comes_back(rules, tmp_path):
    assert_same(RuleSet.from_json(rules.to_json()), rules)
    assert_same(RuleSet.from_dict(rules.to_dict()), rules)
    assert_same(pickle.loads(pickle.dumps(rules)), rules)
    assert_same(copy.deepcopy(rules), rules)
    treewright.save(rules, tmp_path / "rules.tw")
    assert_same(treewright.load(tmp_path / "rules.tw"), rules)


def changed(path, value):
    data = json.loads(by_hand().to_json())
    entry = data
    for key in path[:-1]:
        entry = entry[key]
    if value is KeyError:
        del entry[path[-1]]
    else:
        entry[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["format"], 2),
        (["format"], 0),
        (["decision"], "any"),
        (["default"], "maybe"),
        (["default"], None),
        (["default_value"], [1.0]),
        (["default_value"], [1.0, "x"]),
        (["gap_names"], ["nobody"]),
        (["rules"], {}),
        (["rules", 0, "then"], ["no"]),
        (["rules", 0, "value"], [1.0, 2.0, 3.0]),
        (["rules", 0, "weight"], -1.0),
        (["rules", 0, "weight"], KeyError),
        (["rules", 0, "vote"], True),
        (["rules", 0, "n_samples"], 1.5),
        (["rules", 0, "if", 0, "feature"], "nobody"),
        (["rules", 0, "if", 0, "feature"], "colour"),
        (["rules", 0, "if", 0, "high"], "30"),
        (["rules", 0, "if", 0, "gap"], 1),
        (["rules", 2, "if", 0, "in"], ["pink"]),
        (["rules", 2, "if", 0, "in"], [[]]),
        (["rules", 2, "if", 0, "feature"], "age"),
        (["rules", 0, "if", 0], {"terms": [], "gap": False}),
    ],
    ids=str,
)
def test_damaged_rule_sets_are_refused(path, value):
    with pytest.raises(ModelFileError):
        RuleSet.from_dict(changed(path, value))


def test_text_that_is_not_json_is_refused_in_a_sentence():
    with pytest.raises(ModelFileError, match="JSON"):
        RuleSet.from_json("no rules")


def test_rule_sets_that_do_not_fit_together_are_refused():
    with pytest.raises(ParameterError, match="decision"):
        replace(by_hand(), decision="all")
    with pytest.raises(ParameterError, match="classes of the schema"):
        replace(by_hand(), default="maybe")
    with pytest.raises(ParameterError, match="2 values"):
        replace(by_hand(), default_value=(1.0,))
    with pytest.raises(ParameterError, match="target"):
        replace(by_hand(), schema=Schema((AGE, COLOUR)))
