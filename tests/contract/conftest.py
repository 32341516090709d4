"""Every estimator, fresh for each test."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import clone

from tests.contract.estimators import defaults, everyone, identify, mixed_columns


@pytest.fixture(params=everyone(), ids=identify)
def estimator(request: pytest.FixtureRequest) -> Any:
    """Each estimator in all of its variants."""
    return clone(request.param)


@pytest.fixture(params=defaults(), ids=identify)
def plain(request: pytest.FixtureRequest) -> Any:
    """Each estimator with its defaults."""
    return clone(request.param)


@pytest.fixture
def columns() -> dict[str, Any]:
    """A small table of mixed columns with gaps."""
    return mixed_columns()
