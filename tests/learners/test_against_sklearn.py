"""CART beside scikit-learn's trees: the same gains, partitions, paths and importances.

Scikit-learn looks at features in random order, so equal trees are expected only where no two
splits score alike; every tie is shown by computing both scores (see ``sklearn_compare``).
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn import datasets
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import compute_sample_weight

from tests.learners.sklearn_compare import Sample, compare, node_gains
from treewright import CARTClassifier, CARTRegressor

CLASS_SAMPLES = ["iris", "wine", "breast_cancer", "ties", "integers", "weighted", "made"]
NUMBER_SAMPLES = ["diabetes", "tied_numbers", "weighted_numbers", "friedman"]
CLASS_CRITERIA = ["gini", "entropy"]
NUMBER_CRITERIA = ["squared_error", "absolute_error", "poisson"]
CASES = [(s, c) for s in CLASS_SAMPLES for c in CLASS_CRITERIA] + [
    (s, c) for s in NUMBER_SAMPLES for c in NUMBER_CRITERIA
]


@cache
def load(name: str) -> Sample:
    """A sample with float32 features, which is what scikit-learn makes of any."""
    rng = np.random.default_rng(len(name))
    weight, is_classes = None, True
    if name in ("iris", "wine", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    elif name == "integers":
        X, y = rng.integers(0, 7, size=(400, 4)), rng.integers(0, 3, 400)
    elif name == "made":
        X, y = datasets.make_classification(2000, 12, n_informative=6, n_classes=3, random_state=1)
    elif name == "diabetes":
        X, y = datasets.load_diabetes(return_X_y=True, scaled=False)
        is_classes = False
    elif name == "friedman":
        X, y = datasets.make_friedman1(1500, 8, noise=1.0, random_state=1)
        is_classes = False
    else:
        is_classes = "numbers" not in name
        X = np.round(rng.normal(size=(400, 5)), 1)
        y = np.round(3 + X[:, 0] * X[:, 1] + rng.normal(size=400), 1)
        y = y > 3 if is_classes else np.maximum(y, 0.1)
        weight = rng.uniform(0.1, 3, 400) if "weighted" in name else None
    y = y.astype(np.int64 if is_classes else np.float64)
    return Sample(np.ascontiguousarray(X, np.float32), y, is_classes, weight)


def with_gaps(sample: Sample, share: float) -> Sample:
    X = sample.X.copy()
    X[np.random.default_rng(5).random(X.shape) < share] = np.nan
    return Sample(X, sample.y, sample.is_classes, sample.weight)


def fit_theirs(sample: Sample, **parameters):
    model = DecisionTreeClassifier if sample.is_classes else DecisionTreeRegressor
    return model(random_state=0, **parameters).fit(sample.X, sample.y, sample.weight)


def fit_ours(sample: Sample, **parameters):
    model = CARTClassifier if sample.is_classes else CARTRegressor
    return model(**parameters).fit(sample.X, sample.y, sample.weight)


def compare_fits(sample: Sample, **parameters):
    """Both models, and how their trees compare."""
    ours, theirs = fit_ours(sample, **parameters), fit_theirs(sample, **parameters)
    return ours, theirs, compare(ours, theirs, sample)


def check_gains(sample: Sample, criterion: str) -> None:
    """Our best gain is theirs at every node of their full tree."""
    model = fit_theirs(sample, criterion=criterion)
    rounding = 1e-15 * model.tree_.impurity[0]  # for rows that are all alike
    pairs = list(node_gains(model, sample))
    assert len(pairs) == np.count_nonzero(model.tree_.children_left >= 0) > 5
    for theirs, ours in pairs:
        assert ours == pytest.approx(theirs, rel=1e-9, abs=rounding)


# -- gains ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "criterion"), CASES)
def test_the_best_gain_is_the_same_at_every_node_of_their_full_tree(name, criterion):
    check_gains(load(name), criterion)


@pytest.mark.parametrize(("name", "criterion"), [c for c in CASES if c[1] != "absolute_error"])
def test_learned_gaps_gain_as_much_as_their_missing_values(name, criterion):
    check_gains(with_gaps(load(name), 0.15), criterion)


# -- trees ---------------------------------------------------------------------------------


def leaf_size(sample: Sample) -> int:
    return 50 if len(sample.y) > 300 else 10


@pytest.mark.parametrize(("name", "criterion"), CASES)
def test_trees_with_large_leaves_divide_the_rows_alike(name, criterion):
    sample = load(name)
    _, _, found = compare_fits(sample, criterion=criterion, min_samples_leaf=leaf_size(sample))
    assert not found.different
    assert found.equal >= 1


OPTIONS = {
    "max_depth": {"max_depth": 4},
    "best first": {"max_leaf_nodes": 12},
    "best first with large leaves": {"max_leaf_nodes": 9, "min_samples_leaf": 15},
    "min_samples_split": {"min_samples_split": 60},
    "min_weight_fraction_leaf": {"min_weight_fraction_leaf": 0.1},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("name", CLASS_SAMPLES + NUMBER_SAMPLES)
def test_stopping_rules_stop_at_the_same_nodes(name, options):
    _, _, found = compare_fits(load(name), **options)
    # Below a tie a best-first tree has other leaves to choose from.
    if not (found.ties and "max_leaf_nodes" in options):
        assert not found.different
    assert found.equal >= 2


@pytest.mark.parametrize("name", CLASS_SAMPLES + NUMBER_SAMPLES)
def test_the_least_decrease_of_impurity_stops_at_the_same_nodes(name):
    sample = load(name)
    stump = fit_theirs(sample, max_depth=1).tree_
    share = stump.weighted_n_node_samples / stump.weighted_n_node_samples[0]
    decrease = stump.impurity[0] - share[1:] @ stump.impurity[1:]
    ours, _, found = compare_fits(sample, min_impurity_decrease=0.3 * decrease)
    assert not found.different
    assert found.equal >= 1
    assert ours.get_n_leaves() < fit_ours(sample).get_n_leaves()


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "ties", "integers", "made"])
def test_balanced_classes_divide_the_rows_alike(name, criterion):
    sample = load(name)
    options = {"class_weight": "balanced", "criterion": criterion, "min_samples_leaf": 10}
    ours, theirs = fit_ours(sample, **options), fit_theirs(sample, **options)
    weight = compute_sample_weight("balanced", sample.y)
    found = compare(ours, theirs, Sample(sample.X, sample.y, True, weight))
    assert not found.different
    assert found.equal > len(found.ties)
    if found.is_same_tree:
        np.testing.assert_allclose(
            ours.predict_proba(sample.X), theirs.predict_proba(sample.X), rtol=1e-9
        )


MONOTONIC = ["breast_cancer", "ties", "weighted", *NUMBER_SAMPLES]


@pytest.mark.parametrize("options", [{"max_depth": 5}, {"min_samples_leaf": 10}], ids=str)
@pytest.mark.parametrize("name", MONOTONIC)
def test_monotonic_constraints_on_all_features_divide_the_rows_alike(name, options):
    sample = load(name)
    signs = np.resize([1, -1, 1, 1, -1], sample.X.shape[1])
    criteria = CLASS_CRITERIA if sample.is_classes else NUMBER_CRITERIA
    for criterion in criteria:
        _, _, found = compare_fits(sample, criterion=criterion, monotonic_cst=signs, **options)
        assert not found.different
        assert found.equal >= 4


@pytest.mark.parametrize("options", [{"max_depth": 6}, {"max_leaf_nodes": 25}], ids=str)
@pytest.mark.parametrize(
    ("name", "criterion"), [case for case in CASES if case[0] in ("ties", "weighted", "friedman")]
)
def test_predictions_follow_the_signs_of_some_features(name, criterion, options):
    sample = load(name)
    signs = np.resize([1, -1, 0, 1, 0], sample.X.shape[1])
    model = fit_ours(sample, criterion=criterion, monotonic_cst=signs, **options)
    assert model.get_n_leaves() > 5
    predict = (lambda X: model.predict_proba(X)[:, 1]) if sample.is_classes else model.predict
    X = sample.X[:200].copy()
    for feature in np.flatnonzero(signs):
        at = []
        for value in np.quantile(sample.X[:, feature], np.linspace(0, 1, 25)):
            X[:, feature] = value
            at.append(predict(X))
        X[:, feature] = sample.X[:200, feature]
        assert (np.diff(at, axis=0) * signs[feature]).min() >= -1e-12


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "ties", "diabetes"])
def test_trees_on_rows_with_gaps_divide_them_alike(name):
    sample = with_gaps(load(name), 0.15)
    _, _, found = compare_fits(sample, min_samples_leaf=20)
    assert not found.different
    assert found.equal >= 4
    assert found.equal > len(found.ties)


# -- what follows from equal trees ---------------------------------------------------------


def equal_trees(name, criterion):
    """Models whose trees are equal with large leaves, which most are."""
    sample = load(name)
    options = {"criterion": criterion, "min_samples_leaf": leaf_size(sample)}
    return sample, options, *compare_fits(sample, **options)


SAME = [
    ("breast_cancer", "entropy"),
    ("ties", "gini"),
    ("ties", "entropy"),
    ("integers", "gini"),
    ("weighted", "gini"),
    ("weighted", "entropy"),
    ("diabetes", "squared_error"),
    ("diabetes", "absolute_error"),
    ("diabetes", "poisson"),
    ("weighted_numbers", "squared_error"),
    ("weighted_numbers", "absolute_error"),
    ("friedman", "squared_error"),
    ("friedman", "poisson"),
]


@pytest.mark.parametrize(("name", "criterion"), SAME)
def test_equal_trees_have_the_same_pruning_path(name, criterion):
    sample, options, _, theirs, found = equal_trees(name, criterion)
    assert found.is_same_tree
    model = CARTClassifier if sample.is_classes else CARTRegressor
    ours = model(pruning_risk="impurity", **options)
    path = ours.cost_complexity_pruning_path(sample.X, sample.y, sample.weight)
    expected = theirs.cost_complexity_pruning_path(sample.X, sample.y, sample.weight)
    scale = 1e-12 * theirs.tree_.impurity[0]
    np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas, rtol=1e-9, atol=scale)
    np.testing.assert_allclose(path.impurities, expected.impurities, rtol=1e-9)


@pytest.mark.parametrize(("name", "criterion"), SAME)
def test_equal_trees_have_the_same_importances_and_predictions(name, criterion):
    sample, _, ours, theirs, found = equal_trees(name, criterion)
    assert found.is_same_tree
    assert found.other_features == 0
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, rtol=1e-9, atol=1e-12
    )
    for call in ("predict", "predict_proba")[: 1 + sample.is_classes]:
        np.testing.assert_allclose(
            getattr(ours, call)(sample.X), getattr(theirs, call)(sample.X), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("name", ["ties", "weighted", "diabetes", "friedman"])
def test_pruning_by_their_alpha_leaves_the_same_tree(name):
    sample = load(name)
    options = {"min_samples_leaf": leaf_size(sample)}
    alphas = (
        fit_theirs(sample, **options)
        .cost_complexity_pruning_path(sample.X, sample.y, sample.weight)
        .ccp_alphas
    )
    alpha = float(np.mean(alphas[-3:-1]))
    ours = fit_ours(sample, ccp_alpha=alpha, pruning_risk="impurity", **options)
    theirs = fit_theirs(sample, ccp_alpha=alpha, **options)
    found = compare(ours, theirs, sample)
    assert found.is_same_tree
    assert found.equal >= 1
