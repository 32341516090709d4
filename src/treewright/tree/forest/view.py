"""One tree of a compact forest as an ordinary tree: what was left out is worked out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.forest import first_children, sum_up
from treewright.tree.growing.values import class_nodes, clip_rates
from treewright.tree.split import GAP_STOP, SplitKind, Splits
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.tree.forest.arrays import Forest

__all__ = ["TreeView"]

Floats = NDArray[np.float64]


class TreeView:
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
        b, i = self.forest._bounds, self.i
        breaks, codes = slice(b.breaks[i], b.breaks[i + 1]), slice(b.codes[i], b.codes[i + 1])
        terms = slice(b.terms[i], b.terms[i + 1])
        kind = self._over_inner(self.forest._inner("kind", self.inner), 0, np.uint8)
        feature = self._over_inner(self.arrays["feature"][self.inner], -1, np.int32)
        return Splits(
            kind=kind,
            feature=np.where(kind == SplitKind.LINEAR, np.int32(-1), feature),
            closed=self._over_inner(self.arrays["closed"][self.inner], 0, np.bool_),
            reversed=np.zeros(self.n, np.bool_),
            break_offset=self._offsets("n_breaks"),
            breaks=self.arrays["breaks"][breaks].copy(),
            code_offset=self._offsets("n_codes"),
            codes=self.forest._part("codes")[codes].astype(np.int32),
            branches=self.forest._part("branches")[codes].astype(np.int32),
            term_offset=self._offsets("n_terms"),
            term_feature=self.forest._part("term_feature")[terms].astype(np.int32),
            term_weight=self.forest._part("term_weight")[terms].copy(),
            term_code=self.forest._part("term_code")[terms].astype(np.int32) - 1,
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
