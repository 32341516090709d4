"""Targets: classes and numbers from any column."""

from __future__ import annotations

import datetime
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning

from treewright.data import class_codes, numeric_target
from treewright.data.target import target_name
from treewright.errors import DataError

LABELS = ["b", "a", "b", "c"]


@pytest.mark.parametrize(
    "y",
    [
        LABELS,
        tuple(LABELS),
        np.array(LABELS),
        np.array(LABELS, dtype=object),
        np.array(LABELS, dtype=np.dtypes.StringDType()),
        pd.Series(LABELS, index=[5, 5, 1, 0]),
        pd.Series(LABELS, dtype="string"),
        pd.Series(LABELS, dtype=pd.CategoricalDtype(["c", "b", "a", "unused"], ordered=True)),
        pd.Categorical(LABELS),
        pd.Index(LABELS),
        pl.Series(LABELS),
        pl.Series(LABELS, dtype=pl.Categorical),
        pl.Series(LABELS, dtype=pl.Enum(["z", "c", "b", "a"])),
        pa.array(LABELS),
        pa.array(LABELS).dictionary_encode(),
        pa.chunked_array([LABELS[:1], LABELS[1:]]),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', getattr(y, 'type', ''))}"[:40],
)
def test_classes_are_sorted_and_only_those_that_occur(y: Any) -> None:
    codes, classes = class_codes(y)
    assert codes.dtype == np.int32
    assert codes.tolist() == [1, 0, 1, 2]
    assert classes.tolist() == ["a", "b", "c"]
    assert_array_equal(classes[codes], LABELS)


@given(
    st.sampled_from(
        [np.int8, np.uint8, np.int16, np.int64, np.uint64, np.bool_, np.float64]
    ).flatmap(
        lambda dtype: hnp.arrays(
            dtype,
            st.integers(1, 20),
            elements=st.integers(-5, 5).map(float) if dtype is np.float64 else None,
        )
    )
)
def test_classes_of_numbers_are_those_of_numpy(y: Any) -> None:
    expected, inverse = np.unique(y, return_inverse=True)
    codes, classes = class_codes(y)
    assert classes.dtype == expected.dtype
    assert_array_equal(classes, expected)
    assert_array_equal(codes, inverse)


@pytest.mark.parametrize(
    "y", [[3, 1], pd.array([3, 1], dtype="Int64"), pl.Series([3, 1]), pa.array([3, 1])]
)
def test_integers_of_frames_stay_integers(y: Any) -> None:
    codes, classes = class_codes(y)
    assert classes.dtype == np.int64
    assert (codes.tolist(), classes.tolist()) == ([1, 0], [1, 3])


def test_text_of_numpy_keeps_its_type() -> None:
    assert class_codes(np.array(["no", "yes"]))[1].dtype == np.dtype("<U3")


def test_known_classes_give_their_own_codes() -> None:
    classes = np.array(["c", "a", "b"])
    codes, same = class_codes(LABELS, classes)
    assert codes.tolist() == [2, 1, 2, 0]
    assert same.tolist() == ["c", "a", "b"]
    assert class_codes([2.0, 1.0], np.array([1, 2]))[0].tolist() == [1, 0]
    with pytest.raises(DataError, match="but has 'c'"):
        class_codes(LABELS, np.array(["a", "b"]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ("text", "y should be a 1d array, got str"),
        (3, "y should be a 1d array, got int"),
        (["a", None, None], "2 of 3 values are missing"),
        (np.array([1.0, np.nan]), "1 of 2 values are missing"),
        (pd.array([1, None], dtype="Int64"), "1 of 2 values are missing"),
        (pd.Series(["a", None], dtype="category"), "1 of 2 values are missing"),
        ([None, None], "2 of 2 values are missing"),
        (pl.Series([True, None]), "1 of 2 values are missing"),
        (np.array([1.0, np.inf]), "infinity"),
        (np.array([0.5, 1.0]), "Unknown label type: continuous"),
        ([datetime.date(2024, 1, 1)], "Unknown label type.*dates"),
        (np.array([1j]), "Complex data not supported"),
        (["a", 1], "mixes int and str"),
        (pd.Categorical(["a", 1]), "Unknown label type.*mixes text and numbers"),
        (np.zeros((2, 2), int), "got 2 columns"),
        (pd.DataFrame({"a": [1], "b": [2]}), "got 2 columns"),
        (np.zeros((2, 2, 2)), "one or two dimensions, got 3"),
        ([[1, 2], [3, 4]], "got 2 columns"),
    ],
)
def test_a_target_that_holds_no_classes_is_refused(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        class_codes(y)


NUMBERS = [1.5, -2.0, 3.0]


@pytest.mark.parametrize(
    "y",
    [
        NUMBERS,
        np.array(NUMBERS),
        np.array(NUMBERS, np.float32),
        np.array(NUMBERS, dtype=object),
        np.array(NUMBERS * 2)[::-2][::-1][[1, 2, 0]][[0, 1, 2]],
        pd.Series(NUMBERS, index=[3, 3, 1]),
        pd.Series(NUMBERS, dtype="Float64"),
        pl.Series(NUMBERS),
        pa.array(NUMBERS),
        pa.chunked_array([NUMBERS[:1], NUMBERS[1:]]),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', getattr(y, 'type', ''))}",
)
def test_numbers_become_contiguous_float64(y: Any) -> None:
    values = numeric_target(y)
    assert values.dtype == np.float64
    assert values.flags.c_contiguous
    assert sorted(values) == sorted(NUMBERS)


def test_integers_and_booleans_are_numbers() -> None:
    assert numeric_target([3, 1]).tolist() == [3.0, 1.0]
    assert numeric_target(np.array([True, False])).tolist() == [1.0, 0.0]
    assert numeric_target(pd.array([3, 1], dtype="Int64")).tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    "y",
    [
        np.array([[1, 2], [3, 4]]),
        np.array([[1.0, 2.0], [3.0, 4.0]], order="F"),
        [[1, 2], [3, 4]],
        pd.DataFrame({"a": [1, 3], "b": [2.0, 4.0]}),
        pl.DataFrame({"a": [1, 3], "b": [2.0, 4.0]}),
        pa.table({"a": [1, 3], "b": [2.0, 4.0]}),
    ],
    ids=lambda y: type(y).__name__,
)
def test_several_outputs_stay_columns(y: Any) -> None:
    values = numeric_target(y)
    assert values.flags.c_contiguous
    assert values.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("y", [np.array([[1], [2]]), [[1], [2]], pd.DataFrame({"y": [1, 2]})])
def test_a_column_vector_is_flattened_with_scikit_learns_warning(y: Any) -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array"):
        assert numeric_target(y).tolist() == [1.0, 2.0]
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array"):
        assert class_codes(y)[0].tolist() == [0, 1]


def test_a_flat_target_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert numeric_target([1.0, 2.0]).tolist() == [1.0, 2.0]
        assert class_codes([1, 2])[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (5, "y should be a 1d array, got int"),
        ("text", "y should be a 1d array, got str"),
        (["a", "b"], "could not convert text"),
        (pd.Categorical([1, 2]), "could not convert text or categories"),
        ([datetime.date(2024, 1, 1)], "could not convert dates"),
        ([1.0, None], "1 of 2 values are missing"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "2 of 4 values are missing"),
        ([np.inf, 1.0], "infinity"),
        (np.array([1j]), "Complex data not supported"),
        (np.zeros((2, 2, 2)), "one or two dimensions, got 3"),
    ],
)
def test_a_target_that_holds_no_numbers_is_refused(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        numeric_target(y)


@pytest.mark.parametrize(
    ("y", "name"),
    [
        (pd.Series([0, 1], name="bought"), "bought"),
        (pl.Series("bought", [0, 1]), "bought"),
        (pd.DataFrame({"bought": [0, 1]}), "bought"),
        (pa.table({"bought": [0, 1]}), "bought"),
        (pd.DataFrame({"name": [0, 1]}), "name"),
        (pd.Series([0, 1]), "y"),
        (pa.chunked_array([[0, 1]]), "y"),
        (np.array([[0], [1]]), "y"),
        ([0, 1], "y"),
    ],
)
def test_a_target_brings_its_name_where_it_has_one(y: Any, name: str) -> None:
    assert target_name(y) == name


@pytest.mark.parametrize("y", [[1.0, 1e155], [[0.0, 1.0], [1e155, 2.0]], [-1.1e150, 0.0]])
def test_numbers_whose_squares_would_overflow_are_refused(y: Any) -> None:
    with pytest.raises(DataError, match=r"y must lie within ±1e\+150, got .* scale it"):
        numeric_target(y)


def test_numbers_up_to_the_largest_are_taken() -> None:
    assert_array_equal(numeric_target([1e150, -1e150]), [1e150, -1e150])


def test_a_series_without_a_name_is_y():
    assert target_name(pl.Series([1, 2])) == "y"
    assert target_name(pl.Series("price", [1, 2])) == "price"
