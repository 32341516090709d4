"""Forest: many trees of one schema as one set of arrays.

Kept is what cannot be computed from the rest. Nodes are in the order of :class:`Tree`, so their
numbers of children give the structure; inner nodes have a test, leaves have values; what an inner
node held is the sum of its leaves. ``tree(i)`` makes an ordinary tree of that when it is asked
for. Trees of other making (surrogates, gaps that divide) are kept as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.errors import DataError, ParameterError
from treewright.kernels.forest import ForestPredictor, first_children, sum_up
from treewright.tree.predict import apply, category_counts, core_arrays, node_values
from treewright.tree.recipe import ClassCosts
from treewright.tree.split import GAP_STOP, SplitKind, Splits
from treewright.tree.tree import Tree
from treewright.tree.values import class_nodes, clip_rates

__all__ = ["FOREST_ARRAYS", "Forest", "What", "leaf_values"]

Floats = NDArray[np.float64]
What = Literal["probability", "vote", "value"]

FOREST_ARRAYS: dict[str, str] = {
    "node_offset": "tree",
    "importance": "tree",
    "n_children": "node",
    "clipped": "node",
    "feature": "inner",
    "gap_branch": "inner",
    "n_gaps": "inner",
    "gain": "inner",
    "closed": "inner",
    "kind": "inner",
    "n_breaks": "inner",
    "n_codes": "inner",
    "breaks": "break",
    "codes": "code",
    "branches": "code",
    "leaf_samples": "leaf",
    "leaf_classes": "leaf",
    "leaf_value": "leaf",
    "leaf_weight": "leaf",
    "leaf_impurity": "leaf",
    "pair_class": "pair",
    "pair_weight": "pair",
}
"""Arrays of a compact forest and what they have one entry for.

