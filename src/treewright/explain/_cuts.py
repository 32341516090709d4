"""Every cut of one feature at a node, and how it scores.

The rows whose value is known are sorted once; running sums give the statistics of both sides
of each cut between two different values. This is what the core does, written in numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature
from treewright.errors import ParameterError
from treewright.tree.growing.values import class_nodes
from treewright.tree.show.tables import as_frame, html_table, significant, text_table

if TYPE_CHECKING:
    from treewright.estimator.training import Training

__all__ = ["Cuts", "score_cuts"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cuts:
    """Cuts of one feature, in ascending order.

    Parameters
    ----------
    feature
        Its name.
    cut
        Midpoints, or the last category below the cut.
    n_below, n_above
        Rows on either side; those with a gap are on none.
    impurity
        Mean impurity of the two sides, by weight.
    gain
        By how much that is less than the impurity of the rows whose value is known.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
    >>> cuts = model.trace(0, iris.data, iris.target).cuts("Petal.Length")
    >>> cuts.cut[cuts.best], int(cuts.n_below[cuts.best]), int(cuts.n_above[cuts.best])
    (2.45, 50, 100)
    >>> cuts.frame().shape
    (42, 5)
    >>> axes = cuts.plot()
    """

    feature: str
    cut: tuple[Any, ...]
    n_below: NDArray[np.int64]
    n_above: NDArray[np.int64]
    impurity: Floats
    gain: Floats

    def __len__(self) -> int:
        return len(self.cut)

    @property
    def best(self) -> int:
        """Position of the cut of the largest gain, the first of a tie."""
        return int(np.argmax(self.gain))

    def frame(self) -> Any:
        """The cuts as a data frame."""
        return as_frame(
            {
                "cut": list(self.cut),
                "n_below": self.n_below,
                "n_above": self.n_above,
                "impurity": self.impurity,
                "gain": self.gain,
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the impurity after each cut.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.subplots()[1]
        ax.plot(self.cut, self.impurity, marker=".")
        ax.plot(self.cut[self.best], self.impurity[self.best], marker="o", color="C0")
        ax.set_xlabel(self.feature)
        ax.set_ylabel("impurity of the two sides")
        return ax

    def __str__(self) -> str:
        return f"{self._caption()}\n{text_table(self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._caption())

    def _caption(self) -> str:
        return f"{len(self)} cuts of {self.feature}"

    def _cells(self) -> dict[str, list[str]]:
        return {
            "": ["chosen" if i == self.best else "" for i in range(len(self))],
            "cut": [f"{c:.6g}" if isinstance(c, float) else str(c) for c in self.cut],
            "below": [str(n) for n in self.n_below],
            "above": [str(n) for n in self.n_above],
            "impurity": significant(self.impurity),
            "gain": significant(self.gain),
        }


def score_cuts(training: Training, feature: int, criterion: Any) -> Cuts:
    """Score every cut of an ordered feature on the given rows.

    Parameters
    ----------
    training
        The rows of the node.
    feature
        Column number.
    criterion
        As the estimator has it.
    """
    about = training.table.schema.features[feature]
    if about.kind == "nominal":
        raise ParameterError(
            f"cuts needs a continuous or ordinal feature, but {about.name!r} is nominal; "
            "its best split is among the candidates."
        )
    column = np.asarray(training.table.columns[feature], np.float64)
    known = np.flatnonzero(column >= 0 if about.is_categorical else ~np.isnan(column))
    order = known[np.argsort(column[known], kind="stable")]
    value = column[order]
    position = np.flatnonzero(np.diff(value)) + 1
    sums = np.cumsum(_statistics(training, order), axis=0)
    below = sums[position - 1]
    node = sums[-1:] if len(order) else np.zeros((1, sums.shape[1]))
    sides = np.concatenate([below, node - below, node])
    impurity, weight = _impurity(training, criterion, sides)
    n = len(position)
    mean = (impurity[:n] * weight[:n] + impurity[n:-1] * weight[n:-1]) / weight[-1]
    return Cuts(
        feature=about.name,
        cut=_cut_names(about, value, position),
        n_below=position.astype(np.int64),
        n_above=len(order) - position.astype(np.int64),
        impurity=mean,
        gain=impurity[-1] - mean,
    )


def _statistics(training: Training, rows: NDArray[np.int64]) -> Floats:
    """Per row the class weights, or weight, w·y and w·y² of each output."""
    weight = np.ones(training.n_rows) if training.sample_weight is None else training.sample_weight
    w = weight[rows][:, None]
    if training.target.is_classification:
        classes = np.arange(len(training.target.classes))
        return np.asarray(w * (training.y[rows][:, None] == classes))
    y = training.y.reshape(training.n_rows, -1)[rows]
    return np.hstack([w, w * y, w * y**2])


def _impurity(training: Training, criterion: Any, sums: Floats) -> tuple[Floats, Floats]:
    """Impurity and weight of each row of statistics."""
    costs = training.costs
    if training.target.is_classification and isinstance(criterion, str):
        _, impurity, _ = class_nodes(sums, sums, criterion, costs)
        weighted = sums if costs is None else sums * costs.split_factor
        return impurity, weighted.sum(axis=1)
    if criterion == "squared_error":
        k = training.target.n_outputs
        weight = sums[:, :1]
        variance = sums[:, 1 + k :] / weight - (sums[:, 1 : 1 + k] / weight) ** 2
        return variance.mean(axis=1), weight[:, 0]
    raise ParameterError(
        "cuts knows the criteria gini, entropy, error and squared_error, "
        f"got {criterion if isinstance(criterion, str) else 'a function'!r}; "
        "the best cut of each feature is among the candidates."
    )


def _cut_names(about: Feature, value: Floats, position: NDArray[np.int64]) -> tuple[Any, ...]:
    if about.is_categorical:
        return tuple(about.categories[int(code)] for code in value[position - 1])
    return tuple(((value[position - 1] + value[position]) / 2).tolist())
