"""How much worse a model gets when a feature is shuffled, with an interval for each figure.

The values of one feature are permuted among the rows, some times over; the mean increase of the
loss is the feature's importance. The interval is that of the mean over rows: how far the figure
would move if other rows of the same kind had been drawn. Shuffles are averaged first, so that
their noise is part of it. The model itself is taken as given.

Reference: Breiman (2001), *Random forests*; Fisher, Rudin and Dominici (2019), *All models are
wrong, but many are useful*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import SEED, checked
from treewright.data.target import class_codes, numeric_target
from treewright.errors import DataError, ParameterError
from treewright.explain._asking import Asked
from treewright.explain._paint import DOWN, FAINT, axes, name, tidy
from treewright.tree.show.tables import as_frame, html_table, text_table
from treewright.tree.show.words import clip, format_value

__all__ = ["Importances", "importances"]

Floats = NDArray[np.float64]
Loss = Literal["auto", "error", "log_loss", "squared_error", "absolute_error"]


@dataclass(frozen=True, eq=False)
class Importances:
    """Increase of the loss when each feature is shuffled.

    Parameters
    ----------
    features
        Names.
    importance
        Mean increase of the loss.
    low, high
        Ends of the interval.
    spread
        Standard deviation over the shuffles.
    loss
        Which loss, and its mean with nothing shuffled.
    baseline
        The mean loss as it is.
    level
        Confidence of the intervals.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.explain import importances
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = CARTClassifier(max_depth=2).fit(X[::2], y[::2])
    >>> found = importances(model, X[1::2], y[1::2])
    >>> found.frame().columns.tolist()
    ['feature', 'importance', 'low', 'high', 'spread']
    >>> print(found)
    Increase of error (now 0.05333) when a feature is shuffled
    feature           importance    95% interval
    petal length (cm)     0.4360 0.3807 … 0.4913
    petal width (cm)      0.2707 0.1918 … 0.3495
    sepal length (cm)     0.0000 0.0000 … 0.0000
    sepal width (cm)      0.0000 0.0000 … 0.0000
    >>> axes = found.plot()
    """

    features: tuple[str, ...]
    importance: Floats
    low: Floats
    high: Floats
    spread: Floats
    loss: str
    baseline: float
    level: float

    @property
    def order(self) -> NDArray[np.int64]:
        """Positions of the features, the most important first."""
        return np.argsort(-self.importance, kind="stable")

    def frame(self) -> Any:
        """The figures as a data frame, the most important feature first."""
        order = self.order
        return as_frame(
            {
                "feature": [self.features[i] for i in order],
                "importance": self.importance[order],
                "low": self.low[order],
                "high": self.high[order],
                "spread": self.spread[order],
            }
        )

    def plot(self, ax: Any = None, *, max_features: int = 20) -> Any:
        """Draw the importances with their intervals.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        max_features
            Features to show.
        """
        order = self.order[:max_features][::-1]
        ax = axes(ax, height=0.9 + 0.3 * len(order))
        place = np.arange(len(order))
        sides = np.abs(np.array([self.importance - self.low, self.high - self.importance]))[
            :, order
        ]
        ax.errorbar(self.importance[order], place, xerr=sides, fmt="o", color=DOWN, capsize=2)
        ax.axvline(0, color=FAINT, linewidth=0.8, zorder=0)
        ax.set_yticks(place, [name(self.features[i]) for i in order])
        ax.set_xlabel(f"increase of {self.loss} when shuffled, {self.level:.0%} interval")
        tidy(ax)
        return ax

    def _cells(self) -> dict[str, list[str]]:
        order = self.order
        return {
            "feature": [clip(format_value(self.features[i]), 40) for i in order],
            "importance": [f"{self.importance[i]:.4f}" for i in order],
            f"{self.level:.0%} interval": [
                f"{self.low[i]:.4f} … {self.high[i]:.4f}" for i in order
            ],
        }

    def _caption(self) -> str:
        return f"Increase of {self.loss} (now {self.baseline:.4g}) when a feature is shuffled"

    def __str__(self) -> str:
        return f"{self._caption()}\n{text_table(self._cells(), left=1)}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._caption())


@checked(random_state=SEED)
def importances(
    model: Any,
    X: Any,
    y: Any,
    *,
    loss: Loss = "auto",
    n_repeats: int = 10,
    level: float = 0.95,
    random_state: Any = 0,
) -> Importances:
    """Permutation importances of any model, with intervals.

    Parameters
    ----------
    model : fitted estimator of treewright
        The model.
    X, y
        Rows that the model has not seen, best; with training rows the figures say what the model
        uses, not what helps.
    loss : {"auto", "error", "log_loss", "squared_error", "absolute_error"}, default="auto"
        "auto" is the error rate for classes and the squared error for numbers.
    n_repeats : int, default=10
        Shuffles of each feature.
    level : float, default=0.95
        Confidence of the intervals.
    random_state : int, RandomState or None, default=0
        Seed of the shuffles.

    Returns
    -------
    importances : Importances
        With ``frame()``, ``plot()`` and ``str()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.explain import importances
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = importances(CARTClassifier(max_depth=3).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> bool(found.low[3] > 0)  # petal width
    True
    """
    asked = Asked(model, X)
    chosen, each = _loss(asked, y, loss)
    table = asked.table
    n = table.n_rows
    before = each(asked, table)
    found = np.zeros((len(asked.schema), n_repeats, n))
    for f in range(len(asked.schema)):
        rng = np.random.default_rng([random_state, f])
        for r in range(n_repeats):
            shuffled = table.columns[f][rng.permutation(n)]
            found[f, r] = each(asked, asked.with_columns(table, {f: shuffled})) - before
    mean = found.mean(axis=(1, 2))
    half = _half_width(found.mean(axis=1), level)
    return Importances(
        tuple(map(str, asked.schema.names)),
        mean,
        mean - half,
        mean + half,
        found.mean(axis=2).std(axis=1, ddof=1) if n_repeats > 1 else np.zeros(len(mean)),
        chosen.replace("_", " "),
        float(before.mean()),
        level,
    )


def _half_width(rows: Floats, level: float) -> Floats:
    from scipy.stats import t

    n = rows.shape[1]
    if n < 2:
        return np.full(len(rows), np.nan)
    error = rows.std(axis=1, ddof=1) / np.sqrt(n)
    return np.asarray(error * t.ppf((1 + level) / 2, n - 1))


def _loss(asked: Asked, y: Any, loss: Loss) -> tuple[str, Callable[[Asked, Any], Floats]]:
    if asked.is_classifier:
        codes, known_classes = class_codes(y)
        truth = known_classes[codes]
    else:
        truth = numeric_target(y)
    if len(truth) != asked.table.n_rows:
        raise DataError(
            f"X and y must have as many rows, got {asked.table.n_rows} and {len(truth)}."
        )
    kinds = ("error", "log_loss") if asked.is_classifier else ("squared_error", "absolute_error")
    chosen = kinds[0] if loss == "auto" else loss
    if chosen not in kinds:
        what = "classes" if asked.is_classifier else "numbers"
        raise ParameterError(f"loss must be one of {', '.join(kinds)} for {what}, got {loss!r}.")
    if chosen == "error":
        return chosen, lambda a, t: np.asarray(a.labels(t) != truth, np.float64)
    if chosen == "log_loss":
        classes = np.asarray(asked.model.classes_)
        place = np.searchsorted(classes, truth)
        known = np.clip(place, 0, len(classes) - 1)
        if not np.array_equal(classes[known], truth):
            raise DataError("y must hold classes that the model knows, but some are new to it.")

        def log_loss(a: Asked, t: Any) -> Floats:
            said = a.say(t)[np.arange(len(known)), known]
            return np.asarray(-np.log(np.maximum(said, 1e-12)))

        return chosen, log_loss
    numbers = truth.reshape(len(truth), -1)
    if numbers.shape[1] != len(asked.outputs):
        raise DataError(
            f"y must have {len(asked.outputs)} outputs as the model, got {numbers.shape[1]}."
        )
    power = 2 if chosen == "squared_error" else 1
    return chosen, lambda a, t: np.asarray((np.abs(a.say(t) - numbers) ** power).mean(axis=1))
