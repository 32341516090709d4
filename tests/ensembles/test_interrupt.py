"""Ctrl-C keeps the members grown so far."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.tree import DecisionTreeClassifier

import treewright as tw

N = 100_000
"""Members, far more than there is time for."""


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    return X, (X[:, 0] + rng.normal(size=2000) > 0).astype(int)


@pytest.mark.parametrize(
    "model",
    [
        tw.RandomForestClassifier(N, random_state=0, n_jobs=2),
        tw.BaggingClassifier(tw.C45Classifier(), N, random_state=0),
        tw.BaggingClassifier(DecisionTreeClassifier(max_depth=2), N, random_state=0),
    ],
    ids=["engine", "own fit", "foreign"],
)
def test_an_interrupted_fit_keeps_what_is_finished_and_can_go_on(data, press_ctrl_c, model):
    X, y = data
    assert press_ctrl_c(2.5, lambda: model.fit(X, y)) < 60
    n = len(model.estimators_)
    assert 0 < n < N
    assert model.predict(X[:5]).shape == (5,)
    model.set_params(n_estimators=n + 2, warm_start=True).fit(X, y)
    whole = type(model)(**{**model.get_params(deep=False), "warm_start": False}).fit(X, y)
    assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_an_interrupt_before_the_first_member_leaves_the_last_model(press_ctrl_c):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400_000, 30)), rng.integers(0, 2, 400_000)
    model = tw.RandomForestClassifier(2, random_state=0).fit(X[:100], y[:100])
    before = model.predict_proba(X[:50])
    model.set_params(n_estimators=50, max_features=None)
    press_ctrl_c(0.7, lambda: model.fit(X, y))
    if len(model.estimators_) == 2:
        assert_array_equal(model.predict_proba(X[:50]), before)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_in_a_process_of_its_own_leaves_a_forest_that_predicts(n_jobs):
    code = f"""
import os, signal, threading, time
import numpy as np
import treewright as tw

X = np.random.default_rng(0).normal(size=(2000, 10))
y = (X[:, 0] > 0).astype(int)
model = tw.RandomForestClassifier(10**6, random_state=0, n_jobs={n_jobs})


def interrupt():  # by time of the processor: some trees are grown then, however busy it is
    begin = time.process_time()
    while time.process_time() < begin + 1.0:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


threading.Thread(target=interrupt, daemon=True).start()
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(len(model.estimators_), model.score(X, y))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    kept, score = done.stdout.split()
    assert 0 < int(kept) < 10**6
    assert float(score) > 0.9


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_importance_can_be_interrupted_and_asked_again(data, press_ctrl_c, n_jobs):
    X, y = data
    model = tw.RandomForestClassifier(30, random_state=0, n_jobs=n_jobs).fit(X, y)
    press_ctrl_c(1.0, lambda: model.permutation_importance_oob(X, y))
    assert model.permutation_importance_oob(X, y).importance[0] > 0.05


@pytest.mark.parametrize("work", ["proximity", "foreign"])
def test_ctrl_c_is_answered_within_half_a_second(press_ctrl_c, work):
    rng = np.random.default_rng(0)
    n = 6000 if work == "proximity" else 200_000
    X = rng.normal(size=(n, 10))
    y = rng.integers(0, 2, n)
    model = tw.RandomForestClassifier(100, random_state=0)
    bagging = tw.BaggingClassifier(DecisionTreeClassifier(), 1)
    if work == "proximity":
        model.fit(X, y)
    run = {"proximity": lambda: model.proximity(X), "foreign": lambda: bagging.fit(X, y)}[work]
    # half a second where nothing else runs; 10 and 15 s before
    assert press_ctrl_c(0.7, run) < 5.0
