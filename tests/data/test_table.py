"""Table: immutable, without copies, with the rows one asks for."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from treewright.data.encode import encode
from treewright.data.table import Table
from treewright.errors import DataError


def mixed() -> Table:
    return encode({"size": [1.5, None, 3.0, 4.0], "colour": ["red", "blue", None, "red"]})


def test_columns_of_an_array_are_views_of_it() -> None:
    X = np.arange(12.0).reshape(4, 3)
    table = encode(X)
    assert table.block is X
    assert len(table.columns) == 3
    assert all(np.shares_memory(column, X) for column in table.columns)
    assert_array_equal(table.columns[1], X[:, 1])


@pytest.mark.parametrize("name", ["schema", "n_rows", "columns", "block", "has_gaps", "extra"])
def test_a_table_cannot_be_changed(name: str) -> None:
    table = mixed()
    with pytest.raises(AttributeError, match="cannot be changed"):
        setattr(table, name, None)


def test_a_table_cannot_lose_an_attribute() -> None:
    with pytest.raises(AttributeError, match="cannot be changed"):
        del mixed().schema


def test_codes_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        mixed().columns[1][0] = 1


def test_taken_rows_may_repeat_and_forget_gaps_they_lost() -> None:
    table = mixed()
    assert table.has_gaps.tolist() == [True, True]
    taken = table.take(np.array([3, 0, 0]))
    assert taken.schema is table.schema
    assert taken.n_rows == len(taken) == 3
    assert taken.columns[0].tolist() == [4.0, 1.5, 1.5]
    assert taken.columns[1].tolist() == [1, 1, 1]
    assert taken.has_gaps.tolist() == [False, False]
    assert table.take(np.array([1, 2])).has_gaps.tolist() == [True, True]


def test_rows_are_taken_by_mask_too() -> None:
    taken = mixed().take(np.array([False, True, True, False]))
    assert_array_equal(taken.columns[0], [np.nan, 3.0])
    assert taken.columns[1].tolist() == [0, -1]


def test_rows_taken_of_a_block_are_a_block() -> None:
    X = np.array([[1.0, np.nan], [2.0, 3.0]], np.float32)
    taken = encode(X).take(np.array([1, 1]))
    assert taken.block is not None
    assert taken.block.dtype == np.float32
    assert_array_equal(taken.block, [[2, 3], [2, 3]])
    assert taken.has_gaps.tolist() == [False, False]


def test_a_pickled_table_is_the_same() -> None:
    for table in (mixed(), encode(np.array([[1.0, np.nan]]))):
        table.columns  # noqa: B018  makes the views that pickling must leave out
        again = pickle.loads(pickle.dumps(table))
        assert again.schema == table.schema
        assert again.n_rows == table.n_rows
        assert (again.block is None) == (table.block is None)
        assert_array_equal(again.has_gaps, table.has_gaps)
        for one, other in zip(again.columns, table.columns, strict=True):
            assert_array_equal(one, other)


def test_a_table_says_what_it_holds() -> None:
    assert repr(mixed()) == "Table(4 rows, 2 columns: 1 continuous, 1 nominal)"


def test_a_table_may_look_for_gaps_when_it_is_asked() -> None:
    schema = encode(np.ones((2, 3))).schema
    X = np.array([[1.0, np.nan, 2.0]])
    table = encode(X, schema=schema, later=True)
    assert not table.is_checked
    assert table.has_gaps.tolist() == [False, True, False]
    assert table.is_checked
    X[0, 2] = np.inf
    table = encode(X, schema=schema, later=True)
    with pytest.raises(DataError, match="column 'x2' contains infinity"):
        _ = table.has_gaps
