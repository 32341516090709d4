"""Metadata that ``fit`` hands on to splitters and members."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.tree import DecisionTreeClassifier

import treewright as tw
from treewright.errors import ParameterError

X, Y = load_iris(return_X_y=True)
GROUPS = np.arange(150) % 7
WEIGHT = np.where(np.arange(150) % 5 == 0, 0.0, 1.0)


class Watched(GroupKFold):
    """Folds by groups that remember what they were given."""

    seen: list[Any]

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        Watched.seen.append(None if groups is None else np.asarray(groups))
        return super().split(X, y, groups)


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    Watched.seen = []
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize(
    "model",
    [
        tw.CARTClassifier(cp="cv", cv=Watched(3)),
        tw.HuntClassifier(ccp_alpha="cv", cv=Watched(3)),
        tw.CTreeClassifier(ccp_alpha="cv", cv=Watched(3)),
        tw.MARSClassifier(pruning="cv", cv=Watched(3)),
        tw.StackingClassifier([("tree", tw.CARTClassifier(max_depth=2))], cv=Watched(3)),
        tw.VotingClassifier([("tree", tw.CARTClassifier())], weights="learned", cv=Watched(3)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_groups_of_the_rows_that_take_part_reach_the_splitter(model: Any) -> None:
    model.fit(X, Y, sample_weight=WEIGHT, groups=GROUPS)
    assert Watched.seen[0].tolist() == GROUPS[WEIGHT > 0].tolist()
    with pytest.raises(ParameterError, match="cv=Watched cannot split these 150 rows"):
        model.fit(X, Y)
    with pytest.raises(TypeError, match="unexpected argument"):
        model.fit(X, Y, grouped=GROUPS)


def test_groups_reach_the_splitter_of_a_member_and_a_search() -> None:
    member = tw.CARTClassifier(cp="cv", cv=Watched(2))
    stack = tw.StackingClassifier([("tree", member), ("other", tw.C45Classifier())], cv=3)
    stack.fit(X, Y, groups=GROUPS)
    assert sorted(map(len, Watched.seen)) == [100, 100, 100, 150]
    search = GridSearchCV(member, {"min_samples_leaf": [1, 5]}, cv=GroupKFold(2))
    search.fit(X, Y, groups=GROUPS)
    assert len(Watched.seen[-1]) == 150


class Told(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A tree that keeps what it was told of the rows."""

    def fit(self, X: Any, y: Any, note: Any = None, title: Any = None) -> Any:
        self.note_, self.title_ = note, title
        self.tree_ = DecisionTreeClassifier().fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.tree_.predict(X)


@pytest.mark.parametrize("team", [tw.StackingClassifier, tw.VotingClassifier])
def test_members_get_what_they_ask_for_of_their_rows(team: Any) -> None:
    told = Told().set_fit_request(note=True, title=True)
    model = team([("told", told), ("tree", tw.CARTClassifier())]).fit(
        X, Y, note=GROUPS, title="iris"
    )
    assert model.estimators_[0].note_.tolist() == GROUPS.tolist()
    assert model.estimators_[0].title_ == "iris"


def test_without_routing_the_sentence_says_how_to_switch_it_on() -> None:
    with (
        config_context(enable_metadata_routing=False),
        pytest.raises(ParameterError, match=r"enable_metadata_routing=True"),
    ):
        tw.CARTClassifier(cp="cv", cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
