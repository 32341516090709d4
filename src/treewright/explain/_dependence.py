"""Partial dependence and individual curves (ICE) of any model, on mixed columns.

A feature is given every value of a grid in all rows, and the answers are averaged: categories one
by one, numbers at quantiles. With two features every pair of their values is tried.

References: Friedman (2001), *Greedy function approximation*; Goldstein and others (2015), *Peeking
inside the black box: visualizing statistical learning with plots of individual conditional
expectation*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import SEED, checked, whole
from treewright.errors import ParameterError
from treewright.explain._asking import Asked, column_values
from treewright.explain._paint import DOWN, FAINT, axes, colour_map, name, tidy
from treewright.tree.show.tables import as_frame, html_table, text_table
from treewright.tree.show.words import clip, format_value

__all__ = ["Dependence", "partial_dependence"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Dependence:
    """Mean answers over a grid of one feature, or of two.

    Parameters
    ----------
    features
        Names of the features, one or two.
    grid
        Values of each that were tried, as the user knows them.
    average
        Mean answer: grid (× grid) × outputs.
    individual
        Answer for each row: rows × grid × outputs; None for two features.
    outputs
        Names of the outputs.
    is_categorical
        Whether each feature has categories.
    what
        What the outputs are, for labels: "probability of", or nothing.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> from treewright.explain import partial_dependence
    >>> titanic = datasets.load_titanic()
    >>> model = CARTClassifier(max_depth=3).fit(titanic.data, titanic.target)
    >>> found = partial_dependence(model, titanic.data, "Sex")
    >>> found.grid[0], found.average.shape
    (('female', 'male'), (2, 2))
    >>> print(found)
    Partial dependence on Sex
    Sex         0      1
    female 0.2838 0.7162
    male   0.7988 0.2012
    >>> axes = found.plot()
    >>> found.frame().shape
    (2, 3)
    """

    features: tuple[str, ...]
    grid: tuple[tuple[Any, ...], ...]
    average: Floats
    individual: Floats | None
    outputs: tuple[str, ...]
    is_categorical: tuple[bool, ...]
    what: str = ""

    def _label(self, k: int) -> str:
        return f"{self.what} {name(self.outputs[k])}".strip()

    def _place(self, output: Any) -> int:
        if output is None:
            return len(self.outputs) - 1
        if isinstance(output, int | np.integer) and 0 <= output < len(self.outputs):
            return int(output)
        if str(output) in self.outputs:
            return self.outputs.index(str(output))
        raise KeyError(output)

    def frame(self) -> Any:
        """The mean answers as a data frame: a row per value, or pair of values."""
        points = [(a,) for a in self.grid[0]]
        if len(self.grid) == 2:
            points = [(a, b) for a in self.grid[0] for b in self.grid[1]]  # type: ignore[misc]
        columns: dict[str, Any] = {
            feature: [point[k] for point in points] for k, feature in enumerate(self.features)
        }
        flat = self.average.reshape(len(points), -1)
        return as_frame(columns | {name: flat[:, k] for k, name in enumerate(self.outputs)})

    def plot(
        self, *, output: Any = None, ice: bool = True, centre: bool = False, ax: Any = None
    ) -> Any:
        """Draw the mean answer, and the curves of single rows.

        Parameters
        ----------
        output
            Name or place of an output; None for the last.
        ice
            Whether to draw the curves of single rows.
        centre
            Let all curves begin at zero, so that crossing curves (interactions) can be seen.
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        ax = axes(ax)
        k = self._place(output)
        if len(self.features) == 2:
            return self._plot_pair(ax, k)
        places, labels = self._axis(0)
        mean = self.average[:, k]
        if ice and self.individual is not None:
            each = self.individual[:, :, k]
            each = each - each[:, :1] if centre else each
            ax.plot(
                places, each.T, color=FAINT, linewidth=0.5, alpha=max(0.05, 12 / (len(each) + 60))
            )
        mean = mean - mean[0] if centre else mean
        mark = "o" if self.is_categorical[0] else None
        ax.plot(places, mean, color=DOWN, linewidth=2.2, marker=mark)
        if labels is not None:
            ax.set_xticks(places, labels, rotation=30 if len(labels) > 5 else 0)
        ax.set_xlabel(name(self.features[0]))
        change = "change of " if centre else ""
        ax.set_ylabel(f"{change}{self._label(k)}")
        tidy(ax)
        return ax

    def _plot_pair(self, ax: Any, k: int) -> Any:
        (x, x_labels), (y, y_labels) = self._axis(0), self._axis(1)
        mesh = ax.pcolormesh(x, y, self.average[:, :, k].T, cmap=colour_map(), shading="nearest")
        for labels, places, axis in ((x_labels, x, ax.xaxis), (y_labels, y, ax.yaxis)):
            if labels is not None:
                axis.set_ticks(places, labels)
        ax.set_xlabel(name(self.features[0]))
        ax.set_ylabel(name(self.features[1]))
        bar = ax.figure.colorbar(mesh, ax=ax, aspect=40, pad=0.02, label=self._label(k))
        bar.outline.set_visible(False)
        tidy(ax)
        return ax

    def _axis(self, k: int) -> tuple[Any, list[str] | None]:
        values = self.grid[k]
        if not self.is_categorical[k] and None not in values:
            return np.array(values, np.float64), None
        labels = ["gap" if value is None else name(value, 14) for value in values]
        return np.arange(len(values)), labels

    def _cells(self) -> dict[str, list[str]]:
        cells = {clip(format_value(self.features[0]), 30): [_shown(v) for v in self.grid[0]]}
        for k, output in enumerate(self.outputs[:8]):
            cells[clip(format_value(output), 16)] = [f"{v:.4g}" for v in self.average[:, k]]
        return cells

    def _caption(self) -> str:
        names = " and ".join(clip(format_value(feature), 40) for feature in self.features)
        return f"Partial dependence on {names}"

    def __str__(self) -> str:
        if len(self.features) == 2:
            size = " × ".join(str(len(values)) for values in self.grid)
            return f"{self._caption()}: {size} values; see frame() and plot()"
        return f"{self._caption()}\n{text_table(self._cells(), left=1)}"

    def _repr_html_(self) -> str:
        if len(self.features) == 2:
            return html_table({"": []}, str(self))
        return html_table(self._cells(), self._caption())


