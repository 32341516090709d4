"""Every pruner against a search over all prunings under its own objective."""

from __future__ import annotations

from itertools import product
from math import comb, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from tests.pruning.arbitrary_trees import all_prunings, counted_tree, counted_trees, inner_nodes
from tests.twins.error_based import added_errors as added_by_twin
from treewright import CARTRegressor, HuntClassifier, ID3Classifier
from treewright.datasets import load_play_tennis
from treewright.errors import ParameterError
from treewright.pruning import (
    chi_squared,
    cost_complexity,
    critical_value,
    error_based,
    mdl,
    minimum_error,
    pessimistic,
)
from treewright.pruning._error_based import error_rules


def play_tennis():
    days = load_play_tennis()
    return days.data, days.target


def leaves_of(tree, pruned):
    """Nodes of ``tree`` at which ``pruned`` has its leaves."""
    leaves, stack = set(), [(0, 0)]
    while stack:
        a, b = stack.pop()
        if pruned.is_leaf[b]:
            leaves.add(a)
        else:
            stack.extend(zip(tree.children(a), pruned.children(b), strict=True))
    return frozenset(leaves)


def best_pruning(tree, as_leaf, of_test):
    """The smallest of the prunings with the least total."""
    found = []
    for leaves in all_prunings(tree.first_child, tree.n_children):
        cost = sum(as_leaf(t) for t in leaves)
        cost += sum(of_test(t) for t in inner_nodes(tree, leaves))
        found.append((cost, leaves))
    least = min(cost for cost, _ in found)
    return min((leaves for cost, leaves in found if cost <= least + 1e-9), key=len)


def errors(tree, t):
    return tree.weight[t] - tree.value[t].max()


def m_estimate(tree, t, m):
    n, label = tree.weight[t], tree.label[t]
    prior = tree.value[0, label] / tree.weight[0]
    return n * (1 - (tree.value[t, label] + m * prior) / (n + m)) if n + m else 0.0


def exceptions(tree, t):
    """Bits of Quinlan and Rivest for a leaf, class by class."""
    counts = sorted(tree.value[t].astype(int), reverse=True)
    bits, n, classes = 1 + log2(len(counts)), sum(counts), len(counts)
    for j, most in enumerate(counts[:-1]):
        if n:
            limit = int(n * (1 - 1 / (classes - j)) + 0.5)
            bits += log2(limit + 1) + log2(comb(n, n - most))
        n -= most
    return bits


OBJECTIVES = {
    "pessimistic": (pessimistic, lambda T, t: errors(T, t) + 0.5, lambda T, t: 0.0),
    "penalty": (
        lambda T: pessimistic(T, 1.7),
        lambda T, t: errors(T, t) + 1.7,
        lambda T, t: 0.0,
    ),
    "minimum_error": (
        lambda T: minimum_error(T, 3),
        lambda T, t: m_estimate(T, t, 3),
        lambda T, t: 0.0,
    ),
    "cost_complexity": (
        lambda T: cost_complexity(T, 0.07),
        lambda T, t: errors(T, t) / T.weight[0] + 0.07,
        lambda T, t: 0.0,
    ),
    "mdl": (mdl, lambda T, t: 1 + errors(T, t), lambda T, t: 2.0),
    "quinlan_rivest": (
        lambda T: mdl(T, "quinlan_rivest"),
        exceptions,
        lambda T, t: 1.0,  # one feature, and breaks that the made-up splits do not have
    ),
}


@pytest.mark.parametrize("name", OBJECTIVES)
@given(tree=counted_trees())
def test_the_result_is_the_smallest_of_the_best_prunings(name, tree):
    prune, as_leaf, of_test = OBJECTIVES[name]
    best = best_pruning(tree, lambda t: as_leaf(tree, t), lambda t: of_test(tree, t))
    assert leaves_of(tree, prune(tree)) == best


