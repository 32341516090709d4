"""A tree as a dict that JSON can hold, and back.

Flat like the tree itself: one list per array. Floats pass as Python floats, whose repr is
exact; JSON has no inf or NaN, so these become the strings "inf", "-inf" and "nan". Reading
trusts nothing: types first, then :func:`check_structure`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ModelFileError
from treewright.tree.check import check_schema, check_structure
from treewright.tree.growing.stopped import Stopping
from treewright.tree.node_tests import TEST_DTYPES, NodeTests
from treewright.tree.pruning_log import LOG_DTYPES, PruningLog
from treewright.tree.split import SPLIT_DTYPES, Splits
from treewright.tree.split_counts import COUNT_DTYPES, SplitCounts
from treewright.tree.tree import TREE_DTYPES, Tree

__all__ = ["FORMAT", "schema_from_dict", "schema_to_dict", "tree_from_dict", "tree_to_dict"]

FORMAT = 1
"""Number of the layout; a reader refuses higher ones."""

EXTRA_DTYPES = frozenset(
    ("bool", "float32", "float64", *(f"{sign}int{8 << k}" for sign in ("", "u") for k in range(4)))
)


def tree_to_dict(tree: Tree) -> dict[str, Any]:
    """The tree as nested dicts of lists; see :meth:`Tree.to_dict`."""
    data = {
        "format": FORMAT,
        "schema": schema_to_dict(tree.schema),
        "nodes": {name: _to_list(getattr(tree, name)) for name in TREE_DTYPES},
        "splits": {name: _to_list(array) for name, array in tree.splits.stored().items()},
        "surrogates": {name: _to_list(array) for name, array in tree.surrogates.stored().items()},
        "extras": {
            name: {"dtype": str(column.dtype), "values": _to_list(column)}
            for name, column in tree.extras.items()
        },
    }
    if tree.tests is not None:
        data["tests"] = {name: _to_list(array) for name, array in tree.tests.arrays().items()}
    if tree.counts is not None:
        data["counts"] = {name: _to_list(array) for name, array in tree.counts.arrays().items()}
    if tree.stopping is not None:
        data["stopping"] = tree.stopping.to_dict()
    if tree.pruning_log is not None:
        log = tree.pruning_log
        data["pruning_log"] = {
            "rules": [list(rule) for rule in log.rules],
            **{name: _to_list(array) for name, array in log.arrays().items()},
        }
    return data


def tree_from_dict(data: Mapping[str, Any]) -> Tree:
    """The tree that :func:`tree_to_dict` made ``data`` of; see :meth:`Tree.from_dict`."""
    version = _get(data, "format", int, "the tree")
    if version > FORMAT:
        raise ModelFileError(
            f"The tree has format {version}, but this release reads formats up to {FORMAT}: "
            "use a newer treewright."
        )
    if version < 1:
        _fail(f"format must be a positive integer, got {version}")
    schema = schema_from_dict(_get(data, "schema", Mapping, "the tree"))
    nodes = _get(data, "nodes", Mapping, "the tree")
    arrays = {name: _to_array(nodes, name, dtype) for name, dtype in TREE_DTYPES.items()}
    target = schema.target
    width = 0 if target is None else len(target.classes) or target.n_outputs
    if arrays["value"].size == 0:
        arrays["value"] = arrays["value"].reshape(-1, width)
    tree = Tree(
        schema=schema,
        splits=_splits(data, "splits"),
        surrogates=_splits(data, "surrogates"),
        extras=_extras(_get(data, "extras", Mapping, "the tree")),
        tests=_tests(data.get("tests")),
        pruning_log=_log(data.get("pruning_log")),
        stopping=_stopping(data.get("stopping")),
        counts=_counts(data.get("counts")),
        **arrays,
    )
    check_structure(tree)
    return tree


def schema_to_dict(schema: Schema) -> dict[str, Any]:
    """The schema as a dict that JSON can hold."""
    target = schema.target
    return {
        "named": schema.named,
        "features": [
            {
                "name": feature.name,
                "kind": feature.kind,
                "categories": [_category_out(value) for value in feature.categories],
                **({"time": feature.time, "zone": feature.zone} if feature.time else {}),
            }
            for feature in schema.features
        ],
        "target": None
        if target is None
        else {
            "name": target.name,
            "classes": [_category_out(value) for value in target.classes],
            "n_outputs": target.n_outputs,
            "class_factor": [float(factor) for factor in target.class_factor],
            **({"outputs": list(target.outputs)} if target.outputs else {}),
        },
    }


def schema_from_dict(data: Mapping[str, Any]) -> Schema:
    """The schema that :func:`schema_to_dict` made ``data`` of, after checking it."""
    features = tuple(
        Feature(
            _get(entry, "name", str, "a feature"),
            _get(entry, "kind", str, "a feature"),
            tuple(_category_in(v) for v in _get(entry, "categories", list, "a feature")),
            *(_get(entry, key, str, "a feature") for key in ("time", "zone") if key in entry),
        )
        for entry in _get(data, "features", list, "the schema")
    )
    entry = _get(data, "target", Mapping, "the schema")
    target = Target(
        _get(entry, "name", str, "the target"),
        tuple(_category_in(v) for v in _get(entry, "classes", list, "the target")),
        _get(entry, "n_outputs", int, "the target"),
        tuple(_get(entry, "class_factor", list, "the target")),
        tuple(_get(entry, "outputs", list, "the target")) if "outputs" in entry else (),
    )
    schema = Schema(features, _get(data, "named", bool, "the schema"), target)
    check_schema(schema)
    return schema


def _fail(what: str) -> NoReturn:
    raise ModelFileError(f"The tree is damaged: {what}. Save the model again from its source.")


def _get(data: Any, key: str, kind: type[Any], of: str) -> Any:
    """``data[key]``, if it is there and of this kind."""
    if not isinstance(data, Mapping) or key not in data:
        _fail(f"{of} must have an entry {key!r}")
    value = data[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        _fail(f"{key!r} of {of} must be a {kind.__name__.lower()}, got {type(value).__name__}")
    return value


def _splits(data: Mapping[str, Any], key: str) -> Splits:
    entry = _get(data, key, Mapping, "the tree")
    names = [name for name in SPLIT_DTYPES if name != "term_code" or name in entry]
    return Splits(**{name: _to_array(entry, name, SPLIT_DTYPES[name]) for name in names})


def _tests(entry: Any) -> NodeTests | None:
    if entry is None:
        return None
    return NodeTests(**{n: _to_array(entry, n, dtype) for n, dtype in TEST_DTYPES.items()})


def _counts(entry: Any) -> SplitCounts | None:
    if entry is None:
        return None
    arrays: dict[str, Any] = {n: _to_array(entry, n, dtype) for n, dtype in COUNT_DTYPES.items()}
    return SplitCounts(**arrays)


def _log(entry: Any) -> PruningLog | None:
    if entry is None:
        return None
    rules = _get(entry, "rules", list, "the pruning log")
    if not all(isinstance(rule, list) and len(rule) == 2 for rule in rules):
        _fail("the rules of its pruning log must be pairs")
    arrays: dict[str, Any] = {n: _to_array(entry, n, dtype) for n, dtype in LOG_DTYPES.items()}
    return PruningLog(**arrays, rules=tuple((rule[0], rule[1]) for rule in rules))


def _stopping(data: Any) -> Stopping | None:
    if data is None:
        return None
    if not isinstance(data, Mapping):
        _fail("stopping must be an object")
    try:
        return Stopping.from_dict(data)
    except ValueError as error:
        _fail(str(error))


def _extras(data: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    extras = {}
    for name in data:
        entry = _get(data, name, Mapping, "the extras")
        dtype = _get(entry, "dtype", str, f"extra {name!r}")
        if dtype not in EXTRA_DTYPES:
            _fail(f"extra {name!r} must hold numbers, got {dtype[:20]!r}")
        extras[name] = _to_array(entry, "values", np.dtype(dtype).type)
    return extras


def _to_list(array: NDArray[Any]) -> list[Any]:
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return array.tolist()  # type: ignore[no-any-return]
    return _name_infinite(array.tolist())


def _name_infinite(values: list[Any]) -> list[Any]:
    return [
        _name_infinite(v) if isinstance(v, list) else v if math.isfinite(v) else str(v)
        for v in values
    ]


def _to_array(entry: Mapping[str, Any], name: str, dtype: type[np.generic]) -> NDArray[Any]:
    """A list of numbers as an array; nothing is rounded, wrapped or parsed on the way."""
    values = _get(entry, name, list, "the tree")
    wanted = np.dtype(dtype)
    try:
        if wanted.kind == "f":
            _refuse_words(values)
            return np.array(values, wanted)
        given = np.array(values)
    except (ValueError, TypeError, OverflowError):
        _fail(f"{name} must be a list of numbers")
    if given.size == 0:
        return given.astype(wanted)
    is_bool = given.dtype.kind == "b"
    if given.dtype.kind not in "biu" or is_bool != (wanted.kind == "b"):
        _fail(f"{name} must hold {wanted}")
    array = given.astype(wanted)
    if not np.array_equal(array, given):
        _fail(f"{name} must hold {wanted}")
    return array


def _refuse_words(values: list[Any]) -> None:
    """Numpy would take any text, None or boolean for a number; only three names are ours."""
    for value in values:
        for number in value if isinstance(value, list) else (value,):
            is_number = isinstance(number, float | int) and not isinstance(number, bool)
            if not is_number and number not in ("inf", "-inf", "nan"):
                raise ValueError(number)


def _category_out(value: Any) -> Any:
    """A category as a JSON value; infinities are wrapped to stay apart from words."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, str | int | float | bool):
        return value
    raise ModelFileError(
        f"Categories and classes must be strings, numbers or booleans to be stored, got {value!r}: "
        "convert the column before fitting."
    )


def _category_in(value: Any) -> Any:
    if isinstance(value, Mapping):
        word = _get(value, "float", str, "a category")
        if word not in ("inf", "-inf", "nan"):
            _fail(f"a category must be a value of its own, got {word[:20]!r}")
        return float(word)
    return value
