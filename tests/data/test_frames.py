"""Everything that can come as X, and the sentence for what cannot."""

from __future__ import annotations

import array
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from treewright.data import class_codes, feature_names, is_frame
from treewright.data.encode import encode
from treewright.errors import DataError


class OnlyArrow:
    """A table of some other library that speaks Arrow's C stream."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


class OnlyArray:
    """Something that numpy can turn into an array."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype)


# -- what is taken ------------------------------------------------------------------------------


def test_lists_of_rows_are_read_column_by_column() -> None:
    table = encode([[1, "a", True], (2.5, None, False)])
    assert not table.schema.named
    assert [f.kind for f in table.schema.features] == ["continuous", "nominal", "nominal"]
    assert table.columns[0].tolist() == [1.0, 2.5]
    assert table.columns[1].tolist() == [0, -1]
    assert encode([[1, 2], [3, 4.5]]).block is not None
    assert_array_equal(encode([[1, None], [3, 4.5]]).columns[1], [np.nan, 4.5])
    assert encode([np.array([1, 2], np.float32)]).columns[0].dtype == np.float32


def test_arrays_of_objects_and_text_are_read_column_by_column() -> None:
    table = encode(np.array([[1, "a"], [None, "b"]], dtype=object))
    assert [f.kind for f in table.schema.features] == ["continuous", "nominal"]
    assert encode(np.array([["b", "c"], ["a", "c"]])).columns[0].tolist() == [1, 0]
    strings = np.array([["b"], ["a"]], dtype=np.dtypes.StringDType())
    assert encode(strings).schema.features[0].categories == ("a", "b")


def test_a_structured_array_is_a_dict_of_its_fields() -> None:
    X = np.array([(1.5, "a"), (2.5, "b")], dtype=[("size", "f8"), ("name", "U3")])
    table = encode(X)
    assert table.schema.named
    assert table.schema.names == ("size", "name")
    assert table.columns[1].tolist() == [0, 1]


@pytest.mark.parametrize(
    "X",
    [
        pa.table({"a": [1.5, None]}),
        pa.record_batch({"a": pa.array([1.5, None])}),
        OnlyArrow(pa.table({"a": [1.5, None]})),
        pa.table({"a": pa.chunked_array([[1.5], [None], []], pa.float64())}),
        pl.DataFrame({"a": [1.5, None]}),
        pl.DataFrame({"a": [1.5, float("nan")]}),
        pd.DataFrame({"a": pd.array([1.5, None], dtype="Float64")}),
        pd.DataFrame({"a": pd.array([1.5, None], dtype="double[pyarrow]")}, index=[7, 7]),
        {"a": pl.Series([1.5, None])},
        {"a": pa.array([1.5, None])},
        {"a": pd.Series([1.5, None], index=[3, 1])},
        {"a": iter([1.5, None])},
        {"a": (1.5, None)},
        {"a": array.array("d", [1.5, float("nan")])},
        {"a": OnlyArray([1.5, np.nan])},
    ],
    ids=lambda X: type(X).__name__,
)
def test_tables_of_many_makes_are_read(X: Any) -> None:
    table = encode(X)
    assert table.schema.names == ("a",)
    assert table.schema.named
    assert_array_equal(table.columns[0], [1.5, np.nan])
    assert table.has_gaps.tolist() == [True]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_whatever_numpy_can_turn_into_an_array_is_one() -> None:
    assert encode(OnlyArray([[1.0, 2.0]])).columns[1].tolist() == [2.0]
    assert encode(np.asmatrix([[1.0, 2.0]])).columns[1].tolist() == [2.0]


def test_a_memory_map_is_not_copied(tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(3, 2))
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(encode(X).columns[0], X)


@pytest.mark.parametrize(
    "values",
    [
        ["a", None, np.nan, "b"],
        ["a", pd.NA, pd.NaT, "b"],
        pd.Series(["a", None, np.nan, "b"], dtype="string"),
        pd.Series(["a", None, pd.NA, "b"], dtype="string[pyarrow]"),
        pd.Series(["a", None, None, "b"], dtype="category"),
        pd.Series(["a", None, np.nan, "b"], dtype=object),
        pl.Series(["a", None, None, "b"], dtype=pl.Categorical),
        pa.array(["a", None, None, "b"], pa.large_string()),
        pa.array(["a", None, None, "b"], pa.string_view()),
        pa.array([b"a", None, None, b"b"], pa.binary()),
        pa.array(["a", None, None, "b"]).dictionary_encode(),
    ],
    ids=lambda v: f"{type(v).__name__}-{getattr(v, 'dtype', getattr(v, 'type', ''))}",
)
def test_every_kind_of_null_is_a_gap(values: Any) -> None:
    table = encode({"a": values})
    assert table.schema.features[0].categories == ("a", "b")
    assert table.columns[0].tolist() == [0, -1, -1, 1]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.array([True, None, False], dtype="boolean"), [1, -1, 0]),
        (pl.Series([True, None, False]), [1, -1, 0]),
        (pa.array([True, None, False]), [1, -1, 0]),
        (np.array([True, None, False], dtype=object), [1, -1, 0]),
        (np.array([True, np.nan, np.False_], dtype=object), [1, -1, 0]),
    ],
    ids=lambda v: type(v).__name__,
)
def test_booleans_may_have_gaps(values: Any, expected: list[int]) -> None:
    table = encode({"a": values})
    assert table.schema.features[0].categories == (False, True)
    assert table.columns[0].tolist() == expected


