"""scikit-learn's callbacks follow a fit."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from treewright import CARTClassifier, GradientBoostingClassifier
from treewright.errors import ParameterError
from treewright.estimator.progress import STEPS


class Recorder:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.fitted: Any = None

    def setup(self, estimator: Any, context: Any) -> None:
        self.events.append("setup")

    def teardown(self, estimator: Any, context: Any) -> None:
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator: Any, context: Any, *, X: Any, y: Any) -> None:
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, metadata: Any, fitted_estimator: Any
    ) -> None:
        self.events.append(f"end {context.task_name}")
        if context.task_name == "fit":
            self.fitted = fitted_estimator


@pytest.fixture
def iris() -> Any:
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("parameters", [{}, {"cp": "cv", "cv": 4}], ids=["one tree", "five trees"])
def test_a_fit_is_one_task_of_a_hundred_steps(iris: Any, parameters: dict[str, Any]) -> None:
    recorder = Recorder()
    model = CARTClassifier(**parameters).set_callbacks(recorder)
    model.fit(*iris, sample_weight=None)
    assert recorder.events[:2] == ["setup", "begin fit"]
    assert recorder.events[-2:] == ["end fit", "teardown"]
    assert recorder.events.count("begin grow") == recorder.events.count("end grow") == STEPS
    assert recorder.fitted.predict(iris[0]).tolist() == model.predict(iris[0]).tolist()


def test_callbacks_follow_the_rounds_of_a_booster(iris: Any) -> None:
    recorder = Recorder()
    model = GradientBoostingClassifier(n_estimators=7, random_state=0).set_callbacks(recorder)
    model.fit(*iris)
    assert recorder.events[:2] == ["setup", "begin fit"]
    assert recorder.events[-2:] == ["end fit", "teardown"]
    assert recorder.events.count("begin grow") == recorder.events.count("end grow") == STEPS
    alone = GradientBoostingClassifier(n_estimators=7, random_state=0).fit(*iris)
    assert recorder.fitted.predict_proba(iris[0]).tolist() == alone.predict_proba(iris[0]).tolist()


def test_callbacks_are_torn_down_after_an_error(iris: Any) -> None:
    recorder = Recorder()
    with pytest.raises(ParameterError):
        CARTClassifier(max_depth=-1).set_callbacks(recorder).fit(*iris)
    assert recorder.events[-1] == "teardown"


def test_callbacks_do_not_change_the_model(iris: Any) -> None:
    watched = CARTClassifier().set_callbacks(Recorder()).fit(*iris)
    assert str(watched.tree_) == str(CARTClassifier().fit(*iris).tree_)
    assert watched.set_callbacks() is watched
    assert "_skl_callbacks" not in vars(watched)


def test_the_progress_bar_runs(iris: Any, capsys: Any) -> None:
    CARTClassifier().set_callbacks(ProgressBar()).fit(*iris)
    assert "CARTClassifier" in capsys.readouterr().out


def test_a_search_hands_its_callbacks_down(iris: Any) -> None:
    recorder = Recorder()
    model = clone(CARTClassifier(max_depth=2).set_callbacks(recorder))
    GridSearchCV(model, {"max_depth": [1, 2]}, cv=2).fit(*iris)
    assert recorder.events.count("end fit") == 5
