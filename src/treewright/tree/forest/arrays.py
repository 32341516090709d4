"""Forest: many trees of one schema as one set of arrays.

Kept is what cannot be computed from the rest. Nodes are in the order of :class:`Tree`, so their
numbers of children give the structure; inner nodes have a test, leaves have values; what an inner
node held is the sum of its leaves. ``tree(i)`` makes an ordinary tree of that when it is asked
for. Trees of other making (surrogates, gaps that divide) are kept as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.errors import DataError, ParameterError
from treewright.kernels.forest import ForestPredictor, code_rows
from treewright.tree.forest.view import TreeView
from treewright.tree.growing.recipe import ClassCosts
from treewright.tree.growing.stopped import SPLIT_P, STOPPED
from treewright.tree.growing.values import class_nodes
from treewright.tree.predict import apply, category_counts, core_arrays, node_values
from treewright.tree.split import SplitKind
from treewright.tree.tree import Tree

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
    "n_terms": "inner",
    "breaks": "break",
    "codes": "code",
    "branches": "code",
    "term_feature": "term",
    "term_weight": "term",
    "term_code": "term",
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
``n_terms``, ``term_feature``, ``term_weight`` and ``term_code`` (no test is linear; a code is that
of a category plus one, 0 for a number), ``clipped`` (no constraint binds). Leaves of classes have
``leaf_classes`` pairs of a class and its weight; leaves of numbers have ``leaf_value``,
``leaf_weight`` and ``leaf_impurity``. Integers are as narrow as they can be.
"""
_DEFAULTS = {
    "kind": int(SplitKind.BREAKS),
    "n_breaks": 1,
    "n_codes": 0,
    "n_terms": 0,
    "n_gaps": 0,
}


