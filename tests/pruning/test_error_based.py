"""Error-based pruning: the kernel against its twin, and what it promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.twins.error_based import Part, added_errors, prune
from treewright import C45Classifier, CARTClassifier, CARTRegressor
from treewright.data.encode import encode
from treewright.errors import ModelFileError, ParameterError
from treewright.kernels.error_based import collapsible, error_based
from treewright.pruning import error_based as prune_by_errors
from treewright.pruning._error_based import error_rules, prune_table, send_down
from treewright.rules import RuleSet
from treewright.tree.predict import apply
from treewright.tree.tree import EMPTY_PROBABILITY, Tree


def sample(seed: int, n: int = 150, gaps: float = 0.15):
    """Mixed columns with gaps, and three classes that depend on them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5)).round(1)
    x[rng.random(x.shape) < gaps] = np.nan
    colour = np.array(["r", "g", "b", "w"], object)[rng.integers(0, 4, n)]
    colour[rng.random(n) < gaps] = None
    product = np.nan_to_num(x[:, 0]) * np.nan_to_num(x[:, 1])
    signal = product + np.nan_to_num(x[:, 2]) + (colour == "r") + rng.normal(0, 0.8, n)
    X = {f"x{k}": x[:, k] for k in range(5)} | {"colour": colour}
    return X, np.digitize(signal, [-0.3, 0.8]), rng.integers(1, 4, n) / 2.0


def grown(X, y, weight=None, **parameters) -> Tree:
    model = C45Classifier(pruning=None, collapse=False, min_samples_leaf=1, **parameters)
    return model.fit(X, y, weight).tree_


def as_part(tree: Tree, node: int = 0) -> Part:
    return Part(node, branches=tuple(as_part(tree, child) for child in tree.children(node)))


def branches_of(tree: Tree, table):
    """Branch of every row at a node."""

    def branch(node: int) -> np.ndarray:
        column = np.asarray(table.columns[tree.splits.feature[node]])
        breaks = tree.splits.node_breaks(node)
        if len(breaks):
            return np.where(np.isnan(column), -1, column > breaks[0]).astype(np.int64)
        lookup = dict(
            zip(tree.splits.node_codes(node), tree.splits.node_branches(node), strict=True)
        )
        return np.array([lookup.get(code, -1) for code in column])

    return branch


def same(tree: Tree, part: Part, node: int = 0) -> None:
    np.testing.assert_allclose(tree.value[node], part.value, rtol=1e-9, atol=1e-9)
    children = list(tree.children(node))
    assert len(children) == len(part.branches)
    for child, below in zip(children, part.branches, strict=True):
        same(tree, below, child)


