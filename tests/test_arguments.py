"""Rules of arguments: what holds, what is handed on, and what an error says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from treewright.arguments import LIST, SEED, array, checked, number, whole
from treewright.errors import ParameterError


@checked(share=number(0, 1, is_open=True), count=whole(2), values=array("an array"))
def given(share: Any = 0.5, count: Any = None, values: Any = (1,)) -> tuple[Any, ...]:
    return share, count, values


def test_numbers_are_handed_on_as_python_has_them():
    share, count, values = given(Fraction(1, 4), np.int8(100), [1, 2])
    assert (type(share), share) == (float, 0.25)
    assert (type(count), count) == (int, 100)
    assert values.tolist() == [1, 2]
    assert given() == (0.5, None, (1,))


def test_any_iterable_is_a_list_and_any_random_state_a_seed():
    @checked(values=LIST, seed=SEED)
    def taken(values: Any = (), seed: Any = 0) -> tuple[Any, Any]:
        return values, seed

    assert taken(k for k in range(3)) == ([0, 1, 2], 0)
    assert taken({"a"}, np.uint8(7)) == (["a"], 7)
    drawn = [taken(seed=np.random.RandomState(1))[1] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert type(taken(seed=None)[1]) is int
    for value in ("abc", {"a": 1}, np.array(1)):
        with pytest.raises(ParameterError, match="values must be a list"):
            taken(value)


def test_a_missing_argument_is_told_with_the_name_of_the_function():
    with pytest.raises(TypeError, match=r"given\(\) got an unexpected keyword argument 'counts'"):
        given(counts=3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"share": 1}, "share must be a number above 0 and below 1, got 1; 0.5 is the default."),
        ({"share": float("nan")}, "got nan; "),
        ({"share": 10**400}, "got 1000"),
        ({"count": 1}, "count must be an integer of 2 or more, got 1; None is the default."),
        ({"count": 2.0}, "got 2.0"),
        ({"values": [[1, 2], [3]]}, "values must be an array, got "),
        ({"values": np.zeros((9, 9))}, "got array"),
    ],
)
def test_what_breaks_a_rule_is_refused_in_one_line(arguments, sentence):
    with pytest.raises(ParameterError) as error:
        given(**arguments)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
