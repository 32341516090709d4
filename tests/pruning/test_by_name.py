"""``pruning=`` by name on every estimator that fits one tree."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import treewright
from treewright import (
    C45Classifier,
    C50Classifier,
    CARTClassifier,
    CARTRegressor,
    CHAIDClassifier,
    CTreeClassifier,
    CTreeRegressor,
    HuntClassifier,
    HuntRegressor,
    ID3Classifier,
)
from treewright import pruning as functions
from treewright.errors import ParameterError
from treewright.estimator.named_pruning import METHODS

CLASSIFIERS = [
    CARTClassifier(),
    HuntClassifier(criterion="entropy", nominal_split="multiway"),
    C45Classifier(),
    C50Classifier(),
    ID3Classifier(),
    CHAIDClassifier(alpha_split=0.99),
    CTreeClassifier(alpha=0.99),
]
OPTIONS = {"critical_value": {"t": 0.02}, "cost_complexity": {"ccp_alpha": "cv", "cv": 3}}


@pytest.fixture(scope="module")
def categories():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (400, 4))
    y = np.where((X[:, 0] + X[:, 1] > 3) ^ (rng.random(400) < 0.2), "yes", "no")
    columns = {f"f{j}": X[:, j].astype(str) for j in range(3)} | {"x": rng.random(400)}
    return columns, y


def known(model, name):
    """The model with pruning by name, in the parameters that are its own where it has any."""
    options = OPTIONS.get(name)
    if name == model._own_pruning:
        return model.set_params(**options or {})
    return model.set_params(pruning_options=options)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("learner", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_every_learner_takes_every_method(learner, name, categories, tmp_path):
    X, y = categories
    own = learner.get_params()
    seed = {"random_state": 0} if "random_state" in own else {}
    model = known(type(learner)(**own | {"pruning": name} | seed), name).fit(X, y)
    whole = type(learner)(**own | {"pruning": None}).fit(X, y)
    assert model.get_n_leaves() <= whole.get_n_leaves()
    assert model.tree_.pruning_log is not None
    assert (model.predict(X) == y).mean() > 0.5
    if name == "mdl":
        path = tmp_path / "model.tw"
        treewright.save(model, path)
        again = treewright.load(path)
        assert again.pruning == name
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("name", ["pessimistic", "mdl", "chi_squared", "minimum_error"])
def test_the_name_does_what_the_function_does(name, categories):
    X, y = categories
    model = CARTClassifier(pruning=name, keep_counts=False).fit(X, y)
    tree = getattr(functions, name)(CARTClassifier(keep_counts=False).fit(X, y).tree_)
    assert model.tree_.to_dict() == tree.to_dict()


def test_error_based_pruning_of_cart_is_the_function_with_the_training_rows(categories):
    X, y = categories
    options = {"confidence": 0.1}
    grown = CARTClassifier(keep_counts=False)
    model = clone(grown).set_params(pruning="error_based", pruning_options=options).fit(X, y)
    tree = functions.error_based(grown.fit(X, y).tree_, X, y, confidence=0.1)
    assert model.tree_.to_dict() == tree.to_dict()


@pytest.mark.parametrize("learner", [CARTRegressor, HuntRegressor, CTreeRegressor])
@pytest.mark.parametrize("name", ["reduced_error", "cost_complexity", "chi_squared"])
def test_numbers_are_pruned_where_a_method_is_defined_for_them(learner, name):
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = np.sin(6 * X[:, 0]) + rng.normal(0, 0.5, 300)
    model = learner(pruning=name, random_state=0)
    if name == "cost_complexity":
        model.set_params(ccp_alpha="cv", cv=3)
    assert 1 < model.fit(X, y).get_n_leaves() < 300
    assert np.isfinite(model.predict(X)).all()


def test_a_method_that_does_not_fit_the_task_says_so():
    with pytest.raises(ParameterError, match=r"mdl counts training errors, .* got a regression"):
        CARTRegressor(pruning="mdl").fit([[1.0], [2.0]], [1.0, 2.0])


def test_reduced_error_holds_out_a_stratified_share(categories):
    X, y = categories
    model = CARTClassifier(
        pruning="reduced_error",
        pruning_options={"validation_fraction": 0.25, "refit": False},
        random_state=0,
    ).fit(X, y)
    tree = model.tree_
    assert tree.n_samples[0] == 300
    whole = np.unique(y, return_counts=True)[1]
    np.testing.assert_allclose(tree.value[0], whole * 0.75, atol=1)
    assert "100 validation rows" in tree.pruning_log.rules[-1][1]


def test_reduced_error_gives_leaves_the_values_of_all_rows(categories):
    X, y = categories
    model = CARTClassifier(pruning="reduced_error", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.tree_.value[0], np.unique(y, return_counts=True)[1])
    assert model.tree_.n_samples[0] == 400
    again = CARTClassifier(pruning="reduced_error", random_state=0, n_jobs=2).fit(X, y)
    assert again.tree_.to_dict() == model.tree_.to_dict()


def test_costs_and_weights_reach_the_pruner(categories):
    X, y = categories
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    costs = {"no": {"no": 0, "yes": 20}, "yes": {"no": 1, "yes": 0}}
    for name in ("reduced_error", "pessimistic", "mdl", "minimum_error"):
        model = CARTClassifier(pruning=name, costs=costs, random_state=0).fit(X, y, weight)
        assert (model.predict(X) == "yes").mean() < 0.5


BAD = [
    ({"pruning": "luck"}, "pruning must be .*got 'luck'"),
    (
        {"pruning": "mdl", "pruning_options": {"bits": 1}},
        "'mdl' must be among 'coding', got 'bits'",
    ),
    ({"pruning_options": {"m": 1}}, "beside pruning='cost_complexity'; drop them"),
    ({"pruning": "critical_value"}, "needs 't' in pruning_options"),
    ({"pruning": "mdl", "ccp_alpha": 0.1}, 'ccp_alpha belongs to pruning="cost_complexity"'),
    ({"pruning": "chi_squared", "pruning_options": {"alpha": 2}}, "alpha must be a number"),
    (
        {"pruning": "reduced_error", "pruning_options": {"validation_fraction": 1.0}},
        "validation_fraction must lie between 0 and 1, got 1.0",
    ),
]


@pytest.mark.parametrize(("settings", "sentence"), BAD)
def test_contradictions_are_refused_in_one_sentence(settings, sentence, categories):
    with pytest.raises(ParameterError, match=sentence):
        CARTClassifier(**settings).fit(*categories)
