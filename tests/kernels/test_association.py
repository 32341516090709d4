"""The tests of independence and their splits against numpy, on random and hostile data."""

from __future__ import annotations

import numpy as np
import pytest

from tests.twins.association import best_split, indicators, statistics, two_sample
from treewright.kernels.association import Associator

KINDS = ("number", "ordinal", "nominal")
RESPONSES = ("two classes", "four classes", "number", "three numbers")


def make_column(rng, kind, n, gaps):
    if kind == "number":
        x = rng.choice([np.round(rng.normal(size=n), 1), rng.normal(size=n) * 1e-9 + 5.0])
        x = np.where(rng.random(n) < gaps, np.nan, x)
        return x, 0
    codes = rng.integers(0, 5, n).astype(np.int32)
    codes[rng.random(n) < gaps] = -1
    return codes, 6


def make_response(rng, kind, n):
    if kind.endswith("classes"):
        k = 2 if kind.startswith("two") else 4
        y = rng.integers(0, k, n).astype(np.int32)
        return y, k, indicators(y, k)
    y = rng.normal(size=(n, 1 if kind == "number" else 3))
    if kind == "three numbers":
        y[:, 2] = y[:, 0] - 2 * y[:, 1]  # a singular covariance
    return y, 0, y


def make_problem(seed, kind, response, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 80))
    x, n_categories = make_column(rng, kind, n, gaps=rng.choice([0.0, 0.2]))
    y, n_classes, h = make_response(rng, response, n)
    kernel = Associator([x], [n_categories], [kind != "nominal"], y, n_classes)
    rows = np.sort(rng.choice(n, int(0.8 * n), replace=False))
    weights = rng.integers(1, 4, len(rows)).astype(float) if weighted else None
    known = rows[~np.isnan(x[rows])] if kind == "number" else rows[x[rows] >= 0]
    w = np.ones(n)
    if weights is not None:
        w[rows] = weights
    return kernel, rows, weights, x, h, known, w


def scores(x, kind, known):
    if kind == "nominal":
        return indicators(x[known], 6)
    return x[known].astype(float)[:, None]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("kind", KINDS)
def test_statistics_are_those_of_the_full_matrices(kind, response, weighted):
    for seed in range(8):
        kernel, rows, weights, x, h, known, w = make_problem(seed, kind, response, weighted)
        found = kernel.test(rows, weights, [0])
        g = scores(x, kind, known)
        if kind == "number":
            g = (g - g.mean()) / g.std()  # numpy's inverse needs it, the statistic does not change
        quadratic, rank, maximum = statistics(g, h[known], w[known])
        assert found.quadratic[0] == pytest.approx(quadratic, rel=1e-7)
        assert found.rank[0] == rank
        assert found.maximum[0] == pytest.approx(maximum, rel=1e-7)


@pytest.mark.parametrize("form", ["quadratic", "maximum"])
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_split_is_the_best_of_all(kind, response, form):
    for seed in range(6):
        kernel, rows, weights, x, h, known, w = make_problem(seed, kind, response, seed % 2 == 0)
        found = kernel.split(rows, weights, 0, form, 7.0)
        best, _ = best_split(x[known], kind == "nominal", h[known], w[known], form, 7.0)
        assert found is not None
        assert found.statistic == pytest.approx(best, rel=1e-7)
        left = left_of(found, x[known])
        assert two_sample(left, h[known], w[known], form) == pytest.approx(best, rel=1e-7)
        assert min(w[known][left].sum(), w[known][~left].sum()) >= 7


def codes_of(split, branch):
    return [c for c, b in zip(split.codes, split.branches, strict=True) if b == branch]


def left_of(split, x):
    if len(split.codes):
        return np.isin(x, codes_of(split, 0))
    return x <= split.value


@pytest.mark.parametrize("n_threads", [1, 2])
def test_several_nodes_at_once_are_the_same_as_one_by_one(n_threads):
    rng = np.random.default_rng(11)
    n = 30_000  # enough for a second thread
    x = rng.normal(size=n).astype(np.float32)
    gapped = np.where(rng.random(n) < 0.1, np.nan, np.round(rng.normal(size=n), 1))
    codes = rng.integers(-1, 5, n).astype(np.int32)
    y = (x + rng.normal(size=n) > 0).astype(np.int32)
    kernel = Associator([x, gapped, codes], [0, 0, 6], [True, True, False], y, 2, n_threads)
    rows = rng.permutation(n)
    weights = rng.integers(1, 4, n).astype(float)
    begin = np.array([0, 9000, 9000, 9050, 9100, 20000])
    end = np.array([9000, 9000, 9050, 9100, 20000, n])
    features = np.array([[0, 1], [0, 1], [1, 2], [2, 0], [0, 2], [1, 2]], np.int32)
    for w in (None, weights):
        found = kernel.test_nodes(rows, w, (begin, end), features)
        least = np.full(len(begin), 7.0)
        splits = kernel.split_nodes(rows, w, (begin, end), features[:, 0], "quadratic", least)
        for i, (a, b) in enumerate(zip(begin, end, strict=True)):
            own = None if w is None else w[a:b]
            one = kernel.test(rows[a:b], own, features[i].tolist())
            assert np.array_equal(one.quadratic, found.quadratic[i], equal_nan=True)
            assert np.array_equal(one.maximum, found.maximum[i], equal_nan=True)
            assert np.array_equal(one.rank, found.rank[i])
            assert splits[i] == kernel.split(rows[a:b], own, features[i, 0], "quadratic", 7.0)


