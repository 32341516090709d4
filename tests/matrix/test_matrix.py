"""The matrix finds what it is made to find; ``make matrix`` runs it."""

from __future__ import annotations

import dataclasses

import pytest

from tests.matrix import __main__ as matrix
from tests.matrix.cases import Case, draw_case, run, snippet
from tests.matrix.tables import COLUMNS, CONTAINERS, Description, build

TABLE = Description(3, 6, (("x0", "integers"), ("x1", "categories")), "two")


@pytest.fixture(scope="module")
def child():
    child = matrix.Child()
    yield child
    child.stop()


def test_a_case_is_drawn_again_and_travels_as_text():
    for number in range(50):
        case = draw_case(9, number)
        assert case == draw_case(9, number)
        assert Case.from_json(case.to_json()) == case


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_column_is_built_and_printed(kind):
    table = Description(5, 8, (("x0", kind),), "three", weights="orders")
    case = Case("CARTClassifier", {"max_depth": "3"}, table, ("predict",))
    compile(snippet(case), "snippet", "exec")
    assert len(build(table).new) >= 8


@pytest.mark.parametrize("container", CONTAINERS)
def test_ordinary_tables_pass_every_act(container):
    kinds = (("x0", "numbers"), ("x1", "integers"))
    table = Description(1, 30, kinds, "two", container=container)
    case = Case("CARTClassifier", {}, table, ("predict", "saved", "words", "as sqlite"))
    assert run(case) == {"ended": "fitted"}


def test_a_raw_exception_is_a_fault():
    found = run(Case("CARTClassifier", {"criterion": "[].pop()"}, TABLE, ()))
    assert found["kind"] == "IndexError"


def test_a_crash_is_one_failed_case(child):
    crash = {"max_depth": "__import__('os').abort()"}
    assert child.run(Case("CARTClassifier", crash, TABLE, ()))["kind"] == "signal"
    assert child.run(Case("CARTClassifier", {}, TABLE, ())) == {"ended": "fitted"}


def test_a_case_that_does_not_end_is_a_hang(child, monkeypatch):
    monkeypatch.setattr(matrix, "LIMIT", 0.2)
    hang = {"max_depth": "sum(1 for _ in iter(int, 1))"}
    assert child.run(Case("CARTClassifier", hang, TABLE, ()))["kind"] == "hang"


def test_a_fault_is_made_small(child):
    case = Case(
        "CARTClassifier",
        {"criterion": "'gini'", "max_depth": "[].pop()"},
        dataclasses.replace(TABLE, weights="orders", container="arrow"),
        ("predict", "words"),
    )
    small, fault = matrix.shrink(child, case, run(case))
    assert fault["kind"] == "IndexError"
    assert list(small.parameters) == ["max_depth"]
    assert small.acts == ()
    assert len(small.table.columns) == 1
    assert len(build(small.table).y) == 1
    assert small.table.weights == "none"
