"""encode without a schema: kinds, categories, gaps and the user's wishes."""

from __future__ import annotations

import datetime
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from treewright.data.encode import encode
from treewright.data.schema import Feature
from treewright.errors import ConversionWarning, DataError, ParameterError


def only(X: Any, **options: Any) -> tuple[Feature, list[Any]]:
    """Feature and values of the single column of X."""
    table = encode(X, **options)
    assert len(table.columns) == 1
    return table.schema.features[0], table.columns[0].tolist()


# -- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_floats_stay_as_they_came_and_are_not_copied(dtype: Any, order: Any) -> None:
    X = np.array([[1.0, np.nan], [2.0, 3.0]], dtype, order=order)
    table = encode(X)
    assert table.block is X
    assert table.columns[0].dtype == dtype
    assert table.has_gaps.dtype == np.bool_
    assert table.has_gaps.tolist() == [False, True]
    assert not table.schema.named
    assert table.schema.names == ("x0", "x1")


def test_a_strided_view_is_not_copied_either() -> None:
    X = np.arange(24.0).reshape(4, 6)[::-2, 1::2]
    assert encode(X).block is X


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, ">f8"]
)
def test_other_numbers_become_floats(dtype: Any) -> None:
    table = encode(np.array([[1, 2], [3, 4]]).astype(dtype))
    assert table.block is not None
    assert table.block.dtype == (np.float32 if dtype is np.float16 else np.float64)
    assert table.columns[1].tolist() == [2.0, 4.0]


def test_float_columns_of_frames_are_not_copied() -> None:
    series = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    assert np.shares_memory(encode(series).columns[0], series["a"].to_numpy())
    frame = pl.DataFrame({"a": np.arange(3, dtype=np.float32)})
    column = encode(frame).columns[0]
    assert column.dtype == np.float32
    assert np.shares_memory(column, frame["a"].to_numpy())


def test_an_object_column_of_numbers_is_continuous() -> None:
    values = [1, 2.5, None, np.float32(3), np.int64(4), Decimal("0.5"), Fraction(1, 4)]
    feature, column = only({"a": np.array(values, dtype=object)})
    assert feature.kind == "continuous"
    assert_array_equal(column, [1, 2.5, np.nan, 3, 4, 0.5, 0.25])


def test_numbers_and_booleans_side_by_side_are_numbers() -> None:
    feature, column = only({"a": [True, 3, 2.5, False]})
    assert feature == Feature("a", "continuous")
    assert column == [1.0, 3.0, 2.5, 0.0]


def test_integers_of_any_size_become_floats() -> None:
    assert only({"a": [2**70, 2**63, -1]})[1] == [float(2**70), float(2**63), -1.0]


def test_masked_cells_are_gaps() -> None:
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    assert_array_equal(encode(X).block, [[1, np.nan], [3, 4]])


def test_a_misaligned_array_is_copied_and_right() -> None:
    packed = np.zeros(3, dtype=[("skip", "u1"), ("pair", "f8", (2,))])
    packed["pair"] = [[1, 2], [3, 4], [5, np.nan]]
    table = encode(packed["pair"])
    assert_array_equal(table.columns[1], [2, 4, np.nan])
    assert table.has_gaps.tolist() == [False, True]


# -- kinds and categories -----------------------------------------------------------------------


def test_text_is_nominal_and_sorted() -> None:
    feature, codes = only({"a": ["pear", "apple", None, "Apple", "äpfel", ""]})
    assert feature == Feature("a", "nominal", ("", "Apple", "apple", "pear", "äpfel"))
    assert codes == [3, 2, -1, 1, 4, 0]


@pytest.mark.parametrize("values", [[True, False, None], np.array([True, False, True])])
def test_booleans_are_nominal(values: Any) -> None:
    feature, codes = only({"a": values})
    assert feature == Feature("a", "nominal", (False, True))
    assert type(feature.categories[0]) is bool
    assert codes[:2] == [1, 0]


