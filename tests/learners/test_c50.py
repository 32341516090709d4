"""C50Classifier: what its options do, and what odd data get."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import treewright
from treewright import C50Classifier
from treewright.data.encode import encode
from treewright.data.schema import Target
from treewright.errors import ParameterError
from treewright.kernels.error_based import weakest_links
from treewright.learners._c50.boosting import boost, reweight
from treewright.learners._c50.tree import Cases
from treewright.learners._c50.votes import leaf_probability
from treewright.pruning._bottom_up import cut
from treewright.pruning._c50 import pool_leaves, prune_globally
from treewright.rules import RuleSet
from treewright.tree.predict import node_values

EVERY_FORM: list[dict[str, Any]] = [
    {},
    {"rules": True},
    {"trials": 5},
    {"trials": 5, "rules": True},
    {"subset": True},
    {"winnow": True, "random_state": 0},
    {"soft_thresholds": True},
]


@pytest.fixture(scope="module")
def cancer() -> tuple[Any, Any]:
    return load_breast_cancer(return_X_y=True, as_frame=True)


# Odd data


@pytest.mark.parametrize("options", EVERY_FORM)
def test_a_nominal_feature_with_one_value_is_never_tested(options: dict[str, Any]) -> None:
    X = {"same": ["a"] * 40, "number": np.arange(40.0)}
    y = np.repeat(["low", "high"], 20)
    model = C50Classifier(**options).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.attribute_usage_[0] == 0.0


@pytest.mark.parametrize("options", EVERY_FORM)
def test_a_column_of_gaps_is_never_tested(options: dict[str, Any]) -> None:
    X = {"gaps": np.full(40, np.nan), "number": np.arange(40.0)}
    y = np.repeat(["low", "high"], 20)
    model = C50Classifier(**options).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.attribute_usage_[0] == 0.0


@pytest.mark.parametrize("options", EVERY_FORM)
def test_one_class_is_predicted_everywhere(options: dict[str, Any]) -> None:
    model = C50Classifier(**options).fit([[1.0], [2.0], [3.0]], ["only"] * 3)
    assert model.predict([[9.0]]).tolist() == ["only"]
    assert model.predict_proba([[9.0]]).tolist() == [[1.0]]
    assert "Evaluation on training data (3 cases)" in model.summary()


@pytest.mark.parametrize("options", EVERY_FORM)
def test_two_rows_make_a_single_leaf(options: dict[str, Any]) -> None:
    model = C50Classifier(**options).fit([[1.0], [2.0]], ["a", "b"])
    assert model.tree_.n_leaves == 1
    assert model.predict([[1.0], [2.0]]).tolist() == ["a", "a"]


def test_a_feature_with_ten_thousand_values_stands_back_for_others() -> None:
    rng = np.random.default_rng(0)
    names = np.array([f"id{i}" for i in range(10_000)], object)
    number = rng.normal(size=10_000)
    y = np.where(number + rng.normal(0, 0.3, 10_000) > 0, "up", "down")
    kinds = {"categorical_features": ["name"]}
    model = C50Classifier(**kinds).fit({"name": names, "number": number}, y)
    assert set(model.tree_.splits.feature[~model.tree_.is_leaf]) == {1}
    # alone, it is tested
    only = C50Classifier(global_pruning=False, confidence=1.0, **kinds).fit({"name": names}, y)
    assert only.predict({"name": ["id5", "never seen"]}).shape == (2,)


def test_bands_need_one_set_of_rules() -> None:
    for options in ({}, {"rules": True, "trials": 3}):
        with pytest.raises(ParameterError, match=r"bands orders the rules of one set.*rules=True"):
            C50Classifier(bands=3, **options).fit([[1.0], [2.0]], [0, 1])


def test_soft_thresholds_are_refused_with_rules() -> None:
    with pytest.raises(ParameterError, match="soft_thresholds are those of a tree"):
        C50Classifier(rules=True, soft_thresholds=True).fit([[1.0], [2.0]], [0, 1])


# Trees


def test_global_pruning_never_grows_a_tree(cancer: tuple[Any, Any]) -> None:
    X, y = cancer
    whole = C50Classifier(global_pruning=False).fit(X, y)
    pruned = C50Classifier().fit(X, y)
    assert pruned.get_n_leaves() < whole.get_n_leaves()
    again = prune_globally(whole.tree_, whole._table(X), np.searchsorted(whole.classes_, y), None)
    assert again.n_leaves == pruned.get_n_leaves()


def test_the_allowance_of_global_pruning_counts_rows_and_not_their_fractions() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (300, 6)).astype(float)
    y = ((X[:, 0] > 1) ^ (X[:, 1] > 2)).astype(int) ^ (rng.random(300) < 0.2)
    X[rng.random(X.shape) < 0.25] = np.nan
    tree = C50Classifier(global_pruning=False).fit(X, y).tree_
    table = encode(X)
    said = node_values(tree, table, tree.probability).argmax(axis=1)
    rows = float(np.count_nonzero(said != y))
    errors = tree.weight - tree.value[np.arange(tree.n_nodes), tree.label]
    fractions = float(errors[tree.is_leaf].sum())
    shape = (tree.first_child, tree.n_children, errors, tree.weight <= 0, 300.0)
    by_rows, by_fractions = (weakest_links(*shape, start) for start in (rows, fractions))
    assert not np.array_equal(by_rows, by_fractions)
    pruned = prune_globally(tree, table, y.astype(np.int32), None)
    assert pruned.n_leaves == cut(tree, by_rows, "global", "", errors, errors).n_leaves


@pytest.mark.parametrize("order", ["wnr", "rnw"])
def test_of_two_nearly_equal_ratios_the_later_wins_by_its_ratio_or_by_its_gain(order: str) -> None:
    # w has a ratio of .21622 and a gain of .216, r .21635 (0.06 % more) and .163
    y = np.repeat([1, 0], 30)
    columns = {"w": (7, 23), "r": (1, 12), "n": (15, 12)}  # ones in either class
    ones = [np.r_[np.arange(30) < columns[c][0], np.arange(30) < columns[c][1]] for c in order]
    model = C50Classifier(global_pruning=False).fit(np.column_stack(ones).astype(float), y)
    assert model.tree_.splits.feature[0] == 2


def test_a_grouping_of_categories_pays_for_its_name() -> None:
    days = treewright.datasets.load_play_tennis()
    few = C50Classifier(subset=True).fit(days.data, days.target)
    assert few.get_n_leaves() == 5  # C5.0's tree: outlook has three branches
    often = np.tile(np.arange(14), 30)
    rows = encode(days.data).take(often)
    many = C50Classifier(subset=True).fit(rows, np.asarray(days.target)[often])
    assert len(few.tree_.children(0)) == 3
    assert len(many.tree_.children(0)) == 2


def test_global_pruning_is_left_out_with_costs(cancer: tuple[Any, Any]) -> None:
    X, y = cancer
    costs = [[0.0, 1.0], [1.0, 0.0]]
    priced = C50Classifier(costs=costs).fit(X, y)
    assert priced.get_n_leaves() == C50Classifier(global_pruning=False).fit(X, y).get_n_leaves()


def test_leaves_of_one_class_below_one_test_are_pooled() -> None:
    X = {"colour": np.repeat(["red", "green", "blue", "grey"], 10)}
    y = np.repeat(["warm", "cold", "cold", "warm"], 10)
    model = C50Classifier().fit(X, y)
    assert model.get_n_leaves() == 2
    assert pool_leaves(model.tree_) is model.tree_
    assert model.score(X, y) == 1.0


def test_probabilities_add_one_case_divided_as_the_training_set() -> None:
    X, y = load_iris(return_X_y=True)
    model = C50Classifier().fit(X, y)
    assert model.predict_proba(X[:1])[0] == pytest.approx([(50 + 1 / 3) / 51, 1 / 153, 1 / 153])
    assert leaf_probability(model.tree_).sum(axis=1) == pytest.approx(1.0)


# Costs


def test_a_dear_error_is_made_less_often(cancer: tuple[Any, Any]) -> None:
    X, y = cancer
    plain = C50Classifier().fit(X, y)
    dear = C50Classifier(costs={0: {1: 20.0}, 1: {0: 1.0}}).fit(X, y)
    assert np.sum((dear.predict(X) == 1) & (y == 0)) <= np.sum((plain.predict(X) == 1) & (y == 0))
    assert np.sum(dear.predict(X) == 0) > np.sum(plain.predict(X) == 0)
    # counts are those of the rows, not of the priced ones
    assert dear.tree_.value[0].tolist() == [212.0, 357.0]


def test_costs_of_three_classes_act_on_predictions_alone() -> None:
    X, y = load_iris(return_X_y=True)
    costs = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 9.0], [1.0, 1.0, 0.0]])
    whole = C50Classifier(global_pruning=False).fit(X, y)
    priced = C50Classifier(costs=costs).fit(X, y)
    assert priced.get_n_leaves() == whole.get_n_leaves()
    expected = (priced.predict_proba(X) @ costs).argmin(axis=1)
    assert np.array_equal(priced.predict(X), expected)


# Boosting


def test_the_weight_of_errors_moves_half_way_to_one_half() -> None:
    wrong = np.arange(100) < 10
    weight = reweight(np.ones(100), wrong, np.ones(100))
    assert weight.sum() == pytest.approx(100.0)
    assert weight[wrong].sum() == pytest.approx((10 + 50) / 2)


def test_boosting_ends_with_a_model_without_errors() -> None:
    model = C50Classifier(trials=10).fit([[float(i)] for i in range(20)], [0] * 10 + [1] * 10)
    assert len(model.estimators_) == 1
    assert "boosting abandoned" in model.summary()


def test_a_guess_ends_boosting_only_with_early_stop() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), rng.integers(0, 2, 150)
    assert len(C50Classifier(trials=6).fit(X, y).estimators_) == 1
    noisy = np.where(X[:, 0] > 0, 1, 0) ^ (rng.random(150) < 0.25)
    early = C50Classifier(trials=30).fit(X, noisy)
    late = C50Classifier(trials=30, earlystop=False).fit(X, noisy)
    assert len(early.estimators_) <= len(late.estimators_)


def test_cases_beyond_hope_are_left_out_of_the_second_half() -> None:
    table = encode({"x": np.arange(10.0)})
    y = np.array([0] * 9 + [1], np.int32)
    seen: list[int] = []

    def build(cases: Cases, trial: int) -> int:
        seen.append(len(cases.y))
        return trial

    def vote(_: int, cases: Cases) -> tuple[Any, Any]:
        label = np.zeros(len(cases.y), np.intp)
        return label, np.ones(len(cases.y))

    target = Target("y", (0, 1))
    boost(Cases(table, y, target), 4, build, vote, lambda _: True, early_stop=False)
    assert seen == [10, 10, 10, 9]  # three votes against it: the fourth cannot save the last row


# Rules


def test_rules_vote_with_laplace_confidence(cancer: tuple[Any, Any]) -> None:
    X, y = cancer
    model = C50Classifier(rules=True).fit(X, y)
    assert isinstance(model.rules_, RuleSet)
    assert model.rules_.decision == "vote"
    for rule in model.rules_:
        right = rule.weight - rule.errors
        assert rule.vote == rule.confidence == pytest.approx((right + 1) / (rule.weight + 2))
    order = [(model.classes_.tolist().index(r.outcome), -r.vote) for r in model.rules_]
    assert order == sorted(order)


def test_bands_put_useful_rules_first(cancer: tuple[Any, Any]) -> None:
    X, y = cancer
    plain = C50Classifier(rules=True).fit(X, y)
    banded = C50Classifier(rules=True, bands=3).fit(X, y)
    assert sorted(map(str, plain.rules_)) == sorted(map(str, banded.rules_))
    assert np.array_equal(plain.predict(X), banded.predict(X))
    report = banded.summary()
    assert "Rule utility summary" in report
    errors = int(np.sum(banded.predict(X) != y))
    assert f"1-{len(banded.rules_)}\t{errors:>5}" in report


# Winnowing, soft thresholds, report


def test_winnowing_takes_a_column_without_categories() -> None:
    numbers = [0, 0, 3, 3, 5, 3, 5]
    X = pd.DataFrame({"none": pd.Series([None] * 7, dtype=object), "number": numbers})
    model = C50Classifier(winnow=True, random_state=0).fit(X, list("mlmhhhh"))
    assert model.feature_importances_[0] == 0


def test_winnowing_leaves_noise_out() -> None:
    rng = np.random.default_rng(0)
    signal = rng.normal(size=400)
    X = np.column_stack([signal, rng.normal(size=(400, 4))])
    model = C50Classifier(winnow=True, random_state=0).fit(X, signal > 0)
    assert model.winnowed_.tolist() == [False, True, True, True, True]
    assert "4 attributes winnowed" in model.summary()
    assert model.attribute_usage_[1:].max() == 0.0


def test_soft_thresholds_change_probabilities_only_near_a_cut() -> None:
    X, y = load_iris(return_X_y=True)
    hard, soft = C50Classifier().fit(X, y), C50Classifier(soft_thresholds=True).fit(X, y)
    bounds = [soft.tree_.extras[name][0] for name in ("lower", "middle", "upper")]
    assert bounds == sorted(bounds)
    far = X[:, 2] < 1.5
    assert soft.predict_proba(X[far]) == pytest.approx(hard.predict_proba(X[far]))
    middle = X[:1].copy()
    middle[0, 2] = bounds[1]
    assert 0.4 < soft.predict_proba(middle)[0, 0] < 0.6


def test_the_report_counts_errors_and_use_as_predictions_do(cancer: tuple[Any, Any]) -> None:
    X, y = cancer
    model = C50Classifier().fit(X, y)
    report = model.summary()
    errors = int(np.sum(model.predict(X) != y))
    row = f"\t  {model.get_n_leaves():>4} {errors:>5}({100 * errors / 569:4.1f}%)   <<"
    assert row in report
    assert "<-classified as" in report
    root = model.tree_.splits.feature[0]
    assert model.attribute_usage_[root] == 1.0
    assert f"100.00%\t{X.columns[root]}" in report


def test_trees_print_as_c50_prints_them() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["SL", "SW", "PL", "PW"]
    text = C50Classifier().fit(X, y).tree_.to_text(style="c50")
    assert text.splitlines() == [
        "PL <= 1.9: 0 (50)",
        "PL > 1.9:",
        ":...PW > 1.7: 2 (46/1)",
        "    PW <= 1.7:",
        "    :...PL <= 4.9: 1 (48/1)",
        "        PL > 4.9: 2 (6/2)",
    ]


@pytest.mark.parametrize("options", EVERY_FORM)
def test_a_saved_model_reports_and_predicts_the_same(
    options: dict[str, Any], tmp_path: Any, cancer: tuple[Any, Any]
) -> None:
    X, y = cancer
    model = C50Classifier(**options).fit(X, y)
    treewright.save(model, tmp_path / "model.tw")
    loaded = treewright.load(tmp_path / "model.tw")
    assert loaded.summary() == model.summary()
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
