"""``decision_boundary``: the regions of any model over two of its features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import LIST, checked, shown
from treewright.data.encode import encode
from treewright.data.frames import is_frame
from treewright.data.moments import as_moments
from treewright.data.table import Table
from treewright.errors import ParameterError
from treewright.evaluation._data import as_model_takes, check_fitted, is_class_model, read_rows
from treewright.evaluation._folds import places_in

__all__ = ["decision_boundary"]

MARGIN = 0.05
MOST_POINTS = 2000


@dataclass(frozen=True, eq=False)
class _Axis:
    """One feature along an axis: where its values lie, and how they are called."""

    name: str
    places: NDArray[np.float64]
    points: NDArray[np.float64]
    categories: tuple[Any, ...] | None = None

    def values(self, places: NDArray[np.float64]) -> NDArray[Any]:
        """The feature's values at these places."""
        if self.categories is None:
            return places
        codes = np.clip(np.rint(places), 0, len(self.categories) - 1).astype(np.intp)
        return np.array(self.categories, dtype=object)[codes]


@checked(features=LIST)
def decision_boundary(
    model: Any,
    X: Any,
    y: Any,
    features: Any = None,
    *,
    resolution: int = 200,
    ax: Any = None,
) -> Any:
    """Draw what a fitted model predicts over two features, and the rows on top.

    All other features stand at their median, or at their most frequent category.

    Parameters
    ----------
    model : estimator
        Fitted, of this library, scikit-learn or any other that follows it.
    X : array or data frame of shape (n_samples, n_features)
        The rows to draw, as the model takes them.
    y : array-like of shape (n_samples,)
        Their classes or numbers.
    features : pair of names or positions, default=None
        The features of the axes, numbers or categories; the first two by default.
    resolution : int, default=200
        Points of the grid along each axis.
    ax : matplotlib axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    display : sklearn.inspection.DecisionBoundaryDisplay
        With ``ax_`` and ``figure_``.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets, decision_boundary
    >>> rings = datasets.two_rings(300, random_state=0)
    >>> model = CARTClassifier(max_depth=6).fit(rings.data, rings.target)
    >>> display = decision_boundary(model, rings.data, rings.target)
    >>> display.response.shape
    (200, 200)
    """
    from matplotlib import pyplot as plt
    from matplotlib.colors import ListedColormap
    from sklearn.inspection import DecisionBoundaryDisplay

    check_fitted(model, "decision_boundary")
    rows = read_rows(X, y, is_class_model(model))
    table = encode(X)
    across, up = (_axis(table, place, resolution) for place in _places(features, table))
    grid = np.meshgrid(across.places, up.places)
    predicted = model.predict(_grid(model, X, table, across, up, grid))
    ax = plt.subplots(layout="constrained")[1] if ax is None else ax
    labels = {"xlabel": across.name, "ylabel": up.name}
    shape = grid[0].shape
    if rows.classes is None:
        response = np.asarray(predicted, np.float64).reshape(shape)
        # to the display, two classes are all that has no list of colours
        display = DecisionBoundaryDisplay(
            xx0=grid[0], xx1=grid[1], n_classes=2, response=response, **labels
        )
        low, high = np.quantile(rows.y, [0.02, 0.98])
        span = {"cmap": "viridis", "vmin": low, "vmax": high}
        display.plot(plot_method="pcolormesh", ax=ax, alpha=0.5, rasterized=True, **span)
        _points(ax, rows.y, across, up, None, span)
    else:
        rows = rows.with_classes(model.classes_)
        assert rows.classes is not None
        k = len(rows.classes)
        colours = [plt.get_cmap("tab10" if k <= 10 else "tab20")(c % 20) for c in range(k)]
        codes = places_in(predicted, rows.classes).reshape(shape)
        display = DecisionBoundaryDisplay(
            xx0=grid[0],
            xx1=grid[1],
            n_classes=k,
            response=codes,
            multiclass_colors=colours if k > 2 else None,
            **labels,
        )
        span = {"cmap": ListedColormap(colours), "vmin": 0, "vmax": max(k - 1, 1)}
        own = span if k <= 2 else {"vmin": 0, "vmax": k - 1}
        display.plot(plot_method="pcolormesh", ax=ax, alpha=0.3, rasterized=True, **own)
        _points(ax, rows.codes, across, up, rows.classes, span)
    for axis, set_ticks in ((across, ax.set_xticks), (up, ax.set_yticks)):
        if axis.categories is not None:
            set_ticks(range(len(axis.categories)), list(map(str, axis.categories)))
    return display


