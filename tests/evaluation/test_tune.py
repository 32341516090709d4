"""Searches: the right candidate, the honest figure, the smaller model, clear refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.stats import randint
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

import treewright
from treewright import datasets, tune
from treewright.errors import DataError, ParameterError
from treewright.evaluation._search import Tried, choose
from treewright.evaluation._sizes import size_of

IRIS = datasets.load_iris()
TITANIC = datasets.load_titanic()
GRID = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 20]}


@pytest.fixture(scope="module")
def found() -> Any:
    model = treewright.CARTClassifier()
    return tune(model, GRID, TITANIC.data, TITANIC.target, random_state=0, simplest_within="1se")


def test_the_grid_search_is_scikit_learns_on_the_same_folds() -> None:
    X, y = np.asarray(IRIS.data.to_pandas()), IRIS.target
    model, grid = GaussianNB(), {"var_smoothing": [1e-9, 1e-2, 1.0]}
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    theirs = GridSearchCV(model, grid, cv=folds).fit(X, y)
    ours = tune(model, grid, X, y, folds=folds, nested=False)
    by_value = {one.parameters["var_smoothing"]: one.mean for one in ours.searched.tried}
    expected = dict(zip(grid["var_smoothing"], theirs.cv_results_["mean_test_score"], strict=True))
    assert by_value == pytest.approx(expected)
    assert ours.best_params == theirs.best_params_
    assert np.array_equal(ours.model.predict(X), theirs.predict(X))


def test_the_reported_figure_is_of_rows_that_had_no_part_in_the_choice(found: Any) -> None:
    held_out = np.concatenate([split.test for split in found.outer_splits])
    assert sorted(held_out.tolist()) == list(range(891))
    assert found.nested == pytest.approx(np.mean([one.score for one in found.outer]))
    low, high = found.interval
    assert low < found.nested < high
    assert "had no part in the choice" in found.sentence
    assert "naive" in str(found)


def test_of_pure_noise_the_naive_figure_is_too_good_and_the_nested_one_is_not() -> None:
    rng = np.random.default_rng(0)
    gaps = []
    for _ in range(8):
        X, y = rng.normal(size=(60, 10)), rng.integers(0, 2, 60)
        grid = {"min_samples_leaf": [1, 2, 3, 5, 8, 12, 20], "max_depth": [1, 2, 3, 5]}
        model = treewright.CARTClassifier()
        result = tune(model, grid, X, y, folds=3, outer_folds=3, random_state=0)
        gaps.append((result.naive, result.nested))
    naive, nested = np.mean(gaps, axis=0)
    assert naive > 0.54
    assert abs(nested - 0.5) < 0.05
    assert naive > nested + 0.03


def test_within_one_standard_error_the_smaller_model_is_taken() -> None:
    small = Tried({"a": 1}, np.array([0.79, 0.80, 0.81]), 3.0)
    large = Tried({"a": 2}, np.array([0.79, 0.80, 0.83]), 30.0)
    far = Tried({"a": 3}, np.array([0.70, 0.70, 0.71]), 1.0)
    tried = [large, small, far]
    assert choose(tried, 1.0, None).chosen is large
    assert choose(tried, 1.0, "1se").chosen is small
    assert choose(tried, 1.0, 0.2).chosen is far
    assert choose(tried, -1.0, None).chosen is far


def test_the_smaller_model_is_fitted_to_all_rows(found: Any) -> None:
    chosen, best = found.searched.chosen, found.searched.best
    assert chosen.size <= best.size
    assert found.model.tree_.n_samples[0] == 891
    assert found.model.get_params()["max_depth"] == found.best_params["max_depth"]
    assert found.model.predict(TITANIC.data).shape == (891,)


@pytest.mark.parametrize("search", ["random", "greedy", "halving"])
def test_other_searches_find_a_candidate_nearly_as_good(search: str) -> None:
    grid = {"max_depth": [1, 2, 3, 4, 6], "min_samples_leaf": [1, 5, 20]}
    settings = {"random_state": 0, "nested": False, "folds": 3}
    model = treewright.CARTClassifier()
    whole = tune(model, grid, TITANIC.data, TITANIC.target, **settings)
    found = tune(model, grid, TITANIC.data, TITANIC.target, search=search, **settings)
    assert found.naive > whole.naive - 0.02
    on_all_rows = [one for one in found.searched.tried if one.share == 1.0]
    assert len(on_all_rows) < 16
    assert found.searched.chosen in on_all_rows
    again = tune(model, grid, TITANIC.data, TITANIC.target, search=search, **settings)
    assert again.best_params == found.best_params


def test_random_search_takes_distributions_and_draws_each_candidate_once() -> None:
    grid = {"max_depth": randint(1, 4)}
    found = tune(
        treewright.CARTClassifier(), grid, IRIS.data, IRIS.target, search="random",
        n_candidates=10, nested=False, random_state=0,
    )  # fmt: skip
    assert sorted(one.parameters["max_depth"] for one in found.searched.tried) == [1, 2, 3]


def test_numbers_are_tuned_by_their_error() -> None:
    hitters = datasets.load_hitters()
    found = tune(
        treewright.CARTRegressor(), {"cp": [0.0, 0.01, 0.9]}, hitters.data, hitters.target,
        folds=3, outer_folds=3, random_state=0,
    )  # fmt: skip
    assert found.metric == "rmse"
    assert found.best_params["cp"] != 0.9
    assert found.naive == min(one.mean for one in found.searched.tried)


def test_parameters_of_members_can_be_tuned() -> None:
    model = treewright.VotingClassifier(
        [("a", treewright.CARTClassifier()), ("b", treewright.C45Classifier())]
    )
    found = tune(model, {"a__max_depth": [1, 3]}, IRIS.data, IRIS.target, nested=False, folds=3)
    assert found.model.estimators_[0].get_params()["max_depth"] == found.best_params["a__max_depth"]


def test_threads_change_nothing_and_progress_ends_at_all(found: Any) -> None:
    told: list[tuple[int, int]] = []
    model, settings = treewright.CARTClassifier(), {"folds": 3, "outer_folds": 2, "random_state": 0}
    one = tune(model, GRID, IRIS.data, IRIS.target, progress=lambda *a: told.append(a), **settings)
    two = tune(model, GRID, IRIS.data, IRIS.target, n_jobs=2, **settings)
    assert (one.best_params, one.naive, one.nested) == (two.best_params, two.naive, two.nested)
    assert told[-1] == (54, 54)


def test_the_result_reads_as_text_json_html_frames_and_picture(found: Any) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    assert max(map(len, str(found).splitlines())) <= 100
    assert json.loads(json.dumps(found.to_dict()))["best_params"] == found.best_params
    assert "<table>" in found._repr_html_()
    assert len(found.frame()) == 6
    assert len(found.outer_frame()) == 5
    for parameter in (None, "max_depth"):
        ax = found.plot(parameter)
        ax.figure.canvas.draw()
        plt.close(ax.figure)


def test_sizes_are_leaves_rules_members_and_coefficients() -> None:
    X, y = IRIS.data.to_pandas(), IRIS.target
    forest = treewright.RandomForestClassifier(3, random_state=0).fit(X, y)
    assert size_of(forest) == sum(member.tree_.n_leaves for member in forest.estimators_)
    rules = treewright.C45Rules().fit(X, y)
    assert size_of(rules) == len(rules.rules_)
    assert size_of(LinearRegression().fit(X, np.arange(150))) == 4
    with pytest.raises(ParameterError, match="pass size="):
        size_of(GaussianNB().fit(X, y))


@pytest.mark.parametrize(
    ("grid", "settings", "error", "words"),
    [
        ({"max_dept": [1]}, {}, ParameterError, "'max_dept'. Did you mean 'max_depth'"),
        ({"max_depth": 3}, {}, ParameterError, r"write \[3\]"),
        ({"max_depth": []}, {}, ParameterError, "a value or more"),
        ({}, {}, ParameterError, "nothing in it"),
        ([1], {}, ParameterError, "dict of parameters"),
        ({"max_depth": [1]}, {"search": "gird"}, ParameterError, "Did you mean 'grid'"),
        ({"max_depth": [1]}, {"simplest_within": "2se"}, ParameterError, '"1se"'),
        ({"max_depth": [1]}, {"n_candidates": 0}, ParameterError, "1 or more"),
        ({"max_depth": [1]}, {"metric": "acuracy"}, ParameterError, "Did you mean 'accuracy'"),
        ({"max_depth": [1]}, {"folds": 200}, ParameterError, "200 folds of 150 rows"),
        ({"max_depth": [1]}, {"metric": "rmse"}, DataError, "predict classes"),
        ({"max_depth": [-1]}, {}, ParameterError, "max_depth must be"),
    ],
)
def test_bad_input_is_one_sentence(grid: Any, settings: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        tune(treewright.CARTClassifier(), grid, IRIS.data, IRIS.target, nested=False, **settings)


def test_no_interval_reaches_beyond_what_a_figure_can_be() -> None:
    X = np.random.default_rng(0).random((60, 3))
    y = (X[:, 0] > 0.5).astype(int)
    y[:1] = 1 - y[:1]
    found = tune(treewright.CARTClassifier(), {"max_depth": [1, 2]}, X, y, random_state=0)
    assert found.interval[1] <= 1.0
    models = {"a": treewright.CARTClassifier(), "b": treewright.CARTClassifier(max_depth=1)}
    table = treewright.compare(models, X, y, folds=5, repeats=1, random_state=0).frame()
    assert (table["high"] <= 1.0).all()
