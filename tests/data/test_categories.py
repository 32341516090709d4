"""Categories: plain values, learning and matching."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from treewright.data.categories import Coded, learn, listed, match, plain_values
from treewright.errors import DataError


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", "a"),
        (np.str_("a"), "a"),
        (b"a", "a"),
        (1, 1),
        (1.0, 1),
        (-0.0, 0),
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (Decimal("2.0"), 2),
        (2**60 + 1, 2**60 + 1),
        (True, True),
        (np.False_, False),
        (None, None),
        (float("nan"), None),
        (Decimal("NaN"), None),
        (pd.NA, None),
        (pd.NaT, None),
        (datetime.date(2024, 1, 2), "2024-01-02"),
        (datetime.datetime(2024, 1, 2), "2024-01-02"),
        (pd.Timestamp("2024-01-02 03:00"), "2024-01-02T03:00:00"),
        (pd.Timestamp("2024-01-02 03:00", tz="Asia/Tokyo"), "2024-01-01T18:00:00"),
        (datetime.time(3), "03:00:00"),
        (pd.Interval(0, 1), "(0, 1]"),
        (("a", 1), "('a', 1)"),
    ],
)
def test_a_value_becomes_a_plain_one(value: Any, expected: Any) -> None:
    result = plain_values([value], "column")[0]
    assert result == expected
    assert type(result) is type(expected)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(DataError, match="Column 'a' must hold text in UTF-8"):
        plain_values([b"\xff"], "a")


def test_equal_values_under_several_codes_are_one_category() -> None:
    coded = Coded(np.array([0, 1, 2, 3, -1]), [1, 1.0, True, 2])
    categories, codes = learn(coded, "a")
    assert categories == (1, 2)
    assert codes.tolist() == [0, 0, 0, 1, -1]
    assert codes.dtype == np.int32


def test_text_and_numbers_in_one_dictionary_have_a_settled_order() -> None:
    values = ["b", 10, "a", 2.5, True]
    coded = Coded(np.arange(5), values)
    expected = (True, 2.5, 10, "a", "b")
    assert learn(coded, "a")[0] == expected
    assert learn(Coded(np.arange(5), values[::-1]), "a")[0] == expected


def test_values_without_rows_are_learned_only_when_declared() -> None:
    codes = np.array([2, -1], np.int8)
    assert learn(Coded(codes, ["c", "b", "a"]), "x")[0] == ("a",)
    declared = learn(Coded(codes, ["c", "b", "a"], declared=True), "x")
    assert declared[0] == ("c", "b", "a")
    assert declared[1].tolist() == [2, -1]


def test_codes_of_any_width_are_matched() -> None:
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        coded = Coded(np.array([1, 0, -1], dtype), ["x", "y"])
        assert match(coded, ("y", "x"), "a").tolist() == [0, 1, -1]


def test_names_are_listed_shortly() -> None:
    assert listed(["a"], "column") == "column 'a'"
    assert listed(["a", "b"], "column") == "columns 'a', 'b'"
    assert listed(list("abcdefg")) == "'a', 'b', 'c', 'd', 'e' and 2 more"
    assert len(listed(["x" * 10_000] * 9)) < 500


def test_categories_beyond_64_bits_are_floats_or_refused():
    assert plain_values([1e300, -1e300, 1e19, 3.0], "a") == [1e300, -1e300, 10**19, 3]
    assert [type(value) for value in plain_values([1e300, 1e19], "a")] == [float, int]
    with pytest.raises(DataError, match=r"'a' must have categories .* got one of 100 bits"):
        plain_values([1, 10**30], "a")