def _places(features: Any, table: Table) -> tuple[int, int]:
    names = list(table.schema.names)
    wanted = (0, 1) if features is None else tuple(features)
    if len(wanted) != 2 or len(names) < 2:
        raise ParameterError(
            f"features must be two of the {len(names)} features, got {shown(features)}."
        )
    places = []
    for feature in wanted:
        is_place = isinstance(feature, int | np.integer) and 0 <= feature < len(names)
        if not is_place and feature not in names:
            raise ParameterError(
                f"features must be names or positions of features, got {feature!r}; there are "
                f"{', '.join(names[:12])}."
            )
        places.append(int(feature) if is_place else names.index(feature))
    return places[0], places[1]


def _axis(table: Table, place: int, resolution: int) -> _Axis:
    feature, column = table.schema.features[place], table.columns[place]
    if feature.kind == "continuous":
        known = column[np.isfinite(column)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        pad = MARGIN * (high - low) or 1.0
        places = np.linspace(low - pad, high + pad, resolution)
        return _Axis(feature.name, places, np.asarray(column, np.float64))
    k = len(feature.categories)
    places = np.linspace(-0.5, k - 0.5, resolution)
    # rows of one category would all lie on each other
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(column))
    points = np.where(column >= 0, column + jitter, np.nan)
    return _Axis(feature.name, places, points, tuple(feature.categories))


def _grid(model: Any, X: Any, table: Table, across: _Axis, up: _Axis, grid: Any) -> Any:
    """Rows over the grid, in the shape that X has."""
    n = grid[0].size
    columns: dict[str, Any] = {}
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        if feature.name == across.name:
            values = across.values(grid[0].ravel())
        elif feature.name == up.name:
            values = up.values(grid[1].ravel())
        elif feature.kind == "continuous":
            known = column[np.isfinite(column)]
            values = np.full(n, np.median(known) if len(known) else np.nan)
        else:
            counts = np.bincount(column[column >= 0], minlength=len(feature.categories))
            values = np.full(n, feature.categories[int(counts.argmax())], dtype=object)
        if feature.time:
            values = np.array(as_moments(values, feature).to_pylist(), dtype=object)
        columns[feature.name] = values
    if not is_frame(X):
        kinds = {values.dtype.kind for values in columns.values()}
        kind = np.float64 if kinds == {"f"} else object
        return np.column_stack([values.astype(kind) for values in columns.values()])
    return as_model_takes(model, columns)


def _points(
    ax: Any,
    colour: Any,
    across: _Axis,
    up: _Axis,
    classes: NDArray[Any] | None,
    span: dict[str, Any],
) -> None:
    """The rows; a sample of many."""
    rows = np.arange(len(colour))
    if len(rows) > MOST_POINTS:
        rows = np.random.default_rng(0).choice(rows, MOST_POINTS, replace=False)
    drawn = ax.scatter(
        across.points[rows],
        up.points[rows],
        c=np.asarray(colour)[rows],
        s=14,
        edgecolors="white",
        linewidths=0.3,
        **span,
    )
    if classes is None:
        ax.figure.colorbar(drawn, ax=ax)
        return
    handles = [
        ax.scatter([], [], color=span["cmap"](k), s=14, label=str(label))
        for k, label in enumerate(classes.tolist())
    ]
    ax.legend(handles=handles, loc="best", fontsize="small")
