"""The functions that judge, explain and prune answer or refuse in a sentence, whatever they get."""

from __future__ import annotations

import pytest

from tests.odd_arguments import FUNCTIONS, faults_of


@pytest.mark.parametrize("name", FUNCTIONS)
def test_odd_arguments_end_in_an_answer_or_one_sentence(name):
    assert faults_of(name) == []
