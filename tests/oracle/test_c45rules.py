"""C45Rules against the recorded output of c4.5rules (release 8).

How c4.5rules codes conditions is published in outline only, so the choice among rules of almost
the same cost may differ; docs/comparisons/c45rules.md has the numbers. The list below is the
state of things: a data set that gets better, or worse, must be moved.
"""

from __future__ import annotations

import pytest

from tests.conftest import SHARED
from tests.oracle.c45rules_compare import compare_shared, compare_small, datasets_with_rules

DIFFERENT = {"cmc", "credit_g", "oj", "soybean"}
MORE_ERRORS = {"oj"}
"""Where our rules take fewer bits and make more training errors (153, c4.5rules 152): not met."""

MISSING = {"soybean": 3}
"""Printed rules that are not among those of our tree; it parts from C4.5's at one node there
(canker.lesion for seed.discolor), and made from the recorded tree all rules are found."""


@pytest.fixture(
    scope="module",
    params=["iris in repository", "titanic in repository", *datasets_with_rules(SHARED)],
)
def comparison(request):
    """What both say of a data set."""
    name, *small = request.param.split()
    return compare_small(name) if small else compare_shared(SHARED, name)


def test_the_recorded_runs_are_all_here(shared_dir):
    assert len(datasets_with_rules(shared_dir)) == 25


def test_the_rules_and_their_order_are_those_of_c45rules(comparison):
    expected = "different" if comparison.name in DIFFERENT else "equal"
    assert comparison.verdict == expected


def test_the_default_class_is_that_of_c45rules(comparison):
    assert comparison.default[0] == comparison.default[1]


def test_training_errors_are_those_of_c45rules_where_the_rules_are(comparison):
    if comparison.name not in DIFFERENT:
        assert comparison.n_errors == comparison.theirs.n_errors


def test_no_class_is_told_in_more_bits_than_by_the_rules_of_c45rules(comparison):
    assert max(comparison.extra_bits) < 1e-6


def test_other_rules_make_no_more_errors(comparison, request):
    if comparison.name in MORE_ERRORS:
        request.applymarker(pytest.mark.xfail(strict=True, reason="fewer bits, more errors"))
    assert comparison.n_errors <= comparison.theirs.n_errors


def test_other_rules_are_about_as_many(comparison):
    assert len(comparison.ours) <= len(comparison.their_rules) + 3
    assert comparison.n_shared >= 0.75 * len(comparison.their_rules)


def test_conditions_are_dropped_as_c45rules_drops_them(comparison):
    assert comparison.n_generalised == comparison.n_printed - MISSING.get(comparison.name, 0)
