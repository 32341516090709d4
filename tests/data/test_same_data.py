"""The same data give the same table, whatever frame they come in."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from treewright.data.encode import encode
from treewright.data.table import Table

Columns = dict[str, list[Any]]

TYPES: dict[str, Any] = {
    "text": pl.String,
    "flag": pl.Boolean,
    "count": pl.Int64,
    "size": pl.Float64,
    "day": pl.Date,
}


def as_polars(columns: Columns) -> Any:
    return pl.DataFrame(columns, schema={name: TYPES[name] for name in columns})


def as_arrow(columns: Columns) -> Any:
    return as_polars(columns).to_arrow()


def as_pandas(columns: Columns) -> Any:
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def as_nullable_pandas(columns: Columns) -> Any:
    names = {
        "text": "string",
        "flag": "boolean",
        "count": "Int64",
        "size": "Float64",
        "day": object,
    }
    return pd.DataFrame({k: pd.Series(v, dtype=names[k]) for k, v in columns.items()})


def as_arrow_pandas(columns: Columns) -> Any:
    return as_arrow(columns).to_pandas(types_mapper=pd.ArrowDtype)


def as_rows(columns: Columns) -> Any:
    return pa.table(as_polars(columns)).to_batches()[0]


FRAMES: list[Callable[[Columns], Any]] = [
    as_polars,
    as_arrow,
    as_pandas,
    as_nullable_pandas,
    as_arrow_pandas,
    as_rows,
    dict,
]


def assert_same(one: Table, other: Table) -> None:
    assert one.schema == other.schema
    types = [[type(c) for c in f.categories] for f in one.schema.features]
    assert types == [[type(c) for c in f.categories] for f in other.schema.features]
    assert_array_equal(one.has_gaps, other.has_gaps)
    for left, right in zip(one.columns, other.columns, strict=True):
        assert left.dtype == right.dtype
        assert_array_equal(left, right)


def column(values: st.SearchStrategy[Any], n: int) -> st.SearchStrategy[list[Any]]:
    # At least one value is known: a column of None has no type in some frames.
    return st.tuples(values, st.lists(st.none() | values, min_size=n, max_size=n)).map(
        lambda drawn: [drawn[0], *drawn[1]]
    )


text = st.text(st.characters(codec="utf-8"), max_size=3)
days = st.dates(datetime.date(1700, 1, 1), datetime.date(2200, 1, 1))


@st.composite
def tables(draw: Any) -> Columns:
    n = draw(st.integers(0, 6))
    return {
        "text": draw(column(text, n)),
        "flag": draw(column(st.booleans(), n)),
        "count": draw(column(st.integers(-(2**53), 2**53), n)),
        "size": draw(column(st.floats(allow_nan=False, allow_infinity=False), n)),
        "day": draw(column(days, n)),
    }


@pytest.mark.filterwarnings("ignore::treewright.errors.ConversionWarning")
@settings(max_examples=40)
@given(tables())
def test_training_does_not_depend_on_the_frame(columns: Columns) -> None:
    expected = encode(as_polars(columns))
    for make in FRAMES:
        assert_same(encode(make(columns)), expected)


@settings(max_examples=40)
@given(tables())
def test_nor_do_categories_of_any_type(columns: Columns) -> None:
    wish = list(columns)
    expected = encode(as_polars(columns), categorical_features=wish)
    for make in FRAMES:
        assert_same(encode(make(columns), categorical_features=wish), expected)


@pytest.mark.filterwarnings("ignore::treewright.errors.ConversionWarning")
@settings(max_examples=40)
@given(tables(), tables())
def test_prediction_does_not_depend_on_the_frame(trained: Columns, new: Columns) -> None:
    schema = encode(as_polars(trained), categorical_features=["count"]).schema
    expected = encode(as_polars(new), schema=schema)
    for make in FRAMES:
        assert_same(encode(make(dict(reversed(new.items()))), schema=schema), expected)


@pytest.mark.filterwarnings("ignore::treewright.errors.ConversionWarning")
@settings(max_examples=40)
@given(tables())
def test_training_rows_are_matched_to_themselves(columns: Columns) -> None:
    learned = encode(columns)
    assert_same(encode(columns, schema=learned.schema), learned)


@pytest.mark.filterwarnings("ignore::treewright.errors.ConversionWarning")
@settings(max_examples=40)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_schema(columns: Columns, random: Any) -> None:
    order = list(range(len(columns["text"])))
    random.shuffle(order)
    shuffled = {name: [values[i] for i in order] for name, values in columns.items()}
    table = encode(columns)
    assert_same(encode(shuffled), table.take(np.array(order)))


@pytest.mark.filterwarnings("ignore::treewright.errors.ConversionWarning")
@settings(max_examples=40)
@given(tables(), st.data())
def test_dropped_rows_are_as_if_they_had_never_been(columns: Columns, data: Any) -> None:
    n = len(columns["text"])
    rows = data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any))
    kept = {
        name: [value for value, keep in zip(values, rows, strict=True) if keep]
        for name, values in columns.items()
    }
    for make in (as_polars, as_arrow):
        assert_same(encode(make(columns), rows=np.array(rows)), encode(make(kept)))


@given(st.lists(st.floats(width=32), min_size=1, max_size=8))
def test_float32_stays_float32_in_every_frame(values: list[float]) -> None:
    numbers = np.array(values, np.float32)
    numbers[np.isinf(numbers)] = 0
    frames = (
        {"a": numbers},
        pd.DataFrame({"a": numbers}),
        pl.DataFrame({"a": numbers}),
        pa.table({"a": numbers}),
    )
    expected = encode(frames[0])
    assert expected.columns[0].dtype == np.float32
    for frame in frames[1:]:
        assert_same(encode(frame), expected)
