"""float_flags: the kernel against its numpy twin."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from tests.twins import flags as reference
from treewright.kernels import float_flags

floats = st.sampled_from([np.float32, np.float64])


def strewn(shape: tuple[int, int], dtype: Any, seed: int, rate: float = 0.001) -> Any:
    """Random numbers with a few gaps and infinities of both signs."""
    rng = np.random.default_rng(seed)
    array = rng.normal(size=shape).astype(dtype)
    for value in (np.nan, np.inf, -np.inf):
        array[rng.random(shape) < rate] = value
    return array


def hostile(dtype: Any) -> st.SearchStrategy[Any]:
    limits = np.finfo(dtype)
    edges = [limits.max, limits.min, limits.tiny, limits.smallest_subnormal]
    values = st.sampled_from([0.0, -0.0, 1.5, np.nan, np.inf, -np.inf, *edges])
    return hnp.arrays(dtype, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=values)


@given(floats.flatmap(hostile), st.integers(1, 4))
def test_flags_equal_the_twin_on_hostile_values(array: Any, n_threads: int) -> None:
    assert_array_equal(float_flags(array, n_threads), reference.float_flags(array))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 4), (1001, 7), (7, 1001), (70_000, 3), (3, 40_000)])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_flags_equal_the_twin_whatever_the_layout(dtype: Any, shape: Any, n_threads: int) -> None:
    array = strewn(shape, dtype, seed=len(shape) + shape[0])
    layouts = [
        array,
        np.asfortranarray(array),
        array.T,
        array[::-1],
        array[::2, ::-1],
        array[:, :1],
    ]
    for layout in layouts:
        assert_array_equal(float_flags(layout, n_threads), reference.float_flags(layout))


@pytest.mark.parametrize("payload", [0x7FF0000000000001, 0xFFF8000000000000, 0x7FFFFFFFFFFFFFFF])
def test_every_kind_of_nan_is_a_gap(payload: int) -> None:
    array = np.array([[payload]], np.uint64).view(np.float64)
    assert float_flags(array, 1).tolist() == [1]


def test_an_array_without_rows_or_columns_has_no_flags() -> None:
    assert float_flags(np.empty((0, 3)), 1).tolist() == [0, 0, 0]
    assert float_flags(np.empty((3, 0)), 1).tolist() == []


def test_read_only_arrays_are_accepted() -> None:
    array = np.array([[1.0, np.nan]])
    array.flags.writeable = False
    assert float_flags(array, 1).tolist() == [0, 1]


@pytest.mark.parametrize(
    "array", [np.zeros((2, 2), int), np.zeros(3), np.zeros((2, 2), np.float16), [[1.0]], None]
)
def test_other_arrays_are_refused_and_not_converted(array: Any) -> None:
    with pytest.raises(TypeError):
        float_flags(array, 1)


def test_flags_can_be_computed_from_many_threads_at_once() -> None:
    array = strewn((50_000, 5), np.float64, seed=1)
    expected = reference.float_flags(array)
    wrong: list[Any] = []

    def work() -> None:
        if not np.array_equal(float_flags(array, 2), expected):
            wrong.append(1)

    team = [threading.Thread(target=work) for _ in range(6)]
    for member in team:
        member.start()
    for member in team:
        member.join()
    assert not wrong
