"""CSV: separators, quotes, gaps, types and the line of what is wrong."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.data import read_table
from treewright.data.delimited import sniff_decimal, sniff_separator
from treewright.data.encode import encode
from treewright.data.schema import Feature, Schema
from treewright.errors import DataError, ParameterError


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Write the content to a file and read it."""

    def write_and_read(content: str | bytes, name: str = "t.csv", **options: Any) -> pa.Table:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return read_table(tmp_path / name, **options)

    return write_and_read


# -- what is read -------------------------------------------------------------------------------


def test_types_are_found(read: Any) -> None:
    table = read(
        "whole,part,flag,day,moment,text\n"
        "1,1.5,true,2024-01-05,2024-01-05T12:00:00,a\n"
        "-2,2e3,FALSE,2024-01-06,2024-01-06 13:00,b c\n"
    )
    assert [str(kind) for kind in table.schema.types] == [
        "int64",
        "double",
        "bool",
        "date32[day]",
        "timestamp[s]",
        "string",
    ]
    assert table.to_pydict()["flag"] == [True, False]
    assert table.to_pydict()["day"][0] == datetime.date(2024, 1, 5)


def test_gaps_are_gaps_in_every_type(read: Any) -> None:
    table = read("n,f,b,d,t\n1,0.5,true,2024-01-05,x\n,NA,?,,NA\nNA,?,,?,?\n")
    for name in "nfbdt":
        assert table.column(name).null_count == 2, name
    assert str(table.column("n").type) == "int64"


def test_the_list_of_gaps_is_the_users(read: Any) -> None:
    table = read("n,t\n-99,NA\n5,?\n", gaps=["-99", "."])
    assert table.to_pydict() == {"n": [None, 5], "t": ["NA", "?"]}
    assert read("n,t\n-99,NA\n5,?\n", gaps=[]).to_pydict()["n"] == [-99, 5]


def test_a_blank_after_the_separator_hides_no_gap(read: Any) -> None:
    table = read("n, t\n1, ?\n2, z\n")
    assert table.column_names == ["n", "t"]
    assert table.to_pydict()["t"] == [None, " z"]


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_the_separator_is_found(read: Any, separator: str) -> None:
    rows = [["a", "b b", "c"], ["1", "x, y; z", "3"], ["4", "", "6"]]
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator, quoting=csv.QUOTE_ALL).writerows(rows)
    expected = {"a": [1, 4], "b b": ["x, y; z", None], "c": [3, 6]}
    assert read(buffer.getvalue()).to_pydict() == expected
    assert read(buffer.getvalue(), separator=separator).to_pydict() == expected


def test_tab_separated_files_may_be_full_of_commas(read: Any) -> None:
    content = "a\tb,c,d,e\n1\tx,y\n"
    assert read(content, name="t.tsv").to_pydict() == {"a": [1], "b,c,d,e": ["x,y"]}
    assert sniff_separator(["a\tb", "1,5,6\t2", "1,5\t2"]) == "\t"


def test_a_single_column_needs_no_separator(read: Any) -> None:
    assert read("a\n1\n2\n").to_pydict() == {"a": [1, 2]}
    assert read("first name\nJo Ann\n").to_pydict() == {"first name": ["Jo Ann"]}


def test_decimal_commas_are_found_where_the_comma_separates_nothing(read: Any) -> None:
    assert read("a;b\n1,5;x\n2;y\n").to_pydict() == {"a": [1.5, 2.0], "b": ["x", "y"]}
    assert read("a;b\n1,5;0.5\n").to_pydict() == {"a": ["1,5"], "b": [0.5]}
    assert read("a;b\n1,5;x\n", decimal=".").to_pydict() == {"a": ["1,5"], "b": ["x"]}
    assert sniff_decimal(["a,b", "1,5"], ",") == "."


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system_are_read(read: Any, end: str) -> None:
    assert read(end.join(["a,b", "1,2", "3,4"])).to_pydict() == {"a": [1, 3], "b": [2, 4]}
    assert read(end.join(["", "a,b", "", "1,2", ""])).to_pydict() == {"a": [1], "b": [2]}


