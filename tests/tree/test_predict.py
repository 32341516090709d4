"""Rows through trees: worked by hand, against scikit-learn, and across pruning."""

from __future__ import annotations

import gc
from typing import Any
from weakref import ref

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification, make_regression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.tree.builders import N, Test, make_splits, make_tree, play_tennis, random_tree
from treewright.data.schema import Feature, Schema, Target
from treewright.data.table import Table
from treewright.errors import DataError, ParameterError
from treewright.tree.predict import apply, decision_path, node_values, predictor, reach
from treewright.tree.split import GAP_FRACTION, GAP_STOP, SPLIT_DTYPES, SplitKind, Splits
from treewright.tree.tree import Tree

TWO = Schema(
    (Feature("age", "continuous"), Feature("colour", "nominal", ("red", "green", "blue"))),
    target=Target("buys", ("no", "yes")),
)


def make_table(schema: Schema, *columns: Any) -> Table:
    """A table of lists: numbers, or codes where the schema has categories."""
    arrays = tuple(
        np.asarray(column, np.int32 if feature.is_categorical else np.float64)
        for feature, column in zip(schema.features, columns, strict=True)
    )
    return Table(schema, len(arrays[0]), np.ones(len(arrays), np.bool_), arrays)


def make_block(tree: Tree, block: Any) -> Table:
    return Table(tree.schema, len(block), np.zeros(block.shape[1], np.bool_), block=block)


def from_sklearn(estimator: DecisionTreeClassifier | DecisionTreeRegressor) -> tuple[Tree, Any]:
    """A fitted scikit-learn tree as ours, and the ids its nodes had there."""
    theirs = estimator.tree_
    old, first = [0], []
    for node in old:
        left, right = theirs.children_left[node], theirs.children_right[node]
        first.append(len(old) if left >= 0 else -1)
        old += [left, right] if left >= 0 else []
    first_child = np.array(first, np.int32)
    inner = first_child >= 0
    n = len(old)
    empty = make_splits([])
    counts = {"break_offset": np.concatenate([[0], np.cumsum(inner)])}
    arrays = {name: np.zeros(n, dtype) for name, dtype in SPLIT_DTYPES.items()}
    for pool in ("break", "code", "term"):
        arrays[f"{pool}_offset"] = counts.get(f"{pool}_offset", np.zeros(n + 1, np.int64))
    arrays |= {name: getattr(empty, name) for name in ("codes", "branches", "term_feature")}
    arrays |= {"term_weight": empty.term_weight, "term_code": empty.term_code}
    arrays["kind"] = np.where(inner, SplitKind.BREAKS, SplitKind.LEAF).astype(np.uint8)
    arrays["feature"] = np.where(inner, theirs.feature[old], -1).astype(np.int32)
    arrays["closed"] = np.ones(n, np.bool_)
    arrays["breaks"] = theirs.threshold[old][inner]
    features = tuple(Feature(f"x{i}", "continuous") for i in range(theirs.n_features))
    tree = Tree(
        schema=Schema(features, target=Target("y")),
        first_child=first_child,
        n_children=np.where(inner, 2, 0).astype(np.int32),
        splits=Splits(**arrays),
        default=np.where(inner, 0, GAP_STOP).astype(np.int32),
        surrogate_offset=np.zeros(n + 1, np.int64),
        surrogates=empty,
        surrogate_agreement=np.zeros(0),
        surrogate_adjusted=np.zeros(0),
        n_samples=theirs.n_node_samples[old].astype(np.int64),
        weight=theirs.weighted_n_node_samples[old].astype(np.float64),
        value=np.ascontiguousarray(theirs.value[old][:, 0]),
        label=np.zeros(0, np.int32),
        impurity=theirs.impurity[old].astype(np.float64),
        gain=np.zeros(n),
        risk=np.zeros(n),
    )
    return tree, np.array(old)


# -- worked by hand ------------------------------------------------------------------------