def test_declared_categories_keep_their_order_and_stay_when_unused() -> None:
    values = pd.Categorical(["b", "a", None], categories=["z", "b", "a"])
    for X in (pd.DataFrame({"a": values}), {"a": values}, {"a": pd.Series(values)}):
        feature, codes = only(X)
        assert feature == Feature("a", "nominal", ("z", "b", "a"))
        assert codes == [1, 2, -1]


def test_ordered_categories_are_ordinal() -> None:
    values = pd.Categorical(["hi", "lo"], categories=["lo", "hi"], ordered=True)
    assert only(pd.DataFrame({"a": values}))[0] == Feature("a", "ordinal", ("lo", "hi"))


def test_an_enum_is_ordinal_in_polars_and_after_conversion() -> None:
    frame = pl.DataFrame({"a": pl.Series(["hi", None], dtype=pl.Enum(["lo", "hi"]))})
    for X in (frame, frame.to_arrow(), frame.to_pandas(), pa.table(frame)):
        feature, codes = only(X)
        assert feature == Feature("a", "ordinal", ("lo", "hi"))
        assert codes == [1, -1]


def test_a_polars_categorical_is_sorted_as_its_own_order_is_arbitrary() -> None:
    pl.Series(["zebra", "yak"], dtype=pl.Categorical)  # may take the first physical codes
    frame = pl.DataFrame({"a": pl.Series(["yak", "ant", "zebra"], dtype=pl.Categorical)})
    for X in (frame, frame.to_arrow()):
        assert only(X) == (Feature("a", "nominal", ("ant", "yak", "zebra")), [1, 0, 2])


def test_a_bare_arrow_dictionary_is_an_encoding_and_sorted() -> None:
    values = pa.DictionaryArray.from_arrays([1, 0, None], ["b", "a", "unused"])
    assert only(pa.table({"a": values})) == (Feature("a", "nominal", ("a", "b")), [0, 1, -1])
    ordered = pa.DictionaryArray.from_arrays([1, 0, None], ["b", "a", "c"], ordered=True)
    assert only(pa.table({"a": ordered}))[0] == Feature("a", "ordinal", ("b", "a", "c"))


def test_pandas_categories_keep_their_order_through_arrow() -> None:
    values = pd.Categorical(["b", "a"], categories=["z", "b", "a"])
    table = pa.Table.from_pandas(pd.DataFrame({"a": values}))
    assert only(table)[0].categories == ("z", "b", "a")


def test_a_damaged_note_of_pandas_in_an_arrow_table_does_no_harm() -> None:
    table = pa.table({"a": pa.array(["b", "a"]).dictionary_encode()})
    for note in (b"{", b"[]", b'{"columns": [3]}', b'{"columns": null}'):
        assert only(table.replace_schema_metadata({b"pandas": note}))[0].categories == ("a", "b")


def test_arrow_chunks_with_dictionaries_of_their_own_agree() -> None:
    chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()]
    table = pa.table({"a": pa.chunked_array(chunks)})
    assert only(table) == (Feature("a", "nominal", ("a", "b", "c")), [1, 0, 2, 1])


def test_an_arrow_dictionary_may_hold_repeats_and_nulls() -> None:
    values = pa.DictionaryArray.from_arrays([0, 1, 2, 3], pa.array(["b", None, "a", "b"]))
    assert only(pa.table({"a": values})) == (Feature("a", "nominal", ("a", "b")), [1, -1, 0, 1])


def test_an_integral_float_is_the_integer() -> None:
    for values in ([2, 1, None], [2.0, 1.0, np.nan], pd.array([2, 1, None], dtype="Int64")):
        feature, codes = only({"a": values}, categorical_features=["a"])
        assert feature == Feature("a", "nominal", (1, 2))
        assert all(type(category) is int for category in feature.categories)
        assert codes == [1, 0, -1]


