"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

import treewright


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


ESTIMATORS = [
    name
    for name in treewright.__all__
    if hasattr(getattr(treewright, name), "_parameter_constraints")
]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_docstrings_describe_every_parameter_and_attribute_once(name: str) -> None:
    cls = getattr(treewright, name)
    lines = cls.__doc__.splitlines()
    fitted = {"ClassifierMixin": "classes_", "NumberTarget": "n_outputs_"}
    expected = [fitted[base.__name__] for base in cls.__mro__ if base.__name__ in fitted]
    for described in [*cls._parameter_constraints, *expected, "n_features_in_"]:
        assert sum(line.startswith(f"{described} : ") for line in lines) == 1, described
    assert "{parameters}" not in cls.__doc__
    assert "{attributes}" not in cls.__doc__
    assert max(map(len, lines)) <= 100
