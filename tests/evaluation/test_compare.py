"""Comparisons: the same folds, the right test, honest words, clear refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import treewright
from treewright import compare, datasets
from treewright.errors import DataError, ParameterError
from treewright.evaluation._tests import corrected_t, mcnemar, paired_t

CREDIT = datasets.load_german_credit()
IRIS = datasets.load_iris()
MODELS = {
    "cart": treewright.CARTClassifier(cp=0.01),
    "majority": DummyClassifier(),
    "c45": treewright.C45Classifier(),
}


@pytest.fixture(scope="module")
def result() -> Any:
    return compare(MODELS, CREDIT.data, CREDIT.target, folds=5, repeats=2, random_state=0)


def test_scores_are_those_of_scikit_learn_on_the_same_folds() -> None:
    X, y = np.asarray(IRIS.data.to_pandas()), IRIS.target
    splits = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=1).split(X, y))
    models = {"tree": DecisionTreeClassifier(random_state=0), "bayes": GaussianNB()}
    found = compare(models, X, y, folds=splits)
    for name, model in models.items():
        theirs = cross_val_score(model, X, y, cv=splits)
        ours = found.scores[0][found.names.index(name)]
        np.testing.assert_allclose(ours, theirs)


def test_the_best_comes_first_and_every_pair_is_tested(result: Any) -> None:
    assert result.names[-1] == "majority" or result.means[-1] <= result.means[0]
    assert np.all(np.diff(result.means) <= 0)
    assert len(result.pairs) == 3
    assert all(pair.difference >= 0 for pair in result.pairs)
    pair = result.pair("cart", "majority")
    places = [result.names.index(pair.first), result.names.index(pair.second)]
    d = result.scores[0][places[0]] - result.scores[0][places[1]]
    assert pair.p_value == corrected_t(d, 200 / 800).p_value
    assert pair.p_adjusted >= pair.p_value


def test_another_metric_needs_no_other_fit(result: Any) -> None:
    by_area = result.by("roc_auc")
    assert by_area.runs is result.runs
    assert by_area.scores[0][by_area.names.index("majority")] == pytest.approx(0.5)
    by_loss = result.by("log_loss")
    assert np.all(np.diff(by_loss.means) >= 0)
    assert all(pair.difference <= 0 for pair in by_loss.pairs)


def test_the_naive_test_says_that_it_is_naive(result: Any) -> None:
    naive = compare(
        MODELS, CREDIT.data, CREDIT.target, folds=5, repeats=2, random_state=0, test="paired_t"
    )
    for a, b in zip(naive.pairs, result.pairs, strict=True):
        assert a.p_value <= b.p_value
        assert a.difference == b.difference
    d = naive.scores[0][0] - naive.scores[0][1]
    assert naive.pairs[0].p_value == paired_t(d).p_value
    assert "takes folds for independent" in naive.sentence


def test_mcnemar_and_the_unpaired_test_use_one_test_set() -> None:
    found = compare(MODELS, CREDIT.data, CREDIT.target, test="mcnemar", random_state=0)
    run = found.runs[""]
    n = len(run["cart"].splits[0].test)
    assert n == 334
    right = {k: v.predictions().truth == v.predictions().predicted for k, v in run.items()}
    pair = found.pairs[0]
    assert pair.p_value == mcnemar(right[pair.first], right[pair.second]).p_value
    assert pair.difference == pytest.approx(right[pair.first].mean() - right[pair.second].mean())
    unpaired = compare(
        MODELS, CREDIT.data, CREDIT.target, test="unpaired", random_state=0, metric="error"
    )
    assert unpaired.pairs[0].difference == pytest.approx(-pair.difference)
    assert "not about training anew" in unpaired.sentence
    assert "low" in found.frame().columns


@pytest.mark.parametrize("test", ["5x2cv", "5x2cv_f", "bayes"])
def test_every_test_tells_a_tree_from_the_majority_on_iris(test: str) -> None:
    settings = {"repeats": 2} if test == "bayes" else {}
    models = {"cart": treewright.CARTClassifier(), "majority": DummyClassifier()}
    found = compare(models, IRIS.data, IRIS.target, test=test, random_state=0, **settings)
    assert found.differs(found.pairs[0])
    assert "cart is better than majority" in found.sentence
    assert found.sentence.count(".\n") == 0
    if test == "bayes":
        assert found.pairs[0].posterior.better > 0.999
        assert "p_better" in found.pair_frame().columns


def test_several_data_sets_are_ranked() -> None:
    sets = {"credit": CREDIT, "iris": IRIS, "titanic": datasets.load_titanic()}
    rows = {name: (d.data, d.target) for name, d in sets.items()}
    found = compare(MODELS, sets, folds=3, repeats=1, random_state=0)
    same = compare(MODELS, rows, folds=3, repeats=1, random_state=0)
    assert found.settings.test == "friedman"
    assert np.array_equal(found.means, same.means)
    assert found.ranks.sum() == pytest.approx(6.0)
    assert list(found.frame().columns)[3:6] == list(sets)
    assert "Over 3 data sets" in found.sentence
    two = {name: MODELS[name] for name in ("cart", "majority")}
    found = compare(two, sets, folds=3, repeats=1, random_state=0)
    assert found.settings.test == "wilcoxon"
    assert not found.differs(found.pairs[0])  # three data sets cannot show anything


def test_numbers_are_compared_by_their_error() -> None:
    hitters = datasets.load_hitters()
    models = {"cart": treewright.CARTRegressor(cp=0.01), "mean": DummyRegressor()}
    data = hitters.data.to_pandas().select_dtypes("number").fillna(0)
    models["line"] = LinearRegression()
    found = compare(models, data, hitters.target, folds=5, repeats=2, random_state=0)
    assert found.metric == "rmse"
    assert found.names[-1] == "mean"
    assert np.all(np.diff(found.means) >= 0)


def test_costs_are_compared_where_there_are_some() -> None:
    costs = {"bad": {"good": 5}, "good": {"bad": 1}}
    found = compare(
        {"whole": treewright.CARTClassifier(cp=0.01), "costs": treewright.CARTClassifier(
            cp=0.01, costs=[[0, 5], [1, 0]])},
        CREDIT.data, CREDIT.target, folds=3, repeats=1, costs=costs, random_state=0,
    )  # fmt: skip
    assert found.metric == "mean_cost"
    assert found.names[0] == "costs"


def test_the_result_reads_as_text_json_html_and_frames(result: Any) -> None:
    text = str(result)
    assert max(map(len, text.splitlines())) <= 110
    assert "Holm" in text
    assert text.rstrip().endswith("not about other data.")
    assert json.loads(json.dumps(result.to_dict()))["sentence"] == result.sentence
    assert "<table>" in result._repr_html_()
    assert len(result.fold_frame()) == 10
    assert len(result.pair_frame()) == 3


@pytest.mark.parametrize("kind", ["critical_difference", "scores", "differences"])
def test_every_figure_is_drawn(result: Any, kind: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    ax = result.plot(kind)
    ax.figure.canvas.draw()
    assert ax.get_xlabel()
    plt.close(ax.figure)


def test_threads_change_nothing_and_progress_counts_all_fits() -> None:
    told: list[tuple[int, int]] = []
    settings = {"folds": 3, "repeats": 1, "random_state": 3}
    one = compare(MODELS, IRIS.data, IRIS.target, progress=lambda *a: told.append(a), **settings)
    two = compare(MODELS, IRIS.data, IRIS.target, n_jobs=2, **settings)
    assert np.array_equal(one.scores[0], two.scores[0])
    assert told[-1] == (9, 9)


A, B = treewright.CARTClassifier(), treewright.C45Classifier()


@pytest.mark.parametrize(
    ("models", "settings", "error", "words"),
    [
        ([("a", A), ("a", B)], {}, ParameterError, "2 of them are called 'a'"),
        ({"a": A}, {}, ParameterError, "two or more, got 1"),
        ([A, B], {}, ParameterError, "dict of names and estimators"),
        ({"a": A, "b": LinearRegression()}, {}, ParameterError, "'b' a regressor"),
        ({"a": A, "b": 7}, {}, ParameterError, "estimator with fit and predict"),
        ({"a": A, "b": B}, {"test": "mcnemer"}, ParameterError, "Did you mean 'mcnemar'"),
        ({"a": A, "b": B}, {"correction": "hulm"}, ParameterError, "Did you mean 'holm'"),
        ({"a": A, "b": B}, {"metric": "accurcy"}, ParameterError, "Did you mean 'accuracy'"),
        ({"a": A, "b": B}, {"metric": "rmse"}, DataError, "predict classes"),
        ({"a": A, "b": B}, {"metric": "mean_cost"}, ParameterError, "needs costs"),
        ({"a": A, "b": B}, {"metric": "roc_auc"}, DataError, "roc_auc_macro"),
        ({"a": A, "b": B}, {"folds": 1000}, ParameterError, "1000 folds of 150 rows"),
        ({"a": A, "b": B}, {"folds": 1}, ParameterError, "at least 2"),
        ({"a": A, "b": B}, {"test": "5x2cv", "folds": 10}, ParameterError, "folds=2"),
        ({"a": A, "b": B}, {"test": "mcnemar", "folds": 10}, ParameterError, "one test set"),
        ({"a": A, "b": B}, {"test_size": 0.2}, ParameterError, "use folds"),
        ({"a": A, "b": B}, {"test": "friedman"}, ParameterError, "several data sets"),
        ({"a": A, "b": B}, {"confidence": 95}, ParameterError, "between 0 and 1"),
        (
            {"a": A, "b": B},
            {"rope": -1},
            ParameterError,
            "rope must be .* not below 0",
        ),
        ({"a": A, "b": B}, {"positive": "rose"}, ParameterError, "'rose'"),
        ({"a": A, "b": B}, {"costs": [[0, 1]]}, ParameterError, "3 × 3"),
    ],
)
def test_bad_input_is_one_sentence(
    models: Any, settings: dict[str, Any], error: Any, words: str
) -> None:
    if not {"folds", "test", "test_size"} & set(settings):
        settings = {"folds": 2, "repeats": 1, **settings}
    with pytest.raises(error, match=words):
        compare(models, IRIS.data, IRIS.target, **settings)


def test_one_class_in_training_is_one_sentence() -> None:
    with pytest.raises(DataError, match="two classes or more"):
        compare({"a": A, "b": B}, [[1.0], [2.0], [3.0], [4.0]], [0, 0, 0, 1], folds=2, repeats=1)
    with pytest.raises(DataError, match="target y is None"):
        compare({"a": A, "b": B}, [[1.0]])