def test_integers_beyond_floats_stay_apart_as_categories() -> None:
    big = 2**53
    X = np.array([[big], [big + 1]])
    for data in (X, {"a": X[:, 0]}):
        assert only(data, categorical_features=[0])[0].categories == (big, big + 1)
    assert only(X, categorical_features=[0], rows=np.array([False, True]))[0].categories == (
        big + 1,
    )


def test_categories_of_intervals_are_their_text() -> None:
    feature, codes = only(pd.DataFrame({"a": pd.cut([1, 9], [0, 5, 10])}))
    assert feature == Feature("a", "ordinal", ("(0, 5]", "(5, 10]"))
    assert codes == [0, 1]


def test_a_declared_category_may_mix_text_and_numbers() -> None:
    values = pd.Categorical([1, "a"], categories=["a", 1])
    assert only({"a": values})[0].categories == ("a", 1)


def test_bytes_are_text() -> None:
    assert only({"a": [b"y", b"x"]}) == (Feature("a", "nominal", ("x", "y")), [1, 0])
    assert only(np.array([[b"y"], [b"x"]]))[0].categories == ("x", "y")


def test_a_column_of_nothing_is_nominal_without_categories_and_one_of_nan_continuous() -> None:
    nothing = (
        {"a": [None, None]},
        pd.DataFrame({"a": [None, pd.NA]}, dtype=object),
        pl.DataFrame({"a": [None, None]}),
        pa.table({"a": pa.nulls(2)}),
        pl.DataFrame({"a": pl.Series([None, None], dtype=pl.String)}),
    )
    for X in nothing:
        assert only(X) == (Feature("a", "nominal"), [-1, -1])
    for X in ({"a": [np.nan, None]}, pd.DataFrame({"a": [np.nan, np.nan]})):
        feature, values = only(X)
        assert feature == Feature("a", "continuous")
        assert np.isnan(values).all()


def test_a_hundred_thousand_categories_work() -> None:
    n = 100_000
    numbers = np.random.default_rng(0).permutation(n)
    values = np.char.add("c", np.char.zfill(numbers.astype(str), 6))
    feature, codes = only({"a": values}, categorical_features=["a"])
    assert len(feature.categories) == n
    assert_array_equal(codes, numbers)


# -- dates --------------------------------------------------------------------------------------


def test_dates_become_days_with_a_message_that_names_them() -> None:
    day = datetime.date(1970, 1, 3)
    X = {"when": [day, None], "size": [1, 2], "at": [datetime.time(6), datetime.time(12)]}
    with pytest.warns(ConversionWarning, match=r"columns 'when', 'at'"):
        table = encode(X)
    assert [feature.kind for feature in table.schema.features] == ["continuous"] * 3
    assert_array_equal(table.columns[0], [2.0, np.nan])
    assert_array_equal(table.columns[2], [0.25, 0.5])


@pytest.mark.filterwarnings("ignore::treewright.errors.ConversionWarning")
def test_the_unit_of_a_timestamp_does_not_change_its_number() -> None:
    moments = pd.to_datetime(["2024-02-29 13:37:11.123456", "1931-05-06 00:00:01.000001"])
    numbers = [
        only({"a": moments.as_unit("us")}),
        only({"a": moments.as_unit("ns")}),
        only(pl.DataFrame({"a": moments.to_pydatetime().tolist()})),
        only(pa.table({"a": pa.array(moments.as_unit("ns"), pa.timestamp("ns"))})),
        only(pd.DataFrame({"a": moments.tz_localize("UTC").tz_convert("Asia/Tokyo")})),
    ]
    assert all(one[1] == numbers[0][1] for one in numbers)
    whole = [
        only({"a": np.array(["2024-02-29", "1931-05-06"], f"M8[{unit}]")})
        for unit in ("D", "h", "s", "ms", "ns")
    ]
    dates = [datetime.date(2024, 2, 29), datetime.date(1931, 5, 6)]
    whole += [only({"a": dates}), only(pa.table({"a": pa.array(dates, pa.date64())}))]
    assert all(one[1] == whole[0][1] for one in whole)


