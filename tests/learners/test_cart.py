"""CART: parameters that change the tree, costs, pruning, and agreement with scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treewright
from treewright import CARTClassifier, CARTRegressor
from treewright.errors import DataError, ParameterError
from treewright.tree.tree import Tree

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def noisy() -> tuple[Floats, NDArray[np.int64]]:
    """Two classes, one three times as frequent, a fifth of the labels random."""
    X, y = make_classification(600, 8, n_informative=4, weights=[0.75], flip_y=0.2, random_state=3)
    return X.round(2), y


@pytest.fixture(scope="module")
def diabetes() -> tuple[Floats, Floats]:
    X, y = load_diabetes(return_X_y=True)
    return X.astype(np.float32).astype(np.float64), y


# Stopping


def test_every_limit_on_growth_holds(noisy: Any) -> None:
    X, y = noisy
    assert CARTClassifier(max_depth=3).fit(X, y).get_depth() == 3
    assert CARTClassifier(max_leaf_nodes=7).fit(X, y).get_n_leaves() == 7
    tree = CARTClassifier(min_samples_leaf=20).fit(X, y).tree_
    assert tree.n_samples.min() >= 20
    tree = CARTClassifier(min_samples_leaf=0.05).fit(X, y).tree_
    assert tree.n_samples.min() >= 30
    tree = CARTClassifier(min_samples_split=100).fit(X, y).tree_
    assert tree.n_samples[tree.first_child >= 0].min() >= 100
    tree = CARTClassifier(min_impurity_decrease=0.01).fit(X, y).tree_
    assert tree.gain[tree.first_child >= 0].min() >= 0.01
    weight = np.where(y == 1, 10.0, 1.0)
    tree = CARTClassifier(min_weight_fraction_leaf=0.1).fit(X, y, sample_weight=weight).tree_
    assert tree.weight.min() >= 0.1 * weight.sum()


def test_best_first_growth_takes_the_largest_gains(noisy: Any) -> None:
    X, y = noisy
    few = CARTClassifier(max_leaf_nodes=4).fit(X, y).tree_
    all_gains = CARTClassifier().fit(X, y).tree_.gain
    assert few.gain[0] == all_gains[0]
    assert few.gain.sum() > CARTClassifier(max_depth=2).fit(X, y).tree_.gain.sum() - 1e-12


def test_drawn_features_and_random_cuts_follow_the_seed(noisy: Any) -> None:
    X, y = noisy
    for parameters in ({"max_features": 2}, {"splitter": "random"}):
        first = CARTClassifier(**parameters, random_state=1).fit(X, y).tree_.splits.feature
        again = CARTClassifier(**parameters, random_state=1).fit(X, y).tree_.splits.feature
        other = CARTClassifier(**parameters, random_state=2).fit(X, y).tree_.splits.feature
        assert_array_equal(first, again)
        assert first.tolist() != other.tolist()


def test_monotonic_predictions_are_monotonic() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = X[:, 0] - X[:, 1] + rng.normal(0, 0.5, 400)
    grid = np.column_stack([np.linspace(0, 1, 50), np.full(50, 0.5)])
    free = CARTRegressor().fit(X, y).predict(grid)
    assert np.any(np.diff(free) < 0)
    bound = CARTRegressor(monotonic_cst=[1, -1]).fit(X, y)
    assert np.all(np.diff(bound.predict(grid)) >= 0)
    assert np.all(np.diff(bound.predict(grid[:, ::-1])) <= 0)
    named = pd.DataFrame(X, columns=["up", "down"])
    by_name = CARTRegressor(monotonic_cst={"up": 1, "down": -1}).fit(named, y)
    assert_array_equal(by_name.tree_.splits.breaks, bound.tree_.splits.breaks)
    classes = CARTClassifier(monotonic_cst=[1, 0]).fit(X, y > 0)
    assert np.all(np.diff(classes.predict_proba(grid)[:, 1]) >= 0)


def test_monotonic_constraints_need_an_order_and_one_output(diabetes: Any) -> None:
    X, y = diabetes
    with pytest.raises(ParameterError, match="multiple outputs"):
        CARTRegressor(monotonic_cst=[1] + [0] * 9).fit(X, np.column_stack([y, y]))
    with pytest.raises(ParameterError, match="nominal"):
        CARTRegressor(monotonic_cst={"c": 1}).fit({"c": ["a", "b"] * 5}, np.arange(10.0))
    nothing = CARTRegressor(monotonic_cst=[0] * 10).fit(X, np.column_stack([y, y]))
    assert nothing.n_outputs_ == 2


# Agreement with scikit-learn


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_gains_and_importances_are_those_of_scikit_learn(criterion: str, noisy: Any) -> None:
    X, y = noisy
    X = X.astype(np.float32).astype(np.float64)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=3, random_state=0).fit(X, y)
    ours = CARTClassifier(criterion=criterion, max_depth=3).fit(X, y)
    assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regression_predictions_are_those_of_scikit_learn(criterion: str, diabetes: Any) -> None:
    X, y = diabetes
    theirs = DecisionTreeRegressor(criterion=criterion, max_depth=3, random_state=0).fit(X, y)
    ours = CARTRegressor(criterion=criterion, max_depth=3).fit(X, y)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


def test_several_outputs_share_one_tree(diabetes: Any) -> None:
    X, y = diabetes
    both = np.column_stack([y, 1000 - 3 * y, X[:, 0] * 100])
    theirs = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, both)
    ours = CARTRegressor(max_depth=3).fit(X, both)
    assert ours.predict(X).shape == (442, 3)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


def test_class_weight_is_the_weight_of_rows(noisy: Any) -> None:
    X, y = noisy
    weights = {0: 1.0, 1: 7.0}
    by_class = CARTClassifier(class_weight=weights, max_depth=4).fit(X, y)
    by_row = CARTClassifier(max_depth=4).fit(X, y, sample_weight=np.where(y == 1, 7.0, 1.0))
    assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))
    balanced = CARTClassifier(class_weight="balanced", max_depth=4).fit(X, y)
    theirs = DecisionTreeClassifier(class_weight="balanced", max_depth=4, random_state=0).fit(X, y)
    assert_allclose(balanced.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_the_pruning_path_is_that_of_scikit_learn() -> None:
    # no ties between columns, which scikit-learn breaks by chance
    X, y = make_classification(600, 8, n_informative=4, flip_y=0.2, random_state=3)
    X = X.astype(np.float32).astype(np.float64)
    theirs = DecisionTreeClassifier(min_samples_leaf=15, random_state=0)
    ours = CARTClassifier(min_samples_leaf=15, pruning_risk="impurity")
    path = ours.cost_complexity_pruning_path(X, y)
    expected = theirs.cost_complexity_pruning_path(X, y)
    assert_allclose(path.ccp_alphas, expected.ccp_alphas, rtol=1e-9, atol=1e-15)
    assert_allclose(path.impurities, expected.impurities, rtol=1e-9)
    alpha = float(path.ccp_alphas[-4] + path.ccp_alphas[-3]) / 2
    pruned = ours.set_params(ccp_alpha=alpha).fit(X, y)
    assert pruned.get_n_leaves() == theirs.set_params(ccp_alpha=alpha).fit(X, y).get_n_leaves()


def test_it_works_inside_scikit_learn(noisy: Any) -> None:
    X, y = noisy
    assert cross_val_score(CARTClassifier(max_depth=4), X, y, cv=3).mean() > 0.7
    pipe = make_pipeline(FunctionTransformer(), CARTClassifier())
    search = GridSearchCV(pipe, {"cartclassifier__max_depth": [1, 4]}, cv=3).fit(X, y)
    assert search.best_params_["cartclassifier__max_depth"] in (1, 4)


# Priors and costs


def test_priors_set_the_share_of_the_classes(noisy: Any) -> None:
    X, y = noisy
    root = CARTClassifier(priors=[0.9, 0.1], max_depth=1).fit(X, y)
    assert_allclose(root.tree_.probability[0], [0.9, 0.1])
    named = CARTClassifier(priors={1: 0.1, 0: 0.9}, max_depth=1).fit(X, y)
    assert_array_equal(named.predict_proba(X), root.predict_proba(X))
    own = CARTClassifier(priors=np.bincount(y) / len(y), max_depth=4).fit(X, y)
    assert_allclose(own.predict_proba(X), CARTClassifier(max_depth=4).fit(X, y).predict_proba(X))


def test_priors_equal_the_class_weights_that_make_them(noisy: Any) -> None:
    X, y = noisy
    count = np.bincount(y)
    by_prior = CARTClassifier(priors="uniform", max_depth=4).fit(X, y)
    by_weight = CARTClassifier(class_weight="balanced", max_depth=4).fit(X, y)
    assert count[0] != count[1]
    assert_allclose(by_prior.predict_proba(X), by_weight.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("cost_method", ["altered_priors", "generalized_gini"])
def test_predictions_minimise_the_expected_cost(noisy: Any, cost_method: str) -> None:
    X, y = noisy
    loss = np.array([[0.0, 1.0], [5.0, 0.0]])
    model = CARTClassifier(costs=loss, cost_method=cost_method, min_samples_leaf=15).fit(X, y)
    probability = model.predict_proba(X)
    assert_array_equal(model.predict(X), (probability @ loss).argmin(axis=1))
    assert_allclose(model.tree_.probability[0], np.bincount(y) / len(y))
    plain = CARTClassifier(min_samples_leaf=15).fit(X, y)
    cost = {m: (confusion_matrix(y, m.predict(X)) * loss).sum() for m in (model, plain)}
    assert cost[model] < cost[plain]
    assert_array_equal(model.cost_matrix_, loss)


def test_costs_of_one_change_nothing(noisy: Any) -> None:
    X, y = noisy
    plain = CARTClassifier(max_depth=4).fit(X, y)
    ones = CARTClassifier(max_depth=4, costs=[[0, 1], [1, 0]]).fit(X, y)
    assert_array_equal(plain.predict_proba(X), ones.predict_proba(X))
    assert_array_equal(plain.tree_.risk, ones.tree_.risk)


def test_costs_and_classes_may_be_named() -> None:
    X = [[0.0], [1.0], [1.0], [1.0]]
    y = ["good", "bad", "good", "good"]
    costs = {"bad": {"good": 5}, "good": {"bad": 1}}
    model = CARTClassifier(costs=costs).fit(X, y)
    assert model.predict([[1.0]])[0] == "bad"
    assert model.predict_proba([[1.0]])[0, 0] == pytest.approx(1 / 3)
    assert CARTClassifier().fit(X, y).predict([[1.0]])[0] == "good"


def test_costs_count_where_a_row_goes_down_several_branches() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    y = np.array([0, 0, 0, 0, 1, 1])
    cautious = CARTClassifier(missing="fractional", costs=[[0, 1], [5, 0]]).fit(X, y)
    gap = [[np.nan]]
    assert_allclose(cautious.predict_proba(gap), [[4 / 6, 2 / 6]])
    assert cautious.predict(gap)[0] == 1
    assert CARTClassifier(missing="fractional").fit(X, y).predict(gap)[0] == 0


def test_generalised_gini_needs_gini(noisy: Any) -> None:
    with pytest.raises(ParameterError, match="criterion='entropy'"):
        CARTClassifier(
            criterion="entropy", costs=[[0, 1], [2, 0]], cost_method="generalized_gini"
        ).fit(*noisy)


# Pruning


def test_no_number_means_no_pruning(noisy: Any) -> None:
    X, y = noisy
    sizes = {CARTClassifier(pruning=p).fit(X, y).get_n_leaves() for p in ("cost_complexity", None)}
    assert len(sizes) == 1
    assert CARTClassifier(cp=0.0).fit(X, y).get_n_leaves() <= sizes.pop()


@pytest.mark.parametrize("price", [0.002, 0.01, 0.05, 10.0])
@pytest.mark.parametrize("name", ["ccp_alpha", "cp"])
def test_pruning_while_growing_equals_pruning_afterwards(
    noisy: Any, price: float, name: str
) -> None:
    X, y = noisy
    full = CARTClassifier().fit(X, y).tree_
    afterwards = treewright.pruning.cost_complexity(full, **{name: price})
    model = CARTClassifier(**{name: price}).fit(X, y)
    assert_array_equal(model.tree_.n_samples, afterwards.n_samples)
    assert_array_equal(model.tree_.splits.breaks, afterwards.splits.breaks)


def test_best_first_growth_is_not_cut_short_by_pruning(noisy: Any) -> None:
    X, y = noisy
    grown = CARTClassifier(max_leaf_nodes=30).fit(X, y).tree_
    pruned = CARTClassifier(max_leaf_nodes=30, cp=0.02).fit(X, y).tree_
    expected = treewright.pruning.cost_complexity(grown, cp=0.02)
    assert_array_equal(pruned.n_samples, expected.n_samples)


@pytest.mark.parametrize("name", ["ccp_alpha", "cp"])
def test_cross_validation_finds_a_smaller_tree_and_shows_its_errors(noisy: Any, name: str) -> None:
    X, y = noisy
    model = CARTClassifier(**{name: "cv"}, random_state=0).fit(X, y)
    table = model.cp_table_
    assert table.xerror is not None
    assert model.get_n_leaves() - 1 == table.best("min").n_splits
    assert model.get_n_leaves() < CARTClassifier().fit(X, y).get_n_leaves() / 2
    simpler = CARTClassifier(**{name: "cv"}, rule="1se", random_state=0).fit(X, y)
    assert simpler.get_n_leaves() <= model.get_n_leaves()
    assert simpler.get_n_leaves() - 1 == simpler.cp_table_.best("1se").n_splits


def test_folds_may_be_given_in_every_way(noisy: Any) -> None:
    X, y = noisy
    splitter = KFold(4, shuffle=True, random_state=0)
    as_list = list(splitter.split(X))
    tables = [
        str(CARTClassifier(cp="cv", cv=cv).fit(X, y).cp_table_)
        for cv in (splitter, as_list, iter(as_list))
    ]
    assert tables[0] == tables[1] == tables[2]


def test_given_folds_number_the_rows_of_x_even_if_some_have_no_weight(noisy: Any) -> None:
    X, y = noisy
    weight = np.ones(600)
    weight[::7] = 0
    splits = list(KFold(4).split(X))
    kept = np.flatnonzero(weight)
    place = {row: i for i, row in enumerate(kept)}
    inside = [
        ([place[r] for r in a if r in place], [place[r] for r in b if r in place])
        for a, b in splits
    ]
    weighted = CARTClassifier(cp="cv", cv=splits).fit(X, y, sample_weight=weight)
    dropped = CARTClassifier(cp="cv", cv=inside).fit(X[kept], y[kept])
    assert str(weighted.cp_table_) == str(dropped.cp_table_)


def test_the_cp_table_of_a_fixed_cp_can_be_cross_validated(noisy: Any) -> None:
    X, y = noisy
    model = CARTClassifier(cp=0.01, cv=5, random_state=0).fit(X, y)
    assert model.cp_table_.xerror is None
    assert model.cp_table_.cp[-1] == pytest.approx(0.01)
    table = model.cp_table(X, y)
    assert table.xerror is not None
    assert_array_equal(table.cp, model.cp_table_.cp)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regression_trees_are_pruned_by_cross_validation(criterion: str, diabetes: Any) -> None:
    X, y = diabetes
    model = CARTRegressor(criterion=criterion, cp="cv", cv=5, random_state=0).fit(X, y)
    table = model.cp_table_
    assert table.xerror is not None
    assert np.all(np.isfinite(table.xerror))
    # the root predicts about as well on held-out rows as in training
    assert table.xerror[0] == pytest.approx(1.0, abs=0.05)
    assert 1 < model.get_n_leaves() < 30


def test_a_pruner_of_ones_own(noisy: Any) -> None:
    X, y = noisy
    model = CARTClassifier(pruning=lambda tree: tree.collapse([0])).fit(X, y)
    assert model.get_n_leaves() == 1
    model = CARTClassifier(pruning=treewright.pruning.pessimistic).fit(X, y)
    assert 1 < model.get_n_leaves() < CARTClassifier().fit(X, y).get_n_leaves()


def test_a_pure_target_has_a_table_of_one_row() -> None:
    model = CARTClassifier(cp="cv", cv=2).fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])
    assert len(model.cp_table_) == 1
    assert model.get_n_leaves() == 1


def test_error_against_size_can_be_drawn(noisy: Any) -> None:
    import matplotlib

    matplotlib.use("Agg")
    X, y = noisy
    for cp in (None, "cv"):
        axes = CARTClassifier(cp=cp, cv=3, random_state=0).fit(X, y).plot_pruning()
        assert axes.get_xlabel() == "leaves"
        assert len(axes.lines) >= 1


# What else a fitted tree tells


def test_importances_may_credit_surrogates() -> None:
    X, y = load_iris(return_X_y=True)
    model = CARTClassifier(missing="surrogate", max_depth=2).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert np.count_nonzero(model.feature_importances_) <= 2
    credited = model.importances(surrogates=True, normalize=False)
    assert np.count_nonzero(credited) > 2
    assert np.all(credited >= model.importances(normalize=False) - 1e-15)


def test_nominal_ordinal_and_continuous_columns_side_by_side() -> None:
    X = pd.DataFrame(
        {
            "size": pd.Categorical(["S", "M", "L", "XL"] * 10, ["S", "M", "L", "XL"], ordered=True),
            "city": ["Rome", "Oslo"] * 20,
            "code": [3, 1, 2, 1] * 10,
        }
    )
    y = np.array([0, 0, 1, 1] * 10)
    model = CARTClassifier(categorical_features=["code"]).fit(X, y)
    assert [f.kind for f in model.tree_.schema.features] == ["ordinal", "nominal", "nominal"]
    assert model.get_n_leaves() == 2
    assert_array_equal(model.predict(X), y)
    order = {"code": [1, 2, 3]}
    model = CARTClassifier(ordinal_features=order).fit(X, y)
    assert model.tree_.schema.features[2].kind == "ordinal"


def test_poisson_trees_refuse_negative_counts() -> None:
    for y in ([-1.0, 2.0], [0.0, 0.0]):
        with pytest.raises(DataError, match="at least 0"):
            CARTRegressor(criterion="poisson").fit([[1.0], [2.0]], y)


def test_the_target_keeps_its_name() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    model = CARTRegressor().fit(frame, pd.Series([1.0, 2.0], name="price"))
    assert model.tree_.schema.target is not None
    assert model.tree_.schema.target.name == "price"
    assert isinstance(model.tree_, Tree)