@pytest.mark.parametrize("variant", ["release8", "j48"])
@pytest.mark.parametrize("raising", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_the_kernel_prunes_as_its_twin(seed, raising, variant):
    X, y, weight = sample(seed)
    for w in (None, weight):
        tree = grown(X, y, w, variant=variant)
        table = encode(X, schema=tree.schema)
        rules = error_rules(0.25, variant, raising)
        each = np.ones(len(y)) if w is None else w
        expected = prune(as_part(tree), each, y, branches_of(tree, table), rules | {"n_classes": 3})
        same(prune_table(tree, table, y.astype(np.int32), w, rules), expected)


def test_raising_happens_in_these_examples():
    """Otherwise the test above would show little."""
    raised = 0
    for seed in range(20):
        X, y, _ = sample(seed)
        tree = grown(X, y)
        with_it, without = (
            prune_by_errors(tree, X, y, subtree_raising=choice, collapse=False)
            for choice in (True, False)
        )
        raised += with_it.n_nodes != without.n_nodes
    assert raised >= 3


@pytest.mark.parametrize(
    ("cases", "errors", "expected"), [(6, 0, 6 * 0.206), (9, 0, 9 * 0.143), (1, 0, 0.75)]
)
def test_leaves_without_errors_have_quinlans_estimates(cases, errors, expected):
    # Quinlan (1993), section 4.2: U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.750
    rules = error_rules(0.25, "release8", True)
    assert added_errors(cases, errors, rules) == pytest.approx(expected, abs=5e-3)


def test_the_deviate_is_interpolated_in_c45_and_exact_in_j48():
    assert error_rules(0.25, "release8", True)["z"] == pytest.approx(0.6925)
    assert error_rules(0.25, "j48", True)["z"] == pytest.approx(0.6744898)


@pytest.mark.parametrize("seed", range(5))
def test_pruning_never_grows_a_tree_and_a_smaller_confidence_prunes_more(seed):
    X, y, _ = sample(seed)
    tree = grown(X, y)
    sizes = [prune_by_errors(tree, X, y, confidence=c).n_nodes for c in (0.5, 0.25, 0.01)]
    assert tree.n_nodes >= sizes[0] >= sizes[1] >= sizes[2]


def test_counts_of_a_pruned_tree_are_those_of_the_rows_sent_down_it():
    X, y, _ = sample(1)
    pruned = prune_by_errors(grown(X, y), X, y)
    table = encode(X, schema=pruned.schema)
    again = send_down(pruned, table, y.astype(np.int32), None)
    np.testing.assert_allclose(again.value, pruned.value, atol=1e-9)
    np.testing.assert_array_equal(again.first_child, pruned.first_child)


def test_rows_of_weight_zero_take_no_part():
    X, y, weight = sample(2)
    weight[::3] = 0.0
    tree = grown(X, y, weight)
    kept = weight > 0
    part = {name: column[kept] for name, column in X.items()}
    a = prune_by_errors(tree, X, y, weight)
    b = prune_by_errors(tree, part, y[kept], weight[kept])
    np.testing.assert_array_equal(a.value, b.value)


def nominal_rows(seed: int, n: int = 120):
    """Few rows of many combinations: trees with branches that no row takes."""
    rng = np.random.default_rng(seed)
    X = {f"x{k}": np.array(list("abcd"), object)[rng.integers(0, 4, n)] for k in range(4)}
    y = ((X["x0"] == "a").astype(int) + (X["x1"] == "b") + rng.integers(0, 2, n)) % 2
    return X, y.astype(np.int32)


def test_branches_without_rows_keep_the_classes_they_were_grown_with():
    X, y = nominal_rows(6)
    tree = grown(X, y)
    kept = prune_by_errors(tree, X, y, confidence=0.6, collapse=False)
    rules = error_rules(0.6, "release8", True)
    present = prune_table(tree, encode(X), y, None, rules)
    empty = kept.weight <= 0
    np.testing.assert_array_equal(empty, present.weight <= 0)
    np.testing.assert_array_equal(
        present.probability[empty], present.probability[present.parent[empty]]
    )
    assert (kept.label != present.label).any()
    np.testing.assert_array_equal(kept.label[~empty], present.label[~empty])
    np.testing.assert_array_equal(kept.label[empty], kept.probability[empty].argmax(axis=1))
    # every one of them is that of some empty branch of the grown tree
    of_grown = {tuple(p) for p in tree.probability[tree.weight <= 0]}
    assert {tuple(p) for p in kept.probability[empty]} <= of_grown


def test_kept_classes_are_stored_with_the_tree():
    X, y = nominal_rows(6)
    tree = prune_by_errors(grown(X, y), X, y, confidence=0.6, collapse=False)
    assert EMPTY_PROBABILITY in tree.extras
    again = Tree.from_dict(tree.to_dict())
    np.testing.assert_array_equal(again.probability, tree.probability)


def test_rules_of_a_tree_know_the_kept_classes():
    X, y = nominal_rows(6)
    tree = prune_by_errors(grown(X, y), X, y, confidence=0.6, collapse=False)
    rows = np.array(np.meshgrid(*[list("abcd")] * 4)).reshape(4, -1).astype(object)
    everything = {f"x{k}": rows[k] for k in range(4)}
    rules = RuleSet.from_tree(tree)
    predicted = tree.probability[apply(tree, encode(everything))]
    np.testing.assert_allclose(rules.predict_proba(everything), predicted, atol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept[:, 0],
        lambda kept: kept[:, :1],
        lambda kept: np.full_like(kept, np.nan),
        lambda kept: kept * 7,
        lambda kept: -kept,
    ],
)
def test_kept_classes_of_a_file_are_checked(change: Any):
    X, y = nominal_rows(6)
    tree = prune_by_errors(grown(X, y), X, y, confidence=0.6, collapse=False)
    kept = np.ascontiguousarray(change(tree.extras[EMPTY_PROBABILITY]))
    broken = replace(tree, extras={EMPTY_PROBABILITY: kept})
    with pytest.raises(ModelFileError, match="empty_probability"):
        Tree.from_dict(broken.to_dict())


