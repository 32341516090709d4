"""encode with a schema: columns by name, categories by value, strangers as gaps."""

from __future__ import annotations

import datetime
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from treewright.data import categories
from treewright.data.encode import encode
from treewright.data.schema import Feature, Schema
from treewright.errors import ColumnNamesWarning, DataError, ExtraColumnsWarning, SchemaError

TRAINED = Schema(
    (
        Feature("size", "continuous"),
        Feature("colour", "nominal", ("red", "blue")),
        Feature("grade", "ordinal", (3, 2, 1)),
        Feature("flag", "nominal", (False, True)),
    )
)
PLAIN = encode(np.zeros((2, 3))).schema


def one(values: Any, feature: Feature) -> list[Any]:
    return encode({feature.name: values}, schema=Schema((feature,))).columns[0].tolist()


# -- columns ------------------------------------------------------------------------------------

ROWS = {"flag": [True, False], "colour": ["blue", "grey"], "grade": [1, 9], "size": [2, None]}


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=lambda f: f.__name__
)
def test_columns_are_found_by_name_whatever_their_order(make: Any) -> None:
    table = encode(make(ROWS), schema=TRAINED)
    assert table.schema is TRAINED
    assert_array_equal(table.columns[0], [2.0, np.nan])
    assert table.columns[1].tolist() == [1, -1]
    assert table.columns[2].tolist() == [2, -1]
    assert table.columns[3].tolist() == [1, 0]
    assert table.has_gaps.tolist() == [True, True, True, False]


def test_extra_columns_are_ignored_with_a_warning_that_names_them() -> None:
    X = {**ROWS, "comment": [object(), object()], "id": [1, 2]}
    with pytest.warns(ExtraColumnsWarning, match="columns 'comment', 'id'"):
        table = encode(X, schema=TRAINED)
    assert len(table.columns) == 4


def test_missing_columns_are_an_error_that_names_them() -> None:
    with pytest.raises(SchemaError, match=r"lacks 'size', 'flag'; add them"):
        encode({"colour": ["red"], "grade": [1], "other": [2]}, schema=TRAINED)


def test_an_array_is_matched_by_position_and_width() -> None:
    schema = encode(pd.DataFrame({"a": [1.0], "b": [2.0]})).schema
    with pytest.warns(ColumnNamesWarning, match="have no names, but Tree was fitted with some"):
        table = encode(np.array([[5.0, 6.0]]), schema=schema)
    assert table.columns[1].tolist() == [6.0]
    with pytest.raises(
        SchemaError, match="X has 3 features, but Tree is expecting 2 features as input"
    ):
        encode(np.zeros((1, 3)), schema=schema)
    with pytest.raises(
        SchemaError, match="X has 1 features, but CART is expecting 3 features as input"
    ):
        encode(np.zeros((1, 1)), schema=PLAIN, owner="CART")


def test_a_frame_after_training_without_names_is_matched_by_position() -> None:
    frame = pd.DataFrame({"c": [1.0], "b": [2.0], "a": [3.0]})
    with pytest.warns(ColumnNamesWarning, match="have names, but Tree was fitted with none"):
        table = encode(frame, schema=PLAIN)
    assert [c.tolist() for c in table.columns] == [[1.0], [2.0], [3.0]]
    bare = pd.DataFrame([[1.0, 2.0, 3.0]])
    assert [c.tolist() for c in encode(bare, schema=PLAIN).columns] == [[1.0], [2.0], [3.0]]


def test_repeated_names_are_an_error_at_prediction_too() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["size", "size", "colour"])
    with pytest.raises(DataError, match="'size' comes more than once"):
        encode(frame, schema=TRAINED)


# -- the fast way -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_plain_array_is_used_as_it_is(dtype: Any) -> None:
    X = np.array([[1.0, np.nan, 3.0]], dtype)
    table = encode(X, schema=PLAIN)
    assert table.block is X
    assert table.schema is PLAIN
    assert table.n_rows == 1
    assert table.has_gaps.tolist() == [False, True, False]
    assert table.columns[2].tolist() == [3.0]


def test_integers_and_booleans_fit_continuous_features() -> None:
    for X in (np.array([[1, 0, 1]]), np.array([[True, False, True]]), [[1, 0.0, True]]):
        table = encode(X, schema=PLAIN)
        assert [column.tolist() for column in table.columns] == [[1.0], [0.0], [1.0]]
        assert all(column.dtype == np.float64 for column in table.columns)


def test_infinity_is_refused_at_prediction_by_name() -> None:
    with pytest.raises(DataError, match="columns 'x0', 'x2' contain infinity"):
        encode(np.array([[np.inf, 1.0, -np.inf]]), schema=PLAIN)
    with pytest.raises(DataError, match="column 'size' contains infinity"):
        encode({**ROWS, "size": [np.inf, 1]}, schema=TRAINED)


def test_an_array_of_numbers_and_categories_is_split_up() -> None:
    schema = encode(np.array([[1.0, 5.0], [2.0, 6.0]]), categorical_features=[1]).schema
    X = np.array([[np.nan, 6.0], [3.0, 7.0]])
    table = encode(X, schema=schema)
    assert np.shares_memory(table.columns[0], X)
    assert table.columns[1].tolist() == [1, -1]
    assert table.has_gaps.tolist() == [True, True]


