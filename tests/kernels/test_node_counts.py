"""Counts and quantiles of nodes: the kernels against their twins, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.twins import node_counts as twin
from treewright.kernels import node_counts


def problem(seed: int, n_rows: int = 60, n_nodes: int = 9, weighted: bool = True) -> dict:
    """A random tree, rows that end anywhere, columns of every kind with gaps."""
    rng = np.random.default_rng(seed)
    parent = np.array([-1, *(int(rng.integers(i)) for i in range(1, n_nodes))], np.int32)
    number = rng.normal(size=n_rows)
    number[rng.random(n_rows) < 0.2] = np.nan
    slot = np.full(n_nodes, -1, np.int32)
    slotted = [0]
    slot[0] = 0
    for node in range(1, n_nodes):
        if slot[parent[node]] >= 0 and rng.random() < 0.6:
            slot[node] = len(slotted)
            slotted.append(node)
    n_slots = len(slotted)
    block = np.column_stack([number, number**2]).astype(np.float32)
    return {
        "columns": [number, block[:, 1], rng.integers(-1, 4, n_rows).astype(np.int32)],
        "end": rng.integers(0, n_nodes, n_rows).astype(np.int32),
        "parent": parent,
        "slot": slot,
        "column": rng.integers(0, 3, n_slots).astype(np.int32),
        "low": rng.normal(size=n_slots),
        "scale": rng.exponential(3, n_slots),
        "code": rng.integers(0, 3, n_rows).astype(np.int32),
        "weight": rng.exponential(size=n_rows) if weighted else None,
        "n_bins": 5,
        "n_codes": 3,
    }


@given(st.integers(0, 10_000), st.booleans())
def test_counts_are_those_of_the_twin(seed: int, weighted: bool) -> None:
    given = problem(seed, weighted=weighted)
    assert_allclose(node_counts.split_counts(**given), twin.split_counts(**given), atol=1e-12)


@given(st.integers(0, 10_000), st.booleans())
def test_quantiles_are_those_of_the_twin(seed: int, weighted: bool) -> None:
    given = problem(seed, weighted=weighted)
    y = np.random.default_rng(seed).normal(size=len(given["end"])).round(1)
    order = np.argsort(y, kind="stable")
    shares = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    arguments = (order, given["end"], given["parent"], y, given["weight"], shares)
    assert_allclose(node_counts.node_quantiles(*arguments), twin.node_quantiles(*arguments))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("end", 99, "a node is out of range"),
        ("code", -1, "a code is out of range"),
        ("column", 7, "a column is out of range"),
        ("slot", 40, "a place of a split is out of range"),
        ("parent", 8, "parents must come before"),
    ],
)
def test_what_the_core_would_read_out_of_bounds_is_refused(name, value, sentence) -> None:
    given = problem(1)
    given[name] = given[name].copy()
    given[name][-1] = value
    with pytest.raises(ValueError, match=sentence):
        node_counts.split_counts(**given)


def test_a_split_below_one_that_is_not_counted_is_refused() -> None:
    given = problem(1)
    given["slot"] = np.full(9, -1, np.int32)
    given["slot"][8] = 0
    with pytest.raises(ValueError, match="must be counted too"):
        node_counts.split_counts(**given)
