"""scikit-learn's own contract."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.contract.estimators import everyone, predictions, seed, target_for
from treewright import expected_failed_checks

# One check hands out negative targets whatever the tags say, which no count can be; another sets
# a parameter of CART's trees, which a forest of other trees refuses.
CHECKED = [
    e
    for e in everyone()
    if e.get_params().get("criterion") != "poisson" and e.get_params().get("base") is None
]


# a check on noise may meet a first member that is no better than guessing, and says so
@pytest.mark.filterwarnings("default::treewright.errors.WeakMemberWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failed_checks)
def test_scikit_learn_finds_no_fault(estimator: Any, check: Any) -> None:
    check(estimator)


def test_no_tag_turns_checks_off(estimator: Any) -> None:
    tags = estimator.__sklearn_tags__()
    assert not tags._skip_test
    assert not tags.no_validation
    assert not tags.non_deterministic
    assert tags.requires_fit


def test_every_parameter_has_a_declared_constraint_and_a_line_of_documentation(
    estimator: Any,
) -> None:
    names = set(estimator.get_params(deep=False))
    assert set(estimator._parameter_constraints) == names
    documented = {line.split(" : ")[0] for line in type(estimator).__doc__.splitlines()}
    assert names <= documented


def test_weights_are_routed_through_a_search(plain: Any, columns: dict[str, Any]) -> None:
    y = target_for(plain, columns)
    X = pd.DataFrame(columns)
    weight = np.where(np.arange(120) < 60, 1.0, 5.0)
    seed(plain)
    with config_context(enable_metadata_routing=True):
        model = plain.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"n_jobs": [1]}, cv=3)
        search.fit(X, y, sample_weight=weight)
    best = search.best_estimator_
    alone = clone(best).fit(X, y, sample_weight=weight)
    assert_array_equal(predictions(best, X), predictions(alone, X))


def test_a_notebook_shows_the_parameters(plain: Any, columns: dict[str, Any]) -> None:
    html = plain.set_params(n_jobs=1).fit(columns, target_for(plain, columns))._repr_html_()
    assert type(plain).__name__ in html
    assert "n_jobs" in html
