"""Our own types in a model file: schema, splits, tree, rule set, estimator.

A structure is checked for its types here, on the way in and on the way out, so that what was
saved can be loaded. What the names and numbers mean (kinds, children, codes, offsets) is
checked by :mod:`treewright.tree.check`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

import treewright
from treewright.criteria import CRITERIA
from treewright.data.categories import plain_values
from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ModelFileError
from treewright.io._forest import pack_forest, unpack_forest
from treewright.io._values import Encoder, Structure
from treewright.rules import RuleSet
from treewright.rules._serialize import body_from_dict, body_to_dict
from treewright.tree.check import check_schema, check_structure
from treewright.tree.forest.check import check_forest
from treewright.tree.forest.grow import Forest
from treewright.tree.growing.recipe import ClassCosts
from treewright.tree.growing.stopped import Stopping
from treewright.tree.node_tests import TEST_DTYPES, NodeTests
from treewright.tree.pruning_log import LOG_DTYPES, PruningLog
from treewright.tree.split import SPLIT_DTYPES, Splits
from treewright.tree.split_counts import COUNT_DTYPES, SplitCounts
from treewright.tree.tree import TREE_DTYPES, Tree

__all__ = ["STRUCTURES", "is_fitted", "is_ours"]

_MATRICES = ("value", "counts", "axis_range")  # all other arrays of a tree have one axis
_SCHEMA_PARTS = ("names", "kinds", "categories", "named", "target")
_TARGET_PARTS = ("name", "classes", "n_outputs", "class_factor", "outputs")
_ESTIMATOR_PARTS = ("class", "parameters", "state")
_OPTIONAL_PARTS: dict[str, type[Any]] = {
    "tests": NodeTests,
    "pruning_log": PruningLog,
    "stopping": Stopping,
    "counts": SplitCounts,
}


def _check_parts(what: str, parts: Mapping[str, object], names: tuple[str, ...]) -> None:
    if set(parts) != set(names):
        odd = ", ".join(sorted(map(str, set(parts) ^ set(names)))[:5])
        raise ModelFileError(f"its {what} lacks or has too many of these: {odd[:200]}")


def _check_arrays(
    what: str, parts: Mapping[str, object], dtypes: Mapping[str, type[np.generic]]
) -> None:
    for name, dtype in dtypes.items():
        array = parts[name]
        n_axes = 2 if name in _MATRICES else 1
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != n_axes:
            raise ModelFileError(
                f"{name} of its {what} is not an array of {dtype.__name__} with {n_axes} axes"
            )


# Schema: columns of names, kinds and categories, so that long ones become arrays.


def _take_schema_apart(schema: Schema) -> dict[str, object]:
    target = schema.target
    parts: dict[str, object] = {
        "names": list(schema.names),
        "kinds": [feature.kind for feature in schema.features],
        "categories": [list(feature.categories) for feature in schema.features],
        "named": schema.named,
        "target": target
        and {
            "name": target.name,
            "classes": list(target.classes),
            "n_outputs": target.n_outputs,
            "class_factor": [float(factor) for factor in target.class_factor],
        },
    }
    if any(feature.time for feature in schema.features):
        parts["times"] = [[f.time, f.zone] if f.time else [] for f in schema.features]
    _build_schema(parts)
    return parts


def _build_schema(parts: dict[str, Any]) -> Schema:
    times = parts.get("times", [[]] * len(parts.get("names", ())))
    _check_parts("schema", {**parts, "times": times}, (*_SCHEMA_PARTS, "times"))
    names, kinds, categories = parts["names"], parts["kinds"], parts["categories"]
    columns = (names, kinds, categories, times)
    if any(type(column) is not list or len(column) != len(names) for column in columns):
        raise ModelFileError("names, kinds, categories and times of its schema do not match")
    if any(type(text) is not str for text in (*names, *kinds)) or type(parts["named"]) is not bool:
        raise ModelFileError("its schema has a name or a kind that is not a text")
    features = tuple(
        Feature(name, kind, _categories(f"feature {name!r:.80}", values), *_time(name, time))
        for name, kind, values, time in zip(names, kinds, categories, times, strict=True)
    )
    target = _build_target(parts["target"])
    schema = Schema(features, parts["named"], target)
    # a table's schema has no target; the one put in its place satisfies the check
    check_schema(schema if target is not None else replace(schema, target=Target("")))
    return schema


def _time(name: str, parts: object) -> list[Any]:
    """What the moments of a feature are and their zone, or nothing."""
    if (
        type(parts) is not list
        or len(parts) not in (0, 2)
        or any(type(p) is not str for p in parts)
    ):
        raise ModelFileError(f"feature {name!r:.80} of its schema has no sound kind of time")
    return parts


def _build_target(parts: Any) -> Target | None:
    if parts is None:
        return None
    if type(parts) is not dict:
        raise ModelFileError("the target of its schema is not an object")
    parts = {"outputs": [], **parts}
    _check_parts("target", parts, _TARGET_PARTS)
    name, classes, n_outputs, factor, outputs = (parts[key] for key in _TARGET_PARTS)
    if type(outputs) is not list or any(type(word) is not str for word in outputs):
        raise ModelFileError("the outputs of its schema are not a list of names")
    if type(factor) is not list or any(type(number) is not float for number in factor):
        raise ModelFileError("the class factors of its schema are not a list of floats")
    if classes and n_outputs != 1:
        raise ModelFileError("the target of its schema has classes and several outputs")
    classes = _categories("the target", classes)
    return Target(name, classes, n_outputs, tuple(factor), tuple(outputs))


def _categories(what: str, values: object) -> tuple[Any, ...]:
    """Categories are plain values that equal themselves; a gap is never one."""
    if type(values) is not list or any(
        type(value) not in (str, int, float, bool) or value != value for value in values
    ):
        raise ModelFileError(
            f"{what} of its schema has a category that is not a str, int, float or bool"
        )
    return tuple(values)


# Splits and Tree: their fields as they are.


def _take_splits_apart(splits: Splits) -> dict[str, object]:
    parts: dict[str, object] = dict(splits.stored())
    _check_arrays("splits", parts, _split_dtypes(parts))
    return parts


def _build_splits(parts: dict[str, Any]) -> Splits:
    dtypes = _split_dtypes(parts)
    _check_parts("splits", parts, tuple(dtypes))
    _check_arrays("splits", parts, dtypes)
    return Splits(**parts)


def _split_dtypes(parts: Mapping[str, object]) -> dict[str, type[np.generic]]:
    """What is read of splits: codes of terms are there only where some term has one."""
    return {name: t for name, t in SPLIT_DTYPES.items() if name != "term_code" or name in parts}


def _take_tests_apart(tests: NodeTests) -> dict[str, object]:
    parts: dict[str, object] = dict(tests.arrays())
    _check_arrays("tests", parts, TEST_DTYPES)
    return parts


def _build_tests(parts: dict[str, Any]) -> NodeTests:
    _check_parts("tests", parts, tuple(TEST_DTYPES))
    _check_arrays("tests", parts, TEST_DTYPES)
    return NodeTests(**parts)


def _take_counts_apart(counts: SplitCounts) -> dict[str, object]:
    parts: dict[str, object] = dict(counts.arrays())
    _check_arrays("counts", parts, COUNT_DTYPES)
    return parts


def _build_counts(parts: dict[str, Any]) -> SplitCounts:
    _check_parts("counts", parts, tuple(COUNT_DTYPES))
    _check_arrays("counts", parts, COUNT_DTYPES)
    return SplitCounts(**parts)


def _take_log_apart(log: PruningLog) -> dict[str, object]:
    parts: dict[str, object] = {**log.arrays(), "rules": [list(rule) for rule in log.rules]}
    _check_arrays("pruning log", parts, LOG_DTYPES)
    return parts


def _build_log(parts: dict[str, Any]) -> PruningLog:
    _check_parts("pruning log", parts, (*LOG_DTYPES, "rules"))
    _check_arrays("pruning log", parts, LOG_DTYPES)
    rules = parts["rules"]
    if type(rules) is not list or any(type(r) is not list or len(r) != 2 for r in rules):
        raise ModelFileError("the rules of its pruning log are not pairs of texts")
    return PruningLog(**parts | {"rules": tuple(tuple(rule) for rule in rules)})


def _build_stopping(parts: dict[str, Any]) -> Stopping:
    try:
        return Stopping.from_dict(parts)
    except ValueError as error:
        raise ModelFileError(str(error)) from None


def _take_tree_apart(tree: Tree) -> dict[str, object]:
    parts = {field.name: getattr(tree, field.name) for field in fields(tree)}
    parts["extras"] = dict(tree.extras)
    _build_tree(dict(parts))
    for name in _OPTIONAL_PARTS:
        if parts[name] is None:
            del parts[name]
    return parts


def _build_tree(parts: dict[str, Any]) -> Tree:
    parts = {**dict.fromkeys(_OPTIONAL_PARTS), **parts}
    _check_parts("tree", parts, tuple(field.name for field in fields(Tree)))
    _check_arrays("tree", parts, TREE_DTYPES)
    types = {"schema": Schema, "splits": Splits, "surrogates": Splits, "extras": dict}
    for name, kind in types.items():
        if type(parts[name]) is not kind:
            raise ModelFileError(f"{name} of its tree is not of the type {kind.__name__}")
    for name, kind in _OPTIONAL_PARTS.items():
        if parts[name] is not None and type(parts[name]) is not kind:
            raise ModelFileError(f"{name} of its tree is not of the type {kind.__name__}")
    if any(not isinstance(column, np.ndarray) for column in parts["extras"].values()):
        raise ModelFileError("its tree has extras that are no arrays")
    tree = Tree(**parts)
    check_structure(tree)
    return tree


# Forests: their arrays as they are, or trees packed for the purpose.


def _take_forest_apart(forest: Forest) -> dict[str, object]:
    if forest.arrays is None:
        return pack_forest(forest)
    costs = forest.costs
    factors = None if costs is None else (costs.split_factor, costs.proba_factor)
    return {
        "schema": forest.schema,
        "arrays": dict(forest.arrays),
        "criterion": forest.criterion,
        "factors": None if factors is None else [list(map(float, f)) for f in factors],
        "loss": None if costs is None or costs.loss is None else costs.loss.tolist(),
        "generalized": costs is not None and costs.generalized,
    }


def _build_forest(parts: dict[str, Any]) -> Forest:
    if "arrays" not in parts:
        return _build_packed_forest(parts)
    names = ("schema", "arrays", "criterion", "factors", "loss", "generalized")
    _check_parts("forest", parts, names)
    schema, arrays, criterion = parts["schema"], parts["arrays"], parts["criterion"]
    if type(schema) is not Schema or schema.target is None or type(arrays) is not dict:
        raise ModelFileError("its forest has no schema with a target, or no arrays")
    if criterion not in CRITERIA:
        raise ModelFileError(f"its forest has the unknown criterion {str(criterion)[:100]!r}")
    forest = Forest(schema, arrays, criterion=criterion, costs=_build_costs(parts, schema.target))
    check_forest(forest)
    return forest


def _build_packed_forest(parts: dict[str, Any]) -> Forest:
    forest = unpack_forest(parts)
    if "trees" not in parts:  # whole trees were checked when they were built
        for k in range(len(forest)):
            tree = forest.tree(k)
            _check_arrays("tree", {n: getattr(tree, n) for n in TREE_DTYPES}, TREE_DTYPES)
            check_structure(tree)
    return forest


def _build_costs(parts: dict[str, Any], target: Target) -> ClassCosts | None:
    if parts["factors"] is None:
        return None
    n = len(target.classes)
    try:
        factors = np.array(parts["factors"], np.float64)
        loss = None if parts["loss"] is None else np.array(parts["loss"], np.float64)
    except (TypeError, ValueError):
        raise ModelFileError("the costs of its forest are no numbers") from None
    shapes = factors.shape == (2, n) and (loss is None or loss.shape == (n, n))
    if not shapes or not np.all(np.isfinite(factors)) or np.any(factors < 0):
        raise ModelFileError("the costs of its forest do not fit its classes")
    return ClassCosts(factors[0], factors[1], loss, parts["generalized"] is True)


# Rule sets: their JSON form, with the schema as everywhere in a file.


def _take_rules_apart(rules: RuleSet) -> dict[str, object]:
    return {"schema": rules.schema, "body": body_to_dict(rules)}


def _build_rules(parts: dict[str, Any]) -> RuleSet:
    _check_parts("rule set", parts, ("schema", "body"))
    schema, body = parts["schema"], parts["body"]
    if type(schema) is not Schema or schema.target is None or type(body) is not dict:
        raise ModelFileError("its rule set has no schema with a target, or no rules")
    return body_from_dict(body, schema)


# Estimators: class name, parameters and what ``_state`` gives.


def is_ours(value: object) -> bool:
    """Whether ``value`` is an estimator that a file can name: a public one of treewright."""
    return _public_estimator(type(value).__name__) is type(value)


def _public_estimator(name: object) -> type[Any] | None:
    """The estimator called ``name``; nothing else can be reached from a file."""
    from sklearn.base import BaseEstimator

    if not isinstance(name, str) or name not in treewright.__all__:
        return None
    found = getattr(treewright, name)
    is_estimator = isinstance(found, type) and issubclass(found, BaseEstimator)
    return found if is_estimator and hasattr(found, "_restore") else None


def is_fitted(estimator: Any) -> bool:
    """Whether there is anything to save but parameters."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def _take_estimator_apart(estimator: Any) -> dict[str, object]:
    # a base estimator among the parameters of an ensemble has not been fitted
    state = None
    if is_fitted(estimator):
        _check_parameters(estimator)
        state = dict(estimator._state())
    parameters = dict(estimator.get_params(deep=False))
    if isinstance(orders := parameters.get("ordinal_features"), Mapping):
        named = {name: _storable(order, name) for name, order in orders.items()}
        parameters["ordinal_features"] = named
    return {"class": type(estimator).__name__, "parameters": parameters, "state": state}


