"""A forest in a model file: what can be worked out again is left out, the rest is made narrow.

The nodes of all trees stand one after another. Of each column the inner nodes and the leaves are
kept apart, because half of them say nothing (a leaf has no gain). Numbers are stored in the least
type that holds them exactly, equal ones once. What follows from other columns is left out if it
does so to the last bit: counts of a node from those of its children, label, impurity and risk from
class weights. A loaded forest is the saved one, bit for bit.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.io._derived import RULES, Shape, apply_rule, rule_for
from treewright.io._narrow import narrow, require, widened
from treewright.tree.forest.grow import Forest
from treewright.tree.split import SplitKind, Splits
from treewright.tree.tree import TREE_DTYPES, Tree

__all__ = ["pack_forest", "unpack_forest"]

Array = NDArray[Any]

COLUMNS: dict[str, type[np.generic]] = {
    "first_child": np.int32,
    "n_children": np.int32,
    "default": np.int32,
    "kind": np.uint8,
    "feature": np.int32,
    "closed": np.bool_,
    "reversed": np.bool_,
    "n_breaks": np.int64,
    "n_codes": np.int64,
    "n_samples": np.int64,
    "value": np.float64,
    "weight": np.float64,
    "impurity": np.float64,
    "risk": np.float64,
    "label": np.int32,
    "gain": np.float64,
    "n_gaps": np.int32,
}
"""Columns over the nodes and their types in memory, each after those it may follow from."""

REPEATS = 8
"""Numbers in memory for each byte of the file, at most: equal ones are stored once."""
FREE = 1 << 20
"""Numbers in memory that need no bytes of the file."""


def pack_forest(forest: Forest) -> dict[str, object]:
    """The parts of a forest for a file."""
    trees = [forest.tree(k) for k in range(len(forest))]
    if not all(map(_can_be_packed, trees)):
        return {"trees": trees}
    whole = {name: np.concatenate([_column(t, name) for t in trees]) for name in COLUMNS}
    sizes = np.array([len(tree) for tree in trees], np.int64)
    shape = Shape(whole, sizes)
    columns: dict[str, object] = {}
    for name, column in whole.items():
        rule = rule_for(name, column, whole, shape, forest.schema)
        if rule is not None:
            columns[name] = (
                {"rule": rule}
                if rule != "sum"
                else {
                    "rule": rule,
                    "leaf": narrow(column[~shape.inner]),
                }
            )
            continue
        if name == "first_child":  # how far below the node: small, and often the same
            column = np.where(shape.inner, column - shape.place, column)
        columns[name] = {
            "inner": narrow(column[shape.inner]),
            "leaf": narrow(column[~shape.inner]),
        }
    parts: dict[str, Any] = {
        "schema": forest.schema,
        "sizes": sizes,
        "inner": np.packbits(shape.inner),
        "columns": columns,
        "breaks": narrow(np.concatenate([tree.splits.breaks for tree in trees])),
        "codes": narrow(np.concatenate([tree.splits.codes for tree in trees])),
        "branches": narrow(np.concatenate([tree.splits.branches for tree in trees])),
    }
    largest = max(whole[name].sum(initial=0) for name in ("n_breaks", "n_codes"))
    return parts if max(whole["value"].size, largest) <= _most(parts) else {"trees": trees}


def unpack_forest(parts: dict[str, Any]) -> Forest:
    """The forest that :func:`pack_forest` took apart; its trees are not checked yet."""
    if set(parts) == {"trees"}:
        trees = parts["trees"]
        require(
            type(trees) is list and len(trees) > 0 and all(type(t) is Tree for t in trees),
            "it has no trees",
        )
        require(all(t.schema == trees[0].schema for t in trees), "its trees differ in schema")
        return Forest.from_trees(trees)
    names = {"schema", "sizes", "inner", "columns", "breaks", "codes", "branches"}
    require(set(parts) == names and type(parts["columns"]) is dict, "parts are missing")
    schema, sizes, columns = parts["schema"], parts["sizes"], parts["columns"]
    require(type(schema) is Schema and schema.target is not None, "it has no schema")
    require(set(columns) == set(COLUMNS), "columns are missing")
    inner = _inner_nodes(sizes, parts["inner"])
    most = _most(parts)
    width = len(schema.target.classes) or schema.target.n_outputs
    require(0 < width <= most // len(inner), "it is too small for its outputs")
    whole: dict[str, Array] = {}
    shape: Shape | None = None
    for name, dtype in COLUMNS.items():
        whole[name] = _restored(name, dtype, columns[name], whole, shape, inner, sizes, schema)
        if name == "n_children":
            shape = Shape(whole, sizes)
            shape.check()
    for name in ("n_breaks", "n_codes"):
        fits = np.all((whole[name] >= 0) & (whole[name] <= most)) and whole[name].sum() <= most
        require(bool(fits), "it is too small for its tests")
    pools = {
        "breaks": widened(parts["breaks"], np.float64, int(whole["n_breaks"].sum())),
        "codes": widened(parts["codes"], np.int32, int(whole["n_codes"].sum())),
        "branches": widened(parts["branches"], np.int32, int(whole["n_codes"].sum())),
    }
    return Forest.from_trees(_trees(schema, whole, pools, sizes))


def _most(parts: dict[str, Any]) -> int:
    """How many numbers a column may have in memory, by the bytes of its forest in the file."""

    def n_bytes(part: Any) -> int:
        if type(part) is dict:
            return sum(map(n_bytes, part.values()))
        return part.nbytes if isinstance(part, np.ndarray) else 0

    return REPEATS * n_bytes(parts) + FREE


def _can_be_packed(tree: Tree) -> bool:
    """Whether a tree has nothing but tests on single features and the usual columns."""
    return (
        len(tree.surrogates) == 0
        and tree.tests is None
        and set(tree.extras) == {"n_gaps"}
        and tree.extras["n_gaps"].dtype == np.int32
        and not np.any(tree.splits.kind == SplitKind.LINEAR)
    )


def _column(tree: Tree, name: str) -> Array:
    if name == "n_gaps":
        return tree.extras[name]
    if name == "label" and not len(tree.label):
        return np.zeros(len(tree), np.int32)  # numbers have no label
    if name in ("n_breaks", "n_codes"):
        return np.diff(getattr(tree.splits, f"{name[2:-1]}_offset"))
    return np.asarray(getattr(tree if name in TREE_DTYPES else tree.splits, name))


def _inner_nodes(sizes: Any, bits: Any) -> NDArray[np.bool_]:
    fits = isinstance(sizes, np.ndarray) and sizes.dtype == np.int64 and sizes.ndim == 1
    require(fits and len(sizes) > 0 and bool(np.all(sizes > 0)), "its trees have no nodes")
    fits = isinstance(bits, np.ndarray) and bits.dtype == np.uint8 and bits.ndim == 1
    n_nodes = sum(sizes.tolist())  # int64 could overflow
    require(fits and len(bits) == (n_nodes + 7) // 8, "its nodes do not add up")
    return np.unpackbits(bits, count=n_nodes).astype(np.bool_)


def _restored(
    name: str,
    dtype: type[np.generic],
    part: Any,
    whole: dict[str, Array],
    shape: Shape | None,
    inner: NDArray[np.bool_],
    sizes: Array,
    schema: Schema,
) -> Array:
    """One column over the nodes."""
    target = schema.target
    assert target is not None
    width = None
    if name == "value":
        width = len(target.classes) or target.n_outputs
    n_inner = int(np.count_nonzero(inner))
    require(type(part) is dict, "a column is no object")
    rule = part.get("rule")
    column = np.zeros(inner.shape if width is None else (len(inner), width), dtype)
    if rule is None or rule == "sum":
        column[~inner] = widened(part.get("leaf"), dtype, len(inner) - n_inner, width)
    if rule is None:
        column[inner] = widened(part.get("inner"), dtype, n_inner, width)
        if name == "first_child":
            offset = np.concatenate([[0], np.cumsum(sizes)])
            place = np.arange(len(inner)) - np.repeat(offset[:-1], sizes)
            column = np.where(inner, column + place, -1).astype(dtype)
        return column
    require(shape is not None and rule in RULES.get(name, ()), "a column has an unknown rule")
    assert shape is not None
    found = apply_rule(rule, name, column, whole, shape, schema)
    require(found is not None, "a rule does not apply")
    assert found is not None
    return found


def _trees(
    schema: Schema, whole: dict[str, Array], pools: dict[str, Array], sizes: Array
) -> list[Tree]:
    """Every tree as a tree of its own."""
    ends = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    at = {n: np.concatenate([[0], np.cumsum(whole[n])]) for n in ("n_breaks", "n_codes")}
    assert schema.target is not None
    is_classes = schema.target.is_classification
    trees = []
    for a, b in itertools.pairwise(ends):

        def part(name: str, a: int = a, b: int = b) -> Array:
            return whole[name][a:b].copy()

        def pool(name: str, of: str, a: int = a, b: int = b) -> Array:
            return pools[name][at[of][a] : at[of][b]].copy()

        def offset(of: str, a: int = a, b: int = b) -> Array:
            return np.asarray(at[of][a : b + 1] - at[of][a], np.int64)

        none = np.zeros(b - a + 1, np.int64)
        splits = Splits(
            kind=part("kind"),
            feature=part("feature"),
            closed=part("closed"),
            reversed=part("reversed"),
            break_offset=offset("n_breaks"),
            breaks=pool("breaks", "n_breaks"),
            code_offset=offset("n_codes"),
            codes=pool("codes", "n_codes"),
            branches=pool("branches", "n_codes"),
            term_offset=none,
            term_feature=np.zeros(0, np.int32),
            term_weight=np.zeros(0),
        )
        own_columns: dict[str, Any] = {
            n: part(n) for n in TREE_DTYPES if n in COLUMNS and n != "label"
        }
        trees.append(
            Tree(
                schema=schema,
                splits=splits,
                surrogate_offset=none.copy(),
                surrogates=Splits.empty(),
                surrogate_agreement=np.zeros(0),
                surrogate_adjusted=np.zeros(0),
                label=part("label") if is_classes else np.zeros(0, np.int32),
                extras={"n_gaps": part("n_gaps")},
                **own_columns,
            )
        )
    return trees
