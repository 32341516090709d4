"""ARFF: declared values, quotes, gaps, dates and the line of what is wrong."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treewright.data import read_table
from treewright.data.encode import encode
from treewright.data.schema import Feature
from treewright.errors import DataError

WHOLE = r"""% a comment
@RELATION 'my data'

@attribute 'sepal length' NUMERIC
@Attribute count integer
@attribute outlook {sunny, 'over cast', "rain\"y" , '?'}
@attribute note string
@attribute when date "yyyy-MM-dd HH:mm"
@attribute tight{a,b}
@attribute plain_date DATE

@DATA
5.1, 3, sunny, 'it\'s, ok', "2020-01-01 12:30", a, 2020-01-01T00:00:01
% between rows
?,?,'over cast',?,?,b,?

1e3,	-4,'?',plain don't,'2020-01-02 00:00',?,'2020-01-02T00:00:00'
"""

HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Write the content to a file and read it."""

    def write_and_read(content: str | bytes, name: str = "t.arff", **options: Any) -> Any:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return read_table(tmp_path / name, **options)

    return write_and_read


def test_every_type_is_read(read: Any) -> None:
    table = read(WHOLE)
    assert table.to_pydict() == {
        "sepal length": [5.1, None, 1000.0],
        "count": [3.0, None, -4.0],
        "outlook": ["sunny", "over cast", "?"],
        "note": ["it's, ok", None, "plain don't"],
        "when": [datetime.datetime(2020, 1, 1, 12, 30), None, datetime.datetime(2020, 1, 2)],
        "tight": ["a", "b", None],
        "plain_date": [
            datetime.datetime(2020, 1, 1, 0, 0, 1),
            None,
            datetime.datetime(2020, 1, 2),
        ],
    }


def test_declared_values_keep_their_order_and_are_nominal(read: Any, tmp_path: Path) -> None:
    content = "@relation r\n@attribute s {small, large, medium}\n@data\nlarge\nmedium\n"
    table = read(content)
    feature = Feature("s", "nominal", ("small", "large", "medium"))
    assert encode(table).schema.features == (feature,)
    assert encode(table).columns[0].tolist() == [1, 2]
    assert encode(table.select(["s"]).slice(1)).schema.features == (feature,)


def test_values_that_look_like_numbers_stay_text(read: Any) -> None:
    content = "@relation r\n@attribute s {1, 2}\n@data\n2\n1\n"
    assert encode(read(content)).schema.features == (Feature("s", "nominal", ("1", "2")),)


def test_blanks_and_tabs_separate_where_there_is_no_comma(read: Any) -> None:
    assert read(HEAD + "1 x\n2\ty\n").to_pydict() == {"a": [1.0, 2.0], "b": ["x", "y"]}


def test_line_ends_gzip_and_other_encodings_are_read(read: Any) -> None:
    expected = {"a": [1.0], "b": ["x"]}
    content = (HEAD + "1,x\n").encode()
    assert read(content.replace(b"\n", b"\r\n")).to_pydict() == expected
    assert read(content.replace(b"\n", b"\r")).to_pydict() == expected
    assert read(b"\xef\xbb\xbf" + content).to_pydict() == expected
    assert read(gzip.compress(content), name="t.arff.gz").to_pydict() == expected
    german = "@relation r\n@attribute größe numeric\n@data\n1\n".encode("latin-1")
    assert read(german, encoding="latin-1").column_names == ["größe"]


def test_characters_that_python_takes_for_line_ends_may_stand_in_text(read: Any) -> None:
    content = "@relation r\n@attribute a string\n@data\n'one\u2028two\x0bthree'\n"
    assert read(content).to_pydict() == {"a": ["one\u2028two\x0bthree"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            HEAD + "1,x\n2,z\n",
            r"t\.arff, line 6: attribute 'b' must be one of its declared values.*'z'",
        ),
        (
            HEAD + "1,x\n%\n\nabc,x\n",
            r"line 8: attribute 'a' must be numeric, but a value is 'abc'",
        ),
        (HEAD + "1\n", r"line 5: every row must have 2 values .* got 1"),
        (HEAD + "1,x,y\n", r"line 5: .* got 3"),
        (HEAD + "1,'x','y'\n", r"line 5: .* got 3"),
        (HEAD + "{0 1, 1 x}\n", r"line 5: rows must be dense, but this is a sparse one"),
        (HEAD + "1,'x\n", r"line 5: quotes must be closed"),
        (HEAD, r"t\.arff: there must be rows below @data"),
        ("@relation r\n@attribute a numeric\n", r"t\.arff: the file must have a line @data"),
        ("@relation r\nhello\n", r"line 2: the header must hold @relation.*'hello'"),
        ("@attribute a relational\n@data\n1\n", r"line 1: .* but 'a' is 'relational'"),
        ("@attribute a\n@data\n1\n", r"line 1: an attribute needs a name and a type"),
        ("@data\n1\n", r"line 1: @data must follow attributes"),
        ("@attribute a {x,\n@data\n1\n", r"line 1: values must stand in"),
        ("@attribute a numeric\n@attribute a real\n@data\n1,2\n", r"'a' comes more than once"),
        ("@attribute d date 'QQQQ'\n@data\n1\n", r"line 1: the date format must use .*'QQQQ'"),
        ("@attribute d date\n@data\nyesterday\n", r"line 3: attribute 'd' must be date"),
        (b"@attribute a string\n@data\ncaf\xe9\n", r"line 3: the text must be utf-8"),
        (" \n", r"t\.arff: the file must hold a table, but is empty"),
    ],
)
def test_a_file_with_a_fault_is_refused_with_its_line(
    read: Any, content: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(content)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_date_format_that_says_a_part_twice_is_refused(read: Any) -> None:
    content = "@relation r\n@attribute a date 'yyyy-yyyy'\n@data\n2020-2020\n"
    with pytest.raises(
        DataError, match="line 2: a date format must use each part once, got 'yyyy'"
    ):
        read(content)


def test_blanks_between_quotes_are_read_in_one_pass(read: Any) -> None:
    blanks = " " * 200_000  # the square of this would take hours
    assert read(HEAD + f"'1'{blanks},{blanks}'x'\n").to_pydict() == {"a": [1.0], "b": ["x"]}
    with pytest.raises(DataError, match="quotes must be closed"):
        read(HEAD + f"1{blanks},{blanks}'x{blanks}y\n")


def test_many_attributes_are_read_in_one_pass(read: Any) -> None:
    n = 50_000  # the square of this would take a minute
    names = "".join(f"@attribute a{j} numeric\n" for j in range(n))
    with pytest.raises(DataError, match="'a7' comes more than once"):
        read(f"@relation r\n{names}@attribute a7 numeric\n@data\n")


def test_words_for_no_number_are_read_as_in_other_programs(read: Any) -> None:
    found = read(HEAD + "NaN,x\n-Infinity,y\n").column("a").to_pylist()
    assert np.isnan(found[0])
    assert found[1] == -np.inf
