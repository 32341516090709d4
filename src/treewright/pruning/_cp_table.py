"""The cp table of rpart: complexity, size, training error and cross-validated error.

Everything is relative to the root: a complexity of 0.01 buys a split that lowers the risk by
one hundredth of the root's. The rows are in rpart's order, the smallest tree first.

Therneau, Atkinson, *An introduction to recursive partitioning using the rpart routines*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import checked
from treewright.errors import ParameterError
from treewright.pruning._choice import Choice, choose_row
from treewright.pruning._cross_validation import CrossValidatedErrors
from treewright.pruning._sequence import PruningSequence, Risk, pruning_sequence
from treewright.tree.show.tables import as_frame, html_table, significant, text_table
from treewright.tree.tree import Tree

__all__ = ["CpRow", "CpTable", "cp_table"]


class CpRow(NamedTuple):
    """One row of a cp table.

    Parameters
    ----------
    cp
        Complexity to prune with.
    n_splits
        Splits of the tree.
    rel_error
        Its risk on the training rows, relative to the root's.
    xerror, xstd
        Cross-validated error relative to the root's, and its standard error; NaN before
        cross-validation.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> tennis = datasets.load_play_tennis()
    >>> row = CARTClassifier().fit(tennis.data, tennis.target).cp_table_[1]
    >>> round(row.cp, 3), row.n_splits, round(row.rel_error, 3), row.xerror
    (0.1, 2, 0.4, nan)
    """

    cp: float
    n_splits: int
    rel_error: float
    xerror: float
    xstd: float


@dataclass(frozen=True, eq=False)
class CpTable:
    """Complexity table as rpart prints it, the smallest tree first.

    Parameters
    ----------
    cp
        Complexity of each row: pruning with it gives the row's tree.
    n_splits, n_leaves
        Size of the row's tree.
    rel_error
        Its risk on the training rows, relative to the root's.
    root_error
        Risk of the root.
    n_samples
        Training rows.
    xerror, xstd
        Cross-validated error relative to the root's, and its standard error; None before
        cross-validation.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> table = CARTClassifier(cv=5, random_state=0).cp_table(iris.data, iris.target)
    >>> table.n_splits.tolist()
    [0, 1, 2, 3, 6, 8]
    >>> table.best(rule="1se").n_splits
    2
    >>> axes = table.plot()
    >>> table.frame().columns.tolist()
    ['CP', 'nsplit', 'rel error', 'xerror', 'xstd']
    """

    cp: NDArray[np.float64]
    n_splits: NDArray[np.int64]
    n_leaves: NDArray[np.int64]
    rel_error: NDArray[np.float64]
    root_error: float
    n_samples: int
    xerror: NDArray[np.float64] | None = None
    xstd: NDArray[np.float64] | None = None

    @classmethod
    def from_sequence(
        cls, sequence: PruningSequence, errors: CrossValidatedErrors | None = None
    ) -> CpTable:
        """Turn a sequence round and divide it by the root's risk."""
        scale = abs(sequence.root_risk) or 1.0
        return cls(
            cp=sequence.alphas[::-1] / scale,
            n_splits=sequence.n_splits[::-1],
            n_leaves=sequence.n_leaves[::-1],
            rel_error=sequence.risks[::-1] / scale,
            root_error=sequence.root_error,
            n_samples=sequence.n_samples,
            xerror=None if errors is None else errors.error[::-1],
            xstd=None if errors is None else errors.std[::-1],
        )

    def __len__(self) -> int:
        return len(self.cp)

    def __getitem__(self, row: int) -> CpRow:
        return CpRow(
            cp=float(self.cp[row]),
            n_splits=int(self.n_splits[row]),
            rel_error=float(self.rel_error[row]),
            xerror=float("nan") if self.xerror is None else float(self.xerror[row]),
            xstd=float("nan") if self.xstd is None else float(self.xstd[row]),
        )

    def best(self, rule: Choice = "min") -> CpRow:
        """The row to prune with.

        Parameters
        ----------
        rule
            ``"min"``: the least cross-validated error; ``"1se"``: the smallest tree whose
            error is at most one standard error above it.
        """
        xerror, xstd = self._errors("best")
        return self[choose_row(self.n_leaves, xerror, xstd, rule)]

    def frame(self) -> Any:
        """The table as a data frame with rpart's column names."""
        return as_frame(self._columns())

    def plot(self, ax: Any = None) -> Any:
        """Draw cross-validated error against complexity, as rpart's plotcp does.

        The dotted line lies one standard error above the minimum: the leftmost tree below it
        is the one of the 1-SE rule.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        xerror, xstd = self._errors("plot")
        from matplotlib import pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        where = np.arange(len(self))
        ax.errorbar(where, xerror, xstd, marker="o", capsize=3)
        least = choose_row(self.n_leaves, xerror, xstd, "min")
        ax.axhline(xerror[least] + xstd[least], linestyle=":", color="0.4")
        with np.errstate(invalid="ignore"):
            middles = np.sqrt(self.cp * np.concatenate([[np.inf], self.cp[:-1]]))
        ax.set_xticks(where, [f"{cp:.2g}" for cp in middles])
        ax.set_xlabel("cp")
        ax.set_ylabel("cross-validated error relative to the root")
        sizes = ax.secondary_xaxis("top")
        sizes.set_xticks(where, [str(n) for n in self.n_leaves])
        sizes.set_xlabel("leaves")
        return ax

    def __str__(self) -> str:
        return (
            f"Root node error: {self.root_error:.5g}\n\nn= {self.n_samples}\n\n"
            f"{text_table(self._cells(), index=True)}"
        )

    def _repr_html_(self) -> str:
        return html_table(
            self._cells(), f"Root node error {self.root_error:.5g}, n = {self.n_samples}"
        )

    def _columns(self) -> dict[str, Any]:
        columns = {"CP": self.cp, "nsplit": self.n_splits, "rel error": self.rel_error}
        if self.xerror is not None and self.xstd is not None:
            columns |= {"xerror": self.xerror, "xstd": self.xstd}
        return columns

    def _cells(self) -> dict[str, list[str]]:
        return {
            name: [str(n) for n in values] if name == "nsplit" else significant(values)
            for name, values in self._columns().items()
        }

    def _errors(self, purpose: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.xerror is None or self.xstd is None:
            raise ParameterError(
                f"{purpose} needs cross-validated errors, but this cp table has none; "
                'fit with cp="cv".'
            )
        return self.xerror, self.xstd


@checked()
def cp_table(tree: Tree, cp: float = 0.0, risk: Risk = "error") -> CpTable:
    """The cp table of a tree, by rpart's rule, without cross-validation.

    Parameters
    ----------
    tree
        A grown tree, or its estimator.
    cp
        Complexity below which the tree is not followed; the last row's.
    risk
        ``"error"`` or ``"impurity"``.

    Returns
    -------
    CpTable
        With ``frame()``, ``plot()``, ``str()`` and a notebook display.

    Examples
    --------
    >>> from treewright.pruning import cp_table
    >>> from treewright import CARTClassifier
    >>> from treewright.datasets import load_play_tennis
    >>> tennis = load_play_tennis()
    >>> tree = CARTClassifier().fit(tennis.data, tennis.target).tree_
    >>> print(cp_table(tree))
    Root node error: 0.35714
    <BLANKLINE>
    n= 14
    <BLANKLINE>
       CP nsplit rel error
    1 0.3      0       1.0
    2 0.1      2       0.4
    3 0.0      6       0.0
    """
    sequence = pruning_sequence(tree, risk, "rpart")
    return CpTable.from_sequence(sequence.above(cp * abs(sequence.root_risk)))