@pytest.mark.filterwarnings("ignore::treewright.errors.ConversionWarning")
def test_durations_are_days_and_a_datetime_after_a_date_keeps_its_time() -> None:
    assert only({"a": [datetime.timedelta(hours=36)]})[1] == [1.5]
    mixed = [datetime.date(1970, 1, 2), datetime.datetime(1970, 1, 2, 12)]
    assert only({"a": mixed})[1] == [1.0, 1.5]


def test_dates_listed_as_categories_are_their_text_and_give_no_message() -> None:
    days = ["2024-01-02", "2024-01-01"]
    pandas = pd.DataFrame({"a": pd.to_datetime(days)})
    polars = pl.DataFrame({"a": days}).with_columns(pl.col("a").str.to_date())
    for X in (pandas, polars, polars.to_arrow(), pandas.assign(a=pandas["a"].astype("category"))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            feature, codes = only(X, categorical_features=["a"])
        assert feature.categories == ("2024-01-01", "2024-01-02")
        assert codes == [1, 0]
    moment = only({"a": [datetime.datetime(2024, 1, 2, 3)]}, categorical_features=["a"])
    assert moment[0].categories == ("2024-01-02T03:00:00",)


# -- the user's wishes --------------------------------------------------------------------------

X_WISHES = np.array([[1.0, 7.0, 2.5], [0.0, 7.0, np.nan], [1.0, 8.0, 2.5]])


@pytest.mark.parametrize(
    "wish",
    [
        [0, 2],
        (2, 0),
        np.array([0, 2]),
        [True, False, True],
        np.array([1, 0, 1], bool),
        ["x0", "x2"],
    ],
)
def test_names_mask_and_indices_make_columns_nominal(wish: Any) -> None:
    table = encode(X_WISHES, categorical_features=wish)
    assert [feature.kind for feature in table.schema.features] == [
        "nominal",
        "continuous",
        "nominal",
    ]
    assert table.schema.features[0].categories == (0, 1)
    assert table.schema.features[2].categories == (2.5,)
    assert table.columns[2].tolist() == [0, -1, 0]
    assert np.shares_memory(table.columns[1], X_WISHES)
    assert table.has_gaps.tolist() == [False, False, True]


def test_columns_not_listed_follow_their_type() -> None:
    table = encode({"a": [1, 2], "b": ["x", "y"], "c": [3, 4]}, categorical_features=["a"])
    assert [feature.kind for feature in table.schema.features] == [
        "nominal",
        "nominal",
        "continuous",
    ]


def test_a_listed_ordered_category_is_nominal() -> None:
    values = pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True)
    feature, _ = only({"a": values}, categorical_features=["a"])
    assert feature == Feature("a", "nominal", ("b", "a"))


@pytest.mark.parametrize("key", ["a", 0])
def test_an_order_makes_a_column_ordinal(key: Any) -> None:
    X = {"a": ["small", None, "large"]}
    feature, codes = only(X, ordinal_features={key: ["small", "medium", "large"]})
    assert feature == Feature("a", "ordinal", ("small", "medium", "large"))
    assert codes == [0, -1, 2]


def test_an_order_of_numbers_fits_integral_floats() -> None:
    feature, codes = only(np.array([[3.0], [1.0]]), ordinal_features={"x0": [3, 2.0, 1]})
    assert feature == Feature("x0", "ordinal", (3, 2, 1))
    assert codes == [0, 2]