def test_no_split_is_offered_where_a_side_would_be_too_small():
    x = np.array([1.0, 1, 1, 1, 2, 2])
    y = np.array([0, 0, 0, 1, 1, 1], np.int32)
    kernel = Associator([x], [0], [True], y, 2)
    assert kernel.split(np.arange(6), None, 0, "quadratic", 3.0) is None
    assert kernel.split(np.arange(6), None, 0, "quadratic", 2.0).value == 1.0
    assert kernel.split(np.arange(4), None, 0, "quadratic", 1.0) is None  # one value


def test_many_categories_are_cut_in_the_order_of_their_means():
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(40), 10).astype(np.int32)
    high = rng.permutation(40) < 17
    y = np.where(high[codes], 5.0, 0.0) + rng.normal(size=400)
    kernel = Associator([codes], [40], [False], y[:, None])
    split = kernel.split(np.arange(400), None, 0, "quadratic", 7.0, 15)
    groups = {frozenset(codes_of(split, b)) for b in (0, 1)}
    assert groups == {frozenset(np.flatnonzero(high)), frozenset(np.flatnonzero(~high))}
    assert split.branches[0] == 0


def test_ordering_categories_finds_the_best_partition_of_a_number_without_limits():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 6, 60).astype(np.int32)
        y = rng.normal(size=(60, 1))
        kernel = Associator([codes], [6], [False], y)
        every = kernel.split(np.arange(60), None, 0, "quadratic", 0.0, 15)
        ordered = kernel.split(np.arange(60), None, 0, "quadratic", 0.0, 2)
        assert ordered.statistic == pytest.approx(every.statistic)
        assert ordered.branches == every.branches


def test_of_equal_partitions_the_first_by_the_digits_of_the_right_side_is_taken():
    codes = np.repeat([0, 1, 2], 10).astype(np.int32)
    y = np.concatenate([np.zeros(10), np.ones(10), np.full(10, 2)]).astype(np.int32)
    kernel = Associator([codes], [3], [False], y, 3)  # all three partitions score alike
    assert kernel.split(np.arange(30), None, 0, "quadratic", 1.0).branches == (0, 1, 0)


def test_nothing_is_tested_where_nothing_varies():
    constant = np.full(20, 3.0)
    gone = np.full(20, np.nan)
    one = np.zeros(20, np.int32)
    known_in_one_class = np.where(np.arange(20) < 10, np.arange(20.0), np.nan)
    y = (np.arange(20) >= 10).astype(np.int32)
    columns = [constant, gone, one, known_in_one_class]
    kernel = Associator(columns, [0, 0, 2, 0], [True, True, False, True], y, 2)
    found = kernel.test(np.arange(20), None, range(4))
    assert np.isnan(found.quadratic).all()
    assert np.isnan(found.maximum).all()
    assert all(kernel.split(np.arange(20), None, f, "quadratic", 1.0) is None for f in range(4))
    assert (
        kernel.resample(np.arange(20), None, range(4), "quadratic", 9, (0, 0)).tolist() == [0] * 4
    )


def test_scale_and_shift_of_numbers_change_nothing():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=50), rng.normal(size=(50, 1))
    plain = Associator([x], [0], [True], y).test(np.arange(50), None, [0])
    for scale, shift in ((1e200, 0), (1e-200, 0), (1.0, 1e6), (-3.0, 2.0)):
        other = Associator([x * scale + shift], [0], [True], y).test(np.arange(50), None, [0])
        assert other.quadratic[0] == pytest.approx(plain.quadratic[0], rel=1e-6)


def test_threads_change_no_bit():
    rng = np.random.default_rng(1)
    columns = [rng.normal(size=30000) for _ in range(8)]
    y = rng.integers(0, 3, 30000).astype(np.int32)
    rows = np.arange(30000)
    one, two = (Associator(columns, [0] * 8, [True] * 8, y, 3, n) for n in (1, 2))
    a, b = (kernel.test(rows, None, range(8)) for kernel in (one, two))
    assert a.quadratic.tobytes() == b.quadratic.tobytes()
    assert a.maximum.tobytes() == b.maximum.tobytes()
    counts = [k.resample(rows[:500], None, range(8), "quadratic", 99, (3, 4)) for k in (one, two)]
    assert counts[0].tolist() == counts[1].tolist()


