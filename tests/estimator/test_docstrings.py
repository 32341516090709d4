"""Docstrings list what there is: every parameter, every fitted attribute; private examples run."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treewright
from tests.contract.estimators import make, mixed_columns, target_for
from treewright.datasets import load_play_tennis

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import public_names


@pytest.mark.parametrize(
    "module",
    [
        "treewright",
        "treewright.learners.cart",
        "treewright.learners.chaid",
        "treewright.learners._chaid.bins",
        "treewright.learners._chaid.multipliers",
        "treewright.learners._chaid.tails",
        "tests.twins.row_effects",
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
    assert "or None or None" not in cls.__doc__
    assert max(map(len, lines)) <= 100


def sections(value: Any) -> dict[str, dict[str, str]]:
    """Entry to meaning of every section of a numpydoc docstring."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", inspect.cleandoc(value.__doc__), flags=re.M)
    found: dict[str, dict[str, str]] = {}
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        entries = re.findall(r"^(\S.*)\n?((?:(?: .*)?\n)*(?: .*)?)", body, re.M)
        found[title] = {
            name.strip().lstrip("*"): meaning
            for left, meaning in entries
            for name in left.split(" : ")[0].split(",")
        }
    return found


CALLABLE = public_names.public() | {
    path: public_names.function_of(member)
    for path, (member, _) in public_names.methods().items()
    if not public_names.is_property(member)
}


def test_docstrings_list_the_parameters_of_the_signature_in_its_order() -> None:
    wrong = {}
    for path, value in CALLABLE.items():
        if path.startswith("treewright.errors.") or value.__name__ in public_names.OWN_USE:
            continue
        has = [name for name in inspect.signature(value).parameters if name not in ("self", "cls")]
        listed = list(sections(value).get("Parameters", {}))
        if listed != has:
            wrong[path] = (listed, has)
    assert wrong == {}


def test_docstrings_give_the_defaults_of_the_signature() -> None:
    same = {"1/3": "0.3333333333333333"}
    wrong = []
    for path, value in CALLABLE.items():
        if path.startswith("treewright.errors."):
            continue
        has = inspect.signature(value).parameters
        for names, said in re.findall(r"^ *(\w.*) : .*default=(.+)$", value.__doc__, re.M):
            for name in names.split(", "):
                if name in has and same.get(said, said.replace('"', "'")) != repr(
                    has[name].default
                ):
                    wrong.append((path, name, said))
    assert wrong == []


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_attributes_are_those_that_the_docstring_lists(name: str) -> None:
    model, X = make(name), mixed_columns()
    y = target_for(model, X)
    if name == "ID3Classifier":
        X, y = load_play_tennis().data, load_play_tennis().target
    elif name == "CostSensitiveClassifier":
        model.set_params(estimator=treewright.CARTClassifier(), costs=np.ones((3, 3)) - np.eye(3))
    elif name == "FeatureSelector":
        y = y > 1
    model.fit(X, y)
    listed = sections(type(model))["Attributes"]
    kept = {key for key in (*vars(model), *dir(type(model))) if re.fullmatch(r"[a-z]\w*_", key)}
    if "costs" not in model.get_params():
        kept -= {"cost_matrix_"}  # None, and said where it can be more
    assert {key for key in kept if hasattr(model, key)} <= set(listed)
    lacking = [key for key in listed if not hasattr(model, key)]
    assert [key for key in lacking if not re.search(r"with ``|where", listed[key])] == []
