"""Figures of Shapley values: summary, bars, waterfall, dependence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError, suggest
from treewright.explain._paint import DOWN, FAINT, INK, UP, axes, colour_map, name, tidy

if TYPE_CHECKING:
    from treewright.explain._result import ShapValues

__all__ = ["draw"]

Floats = NDArray[np.float64]

SHOWN = 15
"""Features that a figure shows; the others are taken together."""


def draw(values: ShapValues, kind: str, *, output: Any, ax: Any, **how: Any) -> Any:
    """The figure of that kind; see :meth:`ShapValues.plot`."""
    kinds: dict[str, Callable[..., Any]] = {
        "summary": summary,
        "bar": bar,
        "waterfall": waterfall,
        "dependence": dependence,
    }
    if kind not in kinds:
        raise ParameterError(f"kind must be one of {', '.join(kinds)}, got {kind!r}.")
    if values.has_interactions and kind != "bar":
        raise ParameterError(
            f'kind="{kind}" draws values of single features, but these are of pairs; call '
            "shap_values without interactions."
        )
    try:
        return kinds[kind](values, output, ax, **how)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise ParameterError(f'kind="{kind}" has no such option: {error}.') from None


def _title(values: ShapValues, output: Any) -> str:
    if values.output_names is None:
        return ""
    return name(values.output_names[values._place(output)])


def _answer(values: ShapValues, output: Any) -> str:
    """What the values of a row add up to."""
    what = {"value": "prediction"}.get(values.says, values.says)
    title = _title(values, output)
    return f"{what} ({title})" if title else what


def _xlabel(values: ShapValues, output: Any, what: str = "Shapley value") -> str:
    title = _title(values, output)
    return f"{what} ({title})" if title else what


def _positions(x: Floats, height: float) -> Floats:
    """Heights of points so that points of like x lie above and below each other."""
    if not len(x):
        return np.zeros(0)
    span = float(np.ptp(x)) or 1.0
    bins = np.round(100 * (x - x.min()) / span).astype(np.int64)
    order = np.argsort(bins, kind="stable")
    ordered = bins[order]
    first = np.searchsorted(ordered, ordered)
    rank = np.arange(len(x)) - first  # 0, 1, 2, … within a bin
    layer = np.ceil(rank / 2) * np.where(rank % 2, 1, -1)
    most = max(1.0, float(np.abs(layer).max()))
    out = np.empty(len(x))
    out[order] = layer / most * min(height, 0.06 * most)
    return out


def _shade(column: Floats) -> Floats:
    """Place of each value between the 5th and the 95th percentile, from 0 to 1; NaN for a gap."""
    known = column[~np.isnan(column)]
    if not len(known):
        return column
    low, high = np.percentile(known, [5, 95])
    if high <= low:
        low, high = known.min(), known.max()
    return np.asarray(np.clip((column - low) / (high - low if high > low else 1.0), 0, 1))


def summary(values: ShapValues, output: Any, ax: Any, max_features: int = SHOWN) -> Any:
    """A point per row and feature, coloured by the value of the feature."""
    own, data = values.of(output), np.asarray(values.data, np.float64)
    order = np.argsort(-np.abs(own).mean(axis=0), kind="stable")[:max_features]
    ax = axes(ax, height=0.9 + 0.36 * len(order))
    colours = colour_map()
    for place, feature in enumerate(order[::-1]):
        x, shade = own[:, feature], _shade(data[:, feature])
        y = place + _positions(x, 0.38)
        gap = np.isnan(shade)
        ax.scatter(x[gap], y[gap], s=9, color=INK, linewidths=0, rasterized=len(x) > 500)
        dots = ax.scatter(
            x[~gap], y[~gap], s=9, c=shade[~gap], cmap=colours, vmin=0, vmax=1, linewidths=0,
            rasterized=len(x) > 500,
        )  # fmt: skip
    ax.axvline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.set_yticks(range(len(order)), [name(values.feature_names[f]) for f in order[::-1]])
    ax.set_xlabel(_xlabel(values, output))
    bar = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1], aspect=40, pad=0.02)
    bar.ax.set_yticklabels(["low", "high"])
    bar.outline.set_visible(False)
    bar.set_label("value of the feature; black: gap")
    tidy(ax)
    return ax


def bar(values: ShapValues, output: Any, ax: Any, max_features: int = SHOWN) -> Any:
    """Mean absolute value of each feature."""
    size = values.mean_abs(output)
    order = np.argsort(-size, kind="stable")[:max_features][::-1]
    ax = axes(ax, height=0.8 + 0.3 * len(order))
    ax.barh([name(values.feature_names[f]) for f in order], size[order], color=DOWN)
    what = "mean |Shapley value|"
    if output is not None:
        ax.set_xlabel(_xlabel(values, output, what))
    else:
        ax.set_xlabel(what if values.output_names is None else f"{what}, all outputs")
    tidy(ax)
    return ax


def waterfall(
    values: ShapValues, output: Any, ax: Any, row: int = 0, max_features: int = SHOWN
) -> Any:
    """How the values of one row lead from the base value to the answer."""
    if not -len(values) <= row < len(values):
        raise ParameterError(f"row must be one of the {len(values)} rows explained, got {row!r}.")
    own, base = values.of(output)[row], float(values.base_of(output)[row])
    order = np.argsort(-np.abs(own), kind="stable")
    top, rest = order[: max_features - 1], order[max_features - 1 :]
    shown = values.display_data[row]
    steps = [(f"{name(values.feature_names[f])} = {_cell(shown[f])}", own[f]) for f in top]
    if len(rest):
        steps.append((f"{len(rest)} other features", float(own[rest].sum())))
    steps.reverse()
    ax = axes(ax, height=1.2 + 0.36 * len(steps))
    at = base
    for place, (_, step) in enumerate(steps):
        ax.barh(place, step, left=at, height=0.66, color=UP if step >= 0 else DOWN)
        ax.text(at + max(step, 0), place, f" {step:+.3g}", va="center", ha="left", fontsize=9)
        if place + 1 < len(steps):
            ax.plot([at + step] * 2, [place - 0.33, place + 1.33], color=FAINT, linewidth=0.8)
        at += step
    ax.use_sticky_edges = False
    ax.margins(x=0.14)
    ax.axvline(base, color=FAINT, linewidth=0.8, linestyle=":", zorder=0)
    ax.set_yticks(range(len(steps)), [text for text, _ in steps])
    ax.set_xlabel(f"base value {base:.4g}, {_answer(values, output)} of this row {at:.4g}")
    tidy(ax)
    return ax


def dependence(
    values: ShapValues, output: Any, ax: Any, feature: Any = None, colour_by: Any = None
) -> Any:
    """The values of one feature against the feature, coloured by another."""
    own, data = values.of(output), np.asarray(values.data, np.float64)
    largest = int(np.argmax(np.abs(own).mean(axis=0)))
    f = largest if feature is None else _feature(values, feature)
    ax = axes(ax)
    x, y = data[:, f], own[:, f]
    known = ~np.isnan(x)
    rng = np.random.default_rng(0)
    names = _categories(values, f)
    if names:
        x = x + rng.uniform(-0.25, 0.25, len(x))
        ax.set_xticks(list(names), [name(text, 14) for text in names.values()])
        if len(names) > 5:
            ax.tick_params(axis="x", rotation=30)
    if colour_by is None:
        ax.scatter(x[known], y[known], s=12, color=DOWN, linewidths=0)
    else:
        g = _feature(values, colour_by)
        dots = ax.scatter(
            x[known],
            y[known],
            s=12,
            c=data[known, g],
            cmap=colour_map(),
            linewidths=0,
            plotnonfinite=True,
        )
        mark = ax.figure.colorbar(dots, ax=ax, aspect=40, pad=0.02)
        mark.outline.set_visible(False)
        mark.set_label(name(values.feature_names[g]))
        others = _categories(values, g)
        if others and len(others) <= 12:
            mark.set_ticks(list(others), labels=[name(text, 14) for text in others.values()])
    if not known.all():  # a strip at the left for gaps
        low, high = (
            (float(np.min(x[known])), float(np.max(x[known]))) if known.any() else (0.0, 1.0)
        )
        strip = low - 0.1 * ((high - low) or 1.0)
        ax.scatter(np.full((~known).sum(), strip), y[~known], s=12, color=FAINT, marker="x")
        ax.annotate("gap", (strip, 0), xycoords=("data", "axes fraction"), ha="center", va="bottom",
                    color=FAINT)  # fmt: skip
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.set_xlabel(name(values.feature_names[f]))
    ax.set_ylabel(_xlabel(values, output))
    tidy(ax)
    return ax


def _feature(values: ShapValues, feature: Any) -> int:
    names = [str(n) for n in values.feature_names]
    if isinstance(feature, int | np.integer) and 0 <= feature < len(names):
        return int(feature)
    if str(feature) in names:
        return names.index(str(feature))
    raise ParameterError(f"There is no feature {feature!r}.{suggest(str(feature), names)}")


def _categories(values: ShapValues, feature: int) -> dict[float, Any]:
    """Codes and names of the categories of a feature that the rows hold; none of a number."""
    if values.display_data.dtype != object:
        return {}
    shown, codes = values.display_data[:, feature], np.asarray(values.data)[:, feature]
    pairs = {float(c): s for c, s in zip(codes, shown, strict=True) if not np.isnan(c)}
    if all(isinstance(s, float | np.floating) and c == s for c, s in pairs.items()):
        return {}
    return dict(sorted(pairs.items()))


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "gap"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return name(value, 16)
