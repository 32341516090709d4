"""Amounts that are written as text."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

from treewright.data import read_table
from treewright.data.amounts import amounts
from treewright.data.gap_words import clear_gap_words
from treewright.errors import ConversionWarning


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1.200,50 €", None, "7 €"], [1200.5, None, 7]),
        (["$1,200.50", "$ 3"], [1200.5, 3]),
        (["12 %", "5%", "-1,5 %"], [12, 5, -1.5]),
        (["12\u00a0EUR", " 7 EUR"], [12, 7]),
        (["1.200,50", "3"], [1200.5, 3]),
    ],
)
def test_amounts_of_one_unit_are_numbers(texts, numbers):
    with pytest.warns(ConversionWarning, match=r"Column 'price' holds amounts such as .*--categor"):
        assert amounts("price", pa.chunked_array([texts])).to_pylist() == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["1.200 €", "2.300 €"],  # 1.2 or 1200
        ["12 %", "5 €"],
        ["12 %", "5"],
        ["$5", "5 $"],
        ["1.2.3", "4.5.6"],
        ["5 €", "free"],
        ["1,5", "2"],  # numbers of the other decimal mark are left to decimal=
        [None],
    ],
)
def test_what_may_mean_something_else_stays_text(texts):
    assert amounts("price", pa.chunked_array([texts], pa.string())) is None


def test_a_file_may_hold_amounts_also_beside_words_for_gaps(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text('paid,off\n"1.200,50 €",5 %\nn/a,10 %\n"3,20 €",\n', encoding="utf-8")
    with pytest.warns(ConversionWarning, match="'off'"):
        table = read_table(path)
    assert table["off"].to_pylist() == [5, 10, None]
    with pytest.warns(ConversionWarning, match="'paid'"):
        table, found = clear_gap_words(table)
    assert table["paid"].to_pylist() == [1200.5, None, 3.2]
    assert found == {"paid": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(path, as_text=["off"])["off"].to_pylist() == ["5 %", "10 %", None]