def test_play_tennis_rows_end_in_their_leaves():
    tree = play_tennis()  # 1 overcast, 2 rain: 4 strong, 5 weak; 3 sunny: 6 high, 7 normal
    table = make_table(tree.schema, [0, 1, 1, 2, 2], [0] * 5, [0, 0, 0, 0, 1], [0, 0, 1, 0, 0])
    assert apply(tree, table).tolist() == [1, 4, 5, 6, 7]
    shares = node_values(tree, table, tree.probability)
    assert shares.tolist() == [[0, 1], [1, 0], [0, 1], [1, 0], [0, 1]]


def test_surrogates_are_asked_in_order_before_the_default():
    surrogates = [
        (Test(1, codes={0: 0, 1: 1}), 0.9, 0.8),
        (Test(2, [5.0], reversed=True), 0.7, 0.5),
    ]
    schema = Schema((*TWO.features, Feature("income", "continuous")), target=TWO.target)
    root = N([5, 5], Test(0, [30]), [N([5, 1]), N([0, 4])], default=0, surrogates=surrogates)
    tree = make_tree(schema, root)
    gap = np.nan
    table = make_table(
        schema,
        [29, 30, gap, gap, gap, gap, gap],
        [1, 0, 0, 1, 2, -1, 2],  # blue was not seen by the surrogate
        [gap, gap, 1, 9, 4, 5, gap],
    )
    assert apply(tree, table).tolist() == [1, 2, 1, 2, 2, 1, 1]


def divided_tree() -> Tree:
    """Gaps of age and unseen colours divide; the rarer branch divides again."""
    low = N([3, 3], Test(1, codes={0: 0, 1: 1}), [N([3, 0]), N([0, 3])], default=GAP_FRACTION)
    return make_tree(TWO, N([3, 9], Test(0, [30]), [low, N([0, 6])], default=GAP_FRACTION))


def test_a_gap_goes_down_every_branch_by_weight():
    tree = divided_tree()
    table = make_table(TWO, [10, np.nan, np.nan, 10, 40], [0, 0, 2, -1, -1])
    shares = node_values(tree, table, tree.probability)
    assert shares.tolist() == [[1, 0], [0.5, 0.5], [0.25, 0.75], [0.5, 0.5], [0, 1]]
    # ties go to the first id
    assert apply(tree, table).tolist() == [3, 2, 2, 3, 2]
    visited = decision_path(tree, table).toarray()
    assert visited.tolist() == [
        [1, 1, 0, 1, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1],
        [1, 1, 0, 1, 1],
        [1, 0, 1, 0, 0],
    ]


def test_branches_without_weight_share_equally():
    low, high = N([0, 0], n=0), N([0, 0], n=0)
    tree = make_tree(TWO, N([3, 1], Test(0, [30]), [low, high], default=GAP_FRACTION))
    values = np.array([[9.0], [1.0], [2.0]])
    table = make_table(TWO, [np.nan], [0])
    assert node_values(tree, table, values).tolist() == [[1.5]]
    assert apply(tree, table).tolist() == [1]


def test_a_gap_may_stop_at_the_node():
    tree = make_tree(TWO, N([3, 1], Test(0, [30]), [N([3, 0]), N([0, 1])], default=GAP_STOP))
    table = make_table(TWO, [np.nan, 1, 31], [0, 0, 0])
    assert apply(tree, table).tolist() == [0, 1, 2]
    assert node_values(tree, table, tree.probability).tolist() == [[0.75, 0.25], [1, 0], [0, 1]]


