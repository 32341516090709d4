"""Numbers, names and categories as they are printed."""

from __future__ import annotations

import doctest
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.tree.show import words
from treewright.tree.show.words import clean, clip, display_width, format_number, separate

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def test_the_examples_in_the_docstrings_hold() -> None:
    result = doctest.testmod(words)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (97.5, "97.5"),
        (-0.003761, "-0.003761"),
        (1234567.5, "1234567.5"),
        (1234567.8, "1234568"),
        (100.0, "100"),
        (1e300, "1e+300"),
        (1.5e-7, "1.5e-07"),
        (1e22, "1e+22"),
        (0.1 + 0.2, "0.3"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_short_but_keep_every_digit_before_the_point(number: float, text: str) -> None:
    assert format_number(number) == text


@given(FINITE)
def test_a_printed_number_is_near_the_number(x: float) -> None:
    assert float(format_number(x)) == pytest.approx(x, rel=1e-5, abs=1e-300)


@given(st.lists(FINITE, max_size=20))
def test_different_numbers_read_differently(values: list[float]) -> None:
    text = separate(values)
    assert set(text) == set(values)
    assert len(set(text.values())) == len(set(values))


@given(st.lists(st.floats(1, 2), min_size=2, max_size=6))
def test_near_numbers_keep_their_order(values: list[float]) -> None:
    text = separate(values)
    printed = [float(text[value]) for value in sorted(set(values))]
    assert printed == sorted(printed)


@given(st.text(st.characters()))
def test_cleaned_text_is_one_line_of_printable_characters(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert len(cleaned.splitlines()) <= 1
    assert not any(ord(c) < 32 or ord(c) == 127 for c in cleaned)


@given(st.text(), st.integers(1, 30))
def test_clipped_text_fits(text: str, room: int) -> None:
    assert display_width(clip(text, room)) <= max(room, 1)
