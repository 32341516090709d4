"""The compiled split search against its twin, which tries everything."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.search_problems import (
    CLASS_CRITERIA,
    NUMBER_CRITERIA,
    check_candidate,
    search_problems,
)


@pytest.mark.parametrize("criterion", [*CLASS_CRITERIA, "generalized_gini", *NUMBER_CRITERIA])
@settings(max_examples=150)
@given(data=st.data())
def test_the_search_finds_what_its_twin_finds(criterion, data):
    problem = data.draw(search_problems(criterion))
    for feature, found in enumerate(problem.candidates()):
        check_candidate(problem, feature, found)
