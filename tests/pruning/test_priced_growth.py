"""Growth under a price per leaf leaves out what pruning would cut, and nothing else."""

import numpy as np
import pytest

from treewright import CARTClassifier, CARTRegressor
from treewright.estimator import recipe as _recipe


def problem(seed, n_rows, n_classes):
    """Continuous and nominal columns with gaps, some of them related to the target."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 3))
    numbers[:, 1] = np.round(numbers[:, 1], 1)
    groups = rng.integers(0, 6, (n_rows, 2))
    signal = numbers[:, 0] + (groups[:, 0] % 3) - numbers[:, 1] * (groups[:, 1] > 3)
    signal = signal + rng.normal(size=n_rows)
    columns = {f"x{k}": numbers[:, k].copy() for k in range(3)}
    columns |= {f"g{k}": groups[:, k].astype(float) for k in range(2)}
    for values in columns.values():
        values[rng.random(n_rows) < 0.03] = np.nan
    if n_classes is None:
        return columns, signal
    cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return columns, np.searchsorted(cuts, signal)


def whole(monkeypatch, model, X, y):
    """The same fit, grown without a price and pruned afterwards."""
    with monkeypatch.context() as patch:
        patch.setattr(_recipe, "leaf_price", lambda *_: -1.0)
        return model.fit(X, y).tree_


def without_history(tree):
    """The tree as a dict; what is not grown cannot be cut, so that logs and reasons differ."""
    data = tree.to_dict() | {"pruning_log": None, "stopping": None}
    del data["extras"]["stopped"]
    return data


STRENGTHS = [{"cp": 0.05}, {"cp": 0.01}, {"cp": 0.001}, {"ccp_alpha": 0.004}]


@pytest.mark.parametrize("strength", STRENGTHS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3, None])
@pytest.mark.parametrize("missing", ["surrogate", "learned", "fractional", "majority"])
def test_same_tree_as_growing_all_and_pruning(monkeypatch, strength, n_classes, missing):
    for seed, n_rows in ((0, 3000), (1, 300), (2, 300)):
        X, y = problem(seed, n_rows, n_classes)
        kind = CARTRegressor if n_classes is None else CARTClassifier
        settings = {"missing": missing, "categorical_features": ["g0", "g1"], **strength}
        model = kind(**settings, min_samples_leaf=2)
        expected = without_history(whole(monkeypatch, model, X, y))
        grown = [model.set_params(n_jobs=n_jobs).fit(X, y).tree_ for n_jobs in (1, 2)]
        assert grown[0].to_dict() == grown[1].to_dict()
        assert without_history(grown[0]) == expected


def test_same_tree_under_a_cost_matrix(monkeypatch):
    X, y = problem(3, 2000, 3)
    costs = [[0, 1, 5], [2, 0, 1], [9, 1, 0]]
    model = CARTClassifier(cp=0.004, costs=costs, categorical_features=["g0", "g1"])
    expected = without_history(whole(monkeypatch, model, X, y))
    assert without_history(model.fit(X, y).tree_) == expected


def test_fewer_nodes_are_grown(monkeypatch):
    X, y = problem(4, 3000, 2)
    model = CARTClassifier(cp=0.01)
    training = model._encode(X, y, None)
    priced = model._grow(training)
    monkeypatch.setattr(_recipe, "leaf_price", lambda *_: -1.0)
    assert priced.n_nodes < model._grow(training).n_nodes / 5
