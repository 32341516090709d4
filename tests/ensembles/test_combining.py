"""Voting and stacking: scikit-learn's contract, its own answers, mixed frames, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn import ensemble as theirs
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import treewright
from tests.contract.estimators import mixed_columns, target_for
from treewright.errors import DataError, ModelFileError, ParameterError

CLASSIFIERS = [
    ("cart", treewright.CARTClassifier(max_depth=3)),
    ("c45", treewright.C45Classifier()),
]
REGRESSORS = [
    ("cart", treewright.CARTRegressor(max_depth=3)),
    ("ctree", treewright.CTreeRegressor()),
]
FOREIGN = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]

TEAMS = [
    treewright.VotingClassifier(CLASSIFIERS),
    treewright.VotingClassifier(CLASSIFIERS, voting="soft", weights=[2, 1]),
    treewright.VotingClassifier(
        CLASSIFIERS, voting="soft", weights="learned", cv=3, random_state=0
    ),
    treewright.VotingClassifier(CLASSIFIERS, weights="learned", cv=3, random_state=0),
    treewright.VotingRegressor(REGRESSORS),
    treewright.VotingRegressor(REGRESSORS, weights="learned", cv=3, random_state=0),
    treewright.StackingClassifier(CLASSIFIERS, cv=3, random_state=0),
    treewright.StackingClassifier(
        CLASSIFIERS,
        treewright.CARTClassifier(max_depth=2),
        passthrough=True,
        cv=3,
        random_state=0,
    ),
    treewright.StackingClassifier(CLASSIFIERS, method="blending", random_state=0),
    treewright.StackingRegressor(REGRESSORS, cv=3, random_state=0),
    treewright.StackingRegressor(REGRESSORS, method="blending", holdout=0.3, random_state=0),
]
MIXED_TEAM = treewright.VotingClassifier([*CLASSIFIERS, *FOREIGN])


@parametrize_with_checks([MIXED_TEAM, TEAMS[5], TEAMS[7], TEAMS[9]])
def test_scikit_learn_finds_no_fault(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(params=TEAMS, ids=lambda team: repr(team).replace("\n", "").replace(" ", ""))
def team(request: pytest.FixtureRequest) -> Any:
    return clone(request.param)


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    return mixed_columns(150)


def said(model: Any, X: Any) -> np.ndarray:
    return np.asarray(getattr(model, "predict_proba", model.predict)(X))


def test_every_frame_with_text_and_gaps_gives_the_same_answers(
    team: Any, columns: dict[str, Any]
) -> None:
    y = target_for(team, columns)
    model = team.fit(pd.DataFrame(columns), y)
    expected = said(model, pd.DataFrame(columns))
    for frame in (columns, pl.DataFrame(columns), pa.table(columns)):
        assert np.array_equal(said(clone(team).fit(frame, y), frame), expected)
    assert list(model.feature_names_in_) == list(columns)


def test_a_saved_team_says_the_same(team: Any, columns: dict[str, Any], tmp_path: Any) -> None:
    model = team.fit(columns, target_for(team, columns))
    treewright.save(model, tmp_path / "team.tw")
    loaded = treewright.load(tmp_path / "team.tw")
    assert np.array_equal(said(loaded, columns), said(model, columns))
    assert loaded.named_estimators_.keys() == model.named_estimators_.keys()
    if hasattr(model, "weights_"):
        assert np.array_equal(loaded.weights_, model.weights_)


def test_threads_and_a_second_fit_change_nothing(team: Any, columns: dict[str, Any]) -> None:
    y = target_for(team, columns)
    expected = said(clone(team).fit(columns, y), columns)
    team.fit(mixed_columns(80, seed=9), target_for(team, mixed_columns(80, seed=9)))
    assert np.array_equal(said(team.fit(columns, y), columns), expected)
    assert np.array_equal(said(clone(team).set_params(n_jobs=2).fit(columns, y), columns), expected)


def test_members_are_those_fitted_alone_and_know_the_classes_by_name() -> None:
    titanic = treewright.datasets.load_titanic()
    model = treewright.VotingClassifier(CLASSIFIERS).fit(titanic.data, titanic.target)
    alone = treewright.CARTClassifier(max_depth=3).fit(titanic.data, titanic.target)
    assert model.estimators_[0].tree_.to_text() == alone.tree_.to_text()
    assert model.named_estimators_["cart"].classes_.tolist() == model.classes_.tolist()


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("weights", [None, [1, 2, 3]])
def test_votes_are_scikit_learns(voting: str, weights: Any) -> None:
    X, y = load_iris(return_X_y=True)
    members = [*FOREIGN, ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    ours = treewright.VotingClassifier(members, voting=voting, weights=weights).fit(X, y)
    other = theirs.VotingClassifier(members, voting=voting, weights=weights).fit(X, y)
    assert np.array_equal(ours.predict(X), other.predict(X))
    if voting == "soft":
        np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X))
        np.testing.assert_allclose(ours.transform(X), other.transform(X))
    assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())


def test_stacks_are_scikit_learns_on_the_same_folds() -> None:
    X, y = load_iris(return_X_y=True)
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    for members in (FOREIGN, [("a", RidgeClassifier()), ("b", RidgeClassifier(alpha=50.0))]):
        settings = {"cv": folds}
        blender = GaussianNB()
        ours = treewright.StackingClassifier(members, blender, **settings).fit(X, y)
        other = theirs.StackingClassifier(members, blender, **settings).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-6)
        assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    X, y = load_diabetes(return_X_y=True)
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    members = [("a", LinearRegression()), ("b", treewright.CARTRegressor(max_depth=3))]
    for passthrough in (False, True):
        settings = {"cv": folds, "passthrough": passthrough}
        ours = treewright.StackingRegressor(members, LinearRegression(), **settings).fit(X, y)
        other = theirs.StackingRegressor(members, LinearRegression(), **settings).fit(X, y)
        np.testing.assert_allclose(ours.predict(X), other.predict(X))


def test_blending_trains_members_on_part_a_and_the_blender_on_part_b() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = treewright.StackingRegressor(
        [("tree", treewright.CARTRegressor())], LinearRegression(), method="blending",
        holdout=0.25, random_state=3,
    ).fit(X, y)  # fmt: skip
    tree = model.estimators_[0]
    # a whole tree has learned its rows by heart, all but those of part B
    known = tree.predict(X) == y
    assert tree.tree_.n_samples[0] == round(0.75 * len(y))
    assert known.sum() >= round(0.75 * len(y))
    line = LinearRegression().fit(tree.predict(X[~known])[:, None], y[~known])
    # rows of part B that the tree happens to get right hardly move the line
    assert model.final_estimator_.coef_ == pytest.approx(line.coef_, rel=0.1)
    assert model.final_estimator_.coef_[0] < 0.9  # honest: the tree is not to be trusted


def test_learned_weights_silence_a_member_that_knows_nothing() -> None:
    X, y = load_diabetes(return_X_y=True)
    nothing = treewright.CARTRegressor(max_depth=1, min_samples_leaf=len(y))
    members = [("tree", treewright.CARTRegressor(max_depth=3)), ("line", LinearRegression())]
    model = treewright.VotingRegressor([*members, ("nothing", nothing)], weights="learned")
    model.set_params(random_state=0).fit(X, y)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert model.weights_[1] > model.weights_[0]
    assert model.held_out_scores_[2] < 0.01 < model.held_out_scores_[0]
    soft = treewright.VotingClassifier(
        [
            ("good", treewright.CARTClassifier(max_depth=3)),
            ("root", treewright.CARTClassifier(min_samples_leaf=100)),
        ],
        voting="soft",
        weights="learned",
        random_state=0,
    ).fit(*load_iris(return_X_y=True))
    assert soft.weights_[0] > 0.9
    hard = clone(soft).set_params(voting="hard").fit(*load_iris(return_X_y=True))
    assert hard.weights_[0] > 0.9


def test_weights_of_rows_reach_the_members_and_a_search_routes_them() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.where(y == 2, 0.0, 1.0)
    model = treewright.VotingClassifier(CLASSIFIERS).fit(X, y, sample_weight=weight)
    assert model.classes_.tolist() == [0, 1]
    with config_context(enable_metadata_routing=True):
        asked = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(asked, {"cart__max_depth": [1, 2]}, cv=3)
        search.fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0))
    assert search.best_estimator_.estimators_[0].tree_.weight[0] == 250.0
    stack = treewright.StackingClassifier([("knn", KNeighborsClassifier())])
    with pytest.raises(DataError, match="KNeighborsClassifier does not support sample weights"):
        stack.fit(X, y, sample_weight=np.ones(len(y)) * 2)


def test_a_dropped_member_is_left_out() -> None:
    X, y = load_iris(return_X_y=True)
    model = treewright.VotingClassifier(CLASSIFIERS, weights=[1, 5]).set_params(c45="drop")
    model.fit(X, y)
    assert len(model.estimators_) == 1
    assert model.weights_.tolist() == [1.0]


def test_members_that_read_columns_differently_get_the_frame(columns: dict[str, Any]) -> None:
    frame = pd.DataFrame(columns).assign(code=np.arange(150) % 4)
    members = [
        ("numbers", treewright.CARTClassifier(max_depth=3)),
        ("codes", treewright.CARTClassifier(max_depth=3, categorical_features=["code"])),
    ]
    model = treewright.VotingClassifier(members).fit(frame, target_for(members[0][1], columns))
    kinds = [member.tree_.schema.features[-1].kind for member in model.estimators_]
    assert kinds == ["continuous", "nominal"]


def test_a_blender_of_another_library_sees_text_columns_in_the_frame(
    columns: dict[str, Any],
) -> None:
    seen = []

    class Looking(LogisticRegression):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            seen.append(list(X.columns))
            return super().fit(X[["stackingclassifier_c450", "income"]], y)

        def predict(self, X: Any) -> Any:
            return super().predict(X[["stackingclassifier_c450", "income"]])

    model = treewright.StackingClassifier(CLASSIFIERS, Looking(), passthrough=True, random_state=0)
    frame = pd.DataFrame(columns, index=np.arange(150)[::-1])
    y = target_for(model, columns)
    assert (model.fit(frame, y).predict(frame) == y).mean() > 0.5
    assert set(columns) < set(seen[0])
    assert "colour" in model.transform(pl.DataFrame(columns)).columns


def test_foreign_members_cannot_be_saved_and_the_sentence_says_so(tmp_path: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = treewright.VotingClassifier([*CLASSIFIERS, *FOREIGN]).fit(X, y)
    with pytest.raises(ModelFileError, match="GaussianNB, and a model file holds estimators of"):
        treewright.save(model, tmp_path / "team.tw")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: treewright.VotingClassifier([]), "list of pairs"),
        (lambda: treewright.VotingClassifier([("a", LogisticRegression())] * 2), "'a' names two"),
        (lambda: treewright.VotingClassifier([("cv", LogisticRegression())]), "got 'cv'"),
        (lambda: treewright.VotingClassifier(REGRESSORS), "'cart' of VotingClassifier should be"),
        (lambda: treewright.VotingClassifier(CLASSIFIERS, weights=[1]), "each of the 2 estimators"),
        (lambda: treewright.VotingClassifier(CLASSIFIERS, weights=[1, -1]), "at least 0"),
        (lambda: treewright.VotingClassifier(CLASSIFIERS, voting="loud"), '"hard" or "soft"'),
        (lambda: treewright.StackingClassifier(CLASSIFIERS, LinearRegression()), "final_estimator"),
        (lambda: treewright.StackingClassifier(CLASSIFIERS, holdout=1.5), "holdout must be"),
        (
            lambda: treewright.StackingClassifier(CLASSIFIERS, stack_method="decision_function"),
            "'cart' has no decision_function",
        ),
        (lambda: treewright.StackingClassifier([("a", "drop")]), "All estimators are dropped"),
    ],
)
def test_bad_parameters_are_one_sentence(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make().fit(*load_iris(return_X_y=True))


def test_fewer_rows_than_folds_is_one_sentence() -> None:
    model = treewright.StackingClassifier(CLASSIFIERS, cv=10)
    with pytest.raises(DataError, match="needs 10 rows or more, but X has 4"):
        model.fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])


def test_every_parameter_is_declared_and_documented(team: Any) -> None:
    names = set(team.get_params(deep=False))
    assert set(team._parameter_constraints) == names
    documented = {line.split(" : ")[0] for line in type(team).__doc__.splitlines()}
    assert names <= documented
    assert is_classifier(team) == type(team).__name__.endswith("Classifier")


# The linear blender


IRIS = load_iris(return_X_y=True)
STRANGE = {
    "gaps": np.where(np.arange(600).reshape(150, 4) % 7 == 0, np.nan, IRIS[0]),
    "texts": pd.DataFrame({"a": IRIS[0][:, 0], "b": np.where(IRIS[1] == 1, "u", "v")}),
    "None alone": pd.DataFrame({"a": IRIS[0][:, 0], "b": pd.Series([None] * 150, dtype=object)}),
    "huge": IRIS[0] * 1e300,
    "numbers as names": pd.DataFrame(IRIS[0]).mask(IRIS[0] > 5),
}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("team", ["classes", "numbers"])
def test_a_linear_blender_refuses_columns_that_it_cannot_read(kind: str, team: str) -> None:
    model: Any = treewright.StackingClassifier(CLASSIFIERS, passthrough=True, cv=2)
    if team == "numbers":
        model = treewright.StackingRegressor(REGRESSORS, passthrough=True, cv=2)
    with pytest.raises(DataError, match=r"the blender of Stacking.*needs"):
        model.fit(STRANGE[kind], IRIS[1])
    model.fit(IRIS[0], IRIS[1])
    if isinstance(STRANGE[kind], np.ndarray):
        with pytest.raises(DataError, match=r"the blender of Stacking.*needs"):
            model.predict(STRANGE[kind])


@pytest.mark.filterwarnings("ignore:Dates and times")
@pytest.mark.parametrize("columns", ["numbers", "dates", "booleans"])
def test_a_linear_blender_with_passthrough_is_saved_with_what_it_saw(
    columns: str, tmp_path: Any
) -> None:
    X: Any = IRIS[0]
    if columns != "numbers":
        more = pd.date_range("2020-01-01", periods=150) if columns == "dates" else IRIS[1] == 1
        X = pd.DataFrame({"a": X[:, 0], "b": more})
    for model in (
        treewright.StackingClassifier(CLASSIFIERS, passthrough=True, cv=2, random_state=0),
        treewright.StackingRegressor(REGRESSORS, passthrough=True, cv=2, random_state=0),
    ):
        model.fit(X, IRIS[1])
        treewright.save(model, tmp_path / "m.tw")
        assert np.array_equal(said(treewright.load(tmp_path / "m.tw"), X), said(model, X))


def test_huge_targets_are_refused_by_a_linear_blender() -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(DataError, match=r"must lie within|needs numbers within"):
        treewright.StackingRegressor(REGRESSORS).fit(X, y * 1e155)


def test_blending_needs_two_classes_for_the_blender_and_takes_one_less_than_all(
    tmp_path: Any,
) -> None:
    X, y = IRIS[0][:60], np.arange(60) % 2
    model = treewright.StackingClassifier(CLASSIFIERS, method="blending", random_state=0)
    for n, k in ((2, 2), (3, 3), (4, 3)):
        with pytest.raises(DataError, match="needs rows of two classes for the blender"):
            model.fit(X[:n], np.arange(n) % k)
    y[7] = 5  # a row alone trains the members; the blender does not meet it
    probability = model.fit(X, y).predict_proba(X)
    assert probability.shape == (60, 3)
    treewright.save(model, tmp_path / "m.tw")
    assert np.array_equal(treewright.load(tmp_path / "m.tw").predict_proba(X), probability)


@pytest.mark.parametrize("passthrough", [False, True])
def test_a_linear_blender_decides_as_scikit_learns(passthrough: bool) -> None:
    X, y = IRIS
    for codes in (y, (y > 0).astype(int)):
        model = treewright.StackingClassifier(CLASSIFIERS, passthrough=passthrough, cv=2)
        model.fit(X, codes)
        seen, blender = model.transform(X), model.final_estimator_
        np.testing.assert_allclose(model.predict_proba(X), blender.predict_proba(seen))
        np.testing.assert_allclose(model.decision_function(X), blender.decision_function(seen))
        assert np.array_equal(model.predict(X), blender.predict(seen))


@pytest.mark.parametrize(
    "model",
    [
        treewright.MARSRegressor(degree=2),
        treewright.MARSClassifier(degree=2),
        treewright.StackingClassifier(CLASSIFIERS, cv=2),
        treewright.StackingRegressor([*REGRESSORS, ("mars", treewright.MARSRegressor())], cv=2),
        treewright.VotingClassifier(
            [*CLASSIFIERS, ("mars", treewright.MARSClassifier())], voting="soft", weights="learned"
        ),
        treewright.VotingRegressor(
            [*REGRESSORS, ("mars", treewright.MARSRegressor())], weights="learned"
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_row_has_the_same_bits_alone_and_among_others(model: Any) -> None:
    X = np.random.default_rng(0).normal(size=(300, 12))
    y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + np.sin(X @ np.arange(12))
    if "Classifier" in type(model).__name__:
        y = np.digitize(y, np.quantile(y, np.arange(1, 10) / 10))
    model.fit(X, y)
    ask = getattr(model, "predict_proba", model.predict)
    whole = ask(X)
    for rows in (slice(0, 1), slice(7, 8), slice(3, 10), slice(40, 297)):
        assert np.array_equal(ask(X[rows]), whole[rows])


def test_a_linear_blender_refuses_a_column_without_any_value():
    X = {"a": [0.0, 1.0] * 20, "b": [None] * 40}
    members = [("tree", treewright.CARTClassifier())]
    model = treewright.StackingClassifier(members, passthrough=True)
    with pytest.raises(DataError, match="column 'b' has gaps"):
        model.fit(X, [0, 1] * 20)
