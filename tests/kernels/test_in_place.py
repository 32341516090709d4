"""Growth of release 8 in place against its twin, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.twins.in_place import InPlaceGrowth, quicksort
from treewright import C45Classifier
from treewright.data.encode import encode


def rows_with_gaps(seed: int, n: int, n_classes: int, share: float):
    """Continuous columns with and without ties, nominal ones, gaps in all but one."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n)
    X = {
        "a": signal,
        "b": np.round(2 * signal + rng.normal(size=n)),
        "c": np.array(["r", "g", "b", "w"], object)[rng.integers(0, 4, n)],
        "d": np.round(rng.normal(size=n), 1),
        "e": np.array(["x", "y"], object)[(signal + rng.normal(size=n) > 0).astype(int)],
    }
    for name in "abce":
        where = rng.random(n) < share
        gap = np.nan if X[name].dtype == float else None
        X[name] = np.where(where, gap, X[name])
        X[name] = X[name].astype(float) if gap is not None else X[name]
    y = np.digitize(signal + 0.5 * rng.normal(size=n), np.linspace(-0.6, 0.8, n_classes - 1))
    return X, y.astype(np.int32)


def assert_same(tree, at, node):
    """Every node of a tree is the twin's: class weights, rows, test, branches."""
    np.testing.assert_array_equal(tree.value[at], np.array(node.value, float))
    assert tree.n_samples[at] == node.n_samples
    assert tree.is_leaf[at] == (node.feature < 0)
    if node.feature < 0:
        return
    assert tree.splits.feature[at] == node.feature
    breaks = tree.splits.node_breaks(at)
    assert len(breaks) == (not np.isnan(node.threshold))
    np.testing.assert_array_equal(breaks, [node.threshold][: len(breaks)])
    for child, branch in zip(tree.children(at), node.branches, strict=True):
        if branch is None:
            assert tree.n_samples[child] == 0
            assert tree.is_leaf[child]
        else:
            assert_same(tree, child, branch)


def twin_of(X, y, n_classes, **options):
    table = encode(X)
    return InPlaceGrowth(
        [np.asarray(column) for column in table.columns],
        [len(feature.categories) for feature in table.schema.features],
        y,
        n_classes,
        **options,
    ).grow()


@pytest.mark.parametrize("seed", range(12))
def test_the_tree_is_the_twins_to_the_bit(seed):
    n_classes, share = 2 + seed % 3, (0.05, 0.3)[seed % 2]
    X, y = rows_with_gaps(seed, 150, n_classes, share)
    rules = {"min_samples_leaf": (2, 1, 5)[seed % 3], "criterion": ("gain_ratio", "gain")[seed % 2]}
    model = C45Classifier(variant="release8", pruning=None, collapse=False, **rules).fit(X, y)
    twin = twin_of(
        X,
        y,
        n_classes,
        min_items=float(rules["min_samples_leaf"]),
        ratio=rules["criterion"] == "gain_ratio",
    )
    assert_same(model.tree_, 0, twin)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_parts_grown_by_threads_are_the_twins_to_the_bit(n_classes, n_jobs):
    X, y = rows_with_gaps(n_classes, 3000, n_classes, 0.03)
    # splits without gaps above those with, so that parts begin at several depths
    rng = np.random.default_rng(5)
    X["f"] = np.array(["u", "v", "w"], object)[np.digitize(y + rng.normal(size=3000), [0.0, 1.0])]
    X["g"] = 2 * y + np.round(rng.normal(size=3000), 1)
    model = C45Classifier(variant="release8", pruning=None, collapse=False, n_jobs=n_jobs).fit(X, y)
    twin = twin_of(X, y, n_classes, min_items=2.0, ratio=True)
    assert_same(model.tree_, 0, twin)
    one = C45Classifier(variant="release8", pruning=None, collapse=False).fit(X, y)
    assert model.tree_.to_dict() == one.tree_.to_dict()
    whole = one.tree_.n_samples == np.floor(one.tree_.weight)
    assert one.tree_.splits.feature[0] in (5, 6)
    assert 30 < whole.sum() < whole.size  # parts and branches that share rows


def test_the_sort_leaves_sorted_rows_alone():
    key = np.array([3, 1, 2, 2, 1, 5], np.float32)
    order = [1, 4, 2, 3, 0, 5]
    assert quicksort(order, key) == order


def test_equal_keys_come_in_the_order_of_the_swaps():
    key = np.array([2, 2, 1, 2, 3, 1, 2], np.float32)
    assert quicksort(list(range(7)), key) == [2, 5, 0, 1, 3, 6, 4]


@pytest.mark.parametrize("falling", [True, False])
def test_a_column_in_order_is_grown_like_any_other(falling):
    n = 30000
    x = np.arange(n, dtype=float)[:: -1 if falling else 1].copy()
    gaps = np.where(np.arange(n) % 7, np.arange(n) % 13, np.nan)
    y = (np.arange(n) // 100) % 2
    tree = C45Classifier(variant="release8", pruning=None).fit({"x": x, "g": gaps}, y).tree_
    assert tree.n_leaves > 100


def test_whole_weights_and_no_gaps_leave_the_order_of_rows_without_effect():
    X, y = rows_with_gaps(3, 200, 2, 0.0)
    order = np.random.default_rng(0).permutation(len(y))
    one = C45Classifier(variant="release8", pruning=None).fit(X, y).tree_
    other = (
        C45Classifier(variant="release8", pruning=None)
        .fit({k: v[order] for k, v in X.items()}, y[order])
        .tree_
    )
    np.testing.assert_array_equal(one.value, other.value)


@pytest.mark.filterwarnings("ignore::treewright.errors.ManyCategoriesWarning")
def test_a_feature_of_many_categories_with_gaps():
    rng = np.random.default_rng(4)
    names = np.array([f"v{i}" for i in rng.integers(0, 800, 1000)], object)
    names[::11] = None
    x = rng.normal(size=1000)
    y = (x > 0).astype(int)
    tree = C45Classifier(variant="release8", pruning=None).fit({"names": names, "x": x}, y).tree_
    assert tree.splits.feature[0] == 1
    assert tree.n_leaves == 2


def test_an_interrupt_ends_all_parts(press_ctrl_c):
    rng = np.random.default_rng(6)
    n = 300_000
    X = rng.normal(size=(n, 12))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0
    half = rng.random(n) < 0.5  # parts of the same size, one for each thread
    y = np.where(rng.random(n) < 0.6, half, y).astype(int)
    X[rng.random(X.shape) < 0.02] = np.nan
    X[:, 3] = half
    model = C45Classifier(variant="release8", pruning=None, n_jobs=2)
    press_ctrl_c(0.7, lambda: model.fit(X, y))
