"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
from importlib import import_module

import matplotlib
import pytest


@pytest.mark.parametrize(
    "module",
    [
        "_bias_variance",
        "_boundary",
        "_cross_validate",
        "_curves",
        "_evaluate",
        "_evaluation",
        "_generalization",
        "_intervals",
        "_threshold",
        "cost_sensitive",
    ],
)
def test_examples_give_what_they_show(module: str) -> None:
    matplotlib.use("Agg")
    failed, tried = doctest.testmod(
        import_module(f"treewright.evaluation.{module}"), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert tried > 0
    assert failed == 0