def test_quotes_hide_separators_line_ends_and_quotes(read: Any) -> None:
    table = read('"a ""q""","b\nc"\n"x, y","two\nlines"\nplain,"5"" pipe"\n')
    assert table.to_pydict() == {'a "q"': ["x, y", "plain"], "b\nc": ["two\nlines", '5" pipe']}
    assert read('a,b\n5" pipe,2\n').to_pydict() == {"a": ['5" pipe'], "b": [2]}


def test_a_byte_order_mark_is_skipped(read: Any) -> None:
    assert read("a,b\n1,ü\n".encode("utf-8-sig")).to_pydict() == {"a": [1], "b": ["ü"]}
    content = "a,b\n1,ü\n"
    assert read(content.encode("utf-16"), encoding="utf-16").to_pydict() == {"a": [1], "b": ["ü"]}
    assert read(content.encode("latin-1"), encoding="latin-1").to_pydict()["b"] == ["ü"]


def test_gzip_is_unpacked(read: Any) -> None:
    packed = gzip.compress(b"a;b\n1;2\n")
    assert read(packed, name="t.csv.gz").to_pydict() == {"a": [1], "b": [2]}
    with pytest.raises(DataError, match=r"t\.csv\.gz: the gzip data are damaged"):
        read(packed[:-9], name="t.csv.gz")


def test_the_last_row_decides_a_type_as_much_as_the_first(read: Any) -> None:
    rows = "".join(f"{k},x\n" for k in range(200_000))
    assert str(read("a,b\n" + rows).column("a").type) == "int64"
    assert str(read("a,b\n" + rows + "0.5,x\n").column("a").type) == "double"
    assert str(read("a,b\n" + rows + "oops,x\n").column("a").type) == "string"


def test_text_that_looks_like_numbers_can_be_kept(read: Any) -> None:
    table = read("code,n\n007,1\n010,2\n", as_text=["code"])
    assert table.to_pydict() == {"code": ["007", "010"], "n": [1, 2]}
    with pytest.raises(ParameterError, match="no 'zip'; the columns are 'code', 'n'"):
        read("code,n\n007,1\n", as_text=["zip"])


def test_a_column_without_a_name_gets_a_number(read: Any) -> None:
    assert read('"","a"\n"1",2\n').to_pydict() == {"column_1": [1], "a": [2]}


def test_huge_and_odd_numbers_are_read(read: Any) -> None:
    table = read("a,b\n99999999999999999999,nan\n1,-1.5e-300\n")
    assert table.to_pydict()["a"] == [1e20, 1.0]
    assert np.isnan(table.to_pydict()["b"][0])


def test_a_column_of_gaps_fits_everything_later(read: Any) -> None:
    table = encode(read("a,b\n?,1\n,2\n"))
    assert table.schema.features[0] == Feature("a", "nominal")
    assert table.columns[0].tolist() == [-1, -1]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(-(2**62), 2**62), st.text(st.characters(codec="utf-8"), min_size=1)),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([",", "\t", ";"]),
)
def test_what_python_writes_is_read_back(
    tmp_path_factory: Any, rows: list[tuple[int, str]], separator: str
) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(["number", "text"])
        writer.writerows(rows)
    table = read_table(path, as_text=["text"], gaps=[], separator=separator)
    assert table.to_pydict() == {
        "number": [number for number, _ in rows],
        "text": [text for _, text in rows],
    }


# -- with the schema of a model -----------------------------------------------------------------


def test_categories_are_read_with_the_type_they_had_in_training(read: Any) -> None:
    schema = Schema(
        (
            Feature("code", "nominal", ("007", "a")),
            Feature("flag", "nominal", (False, True)),
            Feature("grade", "ordinal", (1, 2.5)),
            Feature("size", "continuous"),
        )
    )
    content = "code,flag,grade,size,other\n007,true, 2.50,1,3\n8,maybe,none,2,4\n,FALSE,1,NA,5\n"
    table = read(content, schema=schema)
    assert table.to_pydict() == {
        "code": ["007", "8", None],
        "flag": [True, None, False],
        "grade": [2.5, None, 1.0],
        "size": [1, 2, None],
        "other": [3, 4, 5],
    }
    encoded = encode(table.drop_columns(["other"]), schema=schema)
    assert [column.tolist() for column in encoded.columns[:3]] == [
        [0, -1, -1],
        [1, -1, 0],
        [1, -1, 0],
    ]