def test_j48_takes_the_classes_of_the_present_parent():
    X, y = nominal_rows(6)
    tree = prune_by_errors(grown(X, y), X, y, confidence=0.5, variant="j48")
    empty = np.flatnonzero(tree.weight <= 0)
    assert len(empty)
    np.testing.assert_array_equal(tree.probability[empty], tree.probability[tree.parent[empty]])
    assert EMPTY_PROBABILITY not in tree.extras


def test_a_cart_tree_can_be_pruned_by_errors():
    X, y, _ = sample(3)
    tree = CARTClassifier().fit(X, y).tree_
    pruned = prune_by_errors(tree, X, y)
    assert pruned.n_leaves < tree.n_leaves
    assert pruned.weight[0] == len(y)


def test_a_very_deep_tree_does_not_exhaust_the_stack():
    n = 40_000
    x = np.arange(float(n))
    y = (np.arange(n) % 2).astype(np.int32)
    tree = CARTClassifier().fit(x[:4, None], y[:4]).tree_
    chain = _chain(tree, n)
    rules = error_rules(0.25, "release8", False) | {"prune": False}
    sent = error_based([x], chain["tree"], chain["splits"], y, None, 2, rules)
    assert len(sent["source"]) == 2 * n - 1


def _chain(tree: Tree, n: int):
    """A tree that cuts one row off at every node."""
    nodes = 2 * n - 1
    inner = np.arange(nodes) % 2 == 0
    inner[-1] = False
    first = np.where(inner, np.arange(nodes) + 1, -1).astype(np.int32)
    arrays = dict(tree.splits.arrays())
    per_node = inner.astype(np.int64)
    arrays.update(
        kind=per_node.astype(np.uint8),
        feature=np.where(inner, 0, -1).astype(np.int32),
        closed=np.ones(nodes, bool),
        reversed=np.zeros(nodes, bool),
        break_offset=np.concatenate([[0], np.cumsum(per_node)]),
        breaks=np.arange(float(n - 1)),
        code_offset=np.zeros(nodes + 1, np.int64),
        codes=np.zeros(0, np.int32),
        branches=np.zeros(0, np.int32),
        term_offset=np.zeros(nodes + 1, np.int64),
        term_feature=np.zeros(0, np.int32),
        term_weight=np.zeros(0),
    )
    return {
        "tree": {
            "first_child": first,
            "n_children": np.where(inner, 2, 0).astype(np.int32),
            "default": np.full(nodes, -2, np.int32),
        },
        "splits": arrays,
    }


def test_collapsing_takes_away_what_saves_no_errors():
    first, count = np.array([1, -1, -1], np.int32), np.array([2, 0, 0], np.int32)
    assert collapsible(first, count, np.array([3.0, 1.0, 2.0]), 1e-3).tolist() == [1, 0, 0]
    assert not collapsible(first, count, np.array([3.0, 1.0, 1.0]), 1e-3).any()


def test_what_cannot_be_pruned_is_refused_in_one_sentence():
    X, y, _ = sample(0)
    with pytest.raises(ParameterError, match="classification tree"):
        prune_by_errors(CARTRegressor().fit(X, y * 1.0).tree_, X, y)
    with pytest.raises(ParameterError, match="surrogates"):
        prune_by_errors(CARTClassifier(missing="surrogate").fit(X, y).tree_, X, y)
    with pytest.raises(ParameterError, match=r"at most 0\.5"):
        prune_by_errors(grown(X, y), X, y, confidence=0.6, variant="j48")