@dataclass(frozen=True, eq=False)
class _Bounds:
    """Where each tree begins in the arrays of a forest, by what they have an entry for."""

    node: NDArray[np.int64]
    inner: NDArray[np.int64]
    leaf: NDArray[np.int64]
    pair: NDArray[np.int64]
    breaks: NDArray[np.int64]
    codes: NDArray[np.int64]
    terms: NDArray[np.int64]


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
        criterion: str = "gini",
        costs: ClassCosts | None = None,
        trees: Sequence[Tree] = (),
    ) -> None:
        self.schema = schema
        self.criterion = criterion
        self.costs = costs
        self.arrays = None if arrays is None else dict(arrays)
        self._trees = tuple(trees)
        self._codes: dict[What, tuple[Floats, NDArray[np.uint8] | None]] = {}
        for array in (self.arrays or {}).values():
            array.flags.writeable = False

    @classmethod
    def from_trees(cls, trees: Sequence[Tree]) -> Forest:
        """A forest of ready trees, of whatever recipe, without the history of their growth."""
        bare = [
            t if t.pruning_log is None and t.stopping is None else _without_history(t)
            for t in trees
        ]
        return cls(bare[0].schema, trees=bare)

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor: copies are read-only too, and the predictor stays behind
        return Forest, (self.schema, self.arrays, self.criterion, self.costs, self._trees)

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

        def ends(name: str, at: NDArray[np.int64], usual: NDArray[np.int64]) -> NDArray[np.int64]:
            assert self.arrays is not None
            if name not in self.arrays:
                return usual
            return np.concatenate([[0], np.cumsum(self.arrays[name], dtype=np.int64)])[at]

        return _Bounds(
            node,
            inner,
            leaf,
            pair=ends("leaf_classes", leaf, leaf),
            breaks=ends("n_breaks", inner, inner),
            codes=ends("n_codes", inner, np.zeros_like(inner)),
            terms=ends("n_terms", inner, np.zeros_like(inner)),
        )

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
        return self._trees[i] if self.arrays is None else TreeView(self, i).tree()

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
            "break": b.breaks[k],
            "code": b.codes[k],
            "term": b.terms[k],
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
        return np.zeros(0, np.float64 if name == "term_weight" else np.int32)

    # -- prediction ------------------------------------------------------------------------

    def predict(self, table: Table, what: What, n_threads: int = 1) -> Floats:
        """Mean over the trees of class probabilities, votes or values: a row per row."""
        if self.arrays is None:
            total: Floats = np.zeros(())
            for tree in self._trees:
                total = total + node_values(tree, table, leaf_values(tree, what), n_threads)
            return total / self.n_trees
        values, codes = self._coded_values(what)
        return np.asarray(self._call("means", table, values, codes, n_threads=n_threads))

    def sums(
        self, table: Table, start: Floats, n_threads: int = 1, *, in_singles: bool = False
    ) -> Floats:
        """Sums of the trees' values, tree ``t`` in column ``t % n`` of the ``n`` of ``start``.

        ``start`` has one row, or one for each row of the table. With ``in_singles`` every sum is
        rounded to single precision.
        """
        if self.arrays is None:
            total = np.array(np.broadcast_to(start, (table.n_rows, start.shape[1])))
            for i, tree in enumerate(self._trees):
                column = i % start.shape[1]
                total[:, column] += node_values(tree, table, tree.value, n_threads)[:, 0]
                if in_singles:
                    total[:, column] = total[:, column].astype(np.float32)
            return total
        values = self.arrays["leaf_value"]
        return np.asarray(self._call("sums", table, values, start, in_singles, n_threads=n_threads))

    def winners(self, table: Table, what: What, n_threads: int = 1) -> NDArray[np.integer[Any]]:
        """The largest of what :meth:`predict` says of each row, of equal ones the first."""
        if self.arrays is None:
            return np.asarray(np.argmax(self.predict(table, what, n_threads), axis=1))
        values, codes = self._coded_values(what)
        return np.asarray(self._call("winners", table, values, codes, n_threads=n_threads))

    def apply(self, table: Table, n_threads: int = 1) -> NDArray[np.int32]:
        """Node of every tree where each row ends: rows × trees."""
        if self.arrays is None:
            return np.column_stack([apply(tree, table, n_threads) for tree in self._trees])
        return np.asarray(self._call("apply", table, n_threads=n_threads))

    def _call(self, name: str, table: Table, *arguments: Any, n_threads: int) -> Any:
        rows = table.columns if table.block is None else table.block
        ask = partial(getattr(self._predictor, name), rows, *arguments)
        try:
            if not table.is_checked and self.finds_gaps:
                answer = ask(None, n_threads)
                if answer is not None:
                    return answer
            gaps = bool(np.any(table.has_gaps))
            return ask(gaps or any(f.is_categorical for f in self.schema.features), n_threads)
        except ValueError as error:
            raise DataError(str(error)) from None

    @property
    def finds_gaps(self) -> bool:
        """Whether prediction meets gaps and infinities itself, so that nobody looks first."""
        return self.arrays is not None and self._predictor.finds_gaps

    @cached_property
    def _predictor(self) -> ForestPredictor:
        assert self.arrays is not None
        usual: What = "value" if "leaf_value" in self.arrays else "probability"
        # Values that are clipped need trees, which are not checked yet where a file is read.
        codes = None if "clipped" in self.arrays else self._coded_values(usual)[1]
        try:
            return ForestPredictor(category_counts(self.schema), *self._core_arrays(), codes)
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
            ints(self._part("n_terms") if "n_terms" in self.arrays else np.zeros(0)),
            ints(self._part("term_feature")),
            np.ascontiguousarray(self._part("term_weight")),
            ints(self._part("term_code")) - np.int32(1),
        )

    def core_trees(self, what: What) -> tuple[Any, Floats]:
        """The trees as the core takes them, and what rows get where they may end."""
        if self.arrays is not None:
            return self._core_arrays(), self._leaf_values(what)
        values = np.concatenate([leaf_values(tree, what) for tree in self._trees])
        return [core_arrays(tree) for tree in self._trees], values

    def _coded_values(self, what: What) -> tuple[Floats, NDArray[np.uint8] | None]:
        """What a row gets from each leaf: by its code if few leaves differ, as pure ones do."""
        if what not in self._codes:
            values = self._leaf_values(what)
            codes, values = code_rows(values) or (None, values)
            for _, known in self._codes.values():  # the predictor knows the array it was given
                if codes is not None and known is not None and np.array_equal(codes, known):
                    codes = known
            values.flags.writeable = False
            self._codes[what] = values, codes
        return self._codes[what]

    def _leaf_values(self, what: What) -> Floats:
        """What a row gets from each leaf of the forest."""
        assert self.arrays is not None
        if what == "value":
            return self.arrays["leaf_value"]
        # A leaf that only gaps can reach may hold no row; its tree knows what it says.
        if "clipped" in self.arrays or not np.all(self.arrays["leaf_classes"]):
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


def leaf_values(tree: Tree, what: What) -> Floats:
    """What a row gets from each node of a tree where it may end."""
    if what == "value":
        return tree.value
    if what == "probability":
        return tree.probability
    votes = np.zeros_like(tree.value)
    votes[np.arange(tree.n_nodes), tree.label] = 1.0
    return votes


def _without_history(tree: Tree) -> Tree:
    kept = {name: c for name, c in tree.extras.items() if name not in (STOPPED, SPLIT_P)}
    return replace(tree, pruning_log=None, stopping=None, extras=kept)
