"""Trees of other libraries come in and ours go out, and predictions stay the same."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import ensemble, tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import treewright as tw
from tests.exporting import run, zoo
from treewright.errors import ModelFileError, ParameterError, TreewrightError
from treewright.exporting._foreign import single_break


def close_rows(X: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Rows with every value at, just above and just below a threshold, in doubles."""
    rows = np.repeat(X[:30], 3, axis=0)
    random = np.random.default_rng(0)
    at = random.choice(thresholds[np.isfinite(thresholds)], rows.shape)
    shift = random.choice([-1e-9, -1e-16, 0, 1e-16, 1e-9], rows.shape)
    mask = random.random(rows.shape) < 0.3
    return np.where(mask, at * (1 + shift), rows)


def with_gaps(X: np.ndarray) -> np.ndarray:
    return np.where(np.random.default_rng(1).random(X.shape) < 0.15, np.nan, X)


def test_a_break_for_doubles_rounds_as_single_precision_does():
    random = np.random.default_rng(0)
    for at in np.concatenate([random.normal(size=200), [0.0, 1.0, 0.5, -0.5, 1e-40, 3e38]]):
        for closed in (True, False):
            cut, is_closed = single_break(float(at), closed=closed)
            near = np.concatenate([[cut], np.nextafter(cut, [-np.inf, np.inf]), [at]])
            near = np.concatenate([near, np.float32(at) * np.array([1, 1 - 6e-8, 1 + 6e-8])])
            said = near <= cut if is_closed else near < cut
            single = near.astype(np.float32).astype(float)
            assert_array_equal(said, single <= at if closed else single < at)


