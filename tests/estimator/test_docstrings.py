"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "treewright",
        "treewright.learners.cart",
        "treewright.learners.chaid",
        "treewright.learners._chaid.bins",
        "treewright.learners._chaid.multipliers",
        "treewright.learners._chaid.tails",
        "treewright.kernels.reference.row_effects",
        "treewright.learners.hunt",
        "treewright.tree.growing.stopping",
    ],
)
def test_examples_give_what_they_show(module: str) -> None:
    failed, tried = doctest.testmod(import_module(module))
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize(
    "name",
    [
        "CARTClassifier",
        "CARTRegressor",
        "CHAIDClassifier",
        "CHAIDRegressor",
        "HuntClassifier",
        "HuntRegressor",
    ],
)
def test_docstrings_describe_every_parameter_once(name: str) -> None:
    cls = getattr(import_module("treewright"), name)
    lines = cls.__doc__.splitlines()
    for parameter in cls._parameter_constraints:
        assert sum(line.startswith(f"{parameter} : ") for line in lines) == 1
    assert "{parameters}" not in cls.__doc__
    assert max(map(len, lines)) <= 100