def test_an_order_that_lacks_a_value_is_an_error_that_names_it() -> None:
    with pytest.raises(DataError, match=r"column 'a', but lacks 'large'"):
        encode({"a": ["small", "large"]}, ordinal_features={"a": ["small"]})
    with pytest.raises(DataError, match=r"lacks 1, 2"):
        encode({"a": [1, 2]}, ordinal_features={"a": ["1", "2"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"categorical_features": ["z"]}, "no 'z'; the columns are 'a', 'b'"),
        ({"categorical_features": [2]}, "from 0 to 1, got 2"),
        ({"categorical_features": [-1]}, "from 0 to 1, got -1"),
        ({"categorical_features": [True]}, "each of the 2 columns, got 1"),
        ({"categorical_features": [0, "a"]}, "got 0, 'a'"),
        ({"categorical_features": [1.5]}, "got 1.5"),
        ({"categorical_features": "a"}, "got 'a'"),
        ({"categorical_features": None}, "got None"),
        ({"categorical_features": 3}, "got 3"),
        ({"ordinal_features": ["a"]}, "must be a dict"),
        ({"ordinal_features": {"a": "xyz"}}, "must list the values in order, got 'xyz'"),
        ({"ordinal_features": {"a": 3}}, "got 3"),
        ({"ordinal_features": {"a": []}}, "each value once"),
        ({"ordinal_features": {"a": ["x", "x"]}}, "each value once"),
        ({"ordinal_features": {"a": [1, 1.0]}}, "each value once"),
        ({"ordinal_features": {"a": ["x", None]}}, "no gap"),
        ({"ordinal_features": {"z": ["x"]}}, "no 'z'"),
        ({"ordinal_features": {"a": ["x"]}, "categorical_features": ["a"]}, "keep one"),
    ],
)
def test_wrong_wishes_are_told_in_one_sentence(options: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        encode({"a": ["x", "x"], "b": [1, 2]}, **options)


# -- rows ---------------------------------------------------------------------------------------


def test_dropped_rows_leave_no_trace() -> None:
    rows = np.array([True, False, True])
    X = {"text": ["b", "only here", "a"], "number": [1.0, np.inf, 2.0], "gap": [1.0, None, 2.0]}
    for data in (X, pd.DataFrame(X), pl.DataFrame(X), pa.table(X)):
        table = encode(data, rows=rows)
        assert table.n_rows == 2
        assert table.schema.features[0].categories == ("a", "b")
        assert table.columns[0].tolist() == [1, 0]
        assert table.columns[1].tolist() == [1.0, 2.0]
        assert not table.has_gaps.any()


def test_dropped_rows_of_an_array_leave_no_trace() -> None:
    X = np.array([[1.0, 2.0], [np.inf, np.nan], [3.0, 4.0]])
    table = encode(X, rows=np.array([True, False, True]))
    assert_array_equal(table.block, [[1, 2], [3, 4]])
    assert not table.has_gaps.any()
    assert encode(X[::2], rows=np.array([True, True])).block.base is X


def test_a_declared_category_stays_when_its_rows_are_dropped() -> None:
    X = {"a": pd.Categorical(["b", "a"], categories=["b", "a"])}
    assert only(X, rows=np.array([False, True])) == (Feature("a", "nominal", ("b", "a")), [1])


def test_no_row_left_is_an_error() -> None:
    with pytest.raises(DataError, match=r"0 sample\(s\) \(shape=\(0, 1\)\)"):
        encode(np.zeros((2, 1)), rows=np.array([False, False]))


@pytest.mark.parametrize("rows", [np.array([True]), np.array([0, 1]), np.ones((2, 1), bool)])
def test_a_mask_of_the_wrong_form_is_an_error(rows: Any) -> None:
    with pytest.raises(DataError, match="boolean mask of 2 rows"):
        encode(np.zeros((2, 1)), rows=rows)


def test_the_frame_of_the_user_is_left_alone() -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"]), "b": [1.0, np.nan], "c": ["u", None]})
    before = frame.copy(deep=True)
    encode(frame, categorical_features=["b"])
    pd.testing.assert_frame_equal(frame, before)
    assert frame["b"].to_numpy(copy=True).flags.writeable
