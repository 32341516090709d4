"""C45Rules: what the rules are, how they predict, and odd input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treewright
from treewright import C45Classifier, C45Rules
from treewright.datasets import load_iris, load_play_tennis, load_titanic
from treewright.errors import ModelFileError, ParameterError
from treewright.rules._candidates import leaf_paths


def titanic():
    data = load_titanic()
    return data.data.to_pandas(), np.asarray(data.target)


def test_play_tennis_has_the_rules_that_c45rules_prints():
    days = load_play_tennis()
    rules = C45Rules().fit(days.data, days.target).rules_
    found = {rule.text(): (rule.outcome, round(100 * rule.confidence, 1)) for rule in rules}
    assert found == {
        "Outlook = Sunny and Humidity = High": ("No", 63.0),
        "Outlook = Rain and Wind = Strong": ("No", 50.0),
        "Outlook = Overcast": ("Yes", 70.7),
        "Humidity = Normal": ("Yes", 66.2),
        "Outlook = Rain and Wind = Weak": ("Yes", 63.0),
    }
    assert rules.default == "Yes"
    assert rules[0].outcome == "No"


def test_rules_are_made_from_the_unpruned_tree():
    X, y = titanic()
    model = C45Rules().fit(X, y)
    tree = C45Classifier(pruning=None).fit(X, y).tree_
    assert model.tree_.to_dict() == tree.to_dict()
    paths, labels = leaf_paths(tree)
    assert len(paths) == np.count_nonzero(tree.is_leaf & (tree.weight > 0))
    assert labels.tolist() == [
        tree.label[leaf] for leaf in tree.walk() if tree.is_leaf[leaf] and tree.weight[leaf] > 0
    ]


def test_rules_are_fewer_and_shorter_than_paths():
    X, y = titanic()
    model = C45Rules().fit(X, y)
    paths, _ = leaf_paths(model.tree_)
    assert len(model.rules_) < len(paths) / 2
    shortest = np.mean([len(rule.conditions) for rule in model.rules_])
    assert shortest < np.mean([len(path) for path in paths])


def test_support_is_counted_on_the_training_rows():
    X, y = titanic()
    rules = C45Rules().fit(X, y).rules_
    again = rules.recount(X, y)
    for rule, counted in zip(rules, again, strict=True):
        assert (rule.n_samples, rule.value, rule.errors) == (
            counted.n_samples,
            counted.value,
            counted.errors,
        )
        assert rule.confidence <= counted.confidence  # pessimistic beside Laplace


def test_rules_of_a_class_stand_together_the_surest_first():
    X, y = titanic()
    rules = C45Rules().fit(X, y).rules_
    outcomes = [rule.outcome for rule in rules]
    assert outcomes == sorted(outcomes, key=outcomes.index)
    for outcome in set(outcomes):
        sure = [rule.confidence for rule in rules if rule.outcome == outcome]
        assert sure == sorted(sure, reverse=True)


def test_no_rule_costs_more_errors_than_it_saves():
    X, y = titanic()
    model = C45Rules().fit(X, y)
    wrong = np.count_nonzero(model.predict(X) != y)
    rules = model.rules_
    for i in range(len(rules)):
        rest = treewright.rules.RuleSet(
            rules.schema, rules.rules[:i] + rules.rules[i + 1 :], rules.default, rules.default_value
        )
        assert np.count_nonzero(rest.predict(X) != y) >= wrong


def test_the_first_rule_decides_and_its_rows_give_the_probabilities():
    X, y = titanic()
    model = C45Rules().fit(X, y)
    first = model.rules_.apply(X)
    assert (first == -1).any()
    proba = model.predict_proba(X)
    for row in range(0, len(y), 40):
        if first[row] >= 0:
            rule = model.rules_[first[row]]
            assert model.predict(X)[row] == rule.outcome
            np.testing.assert_allclose(proba[row], np.array(rule.value) / rule.weight)


def test_more_weight_on_the_theory_keeps_fewer_rules():
    X, y = titanic()
    sizes = [len(C45Rules(theory_share=share).fit(X, y).rules_) for share in (0.1, 0.5, 2.0)]
    assert sizes[0] > sizes[1] > sizes[2]


def test_confidence_must_be_a_confidence():
    X, y = titanic()
    with pytest.raises(ParameterError, match="confidence must be"):
        C45Rules(confidence=0.0).fit(X, y)


def test_subsets_of_categories_are_conditions():
    X, y = titanic()
    rng = np.random.default_rng(0)
    X["port"] = rng.choice(list("abcdefgh"), len(y))
    y = np.where(X["port"].isin(["a", "c", "e"]), y, 1 - y)
    rules = C45Rules(subset=True).fit(X, y).rules_
    assert any(" in {" in rule.text() for rule in rules)


def test_saved_rules_come_back(tmp_path):
    X, y = titanic()
    model = C45Rules().fit(X, y)
    treewright.save(model, tmp_path / "m.tw")
    back = treewright.load(tmp_path / "m.tw")
    assert back.rules_.to_json() == model.rules_.to_json()
    assert np.array_equal(back.predict_proba(X), model.predict_proba(X))
    state = model._state()
    state["learned"]["rules"] = C45Rules().fit(X[["Age"]], y).rules_
    with pytest.raises(ModelFileError, match="do not fit"):
        C45Rules()._restore(state)


def test_threads_do_not_change_the_rules():
    iris = load_iris()
    one, two = (C45Rules(n_jobs=n).fit(iris.data, iris.target).rules_ for n in (1, 2))
    assert one.to_json() == two.to_json()


# -- odd input ---------------------------------------------------------------------------------


def test_a_nominal_feature_with_one_value_is_in_no_rule():
    X = pd.DataFrame({"one": ["a"] * 12, "two": list("xy") * 6})
    y = [0, 1] * 6
    rules = C45Rules().fit(X, y).rules_
    assert not any("one" in rule.text() for rule in rules)
    alone = C45Rules().fit(X[["one"]], y)
    assert len(alone.rules_) == 0
    assert alone.predict(X[["one"]]).tolist() == [0] * 12


@pytest.mark.parametrize("kind", [float, object])
def test_a_column_of_gaps_is_in_no_rule(kind):
    gaps = np.full(12, np.nan) if kind is float else np.full(12, None, object)
    X = pd.DataFrame({"gaps": gaps, "two": list("xy") * 6})
    model = C45Rules().fit(X, [0, 1] * 6)
    assert not any("gaps" in rule.text() for rule in model.rules_)
    assert model.score(X, [0, 1] * 6) == 1.0


def test_one_class_is_the_default():
    model = C45Rules().fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])
    assert len(model.rules_) == 0
    assert str(model.rules_) == "Default class: a"
    assert model.predict([[9.0]]).tolist() == ["a"]
    assert model.predict_proba([[9.0]]).tolist() == [[1.0]]


def test_two_rows_are_too_few_for_a_rule():
    model = C45Rules().fit(pd.DataFrame({"a": ["x", "y"]}), ["no", "yes"])
    assert len(model.rules_) == 0
    assert model.rules_.default == "no"


def test_ten_thousand_values_are_no_reason_to_wait():
    X = pd.DataFrame({"id": [f"n{i:05}" for i in range(10_000)], "b": ["u", "v"] * 5_000})
    y = np.where(np.arange(10_000) % 2, "yes", "no")
    y[::50] = "yes"
    model = C45Rules(categorical_features=["id"]).fit(X, y)
    assert {rule.text() for rule in model.rules_} <= {"b = u", "b = v"}
    assert model.score(X, y) == pytest.approx(0.98)


def test_rows_of_gaps_fall_to_the_default():
    X, y = titanic()
    model = C45Rules().fit(X, y)
    nothing = X.iloc[:3].copy()
    for name in nothing:
        nothing[name] = None
    assert model.predict(nothing).tolist() == [model.rules_.default] * 3
