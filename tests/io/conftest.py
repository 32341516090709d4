"""Fixtures for model files."""

from __future__ import annotations

import pytest

import treewright
from tests.io.model_makers import FakeClassifier


@pytest.fixture
def fake_estimator(monkeypatch):
    """FakeClassifier among the public estimators of treewright."""
    monkeypatch.setattr(treewright, "FakeClassifier", FakeClassifier, raising=False)
    names = [*getattr(treewright, "__all__", ()), "FakeClassifier"]
    monkeypatch.setattr(treewright, "__all__", names, raising=False)
    return FakeClassifier