@pytest.mark.parametrize(
    "values",
    [
        pd.array([3, None], dtype="Int64"),
        pd.array([3, None], dtype="UInt8"),
        pl.Series([3, None], dtype=pl.Int16),
        pl.Series(["3", None]).cast(pl.Decimal(10, 2)),
        pa.array([3, None], pa.uint64()),
        pa.array([3, None], pa.float16()),
    ],
    ids=lambda v: f"{type(v).__name__}-{getattr(v, 'dtype', getattr(v, 'type', ''))}",
)
def test_numbers_that_may_be_null_are_continuous(values: Any) -> None:
    assert_array_equal(encode({"a": values}).columns[0], [3.0, np.nan])


def test_boolean_gaps_fit_a_continuous_feature() -> None:
    schema = encode({"a": [1.5]}).schema
    for values in (pa.array([True, None]), pd.array([True, None], dtype="boolean")):
        assert_array_equal(encode({"a": values}, schema=schema).columns[0], [1.0, np.nan])


# -- names --------------------------------------------------------------------------------------


def test_names_may_be_any_text() -> None:
    names = ["", " ", "größe", "年齢", "a\nb", "🌳", "x0"]
    table = encode(pd.DataFrame([range(7)], columns=names))
    assert table.schema.names == tuple(names)
    again = encode(pd.DataFrame([range(6, -1, -1)], columns=names[::-1]), schema=table.schema)
    assert [column[0] for column in again.columns] == list(range(7))


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame([[1, 2]]),
        pd.DataFrame([[2, 1]], columns=[1, 0]),
        {0: [1], 1: [2]},
    ],
)
def test_positions_as_names_count_as_none(X: Any) -> None:
    table = encode(X)
    assert not table.schema.named
    assert table.schema.names == ("x0", "x1")


def test_names_that_are_no_text_are_read_as_such() -> None:
    table = encode(pd.DataFrame([[1, 2]], columns=[("a", 1), 2024]))
    assert table.schema.named
    assert table.schema.names == ("('a', 1)", "2024")


def test_names_that_are_partly_text_are_an_error() -> None:
    for X in (pd.DataFrame([[1, 2]], columns=["a", 1]), {"a": [1], 1: [2]}):
        with pytest.raises(DataError, match="must all be strings, but 1 is int"):
            encode(X)


def test_repeated_names_are_an_error_that_names_them() -> None:
    frames = (
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.table([[1], [2], [3]], names=["a", "b", "a"]),
        pa.record_batch([[1], [2], [3]], names=["a", "b", "a"]),
    )
    for X in frames:
        with pytest.raises(DataError, match="must be unique, but 'a' comes more than once"):
            encode(X)


def test_feature_names_follow_scikit_learn() -> None:
    for X in (pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), pa.table({"a": [1]}), {"a": [1]}):
        assert is_frame(X)
        names = feature_names(X)
        assert names is not None
        assert names.dtype == object
        assert names.tolist() == ["a"]
    assert is_frame(pd.DataFrame([[1]]))
    assert feature_names(pd.DataFrame([[1]])) is None
    for X in (np.zeros((1, 1)), [[1]], None, "text", 3):
        assert not is_frame(X)
        assert feature_names(X) is None


# -- what is refused ----------------------------------------------------------------------------

