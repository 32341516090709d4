"""Error against the size of a tree, one call: on training rows, rows held out and folds.

The estimator is grown without pruning on part of the rows. Its nested subtrees, from the root to
the whole tree, are judged on the rows that grew them, on the rest, and by cross-validation; the
training error can only fall with size, the other two turn up again where the tree learns noise.

Breiman, Friedman, Olshen, Stone (1984), *Classification and Regression Trees*, chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import checked
from treewright.errors import ParameterError
from treewright.pruning._cross_validation import cross_validated_errors
from treewright.pruning._sequence import Risk, pruning_sequence
from treewright.pruning._size_curve import size_curve
from treewright.tree.show.tables import as_frame, html_table, significant, text_table

if TYPE_CHECKING:
    from treewright.estimator.training import Training

__all__ = ["PruningCurve", "pruning_curve"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PruningCurve:
    """Mean loss of each nested subtree, from the root to the whole tree.

    Parameters
    ----------
    alphas
        Complexity from which each subtree is the best.
    n_leaves
        Its leaves.
    training, validation
        Its loss on the rows that grew the tree, and on those held out.
    cross_validated, standard_error
        Its loss by cross-validation on the rows that grew it, and the standard error of that;
        None where no folds were asked for.
    unit
        What the losses are: the error rate, a cost, the squared error.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets, pruning_curve
    >>> rings = datasets.two_rings(300, random_state=0)
    >>> curve = pruning_curve(CARTClassifier(), rings.data, rings.target, cv=None)
    >>> curve.n_leaves[:3].tolist(), curve.unit
    ([1, 3, 4], 'error')
    >>> curve.best_size in curve.n_leaves
    True
    >>> curve.frame().shape
    (9, 4)
    >>> axes = curve.plot()
    """

    alphas: Floats
    n_leaves: NDArray[np.int64]
    training: Floats
    validation: Floats
    cross_validated: Floats | None
    standard_error: Floats | None
    unit: str

    def __len__(self) -> int:
        return len(self.alphas)

    @property
    def best_size(self) -> int:
        """Leaves of the smallest subtree with the least error on rows held out."""
        return int(self.n_leaves[np.argmin(self.validation)])

    @property
    def turns(self) -> bool:
        """Whether the error on rows held out is larger for the whole tree than at its best."""
        return bool(self.validation[-1] > self.validation.min())

    def _columns(self) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {
            "alpha": self.alphas,
            "leaves": self.n_leaves,
            "training": self.training,
            "validation": self.validation,
        }
        if self.cross_validated is not None and self.standard_error is not None:
            columns |= {
                "cross_validated": self.cross_validated,
                "standard_error": self.standard_error,
            }
        return columns

    def frame(self) -> Any:
        """One row per subtree, as a data frame."""
        return as_frame(self._columns())

    def _cells(self) -> dict[str, list[str]]:
        cells = {name: significant(column) for name, column in self._columns().items()}
        return cells | {"leaves": [str(n) for n in self.n_leaves]}

    def _caption(self) -> str:
        best = f"{self.best_size} leaves" if self.best_size > 1 else "1 leaf"
        return f"{self.unit} of {len(self)} subtrees; the least on rows held out: {best}"

    def __str__(self) -> str:
        return f"{self._caption()}\n{text_table(self._cells())}"

    def __repr__(self) -> str:
        return f"<PruningCurve: {self._caption()}>"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._caption())

    def plot(self, ax: Any = None, *, against: Literal["size", "alpha"] = "size") -> Any:
        """Draw the errors.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        against
            The number of leaves, or the complexity ``alpha``.
        """
        from matplotlib import pyplot as plt

        if against not in ("size", "alpha"):
            raise ParameterError(f'against must be "size" or "alpha", got {against!r}.')
        if ax is None:
            ax = plt.subplots()[1]
        x = self.n_leaves if against == "size" else self.alphas
        steps = {"drawstyle": "steps-post"}
        ax.plot(x, self.training, label="training", **steps)
        ax.plot(x, self.validation, label="rows held out", **steps)
        if self.cross_validated is not None:
            ax.errorbar(
                x, self.cross_validated, self.standard_error, label="cross-validated",
                marker="o", markersize=3, linewidth=1, elinewidth=0.6,
            )  # fmt: skip
        best = int(np.argmin(self.validation))
        ax.axvline(x[best], color="0.7", linestyle=":", label=f"{self.best_size} leaves")
        if against == "size":
            ax.set_xscale("log")
            ax.set_xlabel("leaves")
        else:
            ax.set_xscale("symlog", linthresh=float(self.alphas[self.alphas > 0].min(initial=1e-3)))
            ax.set_xlabel("alpha")
        ax.set_ylabel(self.unit)
        ax.legend()
        return ax


@checked()
def pruning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    validation_fraction: float = 1 / 3,
    cv: int | None = 5,
    risk: Risk = "error",
    random_state: Any = 0,
) -> PruningCurve:
    """Training, validation and cross-validated error against the size of the tree.

    Parameters
    ----------
    estimator
        An estimator that fits one tree; it is cloned and grown without pruning.
    X, y, sample_weight
        The data.
    validation_fraction
        Share of the rows that is held out, stratified by the target.
    cv
        Folds of the rows that grow the tree; None for no cross-validation.
    risk
        Which risk orders the subtrees, as in :func:`treewright.pruning.cost_complexity_path`.
    random_state
        Seed of the rows held out and of the folds.

    Returns
    -------
    PruningCurve
        With ``frame()``, ``plot()``, ``str()`` and a notebook display.

    Examples
    --------
    >>> import treewright
    >>> from treewright.datasets import two_rings
    >>> rings = two_rings(random_state=0)
    >>> curve = treewright.pruning_curve(treewright.CARTClassifier(), rings.data, rings.target)
    >>> curve.turns
    True
    """
    from sklearn.base import clone

    from treewright.estimator.base import TreeEstimator

    if not isinstance(estimator, TreeEstimator):
        raise ParameterError(
            "pruning_curve needs an estimator that fits one tree, got "
            f"{type(estimator).__name__}; pass one such as CARTClassifier()."
        )
    own = estimator.get_params(deep=False)
    off = {"pruning": None, "pruning_options": None, "ccp_alpha": 0.0, "cp": None}
    whole = clone(estimator).set_params(**{name: off[name] for name in off if name in own})
    whole._validate()
    training = whole._encode(X, y, sample_weight)
    return _curve(whole, training, validation_fraction, cv, risk, random_state)


def _curve(
    whole: Any, training: Training, share: float, cv: int | None, risk: Risk, random_state: Any
) -> PruningCurve:
    from treewright.estimator.cost_complexity import _loss
    from treewright.estimator.folds import row_splits
    from treewright.estimator.named_pruning import split_rows

    parts = split_rows(training.y, share, random_state)
    growing, held_out = training.take(parts.growing), training.take(parts.validation)
    tree = whole._before_pruning(whole._grow(growing), growing)
    sequence = pruning_sequence(tree, risk, "exact")
    curve = size_curve(tree, held_out.table, _loss(whole, held_out), held_out.sample_weight, risk)
    shown = slice(None, None, -1)
    errors = std = None
    if cv is not None and sequence.root_error > 0:
        found = cross_validated_errors(
            sequence,
            growing.table,
            row_splits(cv, growing, random_state),
            lambda rows: whole._before_pruning(whole._grow(growing.take(rows)), growing.take(rows)),
            _loss(whole, growing),
            growing.sample_weight,
        )
        errors = (found.error * sequence.root_error)[shown]
        std = (found.std * sequence.root_error)[shown]
    is_class = training.target.is_classification
    unit = "squared error" if not is_class else "error" if training.costs is None else "cost"
    return PruningCurve(
        alphas=sequence.alphas[shown],
        n_leaves=sequence.n_leaves[shown],
        training=curve.training,
        validation=curve.held_out,
        cross_validated=errors,
        standard_error=std,
        unit=unit,
    )
