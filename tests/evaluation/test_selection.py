"""Choosing columns: textbook figures, scikit-learn's contract, noise, gaps, refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.feature_selection import chi2 as sklearn_chi2
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import treewright
from tests.contract.estimators import mixed_columns
from treewright import FeatureSelector, datasets, select_features
from treewright.errors import DataError, ParameterError
from treewright.evaluation.selection.relief import _scaled
from treewright.evaluation.selection.selector import METHODS

TENNIS = datasets.load_play_tennis()
NAMES = [name.lower() for name in TENNIS.data.column_names]


WIND = next(name for name in NAMES if name.startswith("wind"))


def mixed(n: int = 300, seed: int = 0) -> tuple[dict[str, Any], Any, Any]:
    """Two columns that tell something and two that do not, with gaps; classes and numbers."""
    columns = mixed_columns(n, seed)
    columns["noise"] = np.random.default_rng(9).normal(size=n)
    signal = np.nan_to_num(columns["age"], nan=40) / 12 + 2.0 * columns["member"]
    signal = signal + np.random.default_rng(5).normal(0, 0.4, n)
    return columns, np.where(signal > np.median(signal), "yes", "no"), signal


@parametrize_with_checks(
    [FeatureSelector(), FeatureSelector("relief", k=1), FeatureSelector("backward", 1, folds=2)]
)
def test_scikit_learn_finds_no_fault(estimator: Any, check: Any) -> None:
    check(estimator)


def test_play_tennis_has_the_gains_of_the_textbook() -> None:
    found = select_features(TENNIS.data, TENNIS.target, "information_gain", k=1)
    gains = dict(zip(NAMES, found.scores_.tolist(), strict=True))
    expected = {"outlook": 0.247, "temperature": 0.029, "humidity": 0.152, WIND: 0.048}
    assert gains == pytest.approx(expected, abs=6e-4)
    ratio = select_features(TENNIS.data, TENNIS.target, "gain_ratio")
    ratios = dict(zip(NAMES, ratio.scores_.tolist(), strict=True))
    assert ratios["outlook"] == pytest.approx(0.156, abs=6e-4)
    assert ratios["humidity"] == pytest.approx(0.152, abs=6e-4)


def test_chi_squared_is_scipys() -> None:
    found = select_features(TENNIS.data, TENNIS.target, "chi2", k=1)
    frame = TENNIS.data.to_pandas()
    for j, name in enumerate(frame):
        table = pd.crosstab(frame[name], np.asarray(TENNIS.target))
        theirs = stats.chi2_contingency(table, correction=False)
        assert found.scores_[j] == pytest.approx(theirs.statistic)
        assert found.p_values_[j] == pytest.approx(theirs.pvalue)
    # scikit-learn's chi2 of indicator columns adds up to the statistic of the column
    outlook = pd.get_dummies(frame.iloc[:, NAMES.index("outlook")]).to_numpy(float)
    assert sklearn_chi2(outlook, TENNIS.target)[0].sum() == pytest.approx(
        found.scores_[NAMES.index("outlook")]
    )


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_ranks_what_tells_something_above_noise(method: str) -> None:
    columns, classes, _ = mixed()
    found = select_features(columns, classes, method, random_state=0, n_rounds=15)
    rank = dict(zip(columns, found.ranking_.tolist(), strict=True))
    assert max(rank["age"], rank["member"]) < rank["noise"]
    kept = set(found.get_feature_names_out())
    assert {"age", "member"} <= kept
    if method not in ("forward", "backward"):  # these keep what helps one model on these folds
        assert "noise" not in kept


@pytest.mark.parametrize("method", ["relief", "forward", "backward", "permutation", "boruta"])
def test_numbers_have_their_own_relief_and_models(method: str) -> None:
    columns, _, numbers = mixed(200)
    found = select_features(columns, numbers, method, random_state=0, n_rounds=12)
    rank = dict(zip(columns, found.ranking_.tolist(), strict=True))
    assert max(rank["age"], rank["member"]) < rank["noise"]


def test_relief_sees_columns_that_tell_something_only_together() -> None:
    with_noise = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (400, 6)).astype(float)
        y = X[:, 0] != X[:, 1]
        kept = set(np.flatnonzero(select_features(X, y, "relief", random_state=seed).support_))
        assert kept >= {0, 1}
        with_noise += kept != {0, 1}
        alone = select_features(X, y, "information_gain")
        assert alone.scores_[:2].max() < 0.02
    # what is kept by chance: at most one table in twenty on average
    assert with_noise <= 1


def test_relief_weights_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    k = 4
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    prior = np.bincount(y) / len(y)
    weight = np.zeros(3)
    for i in range(30):
        d = np.abs(scaled - scaled[i])
        distance = d.sum(axis=1)
        distance[i] = np.inf
        for c in range(3):
            near = np.flatnonzero(y == c)
            near = near[np.argsort(distance[near], kind="stable")]
            near = near[near != i][:k]
            factor = -1.0 if c == y[i] else prior[c] / (1 - prior[y[i]])
            weight += factor * d[near].mean(axis=0) / 30
    found = select_features(X, y, "relief", n_neighbors=k)
    np.testing.assert_allclose(found.scores_, weight)


def test_a_gap_differs_by_what_is_expected() -> None:
    from treewright.data.encode import encode

    columns = {
        "number": [0.0, 1.0, 2.0, 4.0, None],
        "word": ["a", "a", "b", None, None],
    }
    number, word = _scaled(encode(columns))
    known = np.array([0.0, 0.25, 0.5, 1.0])
    rows = np.arange(5)
    to_gap = number.differences(rows, np.full(5, 4))
    assert to_gap[:4] == pytest.approx([np.abs(known - v).mean() for v in known])
    assert to_gap[4] == pytest.approx(np.abs(known[:, None] - known).mean())
    assert word.differences(rows, np.full(5, 4)).tolist() == pytest.approx(
        [1 / 3, 1 / 3, 2 / 3, 4 / 9, 4 / 9]
    )


def test_of_noise_the_tests_keep_about_as_many_as_their_level_says() -> None:
    rng = np.random.default_rng(0)
    kept = {"chi2": 0, "information_gain": 0, "relief": 0}
    n = 40
    for _ in range(n):
        X, y = rng.normal(size=(150, 5)), rng.integers(0, 2, 150)
        for method in kept:
            kept[method] += int(select_features(X, y, method, random_state=0).support_.sum())
    # Holm: any false finding in 5 % of the tables
    assert kept["chi2"] <= 6
    assert kept["relief"] <= 6
    assert kept["information_gain"] <= 8


def test_relief_leaves_noise_out_beside_columns_that_tell_much() -> None:
    kept = []
    for seed in range(8):
        columns, classes, numbers = mixed(200, seed)
        columns["noise"] = np.random.default_rng(100 + seed).normal(size=200)
        for target in (classes, numbers):
            kept.append(select_features(columns, target, "relief", random_state=0).support_)
    share = dict(zip(columns, np.mean(kept, axis=0).tolist(), strict=True))
    assert share["age"] == share["member"] == 1.0
    assert max(share["income"], share["colour"], share["noise"]) <= 3 / 16


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_frames_keep_their_kind_and_columns_are_matched_by_name(make: Any) -> None:
    columns, classes, _ = mixed(120)
    found = select_features(make(columns), classes, "chi2", k=2)
    turned = {name: columns[name] for name in reversed(list(columns))}
    for given in (columns, turned):
        kept = found.transform(make(given))
        assert type(kept) is type(make(given))
        names = list(kept) if isinstance(kept, dict) else list(kept.schema.names if hasattr(
            kept, "schema") and not isinstance(kept, pl.DataFrame) else kept.columns)  # fmt: skip
        assert names == found.get_feature_names_out().tolist()


def test_a_pipeline_judges_the_choice_too() -> None:
    columns, classes, _ = mixed(150)
    model = make_pipeline(FeatureSelector("gain_ratio", k=2), treewright.CARTClassifier())
    frame = pd.DataFrame(columns)
    assert model.fit(frame, classes).score(frame, classes) > 0.8


def test_models_of_other_libraries_choose_columns_of_numbers() -> None:
    iris = datasets.load_iris()
    frame = iris.data.to_pandas()
    for method in ("forward", "backward", "permutation"):
        for X in (frame, np.asarray(frame), pl.from_pandas(frame)):
            found = select_features(
                X, iris.target, method, k=2, model=GaussianNB(),
                random_state=0, folds=3,
            )  # fmt: skip
            assert found.support_.sum() == 2
            assert found.support_[2:].any()


def test_the_result_reads_as_text_json_frame_and_picture() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    columns, classes, _ = mixed(120)
    found = select_features(columns, classes, "relief")
    assert found.sentence in found.summary()
    assert json.loads(json.dumps(found.to_dict()))["method"] == "relief"
    assert len(found.frame()) == 5
    ax = found.plot()
    ax.figure.canvas.draw()
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"method": "releif"}, ParameterError, "Did you mean 'relief'"),
        ({"k": 9}, ParameterError, "at most the 5 columns"),
        ({"n_bin": 3}, ParameterError, "Did you mean 'n_bins'"),
        ({"alpha": 2.0}, ParameterError, "alpha must be"),
        ({"n_bins": 2**31 - 1}, ParameterError, "n_bins must be"),
        ({"model": GaussianNB()}, ParameterError, "uses none"),
        ({"method": "boruta", "model": GaussianNB()}, ParameterError, "of treewright"),
        ({"task": "regression", "method": "chi2"}, ParameterError, "is for classes"),
        ({"method": "forward", "folds": 500}, ParameterError, "500 folds of 120 rows"),
    ],
)
def test_bad_input_is_one_sentence(settings: dict[str, Any], error: Any, words: str) -> None:
    columns, classes, _ = mixed(120)
    with pytest.raises(error, match=words):
        select_features(columns, classes, **settings)


def test_a_target_of_numbers_and_columns_that_are_missing_are_refused() -> None:
    columns, classes, numbers = mixed(60)
    with pytest.raises(ParameterError, match="the target holds numbers"):
        select_features(columns, numbers, "gain_ratio")
    found = select_features(columns, classes, "chi2", k=2)
    with pytest.raises(DataError, match="lacks"):
        found.transform({"age": columns["age"]})
