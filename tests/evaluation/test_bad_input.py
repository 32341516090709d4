"""What users get wrong when they judge models: one sentence each, and no option without effect."""

from __future__ import annotations

import numpy as np
import pytest

from treewright import (
    CARTClassifier,
    CARTRegressor,
    CostSensitiveClassifier,
    Evaluation,
    StackingClassifier,
    VotingRegressor,
    accuracy_interval,
    choose_threshold,
    compare,
    cross_validate,
    datasets,
    decision_boundary,
    evaluate,
    generalization_error,
    learning_curve,
)
from treewright.errors import DataError, ParameterError

IRIS = datasets.load_iris()
X, Y = IRIS.data, IRIS.target
NUMBERS = np.arange(150) / 2
TREE = CARTClassifier(max_depth=2)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "holdout", "folds": 5}, "folds does nothing with method='holdout'"),
        ({"method": "loo", "repeats": 3}, "repeats does nothing with method='loo'"),
        ({"method": "oob", "groups": Y}, "groups does nothing with method='oob'"),
        ({"test_size": 0.2}, "test_size does nothing with method='k-fold'"),
        ({"time": True, "groups": Y}, "groups does nothing beside time"),
        ({"time": True, "repeats": 3}, "repeats does nothing beside time"),
        ({"folds": [([0, 60], [1, 61])], "groups": Y}, "groups does nothing beside folds that"),
        (
            {"method": "bootstrap", "groups": Y, "stratify": True},
            "stratify does nothing beside groups with method='bootstrap'",
        ),
        ({"folds": "ten"}, "folds must be a number, a splitter"),
        ({"repeats": 1.5}, "repeats must be an integer of 1 or more, got 1.5"),
        ({"n_jobs": 0}, "n_jobs must be fits at a time"),
    ],
)
def test_cross_validate_refuses_options_that_are_wrong_or_do_nothing(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        cross_validate(TREE, X, Y, **options)


@pytest.mark.parametrize("gap", [None, np.nan])
@pytest.mark.parametrize("name", ["groups", "time"])
def test_groups_and_times_have_no_gaps(name, gap):
    values = [*range(149), gap]
    with pytest.raises(DataError, match=f"{name} must have no gaps, but 1 of 150 values"):
        cross_validate(TREE, X, Y, **{name: values})


def test_gaps_of_pandas_categories_are_gaps_of_groups():
    pd = pytest.importorskip("pandas")
    groups = pd.Categorical(["a", "b", None] * 50)
    with pytest.raises(DataError, match="groups must have no gaps, but 50 of 150"):
        cross_validate(TREE, X, Y, folds=2, groups=groups)


def test_numbers_are_not_stratified():
    with pytest.raises(ParameterError, match="stratify=True is for classes"):
        cross_validate(CARTRegressor(), X, NUMBERS, stratify=True)


def test_one_class_is_called_so():
    with pytest.raises(DataError, match="two classes or more, but all 150 rows are 'a'"):
        cross_validate(TREE, X, ["a"] * 150)


def test_a_class_in_place_of_a_model_is_told_to_be_called():
    with pytest.raises(ParameterError, match=r"got the class CARTClassifier.*CARTClassifier\(\)"):
        cross_validate(CARTClassifier, X, Y)


def test_evaluate_needs_rows_and_the_classes_of_the_model():
    model = CARTClassifier(max_depth=2).fit(X, Y)
    with pytest.raises(DataError, match="a row or more, got none"):
        evaluate(model, X.slice(0, 0), Y[:0])
    with pytest.raises(DataError, match="such as 'setosa', but holds numbers, such as 0"):
        evaluate(model, X, np.arange(150) % 3)
    numbered = CARTClassifier(max_depth=2).fit(X, np.arange(150) // 50)
    with pytest.raises(DataError, match="such as 0, but holds text, such as 'setosa'"):
        evaluate(numbered, X, Y)


@pytest.mark.parametrize("call", [choose_threshold, decision_boundary, evaluate])
def test_a_model_that_was_not_fitted_is_named_with_the_function(call):
    with pytest.raises(ParameterError, match=f"{call.__name__} takes a fitted model, but this"):
        call(CARTClassifier(), X, Y)


def test_regressors_have_no_thresholds_and_no_costs():
    model = CARTRegressor(max_depth=2).fit(X, NUMBERS)
    with pytest.raises(ParameterError, match="CARTRegressor predicts numbers; pass a classifier"):
        choose_threshold(model, X, NUMBERS)
    for method in ("threshold", "weights", "metacost"):
        with pytest.raises(ParameterError, match="CARTRegressor predicts numbers; pass a class"):
            CostSensitiveClassifier(CARTRegressor(), 1 - np.eye(3), method=method).fit(X, Y)


def test_an_unknown_figure_gets_those_that_come_close():
    result = cross_validate(TREE, X, Y, folds=2, random_state=0)
    with pytest.raises(KeyError, match="Did you mean 'accuracy'"):
        result["acuracy"]
    with pytest.raises(AttributeError, match="Did you mean 'roc_auc_macro'"):
        _ = result.roc_auc


def test_a_frame_of_counts_brings_its_classes():
    pd = pytest.importorskip("pandas")
    counts = pd.DataFrame([[5, 1], [2, 8]], index=["no", "yes"], columns=["no", "yes"])
    found = Evaluation.from_confusion(counts, costs={"yes": {"no": 5}, "no": {"yes": 1}})
    assert found.classes == ("no", "yes")
    assert found["total_cost"] == 11
    assert str(found).startswith("Counts of 16 rows; positive class 'yes'\n")
    with pytest.raises(ParameterError, match="the same classes down and across"):
        Evaluation.from_confusion(counts[["yes", "no"]])


def test_intervals_of_shares_are_plain_numbers_of_counts():
    for method in ("wilson", "wald", "clopper-pearson"):
        assert all(type(limit) is float for limit in accuracy_interval(80, 100, method))
    with pytest.raises(ParameterError, match="successes must be a number of rows, got 'many'"):
        accuracy_interval("many", 100)


def test_generalization_error_says_what_it_got():
    model = CARTClassifier(max_depth=2).fit(X, Y)
    with pytest.raises(ParameterError, match="penalty must be a number not below 0, got -1"):
        generalization_error(model, "pessimistic", penalty=-1)
    with pytest.raises(ParameterError, match="one fitted classification tree, got CARTRegressor"):
        generalization_error(CARTRegressor().fit(X, NUMBERS), "pessimistic")


def test_rope_is_for_the_bayesian_test():
    with pytest.raises(ParameterError, match='rope is for test="bayes", got it with test="corr'):
        compare({"a": TREE, "b": CARTClassifier()}, X, Y, rope=0.05)


@pytest.mark.parametrize("model", [StackingClassifier, VotingRegressor])
def test_what_must_be_given_has_no_default_in_the_docs(model):
    assert "estimators : list of (str, estimator)\n" in model.__doc__


@pytest.mark.parametrize(
    ("labels", "options", "sentence"),
    [
        ([0] * 19 + [1], {"method": "holdout"}, "2 rows or more of every class .* have 19, 1 rows"),
        ([0, 1] * 10, {"method": "holdout", "test_size": 0.01}, "a row for every class on either"),
        ([0, 1] * 10, {"method": "holdout", "groups": [0] * 20}, "groups on either side, .* are 1"),
        ([0] * 19 + [1], {"method": "bootstrap"}, "are all 0; use stratify=True"),
        ([0] * 19 + [1], {"method": "k-fold"}, "are all 0; pass more rows of the other classes"),
        ([0, 1] * 10, {"groups": [1, "a"] * 10}, "'groups' must hold values of one type"),
    ],
)
def test_a_refused_split_gives_its_true_reason(labels, options, sentence):
    with pytest.raises(DataError, match=sentence):
        cross_validate(TREE, np.arange(20.0)[:, None], labels, random_state=0, **options)


@pytest.mark.parametrize("sizes", [["a"], [2.0], [0.0], [0], [121], [0.5, "a"], []])
def test_sizes_of_a_learning_curve_are_shares_or_counts(sizes):
    with pytest.raises(ParameterError, match="sizes must be shares above 0 and up to 1"):
        learning_curve(TREE, X, Y, sizes, random_state=0)


def test_two_rows_and_all_rows_are_told_apart():
    number = CARTRegressor(max_depth=1)
    curve = learning_curve(number, X, NUMBERS, [1.0, 2, np.float32(0.5)], random_state=0)
    assert curve.values == (2, 60, 120)
