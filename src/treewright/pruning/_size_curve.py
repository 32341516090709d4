"""Error against the size of a tree: on the rows that grew it, and on rows held out.

A tree that is pruned step by step gives one tree of each size; the training error can only fall
with size, the error on new rows falls and then turns up again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import FUNCTION, Allowed, checked
from treewright.data.table import Table
from treewright.pruning._cross_validation import Loss, losses_of, weight_of_rows
from treewright.pruning._sequence import Risk, pruning_sequence
from treewright.tree.of_model import tree_of
from treewright.tree.predict import reach
from treewright.tree.show.tables import as_frame, html_table, significant, text_table
from treewright.tree.tree import Tree

__all__ = ["SizeCurve", "size_curve"]


@dataclass(frozen=True, eq=False)
class SizeCurve:
    """Mean loss of each nested subtree, from the root to the whole tree.

    Parameters
    ----------
    n_leaves
        Leaves of each subtree.
    training, held_out
        Its loss on the rows that grew the tree, and on others.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import CARTRegressor
    >>> from treewright.data.encode import encode
    >>> from treewright.pruning import size_curve, squared_loss
    >>> X, y = {"x": [1.0, 2.0, 3.0, 4.0]}, np.array([1.0, 1.0, 5.0, 6.0])
    >>> tree = CARTRegressor().fit(X, y).tree_
    >>> others = encode({"x": [1.5, 3.6]}, schema=tree.schema)
    >>> curve = size_curve(tree, others, squared_loss(np.array([1.0, 5.0])))
    >>> curve.best_size
    2
    >>> curve.frame()
       leaves  training  held out
    0       1    5.1875    4.0625
    1       2    0.1250    0.1250
    2       3    0.0000    0.5000
    >>> axes = curve.plot()
    """

    n_leaves: NDArray[np.int64]
    training: NDArray[np.float64]
    held_out: NDArray[np.float64]

    @property
    def best_size(self) -> int:
        """Leaves of the smallest subtree with the least held-out error."""
        return int(self.n_leaves[np.argmin(self.held_out)])

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"leaves": self.n_leaves, "training": self.training, "held out": self.held_out}

    def frame(self) -> Any:
        """One row per subtree, as a data frame."""
        return as_frame(self._columns())

    def plot(self, ax: Any = None) -> Any:
        """Draw both errors against the number of leaves.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        from matplotlib import pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        ax.plot(self.n_leaves, self.training, drawstyle="steps-post", label="training")
        ax.plot(self.n_leaves, self.held_out, drawstyle="steps-post", label="held out")
        ax.axvline(self.best_size, color="0.7", linestyle=":", label=f"{self.best_size} leaves")
        ax.set_xscale("log")
        ax.set_xlabel("leaves")
        ax.set_ylabel("error")
        ax.legend()
        return ax

    def _cells(self) -> dict[str, list[str]]:
        cells = {name: significant(column) for name, column in self._columns().items()}
        return cells | {"leaves": [str(n) for n in self.n_leaves]}

    def __str__(self) -> str:
        return text_table(self._cells())

    def _repr_html_(self) -> str:
        return html_table(self._cells(), "Error by size")


@checked(
    table=Allowed("an encoded Table", lambda value: isinstance(value, Table)),
    loss=FUNCTION,
)
def size_curve(
    tree: Tree,
    table: Table,
    loss: Loss,
    sample_weight: NDArray[np.float64] | None = None,
    risk: Risk = "error",
) -> SizeCurve:
    """Held-out error of every subtree in the pruning sequence of ``tree``.

    Parameters
    ----------
    tree
        A grown tree, or its estimator.
    table
        Rows that did not grow it.
    loss
        Their losses, see :func:`treewright.pruning.class_loss` and ``squared_loss``.
    sample_weight
        Their weights; None for 1.
    risk
        Which risk orders the subtrees.

    Returns
    -------
    SizeCurve
        With ``best_size``, ``frame()``, ``plot()`` and ``str()``.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import CARTRegressor
    >>> from treewright.data.encode import encode
    >>> from treewright.pruning import size_curve, squared_loss
    >>> X, y = {"x": [1.0, 2.0, 3.0, 4.0]}, np.array([1.0, 1.0, 5.0, 6.0])
    >>> tree = CARTRegressor().fit(X, y).tree_
    >>> others = encode({"x": [1.5, 3.6]}, schema=tree.schema)
    >>> print(size_curve(tree, others, squared_loss(np.array([1.0, 5.0]))))
    leaves training held out
         1   5.1875   4.0625
         2   0.1250   0.1250
         3   0.0000   0.5000
    """
    tree = tree_of(tree)
    sequence = pruning_sequence(tree, risk, "exact")
    nodes = reach(tree, table, sequence.node_alpha, sequence.alphas + sequence.tolerance)
    losses = losses_of(loss, tree, nodes, np.arange(table.n_rows))
    held_out = np.average(losses, axis=0, weights=weight_of_rows(sample_weight, table.n_rows))
    order = slice(None, None, -1)
    return SizeCurve(sequence.n_leaves[order], sequence.risks[order], held_out[order])
