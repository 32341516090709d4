"""Linear tests of the core against their numpy twin."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from treewright.kernels.oblique import linear_split
from treewright.kernels.reference.oblique import best_cut, gain_of


def problem(seed: int, n: int = 60, is_classes: bool = True):
    """Columns with ties, targets of three classes or two outputs, uneven weights."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(3, n)).round(1 if seed % 2 else 6)
    label = np.digitize(columns[0] - columns[1] + rng.normal(0, 0.5, n), [-0.5, 0.7])
    targets = np.eye(3)[label] if is_classes else rng.normal(size=(n, 2)) + label[:, None]
    return columns, targets, rng.integers(1, 4, n).astype(float), rng.normal(size=(5, 3))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("is_classes", [True, False])
@pytest.mark.parametrize("min_leaf", [1, 9])
def test_the_best_cut_of_each_direction_is_that_of_the_twin(seed, is_classes, min_leaf):
    columns, targets, weight, starts = problem(seed, is_classes=is_classes)
    for start in starts:
        found, threshold, gain = linear_split(
            columns, targets, weight, start[None], min_leaf=min_leaf
        )
        expected = best_cut(columns, start, targets, weight, min_leaf)
        assert expected is not None
        assert_array_equal(found, start)
        assert (threshold, gain) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_of_several_directions_the_best_is_taken(seed):
    columns, targets, weight, starts = problem(seed)
    found, _, gain = linear_split(columns, targets, weight, starts)
    gains = [best_cut(columns, start, targets, weight)[1] for start in starts]
    assert gain == pytest.approx(max(gains), rel=1e-9)
    assert_array_equal(found, starts[np.argmax(gains)])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("is_classes", [True, False])
def test_steps_never_lose_and_the_gain_is_that_of_the_division(seed, is_classes):
    columns, targets, weight, starts = problem(seed, is_classes=is_classes)
    before = linear_split(columns, targets, weight, starts)[2]
    steps = linear_split(columns, targets, weight, starts, refine=True)
    jumps = linear_split(columns, targets, weight, starts, refine=True, n_jumps=10, seed=seed)
    assert before * (1 - 1e-9) <= steps[2] <= jumps[2] * (1 + 1e-9)
    for found, threshold, gain in (steps, jumps):
        left = found @ columns < threshold
        assert gain == pytest.approx(gain_of(left, targets, weight), rel=1e-9)


def test_a_coefficient_step_ends_where_no_single_coefficient_helps():
    columns, targets, weight, starts = problem(3)
    found, threshold, gain = linear_split(columns, targets, weight, starts[:1], refine=True)
    value = found @ columns - threshold
    for column in columns:
        turns = np.unique(-value[column != 0] / column[column != 0])
        for step in turns[:-1] + np.diff(turns) / 2:
            left = value + step * column < 0
            if 0 < left.sum() < len(left):
                assert gain_of(left, targets, weight) <= gain * (1 + 1e-8)


def test_needless_coefficients_are_deleted_within_the_tolerance():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(4, 200))
    targets = np.eye(2)[(columns[0] + columns[1] > 0).astype(int)]
    start = np.array([[1.0, 1.0, 1e-7, -1e-7]])
    weight = np.ones(200)
    kept = linear_split(columns, targets, weight, start, tolerance=0.0)[0]
    assert_array_equal(kept, [1.0, 1.0, 0.0, 0.0])
    assert_array_equal(linear_split(columns, targets, weight, start)[0], start[0])
    rough = np.array([[1.0, 1.0, 0.05, 0.0]])
    strict = linear_split(columns, targets, weight, rough, tolerance=0.0)
    loose = linear_split(columns, targets, weight, rough, tolerance=0.5)
    assert np.count_nonzero(loose[0]) <= np.count_nonzero(strict[0])
    assert loose[2] >= 0.5 * strict[2]


def test_sums_that_differ_by_rounding_alone_are_not_cut_apart():
    x = np.linspace(1, 2, 20)
    columns = np.array([x, 0.1 * x])  # x − 10 · 0.1 x is nothing but rounding
    targets = np.eye(2)[np.arange(20) % 2]
    found, _, _ = linear_split(columns, targets, np.ones(20), np.array([[1.0, -10.0]]))
    assert len(found) == 0


def test_rows_that_do_not_belong_together_are_refused():
    columns, targets, weight, starts = problem(0)
    with pytest.raises(ValueError, match="belong together"):
        linear_split(columns, targets[1:], weight, starts)
    columns[0, 0] = np.nan
    with pytest.raises(ValueError, match="finite"):
        linear_split(columns, targets, weight, starts)