@pytest.mark.parametrize("form", ["quadratic", "maximum"])
@pytest.mark.parametrize("kind", KINDS)
def test_resampling_agrees_with_permutations_in_numpy(kind, form):
    kernel, rows, weights, x, h, known, w = make_problem(4, kind, "four classes", True)
    n = 4000
    count = kernel.resample(rows, weights, [0], form, n, (7, 8))[0]
    place = 0 if form == "quadratic" else 2
    g = np.repeat(scores(x, kind, known), w[known].astype(int), axis=0)
    response = np.repeat(h[known], w[known].astype(int), axis=0)
    if kind == "number":
        g = (g - g.mean()) / g.std()
    ones = np.ones(len(g))
    observed = statistics(g, response, ones)[place]
    rng = np.random.default_rng(0)
    expected = np.mean(
        [
            statistics(g, rng.permutation(response), ones)[place] >= observed * (1 - 1e-9)
            for _ in range(1000)
        ]
    )
    error = np.sqrt(expected * (1 - expected) * (1 / n + 1 / 1000))
    assert abs(count / n - expected) < 4 * error


def test_resampling_does_not_see_the_order_of_rows_nor_weights_for_repeats():
    rng = np.random.default_rng(5)
    x = np.where(rng.random(60) < 0.1, np.nan, np.round(rng.normal(size=60), 1))
    codes = rng.integers(0, 3, 60).astype(np.int32)
    y = rng.integers(0, 2, 60).astype(np.int32)
    weights = rng.integers(1, 3, 60).astype(float)
    where = np.repeat(np.arange(60), weights.astype(int))
    order = rng.permutation(60)

    def counts(rows, weights=None):
        data = [x[rows], codes[rows]]
        kernel = Associator(data, [0, 3], [True, False], y[rows], 2)
        return kernel.resample(np.arange(len(rows)), weights, [0, 1], "quadratic", 200, (1, 2))

    assert counts(np.arange(60)).tolist() == counts(order).tolist()
    assert counts(np.arange(60), weights).tolist() == counts(where).tolist()
    assert counts(np.arange(60)).tolist() != counts(where).tolist()


def test_another_seed_or_node_draws_other_permutations():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=40), rng.normal(size=(40, 1))
    kernel = Associator([x], [0], [True], y)
    draws = {
        int(kernel.resample(np.arange(40), None, [0], "quadratic", 999, seed)[0])
        for seed in ((0, 0), (0, 1), (1, 0), (2, 5))
    }
    assert len(draws) > 1


def test_wrong_arguments_are_refused():
    x, y = np.arange(4.0), np.array([0, 1, 0, 1], np.int32)
    with pytest.raises(ValueError, match="as long as"):
        Associator([x[:3]], [0], [True], y, 2)
    with pytest.raises(ValueError, match="class code"):
        Associator([x], [0], [True], y, 1)
    with pytest.raises(ValueError, match="category code"):
        Associator([np.array([0, 1, 2, 0], np.int32)], [2], [False], y, 2)
    with pytest.raises(TypeError, match="float32"):
        Associator([np.arange(4)], [0], [True], y, 2)
    kernel = Associator([x], [0], [True], y, 2)
    with pytest.raises(ValueError, match="a row"):
        kernel.test(np.array([4]), None, [0])
    with pytest.raises(ValueError, match="one entry per row"):
        kernel.test(np.arange(4), np.ones(3), [0])
    with pytest.raises(ValueError, match="node is out of range"):
        kernel.test_nodes(
            np.arange(4), None, (np.array([2]), np.array([5])), np.zeros((1, 1), np.int32)
        )
    with pytest.raises(ValueError, match="every node needs"):
        kernel.split_nodes(
            np.arange(4),
            None,
            (np.array([0]), np.array([4])),
            np.zeros(2, np.int32),
            "maximum",
            np.ones(2),
        )
    with pytest.raises(ValueError, match="a feature"):
        kernel.test(np.arange(4), None, [1])
    with pytest.raises(ValueError, match="whole numbers"):
        kernel.resample(np.arange(4), np.full(4, 0.5), [0], "quadratic", 9, (0, 0))
    with pytest.raises(ValueError, match="0 or 1"):
        kernel.against(np.array([0, 1, 2, 0], np.int32))


def test_an_interrupt_ends_a_long_resampling_at_once(press_ctrl_c):
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=20000) for _ in range(10)]
    kernel = Associator(columns, [0] * 10, [True] * 10, rng.normal(size=(20000, 1)))
    rows = np.arange(20000)
    delay = press_ctrl_c(
        0.3, lambda: kernel.resample(rows, None, range(10), "quadratic", 10**6, (0, 0))
    )
    assert delay < 5
