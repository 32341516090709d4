"""The cost-complexity path: size and risk of every subtree that is best for some alpha."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import checked
from treewright.errors import ParameterError
from treewright.pruning._choice import Choice, choose_row
from treewright.pruning._cross_validation import CrossValidatedErrors
from treewright.pruning._sequence import PruningSequence, Risk, pruning_sequence
from treewright.tree.show.tables import as_frame, html_table, significant, text_table
from treewright.tree.tree import Tree

__all__ = ["CostComplexityPath", "cost_complexity_path"]


@dataclass(frozen=True, eq=False)
class CostComplexityPath:
    """Subtrees of one tree, the largest first.

    Parameters
    ----------
    alphas
        Complexity from which each subtree is the best, ascending from 0.
    n_leaves, risks
        Size and total leaf risk of each subtree on the training rows.
    risk
        The measure: ``"error"`` or ``"impurity"``.
    errors, errors_std
        Cross-validated errors relative to the root's, and their standard errors; None
        before cross-validation.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> from treewright.pruning import cost_complexity_path
    >>> tennis = datasets.load_play_tennis()
    >>> path = cost_complexity_path(CARTClassifier().fit(tennis.data, tennis.target).tree_)
    >>> print(path)
    Cost-complexity path, 3 subtrees, risk: error
       alpha n_leaves    risk
    0.000000        7 0.00000
    0.035714        3 0.14286
    0.107143        1 0.35714
    >>> axes = path.plot()
    >>> path.frame().columns.tolist()
    ['alpha', 'n_leaves', 'risk']
    """

    alphas: NDArray[np.float64]
    n_leaves: NDArray[np.int64]
    risks: NDArray[np.float64]
    risk: Risk
    errors: NDArray[np.float64] | None = None
    errors_std: NDArray[np.float64] | None = None

    @classmethod
    def from_sequence(
        cls, sequence: PruningSequence, errors: CrossValidatedErrors | None = None
    ) -> CostComplexityPath:
        """Put the steps of a sequence, and their errors if there are any, side by side."""
        return cls(
            alphas=sequence.alphas,
            n_leaves=sequence.n_leaves,
            risks=sequence.risks,
            risk=sequence.risk,
            errors=None if errors is None else errors.error,
            errors_std=None if errors is None else errors.std,
        )

    def __len__(self) -> int:
        return len(self.alphas)

    @property
    def ccp_alphas(self) -> NDArray[np.float64]:
        """``alphas`` under scikit-learn's name."""
        return self.alphas

    @property
    def impurities(self) -> NDArray[np.float64]:
        """``risks`` under scikit-learn's name."""
        return self.risks

    def best(self, rule: Choice = "min") -> float:
        """The alpha with the least cross-validated error, or of the smallest tree within 1 SE.

        Parameters
        ----------
        rule
            ``"min"``: the least error; ``"1se"``: the smallest tree whose error is at most one
            standard error above it.

        Examples
        --------
        >>> import numpy as np
        >>> from treewright import CARTClassifier, datasets, pruning
        >>> tennis = datasets.load_play_tennis()
        >>> tree = CARTClassifier().fit(tennis.data, tennis.target).tree_
        >>> errors = pruning.CrossValidatedErrors(np.array([0.8, 0.7, 1]), np.array([0.2, 0.2, 0]))
        >>> sequence = pruning.pruning_sequence(tree)
        >>> path = pruning.CostComplexityPath.from_sequence(sequence, errors)
        >>> round(path.best(), 4), path.n_leaves[path.alphas == path.best()].tolist()
        (0.0357, [3])
        """
        if self.errors is None or self.errors_std is None:
            raise ParameterError(
                "best needs cross-validated errors, but this path has none; take cp_table of the "
                "estimator, or give errors to from_sequence."
            )
        return float(self.alphas[choose_row(self.n_leaves, self.errors, self.errors_std, rule)])

    def _columns(self) -> dict[str, Any]:
        columns = {"alpha": self.alphas, "n_leaves": self.n_leaves, "risk": self.risks}
        if self.errors is not None and self.errors_std is not None:
            columns |= {"error": self.errors, "error_std": self.errors_std}
        return columns

    def _cells(self) -> dict[str, list[str]]:
        return {
            name: [str(n) for n in values] if name == "n_leaves" else significant(values)
            for name, values in self._columns().items()
        }

    def frame(self) -> Any:
        """The path as a data frame."""
        return as_frame(self._columns())

    def __str__(self) -> str:
        return f"{self._caption()}\n{text_table(self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._caption())

    def _caption(self) -> str:
        return f"Cost-complexity path, {len(self)} subtrees, risk: {self.risk}"

    def plot(self, ax: Any = None) -> Any:
        """Draw risk, and error if cross-validated, against the number of leaves.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        from matplotlib import pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        # Errors are relative to the root; so is the risk drawn beside them.
        scale = self.risks[-1] if self.errors is not None and self.risks[-1] != 0 else 1.0
        ax.plot(self.n_leaves, self.risks / scale, drawstyle="steps-post", label="training")
        if self.errors is not None:
            ax.errorbar(
                self.n_leaves, self.errors, self.errors_std, marker="o", label="cross-validated"
            )
            ax.legend()
        ax.set_xscale("log")
        ax.set_xlabel("leaves")
        ax.set_ylabel(self.risk if scale == 1.0 else f"{self.risk} relative to the root")
        return ax


@checked()
def cost_complexity_path(tree: Tree, risk: Risk = "error") -> CostComplexityPath:
    """Subtrees that are best for some price of a leaf, with their sizes and risks.

    Parameters
    ----------
    tree
        A grown tree, or its estimator.
    risk
        ``"error"``: expected cost or squared error, as Breiman et al. and rpart;
        ``"impurity"``: the splitting criterion, as scikit-learn.

    Returns
    -------
    CostComplexityPath
        The first row is the smallest subtree with the risk of the whole tree, the last the
        root. Steps at equal alphas are one row.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> from treewright.pruning import cost_complexity_path
    >>> iris = datasets.load_iris()
    >>> path = cost_complexity_path(CARTClassifier().fit(iris.data, iris.target).tree_)
    >>> path.n_leaves.tolist()
    [9, 7, 4, 3, 2, 1]
    """
    return CostComplexityPath.from_sequence(pruning_sequence(tree, risk, "exact"))