@checked(grid=whole(2, 10_000), random_state=SEED)
def partial_dependence(
    model: Any,
    X: Any,
    features: Any,
    *,
    grid: int = 20,
    max_rows: int | None = 500,
    random_state: Any = 0,
) -> Dependence:
    """How the answer changes with one feature, or with two, all else as it is.

    Parameters
    ----------
    model : fitted estimator of treewright
        Any: a tree, an ensemble, MARS.
    X : array or data frame
        Rows over which answers are averaged; gaps and categories as in training.
    features : str, int, or a pair of them
        What is varied.
    grid : int, default=20
        Most values of a number to try (quantiles); categories are all tried.
    max_rows : int, default=500
        Rows to use, drawn at random where there are more; None for all.
    random_state : int, RandomState or None, default=0
        Seed of that draw.

    Returns
    -------
    dependence : Dependence
        With ``frame()``, ``plot()`` (and curves of single rows), ``str()``.

    Examples
    --------
    >>> from treewright import RandomForestClassifier, datasets
    >>> from treewright.explain import partial_dependence
    >>> titanic = datasets.load_titanic()
    >>> model = RandomForestClassifier(n_estimators=20, random_state=0)
    >>> model = model.fit(titanic.data, titanic.target)
    >>> found = partial_dependence(model, titanic.data, "Sex")
    >>> found.grid[0]
    ('female', 'male')
    """
    asked = Asked(model, X)
    wanted = features if isinstance(features, list | tuple) else [features]
    if not 1 <= len(wanted) <= 2:
        raise ParameterError(f"features must name one feature or two, got {len(wanted)}.")
    index = [asked.feature(feature) for feature in wanted]
    if len(set(index)) < len(index):
        raise ParameterError("features must be two different ones, got one twice.")
    table = asked.table
    if max_rows is not None and table.n_rows > max_rows:
        drawn = np.random.default_rng(random_state).choice(table.n_rows, max_rows, replace=False)
        table = table.take(np.sort(drawn))
    values = [column_values(asked.table, f, grid) for f in index]
    individual = None
    if len(index) == 1:
        individual = np.stack([_answers(asked, table, index, [v]) for v in values[0]], axis=1)
        average = individual.mean(axis=0)
    else:
        average = np.array(
            [
                [_answers(asked, table, index, [a, b]).mean(axis=0) for b in values[1]]
                for a in values[0]
            ]
        )
    return Dependence(
        tuple(str(asked.schema.names[f]) for f in index),
        tuple(
            tuple(asked.value_name(f, v) for v in vs) for f, vs in zip(index, values, strict=True)
        ),
        average,
        individual,
        tuple(asked.outputs),
        tuple(asked.schema.features[f].is_categorical for f in index),
        "probability of" if asked.gives_probability else "",
    )


def _answers(asked: Asked, table: Any, features: Sequence[int], values: Sequence[float]) -> Floats:
    columns = {
        f: np.full(table.n_rows, value, table.columns[f].dtype)
        for f, value in zip(features, values, strict=True)
    }
    return asked.say(asked.with_columns(table, columns))


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else clip(format_value(value), 30)
