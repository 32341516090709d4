"""Main effects as curves, pairs of features as surfaces.

A curve is the sum of the terms of that feature alone, a surface that of all terms of no other
features than the two; both are drawn about their mean over the range that training had.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.mars._allowed import positions
from treewright.mars._show import output_names

__all__ = ["plot_effects"]

Floats = NDArray[np.float64]


def plot_effects(model: Any, features: Any = None, n_points: int = 100) -> Any:
    """Draw what the model says of its features; see ``MARSRegressor.plot``."""
    from matplotlib import pyplot as plt

    rows = model._rows()
    wanted = None if features is None else set(positions(features, model._schema, "features"))
    groups = [g for g in model._groups() if len(g) <= 2 and (wanted is None or wanted & set(g))]
    if not groups:
        raise ParameterError(
            "There is nothing to draw: the model has no term of one or two of the features asked "
            "for; model.anova() lists what it has."
        )
    n_columns = min(3, len(groups))
    n_rows = -(-len(groups) // n_columns)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=(3.6 * n_columns, 2.9 * n_rows), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for ax, group in zip(axes.flat, groups, strict=False):
        if len(group) == 1:
            _curve(model, rows, group[0], n_points, ax)
        else:
            _surface(model, rows, group, ax)
    for ax in axes.flat[len(groups) :]:
        ax.remove()
    return figure


def _effect(model: Any, rows: Floats, group: tuple[int, ...], x: Floats) -> Floats:
    """The part of the model in the features of ``group`` and no others, (n_points, n_outputs)."""
    own = [
        k for k in range(1, len(model.basis_)) if set(model._features_of(k)) <= set(group)
    ]  # fmt: skip
    part: Floats = model.basis_.take(np.array(own)).matrix(x) @ rows[:, own].T
    return np.asarray(part - part.mean(0))


def _axis(model: Any, feature: int, n_points: int) -> tuple[list[str] | None, Floats, Floats]:
    """Labels (of categories), positions along the axis, and the predictors at each of them."""
    predictors = model._predictors
    own = [p for p, predictor in enumerate(predictors) if predictor.feature == feature]
    x = np.zeros((len(predictors), n_points))
    kind = model._schema.features[feature]
    if kind.kind == "continuous":
        low, high = model._ranges[own[0]].tolist()
        at = np.linspace(low, high, n_points)
        x[own[0]] = at
        return None, at, x
    labels = [str(category) for category in kind.categories]
    x = np.zeros((len(predictors), len(labels)))
    for p in own:
        if predictors[p].role == "category":
            x[p, predictors[p].code] = 1
        elif predictors[p].role == "value":
            x[p] = np.arange(len(labels))
    return labels, np.arange(len(labels), dtype=float), x


def _curve(model: Any, rows: Floats, feature: int, n_points: int, ax: Any) -> None:
    labels, at, x = _axis(model, feature, n_points)
    effect = _effect(model, rows, (feature,), x)
    names = output_names(model)
    for name, values in zip(names, effect.T, strict=True):
        if labels is None:
            ax.plot(at, values, label=name)
        else:
            ax.plot(at, values, "o", label=name)
    if labels is not None:
        ax.set_xticks(at, labels)
    if len(names) > 1:
        ax.legend(fontsize="small")
    else:
        ax.set_ylabel(names[0])
    ax.set_xlabel(model._schema.names[feature])


def _surface(model: Any, rows: Floats, group: tuple[int, ...], ax: Any) -> None:
    (x_labels, x_at, x_part), (y_labels, y_at, y_part) = (_axis(model, f, 40) for f in group)
    grid = x_part[:, None, :] + y_part[:, :, None]  # disjoint predictors
    effect = _effect(model, rows, group, grid.reshape(len(grid), -1))[:, -1]
    drawn = ax.pcolormesh(x_at, y_at, effect.reshape(len(y_at), len(x_at)), cmap="RdBu_r")
    ax.figure.colorbar(drawn, ax=ax, label=output_names(model)[-1])
    for set_ticks, labels, at in ((ax.set_xticks, x_labels, x_at), (ax.set_yticks, y_labels, y_at)):
        if labels is not None:
            set_ticks(at, labels)
    ax.set_xlabel(model._schema.names[group[0]])
    ax.set_ylabel(model._schema.names[group[1]])
