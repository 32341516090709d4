"""Proximities: in how many trees two rows end in the same leaf, and which rows are far from all.

References: Breiman and Cutler (2004), *Random forests* (manual); Breiman (2002), *Manual on setting
up, using, and understanding random forests V3.1*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from treewright.tree.show.tables import as_frame, html_table, significant, text_table

__all__ = ["OutlierMeasure", "leaf_matrix", "oob_proximity", "outlyingness", "proximity"]

Floats = NDArray[np.float64]


def leaf_matrix(leaves: NDArray[np.int32], n_nodes: NDArray[np.int64]) -> csr_matrix:
    """One line per row, one column per node of all trees, 1 at the leaves that the row reaches."""
    n, n_trees = leaves.shape
    offset = np.concatenate([[0], np.cumsum(n_nodes)])
    place = (leaves + offset[:-1]).ravel()
    indptr = np.arange(0, n * n_trees + 1, n_trees)
    shape = (n, int(offset[-1]))
    return csr_matrix((np.ones(n * n_trees, np.float32), place, indptr), shape=shape)


PAIRS_AT_ONCE = 1 << 20
"""Pairs of rows in one product: small enough that Ctrl-C is answered between two of them."""


def _product(left: csr_matrix, right: csr_matrix) -> csr_matrix:
    """``left @ right.T``, a few rows at a time."""
    turned = right.T.tocsr()
    step = max(1, PAIRS_AT_ONCE // max(turned.shape[1], 1))
    parts = [left[start : start + step] @ turned for start in range(0, left.shape[0], step)]
    return csr_matrix(vstack(parts, format="csr"))


def proximity(left: csr_matrix, right: csr_matrix, n_trees: int) -> csr_matrix:
    """Share of the trees in which each row of ``left`` and of ``right`` are in the same leaf."""
    shared = _product(left, right)
    shared.sort_indices()
    return csr_matrix(
        (shared.data.astype(np.float64) / n_trees, shared.indices, shared.indptr), shared.shape
    )


def oob_proximity(leaves: csr_matrix, left_out: NDArray[np.bool_]) -> csr_matrix:
    """The same over the trees that saw neither of the two rows.

    Parameters
    ----------
    leaves
        Of :func:`leaf_matrix`, one entry per row and tree.
    left_out
        Rows × trees: whether the tree did not see the row.
    """
    own = leaves.copy()
    own.data = left_out.ravel().astype(np.float32)
    own.eliminate_zeros()
    shared = _product(own, own).tocoo()
    bits = np.packbits(left_out, axis=1)
    n_both = np.empty(shared.nnz, np.int64)
    step = max(1, (1 << 24) // max(bits.shape[1], 1))
    for start in range(0, shared.nnz, step):
        some = slice(start, start + step)
        both = bits[shared.row[some]] & bits[shared.col[some]]
        n_both[some] = np.bitwise_count(both).sum(axis=1, dtype=np.int64)
    found = csr_matrix((shared.data / n_both, (shared.row, shared.col)), shared.shape)
    found.setdiag(1.0)
    found.sort_indices()
    return found


MAD_SCALE = 1.4826
"""Turns a median absolute deviation into a standard deviation where values are normal."""


def outlyingness(close: csr_matrix, group: NDArray[Any]) -> Floats:
    """How far each row is from the others of its group, in robust units.

    The number of rows over the sum of squared proximities to the rows of the group, itself
    included, less the median of the group, over its median absolute deviation.
    """
    pairs = close.tocoo()
    same = group[pairs.row] == group[pairs.col]
    raw = close.shape[0] / np.bincount(pairs.row[same], pairs.data[same] ** 2)
    measure = np.empty(len(raw))
    for label in np.unique(group):
        rows = group == label
        centred = raw[rows] - np.median(raw[rows])
        spread = MAD_SCALE * np.median(np.abs(centred)) or np.mean(np.abs(centred)) or 1.0
        measure[rows] = centred / spread
    return measure


@dataclass(frozen=True, eq=False)
class OutlierMeasure:
    """How far each training row is from the rows of its class (of all rows, for numbers).

    Parameters
    ----------
    values
        One number per row; Breiman takes more than 10 for an outlier.
    group
        Class of each row; None for regression.

    Examples
    --------
    >>> from treewright import RandomForestClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> forest = RandomForestClassifier(20, random_state=0).fit(iris.data, iris.target)
    >>> found = forest.outlier_measure(iris.data, iris.target)
    >>> found.frame().shape
    (150, 3)
    >>> bool(found.values[:50].max() < found.values[50:].max())  # setosa has no outliers
    True
    >>> axes = found.plot()
    """

    values: Floats
    group: NDArray[Any] | None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.array(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.values)

    def _columns(self, most: int | None = None) -> dict[str, Any]:
        order = np.argsort(-self.values, kind="stable")[:most]
        columns: dict[str, Any] = {"row": order}
        if self.group is not None:
            columns["class"] = self.group[order]
        return columns | {"outlier_measure": self.values[order]}

    def frame(self) -> Any:
        """The furthest row first, as a data frame."""
        return as_frame(self._columns())

    def _cells(self) -> dict[str, list[str]]:
        columns = self._columns(20)
        cells = {name: [str(v) for v in values] for name, values in columns.items()}
        return cells | {"outlier_measure": significant(columns["outlier_measure"], 3)}

    def _caption(self) -> str:
        return f"Outlier measure, the largest of {len(self)} rows"

    def __str__(self) -> str:
        return f"{self._caption()}\n{text_table(self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._caption())

    def plot(self, ax: Any = None) -> Any:
        """Draw the measure against the row number, coloured by class.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        from matplotlib import pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        row = np.arange(len(self))
        group = np.zeros(len(self)) if self.group is None else self.group
        for label in np.unique(group):
            mine = group == label
            ax.plot(row[mine], self.values[mine], "o", markersize=3, label=str(label))
        if self.group is not None:
            ax.legend()
        ax.set_xlabel("row")
        ax.set_ylabel("outlier measure")
        return ax
