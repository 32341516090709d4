"""A forest in a model file: what can be worked out again is left out, the rest is made narrow.

The nodes of all trees stand one after another. Of each column the inner nodes and the leaves are
kept apart, because half of them say nothing (a leaf has no gain). Numbers are stored in the least
type that holds them exactly, equal ones once. What follows from other columns is left out if it
does so to the last bit: counts of a node from those of its children, label, impurity and risk from
class weights. A loaded forest is the saved one, bit for bit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.errors import ModelFileError
from treewright.tree.forest import Forest
from treewright.tree.split import SplitKind, Splits
from treewright.tree.tree import TREE_DTYPES, Tree
from treewright.tree.values import class_nodes, label_empty

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

NARROW = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32)
PALETTE = 1 << 16


def pack_forest(forest: Forest) -> dict[str, object]:
    """The parts of a forest for a file."""
    trees = [forest.tree(k) for k in range(len(forest))]
    if not all(map(_is_plain, trees)):
        return {"trees": trees}
    whole = {name: np.concatenate([_column(t, name) for t in trees]) for name in COLUMNS}
    sizes = np.array([len(tree) for tree in trees], np.int64)
    shape = _Shape(whole, sizes)
    columns: dict[str, object] = {}
    for name, column in whole.items():
        rule = _derived(name, column, whole, shape, forest.schema)
        if rule is not None:
            columns[name] = (
                {"rule": rule}
                if rule != "sum"
                else {
                    "rule": rule,
                    "leaf": _narrow(column[~shape.inner]),
                }
            )
            continue
        if name == "first_child":  # how far below the node: small, and often the same
            column = np.where(shape.inner, column - shape.place, column)
        columns[name] = {
            "inner": _narrow(column[shape.inner]),
            "leaf": _narrow(column[~shape.inner]),
        }
    return {
        "schema": forest.schema,
        "sizes": sizes,
        "inner": np.packbits(shape.inner),
        "columns": columns,
        "breaks": _narrow(np.concatenate([tree.splits.breaks for tree in trees])),
        "codes": _narrow(np.concatenate([tree.splits.codes for tree in trees])),
        "branches": _narrow(np.concatenate([tree.splits.branches for tree in trees])),
    }


def unpack_forest(parts: dict[str, Any]) -> Forest:
    """The forest that :func:`pack_forest` took apart; its trees are not checked yet."""
    if set(parts) == {"trees"}:
        trees = parts["trees"]
        _require(
            type(trees) is list and len(trees) > 0 and all(type(t) is Tree for t in trees),
            "it has no trees",
        )
        _require(all(t.schema == trees[0].schema for t in trees), "its trees differ in schema")
        return Forest.from_trees(trees)
    names = {"schema", "sizes", "inner", "columns", "breaks", "codes", "branches"}
    _require(set(parts) == names and type(parts["columns"]) is dict, "parts are missing")
    schema, sizes, columns = parts["schema"], parts["sizes"], parts["columns"]
    _require(type(schema) is Schema and schema.target is not None, "it has no schema")
    _require(set(columns) == set(COLUMNS), "columns are missing")
    inner = _inner_nodes(sizes, parts["inner"])
    whole: dict[str, Array] = {}
    shape: _Shape | None = None
    for name, dtype in COLUMNS.items():
        whole[name] = _restored(name, dtype, columns[name], whole, shape, inner, sizes, schema)
        if name == "n_children":
            shape = _Shape(whole, sizes)
            shape.check()
    pools = {
        "breaks": _widened(parts["breaks"], np.float64, int(whole["n_breaks"].sum())),
        "codes": _widened(parts["codes"], np.int32, int(whole["n_codes"].sum())),
        "branches": _widened(parts["branches"], np.int32, int(whole["n_codes"].sum())),
    }
    return Forest.from_trees(_trees(schema, whole, pools, sizes))


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ModelFileError(f"its forest is damaged: {what}")


def _is_plain(tree: Tree) -> bool:
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


# Structure


class _Shape:
    """Who is whose child, over all trees at once."""

    def __init__(self, whole: dict[str, Array], sizes: Array) -> None:
        self.sizes = sizes
        self.offset = np.concatenate([[0], np.cumsum(sizes)])
        self.n_nodes = int(self.offset[-1])
        start = np.repeat(self.offset[:-1], sizes)
        self.place = (np.arange(self.n_nodes) - start).astype(np.int32)
        self.inner = whole["first_child"] >= 0
        self.root = self.offset[:-1]
        nodes = np.flatnonzero(self.inner)
        self.count = whole["n_children"][nodes].astype(np.int64)
        self.first = whole["first_child"][nodes] + start[nodes]
        self.nodes = nodes

    def check(self) -> None:
        """Refuse what could not be walked; each tree is checked whole later on."""
        last = self.offset[np.searchsorted(self.offset, self.nodes, side="right")]
        fits = (self.first > self.nodes) & (self.count > 0) & (self.first + self.count <= last)
        _require(bool(np.all(fits)), "a node has children that do not exist")
        _require(int(self.count.sum()) == self.n_nodes - len(self.sizes), "a node has no parent")

    def sums(self, leaves: Array) -> Array:
        """Values of leaves handed up to all nodes; ``leaves`` has zeros at inner nodes."""
        total = leaves.copy()
        parent = np.full(self.n_nodes, -1)
        start = np.repeat(self.first - (np.cumsum(self.count) - self.count), self.count)
        parent[start + np.arange(len(start))] = np.repeat(self.nodes, self.count)
        for nodes in self._levels(parent):
            np.add.at(total, parent[nodes], total[nodes])
        return total

    def _levels(self, parent: Array) -> list[Array]:
        """Nodes of each depth, the deepest first; roots left out."""
        depth = (parent >= 0).astype(np.int32)
        above = np.maximum(parent, 0)
        above[parent < 0] = np.flatnonzero(parent < 0)
        while True:
            step = depth[above]
            if not step.any():
                break
            depth += step
            above = above[above]
        order = np.argsort(depth, kind="stable")
        ends = np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 2))
        pairs = itertools.pairwise(ends)
        return [order[a:b] for a, b in pairs][::-1]


def _inner_nodes(sizes: Any, bits: Any) -> NDArray[np.bool_]:
    fits = isinstance(sizes, np.ndarray) and sizes.dtype == np.int64 and sizes.ndim == 1
    _require(fits and len(sizes) > 0 and bool(np.all(sizes > 0)), "its trees have no nodes")
    fits = isinstance(bits, np.ndarray) and bits.dtype == np.uint8 and bits.ndim == 1
    n_nodes = sum(sizes.tolist())  # int64 could overflow
    _require(fits and len(bits) == (n_nodes + 7) // 8, "its nodes do not add up")
    return np.unpackbits(bits, count=n_nodes).astype(np.bool_)


# What follows from other columns


def _derived(
    name: str, column: Array, whole: dict[str, Array], shape: _Shape, schema: Schema
) -> str | None:
    """The rule that gives a column to the last bit; None if there is none."""
    for rule in _RULES.get(name, ()):
        found = _apply(rule, name, column, whole, shape, schema)
        if found is not None and found.tobytes() == np.ascontiguousarray(column).tobytes():
            return rule
    return None


_RULES: dict[str, tuple[str, ...]] = {
    "n_samples": ("sum",),
    "value": ("sum",),
    "weight": ("total", "sum"),
    "impurity": ("gini", "entropy"),
    "risk": ("gini", "entropy", "share"),
    "label": ("gini", "entropy", "none"),
}


def _apply(
    rule: str,
    name: str,
    column: Array,
    whole: dict[str, Array],
    shape: _Shape,
    schema: Schema,
) -> Array | None:
    """A column by a rule; of ``column`` only the leaves are looked at, where it is a sum."""
    target = schema.target
    assert target is not None
    if rule == "sum":
        if name == "value" and not target.is_classification:
            return None
        inner = shape.inner if column.ndim == 1 else shape.inner[:, None]
        return shape.sums(np.where(inner, np.zeros((), column.dtype), column))
    if rule == "total":
        return np.asarray(whole["value"].sum(axis=1)) if target.is_classification else None
    if rule == "none":
        return None if target.is_classification else np.zeros(shape.n_nodes, np.int32)
    if rule == "share":
        root = np.repeat(whole["weight"][shape.root], shape.sizes)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(root > 0, whole["weight"] / root, whole["weight"])
        return np.asarray(whole["impurity"] * share)
    if not target.is_classification:
        return None
    which = {"label": 0, "impurity": 1, "risk": 2}[name]
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [_class_columns(rule, whole, a, b)[which] for a, b in _spans(shape)]
    return np.concatenate(parts)


def _spans(shape: _Shape) -> Iterator[tuple[int, int]]:
    ends = shape.offset.tolist()
    return itertools.pairwise(ends)


def _class_columns(rule: str, whole: dict[str, Array], a: int, b: int) -> tuple[Array, ...]:
    """Label, impurity and risk of one tree from its class weights."""
    value = whole["value"][a:b]
    label, impurity, risk = class_nodes(value, value, rule, None)
    first, count = whole["first_child"][a:b], whole["n_children"][a:b]
    return label_empty(label, whole["weight"][a:b], first, count), impurity, risk


# Narrow numbers


def _narrow(array: Array) -> dict[str, object]:
    """An array in the least room: one number, a palette, or a narrow type."""
    flat = np.ascontiguousarray(array)
    if not flat.size:
        return {"none": list(flat.shape)}
    bits = flat.view(f"u{flat.dtype.itemsize}").ravel()
    if np.all(bits == bits[0]):  # bits, because -0.0 equals 0.0
        return {"one": flat.ravel()[:1].copy(), "shape": list(flat.shape)}
    narrow = _least_type(flat)
    if narrow.dtype.itemsize <= 4:
        return {"all": narrow}
    palette, code = np.unique(flat.view(np.uint64), return_inverse=True)
    if len(palette) <= PALETTE and 8 * len(palette) + 2 * flat.size < 8 * flat.size:
        return {
            "palette": palette.view(flat.dtype),
            "code": code.astype(np.uint16).reshape(flat.shape),
        }
    return {"all": flat}


def _least_type(flat: Array) -> Array:
    """The array in the smallest type that gives the same bits back."""
    kinds: tuple[Any, ...] = NARROW if flat.dtype.kind in "iuf" else ()
    if flat.dtype == np.float64:
        kinds = (*kinds, np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        for kind in kinds:
            if np.dtype(kind).itemsize < flat.dtype.itemsize:
                tried = flat.astype(kind)
                if tried.astype(flat.dtype).tobytes() == flat.tobytes():
                    return tried
    return flat


def _widened(part: Any, dtype: type[np.generic], n: int, width: int | None = None) -> Array:
    """The array that :func:`_narrow` made ``part`` of."""
    shape = (n,) if width is None else (n, width)
    _require(type(part) is dict, "a column is no object")
    if set(part) == {"none"}:
        _require(n == 0, "a column is empty")
        return np.zeros(shape, dtype)
    if set(part) == {"one", "shape"}:
        one = part["one"]
        fits = isinstance(one, np.ndarray) and one.shape == (1,) and one.dtype == dtype
        _require(fits, "a column has no number")
        return np.full(shape, one[0])
    if set(part) == {"palette", "code"}:
        palette, code = part["palette"], part["code"]
        fits = isinstance(palette, np.ndarray) and palette.dtype == dtype and palette.ndim == 1
        _require(fits, "a column has no palette")
        fits = isinstance(code, np.ndarray) and code.dtype == np.uint16 and code.shape == shape
        _require(fits and (not n or int(code.max()) < len(palette)), "a palette is too small")
        return np.asarray(palette[code])
    array = part.get("all")
    fits = isinstance(array, np.ndarray) and array.shape == shape and array.dtype.kind in "biuf"
    _require(fits, "a column has the wrong length")
    return np.asarray(array.astype(dtype))


def _restored(
    name: str,
    dtype: type[np.generic],
    part: Any,
    whole: dict[str, Array],
    shape: _Shape | None,
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
    _require(type(part) is dict, "a column is no object")
    rule = part.get("rule")
    column = np.zeros(inner.shape if width is None else (len(inner), width), dtype)
    if rule is None or rule == "sum":
        column[~inner] = _widened(part.get("leaf"), dtype, len(inner) - n_inner, width)
    if rule is None:
        column[inner] = _widened(part.get("inner"), dtype, n_inner, width)
        if name == "first_child":
            offset = np.concatenate([[0], np.cumsum(sizes)])
            place = np.arange(len(inner)) - np.repeat(offset[:-1], sizes)
            column = np.where(inner, column + place, -1).astype(dtype)
        return column
    _require(shape is not None and rule in _RULES.get(name, ()), "a column has an unknown rule")
    assert shape is not None
    found = _apply(rule, name, column, whole, shape, schema)
    _require(found is not None, "a rule does not apply")
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
