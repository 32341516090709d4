"""Codes of texts: the kernel against its twin."""

import numpy as np
import pytest

from tests.twins import text as reference
from treewright.kernels import text_codes

COLUMNS = {
    "two classes": ["no", "yes", "yes", "no"],
    "with gaps": [None, "b", float("nan"), "a", np.float64("nan"), "b"],
    "empty text": ["", "a", "", None],
    "beyond ASCII": ["é", "e", "日本", "é", "日本語"],
    "a common beginning": ["12345678", "123456789", "12345678\0", "1234567"],
    "numpy's text": [np.str_("a"), "a", np.str_("b")],
    "one": ["a"],
    "no text": [None, float("nan")],
    "nothing": [],
    "numbers too": ["a", 1],
    "a number": ["a", 1.5],
    "bytes": [b"a", "a"],
    "a lone surrogate": ["a", "\ud800"],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_codes_are_those_of_the_twin(name):
    _compare(COLUMNS[name])


@pytest.mark.parametrize("n_texts", [3, 40, 5000])
def test_codes_of_many_rows_are_those_of_the_twin(n_texts):
    rng = np.random.default_rng(n_texts)
    texts = [f"{'x' * (k % 20)}{k}" for k in range(n_texts)]
    _compare([texts[k] for k in rng.integers(0, n_texts, 20_000)])


def test_an_array_of_objects_is_taken_too():
    codes, texts = text_codes(np.array(["b", None, "a", "b"], dtype=object))
    assert codes.tolist() == [0, -1, 1, 0]
    assert texts == ["b", "a"]


def _compare(values):
    found, wanted = text_codes(values), reference.text_codes(values)
    if wanted is None:
        assert found is None
        return
    assert found[0].dtype == np.int32
    assert found[0].tolist() == wanted[0].tolist()
    assert found[1] == wanted[1]
    assert all(type(text) is str for text in found[1])
