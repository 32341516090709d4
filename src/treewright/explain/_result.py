"""Shapley values as a result: table, text, pictures; shap's Explanation where it is installed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.tree.show.tables import as_frame, html_table, text_table
from treewright.tree.show.words import clip, format_value

__all__ = ["ShapValues", "make_result"]

Floats = NDArray[np.float64]

SHOWN = 20
"""Features that the text form lists."""


class ShapValues:
    """What every feature adds to the answer for each row.

    The values of a row and its base value add up to what the model says. Where the package shap
    is installed, this is one of its ``Explanation`` objects as well, and its plots take it.

    Parameters
    ----------
    values
        Rows × features, × features once more with interactions, × outputs where there are
        several.
    base_values
        The answer where nothing is known: one number per row, or one per row and output.
    data
        The rows as numbers: categories as codes, gaps as NaN.
    display_data
        The rows with their categories.
    feature_names, output_names
        Names; ``output_names`` is None where there is one output.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> tennis = datasets.load_play_tennis()
    >>> model = CARTClassifier(max_depth=2).fit(tennis.data, tennis.target)
    >>> found = model.shap_values(tennis.data)
    >>> found.values.shape
    (14, 4, 2)
    >>> total = found.values.sum(axis=1) + found.base_values
    >>> bool(abs(total - model.predict_proba(tennis.data)).max() < 1e-12)
    True
    >>> found.mean_abs().round(2).tolist()
    [0.41, 0.0, 0.43, 0.0]
    >>> found.frame("Yes").shape
    (14, 5)
    >>> axes = found.plot("bar")
    """

    values: Floats
    base_values: Floats
    data: Floats
    display_data: NDArray[Any]
    feature_names: list[str]
    output_names: list[str] | None
    says: str = "value"
    """What the answer is: a key of :data:`treewright.tree.additive.WORDS`."""

    def __init__(
        self,
        values: Floats,
        base_values: Floats,
        data: Floats,
        display_data: NDArray[Any],
        feature_names: list[str],
        output_names: list[str] | None = None,
    ) -> None:
        self.values = values
        self.base_values = base_values
        self.data = data
        self.display_data = display_data
        self.feature_names = feature_names
        self.output_names = output_names

    @property
    def has_interactions(self) -> bool:
        """Whether the values are of pairs of features."""
        n = len(self.feature_names)
        return self.values.ndim > 2 and self.values.shape[1:3] == (n, n) and self._n_axes == 3

    @property
    def _n_axes(self) -> int:
        return self.values.ndim - (self.output_names is not None)

    def __len__(self) -> int:
        return len(self.values)

    def mean_abs(self, output: Any = None) -> Floats:
        """Mean of the absolute values of each feature, the usual global importance.

        Parameters
        ----------
        output
            Name or place of an output; None for the sum over all.
        """
        values = self.values
        if self.has_interactions:
            values = values.sum(axis=2)
        size = np.abs(values).mean(axis=0)
        if self.output_names is None:
            return np.asarray(size)
        return np.asarray(size.sum(axis=1) if output is None else size[:, self._place(output)])

    def of(self, output: Any = None) -> Floats:
        """The values of one output, rows × features (× features).

        Parameters
        ----------
        output
            Name or place; None for the only one, or the last of several.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets
        >>> tennis = datasets.load_play_tennis()
        >>> found = CARTClassifier().fit(tennis.data, tennis.target).shap_values(tennis.data)
        >>> found.of("Yes").shape, found.base_of("Yes")[:1].round(3).tolist()
        ((14, 4), [0.643])
        """
        values: Floats = np.asarray(self.values)
        return values if self.output_names is None else values[..., self._place(output)]

    def base_of(self, output: Any = None) -> Floats:
        """The base values of one output.

        Parameters
        ----------
        output
            Name or place; None for the only one, or the last of several.
        """
        base: Floats = np.asarray(self.base_values)
        return base if self.output_names is None else base[..., self._place(output)]

    def _place(self, output: Any) -> int:
        assert self.output_names is not None
        if output is None:
            return len(self.output_names) - 1
        names = list(self.output_names)
        if isinstance(output, int | np.integer) and -len(names) <= output < len(names):
            return int(output) % len(names)
        if str(output) in names:
            return names.index(str(output))
        raise KeyError(output)

    def frame(self, output: Any = None) -> Any:
        """The values of one output as a data frame: a row per row, a column per feature.

        Interactions have columns of the form ``"age × income"``.

        Parameters
        ----------
        output
            Name or place; None for the only one, or the last of several.
        """
        values = self.of(output)
        names = list(self.feature_names)
        columns: dict[str, Any] = {"base value": self.base_of(output)}
        if not self.has_interactions:
            return as_frame(columns | {n: values[:, i] for i, n in enumerate(names)})
        for i, one in enumerate(names):
            columns[one] = values[:, i, i]
            for j in range(i + 1, len(names)):
                columns[f"{one} × {names[j]}"] = values[:, i, j] + values[:, j, i]
        return as_frame(columns)

    def plot(self, kind: str = "summary", *, output: Any = None, ax: Any = None, **how: Any) -> Any:
        """Draw the values.

        Parameters
        ----------
        kind : {"summary", "bar", "waterfall", "dependence"}, default="summary"
            "summary" draws a point per row and feature, "bar" mean absolute values, "waterfall"
            how the values of one row (``row=``) lead from the base value to the answer,
            "dependence" the values of one feature (``feature=``) against the feature.
        output
            Name or place of an output; None for the only one, or the last of several.
        ax
            Matplotlib axes to draw on; new ones if None.
        **how
            ``max_features``, ``row``, ``feature`` and ``colour_by``, as the kind has them.
        """
        from treewright.explain._figures import draw

        return draw(self, kind, output=output, ax=ax, **how)

    def _cells(self) -> dict[str, list[str]]:
        size = self.mean_abs()
        order = np.argsort(-size, kind="stable")[:SHOWN]
        cells = {
            "feature": [clip(format_value(self.feature_names[i]), 40) for i in order],
            "mean |value|": [f"{size[i]:.4g}" for i in order],
        }
        if self.output_names is None or len(self.output_names) > 6:
            return cells
        for name in self.output_names:
            own = self.mean_abs(name)
            cells[clip(format_value(name), 16)] = [f"{own[i]:.4g}" for i in order]
        return cells

    def _caption(self) -> str:
        n, m = self.values.shape[:2]
        pairs = " and their pairs" if self.has_interactions else ""
        return f"Shapley values of {m} features{pairs} for {n} rows"

    def __repr__(self) -> str:
        return f"<{self._caption()}>"

    def __str__(self) -> str:
        return f"{self._caption()}\n{text_table(self._cells(), left=1)}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._caption())


@cache
def _shap_class() -> type[ShapValues] | None:
    """A class that is shap's Explanation too; None where shap is not installed."""
    try:
        from shap import Explanation
    except ImportError:
        return None

    class Both(ShapValues, Explanation):  # type: ignore[misc]
        __doc__ = ShapValues.__doc__

        def __init__(self, **parts: Any) -> None:
            Explanation.__init__(self, **parts)

    Both.__name__ = Both.__qualname__ = "ShapValues"
    return Both


def make_result(says: str, **parts: Any) -> ShapValues:
    """The values, as shap's Explanation where that is installed."""
    found = (_shap_class() or ShapValues)(**parts)
    found.says = says
    return found
