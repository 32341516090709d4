"""Whether arrays are a forest: asked of everything that comes from a file.

The predictor checks structure and tests in one pass over the nodes; here is what it does not see:
types, lengths and the values of leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.errors import ModelFileError, ParameterError
from treewright.tree.forest.arrays import FOREST_ARRAYS, Forest
from treewright.tree.split import SplitKind

__all__ = ["check_forest"]

_FLOATS = ("importance", "gain", "clipped", "breaks", "term_weight", "leaf_value", "leaf_impurity")
_WEIGHTS = ("pair_weight", "leaf_weight")
_MATRICES = ("importance", "leaf_value")
_ALWAYS = (
    "node_offset",
    "importance",
    "n_children",
    "feature",
    "gap_branch",
    "closed",
    "breaks",
    "leaf_samples",
)
_CLASSES = ("leaf_classes", "pair_class", "pair_weight")
_NUMBERS = ("leaf_value", "leaf_weight", "leaf_impurity")
_TESTS = ("kind", "n_breaks", "n_codes", "codes", "branches")
_TERMS = ("n_terms", "term_feature", "term_weight", "term_code")


def _require(holds: Any, rule: str) -> None:
    if not holds:
        raise ModelFileError(
            f"The forest is damaged: it must have {rule}. Save the model again from its source."
        )


def _has_type(name: str, array: object) -> bool:
    if not isinstance(array, np.ndarray) or array.ndim != 1 + (name in _MATRICES):
        return False
    if name == "node_offset":
        return bool(array.dtype == np.int64)
    if name == "closed":
        return bool(array.dtype == np.bool_)
    if name in _FLOATS or (name in _WEIGHTS and array.dtype.kind == "f"):
        return bool(array.dtype == np.float64)
    return array.dtype in (np.uint8, np.uint16, np.uint32)


def _check_names(arrays: Mapping[str, NDArray[Any]], is_classification: bool) -> None:
    needed = {*_ALWAYS, *(_CLASSES if is_classification else _NUMBERS)}
    tests = set(_TESTS) & set(arrays)
    _require(not tests or tests == set(_TESTS), "all arrays of its tests or none")
    terms = set(_TERMS) & set(arrays)
    _require(not terms or (tests and terms == set(_TERMS)), "all arrays of linear tests or none")
    _require(("n_gaps" in arrays) == ("gain" in arrays), "gains where there are gaps")
    allowed = (
        needed
        | {*_TESTS, *_TERMS, "n_gaps", "gain"}
        | ({"clipped"} if is_classification else set())
    )
    _require(needed <= set(arrays) <= allowed, "the arrays of its kind and no others")
    for name, array in arrays.items():
        _require(_has_type(name, array), f"an array {name} of its documented type")


def check_forest(forest: Forest) -> None:
    """Raise :class:`treewright.errors.ModelFileError` unless the arrays of ``forest`` are sound."""
    schema, arrays = forest.schema, forest.arrays
    assert arrays is not None
    target = schema.target
    _require(target is not None, "a target")
    assert target is not None
    _check_names(arrays, target.is_classification)
    offset = arrays["node_offset"]
    _require(len(offset) >= 2 and offset[0] == 0, "at least one tree")
    _require(np.all(np.diff(offset) > 0), "trees with at least one node")
    _require(offset[-1] == len(arrays["n_children"]), "offsets that end at its nodes")
    n_inner = int(np.count_nonzero(arrays["n_children"]))
    sizes = {
        "node": len(arrays["n_children"]),
        "inner": n_inner,
        "leaf": len(arrays["n_children"]) - n_inner,
        "break": int(forest._inner("n_breaks").sum(dtype=np.int64)),
        "code": int(forest._inner("n_codes").sum(dtype=np.int64)),
        "term": int(forest._inner("n_terms").sum(dtype=np.int64)),
        "pair": int(arrays["leaf_classes"].sum(dtype=np.int64)) if target.is_classification else 0,
    }
    for name, array in arrays.items():
        per = FOREST_ARRAYS[name]
        if per != "tree":
            _require(len(array) == sizes[per], f"as many entries in {name} as it says")
    width = (len(offset) - 1, len(schema))
    _require(arrays["importance"].shape == width, "importances of its trees and features")
    _require(np.all(np.isfinite(arrays["importance"])), "finite importances")
    _require(np.all(arrays["gap_branch"] >= 2), "a branch for gaps at every test")
    _check_tests(forest, schema)
    _check_leaves(arrays, len(target.classes), target.n_outputs)
    try:
        _ = forest._predictor  # structure, features, breaks
    except ParameterError as error:
        raise ModelFileError(f"The forest is damaged: {error}") from None


def _check_tests(forest: Forest, schema: Schema) -> None:
    """Kinds that fit their features, ascending codes that exist, branches of theirs."""
    arrays = forest.arrays
    assert arrays is not None
    feature = arrays["feature"]
    _require(np.all(feature < len(schema)), "tests of features that exist")
    _require(not np.isnan(arrays["breaks"]).any(), "breaks that are numbers")
    kind, n_breaks, n_codes = (forest._inner(name) for name in ("kind", "n_breaks", "n_codes"))
    by_code = kind == SplitKind.CODES
    nominal = np.array([f.kind == "nominal" for f in schema.features], np.bool_)[feature]
    listed = np.array([f.is_categorical for f in schema.features], np.bool_)[feature]
    is_linear = kind == SplitKind.LINEAR
    fits = np.where(by_code, listed, is_linear | ((kind == SplitKind.BREAKS) & ~nominal))
    _require(np.all(fits), "tests that fit the kinds of its features")
    children = arrays["n_children"][arrays["n_children"] > 0]
    _require(np.all(n_breaks == np.where(by_code, 0, 1)), "one break for each cut")
    _require(np.all((n_codes > 0) == by_code), "codes for each test of categories")
    _require(np.all((forest._inner("n_terms") > 0) == is_linear), "terms for each linear test")
    if is_linear.any():
        _check_terms(arrays, schema)
    _require(np.all(children[~by_code] == 2), "two branches for each cut")
    branch = arrays["gap_branch"].astype(np.int64) - 2
    _require(np.all(branch < children), "branches for gaps that exist")
    if not by_code.any():
        return
    codes, branches = arrays["codes"].astype(np.int64), arrays["branches"]
    owner = np.repeat(np.arange(len(n_codes)), n_codes)
    most = np.array([len(f.categories) for f in schema.features])[feature][owner]
    _require(np.all(codes < most), "codes of categories that exist")
    _require(np.all((np.diff(codes) > 0) | (np.diff(owner) > 0)), "ascending codes")
    _require(np.all(branches < children[owner]), "branches that exist")


def _check_terms(arrays: Mapping[str, NDArray[Any]], schema: Schema) -> None:
    """Features that exist, with a category where they are nominal and only there."""
    feature, code = arrays["term_feature"], arrays["term_code"].astype(np.int64) - 1
    _require(np.all(feature < len(schema)), "terms of features that exist")
    _require(np.all(np.isfinite(arrays["term_weight"])), "weights of terms that are numbers")
    nominal = np.array([f.kind == "nominal" for f in schema.features], np.bool_)[feature]
    most = np.array([len(f.categories) for f in schema.features])[feature]
    _require(np.all(np.where(nominal, (code >= 0) & (code < most), code == -1)), "terms that fit")


def _check_leaves(arrays: Mapping[str, NDArray[Any]], n_classes: int, n_outputs: int) -> None:
    if not n_classes:
        _require(arrays["leaf_value"].shape[1] == n_outputs, "a value for each output")
        for name in _NUMBERS:
            _require(np.all(np.isfinite(arrays[name])), f"finite numbers in {name}")
        _require(np.all(arrays["leaf_weight"] >= 0), "weights that are not negative")
        return
    _require(np.all(arrays["leaf_classes"] >= 1), "a class at every leaf")
    _require(np.all(arrays["pair_class"] < n_classes), "classes that exist")
    weight = arrays["pair_weight"]
    _require(np.all(np.isfinite(weight)) and np.all(weight > 0), "weights above zero")
    if "clipped" in arrays:
        rate = arrays["clipped"]
        known = rate[~np.isnan(rate)]
        _require(n_classes == 2 and np.all((known >= 0) & (known <= 1)), "rates between 0 and 1")
