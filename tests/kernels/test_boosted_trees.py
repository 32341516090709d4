"""Boosted trees of the core against their twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.kernels.boosting_problems import PARAMS, columns_of
from tests.twins import boosting as twin
from tests.twins import boosting_rows as row_twin
from tests.twins.forest import tree_seed
from treewright.ensembles.boosting.losses import LOSSES
from treewright.kernels.boosting import (
    MOST_COUNTED,
    MOST_ROWS,
    MOST_TALL_ROWS,
    bin_maps,
    make_bins,
    make_booster,
    split_weight,
)

START = 0.1


class Case:
    """Columns, a target and what one round of the core and of the twin make of them."""

    def __init__(self, seed: int, loss: str, n: int = 160, max_bins: int = 20) -> None:
        rng = np.random.default_rng(seed)
        self.columns, self.counts = columns_of(rng, n)
        signal = np.nan_to_num(self.columns[0]) + (self.columns[3] % 3 == 1) + (self.columns[2] > 2)
        y = signal + rng.normal(size=n)
        self.y = (y > 0.7).astype(np.float64) if loss == "logistic" else y
        self.rng, self.n, self.loss = rng, n, loss
        self.maps = bin_maps(self.columns, self.counts, max_bins)
        self.bins = make_bins(self.columns, self.maps)

    def core(self, params: dict[str, Any], weight: Any = None, number: int = 0) -> tuple[Any, Any]:
        """Trees of one round, and the scores after it."""
        score = np.full((1, self.n), START)
        every = {**params, "loss": self.loss}
        booster = make_booster(self.bins, every, self.y[None], score, *split_weight(weight), 1)
        booster.round(number, 1.0)
        return booster.take_trees(), booster.scores(-1)[0]

    def twin(self, params: dict[str, Any], slope: Any = None, **options: Any) -> twin.Node:
        g, h = LOSSES[self.loss].slope(np.full(self.n, START), self.y, 0.0)
        g, h = (g, h) if slope is None else slope(g, h)
        return twin.grow_tree(
            self.bins.by_column(),
            [m.n_bins for m in self.maps],
            [m.codes is not None for m in self.maps],
            g,
            h,
            params,
            **options,
        )


def flatten(node: twin.Node) -> list[twin.Node]:
    """Nodes in family order."""
    order, stack = [node], [node]
    while stack:
        at = stack.pop()
        order += at.children
        stack += at.children[::-1]
    return order


def assert_same(trees: Any, root: twin.Node, rtol: float = 1e-9) -> None:
    """The core's tree is the twin's: tests, sides of gaps, rows and values."""
    want = flatten(root)
    assert [2 if node.children else 0 for node in want] == trees["n_children"].tolist()
    inner = [node for node in want if node.children]
    leaves = [node for node in want if not node.children]
    assert [node.feature for node in inner] == trees["feature"].tolist()
    assert [node.gap_left for node in inner] == (trees["gap_branch"] == 0).tolist()
    assert [len(node.rows) for node in leaves] == trees["leaf_samples"].tolist()
    values = [node.value for node in leaves]
    assert_allclose(trees["leaf_value"][:, 0], values, rtol=rtol, atol=1e-12)


def sums(root: twin.Node, n: int) -> Any:
    total = np.zeros(n)
    for leaf in twin.leaves_of(root):
        total[leaf.rows] += leaf.value
    return total


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", ["squared_error", "logistic"])
@pytest.mark.parametrize("weights", [None, "whole", "real"])
def test_trees_are_those_of_the_twin(seed: int, loss: str, weights: str | None) -> None:
    case = Case(seed, loss)
    weight = None
    if weights is not None:
        weight = case.rng.integers(1, 4, case.n).astype(np.float64)
        weight = weight if weights == "whole" else weight / 3
    params = {
        **PARAMS,
        "growth": "leaf" if seed % 2 else "depth",
        "l1": 0.2 * (seed == 2),
        "l2": float(seed == 3),
        "max_depth": 3 * (seed == 4),
        "min_gain": 0.5 * (seed == 5),
    }
    trees, score = case.core(params, weight)
    factor = weight if weights == "real" else 1.0
    count = None if weights != "whole" or weight is None else weight.astype(np.int64)
    root = case.twin(params, lambda g, h: (g * factor, h * factor), count=count)
    assert_same(trees, root)
    assert_allclose(trees["gain"][0], root.gain, rtol=1e-9)
    assert_allclose(score, START + sums(root, case.n), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("max_bins", [65, 130, 255])
@pytest.mark.parametrize("loss", ["squared_error", "logistic"])
def test_bins_without_rows_change_nothing(max_bins: int, loss: str) -> None:
    """Small nodes have rows in a few of many bins; cuts are listed by 64 bins."""
    case = Case(max_bins, loss, n=500, max_bins=max_bins)
    params = {**PARAMS, "max_leaves": 60, "min_rows": 1}
    trees, score = case.core(params)
    root = case.twin(params)
    assert_same(trees, root)
    assert_allclose(score, START + sums(root, case.n), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", ["squared_error", "logistic"])
def test_symmetric_trees_are_those_of_the_twin(seed: int, loss: str) -> None:
    case = Case(seed, loss, n=200)
    params = {
        **PARAMS,
        "growth": "symmetric",
        "max_leaves": [8, 16, 9, 0][seed],
        "max_depth": [0, 0, 3, 3][seed],
        "min_rows": [3, 12, 3, 3][seed],
        "monotonic": [[], [], [1, 0, 0, 0, -1], []][seed],
    }
    trees, score = case.core(params)
    root = case.twin(params)
    assert len(twin.leaves_of(root)) > 3
    assert_same(trees, root)
    assert_allclose(score, START + sums(root, case.n), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("growth", ["leaf", "depth", "symmetric"])
@pytest.mark.parametrize("seed", range(3))
def test_constrained_trees_are_those_of_the_twin(growth: str, seed: int) -> None:
    case = Case(seed, "logistic")
    params = {
        **PARAMS,
        "growth": growth,
        "max_leaves": 8,
        "monotonic": [[1, 0, -1, 0, 0], [], [-1, 1, 0, 0, 1]][seed],
        "interactions": [[], [[0, 3], [1, 2, 3]], [[0, 1], [3]]][seed],
        "max_step": [0.0, 0.0, 0.4][seed],
    }
    trees, _ = case.core(params)
    root = case.twin(params)
    assert len(twin.leaves_of(root)) > 3
    assert_same(trees, root)


@pytest.mark.parametrize("growth", ["leaf", "depth", "symmetric"])
@pytest.mark.parametrize("loss", ["squared_error", "logistic"])
@pytest.mark.parametrize(
    "bound", [{}, {"l1": 0.1}, {"monotonic": [1, -1, 1, 0, 0]}, {"interactions": [[0, 1], [2]]}]
)
def test_known_values_against_gaps_are_a_test(
    growth: str, loss: str, bound: dict[str, Any]
) -> None:
    case = Case(0, loss)
    n = case.n
    gap = case.rng.random((4, n)) < 0.4
    one, two = np.where(gap[0], np.nan, 5.0), np.where(gap[1], np.nan, case.rng.integers(0, 2, n))
    level = np.where(gap[2], -1, 0).astype(np.int32)
    case.columns, case.counts = [one, two, level, np.full(n, np.nan), level], [-1, -1, -1, -1, 1]
    case.maps = bin_maps(case.columns, case.counts, 20)
    case.bins = make_bins(case.columns, case.maps)
    signal = 2.0 * gap[0] + 1.1 * gap[1] - gap[2] + case.rng.normal(0, 0.3, n)
    case.y = (signal > 1) * 1.0 if loss == "logistic" else signal
    params = {**PARAMS, "growth": growth, "max_leaves": 8, **bound}
    trees, score = case.core(params)
    root = case.twin(params)
    assert_same(trees, root)
    assert_allclose(score, START + sums(root, n), rtol=1e-9, atol=1e-12)
    ordered = trees["feature"][trees["n_breaks"] == 1]
    assert {0, 1} <= set(ordered[np.isinf(trees["breaks"])])


@pytest.mark.parametrize("sampling", ["uniform", "mvs", "goss"])
@pytest.mark.parametrize("loss", ["squared_error", "logistic"])
def test_trees_of_drawn_rows_are_those_of_the_twin(sampling: str, loss: str) -> None:
    case = Case(3, loss, n=300)
    params = {
        **PARAMS,
        "sampling": sampling,
        "share": 0.6,
        "top_share": 0.3 if sampling == "goss" else 0.0,
        "seed": 5,
    }
    trees, score = case.core(params, number=4)
    g, h = LOSSES[loss].slope(np.full(case.n, START), case.y, 0.0)
    rows, factor = row_twin.draw_rows(params, 4, g, h)
    assert 100 < len(rows) < 250
    every = np.ones(case.n)
    every[rows] = factor
    root = case.twin(params, lambda g, h: (g * every, h * every), rows=rows)
    assert_same(trees, root)
    assert_allclose(score[rows], START + sums(root, case.n)[rows], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["absolute_error", "quantile", "huber"])
@pytest.mark.parametrize("weights", [False, True])
def test_renewed_leaves_are_those_of_the_twin(loss: str, weights: bool) -> None:
    case = Case(1, loss)
    number = {"quantile": 0.3, "huber": 0.8}.get(loss, 0.0)
    weight = case.rng.integers(1, 4, case.n) / 2 if weights else None
    trees, score = case.core({**PARAMS, "loss_number": number}, weight)
    each = np.ones(case.n) if weight is None else weight
    residual = case.y - START
    delta = row_twin.huber_delta(residual, each, 0.8) if loss == "huber" else 0.0
    values = np.round(score - START, 12)
    assert len(np.unique(values)) == len(trees["leaf_value"]) > 3
    for value in np.unique(values):
        rows = values == value
        want = row_twin.renewed_value(loss, residual[rows], each[rows], number, delta)
        assert value == pytest.approx(want, rel=1e-9, abs=1e-11)


def test_coarse_units_are_those_of_the_twin() -> None:
    case = Case(0, "logistic", n=9000)
    params = {**PARAMS, "max_leaves": 4, "seed": 11}
    trees, score = case.core(params, number=3)
    key = tree_seed(11, 3)
    g, h = LOSSES["logistic"].slope(np.full(case.n, START), case.y, 0.0)
    units = row_twin.whole_units(g, h, case.n, key)
    assert units.is_coarse
    root = case.twin(params, key=key)
    assert_same(trees, root, rtol=1e-13)
    # right on average, and close to what all bits give
    exact = case.twin(params)
    assert_array_equal([x.feature for x in flatten(root)], [x.feature for x in flatten(exact)])
    assert_allclose(sums(root, case.n), sums(exact, case.n), rtol=2e-3)
    assert abs(float(units.gradient.sum()) * units.unit[0] - g.sum()) < 0.02
    assert_allclose(score, START + sums(root, case.n), rtol=1e-12)


@pytest.mark.parametrize("loss", ["squared_error", "logistic"])
@pytest.mark.parametrize("each", [2**17, 2**18])
def test_few_bits_beside_many_rows_are_rounded_by_chance_as_the_twin_does(
    loss: str, each: int
) -> None:
    case = Case(1, loss)
    count = each + np.arange(case.n, dtype=np.int32) % 3
    params = {**PARAMS, "max_leaves": 5, "min_rows": 4 * each, "loss": loss, "seed": 7}
    score = np.full((1, case.n), START)
    booster = make_booster(case.bins, params, case.y[None], score, count)
    booster.round(2, 1.0)
    options = {"count": count.astype(np.int64), "key": tree_seed(7, 2)}
    root = case.twin(params, is_narrow=loss == "squared_error", **options)
    assert_same(booster.take_trees(), root, rtol=1e-13)
    nearest = case.twin(params, count=options["count"], is_narrow=loss == "squared_error")
    assert_allclose(sums(root, case.n), sums(nearest, case.n), rtol=0.02, atol=0.002)
    assert not np.array_equal(sums(root, case.n), sums(nearest, case.n))


def test_sums_of_the_most_rows_fit_into_their_bits() -> None:
    for n in (8192, 10**6, MOST_ROWS // 2, MOST_ROWS // 2 + 1, MOST_ROWS):
        bits = n.bit_length()
        fine = min(62 - 2 * bits, row_twin.MOST_BITS)
        for hessian in (fine, row_twin.COARSE_BITS[1]):
            assert n * ((1 << hessian + bits) + 1) < 2**63
        assert n * ((1 << fine + bits) + 1) < 2**63  # narrow: a gradient and the number
        assert n << max(min(62 - bits, row_twin.MOST_BITS), row_twin.COARSE_BITS[0]) < 2**63
    more = MOST_ROWS + 1
    assert more * ((1 << row_twin.COARSE_BITS[1] + more.bit_length()) + 1) > 2**63
    tall = MOST_TALL_ROWS.bit_length()  # a word each for gradients, hessians and rows
    assert MOST_TALL_ROWS << max(62 - tall, *row_twin.COARSE_BITS) < 2**63
    assert split_weight(np.array([MOST_COUNTED - 1.0]))[0] is not None
    assert split_weight(np.array([float(MOST_COUNTED)]))[0] is None


def test_slopes_of_very_different_sizes_have_fine_units() -> None:
    g = np.full(9000, 1e-4)
    g[0] = 1.0
    assert not row_twin.whole_units(g, np.ones(9000), 9000, 1).is_coarse
    assert row_twin.whole_units(np.full(9000, 0.3), np.ones(9000), 9000, 1).is_coarse
