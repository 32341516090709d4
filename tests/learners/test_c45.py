"""C45Classifier: what a user gets, also from data that give little to learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from treewright import C45Classifier, CARTClassifier, datasets
from treewright.errors import ParameterError
from treewright.tree.tree import Tree

VARIANTS = ["c45", "release8", "j48"]


@pytest.fixture(params=VARIANTS)
def variant(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def tennis():
    return datasets.load_play_tennis()


def test_play_tennis_is_quinlans_tree(tennis, variant):
    tree = C45Classifier(variant=variant).fit(tennis.data, tennis.target).tree_
    assert tree.n_leaves == 5
    assert tree.to_text(style="j48") == (
        "Outlook = Overcast: Yes (4.0)\n"
        "Outlook = Rain\n"
        "|   Wind = Strong: No (2.0)\n"
        "|   Wind = Weak: Yes (3.0)\n"
        "Outlook = Sunny\n"
        "|   Humidity = High: No (3.0)\n"
        "|   Humidity = Normal: Yes (2.0)"
    )


def test_the_gain_of_the_root_is_that_of_the_book(tennis):
    tree = C45Classifier(pruning=None).fit(tennis.data, tennis.target).tree_
    assert tree.gain[0] == pytest.approx(0.2467, abs=1e-4)  # Outlook, in bits


def test_a_gap_goes_down_every_branch_with_its_share():
    outlook = np.array(["sunny"] * 6 + ["rain"] * 6 + [None], object)
    play = np.array(["no"] * 6 + ["yes"] * 6 + ["yes"])
    model = C45Classifier(pruning=None, collapse=False).fit({"outlook": outlook}, play)
    np.testing.assert_allclose(model.tree_.value[1:], [[0, 6.5], [6, 0.5]])
    assert model.predict({"outlook": [None]}).tolist() == ["yes"]
    np.testing.assert_allclose(model.predict_proba({"outlook": [None]}), [[6 / 13, 7 / 13]])


def test_a_category_without_rows_at_a_node_has_an_empty_branch_with_its_parents_class():
    size = pd.Categorical(["S", "S", "M", "M"] * 3, categories=["S", "M", "L"])
    y = np.array(["a", "a", "b", "b"] * 3)
    X = pd.DataFrame({"size": size, "noise": np.arange(12.0)})
    model = C45Classifier(pruning=None).fit(X, y)
    assert model.tree_.n_children[0] == 3
    assert model.tree_.weight[3] == 0
    new = pd.DataFrame({"size": pd.Categorical(["L"], categories=["S", "M", "L"]), "noise": [0.0]})
    assert model.predict(new) == ["a"]
    np.testing.assert_allclose(model.predict_proba(new), [[0.5, 0.5]])


def test_unpruned_and_whole_trees_are_larger(variant):
    titanic = datasets.load_titanic()
    settings = [
        {},
        {"pruning": None},
        {"pruning": None, "collapse": False},
    ]
    sizes = [
        C45Classifier(variant=variant, **titanic.schema_hints, **chosen)
        .fit(titanic.data, titanic.target)
        .tree_.n_nodes
        for chosen in settings
    ]
    assert sizes[0] < sizes[1] < sizes[2]


def test_a_pruner_of_ones_own_gets_the_collapsed_tree(tennis):
    def to_the_root(tree: Tree) -> Tree:
        return tree.collapse([0])

    model = C45Classifier(pruning=to_the_root).fit(tennis.data, tennis.target)
    assert model.get_n_leaves() == 1


def test_groups_of_categories_make_fewer_branches():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 8, 600)
    y = np.where(rng.random(600) < np.where(codes % 2, 0.85, 0.15), "yes", "no")
    X = {"letter": np.array(list("abcdefgh"), object)[codes]}
    wide = C45Classifier().fit(X, y).tree_
    narrow = C45Classifier(subset=True).fit(X, y).tree_
    assert wide.n_children[0] == 8
    assert narrow.n_children[0] == 2
    assert "letter in {a, c, e, g}" in narrow.to_text(style="c45")


# Windowing


def test_windowing_is_the_same_for_the_same_seed_and_not_for_every_seed():
    credit = datasets.load_german_credit()

    def text(seed: int) -> str:
        model = C45Classifier(trials=2, random_state=seed, **credit.schema_hints)
        return model.fit(credit.data, credit.target).tree_.to_text()

    assert text(0) == text(0)
    assert len({text(seed) for seed in range(4)}) > 1


def test_a_tree_grown_by_windowing_counts_all_rows():
    iris = datasets.load_iris()
    model = C45Classifier(trials=3, random_state=1).fit(iris.data, iris.target)
    assert model.tree_.weight[0] == 150
    leaves = model.tree_.is_leaf
    assert model.tree_.weight[leaves].sum() == pytest.approx(150)
    assert np.mean(model.predict(iris.data) == iris.target) > 0.95


def test_more_trials_do_not_expect_more_errors():
    titanic = datasets.load_titanic()

    def errors(trials: int) -> float:
        model = C45Classifier(trials=trials, random_state=3, **titanic.schema_hints)
        return model.fit(titanic.data, titanic.target).tree_.extras["expected_errors"][0]

    assert errors(6) <= errors(1)


# Little to learn from


def test_a_nominal_attribute_with_one_value_is_never_tested(variant):
    X = {"same": ["x"] * 8, "number": np.arange(8.0)}
    y = np.array(["a"] * 4 + ["b"] * 4)
    model = C45Classifier(variant=variant).fit(X, y)
    assert model.tree_.splits.feature.tolist()[0] == 1
    only = C45Classifier(variant=variant).fit({"same": ["x"] * 8}, y)
    assert only.get_n_leaves() == 1
    assert only.predict({"same": ["x", "never seen", None]}).tolist() == ["a", "a", "a"]


def test_a_column_of_gaps_is_never_tested(variant):
    X = pd.DataFrame({"gap": np.full(8, np.nan), "none": [None] * 8, "number": np.arange(8.0)})
    y = np.array(["a"] * 4 + ["b"] * 4)
    model = C45Classifier(variant=variant).fit(X, y)
    assert set(model.tree_.splits.feature.tolist()) == {-1, 2}
    assert model.predict(X).tolist() == y.tolist()


def test_one_class_gives_one_leaf(variant):
    model = C45Classifier(variant=variant).fit({"x": [1.0, 2.0, 3.0]}, ["only"] * 3)
    assert model.get_n_leaves() == 1
    assert model.predict({"x": [9.0]}).tolist() == ["only"]
    np.testing.assert_array_equal(model.predict_proba({"x": [9.0]}), [[1.0]])


def test_two_rows_are_too_few_to_split_unless_one_is_enough(variant):
    X, y = {"x": [1.0, 2.0]}, ["a", "b"]
    assert C45Classifier(variant=variant).fit(X, y).get_n_leaves() == 1
    whole = C45Classifier(variant=variant, min_samples_leaf=1, pruning=None).fit(X, y)
    assert whole.get_n_leaves() == 2


@pytest.mark.parametrize("subset", [False, True])
def test_ten_thousand_values_in_one_attribute(subset):
    rng = np.random.default_rng(0)
    n = 20_000
    codes = rng.integers(0, 10_000, n)
    useful = rng.normal(size=n)
    y = (useful + rng.normal(0, 0.5, n) > 0).astype(int)
    X = pd.DataFrame({"id": pd.Categorical([f"v{c}" for c in codes]), "useful": useful})
    model = C45Classifier(subset=subset, categorical_features=["id"]).fit(X, y)
    # as many values as half the rows: it counts nothing in the average, and its ratio is poor
    assert model.tree_.splits.feature[0] == 1
    assert np.mean(model.predict(X) == y) > 0.8


def test_an_attribute_of_values_without_number_is_used_if_there_is_no_other():
    X = {"id": [f"v{i // 3}" for i in range(30)]}
    y = np.arange(30) // 3 % 2
    model = C45Classifier().fit(X, y)
    assert model.tree_.n_children[0] == 10
    assert np.array_equal(model.predict(X), y)


# Refusals


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"confidence": 0.0}, "confidence must be"),
        ({"confidence": 0.7, "variant": "j48"}, "at most 0.5"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be"),
        ({"criterion": "gini"}, "criterion must be"),
        ({"missing": "surrogate"}, "missing must be"),
        ({"pruning": "cost"}, "pruning must be"),
        ({"trials": 0}, "trials must be"),
        ({"subset": True, "variant": "j48"}, "which J48 lacks"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        C45Classifier(**parameters).fit({"x": [1.0, 2.0]}, [0, 1])


def test_trace_shows_the_gain_of_every_feature(tennis):
    model = C45Classifier().fit(tennis.data, tennis.target)
    found = model.trace(0, tennis.data, tennis.target)
    assert found[0].feature == "Outlook"
    assert found["Humidity"].gain == pytest.approx(0.1518, abs=1e-4)


def test_trace_shows_split_information_and_gain_ratio(tennis):
    model = C45Classifier(pruning=None, collapse=False).fit(tennis.data, tennis.target)
    found = model.trace(0, tennis.data, tennis.target)
    outlook = found["Outlook"]
    assert outlook.gain == pytest.approx(0.246750, abs=1e-5)
    assert outlook.split_info == pytest.approx(1.577406, abs=1e-5)
    assert outlook.gain_ratio == pytest.approx(0.156428, abs=1e-5)
    assert {"gain", "split_info", "gain_ratio"} <= set(found.frame().columns)
    assert "gain ratio" in str(found)
    cart = CARTClassifier().fit(tennis.data, tennis.target)
    assert "gain ratio" not in str(cart.trace(0, tennis.data, tennis.target))


@pytest.mark.parametrize(
    ("low", "high"),
    [(1.0, 3e300), (1.5e308, 1.7e308), (16777218.0, 16777220.0)],
    ids=["beyond single precision", "a sum that overflows", "neighbours in single precision"],
)
def test_thresholds_part_the_values_next_to_them(low, high, variant):
    x = np.repeat([low, high], 20)
    model = C45Classifier(variant=variant).fit(x[:, None], x == high)
    if variant != "release8" or low < 3e38:
        assert model.tree_.n_leaves == 2
        assert low <= model.tree_.splits.breaks[0] < high
    else:  # both are infinite in single precision
        assert model.tree_.n_leaves == 1


def test_j48_cuts_only_where_the_known_values_are_twice_the_least_number_of_rows():
    # Weka 3.6.14 with -U stops at x0 > 0: three rows, though they weigh 9
    X = [[1, 1], [1, 2], [1, 3]] + [[0, 0]] * 9
    y, weight = ["a", "a", "b"] + ["c"] * 9, [3.0] * 3 + [1 / 3] * 9
    n_leaves = {
        variant: C45Classifier(variant=variant, pruning=None).fit(X, y, weight).get_n_leaves()
        for variant in ("c45", "j48")
    }
    assert n_leaves == {"c45": 3, "j48": 2}


def test_j48_leaves_features_of_many_categories_out_of_the_average_by_the_number_of_rows():
    # Weka 3.6.14 with -U begins with b: 7 categories are more than 0.3 times 20 rows, though
    # below 0.3 times their weight of 60
    a = [2, 5, 5, 0, 2, 5, 3, 0, 4, 5, 6, 2, 1, 6, 1, 4, 1, 2, 3, 3]
    b = [2, 1, 1, 0, 1, 0, 4, 0, 2, 0, 3, 1, 4, 4, 3, 3, 4, 2, 4, 4]
    c = list("01234560022612240225")
    y = [1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    weight = [1, 5, 1, 5, 1, 5, 1, 1, 5, 5, 1, 5, 5, 1, 5, 1, 5, 1, 1, 5]
    X = pd.DataFrame({"a": np.array(a, float), "b": np.array(b, float), "c": c})
    roots = {
        variant: C45Classifier(variant=variant, pruning=None).fit(X, y, weight).tree_.splits
        for variant in ("c45", "j48")
    }
    names = {variant: X.columns[splits.feature[0]] for variant, splits in roots.items()}
    assert names == {"c45": "c", "j48": "b"}