def _storable(order: Any, name: Any) -> Any:
    """Categories in order as they are, or as what they stand for: dates as text."""
    try:
        Encoder().encode(order)
    except ModelFileError:
        return plain_values(order, str(name))
    return order


def _build_estimator(parts: dict[str, Any]) -> object:
    _check_parts("estimator", parts, _ESTIMATOR_PARTS)
    name, parameters, state = (parts[key] for key in _ESTIMATOR_PARTS)
    cls = _public_estimator(name)
    if cls is None:
        raise ModelFileError(
            f"it holds the estimator {str(name)[:100]!r}, which this version of treewright does "
            "not have; use the version that wrote it"
        )
    if type(parameters) is not dict or not set(parameters) <= set(cls._get_param_names()):
        raise ModelFileError(f"it has parameters that {name} of this version does not have")
    if state is not None and type(state) is not dict:
        raise ModelFileError(f"what {name} learned is not an object")
    estimator = cls(**parameters)
    if state is not None:
        _check_parameters(estimator)
        estimator._restore(state)
    return estimator


def _check_parameters(estimator: Any) -> None:
    """Parameters follow the rules of ``fit``; predict relies on some of them, too."""
    from sklearn.utils._param_validation import InvalidParameterError

    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        raise ModelFileError(str(error).replace(". Got", ", got")) from error


def _is(kind: type[Any]) -> Any:
    return lambda value: type(value) is kind


STRUCTURES = (
    Structure("$tree", _is(Tree), _take_tree_apart, _build_tree),
    Structure("$splits", _is(Splits), _take_splits_apart, _build_splits),
    Structure("$tests", _is(NodeTests), _take_tests_apart, _build_tests),
    Structure("$pruning_log", _is(PruningLog), _take_log_apart, _build_log),
    Structure("$counts", _is(SplitCounts), _take_counts_apart, _build_counts),
    Structure("$stopping", _is(Stopping), Stopping.to_dict, _build_stopping),
    Structure("$schema", _is(Schema), _take_schema_apart, _build_schema),
    Structure("$forest", _is(Forest), _take_forest_apart, _build_forest),
    Structure("$rules", _is(RuleSet), _take_rules_apart, _build_rules),
    Structure("$estimator", is_ours, _take_estimator_apart, _build_estimator),
)
"""A new kind of model (a forest) is a row here."""