def test_a_schema_does_not_ask_for_columns_that_are_not_there(read: Any) -> None:
    schema = Schema((Feature("a", "nominal", ("1",)), Feature("b", "nominal", ("x",))))
    assert read("a\n1\n", schema=schema).to_pydict() == {"a": ["1"]}


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n", r"t\.csv, line 3: every row must have 2 values .* got 1"),
        ("a,b\n1,2\n\n3,4,5\n", r"t\.csv, line 4: .* got 3"),
        ('a,b\n"x\ny",2\n3,4,5\n', r"t\.csv, line 4: .* got 3"),
        ("a,b\n" + "1,2\n" * 50_000 + "3\n", r"t\.csv, line 50002: .* got 1"),
        ('a,b\n1,2\n3,"x\n4,5\n', r"t\.csv, line 3: quotes must be closed"),
        ("a,b\n", r"t\.csv: there must be rows below the header"),
        ("a,b", r"t\.csv: there must be rows below the header"),
        ("\n \n", r"t\.csv: the file must hold a table, but is empty"),
        ("a,b,a\n1,2,3\n", r"t\.csv: column names must be unique, but 'a' comes"),
        (
            b"a,b\n1,2\n3,caf\xe9\n",
            r"t\.csv, line 3: the text must be utf-8, but byte 0xe9 .*--encoding cp1252",
        ),
        (b"a,b\n1,\xe2\x82", r"t\.csv, line 2: the text must be utf-8, but byte 0xe2"),
        ("a,b\n1,2\n".encode("utf-16"), r"line 1: .*encoding='utf-16'"),
    ],
)
def test_a_file_with_a_fault_is_refused_with_its_line(
    read: Any, content: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read(content)


def test_bad_bytes_are_found_wherever_a_piece_of_the_file_ends(read: Any) -> None:
    for before in range(2**20 - 3, 2**20 + 3):
        content = b"a\n" + b"\xc3\xa9" * 5 + b"x" * (before - 12) + b"\xff\n"
        with pytest.raises(DataError, match=r"line 2: .*byte 0xff"):
            read(content)
        assert read(content.replace(b"\xff", b"\xe2\x82\xac")).num_rows == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": "::"}, "separator must be one ASCII character"),
        ({"separator": ""}, "separator must be one ASCII character"),
        ({"separator": '"'}, "separator must be one ASCII character"),
        ({"separator": "é"}, "separator must be one ASCII character"),
        ({"decimal": ","}, "decimal must be '.' or ',' and not the separator"),
        ({"decimal": "x"}, "decimal must be"),
        ({"encoding": "klingon"}, "encoding must be one that Python knows, got 'klingon'"),
    ],
)
def test_wrong_options_are_told_in_one_sentence(read: Any, options: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read("a,b\n1,2\n", **options)


# -- dates with dots ------------------------------------------------------------------------

MAY_8 = datetime.date(2023, 5, 8)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (
            ["08.05.2023", "9.5.2023", ""],
            [datetime.date(2023, 5, 8), datetime.date(2023, 5, 9), None],
        ),
        (["08.05.2023 14:30"], [datetime.datetime(2023, 5, 8, 14, 30)]),
        (["08.05.2023 14:30:15"], [datetime.datetime(2023, 5, 8, 14, 30, 15)]),
        (["08.05.2023", "soon"], ["08.05.2023", "soon"]),
        (["31.02.2023"], ["31.02.2023"]),
        (["1.2.3"], ["1.2.3"]),
        (["08/05/2023"], ["08/05/2023"]),
    ],
)
def test_dates_with_dots_are_dates_where_all_are_some(read, cells, expected):
    content = "when,a\n" + "".join(f"{cell},1\n" for cell in cells)
    assert read(content).to_pydict()["when"] == expected


def test_dates_with_dots_stay_text_where_the_user_says_so(read):
    table = read("when,a\n08.05.2023,1\n", as_text=["when"])
    assert table.to_pydict()["when"] == ["08.05.2023"]


def test_a_quoted_empty_header_gets_a_number(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('""\n1\n2\n')
    assert read_table(tmp_path / "t.csv").to_pydict() == {"column_1": [1, 2]}


@pytest.mark.parametrize("text", [",,\n,,\n", ";\n"])
def test_a_file_that_names_no_column_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match="the first line must name the columns, but none does"):
        read_table(tmp_path / "t.csv")
