"""Forests in model files: small, and the same after loading."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import ensemble
from sklearn.datasets import load_diabetes, make_classification, make_regression
from sklearn.linear_model import LogisticRegression

import treewright as tw
from treewright.errors import ModelFileError


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_a_forest_takes_less_than_a_third_of_scikit_learns_file(task, tmp_path):
    if task == "classes":
        X, y = make_classification(2000, 20, random_state=0)
        ours, theirs = tw.RandomForestClassifier(20), ensemble.RandomForestClassifier(20)
    else:
        X, y = make_regression(2000, 20, noise=10, random_state=0)
        ours, theirs = tw.RandomForestRegressor(20), ensemble.RandomForestRegressor(20)
    tw.save(ours.fit(X, y), tmp_path / "ours")
    joblib.dump(theirs.fit(X, y), tmp_path / "theirs")
    assert (tmp_path / "ours").stat().st_size < (tmp_path / "theirs").stat().st_size / 3


@pytest.mark.filterwarnings("ignore::treewright.errors.FewTreesWarning")
def test_everything_a_forest_knows_is_in_its_file(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = tw.RandomForestRegressor(30, oob_score=True, keep_targets=True, random_state=0)
    tw.save(model.fit(X, y), tmp_path / "forest")
    again = tw.load(tmp_path / "forest")
    assert again.oob_score_ == model.oob_score_
    assert_array_equal(again.oob_prediction_, model.oob_prediction_)
    assert_array_equal(again.predict_quantiles(X[:20]), model.predict_quantiles(X[:20]))
    assert_array_equal(again.predict_interval(X[:20]), model.predict_interval(X[:20]))
    for method in ("oob", "jackknife"):
        one, other = (m.predict_interval(X[:9], method=method) for m in (again, model))
        assert_array_equal(one, other)
    one, other = (m.permutation_importance_oob(X, y).importance for m in (again, model))
    assert_array_equal(one, other)
    # and it can be grown further
    again.set_params(n_estimators=35, warm_start=True).fit(X, y)
    whole = tw.RandomForestRegressor(35, random_state=0).fit(X, y)
    assert_array_equal(again.predict(X), whole.predict(X))


@pytest.mark.parametrize("sampling", [None, "balanced"])
def test_draws_come_back_with_weights_and_classes(tmp_path, sampling):
    X, y = make_classification(200, random_state=0)
    weight = np.random.default_rng(0).random(200)
    model = tw.RandomForestClassifier(8, sampling=sampling, random_state=0)
    tw.save(model.fit(X, y, sample_weight=weight), tmp_path / "forest")
    again = tw.load(tmp_path / "forest")
    for one, other in zip(again.estimators_samples_, model.estimators_samples_, strict=True):
        assert_array_equal(one, other)


def test_members_of_other_libraries_are_refused_in_one_sentence(tmp_path):
    X, y = make_classification(100, random_state=0)
    model = tw.BaggingClassifier(LogisticRegression(), 3).fit(X, y)
    with pytest.raises(ModelFileError, match="estimators of treewright only"):
        tw.save(model, tmp_path / "bag")