@pytest.mark.parametrize(
    "model",
    [
        tree.DecisionTreeClassifier(max_depth=5, random_state=0),
        tree.DecisionTreeRegressor(max_depth=6, random_state=0),
        tree.ExtraTreeClassifier(random_state=0),
        ensemble.RandomForestClassifier(5, max_depth=5, random_state=0),
        ensemble.RandomForestRegressor(5, max_depth=5, random_state=0),
        ensemble.ExtraTreesRegressor(5, max_depth=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_from_sklearn_predicts_the_same(model, tmp_path):
    is_class = hasattr(model, "predict_proba")
    X, y = load_iris(return_X_y=True) if is_class else load_diabetes(return_X_y=True)
    names = np.array(["a", "b", "c"])
    model.fit(with_gaps(X), names[y] if is_class else y)
    ours = tw.from_sklearn(model)
    members = getattr(model, "estimators_", [model])
    asked = with_gaps(close_rows(X, np.concatenate([m.tree_.threshold for m in members])))
    if is_class:
        assert_allclose(ours.predict_proba(asked), model.predict_proba(asked), atol=1e-12)
    else:
        assert_allclose(ours.predict(asked), model.predict(asked), rtol=1e-12)
    tw.save(ours, tmp_path / "model.tw")
    assert_array_equal(tw.load(tmp_path / "model.tw").predict(asked), ours.predict(asked))
    first = ours.tree_ if hasattr(ours, "tree_") else ours.estimators_[0].tree_
    assert "<svg" in first.to_svg(max_depth=2)
    assert first.to_text(max_depth=1)
    rows = [[None if np.isnan(v) else v for v in row] for row in asked[:20].tolist()]
    said = run.sqlite(ours, rows, tmp_path)
    want = ours.predict_proba(asked[:20]) if is_class else ours.predict(asked[:20])[:, None]
    assert_allclose(said.numbers, want, atol=1e-9)


def test_a_tree_that_came_in_can_be_pruned_and_told_as_rules():
    X, y = load_iris(return_X_y=True, as_frame=True)
    theirs = tree.DecisionTreeClassifier(random_state=0).fit(X, y)
    ours = tw.from_sklearn(theirs).tree_
    pruned = tw.pruning.cost_complexity(ours, ccp_alpha=0.02)
    assert pruned.n_leaves < ours.n_leaves
    assert len(ours.rules()) == theirs.get_n_leaves()
    assert_allclose(
        tw.from_sklearn(theirs).feature_importances_, theirs.feature_importances_, atol=1e-9
    )


@pytest.mark.parametrize(
    "model",
    [
        tw.CARTClassifier(max_depth=4),
        tw.CARTRegressor(max_depth=4),
        tw.RandomForestClassifier(n_estimators=5, max_depth=5, random_state=0),
        tw.ExtraTreesRegressor(n_estimators=5, max_depth=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_to_sklearn_predicts_the_same_and_their_tools_work(model):
    is_class = hasattr(model, "predict_proba")
    X, y = load_breast_cancer(return_X_y=True) if is_class else load_diabetes(return_X_y=True)
    X = X.astype(np.float32).astype(float)[:, :8]
    model.fit(with_gaps(X), y)
    theirs = tw.to_sklearn(model)
    asked = with_gaps(X)
    if is_class:
        assert_array_equal(theirs.predict(asked), model.predict(asked))
        assert_allclose(theirs.predict_proba(asked), model.predict_proba(asked), atol=1e-12)
    else:
        assert_allclose(theirs.predict(asked), model.predict(asked), rtol=1e-12)
    member = theirs if hasattr(theirs, "tree_") else theirs.estimators_[0]
    assert tree.export_text(member)
    back = tw.from_sklearn(theirs)
    assert_allclose(back.predict(X), model.predict(X), rtol=1e-12)


def test_shap_explains_what_went_out():
    shap = pytest.importorskip("shap")
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32).astype(float)
    model = tw.RandomForestRegressor(n_estimators=4, max_depth=4, random_state=0).fit(X, y)
    explainer = shap.TreeExplainer(tw.to_sklearn(model))
    found = explainer.shap_values(X[:20])
    assert_allclose(found.sum(axis=1) + explainer.expected_value, model.predict(X[:20]), rtol=1e-6)


def test_plot_tree_draws_what_went_out():
    import matplotlib

    matplotlib.use("Agg")
    X, y = load_iris(return_X_y=True)
    theirs = tw.to_sklearn(tw.CARTClassifier(max_depth=2).fit(X, y))
    assert len(tree.plot_tree(theirs)) >= 5


def test_what_scikit_learn_cannot_hold_is_refused():
    for name in ("cart", "c45", "cart surrogates", "hunt multiway"):
        with pytest.raises(ParameterError, match="binary tests of numbers"):
            tw.to_sklearn(zoo.case(name).model)
    for name in ("boosting", "mars", "adaboost", "c45 rules"):
        with pytest.raises(ParameterError, match="takes trees and forests"):
            tw.to_sklearn(zoo.case(name).model)
    other = ensemble.GradientBoostingRegressor(n_estimators=1).fit(*load_diabetes(return_X_y=True))
    with pytest.raises(ParameterError, match="got GradientBoostingRegressor"):
        tw.from_sklearn(other)


def frame(n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    X, _, number = zoo.mixed()
    X = X[["age", "in come"]].copy()
    X.columns = ["age", "income"]
    return X, number


def parity(ours, X, proba=None, value=None) -> None:
    if proba is not None:
        assert_allclose(ours.predict_proba(X), proba, atol=1e-6)
    else:
        assert_allclose(ours.predict(X), value, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("task", ["regression", "poisson", "binary", "multiclass"])
def test_from_lightgbm_predicts_the_same(task, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    X, number = frame()
    X["city"] = pd.Categorical(zoo.mixed()[0]["ci\"ty's"])
    options = {"n_estimators": 8, "num_leaves": 6, "verbose": -1, "n_jobs": 1}
    if task in ("regression", "poisson"):
        model = lightgbm.LGBMRegressor(objective=task, **options)
        model.fit(X, np.maximum(number, 0))
        ours = tw.from_lightgbm(model)
        parity(ours, X, value=model.predict(X))
    else:
        y = np.digitize(number, np.quantile(number, [0.5] if task == "binary" else [0.3, 0.7]))
        model = lightgbm.LGBMClassifier(**options).fit(X, np.array(["a", "b", "c"])[y])
        ours = tw.from_lightgbm(model)
        parity(ours, X, proba=model.predict_proba(X))
        assert_array_equal(ours.predict(X), model.predict(X))
    model.booster_.save_model(str(tmp_path / "model.txt"))
    again = tw.from_lightgbm(tmp_path / "model.txt")
    assert_array_equal(again.decision_function(X) if task == "binary" else again.predict(X).shape,
                       ours.decision_function(X) if task == "binary" else (len(X),))  # fmt: skip
    rows = zoo.Case(ours, X.iloc[:30]).rows
    said = run.python(ours, rows, tmp_path)
    want = ours.predict_proba(X[:30]) if task not in ("regression", "poisson") else None
    assert_allclose(
        said.numbers, ours.predict(X[:30])[:, None] if want is None else want, atol=1e-9
    )


@pytest.mark.parametrize("task", ["regression", "poisson", "binary", "multiclass"])
@pytest.mark.parametrize("kind", ["json", "ubj"])
def test_from_xgboost_predicts_the_same(task, kind, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    X, number = frame()
    options = {"n_estimators": 8, "max_depth": 4, "n_jobs": 1}
    path = tmp_path / f"model.{kind}"
    if task in ("regression", "poisson"):
        objective = "reg:squarederror" if task == "regression" else "count:poisson"
        model = xgboost.XGBRegressor(objective=objective, **options)
        model.fit(X, np.maximum(number, 0))
        model.save_model(path)
        ours = tw.from_xgboost(path)
        parity(ours, X, value=model.predict(X))
        assert_array_equal(ours.predict(X), list(ours.staged_predict(X))[-1])
    else:
        y = np.digitize(number, np.quantile(number, [0.5] if task == "binary" else [0.3, 0.7]))
        model = xgboost.XGBClassifier(**options).fit(X, y)
        model.save_model(path)
        parity(tw.from_xgboost(path), X, proba=model.predict_proba(X))
        parity(tw.from_xgboost(model), X, proba=model.predict_proba(X))


def test_from_xgboost_reads_files_of_its_first_versions(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    X, number = frame()
    model = xgboost.XGBClassifier(n_estimators=4, n_jobs=1).fit(X, number > np.median(number))
    told = json.loads(model.get_booster().save_raw("json"))
    learner = told["learner"]
    about, held = learner["learner_model_param"], learner["gradient_booster"]["model"]
    about["base_score"] = str(np.ravel(json.loads(about["base_score"]))[0])
    for part, names in (
        (learner, ["feature_names", "feature_types", "attributes"]),
        (about, ["num_target", "boost_from_average"]),
        (held, ["cats", "iteration_indptr"]),
        *((each, [n for n in each if n.startswith(("categories", "split_type"))])
          for each in held["trees"]),
    ):  # fmt: skip
        for name in names:
            part.pop(name, None)
    (tmp_path / "model.json").write_text(json.dumps(told))
    parity(tw.from_xgboost(tmp_path / "model.json"), X.to_numpy(), proba=model.predict_proba(X))


TWO_TARGETS = ("one_output_per_tree", "multi_output_tree")


@pytest.mark.parametrize("how", [*TWO_TARGETS, "quantiles", "dart", "forest"])
def test_from_xgboost_adds_numbers_as_xgboost_does(how, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    X, number = frame()
    y = 1000 * number + 300
    options = {"n_estimators": 60, "max_depth": 4, "n_jobs": 1, "tree_method": "hist"}
    if how in TWO_TARGETS:
        y = np.column_stack([y, number**2])
        model = xgboost.XGBRegressor(multi_strategy=how, **options)
    elif how == "quantiles":
        model = xgboost.XGBRegressor(
            objective="reg:quantileerror", quantile_alpha=[0.2, 0.8], **options
        )
    elif how == "dart":
        model = xgboost.XGBRegressor(booster="dart", rate_drop=0.3, **options)
    else:
        model = xgboost.XGBRFRegressor(**options)
    theirs = model.fit(X, y).predict(X)
    ours = tw.from_xgboost(model)
    tw.save(ours, tmp_path / "model.tw")
    for read in (ours, tw.load(tmp_path / "model.tw")):
        if how == "dart":  # its weights are rounded elsewhere
            assert_allclose(read.predict(X), theirs, rtol=1e-6)
        else:
            assert_array_equal(read.predict(X), theirs)


@pytest.mark.parametrize("objective", ["rank:ndcg", "survival:cox", "reg:squaredlogerror"])
def test_from_xgboost_reads_scores_of_ranking_and_survival(objective):
    xgboost = pytest.importorskip("xgboost")
    X, number = frame()
    matrix = xgboost.DMatrix(X, np.abs(number) if "rank" not in objective else number > 0)
    if "rank" in objective:
        matrix.set_group([len(X)])
    model = xgboost.train({"objective": objective, "max_depth": 3}, matrix, 8)
    assert_allclose(tw.from_xgboost(model).predict(X), model.predict(matrix), rtol=1e-6)


def test_from_xgboost_ends_where_xgboost_does(tmp_path):
    """Its scikit-learn models predict with the best round, its boosters with all."""
    xgboost = pytest.importorskip("xgboost")
    X, number = frame()
    y = np.column_stack([number, -number])
    common = {"n_jobs": 1, "learning_rate": 0.9, "early_stopping_rounds": 3, "n_estimators": 60}
    for options, target in (
        ({}, number),
        ({"num_parallel_tree": 2}, number),
        ({"booster": "dart"}, number),
        ({}, y),
        ({"multi_strategy": "multi_output_tree"}, y),
    ):
        model = xgboost.XGBRegressor(**common, **options)
        model.fit(X[:200], target[:200], eval_set=[(X[200:], target[200:])], verbose=0)
        assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
        parity(tw.from_xgboost(model), X, value=model.predict(X))
        model.save_model(tmp_path / "model.ubj")
        parity(tw.from_xgboost(tmp_path / "model.ubj"), X, value=model.predict(X))
        parity(
            tw.from_xgboost(model.get_booster()),
            X,
            value=model.get_booster().predict(xgboost.DMatrix(X)),
        )
    model.set_params(multi_strategy="one_output_per_tree")
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=0)
    model.save_model(tmp_path / "model.json")
    told = json.loads((tmp_path / "model.json").read_text())  # as older versions have it
    del told["learner"]["gradient_booster"]["model"]["iteration_indptr"]
    (tmp_path / "model.json").write_text(json.dumps(told))
    parity(tw.from_xgboost(tmp_path / "model.json"), X, value=model.predict(X))


def test_from_xgboost_refuses_what_it_would_tell_otherwise():
    xgboost = pytest.importorskip("xgboost")
    X, number = frame()
    model = xgboost.XGBRegressor(n_estimators=2, missing=-999).fit(X, number)
    with pytest.raises(ParameterError, match="gaps are NaN, got one of missing=-999"):
        tw.from_xgboost(model)
    tw.from_xgboost(model.get_booster())
    both = (number[:, None] > np.quantile(number, [0.3, 0.7])).astype(int)
    with pytest.raises(ParameterError, match="classifiers of one target, got one of 2"):
        tw.from_xgboost(xgboost.XGBClassifier(n_estimators=2).fit(X, both))
    X["city"] = pd.Categorical(np.where(number > np.median(number), "Ü x", "Bonn"))
    model = xgboost.XGBRegressor(n_estimators=2, enable_categorical=True).fit(X, number)
    with pytest.raises(ParameterError, match="categories of ASCII letters"):
        tw.from_xgboost(model)


@pytest.mark.filterwarnings("ignore::treewright.errors.UnseenCategoriesWarning")
def test_from_xgboost_reads_codes_unless_a_new_one_would_be_a_gap():
    xgboost = pytest.importorskip("xgboost")
    random = np.random.default_rng(0)
    codes = random.integers(0, 30, 400).astype(float)
    y = np.where(codes % 5 == 1, 3.0, 0.0) + random.normal(size=400) / 10
    params = {"max_depth": 3, "max_cat_to_onehot": 100}
    for gap in (False, True):
        x = np.where(gap & (random.random(400) < 0.2), np.nan, codes)[:, None]
        rows = xgboost.DMatrix(x, y + 5 * np.isnan(x[:, 0]), feature_types=["c"])
        model = xgboost.train(params, rows, 3)
        if gap:
            with pytest.raises(ParameterError, match="cannot tell which codes of 'x0' are gaps"):
                tw.from_xgboost(model)
            continue
        parity(tw.from_xgboost(model), x, value=model.predict(rows))


def test_from_lightgbm_knows_whose_the_names_of_categories_are():
    lightgbm = pytest.importorskip("lightgbm")
    random = np.random.default_rng(0)
    X, number = frame()
    X["same"] = pd.Categorical(["one"] * len(X))
    X["city"] = pd.Categorical(random.choice(["a", "b", "c"], len(X)))
    X["size"] = pd.Categorical(random.choice(list("SML"), len(X)), list("SML"), ordered=True)
    y = number + 3 * X["city"].cat.codes + X["size"].cat.codes
    options = {"n_estimators": 5, "verbose": -1, "n_jobs": 1}
    one = X.drop(columns="size")
    model = lightgbm.LGBMRegressor(**options).fit(one, y)
    parity(tw.from_lightgbm(model), one, value=model.predict(one))
    model = lightgbm.LGBMRegressor(**options).fit(X, y)
    with pytest.raises(ParameterError, match="whose the names of categories are"):
        tw.from_lightgbm(model)
    with_codes = X[["age", "city"]].assign(shop=random.integers(0, 9, len(X)))
    model = lightgbm.LGBMRegressor(**options).fit(with_codes, y, categorical_feature=["shop"])
    with pytest.raises(ParameterError, match="whose the names of categories are"):
        tw.from_lightgbm(model)
    only = X[["age", "size"]]
    model = lightgbm.LGBMRegressor(**options).fit(only, y)
    parity(
        tw.from_lightgbm(model),
        only.assign(size=only["size"].cat.codes),
        value=model.predict(only),
    )


def test_from_lightgbm_reads_a_loss_of_the_users_own_as_sums():
    lightgbm = pytest.importorskip("lightgbm")
    X, number = frame()
    model = lightgbm.LGBMRegressor(
        objective=lambda y, score: (score - y, np.ones(len(y))), n_estimators=5, verbose=-1
    )
    model.fit(X, number)
    parity(tw.from_lightgbm(model), X, value=model.predict(X))


def test_a_booster_that_came_in_is_fitted_anew_but_not_further():
    lightgbm = pytest.importorskip("lightgbm")
    X, number = frame()
    theirs = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1).fit(X, number)
    ours = tw.from_lightgbm(theirs).set_params(n_estimators=7, warm_start=True)
    with pytest.raises(TreewrightError, match="came from another library"):
        ours.fit(X, number)
    assert len(ours.set_params(warm_start=False).fit(X, number).estimators_) == 7
    assert len(ours.set_params(warm_start=True, n_estimators=8).fit(X, number).estimators_) == 8


def test_from_lightgbm_reads_scores_of_ranking():
    lightgbm = pytest.importorskip("lightgbm")
    X, number = frame()
    model = lightgbm.LGBMRanker(n_estimators=8, num_leaves=6, verbose=-1, n_jobs=1)
    model.fit(X, (number > 0).astype(int), group=[len(X)])
    parity(tw.from_lightgbm(model), X, value=model.predict(X))


def test_from_xgboost_reads_categories():
    xgboost = pytest.importorskip("xgboost")
    X, number = frame()
    city = zoo.mixed()[0]["ci\"ty's"].str.replace("Ü x", "u x")  # XGBoost cuts it short
    X["city"] = pd.Categorical(city)
    options = {"n_estimators": 6, "max_depth": 4, "n_jobs": 1, "max_cat_to_onehot": 2}
    model = xgboost.XGBRegressor(enable_categorical=True, tree_method="hist", **options)
    model.fit(X, number)
    parity(tw.from_xgboost(model), X, value=model.predict(X))


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_from_catboost_predicts_the_same(task, tmp_path):
    catboost = pytest.importorskip("catboost")
    X, number = frame()
    options = {"iterations": 8, "depth": 4, "verbose": 0, "thread_count": 1,
               "allow_writing_files": False}  # fmt: skip
    if task == "regression":
        model = catboost.CatBoostRegressor(**options).fit(X, number)
        parity(tw.from_catboost(model), X, value=model.predict(X))
    else:
        y = np.digitize(number, np.quantile(number, [0.5] if task == "binary" else [0.3, 0.7]))
        model = catboost.CatBoostClassifier(**options).fit(X, np.array(["a", "b", "c"])[y])
        ours = tw.from_catboost(model, data=X)
        parity(ours, X, proba=model.predict_proba(X))
        assert_array_equal(ours.predict(X), model.predict(X).ravel())


def with_categories() -> tuple[pd.DataFrame, np.ndarray]:
    """Two nominal columns, one of integers, whose combination matters."""
    random = np.random.default_rng(2)
    X, number = frame()
    X["city"] = random.choice(["Aachen", "Bonn", "Ü x", "é"], len(X))
    X["shop"] = random.integers(0, 12, len(X))
    return X, number + 2 * (X["city"].isin(["Bonn", "é"]) ^ (X["shop"] % 3 == 0))


def shuffled(X: pd.DataFrame) -> pd.DataFrame:
    """Combinations that training lacked, and categories that nobody knows."""
    random = np.random.default_rng(3)
    rows = pd.DataFrame({name: random.permutation(X[name].to_numpy()) for name in X})
    return rows.assign(
        city=rows["city"].where(random.random(len(X)) < 0.8, "nowhere"),
        shop=rows["shop"].where(random.random(len(X)) < 0.8, 99),
    )


STATISTICS = {
    "symmetric": {"model_size_reg": 0, "max_ctr_complexity": 3},
    "one category": {"one_hot_max_size": 50},
    "depth": {"grow_policy": "Depthwise", "max_ctr_complexity": 1},
    "leaf": {"grow_policy": "Lossguide", "max_ctr_complexity": 2, "model_size_reg": 0},
    "buckets": {"simple_ctr": "Buckets", "combinations_ctr": "Buckets", "model_size_reg": 0},
    "means": {"simple_ctr": "BinarizedTargetMeanValue", "combinations_ctr": "Counter"},
    "counts": {"simple_ctr": "Counter", "loss_function": "MultiRMSE"},
    "borders": {"simple_ctr": "Borders:TargetBorderCount=3"},
}


@pytest.mark.parametrize("kind", STATISTICS)
@pytest.mark.filterwarnings("ignore::treewright.errors.UnseenCategoriesWarning")
def test_from_catboost_reads_categories_and_their_statistics(kind, tmp_path):
    catboost = pytest.importorskip("catboost")
    X, number = with_categories()
    options = {"iterations": 12, "depth": 4, "verbose": 0, "thread_count": 1,
               "allow_writing_files": False, **STATISTICS[kind]}  # fmt: skip
    nominal = ["city", "shop"]
    y = np.column_stack([number, -number]) if kind == "counts" else number
    model = catboost.CatBoostRegressor(**options).fit(X, y, cat_features=nominal)
    pool = catboost.Pool(X, cat_features=nominal)
    model.save_model(str(tmp_path / "model.json"), format="json", pool=pool)
    from_file = tw.from_catboost(tmp_path / "model.json")
    from_both = tw.from_catboost(tmp_path / "model.json", data=X)
    from_model = tw.from_catboost(model, data=X)
    for rows in (X, shuffled(X)):
        theirs = model.predict(rows)
        for ours in (from_model, from_both):
            assert_allclose(ours.predict(rows), theirs, rtol=1e-12, atol=1e-12)
        texts = rows.astype({"shop": str})  # the file has texts
        assert_allclose(from_file.predict(texts), theirs, rtol=1e-12, atol=1e-12)
    assert from_model.estimators_[0].schema.features[-1].categories == tuple(range(12))


def test_from_catboost_reads_models_without_numbers():
    catboost = pytest.importorskip("catboost")
    X, number = with_categories()
    options = {"iterations": 5, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    X = X[["city", "shop"]]
    model = catboost.CatBoostRegressor(**options).fit(X, number, cat_features=[0, 1])
    parity(tw.from_catboost(model, data=X), X, value=model.predict(X))


def test_from_catboost_reads_categories_that_are_true_or_false():
    catboost = pytest.importorskip("catboost")
    X, number = frame()
    X["member"] = np.random.default_rng(0).random(len(X)) < 0.5
    options = {"iterations": 5, "verbose": 0, "allow_writing_files": False}
    for column in (X["member"], X["member"].astype("category")):
        X["member"] = column
        model = catboost.CatBoostRegressor(**options)
        model.fit(X, number + 2.0 * X["member"].astype(int), cat_features=["member"])
        ours = tw.from_catboost(model, data=X)
        assert_allclose(ours.predict(X), model.predict(X), rtol=1e-12)


def test_from_catboost_finds_the_columns_of_data_by_name(tmp_path):
    catboost = pytest.importorskip("catboost")
    X, number = with_categories()
    options = {"iterations": 5, "verbose": 0, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(**options).fit(X, number, cat_features=["city", "shop"])
    moved = X[["shop", "city", "age", "income"]].assign(target=number)
    assert_allclose(tw.from_catboost(model, data=moved).predict(X), model.predict(X), rtol=1e-12)
    pool = catboost.Pool(X, cat_features=["city", "shop"])
    model.save_model(str(tmp_path / "model.json"), format="json", pool=pool)
    ours = tw.from_catboost(tmp_path / "model.json", data={name: moved[name] for name in moved})
    assert_allclose(ours.predict(X), model.predict(X), rtol=1e-12)


def test_from_catboost_knows_the_classes_that_have_scores():
    catboost = pytest.importorskip("catboost")
    X, number = frame()
    options = {"iterations": 5, "verbose": 0, "allow_writing_files": False,
               "loss_function": "MultiClass"}  # fmt: skip
    y = np.digitize(number, np.quantile(number, [0.3, 0.7]))
    for more in ({"classes_count": 5}, {"class_names": [0, 1, 2, 3]}):
        model = catboost.CatBoostClassifier(**options, **more).fit(X, y)
        ours = tw.from_catboost(model)
        assert ours.classes_.tolist() == [0, 1, 2]
        assert_allclose(ours.predict_proba(X), model.predict_proba(X)[:, :3], atol=1e-12)
    model = catboost.CatBoostClassifier(**options).fit(X, y * 1.0)
    assert tw.from_catboost(model).classes_.dtype == float


def test_from_catboost_reads_sums_of_models_and_says_what_catboost_says():
    catboost = pytest.importorskip("catboost")
    X, number = frame()
    options = {"iterations": 5, "verbose": 0, "allow_writing_files": False}
    parts = [catboost.CatBoostRegressor(**options, depth=d).fit(X, number) for d in (2, 3)]
    whole = catboost.sum_models(parts, weights=[0.3, 0.7])
    assert_allclose(tw.from_catboost(whole).predict(X), whole.predict(X), rtol=1e-12)
    kind = np.arange(len(X)) % 3
    texts = X.assign(text=np.array(["red car", "blue car", "green tree"])[kind])
    model = catboost.CatBoostRegressor(**options).fit(texts, 5.0 * kind, text_features=["text"])
    with pytest.raises(ParameterError, match="CatBoost cannot write this model as JSON"):
        tw.from_catboost(model)


def test_from_catboost_says_what_it_needs_for_categories(tmp_path, monkeypatch):
    catboost = pytest.importorskip("catboost")
    X, number = with_categories()
    options = {"iterations": 5, "verbose": 0, "thread_count": 1, "max_ctr_complexity": 2,
               "model_size_reg": 0, "allow_writing_files": False}  # fmt: skip
    model = catboost.CatBoostRegressor(**options).fit(X, number, cat_features=["city", "shop"])
    with pytest.raises(ParameterError, match="needs data= for a fitted model"):
        tw.from_catboost(model)
    with pytest.raises(ParameterError, match="CatBoost does not take data="):
        tw.from_catboost(model, data=X.assign(city=None))
    model.save_model(str(tmp_path / "model.json"), format="json")
    with pytest.raises(ParameterError, match="needs the texts of categories"):
        tw.from_catboost(tmp_path / "model.json")
    pool = catboost.Pool(X, cat_features=["city", "shop"])
    model.save_model(str(tmp_path / "model.json"), format="json", pool=pool)
    with pytest.raises(TreewrightError, match="categorical_features"):
        tw.from_catboost(tmp_path / "model.json", data=X[["age", "income"]])
    monkeypatch.setattr("treewright.exporting._catboost_trees.MOST_NODES", 20)
    with pytest.raises(ParameterError, match="max_ctr_complexity=1"):
        tw.from_catboost(model, data=X)
    monkeypatch.setattr("treewright.exporting._catboost_questions.MOST_CASES", 3)
    with pytest.raises(ParameterError, match="combinations of categories"):
        tw.from_catboost(model, data=X)


def test_damaged_files_give_one_sentence(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    X, number = frame()
    model = lightgbm.LGBMRegressor(n_estimators=2, num_leaves=4, verbose=-1).fit(X, number)
    text = model.booster_.model_to_string()
    random = np.random.default_rng(0)
    outcomes = set()
    for _ in range(60):
        broken = list(text)
        for place in random.integers(0, len(text), 3):
            broken[place] = chr(random.integers(32, 127))
        try:
            tw.from_lightgbm("".join(broken)).predict(X)
            outcomes.add("read")  # a digit of a number
        except (ModelFileError, ParameterError):
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}
    for reader in (tw.from_xgboost, tw.from_catboost):
        for content in ("", "{", "[]", "{}", json.dumps({"learner": {}, "model_info": {}})):
            (tmp_path / "model.json").write_text(content)
            with pytest.raises(
                ModelFileError, match=r"cannot be read|ends in the middle|unknown mark"
            ):
                reader(tmp_path / "model.json")
        with pytest.raises(ParameterError, match="takes a model or the path"):
            reader(tmp_path / "missing.json")