``gap_branch`` is the branch of a gap plus two (as a tree's ``default``, which may be −1 or −2).
Left out where all is the same: ``n_gaps`` (none; ``gain`` then follows from the impurities),
``kind``, ``n_breaks``, ``n_codes``, ``codes`` and ``branches`` (every test has one break),
``clipped`` (no constraint binds). Leaves of classes have ``leaf_classes`` pairs of a class and its
weight; leaves of numbers have ``leaf_value``, ``leaf_weight`` and ``leaf_impurity``. Integers are
as narrow as they can be.
"""
_DEFAULTS = {"kind": int(SplitKind.BREAKS), "n_breaks": 1, "n_codes": 0, "n_gaps": 0}


@dataclass(frozen=True, eq=False)
class _Bounds:
    """Where each tree begins in the arrays of a forest, by what they have an entry for."""

    node: NDArray[np.int64]
    inner: NDArray[np.int64]
    leaf: NDArray[np.int64]
    pair: NDArray[np.int64]


class Forest:
    """Trees of one schema, in the order in which they were numbered.

    Parameters
    ----------
    schema
        Features and target of all trees.
    arrays
        The trees as :data:`FOREST_ARRAYS` has them; None where ``trees`` are given.
    criterion, costs
        What impurities and labels of the trees are made with.
    trees
        Trees that are kept as they are.
    """

    def __init__(
        self,
        schema: Schema,
        arrays: Mapping[str, NDArray[Any]] | None = None,
        *,
        criterion: str = "gini",
        costs: ClassCosts | None = None,
        trees: Sequence[Tree] = (),
    ) -> None:
        self.schema = schema
        self.criterion = criterion
        self.costs = costs
        self.arrays = None if arrays is None else dict(arrays)
        self._trees = tuple(trees)
        for array in (self.arrays or {}).values():
            array.flags.writeable = False

    @classmethod
    def from_trees(cls, trees: Sequence[Tree]) -> Forest:
        """A forest of ready trees, of whatever recipe."""
        return cls(trees[0].schema, trees=trees)

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_forest, (self.schema, self.arrays, self.criterion, self.costs, self._trees)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self._trees) if self.arrays is None else len(self.arrays["node_offset"]) - 1

    def __len__(self) -> int:
        return self.n_trees

    @property
    def n_nodes(self) -> NDArray[np.int64]:
        """Nodes of each tree."""
        if self.arrays is None:
            return np.array([tree.n_nodes for tree in self._trees], np.int64)
        return np.diff(self.arrays["node_offset"])

    @cached_property
    def _bounds(self) -> _Bounds:
        assert self.arrays is not None
        node = self.arrays["node_offset"]
        inner = np.concatenate([[0], np.cumsum(self.arrays["n_children"] > 0)])[node]
        leaf = node - inner
        pair = leaf
        if "leaf_classes" in self.arrays:
            pair = np.concatenate([[0], np.cumsum(self.arrays["leaf_classes"], dtype=np.int64)])
            pair = pair[leaf]
        return _Bounds(node, inner, leaf, pair)

    def _inner(self, name: str, where: slice = slice(None)) -> NDArray[Any]:
        """An array over inner nodes, also where it is left out."""
        assert self.arrays is not None
        if name in self.arrays:
            return self.arrays[name][where]
        n = len(self.arrays["feature"][where])
        return np.full(n, _DEFAULTS[name], np.int32)

    # -- parts -----------------------------------------------------------------------------

    def tree(self, i: int) -> Tree:
        """Tree ``i`` as an ordinary tree."""
        i = range(self.n_trees)[i]
        return self._trees[i] if self.arrays is None else _TreeView(self, i).tree()

    def first(self, n_trees: int) -> Forest:
        """The forest of the first ``n_trees`` trees."""
        if self.arrays is None:
            return Forest.from_trees(self._trees[:n_trees])
        b, k = self._bounds, n_trees
        ends = {
            "tree": k,
            "node": b.node[k],
            "inner": b.inner[k],
            "leaf": b.leaf[k],
            "pair": b.pair[k],
            "break": int(self._inner("n_breaks", slice(b.inner[k])).sum(dtype=np.int64)),
            "code": int(self._inner("n_codes", slice(b.inner[k])).sum(dtype=np.int64)),
        }
        arrays = {
            name: array[: ends[FOREST_ARRAYS[name]] + (name == "node_offset")]
            for name, array in self.arrays.items()
        }
        return Forest(self.schema, arrays, criterion=self.criterion, costs=self.costs)

    def joined(self, other: Forest) -> Forest:
        """This forest's trees, then those of ``other``."""
        if self.arrays is None or other.arrays is None:
            trees = [forest.tree(i) for forest in (self, other) for i in range(len(forest))]
            return Forest.from_trees(trees)
        arrays: dict[str, NDArray[Any]] = {}
        for name in FOREST_ARRAYS:
            if name in self.arrays or name in other.arrays:
                arrays[name] = np.concatenate([self._part(name), other._part(name)])
        ends = (self.arrays["node_offset"], other.arrays["node_offset"][1:])
        arrays["node_offset"] = np.concatenate([ends[0], ends[1] + ends[0][-1]])
        return Forest(self.schema, arrays, criterion=self.criterion, costs=self.costs)

    def _part(self, name: str) -> NDArray[Any]:
        assert self.arrays is not None
        if name in self.arrays:
            return self.arrays[name]
        if name in _DEFAULTS:
            return self._inner(name)
        if name == "clipped":
            return np.full(len(self.arrays["n_children"]), np.nan)
        if name == "gain":
            trees = (self.tree(i) for i in range(self.n_trees))
            return np.concatenate([tree.gain[~tree.is_leaf] for tree in trees])
        return np.zeros(0, np.int32)

    # -- prediction ------------------------------------------------------------------------

    def predict(self, table: Table, what: What, n_threads: int = 1) -> Floats:
        """Mean over the trees of class probabilities, votes or values: a row per row."""
        if self.arrays is None:
            total: Floats = np.zeros(())
            for tree in self._trees:
                total = total + node_values(tree, table, leaf_values(tree, what), n_threads)
            return total / self.n_trees
        values = self._leaf_values(what)
        sums = self._call("sums", table, values, n_threads=n_threads)
        return np.asarray(sums / self.n_trees)

    def apply(self, table: Table, n_threads: int = 1) -> NDArray[np.int32]:
        """Node of every tree where each row ends: rows × trees."""
        if self.arrays is None:
            return np.column_stack([apply(tree, table, n_threads) for tree in self._trees])
        return np.asarray(self._call("apply", table, n_threads=n_threads))

    def _call(self, name: str, table: Table, *arguments: Any, n_threads: int) -> Any:
        rows = table.columns if table.block is None else table.block
        gaps = bool(np.any(table.has_gaps)) or any(f.is_categorical for f in self.schema.features)
        try:
            return getattr(self._predictor, name)(rows, *arguments, gaps, n_threads)
        except ValueError as error:
            raise DataError(str(error)) from None

    @cached_property
    def _predictor(self) -> ForestPredictor:
        try:
            return ForestPredictor(category_counts(self.schema), *self._core_arrays())
        except ValueError as error:
            raise ParameterError(str(error)) from None

    def _core_arrays(self) -> tuple[NDArray[Any], ...]:
        """The arrays of structure and tests as the core takes them."""
        assert self.arrays is not None

        def ints(array: NDArray[Any]) -> NDArray[np.int32]:
            return np.ascontiguousarray(array, np.int32)

        return (
            np.ascontiguousarray(self.arrays["node_offset"], np.int64),
            ints(self.arrays["n_children"]),
            ints(self.arrays["feature"]),
            ints(self.arrays["gap_branch"]) - np.int32(2),
            np.ascontiguousarray(self._inner("kind"), np.uint8),
            np.ascontiguousarray(self.arrays["closed"]).view(np.uint8),
            ints(self._inner("n_breaks")),
            ints(self._inner("n_codes")),
            self.arrays["breaks"],
            ints(self._part("codes")),
            ints(self._part("branches")),
        )

    def core_trees(self, what: What) -> tuple[Any, Floats]:
        """The trees as the core takes them, and what rows get where they may end."""
        if self.arrays is not None:
            return self._core_arrays(), self._leaf_values(what)
        values = np.concatenate([leaf_values(tree, what) for tree in self._trees])
        return [core_arrays(tree) for tree in self._trees], values

    def _leaf_values(self, what: What) -> Floats:
        """What a row gets from each leaf of the forest."""
        assert self.arrays is not None
        if what == "value":
            return self.arrays["leaf_value"]
        if "clipped" in self.arrays:
            parts = [self.tree(i) for i in range(self.n_trees)]
            return np.concatenate([leaf_values(t, what)[t.is_leaf] for t in parts])
        weight = self._class_weights(slice(None), slice(None))
        if what == "vote":
            label, _, _ = class_nodes(weight, weight, self.criterion, self.costs)
            votes = np.zeros_like(weight)
            votes[np.arange(len(votes)), label] = 1.0
            return votes
        assert self.schema.target is not None
        if self.schema.target.class_factor:
            weight *= np.asarray(self.schema.target.class_factor)
        weight /= weight.sum(axis=1, keepdims=True)
        return weight

    def _class_weights(self, leaves: slice, pairs: slice) -> Floats:
        """Class weights of some leaves."""
        assert self.arrays is not None
        assert self.schema.target is not None
        count = self.arrays["leaf_classes"][leaves]
        weight = np.zeros((len(count), len(self.schema.target.classes)))
        row = np.repeat(np.arange(len(count)), count)
        weight[row, self.arrays["pair_class"][pairs]] = self.arrays["pair_weight"][pairs]
        return weight

    def feature_importances(self) -> Floats:
        """Decrease of impurity by feature, one row per tree, each of sum 1 (or all zero)."""
        if self.arrays is None:
            return np.array([tree.feature_importances() for tree in self._trees])
        gains = self.arrays["importance"]
        total = gains.sum(axis=1, keepdims=True)
        shares = np.divide(gains, total, out=np.zeros_like(gains), where=total > 0)
        return np.asarray(shares)


def _make_forest(
    schema: Schema,
    arrays: Mapping[str, NDArray[Any]] | None,
    criterion: str,
    costs: ClassCosts | None,
    trees: Sequence[Tree],
) -> Forest:
    return Forest(schema, arrays, criterion=criterion, costs=costs, trees=trees)


class _TreeView:
    """Makes an ordinary tree of one tree of a compact forest."""

    def __init__(self, forest: Forest, i: int) -> None:
        assert forest.arrays is not None
        b = forest._bounds
        self.forest, self.arrays, self.i = forest, forest.arrays, i
        self.nodes = slice(b.node[i], b.node[i + 1])
        self.inner = slice(b.inner[i], b.inner[i + 1])
        self.leaves = slice(b.leaf[i], b.leaf[i + 1])
        self.pairs = slice(b.pair[i], b.pair[i + 1])
        self.n_children = np.ascontiguousarray(self.arrays["n_children"][self.nodes], np.int32)
        self.is_leaf = self.n_children == 0
        self.n = len(self.n_children)

    def _from_leaves(self, values: NDArray[Any]) -> Floats:
        """Values over nodes: those of leaves as given, of inner nodes the sums."""
        filled = np.zeros((self.n, 1 if values.ndim == 1 else values.shape[1]))
        filled[self.is_leaf] = values.reshape(-1, filled.shape[1])
        return sum_up(self.n_children, filled)

    def _over_inner(self, values: NDArray[Any], other: int, dtype: Any) -> NDArray[Any]:
        out = np.full(self.n, other, dtype)
        out[~self.is_leaf] = values
        return out

    def _offsets(self, name: str) -> NDArray[np.int64]:
        count = self._over_inner(self.forest._inner(name, self.inner), 0, np.int64)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])

    def _splits(self) -> Splits:
        before = {
            name: int(self.forest._inner(name, slice(self.inner.start)).sum(dtype=np.int64))
            for name in ("n_breaks", "n_codes")
        }
        break_offset, code_offset = self._offsets("n_breaks"), self._offsets("n_codes")
        breaks = slice(before["n_breaks"], before["n_breaks"] + int(break_offset[-1]))
        codes = slice(before["n_codes"], before["n_codes"] + int(code_offset[-1]))
        return Splits(
            kind=self._over_inner(self.forest._inner("kind", self.inner), 0, np.uint8),
            feature=self._over_inner(self.arrays["feature"][self.inner], -1, np.int32),
            closed=self._over_inner(self.arrays["closed"][self.inner], 0, np.bool_),
            reversed=np.zeros(self.n, np.bool_),
            break_offset=break_offset,
            breaks=self.arrays["breaks"][breaks].copy(),
            code_offset=code_offset,
            codes=self.forest._part("codes")[codes].astype(np.int32),
            branches=self.forest._part("branches")[codes].astype(np.int32),
            term_offset=np.zeros(self.n + 1, np.int64),
            term_feature=np.zeros(0, np.int32),
            term_weight=np.zeros(0),
        )

    def tree(self) -> Tree:
        target = self.forest.schema.target
        assert target is not None
        samples = self._from_leaves(self.arrays["leaf_samples"][self.leaves])
        parts = self._class_parts() if target.is_classification else self._number_parts()
        weight, impurity = parts["weight"], parts["impurity"]
        share = weight / weight[0] if weight[0] > 0 else weight
        below = np.zeros(self.n)
        first = first_children(self.n_children)
        held = np.concatenate([[0.0], np.cumsum(impurity * share)])
        inner = ~self.is_leaf
        below[inner] = held[first[inner] + self.n_children[inner]] - held[first[inner]]
        gain = np.where(inner, np.maximum(impurity * share - below, 0.0), 0.0)
        if "gain" in self.arrays:
            gain[inner] = self.arrays["gain"][self.inner]
        risk = parts.pop("risk") if "risk" in parts else impurity * share
        gaps = self.arrays["gap_branch"][self.inner].astype(np.int32) - 2
        return Tree(
            schema=self.forest.schema,
            first_child=first,
            n_children=self.n_children,
            splits=self._splits(),
            default=self._over_inner(gaps, GAP_STOP, np.int32),
            surrogate_offset=np.zeros(self.n + 1, np.int64),
            surrogates=Splits.empty(),
            surrogate_agreement=np.zeros(0),
            surrogate_adjusted=np.zeros(0),
            n_samples=samples[:, 0].astype(np.int64),
            gain=gain,
            risk=risk,
            extras={
                "n_gaps": self._over_inner(self.forest._inner("n_gaps", self.inner), 0, np.int32)
            },
            **parts,
        )

    def _class_parts(self) -> dict[str, Any]:
        costs = self.forest.costs
        value = self._from_leaves(self.forest._class_weights(self.leaves, self.pairs))
        rate = self.arrays["clipped"][self.nodes] if "clipped" in self.arrays else None
        clipped = clip_rates(value, rate, costs)
        label, impurity, risk = class_nodes(value, clipped, self.forest.criterion, costs)
        weight = value.sum(axis=1)
        return {
            "weight": weight,
            "value": clipped,
            "label": label,
            "impurity": impurity,
            "risk": risk,
        }

    def _number_parts(self) -> dict[str, Any]:
        """Means and impurities of inner nodes from those of the leaves, about the root's mean."""
        weight = self.arrays["leaf_weight"][self.leaves].astype(np.float64)
        mean = self.arrays["leaf_value"][self.leaves]
        total = weight.sum()
        centre = weight @ mean / total if total > 0 else mean[0]
        off = mean - centre
        within = self.arrays["leaf_impurity"][self.leaves]
        spread = within + _spread(mean if self.forest.criterion == "poisson" else off, self.forest)
        sums = self._from_leaves(np.column_stack([weight, weight * spread, weight[:, None] * off]))
        held = np.where(sums[:, :1] > 0, sums[:, :1], 1.0)
        moved = sums[:, 2:] / held
        value = moved + centre
        about = value if self.forest.criterion == "poisson" else moved
        impurity = np.maximum(sums[:, 1] / held[:, 0] - _spread(about, self.forest), 0.0)
        value[self.is_leaf] = mean
        impurity[self.is_leaf] = self.arrays["leaf_impurity"][self.leaves]
        return {
            "weight": sums[:, 0].copy(),
            "value": value,
            "label": np.empty(0, np.int32),
            "impurity": impurity,
        }


def _spread(mean: Floats, forest: Forest) -> Floats:
    """What the impurity of a mean falls short of that of its rows, but for what they share."""
    if forest.criterion != "poisson":
        return np.asarray((mean**2).mean(axis=1))
    return np.asarray(
        np.where(mean > 0, mean * np.log(np.where(mean > 0, mean, 1.0)), 0.0).mean(axis=1)
    )


def leaf_values(tree: Tree, what: What) -> Floats:
    """What a row gets from each node of a tree where it may end."""
    if what == "value":
        return tree.value
    if what == "probability":
        return tree.probability
    votes = np.zeros_like(tree.value)
    votes[np.arange(tree.n_nodes), tree.label] = 1.0
    return votes