# -- categories ---------------------------------------------------------------------------------


def test_an_unseen_category_is_a_gap() -> None:
    colour = Feature("colour", "nominal", ("red", "blue"))
    assert one(["blue", "grey", None, "red"], colour) == [1, -1, -1, 0]
    unknown = pd.Categorical(["grey", "red"], categories=["grey", "red", "blue"])
    assert one(unknown, colour) == [-1, 0]


def test_categories_are_matched_by_value_not_by_type_or_code() -> None:
    number = Feature("a", "nominal", (1, 2))
    same = (
        [2, 1],
        [2.0, 1.0],
        np.array([2, 1], np.uint8),
        np.array([2, 1], np.float32),
        pd.Categorical([2, 1], categories=[2, 1, 0]),
        pd.Categorical([2.0, 1.0]),
        pd.array([2, 1], dtype="Int64"),
        pl.Series([2, 1]),
        pa.array([2, 1]).dictionary_encode(),
        np.array([2, True], dtype=object),
    )
    for values in same:
        assert one(values, number) == [1, 0]
    assert one([1.5, np.nan], number) == [-1, -1]


def test_a_boolean_feature_takes_zero_and_one() -> None:
    flag = Feature("flag", "nominal", (False, True))
    assert one([1, 0, 2], flag) == [1, 0, -1]
    assert one([1.0, np.nan], flag) == [1, -1]


def test_text_where_categories_were_numbers_is_an_error_and_so_is_the_reverse() -> None:
    with pytest.raises(SchemaError, match=r"'a' must hold numbers as in training, but holds text"):
        one(["1", "2"], Feature("a", "nominal", (1, 2)))
    with pytest.raises(SchemaError, match=r"'a' must hold text as in training, but holds numbers"):
        one([1, 2], Feature("a", "nominal", ("1", "2")))


def test_a_column_of_gaps_fits_every_feature() -> None:
    nothing = {"size": [None], "colour": [np.nan], "grade": [pd.NA], "flag": [pd.NaT]}
    frames = (
        nothing,
        pd.DataFrame(nothing),
        pl.DataFrame({name: [None] for name in nothing}),
        pa.table({name: pa.array([None], pa.string()) for name in nothing}),
        pa.table({name: pa.array([None], pa.float64()) for name in nothing}),
    )
    for frame in frames:
        table = encode(frame, schema=TRAINED)
        assert table.has_gaps.all()
        assert np.isnan(table.columns[0]).all()
        assert [column.tolist() for column in table.columns[1:]] == [[-1], [-1], [-1]]


def test_a_feature_that_had_only_gaps_takes_anything_as_a_gap() -> None:
    feature = encode({"a": [None, None]}).schema.features[0]
    for values in (["x"], [1.5], [True], pd.Categorical(["x"])):
        assert one(values, feature) == [-1]


def test_dates_match_the_text_of_dates_and_their_days() -> None:
    day = datetime.date(2024, 1, 2)
    nominal = Feature("a", "nominal", ("2024-01-02",))
    for values in ([day], ["2024-01-02"], pd.to_datetime([day]), pl.Series([day])):
        assert one(values, nominal) == [0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert one([day], Feature("a", "continuous", time="date")) == [19724.0]


def test_a_category_of_numbers_fits_a_continuous_feature() -> None:
    values = pd.Categorical([2.5, None, 1], categories=[2.5, 1])
    assert_array_equal(one(values, Feature("a", "continuous")), [2.5, np.nan, 1.0])


@pytest.mark.parametrize("values", [["x"], ["1"], [None, "x"], pd.Categorical(["x"])])
def test_text_where_numbers_were_is_an_error_that_names_the_column(values: Any) -> None:
    with pytest.raises(DataError, match=r"Column 'a' must hold numbers, but holds .*'(x|1)'"):
        one(values, Feature("a", "continuous"))


def test_an_unused_category_of_text_does_not_spoil_numbers() -> None:
    values = pd.Categorical([1, 2], categories=[1, 2, "none"])
    assert one(values, Feature("a", "continuous")) == [1.0, 2.0]
    assert one(values, Feature("a", "nominal", (2, 1))) == [1, 0]


def test_the_memory_of_categories_does_not_mix_up_schemas(monkeypatch: Any) -> None:
    monkeypatch.setattr(categories, "_CACHE_SIZE", 3)
    for k in range(20):
        feature = Feature("a", "nominal", (f"only {k}", "both"))
        assert one([f"only {k}", "both", f"only {k - 1}"], feature) == [0, 1, -1]
        assert one(["both"], feature) == [1]
    assert len(categories._CACHE) <= 3


def test_a_mask_of_rows_works_at_prediction_too() -> None:
    table = encode(ROWS, schema=TRAINED, rows=np.array([True, False]))
    assert [column.tolist() for column in table.columns] == [[2.0], [1], [2], [1]]


def test_a_plain_array_takes_the_short_way(monkeypatch: Any) -> None:
    def detour(X: Any) -> Any:
        raise AssertionError("the general way was taken")

    monkeypatch.setattr("treewright.data.encode.read_frame", detour)
    assert encode(np.zeros((1, 3)), schema=PLAIN).n_rows == 1
    with pytest.raises(AssertionError, match="general way"):
        encode(np.zeros((1, 3), int), schema=PLAIN)
