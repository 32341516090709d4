"""ID3: worked examples, intervals of continuous features, gaps, and odd input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import treewright
from treewright import HuntClassifier, ID3Classifier
from treewright.criteria import gain, gain_ratio, impurity
from treewright.datasets import load_cheat, load_play_tennis, load_titanic
from treewright.errors import DataError, ParameterError


@pytest.fixture
def tennis():
    return load_play_tennis()


# -- worked examples ---------------------------------------------------------------------------


def test_the_gains_of_play_tennis_are_those_of_the_textbook(tennis):
    model = ID3Classifier().fit(tennis.data, tennis.target)
    root = model.trace(0, tennis.data, tennis.target)
    assert root.impurity == pytest.approx(0.940, abs=0.001)
    assert impurity([9, 5], "entropy") == pytest.approx(0.940, abs=0.001)
    deck = {"Outlook": 0.246, "Humidity": 0.151, "Wind": 0.048, "Temperature": 0.029}
    exact = {"Outlook": 0.24675, "Humidity": 0.15184, "Wind": 0.04813, "Temperature": 0.02922}
    for name in deck:
        assert root[name].gain == pytest.approx(deck[name], abs=0.001)
        assert root[name].gain == pytest.approx(exact[name], abs=0.00001)
    assert [candidate.feature for candidate in root] == list(deck)


def test_the_gains_among_the_sunny_days_are_those_of_the_textbook(tennis):
    model = ID3Classifier().fit(tennis.data, tennis.target)
    sunny = next(n.id for n in model.tree_.nodes if n.condition == "Outlook = Sunny")
    found = model.trace(sunny, tennis.data, tennis.target)
    assert found.n_samples == 5
    deck = {"Humidity": 0.970, "Temperature": 0.570, "Wind": 0.019}
    exact = {"Humidity": 0.97095, "Temperature": 0.57095, "Wind": 0.01997}
    for name in deck:
        assert found[name].gain == pytest.approx(deck[name], abs=0.001)
        assert found[name].gain == pytest.approx(exact[name], abs=0.00001)


def test_the_tree_of_play_tennis_is_that_of_the_textbook(tennis):
    model = ID3Classifier().fit(tennis.data, tennis.target)
    rules = {rule.text(): rule.outcome for rule in model.tree_.rules()}
    assert rules == {
        "Outlook = Overcast": "Yes",
        "Outlook = Rain and Wind = Strong": "No",
        "Outlook = Rain and Wind = Weak": "Yes",
        "Outlook = Sunny and Humidity = High": "No",
        "Outlook = Sunny and Humidity = Normal": "Yes",
    }
    yes = [rule for rule in model.rule_set() if rule.outcome == "Yes"]
    assert [rule.text() for rule in yes] == [
        "Outlook = Overcast",
        "Outlook = Rain and Wind = Weak",
        "Outlook = Sunny and Humidity = Normal",
    ]
    assert model.score(tennis.data, tennis.target) == 1.0


def class_counts(values, y):
    return pd.crosstab(pd.Series(values), np.asarray(y)).to_numpy().tolist()


def test_gain_puts_an_identifier_first_and_gain_ratio_does_not():
    cheat = load_cheat()
    X = cheat.data.to_pandas()
    X["Tid"] = [f"row {i}" for i in range(10)]
    income = next(name for name in X if "ncome" in name)
    model = ID3Classifier(discretize="mdl").fit(X, cheat.target)
    assert model.tree_.nodes[0].feature == "Tid"
    assert model.trace(0, X, cheat.target)["Tid"].gain == pytest.approx(0.881, abs=0.001)
    binary = HuntClassifier(criterion="entropy", continuous_split="at_most").fit(X, cheat.target)
    assert "97.5" in binary.trace(0, X, cheat.target)[income].test
    by_tid = class_counts(X["Tid"], cheat.target)
    by_income = class_counts(X[income] <= 97.5, cheat.target)
    assert gain(by_tid, "entropy") > gain(by_income, "entropy")
    assert gain_ratio(by_tid) == pytest.approx(0.2653, abs=0.0001)
    assert gain_ratio(by_income) == pytest.approx(0.2897, abs=0.0001)


def test_a_row_number_wins_the_gain_of_tennis_five_times_over_but_not_the_ratio(tennis):
    X = pd.concat([tennis.data.to_pandas()] * 5, ignore_index=True)
    y = np.tile(np.asarray(tennis.target), 5)
    X["row"] = [str(i) for i in range(70)]
    model = ID3Classifier(categorical_features=["row"]).fit(X, y)
    assert model.tree_.nodes[0].feature == "row"
    assert gain_ratio(class_counts(X["row"], y)) == pytest.approx(0.1534, abs=0.0001)
    assert gain_ratio(class_counts(X["Outlook"], y)) == pytest.approx(0.1564, abs=0.0001)
    once = tennis.data.to_pandas().assign(row=[str(i) for i in range(14)])
    assert gain_ratio(class_counts(once["row"], tennis.target)) == pytest.approx(0.247, abs=0.001)


# -- the algorithm -----------------------------------------------------------------------------


def features_on_paths(tree):
    """For every leaf the features tested on its way."""
    for leaf in np.flatnonzero(tree.is_leaf):
        tested, node = [], int(tree.parent[leaf])
        while node >= 0:
            tested.append(int(tree.splits.feature[node]))
            node = int(tree.parent[node])
        yield tested


@pytest.mark.parametrize("discretize", ["mdl", "equal_width", "equal_frequency"])
@pytest.mark.parametrize("missing", ["fractional", "own_branch", "majority"])
def test_a_feature_is_tested_once_on_a_path(discretize, missing):
    titanic = load_titanic()
    model = ID3Classifier(discretize=discretize, missing=missing)
    model.fit(titanic.data, titanic.target)
    assert model.get_depth() > 2
    for tested in features_on_paths(model.tree_):
        assert len(tested) == len(set(tested))


def test_an_empty_branch_has_its_parents_majority():
    colour = pd.Categorical(["red", "red", "red", "blue"], categories=["blue", "green", "red"])
    X = pd.DataFrame({"colour": colour})
    model = ID3Classifier().fit(X, ["a", "a", "a", "b"])
    assert model.tree_.n_samples.tolist() == [4, 1, 0, 3]
    green = pd.DataFrame({"colour": pd.Categorical(["green"], categories=colour.categories)})
    assert model.predict(green).tolist() == ["a"]
    np.testing.assert_allclose(model.predict_proba(green), [[0.75, 0.25]])
    np.testing.assert_allclose(model.rule_set().predict_proba(green), [[0.75, 0.25]])


def test_a_bin_that_the_node_has_no_row_of_has_the_nodes_majority():
    X = np.array([[0.0], [1.0], [9.0], [10.0], [10.0]])
    model = ID3Classifier(discretize="equal_width", n_bins=5).fit(X, [0, 0, 1, 1, 1])
    assert model.tree_.splits.breaks.tolist() == [2.0, 4.0, 6.0, 8.0]
    assert model.predict([[5.0]]).tolist() == [1]


def test_growth_ends_where_nothing_gains():
    X = pd.DataFrame({"a": list("xyxy"), "b": list("uuvv")})
    model = ID3Classifier().fit(X, [0, 1, 1, 0])  # exclusive or
    assert model.get_n_leaves() == 1


def test_ordinal_features_have_a_branch_per_category():
    X = pd.DataFrame({"size": ["S", "M", "L", "S", "M", "L"]})
    model = ID3Classifier(ordinal_features={"size": ["S", "M", "L"]}).fit(X, [0, 1, 0, 0, 1, 0])
    assert model.tree_.n_children[0] == 3
    assert model.score(X, [0, 1, 0, 0, 1, 0]) == 1.0


# -- continuous features -----------------------------------------------------------------------


def test_continuous_features_are_refused_without_a_discretisation():
    X, y = load_iris(return_X_y=True)
    words = 'continuous; set discretize to "mdl", "equal_width" or "equal_frequency"'
    with pytest.raises(DataError, match=words):
        ID3Classifier(discretize=None).fit(X, y)


def test_nominal_features_need_no_discretisation(tennis):
    plain = ID3Classifier(discretize=None).fit(tennis.data, tennis.target)
    assert plain.tree_.to_dict() == ID3Classifier().fit(tennis.data, tennis.target).tree_.to_dict()


def test_iris_is_cut_at_its_published_places_at_the_node():
    X, y = load_iris(return_X_y=True)
    model = ID3Classifier().fit(X, y)
    assert model.tree_.splits.node_breaks(0).tolist() == [0.8, 1.75]
    assert model.tree_.splits.closed[0]
    assert model.bin_edges_ == {}


@pytest.mark.parametrize("discretize", ["equal_width", "equal_frequency"])
def test_fixed_bins_are_those_of_all_rows_at_every_node(discretize):
    X, y = load_iris(return_X_y=True)
    model = ID3Classifier(discretize=discretize, n_bins=6).fit(X, y)
    tree = model.tree_
    inner = np.flatnonzero(~tree.is_leaf)
    assert len(inner) > 2
    for node in inner:
        name = tree.schema.names[tree.splits.feature[node]]
        np.testing.assert_array_equal(tree.splits.node_breaks(node), model.bin_edges_[name])
    assert set(model.bin_edges_) == set(tree.schema.names)
    deep = int(inner[-1])
    assert model.trace(deep, X, y)[0].is_chosen


def test_bins_are_counted_only_where_they_are_fixed():
    X, y = load_iris(return_X_y=True)
    for discretize in ("mdl", None):
        with pytest.raises(ParameterError, match="n_bins counts bins"):
            ID3Classifier(discretize=discretize, n_bins=5).fit(X, y)
    assert len(ID3Classifier(discretize="equal_width").fit(X, y).bin_edges_["x0"]) == 9


def test_a_value_on_an_edge_goes_below_it():
    X = np.array([[0.0], [0.0], [2.0], [2.0]])
    model = ID3Classifier(discretize="equal_width", n_bins=2).fit(X, [0, 0, 1, 1])
    assert model.predict([[1.0], [np.nextafter(1.0, 2.0)]]).tolist() == [0, 1]


@pytest.mark.parametrize("discretize", ["mdl", "equal_width", "equal_frequency"])
def test_saved_models_come_back_with_their_bins(discretize, tmp_path):
    titanic = load_titanic()
    model = ID3Classifier(discretize=discretize).fit(titanic.data, titanic.target)
    treewright.save(model, tmp_path / "m.tw")
    back = treewright.load(tmp_path / "m.tw")
    assert np.array_equal(back.predict_proba(titanic.data), model.predict_proba(titanic.data))
    assert back.bin_edges_.keys() == model.bin_edges_.keys()
    for name, edges in model.bin_edges_.items():
        np.testing.assert_array_equal(back.bin_edges_[name], edges)
    assert str(back.trace(0, titanic.data, titanic.target)) == str(
        model.trace(0, titanic.data, titanic.target)
    )


# -- gaps --------------------------------------------------------------------------------------

GAPS = pd.DataFrame({"a": ["x", "x", "y", "y", None, None], "b": list("uvuvuv")})
CLASSES = np.array([0, 0, 1, 1, 1, 1])


def test_a_gap_goes_down_every_branch_with_its_share():
    model = ID3Classifier().fit(GAPS, CLASSES)
    assert model.tree_.nodes[0].feature == "a"
    proba = model.predict_proba(pd.DataFrame({"a": [None], "b": ["u"]}))
    np.testing.assert_allclose(proba, [[0.5 * 2 / 3, 0.5 / 3 + 0.5]])


def test_gaps_can_have_a_branch_of_their_own():
    model = ID3Classifier(missing="own_branch").fit(GAPS, CLASSES)
    assert model.tree_.n_children[0] == 3
    assert model.predict(pd.DataFrame({"a": [None], "b": ["u"]})).tolist() == [1]
    assert model.score(GAPS, CLASSES) == 1.0


def test_an_unknown_category_is_a_gap():
    model = ID3Classifier(missing="majority").fit(GAPS, CLASSES)
    strange = pd.DataFrame({"a": ["z", None], "b": ["u", "u"]})
    assert len(set(model.predict(strange).tolist())) == 1


# -- odd input ---------------------------------------------------------------------------------


def test_a_nominal_feature_with_one_value_is_never_tested():
    X = pd.DataFrame({"one": ["a"] * 6, "two": list("xyxyxy")})
    model = ID3Classifier().fit(X, [0, 1, 0, 1, 0, 1])
    assert model.tree_.nodes[0].feature == "two"
    alone = ID3Classifier().fit(X[["one"]], [0, 1, 0, 1, 0, 1])
    assert alone.get_n_leaves() == 1
    assert alone.predict_proba(X[["one"]][:1]).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("missing", ["fractional", "own_branch", "majority"])
@pytest.mark.parametrize("kind", [float, object])
def test_a_column_of_gaps_is_never_tested(missing, kind):
    gaps = np.full(6, np.nan) if kind is float else np.full(6, None, object)
    X = pd.DataFrame({"gaps": gaps, "two": list("xyxyxy")})
    for discretize in ("mdl", "equal_width", "equal_frequency"):
        model = ID3Classifier(missing=missing, discretize=discretize)
        model.fit(X, [0, 1, 0, 1, 0, 1])
        assert [f for f in model.tree_.splits.feature if f >= 0] == [1]
        assert model.score(X, [0, 1, 0, 1, 0, 1]) == 1.0


def test_one_class_is_a_leaf(tennis):
    model = ID3Classifier().fit(tennis.data, ["yes"] * 14)
    assert model.get_n_leaves() == 1
    assert model.predict(tennis.data).tolist() == ["yes"] * 14
    assert model.predict_proba(tennis.data).tolist() == [[1.0]] * 14
    assert str(model.rule_set()).startswith("Rule 1:\n    -> class yes")


def test_two_rows_are_told_apart():
    X = pd.DataFrame({"a": ["x", "y"]})
    model = ID3Classifier().fit(X, ["no", "yes"])
    assert model.predict(X).tolist() == ["no", "yes"]
    for discretize in ("mdl", "equal_width", "equal_frequency"):
        model = ID3Classifier(discretize=discretize).fit([[1.0], [2.0]], ["no", "yes"])
        assert model.predict([[1.0], [2.0]]).tolist() == ["no", "yes"]
    assert ID3Classifier().fit([[1.0], [1.0]], ["no", "yes"]).get_n_leaves() == 1


def test_ten_thousand_values_are_ten_thousand_branches():
    X = pd.DataFrame({"id": [f"n{i:05}" for i in range(10_000)], "b": ["u", "v"] * 5_000})
    y = np.random.default_rng(0).integers(0, 3, 10_000)
    model = ID3Classifier(categorical_features=["id"]).fit(X, y)
    assert model.tree_.n_nodes == 10_001
    assert np.array_equal(model.predict(X), y)
    unknown = model.predict_proba(pd.DataFrame({"id": ["new"], "b": ["u"]}))
    np.testing.assert_allclose(unknown, [np.bincount(y) / 10_000])
    assert np.array_equal(model.rule_set().predict(X), y)
