"""Rows held out in all ways, and every way honest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

from tests.contract.estimators import NAMES, make, mixed_columns, seed, target_for
from treewright import (
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CHAIDClassifier,
    CTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    cross_validate,
    datasets,
    evaluate,
)
from treewright.errors import DataError, ParameterError
from treewright.evaluation._data import read_rows
from treewright.evaluation._splits import make_splits

CREDIT = datasets.load_german_credit()
TITANIC = datasets.load_titanic()
IRIS = datasets.load_iris()


def out_of_fold(result):
    found = result.prediction_frame().sort_values("row")
    return found["predicted"].to_numpy()


@pytest.mark.parametrize(
    "model", [CARTClassifier(), C45Classifier(), CHAIDClassifier(), CTreeClassifier()]
)
def test_folds_of_one_table_predict_what_folds_of_the_frame_do(model):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    X, y = TITANIC.data.to_pandas(), TITANIC.target
    found = cross_validate(model, TITANIC.data, y, folds=folds)
    assert (out_of_fold(found) == cross_val_predict(model, X, y, cv=folds)).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_estimator_is_judged_on_parts_of_one_table_as_on_frames(name):
    model, columns = make(name), mixed_columns()
    seed(model)
    X, y = pd.DataFrame(columns), target_for(model, columns)
    found = cross_validate(model, X, y, folds=KFold(2))
    assert (out_of_fold(found) == cross_val_predict(model, X, y, cv=KFold(2))).all()


def test_other_libraries_and_pipelines_are_judged_alike():
    folds = KFold(4, shuffle=True, random_state=1)
    X = CREDIT.data.to_pandas().select_dtypes(exclude="number")
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    expected = cross_val_predict(model, X, CREDIT.target, cv=folds)
    for table in (X, pa.Table.from_pandas(X), pl.from_pandas(X)):
        found = cross_validate(model, table, CREDIT.target, folds=folds)
        assert (out_of_fold(found) == expected).all()


def test_the_kind_of_frame_changes_nothing():
    found = [
        cross_validate(CARTClassifier(), table, TITANIC.target, folds=3, random_state=0)
        for table in (
            TITANIC.data,
            TITANIC.data.to_pandas(),
            pl.from_arrow(TITANIC.data),
            {name: TITANIC.data[name].to_pylist() for name in TITANIC.feature_names},
        )
    ]
    assert len({tuple(out_of_fold(result).tolist()) for result in found}) == 1


@pytest.mark.parametrize("model", [CARTClassifier(), KNeighborsClassifier()])
def test_the_number_of_jobs_changes_nothing(model):
    X = np.column_stack([IRIS.data[name].to_numpy() for name in IRIS.feature_names])
    one, two = (
        cross_validate(model, X, IRIS.target, random_state=0, n_jobs=n).predictions for n in (1, 2)
    )
    assert (one.predicted == two.predicted).all()
    assert (one.row == two.row).all()


def test_every_row_is_held_out_once_per_repeat():
    result = cross_validate(
        CARTClassifier(), IRIS.data, IRIS.target, "repeated", folds=5, repeats=3, random_state=0
    )
    assert len(result.predictions) == 450
    assert (np.bincount(result.predictions.row) == 3).all()
    assert result.n_rows == 150
    assert result.confusion.sum() == 150
    assert len(result.fold_frame()) == 15
    assert result.error == pytest.approx(result.fold_frame()["error"].mean())


def test_models_never_see_the_rows_they_predict():
    rows = read_rows(IRIS.data, IRIS.target, classification=True)
    groups = np.arange(150) % 12
    for method in ("holdout", "k-fold", "repeated", "loo", "bootstrap"):
        for settings in ({}, {"groups": groups}):
            splits = make_splits(rows, method, repeats=2, random_state=0, **settings)
            for split in splits:
                assert not np.intersect1d(split.train, split.test).size
                if settings:
                    assert not np.intersect1d(groups[split.train], groups[split.test]).size


def test_folds_by_time_train_on_the_past():
    time = np.random.default_rng(0).permutation(150)
    rows = read_rows(IRIS.data, np.arange(150.0), classification=False)
    splits = make_splits(rows, folds=4, time=time)
    assert len(splits) == 4
    for split, (train, test) in zip(splits, TimeSeriesSplit(4).split(np.arange(150)), strict=True):
        assert time[split.train].max() < time[split.test].min()
        assert (len(split.train), len(split.test)) == (len(train), len(test))
    (last,) = make_splits(rows, "holdout", time=time)
    assert time[last.train].max() < time[last.test].min()


@pytest.mark.parametrize("method", ["k-fold", "holdout"])
@pytest.mark.parametrize("n_times", [2, 5, 6, 17, 100])
def test_rows_of_one_time_are_on_one_side_of_a_cut(method, n_times):
    folds = min(4, n_times - 1) if method == "k-fold" else 1
    if method == "k-fold" and folds < 2:
        return
    random = np.random.default_rng(n_times)
    # a crowd at one time would swallow several cuts
    time = np.where(random.random(200) < 0.6, 1, random.integers(0, n_times, 200))
    time[:n_times] = range(n_times)
    rows = read_rows(np.arange(200.0)[:, None], np.arange(200.0), classification=False)
    splits = make_splits(rows, method, folds=folds, time=time)
    assert len(splits) == folds
    for split, later in zip(splits, [*splits[1:], None], strict=True):
        assert time[split.train].max() < time[split.test].min()
        together = np.sort(np.concatenate([split.train, split.test]))
        assert (together == (np.arange(200) if later is None else later.train)).all()


@pytest.mark.parametrize(
    "time",
    [
        ["2024-12-01", "2024-02-01", "2024-11-30", "2024-01-31"],
        ["2024-01-01T12:00Z", "2024-01-01 09:00+01:00", "2024-01-01T11:00", "2024-01-01"],
        pd.to_datetime(["2024-12-01", "2024-02-01", "2024-11-30", "2024-01-31"], format="ISO8601"),
        pd.Categorical(["late", "early", "noon", "dawn"], ["dawn", "early", "noon", "late"], True),
        pd.PeriodIndex(["2024-12", "2024-02", "2024-11", "2024-01"], freq="M"),
        pd.Series(pd.PeriodIndex(["2024Q4", "2024Q2", "2024Q3", "2024Q1"], freq="Q")),
        [10, 2.0, 9, 1],
    ],
)
def test_times_are_read_as_times(time):
    rows = read_rows(np.arange(4.0)[:, None], np.arange(4.0), classification=False)
    splits = make_splits(rows, folds=3, time=time)
    assert [split.test.tolist() for split in splits] == [[1], [2], [0]]


@pytest.mark.parametrize(
    ("time", "sentence"),
    [
        (["10", "2", "9", "1"], "time must hold numbers, dates, .* but has '1', which is none"),
        (pd.Categorical(["Dec", "Jan", "Nov", "Feb"]), "but has 'Dec', which is none of them"),
        ([True, False, True, False], "but has False, which is none of them"),
        (pd.Categorical([3, 1, 2, 4]), "but has 1, which is none of them"),
        (np.zeros(4), "3 or more different values for 2 parts held out, got 1 .*leave time out"),
        ([0, 0, 1, 1], 'got 2 in 4 rows; use method="holdout"'),
        ([1, "a", 2, 3], "'time' must hold values of one type"),
        ([1, 2, 3], "time must have one value for each of the 4 rows, got 3"),
        (5, "'time' must be a list or array"),
    ],
)
def test_times_without_an_order_are_refused(time, sentence):
    rows = read_rows(np.arange(4.0)[:, None], np.arange(4.0), classification=False)
    with pytest.raises((DataError, ParameterError), match=sentence):
        make_splits(rows, folds=2, time=time)


def test_leaving_one_out_is_as_many_folds_as_rows():
    X, y = IRIS.data.slice(40, 30), IRIS.target[40:70]
    one = cross_validate(CARTClassifier(), X, y, "loo")
    assert len(one.fold_frame()) == 30
    expected = cross_val_predict(CARTClassifier(), X.to_pandas(), y, cv=KFold(30))
    assert (out_of_fold(one) == expected).all()


def test_the_632_bootstrap_is_a_mixture_of_two_errors():
    settings = {"repeats": 20, "random_state": 3}
    model, X, y = CARTClassifier(max_depth=3), CREDIT.data, CREDIT.target
    out = cross_validate(model, X, y, "bootstrap", **settings).error
    apparent = evaluate(model.fit(X, y), X, y).error
    mixed = cross_validate(model, X, y, ".632", **settings)
    assert mixed.error == pytest.approx(0.368 * apparent + 0.632 * out, abs=1e-9)
    # no-information error from the shares of classes and of predictions
    share_true, share_said = np.mean(y == "bad"), np.mean(model.predict(X) == "bad")
    chance = share_true * (1 - share_said) + (1 - share_true) * share_said
    rate = (out - apparent) / (chance - apparent)
    share = 0.632 / (1 - 0.368 * rate)
    plus = cross_validate(model, X, y, ".632+", **settings)
    assert plus.error == pytest.approx((1 - share) * apparent + share * out, abs=1e-9)


def test_the_632_plus_does_not_believe_a_model_that_remembers():
    # labels without any meaning: the true error is one half
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 4)), random.permutation(np.repeat([0, 1], 30))
    errors = {
        method: cross_validate(KNeighborsClassifier(1), X, y, method, random_state=0).error
        for method in (".632", ".632+")
    }
    assert errors[".632"] < 0.40
    assert errors[".632+"] > 0.45


def test_the_632_plus_of_numbers():
    random = np.random.default_rng(1)
    X = random.uniform(size=(120, 2))
    y = X[:, 0] + random.normal(0, 0.3, 120)
    found = {
        method: cross_validate(CARTRegressor(), X, y, method, repeats=30, random_state=0).rmse
        for method in ("bootstrap", ".632", ".632+")
    }
    assert found[".632"] < found[".632+"] < found["bootstrap"]


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(60, random_state=0),
        BaggingClassifier(n_estimators=60, random_state=0),
        TheirForest(60, random_state=0),
    ],
    ids=lambda model: type(model).__module__,
)
def test_the_out_of_bag_error_takes_one_fit(model):
    X = np.column_stack([IRIS.data[name].to_numpy() for name in IRIS.feature_names])
    result = cross_validate(model, X, IRIS.target, "oob")
    fitted = result.run.models[0]
    assert result.accuracy == pytest.approx(fitted.oob_score_)
    assert len(result.fold_frame()) == 1


def test_intervals_of_numbers_are_judged_by_their_coverage():
    random = np.random.default_rng(0)
    X = random.uniform(size=(300, 3))
    y = X[:, 0] + random.normal(0, 0.2, 300)
    model = RandomForestRegressor(50, oob_score=True, random_state=0)
    result = cross_validate(model, X, y, folds=3, random_state=0, confidence=0.9)
    assert 0.8 < result.coverage < 0.98
    assert result.width > 0


def test_scores_that_are_no_probabilities_give_areas_only():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    y = np.where(X[:, 0] + random.normal(size=120) > 0, "yes", "no")
    result = cross_validate(LinearSVC(), X, y, random_state=0)
    assert result.roc_auc > 0.7
    assert "log_loss" not in result.values


def test_progress_is_told_for_every_fit():
    told = []
    cross_validate(
        CARTClassifier(),
        IRIS.data,
        IRIS.target,
        folds=4,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_one_fit_serves_all_figures():
    fits = []

    class Counted(DummyClassifier):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    result = cross_validate(Counted(), np.zeros((40, 1)), [0, 1] * 20, folds=5)
    str(result)
    result.fold_frame()
    assert fits == [32] * 5


def test_a_class_that_training_lacked_counts_as_never_said():
    y = np.array(["a"] * 20 + ["b"] * 20 + ["c"])
    X = np.arange(41.0)[:, None]
    pairs = [(np.arange(40), np.array([40, 0])), (np.arange(1, 41), np.array([0]))]
    result = cross_validate(CARTClassifier(), X, y, folds=pairs)
    assert result.classes == ("a", "b", "c")
    assert result.confusion[2].sum() == 1
    assert np.isfinite(result.log_loss)


X4 = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("y", "settings", "words"),
    [
        ([0, 1, 0, 1], {"folds": 10}, "folds must not be more than the rows, got 10 folds of 4"),
        ([0, 1, 0, 1], {"folds": 1}, "folds must be at least 2"),
        ([0, 0, 0, 0], {"folds": 2}, "two classes or more, but all 4 rows are 0"),
        ([0, 0, 0, 1], {"folds": [([0, 1], [2, 3])]}, "training rows of fold 1 are all 0"),
        ([0, 1, 0, 1], {"folds": 3}, "Stratified folds need a row of some class for every fold"),
        ([0, 1, 0, 1], {"folds": 2, "groups": [1, 1, 1, 1]}, "2 folds of 1 groups"),
        ([0, 1, 0, 1], {"folds": 2, "groups": [1, 1]}, "groups must have one value for each"),
        ([0, 1, 0, 1], {"folds": [([0, 1], [9])]}, "held-out rows from 0 to 3"),
        ([0, 1, 0, 1], {"folds": 2, "costs": [[0, 1]]}, "costs must be a 2 × 2 matrix"),
        ([0, 1, 0, 1], {"folds": 2, "positive": "yes"}, "positive must be one of the classes 0, 1"),
        ([0, 1, 0, 1], {"method": "jackknife"}, "method must be one of holdout"),
        ([0, 1, 0, 1], {"method": "oob"}, "oob_score, which CARTClassifier does not have"),
        ([0, 1, 0, 1], {"method": "loo", "time": True}, 'time goes with method "k-fold"'),
        ([0, 1, 0], {"folds": 2}, "rows"),
    ],
)
def test_bad_input_gets_one_sentence(y, settings, words):
    with pytest.raises((ParameterError, DataError), match=words) as caught:
        cross_validate(CARTClassifier(), X4, y, **settings)
    assert "\n" not in str(caught.value)


def test_frames_of_pandas_keep_their_index_out_of_it():
    X = pd.DataFrame({"x": np.arange(40.0)}, index=np.arange(40)[::-1])
    y = pd.Series(np.repeat(["a", "b"], 20), index=np.arange(40) * 3)
    for model in (CARTClassifier(), KNeighborsClassifier(3)):
        assert cross_validate(model, X, y, folds=4, random_state=0).accuracy > 0.9
