"""Readable views of single nodes.

A view holds the tree and a node id, nothing else; every attribute is looked up when asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.tree.conditions import Condition, branch_conditions, surrogate_conditions
from treewright.tree.show.describe import PLENTY, Wording
from treewright.tree.show.words import format_share, format_value
from treewright.tree.split import SplitKind
from treewright.tree.tree import Tree

__all__ = ["Node", "Nodes", "node_prediction", "node_probability"]


def node_prediction(tree: Tree, node: int) -> Any:
    """The class, the number or the tuple of numbers that ``node`` predicts."""
    target = tree.schema.target
    if target is not None and target.is_classification:
        return target.classes[tree.label[node]]
    values = tree.value[node].tolist()
    return values[0] if len(values) == 1 else tuple(values)


def node_probability(tree: Tree, node: int) -> NDArray[np.float64]:
    """Class probabilities of one node under the priors."""
    target = tree.schema.target
    weighted = tree.value[node]
    if target is not None and target.class_factor:
        weighted = weighted * np.asarray(target.class_factor, np.float64)
    total = weighted.sum()
    if total > 0:
        return np.asarray(weighted / total, np.float64)
    return np.full(len(weighted), 1.0 / max(len(weighted), 1))


@dataclass(frozen=True, repr=False)
class Node:
    """One node of a tree.

    Parameters
    ----------
    tree
        The tree.
    id
        Number of the node, 0 for the root.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
    >>> root = tree.node(0)
    >>> root.test, root.n_samples, root.prediction
    ('Petal.Length < 2.45', 150, 'setosa')
    >>> left, right = root.children
    >>> left.condition, left.is_leaf, left.prediction
    ('Petal.Length < 2.45', True, 'setosa')
    >>> right.feature, right.depth, right.parent.id
    ('Petal.Width', 1, 0)
    """

    tree: Tree
    id: int

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no test."""
        return int(self.tree.first_child[self.id]) < 0

    @property
    def depth(self) -> int:
        """Steps from the root."""
        return int(self.tree.node_depth[self.id])

    @property
    def parent(self) -> Node | None:
        """The node above, None for the root."""
        parent = int(self.tree.parent[self.id])
        return None if parent < 0 else Node(self.tree, parent)

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes below, in branch order."""
        return tuple(Node(self.tree, child) for child in self.tree.children(self.id))

    @property
    def feature(self) -> str | None:
        """Name of the tested feature; None at a leaf and for a linear test."""
        feature = int(self.tree.splits.feature[self.id])
        kind = self.tree.splits.kind[self.id]
        single = kind in (SplitKind.BREAKS, SplitKind.CODES)
        return self.tree.schema.features[feature].name if single else None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The condition of each branch, none at a leaf."""
        return tuple(branch_conditions(self.tree, self.id))

    @property
    def test(self) -> str | None:
        """The test in words: the first condition of two, or all of more; None at a leaf."""
        return self._test()

    def _test(self, room: int = PLENTY) -> str | None:
        conditions = self.conditions
        if not conditions:
            return None
        wording = Wording.over(conditions)
        shown = conditions if len(conditions) > 2 else conditions[:1]
        return " | ".join(wording.text(condition, room) for condition in shown)

    @property
    def condition(self) -> str | None:
        """The condition under which rows come here from the parent; None at the root."""
        parent = int(self.tree.parent[self.id])
        if parent < 0:
            return None
        conditions = branch_conditions(self.tree, parent)
        branch = self.id - int(self.tree.first_child[parent])
        return Wording.over(conditions).text(conditions[branch])

    @property
    def surrogates(self) -> tuple[str, ...]:
        """The surrogate splits in words, in the order in which they are asked."""
        tree = self.tree
        start, stop = tree.surrogate_offset[self.id : self.id + 2].tolist()
        n_branches = int(tree.n_children[self.id])
        firsts = (surrogate_conditions(tree, i, n_branches)[0] for i in range(start, stop))
        return tuple(Wording.over([first]).text(first) for first in firsts)

    @property
    def n_samples(self) -> int:
        """Training rows that reached the node."""
        return int(self.tree.n_samples[self.id])

    @property
    def weight(self) -> float:
        """Weight of those rows."""
        return float(self.tree.weight[self.id])

    @property
    def value(self) -> NDArray[np.float64]:
        """Class weights, or means."""
        return np.asarray(self.tree.value[self.id])

    @property
    def probabilities(self) -> dict[Any, float] | None:
        """Probability of each class under the priors; None for regression."""
        target = self.tree.schema.target
        if target is None or not target.is_classification:
            return None
        shares = node_probability(self.tree, self.id).tolist()
        return dict(zip(target.classes, shares, strict=True))

    @property
    def prediction(self) -> Any:
        """The class, the number or the tuple of numbers that the node predicts."""
        return node_prediction(self.tree, self.id)

    @property
    def impurity(self) -> float:
        """Impurity of the node's rows."""
        return float(self.tree.impurity[self.id])

    @property
    def gain(self) -> float:
        """By how much the split lowers the impurity, times the node's share of the weight."""
        return float(self.tree.gain[self.id])

    @property
    def risk(self) -> float:
        """What the node would add to the tree's risk as a leaf."""
        return float(self.tree.risk[self.id])

    @property
    def stopped(self) -> str | None:
        """Why the node is a leaf, in words; None for a split node, or if the tree cannot tell."""
        from treewright.tree.growing.stopped import why_stopped

        return why_stopped(self.tree, self.id)

    @property
    def extras(self) -> dict[str, Any]:
        """Further figures, such as a p-value."""
        return {name: column[self.id] for name, column in self.tree.extras.items()}

    def __repr__(self) -> str:
        shares = self.probabilities
        predicted = format_value(self.prediction)
        if shares is not None:
            predicted += f" {format_share(shares[self.prediction])}"
        what = self._test(room=60) or "leaf"
        return f"<Node {self.id}: {what}; n={self.n_samples}, {predicted}>"


@dataclass(frozen=True, repr=False)
class Nodes(Sequence[Node]):
    """The nodes of a tree in id order.

    Parameters
    ----------
    tree
        The tree.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> nodes = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_.nodes
    >>> len(nodes)
    5
    >>> for node in nodes:
    ...     print(node.id, node.test or node.prediction)
    0 Petal.Length < 2.45
    1 setosa
    2 Petal.Width < 1.75 (or gap)
    3 versicolor
    4 virginica
    """

    tree: Tree

    def __len__(self) -> int:
        return self.tree.n_nodes

    def __iter__(self) -> Iterator[Node]:
        return (Node(self.tree, i) for i in range(self.tree.n_nodes))

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> list[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | list[Node]:
        if isinstance(index, slice):
            return [Node(self.tree, i) for i in range(*index.indices(self.tree.n_nodes))]
        size = self.tree.n_nodes
        if not -size <= index < size:
            raise NodeIndexError(f"node must be an id from 0 to {size - 1}, got {index}.")
        return Node(self.tree, int(index) % size)

    def __repr__(self) -> str:
        return f"<{len(self)} nodes of {self.tree!r}>"


class NodeIndexError(ParameterError, IndexError):
    """No node has this id; an IndexError too, so that sequences work as Python expects."""