REFUSED = [
    (np.zeros(3), "Reshape your data"),
    (np.float64(3), "must be a table, got float64"),
    (np.array(3.0), "Reshape your data"),
    (np.zeros((2, 2, 2)), "Reshape your data"),
    ([1, 2], "Reshape your data"),
    (["ab", "cd"], "Reshape your data"),
    (pd.Series([1, 2]), "Reshape your data"),
    (pl.Series([1, 2]), "Reshape your data"),
    (pa.array([1, 2]), "Reshape your data"),
    ([[1], [1, 2]], "row 0 has 1 values and row 1 has 2"),
    ([np.zeros(1), np.zeros(2)], "row 0 has 1 values and row 1 has 2"),
    ([{"a": 1}], "got a list of dicts"),
    (None, "got NoneType"),
    (3, "got int"),
    ("data.csv", "read_table"),
    (np.zeros((0, 3)), r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
    (np.zeros((3, 0)), r"Found array with 0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
    (pd.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
    (pd.DataFrame(index=[1, 2]), r"0 feature\(s\) \(shape=\(2, 0\)\)"),
    (pl.DataFrame({"a": []}), r"0 sample\(s\)"),
    ({}, r"0 feature\(s\)"),
    ([], r"0 feature\(s\)"),
    ({"a": []}, r"0 sample\(s\)"),
    (np.zeros((1, 1), complex), "Complex data not supported"),
    ({"a": [1j]}, "Complex data not supported"),
    ({"a": np.zeros(1, complex)}, "Complex data not supported"),
    (scipy.sparse.csr_array((2, 0)), r"a sparse matrix of shape \(2, 0\)"),
    (scipy.sparse.csc_matrix(np.eye(2, dtype=complex)), "a sparse matrix of complex128"),
    (scipy.sparse.coo_array(np.diag([1, np.inf])), "column 'x1' contains infinity"),
    (pd.DataFrame({"a": pd.arrays.SparseArray([0, 1])}), "sparse"),
    (pl.DataFrame({"a": [1]}).lazy(), "collect"),
    (np.array([[1.0, np.inf]]), "column 'x1' contains infinity"),
    (np.array([[-np.inf, 0]], np.float32), "column 'x0' contains infinity"),
    ({"a": [1, float("inf")]}, "column 'a' contains infinity"),
    ({"a": [10**400]}, "infinity"),
    ({"a": ["x", 1]}, "Column 'a' must hold values of one type, but mixes int and str"),
    ({"a": [None, 1.5, "x", True]}, "mixes bool and float and str"),
    ({"a": [b"\xff"]}, "UTF-8"),
    ({"a": ["\ud800"]}, "UTF-8"),
    ({"a": [{"b": 1}]}, "Column 'a' .* but holds struct"),
    ({"a": [[1], [2]]}, "Column 'a' .* but holds list"),
    ({"a": [object()]}, "Column 'a' holds object objects"),
    ({"a": [1.5, {"b": 1}]}, "Column 'a' holds dict objects"),
    (pl.DataFrame({"a": [object()]}), "Column 'a' holds object objects"),
    (pd.DataFrame({"a": pd.period_range("2024", periods=1, freq="M")}), "Column 'a' .*period"),
    ({"a": [pd.Period("2024-01")]}, "Column 'a' holds Period objects"),
    ({"a": [1, 2], "b": [1]}, "'a' 2, 'b' 1"),
    ({"a": 3}, "Column 'a' must be a list or array, got int"),
    ({"a": "text"}, "Column 'a' must be a list or array, got str"),
    ({"a": None}, "Column 'a' must be a list or array, got NoneType"),
    ({"a": np.zeros((2, 2))}, r"Column 'a' must be one-dimensional, got shape \(2, 2\)"),
    ({"a": np.zeros(1, dtype="V3")}, "Column 'a'"),
]


@pytest.mark.parametrize(
    ("X", "message"), REFUSED, ids=lambda v: re.sub(r"(?i)0x[0-9a-f]+|\W+", "-", repr(v))[:40]
)
def test_what_cannot_be_used_is_told_in_one_sentence(X: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        encode(X)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert not re.search(r"[.;:]\s+[A-Z]", text)


@pytest.mark.parametrize("value", [{"b": 1}, [1], object()])
def test_an_object_in_a_cell_is_a_type_error_too(value: Any) -> None:
    with pytest.raises(TypeError, match="Column 'a'"):
        encode({"a": [value, value]})


def test_infinity_among_categories_is_refused_too() -> None:
    with pytest.raises(DataError, match="column 'x0' contains infinity"):
        encode(np.array([[np.inf], [1.0]]), categorical_features=[0])


def test_infinity_does_not_stop_at_other_columns_being_text() -> None:
    with pytest.raises(DataError, match="column 'b' contains infinity"):
        encode({"a": ["x"], "b": [np.inf]})


@pytest.mark.parametrize("value", [1.0, "x", True, None, np.nan])
def test_a_single_cell_is_a_table(value: Any) -> None:
    table = encode({"a": [value]})
    assert table.n_rows == 1
    assert table.has_gaps.tolist() == [value is None or value != value]


@pytest.mark.parametrize("read", [lambda s: encode(s.to_frame("a")), class_codes])
def test_sparse_columns_of_pandas_are_refused_as_columns(read):
    with pytest.raises(DataError, match="A column must be dense"):
        read(pd.Series(pd.arrays.SparseArray([0, 1, 0])))
