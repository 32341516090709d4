"""Candidates at a node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_iris

import treewright
from treewright import CARTClassifier, CARTRegressor, HuntClassifier
from treewright.datasets import load_cheat, load_play_tennis
from treewright.errors import DataError, ParameterError


@pytest.fixture(scope="module")
def iris() -> tuple[Any, Any]:
    return load_iris(return_X_y=True, as_frame=True)


def test_the_chosen_split_comes_first_and_has_the_gain_of_the_tree(iris: Any) -> None:
    model = CARTClassifier(max_depth=3).fit(*iris)
    tree = model.tree_
    for node in np.flatnonzero(tree.first_child >= 0).tolist():
        trace = model.trace(node, *iris)
        chosen = trace[0]
        assert chosen.is_chosen
        assert chosen.feature == tree.schema.names[tree.splits.feature[node]]
        share = tree.weight[node] / tree.weight[0]
        assert chosen.gain * share == pytest.approx(tree.gain[node])
        assert trace.n_samples == tree.n_samples[node]
        assert all(c.gain <= chosen.gain + 1e-12 for c in trace.competitors)
        assert len(trace) == 4


def test_the_gains_of_play_tennis_are_those_of_the_textbook() -> None:
    data = load_play_tennis()
    model = HuntClassifier(criterion="entropy", nominal_split="multiway")
    model.fit(data.data, data.target)
    gains = {c.feature.lower(): c.gain for c in model.trace(0, data.data, data.target)}
    expected = {"outlook": 0.24675, "humidity": 0.15184, "wind": 0.04813, "temperature": 0.02922}
    assert gains == pytest.approx(expected, abs=1e-5)


def test_the_best_cut_of_the_cheat_table_lies_between_95_and_100() -> None:
    data = load_cheat()
    model = CARTClassifier().fit(data.data, data.target)
    income = next(c for c in model.trace(0, data.data, data.target) if "97.5" in c.test)
    assert income.gain == pytest.approx(0.420 - 0.300)


def test_the_gini_of_every_cut_of_taxable_income_is_that_of_the_textbook() -> None:
    data = load_cheat()
    model = CARTClassifier().fit(data.data, data.target)
    trace = model.trace(0, data.data, data.target)
    (income,) = [name for name in data.feature_names if "ncome" in name]
    cuts = trace.cuts(income)
    expected = [0.400, 0.375, 0.343, 0.417, 0.400, 0.300, 0.343, 0.375, 0.400]
    assert_allclose(cuts.impurity, expected, atol=5e-4)
    assert cuts.cut[cuts.best] == 97.5
    assert "97.5" in next(line for line in str(cuts).splitlines() if line.startswith("chosen"))
    assert list(cuts.frame()["n_below"]) == list(range(1, 10))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"criterion": "entropy", "priors": "uniform"},
        {"criterion": "error"},
        {"costs": [[0, 1, 1], [4, 0, 2], [1, 1, 0]]},
        {"costs": [[0, 1, 1], [4, 0, 2], [1, 1, 0]], "cost_method": "generalized_gini"},
    ],
    ids=str,
)
def test_the_best_cut_of_each_feature_is_its_candidate(
    iris: Any, parameters: dict[str, Any]
) -> None:
    model = CARTClassifier(max_depth=2, **parameters).fit(*iris)
    trace = model.trace(0, *iris)
    for candidate in trace:
        cuts = trace.cuts(candidate.feature)
        assert cuts.gain[cuts.best] == pytest.approx(candidate.gain)
        assert candidate.test.endswith(f"{cuts.cut[cuts.best]:g}")


def test_cuts_of_ordinal_features_are_named_by_their_categories() -> None:
    X = {"size": ["S", "M", "L", "S", "M", "L"], "colour": list("rgbrgb")}
    model = CARTRegressor(ordinal_features={"size": ["S", "M", "L"]}).fit(X, [1, 2, 9, 1, 2, 9])
    trace = model.trace(0, X, [1, 2, 9, 1, 2, 9])
    cuts = trace.cuts("size")
    assert cuts.cut == ("S", "M")
    assert cuts.best == 1
    assert cuts.gain[1] == pytest.approx(trace["size"].gain)
    with pytest.raises(ParameterError, match="nominal"):
        trace.cuts("colour")
    with pytest.raises(KeyError):
        trace.cuts("weight")


def test_a_leaf_has_candidates_but_none_chosen(iris: Any) -> None:
    model = CARTClassifier(max_depth=2).fit(*iris)
    leaf = int(np.flatnonzero((model.tree_.first_child < 0) & (model.tree_.impurity > 0))[0])
    trace = model.trace(leaf, *iris)
    assert not any(c.is_chosen for c in trace)
    assert trace.competitors
    pure = int(np.flatnonzero(model.tree_.impurity == 0)[0])
    assert model.trace(pure, *iris).competitors == ()


def test_surrogates_stand_beside_the_candidates() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    model = CARTClassifier(missing="surrogate", max_depth=2).fit(X, y)
    trace = model.trace(0, X, y)
    tree = model.tree_
    assert len(trace.surrogates) == tree.surrogate_offset[1]
    assert_allclose([s.agreement for s in trace.surrogates], tree.surrogate_agreement[:3])
    assert "Surrogates" in str(trace)
    frame = trace.frame()
    assert frame["agreement"].notna().sum() == len(trace.surrogates)
    assert set(frame["n_known"]) == set(X.notna().sum())


def test_rows_that_go_down_several_branches_count_by_their_share() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, np.nan], "b": [5.0, 1.0, 4.0, 2.0, 3.0]})
    y = [0, 0, 1, 1, 1]
    model = CARTClassifier(missing="fractional").fit(X, y)
    tree = model.tree_
    for node in np.flatnonzero(tree.first_child >= 0).tolist():
        chosen = model.trace(node, X, y)[0]
        assert chosen.gain * tree.weight[node] / tree.weight[0] == pytest.approx(tree.gain[node])


def test_regression_trees_are_traced_too() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = CARTRegressor(max_depth=2).fit(X, y, sample_weight=weight)
    trace = model.trace(0, X, y, sample_weight=weight)
    assert trace[0].gain == pytest.approx(model.tree_.gain[0])
    assert trace.impurity == pytest.approx(np.cov(y, aweights=weight, ddof=0).item())


def test_a_trace_reads_in_text_notebook_and_picture(iris: Any) -> None:
    import matplotlib

    matplotlib.use("Agg")
    model = CARTClassifier(max_depth=2).fit(*iris)
    trace = model.trace(0, *iris)
    lines = str(trace).splitlines()
    assert lines[0] == "Node 0: 150 rows, impurity 0.666667"
    assert lines[2].startswith("chosen")
    assert "petal length (cm) &lt; 2.45" in trace._repr_html_()
    assert len(trace.plot().patches) == 4
    assert trace["petal width (cm)"].test == "petal width (cm) < 0.8"
    with pytest.raises(KeyError):
        trace["colour"]


def test_a_node_that_is_not_there_is_refused(iris: Any) -> None:
    model = CARTClassifier(max_depth=2).fit(*iris)
    with pytest.raises(ParameterError, match="from 0 to 4"):
        model.trace(99, *iris)


@pytest.mark.parametrize("name", ["C45Classifier", "C50Classifier", "ID3Classifier"])
def test_quinlans_learners_list_their_cuts_in_bits(name):
    X, y = load_iris(return_X_y=True, as_frame=True)
    trace = getattr(treewright, name)().fit(X, y).trace(0, X, y)
    cuts = trace.cuts("petal width (cm)").frame()
    best = cuts.loc[cuts["gain"].idxmax()]
    assert best["cut"] == pytest.approx(0.8)
    assert best["gain"] == pytest.approx(np.log2(3) - 2 / 3)


def test_a_trace_of_other_classes_is_refused() -> None:
    X, y = [[1.0], [2.0], [3.0], [4.0]], ["a", "b", "c", "c"]
    model = CARTClassifier().fit(X, y, sample_weight=[1, 0, 1, 1])
    for show in (lambda: model.trace(0, X, y), lambda: model.lesson(X, y)):
        with pytest.raises(DataError, match="must hold the 2 classes of the fit, got 3"):
            show()