@given(counted_trees(max_inner=6))
def test_quinlans_rule_gives_the_only_pruning_that_obeys_it(tree):
    def passes(t):
        leaves, stack = [], list(tree.children(t))
        while stack:
            c = stack.pop()
            leaves.append(c) if tree.is_leaf[c] else stack.extend(tree.children(c))
        estimate = sum(errors(tree, c) for c in leaves) + 0.5 * len(leaves)
        n = max(tree.weight[t], 1e-300)
        spread = max(estimate * (n - estimate) / n, 0) ** 0.5 if tree.weight[t] > 0 else 0.0
        return errors(tree, t) + 0.5 <= estimate + spread + 1e-9

    obedient = [
        leaves
        for leaves in all_prunings(tree.first_child, tree.n_children)
        if all(tree.is_leaf[t] or passes(t) for t in leaves)
        and not any(passes(t) for t in inner_nodes(tree, leaves))
    ]
    assert obedient == [leaves_of(tree, pessimistic(tree, standard_error=True))]


def smallest_with(tree, good):
    """The smallest pruning in which every good split is left."""
    keeping = [
        leaves
        for leaves in all_prunings(tree.first_child, tree.n_children)
        if good <= set(inner_nodes(tree, leaves))
    ]
    return min(keeping, key=len)


@given(counted_trees(max_inner=6), st.sampled_from([0.0, 0.05, 0.2, 0.4]))
def test_a_critical_value_keeps_good_splits_and_what_leads_to_them(tree, t):
    share = np.maximum(tree.weight / tree.weight[0], 1e-300)
    good = {i for i in range(tree.n_nodes) if tree.n_children[i] and tree.gain[i] / share[i] >= t}
    assert leaves_of(tree, critical_value(tree, t)) == smallest_with(tree, good)


@given(counted_trees(max_inner=6), st.sampled_from([0.01, 0.05, 0.5]))
def test_chi_squared_keeps_significant_splits_and_what_leads_to_them(tree, alpha):
    good = set()
    for t in np.flatnonzero(tree.n_children):
        table = tree.value[list(tree.children(t))]
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        is_table = min(table.shape, default=0) > 1
        if is_table and chi2_contingency(table, correction=False).pvalue <= alpha:
            good.add(int(t))
    pruned = chi_squared(tree, alpha, corrections=False)
    assert leaves_of(tree, pruned) == smallest_with(tree, good)


def partial_descriptions(tree, t=0):
    """Every way to describe a subtree in which children may be left to their parents."""
    yield 2 + errors(tree, t)
    children = list(tree.children(t))
    if children:
        label = tree.label[t]
        options = [
            [(bits, 1) for bits in partial_descriptions(tree, c)]
            + [(tree.weight[c] - tree.value[c, label], 0)]
            for c in children
        ]
        for choice in product(*options):
            if any(kept for _, kept in choice):
                yield len(children) + 1 + sum(bits for bits, _ in choice)


@settings(max_examples=60)
@given(counted_trees(max_inner=3))
def test_the_partial_coding_is_the_shortest_of_all_partial_descriptions(tree):
    pruned = mdl(tree, "partial")
    assert pruned.extras["bits"][0] == pytest.approx(min(partial_descriptions(tree)))


@given(counted_trees(max_inner=5))
def test_hybrid_coding_cuts_no_less_than_full_and_describes_what_it_predicts(tree):
    full, hybrid = mdl(tree, "full"), mdl(tree, "hybrid")
    assert hybrid.n_leaves <= full.n_leaves
    leaves = hybrid.is_leaf
    k = hybrid.n_children[~leaves]
    kept = sum(log2(2.0**c - 1) + 1 for c in k)
    wrong = hybrid.risk[leaves].sum() * hybrid.weight[0]
    assert hybrid.extras["bits"][0] == pytest.approx(kept + wrong)


@given(counted_trees(max_inner=6), st.sampled_from([0.05, 0.25, 0.6]))
def test_error_based_pruning_without_rows_is_the_definition(tree, confidence):
    rules = error_rules(confidence, "release8", False)

    def expected(t):
        n, e = float(tree.weight[t]), float(errors(tree, t))
        return e + added_by_twin(n, e, rules) if n > 0 else 0.0

    def prune(t):
        leaf = expected(t)
        if tree.is_leaf[t]:
            return leaf, frozenset([t])
        parts = [prune(c) for c in tree.children(t)]
        below = sum(cost for cost, _ in parts)
        if leaf <= below + 0.1 + 1e-12:
            return leaf, frozenset([t])
        return below, frozenset().union(*(leaves for _, leaves in parts))

    pruned = error_based(tree, confidence=confidence, subtree_raising=False, collapse=False)
    assert leaves_of(tree, pruned) == prune(0)[1]


