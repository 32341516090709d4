"""MARS against the recorded runs of earth 5.3.2; docs/comparisons/mars.md has the figures."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import SHARED
from tests.oracle.earth_compare import Case, cases
from tests.oracle.recorded import SMALL, recorded_datasets

CLASSES = ["pima", "wdbc"]
NUMBERS = [name for name in recorded_datasets(SHARED, "earth") if name not in CLASSES]

#: Runs with the fast heuristics in which earth leaves out a predictor because of its unit.
BY_UNIT = {("boston_housing", "degree2"), ("boston_housing", "degree3")}
BY_UNIT |= {("boston_housing", f"degree{d}_noprune") for d in (2, 3)}


@pytest.fixture(scope="module", params=["hitters in repository", *NUMBERS])
def studied(request) -> list[Case]:
    name, *small = request.param.split()
    return cases(SMALL if small else SHARED, name)


def test_the_recorded_runs_are_all_here(shared_dir):
    assert len(recorded_datasets(shared_dir, "earth")) == 15


def test_terms_and_knots_are_those_of_earth(studied):
    for case in studied:
        is_same = case.has_same_forward_terms()
        known = case.is_tied or (case.dataset, case.key) in BY_UNIT
        assert is_same != known, (case.dataset, case.key)
        assert not (case.is_plain and (case.dataset, case.key) in BY_UNIT)


def test_the_terms_that_stay_their_coefficients_and_gcv_are_those_of_earth(studied):
    for case in studied:
        if not case.has_same_forward_terms():
            continue
        about = (case.dataset, case.key)
        assert case.has_same_selection(), about
        assert case.coefficient_error() < 1e-6, about
        assert abs(case.gcv_error()) < 1e-8, about
        for ours, theirs in (("rss_", "rss"), ("rsq_", "rsq"), ("grsq_", "grsq")):
            assert getattr(case.model, ours) == pytest.approx(case.run[theirs], rel=1e-8), about


def test_every_subset_of_the_pruning_path_is_that_of_earth(studied):
    for case in studied:
        if not case.has_same_forward_terms():
            continue
        expected = [np.array([t for t in row if t]) - 1 for row in case.run["prune_terms"]]
        subsets = case.model.subsets_
        for ours, theirs in zip(subsets.terms, expected, strict=True):
            np.testing.assert_array_equal(ours, np.sort(theirs))
        np.testing.assert_allclose(subsets.rss, case.run["rss_per_subset"], rtol=1e-7)


def test_gcv_is_never_more_than_one_percent_worse(studied):
    for case in studied:
        if not case.key.endswith("_noprune"):
            assert case.gcv_error() < 0.01, (case.dataset, case.key, case.gcv_error())


def test_importances_are_those_of_earth(studied):
    for case in studied:
        one_column_each = len(case.model._predictors) == len(case.model._schema)
        if not case.has_same_forward_terms() or not one_column_each or not case.run["evimp"]:
            continue
        found = case.model.importance()
        for row in case.run["evimp"]:
            k = int(row["col"]) - 1
            assert found.nsubsets[k] == row["nsubsets"]
            assert found.rss[k] == pytest.approx(row["rss"], rel=1e-6, abs=1e-6)
            assert found.gcv[k] == pytest.approx(row["gcv"], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", CLASSES)
def test_logistic_coefficients_are_those_of_earths_glm(shared_dir, name):
    compared = 0
    for case in cases(shared_dir, name):
        assert case.gcv_error() < 0.01, (name, case.key)
        if not case.has_same_forward_terms():
            assert name == "wdbc"  # columns of small numbers, which earth leaves out by their unit
            continue
        glm = case.run["glm_coef"][0]
        expected = [glm.get(f"`{term}`", glm.get(term)) for term in case.selected_names()]
        if max(map(abs, expected)) > 1e10:  # separated classes: glm ran away
            assert np.abs(case.model.coefficients_).max() < 1e10
            continue
        np.testing.assert_allclose(case.model.coefficients_, expected, rtol=1e-6)
        compared += 1
    assert compared == (2 if name == "pima" else 0)