# -- against scikit-learn ------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_classifier_of_scikit_learn_predicts_the_same(dtype, order):
    X, y = make_classification(3000, 12, n_informative=6, flip_y=0.2, random_state=3)
    X = X.astype(np.float32)
    estimator = DecisionTreeClassifier(random_state=0).fit(X[:2000], y[:2000])
    tree, old = from_sklearn(estimator)
    table = make_block(tree, np.asarray(X, dtype, order))
    for n_threads in (1, 2):
        np.testing.assert_array_equal(old[apply(tree, table, n_threads)], estimator.apply(X))
        np.testing.assert_array_equal(
            node_values(tree, table, tree.value, n_threads), estimator.predict_proba(X)
        )
    path = decision_path(tree, table)
    assert isinstance(path, csr_matrix)
    np.testing.assert_array_equal(path.toarray(), estimator.decision_path(X).toarray()[:, old])


def test_a_regressor_of_scikit_learn_predicts_the_same():
    X, y = make_regression(2000, 6, noise=3.0, random_state=1)
    X = X.astype(np.float32)
    estimator = DecisionTreeRegressor(random_state=0, min_samples_leaf=3).fit(X, y)
    tree, _ = from_sklearn(estimator)
    found = node_values(tree, make_block(tree, X), tree.value)
    np.testing.assert_array_equal(found[:, 0], estimator.predict(X))


# -- pruning -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_reach_gives_the_leaves_of_the_pruned_trees(seed):
    tree = random_tree(seed)
    if (tree.default == GAP_FRACTION).any():
        default = np.where(tree.default == GAP_FRACTION, GAP_STOP, tree.default)
        tree = Tree(**{**vars_of(tree), "default": default.astype(np.int32)})
    rng = np.random.default_rng(seed)
    ages = np.where(rng.random((2, 60)) < 0.2, np.nan, rng.normal(30, 15, (2, 60)))
    table = make_table(tree.schema, *ages, *rng.integers(-1, 4, (2, 60)))
    node_alpha = np.where(tree.first_child < 0, np.inf, rng.integers(0, 6, tree.n_nodes) / 2)
    alphas = np.array([-1, 0, 0.25, 0.5, 1.5, 2.5, 99])
    found = reach(tree, table, node_alpha, alphas)
    for j, alpha in enumerate(alphas):
        pruned = tree.collapse(node_alpha <= alpha)
        values = node_values(pruned, table, pruned.value)
        np.testing.assert_array_equal(values, tree.value[found[:, j]])


def vars_of(tree: Tree) -> dict[str, Any]:
    return {name: getattr(tree, name) for name in Tree.__dataclass_fields__}


def test_reach_follows_the_heaviest_way_of_a_divided_row():
    tree = divided_tree()
    table = make_table(TWO, [np.nan, 10], [0, -1])
    node_alpha = np.array([3.0, 1.0, np.inf, np.inf, np.inf])
    found = reach(tree, table, node_alpha, np.array([0.0, 1.0, 3.0]))
    assert found.tolist() == [[2, 2, 0], [3, 1, 0]]


# -- the predictor is kept, and errors are ours --------------------------------------------


def test_the_predictor_is_made_once_and_dies_with_its_tree():
    tree = play_tennis()
    kept = predictor(tree)
    assert predictor(tree) is kept
    assert predictor(play_tennis()) is not kept
    alive = ref(tree)
    del tree
    gc.collect()
    assert alive() is None


def test_a_table_of_other_columns_is_a_data_error():
    tree = play_tennis()
    table = make_table(TWO, [1.0], [0])
    with pytest.raises(DataError, match="4 columns, got 2"):
        apply(tree, table)
    with pytest.raises(DataError, match="4 columns, got 2"):
        decision_path(tree, table)
    with pytest.raises(DataError, match="4 columns, got 2"):
        reach(tree, table, np.zeros(tree.n_nodes), np.zeros(1))
    with pytest.raises(DataError, match="8 nodes, got 3"):
        node_values(tree, table, np.zeros((3, 1)))


def test_a_damaged_tree_is_a_parameter_error():
    tree = play_tennis()
    first = tree.first_child.copy()
    first[0] = 99
    damaged = Tree(**{**vars_of(tree), "first_child": first})
    with pytest.raises(ParameterError, match="children after their parent and inside the arrays"):
        predictor(damaged)