# -- multiway trees, regression, logs ---------------------------------------------------------


def test_the_root_of_play_tennis_as_quinlan_and_rivest_code_it():
    # 14 days with 5 exceptions of at most 7: 3 + log2 2002 bits, one for the class, one for "leaf"
    X, y = play_tennis()
    tree = ID3Classifier().fit(X, y).tree_
    root = mdl(tree.collapse([0]), "quinlan_rivest")
    assert root.extras["bits"][0] == pytest.approx(2 + 3 + log2(2002))


def test_multiway_trees_are_pruned_by_every_method():
    X, y = play_tennis()
    tree = ID3Classifier().fit(X, y).tree_
    for prune in (
        pessimistic,
        minimum_error,
        mdl,
        lambda t: mdl(t, "partial"),
        lambda t: mdl(t, "hybrid"),
        lambda t: mdl(t, "quinlan_rivest"),
        lambda t: cost_complexity(t, 0.2),
        chi_squared,
        lambda t: critical_value(t, 0.3),
        lambda t: error_based(t, X, y),
    ):
        pruned = prune(tree)
        assert 1 <= pruned.n_leaves <= tree.n_leaves
        assert pruned.pruning_log is not None


def test_a_weight_is_a_repeated_row_for_every_method():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (80, 3)).astype(float)
    y = (X[:, 0] + rng.normal(0, 2, 80) > 3).astype(int)
    weight = rng.integers(1, 4, 80)
    once = HuntClassifier().fit(X, y, weight).tree_
    again = HuntClassifier().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).tree_
    for prune in (pessimistic, minimum_error, mdl, chi_squared, lambda t: critical_value(t, 0.1)):
        assert prune(once).n_nodes == prune(again).n_nodes


def test_splits_of_numbers_are_judged_by_the_f_test():
    rng = np.random.default_rng(1)
    X = rng.random((200, 3))
    y = np.where(X[:, 0] > 0.5, 3.0, 0.0) + rng.normal(0, 1, 200)
    tree = CARTRegressor(min_samples_leaf=5).fit(X, y).tree_
    pruned = chi_squared(tree, 1e-4)
    assert 2 <= pruned.n_leaves < tree.n_leaves
    assert "F test" in pruned.pruning_log.rules[0][1]
    assert critical_value(tree, 0.5).n_leaves < tree.n_leaves


@pytest.mark.parametrize("prune", [pessimistic, minimum_error, mdl, error_based])
def test_pruners_that_count_errors_refuse_a_regression_tree(prune):
    tree = CARTRegressor(max_depth=1).fit([[1.0], [2.0]], [1.0, 2.0]).tree_
    with pytest.raises(ParameterError, match="needs a classification tree, got a regression tree"):
        prune(tree)


BAD_NUMBERS = [
    (lambda t: chi_squared(t, 1.5), r"alpha must be a number not below 0 and not above 1, got 1.5"),
    (lambda t: chi_squared(t, float("nan")), "alpha must be a number .* got nan"),
    (lambda t: minimum_error(t, -1), "m must be a finite number not below 0, got -1"),
    (lambda t: critical_value(t, -0.1), "t must be a number not below 0, got -0.1"),
    (lambda t: critical_value(t, 0.1, measure="luck"), "measure must be one of .* got 'luck'"),
    (lambda t: mdl(t, "zip"), "coding must be one of .* got 'zip'"),
    (lambda t: error_based(t, confidence=0, subtree_raising=False), "confidence must be above 0"),
    (lambda t: error_based(t), "subtree_raising=True .* needs X and y, got None"),
    (lambda t: cost_complexity(t, -1), "ccp_alpha must be a number not below 0, got -1"),
]


@pytest.mark.parametrize(("prune", "sentence"), BAD_NUMBERS)
def test_bad_numbers_are_refused_in_one_sentence(prune, sentence):
    tree = counted_tree([1, -1, -1], [2, 0, 0], [[3, 0], [0, 3]])
    with pytest.raises(ParameterError, match=sentence):
        prune(tree)
