"""Complexities and cp tables against the recorded runs of rpart.

The recorded trees with their node risks go through our pruning; nothing is grown here.
"""

from __future__ import annotations

import gzip
import json
from collections import deque

import numpy as np
import pytest

from tests.pruning.arbitrary_trees import make_tree
from treewright.pruning import cost_complexity, cp_table, pruning_sequence


@pytest.fixture(scope="module")
def runs(shared_dir):
    """(name of data set and run, run) for every recorded run."""
    found = []
    for path in sorted((shared_dir / "oracle" / "rpart").glob("*.json.gz")):
        with gzip.open(path, "rt") as stream:
            recorded = json.load(stream)["runs"]
        dataset = path.name.removesuffix(".json.gz")
        found += [(f"{dataset} {key}", run) for key, run in recorded.items() if "error" not in run]
    assert len(found) == 285
    return found


def as_tree(run):
    """The recorded tree with its risks, and rpart's number of each node."""
    nodes = {node["id"]: node for node in run["nodes"]}
    order, first, queue = [], [], deque([1])
    while queue:
        number = queue.popleft()
        order.append(number)
        is_leaf = 2 * number not in nodes
        first.append(-1 if is_leaf else len(order) + len(queue))
        if not is_leaf:
            queue += [2 * number, 2 * number + 1]
    recorded = [nodes[number] for number in order]
    total = nodes[1]["wt"]
    return make_tree(
        first,
        np.where(np.array(first) < 0, 0, 2),
        np.array([node["dev"] for node in recorded]) / total,
        weight=np.array([float(node["wt"]) for node in recorded]),
    ), np.array([node["complexity"] for node in recorded])


def grown_at(name):
    """The cp that the run was grown with."""
    if name.endswith("_full"):
        return 0.0
    return 0.001 if name.endswith("cp001") else 0.01


def test_the_complexity_of_every_inner_node_is_rparts(runs):
    n_nodes = 0
    for name, run in runs:
        tree, expected = as_tree(run)
        sequence = pruning_sequence(tree, rule="rpart")
        inner = tree.n_children > 0
        ours = sequence.node_alpha[inner] / sequence.root_risk
        np.testing.assert_allclose(ours, expected[inner], rtol=0, atol=1e-11, err_msg=name)
        n_nodes += np.count_nonzero(inner)
    assert n_nodes == 8186


def test_every_cp_table_has_rparts_complexities_sizes_and_errors(runs):
    for name, run in runs:
        tree, _ = as_tree(run)
        table = cp_table(tree, cp=grown_at(name))
        rows = [(row["CP"], row["nsplit"], row["rel error"]) for row in run["cptable"]]
        # rpart merges complexities only if they are equal to the last bit, which those of
        # repeated squared errors are not; of such rows the first is the subtree
        kept = [row for i, row in enumerate(rows) if i == 0 or rows[i - 1][0] - row[0] > 1e-12]
        expected = np.array(kept).T
        assert table.n_splits.tolist() == expected[1].tolist(), name
        np.testing.assert_allclose(table.rel_error, expected[2], atol=1e-9, err_msg=name)
        if len(table) > 1:  # a root alone is listed with a complexity of splits not recorded
            np.testing.assert_allclose(table.cp, expected[0], atol=1e-11, err_msg=name)


def test_pruning_at_a_cp_keeps_the_nodes_of_larger_complexity(runs):
    for name, run in runs:
        tree, complexity = as_tree(run)
        rows = run["cptable"][:-1]
        for row in rows[:: max(1, len(rows) // 5)]:
            inner = tree.n_children > 0
            n_kept = np.count_nonzero(inner & (complexity > row["CP"] + 1e-11))
            assert cost_complexity(tree, cp=row["CP"]).n_leaves == n_kept + 1, name


def test_the_exact_weakest_link_never_costs_more_than_rparts_subtrees_and_sometimes_less(runs):
    n_different = 0
    for _, run in runs:
        tree, _ = as_tree(run)
        exact = pruning_sequence(tree, rule="exact")
        theirs = pruning_sequence(tree, rule="rpart")
        n_different += exact.n_leaves.tolist() != theirs.n_leaves.tolist()
        for alpha, n_leaves, risk in zip(theirs.alphas, theirs.n_leaves, theirs.risks, strict=True):
            step = np.searchsorted(exact.alphas, alpha + exact.tolerance, side="right") - 1
            least = exact.risks[step] + alpha * exact.n_leaves[step]
            assert least <= risk + alpha * n_leaves + 1e-12
    assert n_different > 0
